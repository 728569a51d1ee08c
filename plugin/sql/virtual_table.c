#include <stdlib.h>
#include <string.h>

#include "plugin/sql/internal.h"

/* Of a row's id, that are its part's number. */
#define PART_BITS 31

/* A table as a connection has it. */
struct virtual_table {
	sqlite3_vtab base; /* SQLite's */
	struct gh_sql *sql;
	const struct gh_sql_table *table;
};

/* What a module is told of. */
struct module {
	struct gh_sql *sql;
	const struct gh_sql_table *table;
};

static const struct gh_sql_table *table_of(const sqlite3_vtab *base)
{
	return ((const struct virtual_table *)base)->table;
}

/* The CREATE TABLE statement of TABLE, to be freed with sqlite3_free; NULL if memory ran out. */
static char *declare(const struct gh_sql_table *table)
{
	sqlite3_str *text = sqlite3_str_new(NULL);
	sqlite3_str_appendf(text, "CREATE TABLE %s(", table->name);
	for (const struct gh_sql_column *column = table->columns; column->name != NULL; column++)
		sqlite3_str_appendf(text, "%s%s %s%s", column == table->columns ? "" : ", ",
				    column->name, column->type, column->argument ? " HIDDEN" : "");
	sqlite3_str_appendall(text, ")");
	return sqlite3_str_finish(text);
}

static int connect_table(sqlite3 *db, void *context, int argc, const char *const *argv,
			 sqlite3_vtab **out, char **message)
{
	(void)argc, (void)argv, (void)message;
	const struct module *module = context;
	char *text = declare(module->table);
	module->sql->declares = true;
	int result = text != NULL ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
	module->sql->declares = false;
	/* Views may read it. */
	if (result == SQLITE_OK)
		result = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	struct virtual_table *table = sqlite3_malloc(sizeof(*table));
	sqlite3_free(text);
	if (result == SQLITE_OK && table == NULL)
		result = SQLITE_NOMEM;
	if (result != SQLITE_OK) {
		sqlite3_free(table);
		return result;
	}
	*table = (struct virtual_table){.sql = module->sql, .table = module->table};
	*out = &table->base;
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
}

/* The constraint by which fewest rows are come to; -1 if there is none that helps. */
static int choose_constraint(sqlite3_index_info *info, const struct gh_sql_column *columns)
{
	int best = -1;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
		if (!constraint->usable || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ ||
		    constraint->iColumn < 0 || columns[constraint->iColumn].find == NULL ||
		    strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
			continue;
		if (best < 0 || columns[constraint->iColumn].matches <
				    columns[info->aConstraint[best].iColumn].matches)
			best = i;
	}
	return best;
}

bool gh_sql_has_argument(const struct gh_sql_table *table)
{
	const struct gh_sql_column *column = table->columns;
	while (column->name != NULL && !column->argument)
		column++;
	return column->name != NULL;
}

/* Fills in that column NUMBER, below 0 of those by which the rows are sorted, is used as FORMAT
 * tells. */
static int use(sqlite3_index_info *info, int number, const char *format, const char *name)
{
	info->idxNum = number;
	info->idxStr = sqlite3_mprintf(format, name);
	info->needToFreeIdxStr = 1;
	return info->idxStr != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

/* The rows can come in the order that is wanted. Where groups are made of them, it is enough that
 * like ones are together, whatever the direction: for GROUP BY type ORDER BY sum(bytes) DESC,
 * SQLite asks for types in descending order. */
static bool can_sort(sqlite3_index_info *info, const struct gh_sql_column *columns)
{
	int distinct = sqlite3_vtab_distinct(info);
	bool any_direction = distinct == 1 || distinct == 2;
	return info->nOrderBy == 1 && (any_direction || !info->aOrderBy[0].desc) &&
	       info->aOrderBy[0].iColumn >= 0 && columns[info->aOrderBy[0].iColumn].sort != NULL;
}

static int choose_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct gh_sql_table *table = table_of(base);
	const struct gh_sql_column *columns = table->columns;
	int constraint = choose_constraint(info, columns);
	info->estimatedCost = table->rows;
	info->estimatedRows = (sqlite3_int64)table->rows;
	if (constraint >= 0) {
		int number = info->aConstraint[constraint].iColumn;
		const struct gh_sql_column *column = &columns[number];
		info->estimatedCost = column->matches;
		info->estimatedRows = (sqlite3_int64)column->matches;
		info->idxFlags = column->matches <= 1 ? SQLITE_INDEX_SCAN_UNIQUE : 0;
		info->aConstraintUsage[constraint].argvIndex = 1;
		info->aConstraintUsage[constraint].omit = column->argument;
		return use(info, number + 1, "%s=?", column->name);
	}
	if (gh_sql_has_argument(table))
		return SQLITE_CONSTRAINT;
	if (can_sort(info, columns)) {
		info->orderByConsumed = 1;
		return use(info, -1 - info->aOrderBy[0].iColumn, "sorted by %s",
			   columns[info->aOrderBy[0].iColumn].name);
	}
	return SQLITE_OK;
}

/* A walk. */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	const struct virtual_table *table = (const struct virtual_table *)base;
	struct gh_sql_cursor *cursor = calloc(1, sizeof(*cursor));
	void *state = calloc(1, table->table->state + 1);
	if (cursor == NULL || state == NULL) {
		free(cursor);
		free(state);
		return SQLITE_NOMEM;
	}
	cursor->sql = table->sql;
	cursor->heap = &table->sql->heap;
	cursor->table = table->table;
	cursor->state = state;
	*out = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct gh_sql_cursor *cursor = (struct gh_sql_cursor *)base;
	if (cursor->table->close != NULL)
		cursor->table->close(cursor);
	free(cursor->state);
	free(cursor->found);
	free(cursor);
	return SQLITE_OK;
}

static void advance(struct gh_sql_cursor *cursor)
{
	const struct gh_sql_table *table = cursor->table;
	for (;;) {
		cursor->part++;
		if (cursor->failed || (cursor->in_item && table->step(cursor)))
			return;
		cursor->in_item = false;
		if (cursor->at == cursor->end) {
			cursor->ended = true;
			return;
		}
		cursor->item = cursor->order != NULL ? cursor->order[cursor->at] : cursor->at;
		cursor->at++;
		cursor->part = 0;
		if (table->load != NULL && !table->load(cursor))
			continue;
		if (table->step == NULL)
			return;
		cursor->in_item = true;
	}
}

static int next_row(sqlite3_vtab_cursor *base)
{
	struct gh_sql_cursor *cursor = (struct gh_sql_cursor *)base;
	advance(cursor);
	return cursor->failed ? SQLITE_NOMEM : SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
		  sqlite3_value **argv)
{
	(void)text;
	struct gh_sql_cursor *cursor = (struct gh_sql_cursor *)base;
	const struct gh_sql_table *table = cursor->table;
	free(cursor->found);
	cursor->found = NULL;
	cursor->order = NULL;
	cursor->target = GH_HEAP_NONE;
	cursor->in_item = false;
	cursor->ended = false;
	gh_sql_take(cursor, 0, table->count(cursor));
	if (number > 0 && argc > 0 && sqlite3_value_type(argv[0]) != SQLITE_NULL)
		table->columns[number - 1].find(cursor, argv[0]);
	else if (number > 0)
		gh_sql_take(cursor, 0, 0);
	else if (number < 0)
		table->columns[-1 - number].sort(cursor);
	return next_row(base);
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
	return ((struct gh_sql_cursor *)base)->ended;
}

static int give_value(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
	const struct gh_sql_cursor *cursor = (const struct gh_sql_cursor *)base;
	const struct gh_sql_column *given = &cursor->table->columns[column];
	if (given->give != NULL)
		given->give(out, cursor);
	else
		gh_sql_give_member(out, cursor, given);
	return SQLITE_OK;
}

/* The same row has the same id however it is come to: SQLite tells by it which rows it has had. */
static int give_row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	const struct gh_sql_cursor *cursor = (const struct gh_sql_cursor *)base;
	uint64_t part = cursor->part & ((1ULL << PART_BITS) - 1);
	*id = (sqlite3_int64)(cursor->item << PART_BITS | part);
	return SQLITE_OK;
}

static int add_view(sqlite3 *db, const struct gh_sql_table *table)
{
	char *text = sqlite3_mprintf("CREATE VIEW %s AS %s", table->name, table->query);
	int result = text != NULL ? sqlite3_exec(db, text, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(text);
	return result;
}

int gh_sql_add_tables(struct gh_sql *sql)
{
	/* Without xCreate a table is there under the name of its module, and cannot be made. */
	static const sqlite3_module functions = {
	    .xConnect = connect_table,
	    .xBestIndex = choose_index,
	    .xDisconnect = disconnect_table,
	    .xOpen = open_cursor,
	    .xClose = close_cursor,
	    .xFilter = filter,
	    .xNext = next_row,
	    .xEof = is_at_end,
	    .xColumn = give_value,
	    .xRowid = give_row_id,
	};
	int result = SQLITE_OK;
	for (size_t i = 0; i < gh_sql_ntables && result == SQLITE_OK; i++) {
		if (gh_sql_tables[i]->query != NULL) {
			result = add_view(sql->db, gh_sql_tables[i]);
			continue;
		}
		struct module *module = malloc(sizeof(*module));
		if (module == NULL)
			return SQLITE_NOMEM;
		*module = (struct module){sql, gh_sql_tables[i]};
		result = sqlite3_create_module_v2(sql->db, module->table->name, &functions, module,
						  free);
	}
	return result;
}
