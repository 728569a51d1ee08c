#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/escape.h"
#include "plugin/sql/internal.h"

/* Memory that a query may take besides the heap, in bytes. What is sorted is sorted in memory: a
 * query leaves nothing on a disk. */
#define MEMORY_MIB 1024

/* SQLite's own part of it. The rest is for the value that is being printed. */
#define SQLITE_MIB (MEMORY_MIB / 4 * 3)

/* The longest text or blob, in bytes. */
#define LONGEST (64 << 20)

const struct gh_sql_table *const gh_sql_tables[] = {
    &gh_sql_objects, &gh_sql_types,    &gh_sql_refs,    &gh_sql_roots,      &gh_sql_path,
    &gh_sql_paths,   &gh_sql_retained, &gh_sql_strings, &gh_sql_maps,       &gh_sql_goroutines,
    &gh_sql_stacks,  &gh_sql_frames,   &gh_sql_slots,   &gh_sql_waits,      &gh_sql_sites,
    &gh_sql_samples, &gh_sql_segments, &gh_sql_itabs,   &gh_sql_finalizers,
};

const size_t gh_sql_ntables = sizeof(gh_sql_tables) / sizeof(gh_sql_tables[0]);

void gh_sql_free_made(struct gh_sql_made *made)
{
	free(made->by_type);
	free(made->ranks);
	free(made->starts);
	free(made->sums);
	gh_dominator_tree_free(&made->tree);
	gh_vector_free(&made->strings);
	gh_vector_free(&made->ids);
	gh_leaked_free(&made->leaked);
	gh_waits_free(&made->waits);
	gh_allocations_free(&made->allocations);
	gh_merged_paths_free(&made->paths);
	free(made->held);
	if (made->has_process)
		gh_process_memory_free(&made->process.memory);
	*made = (struct gh_sql_made){0};
}

/* Fills ERR with what SQLite says of its RESULT, and what can be done. Returns false. */
static bool fail(const struct gh_sql *sql, int result, struct gh_error *err)
{
	char text[sizeof(err->text)];
	const char *message = sqlite3_errmsg(sql->db);
	if (result == SQLITE_NOMEM)
		snprintf(
		    text, sizeof(text),
		    "the query takes more than %d MiB of memory: with LIMIT, WHERE, or less to "
		    "sort it takes less",
		    MEMORY_MIB);
	else if (strncmp(message, "no such ", strlen("no such ")) == 0)
		snprintf(text, sizeof(text), "%s: goheap sql --schema lists what there is",
			 message);
	else if (strcmp(message, "no query solution") == 0)
		snprintf(text, sizeof(text), "path lacks an address: path(0xc000010000)");
	else if (strcmp(message, "not authorized") == 0 ||
		 strstr(message, " is prohibited") != NULL)
		snprintf(text, sizeof(text), "not authorized: a heap is read, and nothing else");
	else
		snprintf(text, sizeof(text), "%s", message);
	gh_escape_text(err->text, sizeof(err->text), text);
	return false;
}

/* What column NAME of TABLE needs. */
static enum gh_sql_needs needs_of(const struct gh_sql_table *table, const char *name)
{
	enum gh_sql_needs needs = table->needs;
	for (const struct gh_sql_column *column = table->columns; column->name != NULL; column++)
		if (column->needs > needs && sqlite3_stricmp(column->name, name) == 0)
			needs = column->needs;
	return needs;
}

static void note_needs(struct gh_sql *sql, const char *table, const char *column)
{
	for (size_t i = 0; table != NULL && column != NULL && i < gh_sql_ntables; i++) {
		if (sqlite3_stricmp(gh_sql_tables[i]->name, table) != 0)
			continue;
		enum gh_sql_needs needs = needs_of(gh_sql_tables[i], column);
		sql->needs = needs > sql->needs ? needs : sql->needs;
	}
}

static void note_function(struct gh_sql *sql, const char *name)
{
	const struct gh_sql_function *function = gh_sql_functions;
	while (function->name != NULL && sqlite3_stricmp(function->name, name) != 0)
		function++;
	if (function->needs > sql->needs)
		sql->needs = function->needs;
}

/* Whether a statement may do ACTION. */
static int authorize(void *context, int action, const char *first, const char *second,
		     const char *database, const char *cause)
{
	(void)database, (void)cause;
	const struct gh_sql *sql = context;
	if (sql->declares)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_READ:
		/* Of these tables SQLite asks again, but some releases only when rows are read. */
		if (sqlite3_strnicmp(first, "pragma_", strlen("pragma_")) == 0)
			return SQLITE_DENY;
		note_needs(context, first, second);
		return SQLITE_OK;
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		note_function(context, second);
		/* The second shows an address of goheap's own, or takes one. */
		return sqlite3_stricmp(second, "load_extension") != 0 &&
			       sqlite3_stricmp(second, "fts3_tokenizer") != 0
			   ? SQLITE_OK
			   : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

/* Has the connection do no harm. Returns SQLite's result. */
static int secure(struct gh_sql *sql)
{
	static const int off[] = {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
				  SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER};
	sqlite3_hard_heap_limit64((sqlite3_int64)SQLITE_MIB << 20);
	sqlite3_limit(sql->db, SQLITE_LIMIT_LENGTH, LONGEST);
	sqlite3_limit(sql->db, SQLITE_LIMIT_ATTACHED, 0);
	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
		sqlite3_db_config(sql->db, off[i], 0, NULL);
	sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	int result = sqlite3_exec(sql->db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
	return result == SQLITE_OK ? sqlite3_set_authorizer(sql->db, authorize, sql) : result;
}

struct gh_sql *gh_sql_open(struct gh_error *err)
{
	struct gh_sql *sql = calloc(1, sizeof(*sql));
	if (sql == NULL) {
		gh_fail_memory(err, "a query");
		return NULL;
	}
	int result = sqlite3_open(":memory:", &sql->db);
	result = result == SQLITE_OK ? gh_sql_add_tables(sql) : result;
	result = result == SQLITE_OK ? gh_sql_add_functions(sql) : result;
	result = result == SQLITE_OK ? secure(sql) : result;
	if (result == SQLITE_OK)
		return sql;
	fail(sql, result, err);
	gh_sql_close(sql);
	return NULL;
}

static void forget_statements(struct gh_sql *sql)
{
	for (size_t i = 0; i < sql->statements.count; i++)
		sqlite3_finalize(sql->statements.items[i]);
	sql->statements.count = 0;
	sql->needs = GH_SQL_NEEDS_GRAPH;
}

bool gh_sql_prepare(struct gh_sql *sql, const char *text, struct gh_error *err)
{
	forget_statements(sql);
	while (*text != '\0') {
		sqlite3_stmt *statement;
		int result = sqlite3_prepare_v2(sql->db, text, -1, &statement, &text);
		if (result != SQLITE_OK)
			return fail(sql, result, err);
		/* SQLite does not ask whether it may run a VACUUM INTO. */
		if (statement != NULL &&
		    (sqlite3_column_count(statement) == 0 || !sqlite3_stmt_readonly(statement))) {
			sqlite3_finalize(statement);
			return gh_fail(err, "sql", GH_NO_OFFSET, "a SELECT",
				       "what gives no rows, or is no reading");
		}
		if (statement != NULL && !gh_vector_push(&sql->statements, statement)) {
			sqlite3_finalize(statement);
			return gh_fail_memory(err, "a query");
		}
	}
	return true;
}

enum gh_sql_needs gh_sql_needs(const struct gh_sql *sql)
{
	return sql->needs;
}

bool gh_sql_run(struct gh_sql *sql, const struct gh_sql_heap *heap, enum gh_sql_form form,
		FILE *out, struct gh_error *err)
{
	sql->heap = *heap;
	for (size_t i = 0; i < sql->statements.count; i++) {
		int result = gh_sql_print_rows(sql->statements.items[i], form, out);
		if (result != SQLITE_DONE)
			return fail(sql, result, err);
	}
	return true;
}

void gh_sql_close(struct gh_sql *sql)
{
	if (sql == NULL)
		return;
	forget_statements(sql);
	gh_vector_free(&sql->statements);
	sqlite3_close(sql->db);
	gh_sql_free_made(&sql->made);
	free(sql);
}

/* The description of the tables. */

const char *gh_sql_table_name(size_t number)
{
	return number < gh_sql_ntables ? gh_sql_tables[number]->name : NULL;
}

const char *gh_sql_column_name(size_t number, size_t column)
{
	return gh_sql_tables[number]->columns[column].name;
}

/* What is typed after a table's name, if that takes an argument. */
static const char *argument_of(const struct gh_sql_table *table)
{
	const struct gh_sql_column *column = table->columns;
	while (column->name != NULL && !column->argument)
		column++;
	return column->name;
}

void gh_sql_print_schema(FILE *out)
{
	for (size_t i = 0; i < gh_sql_ntables; i++) {
		const struct gh_sql_table *table = gh_sql_tables[i];
		const char *argument = argument_of(table);
		fprintf(out, "%s%s%s%s%s: %s\n", i > 0 ? "\n" : "", table->name,
			argument != NULL ? "(" : "", argument != NULL ? argument : "",
			argument != NULL ? ")" : "", table->about);
		for (const struct gh_sql_column *column = table->columns; column->name != NULL;
		     column++)
			fprintf(out, "  %-12s%-9s%s\n", column->name,
				strcmp(column->type, GH_SQL_ADDRESS) == 0 ? "address"
				: strcmp(column->type, "TEXT") == 0       ? "text"
									  : "number",
				column->about);
	}
	fputs("\nfunctions\n", out);
	for (const struct gh_sql_function *function = gh_sql_functions; function->name != NULL;
	     function++)
		fprintf(out, "  %s: %s\n", function->form, function->about);
}
