/* goheap sql: questions about a heap in SQL. */
#include <stdio.h>
#include <stdlib.h>

#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/command/kept.h"
#include "plugin/sql/sql.h"

static enum gh_sql_form form_of(const struct gh_options *options)
{
	return options->json ? GH_SQL_JSON : options->csv ? GH_SQL_CSV : GH_SQL_TABLE;
}

/* What the statements of SQL need of the heap. */
static enum gh_heap_with with_of(const struct gh_sql *sql)
{
	static const enum gh_heap_with with[] = {
	    [GH_SQL_NEEDS_GRAPH] = GH_WITH_GRAPH,
	    [GH_SQL_NEEDS_NAMES] = GH_WITH_NAMES,
	    [GH_SQL_NEEDS_DOMINATORS] = GH_WITH_DOMINATORS,
	};
	return with[gh_sql_needs(sql)];
}

/* Answers what SQL asks. */
static int answer(struct gh_sql *sql, const struct gh_options *options)
{
	struct gh_error err;
	struct gh_heap_query *query = gh_heap_query_open(options, options->file, with_of(sql));
	if (query == NULL)
		return GH_EXIT_INPUT;
	const struct gh_sql_heap heap = gh_heap_query_sql(query);
	gh_print_in_blocks();
	bool answered = gh_sql_run(sql, &heap, form_of(options), stdout, &err);
	fflush(stdout);
	if (!answered)
		gh_print_error(&err);
	gh_heap_query_close(query);
	return answered ? GH_EXIT_OK : GH_EXIT_INPUT;
}

/* Writes all tables to a file. */
static int write_file(const struct gh_options *options)
{
	struct gh_error err;
	if (options->nwords > 0) {
		gh_say("-o writes all tables: leave out the query, or print CSV or JSON");
		return GH_EXIT_USAGE;
	}
	struct gh_heap_query *query =
	    gh_heap_query_open(options, options->file, GH_WITH_DOMINATORS);
	if (query == NULL)
		return GH_EXIT_INPUT;
	const struct gh_sql_heap heap = gh_heap_query_sql(query);
	struct gh_sql *sql = gh_sql_open(&err);
	gh_progress_begin("goheap: writing", options->output);
	bool written = sql != NULL && gh_sql_export(sql, &heap, options->output, &err);
	gh_progress_end();
	if (!written)
		gh_print_error(&err);
	gh_sql_close(sql);
	gh_heap_query_close(query);
	return written ? GH_EXIT_OK : GH_EXIT_INPUT;
}

/* A query is compiled first: what is wrong with it is told before a large heap is read. */
static int ask(const struct gh_options *options, const char *text)
{
	struct gh_error err;
	int status = GH_EXIT_USAGE;
	struct gh_sql *sql = gh_sql_open(&err);
	if (sql != NULL && gh_sql_prepare(sql, text, &err))
		status = answer(sql, options);
	else
		gh_print_error(&err);
	gh_sql_close(sql);
	return status;
}

int gh_cmd_sql(const struct gh_options *options)
{
	if (options->schema) {
		gh_sql_print_schema(stdout);
		return GH_EXIT_OK;
	}
	if (options->output != NULL)
		return write_file(options);
	if (options->nwords == 0 && !gh_kept_is_child() && getenv(GH_SESSION_VARIABLE) == NULL)
		return gh_sql_prompt(options);
	if (options->nwords == 0) {
		gh_say(
		    "expected a query, found none: sql SELECT ..., or sql --schema for the tables");
		return GH_EXIT_USAGE;
	}
	char *text = gh_options_join(options);
	int status = text != NULL ? ask(options, text) : GH_EXIT_INPUT;
	free(text);
	return status;
}
