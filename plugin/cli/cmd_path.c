/* goheap path: the shortest way from a root to an object: what keeps it alive. */
#include "lib/heap/heap.h"

#include <stdio.h>

#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/view/emit.h"
#include "plugin/view/paths.h"

static void print_step(const struct gh_heap_query *query, const struct gh_path_step *step,
		       bool last)
{
	fputs("  ", stdout);
	gh_names_print_object(stdout, &query->names, step->object);
	if (!last) {
		fputs("  ", stdout);
		gh_names_print_pointer(stdout, &query->names, step->object, step->offset);
		fputs(" ->", stdout);
	}
	putchar('\n');
}

/* The objects of a path that are left out: of a long one both ends are printed. */
static size_t left_out_of(const struct gh_heap_query *query, const struct gh_path *path)
{
	size_t limit = query->options->limit;
	return path->steps.count > limit ? path->steps.count - limit : 0;
}

static void print_steps(const struct gh_heap_query *query, const struct gh_path *path)
{
	const struct gh_path_step *steps = path->steps.items;
	size_t limit = query->options->limit;
	size_t left_out = left_out_of(query, path);
	for (size_t i = 0; i < path->steps.count; i++) {
		if (left_out > 0 && i == limit / 2) {
			fputs("  ... ", stdout);
			gh_print_count(stdout, left_out, "object");
			puts(" ...");
			i += left_out;
		}
		print_step(query, &steps[i], i + 1 == path->steps.count);
	}
}

static void print_text(struct gh_heap_query *query, const struct gh_path *path)
{
	gh_names_print_root(stdout, &query->names, &path->root);
	putchar('\n');
	print_steps(query, path);
}

/* A path, as it is printed in JSON; NULL if there is none. */
struct row {
	struct gh_heap_query *query;
	struct gh_object object; /* that it leads to */
	const struct gh_path *path;
	const char *none;
};

static void print_root(struct gh_emit *emit, const void *member)
{
	const struct row *row = member;
	gh_names_emit_root(emit, &row->query->names, &row->path->root);
}

static void print_skipped(struct gh_emit *emit, uint64_t count)
{
	struct skipped {
		uint64_t count;
	};
	static const struct gh_column columns[] = {
	    {"skipped", GH_COL_NUMBER(struct skipped, count)}, {0}};
	const struct skipped row = {count};
	gh_emit_item(emit, columns, &row);
}

/* Each object, and the field in it that leads on to the next. */
static void print_path_json(struct gh_emit *emit, const void *member)
{
	static const struct gh_column object[] = {GH_OBJECT(struct gh_object_row, object), {0}};
	static const struct gh_column field[] = {GH_OBJECT_FIELD(struct gh_object_row, object),
						 GH_OBJECT_RANGE(struct gh_object_row, object),
						 {0}};
	const struct row *row = member;
	const struct gh_path_step *steps = row->path->steps.items;
	size_t left_out = left_out_of(row->query, row->path);
	for (size_t i = 0; i < row->path->steps.count; i++) {
		if (left_out > 0 && i == row->query->options->limit / 2) {
			print_skipped(emit, left_out);
			i += left_out;
		}
		struct gh_object_row step = {
		    gh_names_object(&row->query->names, steps[i].object, steps[i].offset)};
		gh_emit_next(emit);
		gh_emit_open(emit);
		gh_emit_values(emit, object, &step);
		if (i + 1 < row->path->steps.count)
			gh_emit_values(emit, field, &step);
		gh_emit_close(emit);
	}
}

static void print_json(struct gh_heap_query *query, uint32_t object, const struct gh_path *path)
{
	static const struct gh_column start[] = {
	    {"object", GH_COL_ADDRESS(struct row, object.address)}, {0}};
	static const struct gh_column found[] = {
	    {"root", GH_COL_PRINTED(print_root)},
	    {"path", GH_COL_LIST(print_path_json)},
	    {0},
	};
	static const struct gh_column unreachable[] = {
	    {"root", GH_COL_TEXT(struct row, none)},
	    {"path", GH_COL_TEXT(struct row, none)},
	    {0},
	};
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, &query->dump, true);
	struct row row = {query, gh_names_object(&query->names, object, 0), path, NULL};
	gh_emit_values(&emit, start, &row);
	gh_emit_row(&emit, path != NULL ? found : unreachable, &row);
}

static void print_unreachable(const struct gh_heap_query *query, uint32_t object)
{
	gh_names_print_object(stdout, &query->names, object);
	puts("\n  garbage: no root leads to it");
}

static int print_path(struct gh_heap_query *query, uint32_t object, uint64_t address)
{
	(void)address;
	struct gh_error err;
	struct gh_path path;
	enum gh_path_result result =
	    query->paths.parents != NULL
		? gh_path_tree_find(&query->paths, &query->heap, object, &path, &err)
		: gh_path_find(&query->heap, object, &path, &err);
	bool found = result == GH_PATH_FOUND;
	if (result == GH_PATH_FAILED) {
		gh_print_error(&err);
		return GH_EXIT_INPUT;
	}
	if (query->options->json)
		print_json(query, object, found ? &path : NULL);
	else if (found)
		print_text(query, &path);
	else
		print_unreachable(query, object);
	if (found)
		gh_path_free(&path);
	return GH_EXIT_OK;
}

int gh_cmd_path(const struct gh_options *options)
{
	return gh_heap_query_run_each(options, GH_WITH_NAMES | GH_WITH_NO_DATA, print_path);
}
