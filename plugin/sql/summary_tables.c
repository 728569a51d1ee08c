/* Tables of sums over a heap: the ways that hold it, and the stacks that its goroutines have. */
#include <stdlib.h>

#include "plugin/sql/internal.h"

/* paths: an item is a node of the tree of ways, but for the first, which all others are in. */

/* Parts of a path that is given: those of a crafted dump would be out of proportion. */
#define MAX_PARTS 256

/* Finds the ways, and what each holds, unless they are there. False if memory ran out. */
static bool find_paths(struct gh_sql *sql)
{
	struct gh_sql_made *made = &sql->made;
	struct gh_error err;
	if (made->held != NULL)
		return true;
	if (gh_merged_paths_make(&made->paths, sql->heap.names, &err))
		made->held = calloc(made->paths.nodes.count, sizeof(*made->held));
	if (made->held == NULL) {
		gh_merged_paths_free(&made->paths);
		made->paths = (struct gh_merged_paths){0};
		return false;
	}
	/* Each comes after the one that it is in. */
	for (size_t i = made->paths.nodes.count; i-- > 1;) {
		const struct gh_pprof_node *node = &made->paths.nodes.items[i];
		made->held[i].objects += node->objects;
		made->held[i].bytes += node->bytes;
		made->held[node->parent].objects += made->held[i].objects;
		made->held[node->parent].bytes += made->held[i].bytes;
	}
	return true;
}

static uint64_t count_paths(struct gh_sql_cursor *cursor)
{
	cursor->failed |= !find_paths(cursor->sql);
	return cursor->failed ? 0 : cursor->sql->made.paths.nodes.count - 1;
}

static const void *node_of(const struct gh_sql_cursor *cursor)
{
	return &cursor->sql->made.paths.nodes.items[cursor->item + 1];
}

static const void *held_of(const struct gh_sql_cursor *cursor)
{
	return &cursor->sql->made.held[cursor->item + 1];
}

/* How many parts are before the last. */
static uint64_t depth_of(const struct gh_sql_cursor *cursor)
{
	const struct gh_pprof_node *nodes = cursor->sql->made.paths.nodes.items;
	const struct gh_pprof_node *node = node_of(cursor);
	uint64_t depth = 0;
	for (uint32_t at = node->parent; at != 0; at = nodes[at].parent)
		depth++;
	return depth;
}

static void give_path(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	if (depth_of(cursor) >= MAX_PARTS)
		return;
	char *name = gh_merged_paths_name(&cursor->sql->made.paths, (uint32_t)cursor->item + 1);
	if (name != NULL)
		sqlite3_result_text(out, name, -1, free);
	else
		sqlite3_result_error_nomem(out);
}

static void give_frame(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_pprof_node *node = node_of(cursor);
	gh_sql_give_text(out, cursor->sql->made.paths.frames.items[node->frame]);
}

static void give_depth(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, depth_of(cursor));
}

static const struct gh_sql_column path_columns[] = {
    {"path", "TEXT", give_path, .about = "from a root on, as histogram --by path has it"},
    {"frame", "TEXT", give_frame, .about = "the last part of it"},
    {"depth", "INTEGER", give_depth, .about = "parts before that: 0 for a root"},
    {"objects", "INTEGER", .row = node_of, GH_SQL_MEMBER(struct gh_pprof_node, objects),
     .about = "at its end"},
    {"bytes", "INTEGER", .row = node_of, GH_SQL_MEMBER(struct gh_pprof_node, bytes),
     .about = "in these objects"},
    {"all_objects", "INTEGER", .row = held_of, GH_SQL_MEMBER(struct gh_sql_held, objects),
     .about = "at its end, and at those that go on from it"},
    {"all_bytes", "INTEGER", .row = held_of, GH_SQL_MEMBER(struct gh_sql_held, bytes),
     .about = "in all these objects"},
    {0},
};

const struct gh_sql_table gh_sql_paths = {
    .name = "paths",
    .is_summary = true,
    .about =
	"The ways that hold the heap, as pprof --paths has them: each object is at the end of one",
    .columns = path_columns,
    .needs = GH_SQL_NEEDS_NAMES,
    .rows = 1e4,
    .count = count_paths,
};

/* stacks */

static const struct gh_sql_column stack_columns[] = {
    {"goroutines", "INTEGER", .about = "that have it"},
    {"status", "TEXT", .about = "of them, as in goroutines"},
    {"reason", "TEXT", .about = "why they wait"},
    {"function", "TEXT", .about = "innermost of the program's own calls"},
    {"file", "TEXT", .about = "where that is"},
    {"line", "INTEGER", .about = "where that is"},
    {"waited", "INTEGER", .about = "the longest, in ns; 0 if it is not known"},
    {"leaked", "INTEGER", .about = "of them, that can never go on"},
    {"system", "INTEGER", .about = "1 if they are the runtime's own"},
    {"example", "INTEGER", .about = "the id of one"},
    {"stack", "TEXT", .about = "functions, the outermost first"},
    {0},
};

const struct gh_sql_table gh_sql_stacks = {
    .name = "stacks",
    .is_summary = true,
    .about = "The goroutines in groups: those with the same status and stack",
    .columns = stack_columns,
    .query = "SELECT count(*) AS goroutines, status, reason, function, file, line, "
	     "max(waited) AS waited, sum(leaked) AS leaked, system, min(id) AS example, stack "
	     "FROM goroutines GROUP BY status, reason, function, file, line, system, stack",
};
