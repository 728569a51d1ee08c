#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/output.h"
#include "plugin/sql/internal.h"

/* COLUMN's type, as DuckDB calls it; what is no signed number of 64 bits is named, not guessed. */
static const char *type_of(const struct gh_sql_column *column)
{
	if (strcmp(column->type, GH_SQL_ADDRESS) == 0)
		return "UBIGINT";
	return strcmp(column->type, "TEXT") == 0 ? "VARCHAR" : "BIGINT";
}

/* The columns of TABLE and their types, each in QUOTE. */
static void print_columns(FILE *out, const struct gh_sql_table *table, char quote)
{
	putc('{', out);
	for (const struct gh_sql_column *column = table->columns; column->name != NULL; column++)
		fprintf(out, "%s%c%s%c: %c%s%c", column == table->columns ? "" : ", ", quote,
			column->name, quote, quote, type_of(column), quote);
	putc('}', out);
}

/* A view of TABLE in the files of all heaps in DIRECTORY. */
static void print_view(FILE *out, const struct gh_sql_table *table, const char *directory)
{
	fprintf(out, "CREATE OR REPLACE VIEW %s AS SELECT * FROM read_csv('", table->name);
	for (const char *at = directory; *at != '\0'; at++)
		fputs(*at == '\'' ? "''" : (const char[]){*at, '\0'}, out);
	fprintf(out, "/*/*/%s/*.csv.gz', hive_partitioning = true, types = ", table->name);
	print_columns(out, table, '\'');
	fputs(");\n", out);
}

/* Writes DIRECTORY/NAME: views in SQL, or else JSON. */
static bool write_schema(const char *directory, const char *name, bool is_sql, bool summary,
			 struct gh_error *err)
{
	char path[PATH_MAX];
	struct gh_output out;
	const char *before = "{";
	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return gh_fail_errno(err, directory, "write");
	}
	/* Those of all tables are of use to who adds sums alone. */
	if (summary && access(path, F_OK) == 0)
		return true;
	if (!gh_output_open(&out, path, GH_OUTPUT_PRIVATE, err))
		return false;
	FILE *file = gh_output_stream(&out, err);
	for (size_t i = 0; file != NULL && i < gh_sql_ntables; i++) {
		const struct gh_sql_table *table = gh_sql_tables[i];
		if (gh_sql_has_argument(table) || (summary && !table->is_summary))
			continue;
		if (is_sql) {
			print_view(file, table, directory);
			continue;
		}
		fprintf(file, "%s\"%s\": ", before, table->name);
		print_columns(file, table, '"');
		before = ",\n";
	}
	if (file != NULL && !is_sql)
		fputs("}\n", file);
	bool written = file != NULL;
	bool failed = file != NULL && ferror(file) != 0;
	if (file != NULL && (fclose(file) != 0 || failed))
		written = gh_fail_errno(err, path, "write");
	return gh_output_end(&out, written, err);
}

bool gh_sql_export_schema(const char *directory, bool summary, struct gh_error *err)
{
	return write_schema(directory, "schema.sql", true, summary, err) &&
	       write_schema(directory, "schema.json", false, summary, err);
}
