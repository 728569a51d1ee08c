#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/escape.h"
#include "lib/util/output.h"
#include "plugin/sql/internal.h"

/* Runs the statement FORMAT, as sqlite3_mprintf has it, about NAME, which is in it once or twice.
 * Returns SQLite's result. */
static int run(struct gh_sql *sql, const char *format, const char *name)
{
	char *text = sqlite3_mprintf(format, name, name);
	int result = text != NULL ? sqlite3_exec(sql->db, text, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(text);
	return result;
}

/* Writes TABLE, and an index of each column by which it can be looked up. */
static int write_table(struct gh_sql *sql, const struct gh_sql_table *table)
{
	sqlite3_str *create = sqlite3_str_new(NULL);
	sqlite3_str_appendf(create, "CREATE TABLE file.%s(", table->name);
	for (const struct gh_sql_column *column = table->columns; column->name != NULL; column++)
		sqlite3_str_appendf(create, "%s%s %s", column == table->columns ? "" : ", ",
				    column->name, column->type);
	sqlite3_str_appendall(create, ")");
	char *text = sqlite3_str_finish(create);
	int result = text != NULL ? sqlite3_exec(sql->db, text, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(text);
	/* In main there are virtual tables alone. */
	if (result == SQLITE_OK)
		result = run(sql, "INSERT INTO file.%s SELECT * FROM main.%s", table->name);
	for (const struct gh_sql_column *column = table->columns;
	     result == SQLITE_OK && column->name != NULL; column++) {
		if (column->find == NULL)
			continue;
		text = sqlite3_mprintf("CREATE INDEX file.%s_%s ON %s(%s)", table->name,
				       column->name, table->name, column->name);
		result =
		    text != NULL ? sqlite3_exec(sql->db, text, NULL, NULL, NULL) : SQLITE_NOMEM;
		sqlite3_free(text);
	}
	return result;
}

/* Fills ERR with what SQLite says of the file at PATH. */
static void fail(const struct gh_sql *sql, const char *path, struct gh_error *err)
{
	char text[sizeof(err->text)];
	snprintf(text, sizeof(text), "%s: %s", path, sqlite3_errmsg(sql->db));
	gh_escape_text(err->text, sizeof(err->text), text);
}

static int write_tables(struct gh_sql *sql)
{
	int result = run(sql, "BEGIN", NULL);
	for (size_t i = 0; i < gh_sql_ntables && result == SQLITE_OK; i++)
		if (!gh_sql_has_argument(gh_sql_tables[i]))
			result = write_table(sql, gh_sql_tables[i]);
	return result == SQLITE_OK ? run(sql, "COMMIT", NULL) : result;
}

/* Has the connection write the file NAME, which is empty: it needs no journal. What is sorted for
 * an index is sorted in files without a name in DIRECTORY, where there has to be room. */
static int attach(struct gh_sql *sql, const char *name, char *directory)
{
	sqlite3_temp_directory = directory;
	sqlite3_set_authorizer(sql->db, NULL, NULL);
	sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	sqlite3_limit(sql->db, SQLITE_LIMIT_ATTACHED, 1);
	int result = run(sql, "PRAGMA temp_store = FILE", NULL);
	result = result == SQLITE_OK ? run(sql, "ATTACH %Q AS file", name) : result;
	return result == SQLITE_OK
		   ? run(sql, "PRAGMA file.journal_mode = OFF; PRAGMA file.synchronous = OFF", NULL)
		   : result;
}

bool gh_sql_export(struct gh_sql *sql, const struct gh_sql_heap *heap, const char *path,
		   struct gh_error *err)
{
	struct gh_output out;
	char *name = NULL;
	char *directory = NULL;
	int result = SQLITE_NOMEM;
	sql->heap = *heap;
	if (!gh_output_open(&out, path, GH_OUTPUT_PRIVATE, err))
		return false;
	if (!gh_output_name(&out, err)) {
		gh_output_discard(&out);
		return false;
	}
	char *place = strdup(path);
	/* A name that begins so could be a URI. */
	if (place != NULL && asprintf(&name, "%s%s", *path == '/' ? "" : "./", out.temp) >= 0)
		directory = sqlite3_mprintf("%s", dirname(place));
	if (directory != NULL)
		result = attach(sql, name, directory);
	if (result == SQLITE_OK)
		result = write_tables(sql);
	if (result != SQLITE_OK)
		fail(sql, path, err);
	/* The file is closed, and with a statement that failed the tables are, too. */
	sqlite3_close(sql->db);
	sql->db = NULL;
	sqlite3_temp_directory = NULL;
	sqlite3_free(directory);
	free(place);
	free(name);
	return gh_output_end(&out, result == SQLITE_OK, err);
}
