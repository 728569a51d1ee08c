/* The heap of a dump as tables that SQL asks, without a copy of it: SQLite's virtual tables, each a
 * table of columns and of the functions that walk over its rows.
 *
 * - connection.c: a connection that can read the tables and do nothing else; statements, and what
 *   of the heap they need; the description of the tables;
 * - virtual_table.c, values.c: what SQLite asks of a virtual table, answered from its columns;
 * - object_tables.c, reference_tables.c: objects, types, strings; refs, roots, retained, path;
 * - goroutine_tables.c, wait_table.c, record_tables.c: goroutines, frames, slots; waits; what a
 *   dump has records of: sites, samples, segments, itabs, finalizers;
 * - summary_tables.c: paths, stacks;
 * - functions.c: functions on the memory of the dumped process, and the table maps;
 * - result.c: rows as a table, JSON or CSV; export_file.c, export_tables.c: all tables as
 *   an SQLite file, or compressed CSV; export_schema.c: the types of their columns. */
#ifndef GH_PLUGIN_SQL_SQL_H
#define GH_PLUGIN_SQL_SQL_H

#include <stdbool.h>
#include <stdio.h>

#include "plugin/view/view.h"

/* What statements need of a heap: each, all before it too. */
enum gh_sql_needs { GH_SQL_NEEDS_GRAPH, GH_SQL_NEEDS_NAMES, GH_SQL_NEEDS_DOMINATORS };

/* The heap that the tables are of, as far as it is needed. */
struct gh_sql_heap {
	const struct gh_dump *dump;
	const struct gh_heap *heap;
	struct gh_names *names;
	const struct gh_dominators *dominators;
};

/* How rows are printed. */
enum gh_sql_form {
	GH_SQL_TABLE, /* columns aligned, for a person */
	GH_SQL_JSON,  /* an object on a line for each; addresses are text, as everywhere */
	GH_SQL_CSV,   /* RFC 4180, with titles; lines end in newlines */
};

struct gh_sql;

/* Opens a connection to a heap that is named later. NULL (ERR filled) if memory ran out. To be
 * closed with gh_sql_close. */
struct gh_sql *gh_sql_open(struct gh_error *err);

/* Compiles the statements in TEXT, in place of those that were there before; only what reads the
 * tables is allowed. False (ERR filled) if SQLite refuses one. */
bool gh_sql_prepare(struct gh_sql *sql, const char *text, struct gh_error *err);

/* What those need of the heap. */
enum gh_sql_needs gh_sql_needs(const struct gh_sql *sql);

/* Runs them, one after the other, on HEAP, which is the caller's and outlives the connection, and
 * prints their rows to OUT. False (ERR filled) if one fails; what it gave before is printed. */
bool gh_sql_run(struct gh_sql *sql, const struct gh_sql_heap *heap, enum gh_sql_form form,
		FILE *out, struct gh_error *err);

/* Writes all tables of HEAP, but those that take an argument, to PATH, an ordinary SQLite file,
 * which is there whole or not at all; HEAP has all that can be needed. The connection is of no more
 * use then. False (ERR filled) if it cannot. */
bool gh_sql_export(struct gh_sql *sql, const struct gh_sql_heap *heap, const char *path,
		   struct gh_error *err);

/* Writes the same to DIRECTORY: of each table, or of those alone that are a SUMMARY of the heap,
 * part-0.csv.gz in a directory of its name, with titles. False (ERR filled) if one cannot be
 * written. */
bool gh_sql_export_tables(struct gh_sql *sql, const struct gh_sql_heap *heap, bool summary,
			  const char *directory, struct gh_error *err);

/* Writes the types of all columns to DIRECTORY, where the tables of many heaps are: schema.sql has
 * a view in DuckDB's SQL for each table, schema.json the types alone. If tables are a SUMMARY,
 * those of others are left out, and files that are there are kept. False (ERR filled) if one cannot
 * be written. */
bool gh_sql_export_schema(const char *directory, bool summary, struct gh_error *err);

/* SQL may be NULL. */
void gh_sql_close(struct gh_sql *sql);

/* Prints the tables and functions, and what their columns are. */
void gh_sql_print_schema(FILE *out);

/* Table NUMBER's name, from 0, and that of its column; NULL if there is none. */
const char *gh_sql_table_name(size_t number);
const char *gh_sql_column_name(size_t number, size_t column);

#endif
