// Prints what DuckDB answers, a row a line, its values with a bar between two.
//
//     node duckdb.mjs NODE_MODULES QUERY
import { createRequire } from "node:module";

const [modules, query] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(modules + "/")("@duckdb/node-api");
const connection = await (await DuckDBInstance.create(":memory:")).connect();
const reader = await connection.runAndReadAll(query);
for (const row of reader.getRows()) console.log(row.join("|"));
