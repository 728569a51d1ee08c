/* goheap dominators: what keeps most of the heap alive, as a tree. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/heap/heap.h"
#include "lib/util/top.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/findings/suspects.h"
#include "plugin/view/emit.h"

/* Prints the nearest roots of OBJECT, which are several. */
static void print_ways(FILE *out, struct gh_heap_query *query, uint32_t object)
{
	const struct gh_root *ways[GH_WAYS];
	size_t count = gh_ways_find(&query->heap, object, ways);
	fputs("in several ways", out);
	for (size_t i = 0; i < count; i++) {
		fputs(i == 0 ? ": " : "; ", out);
		gh_names_print_root(out, &query->names, ways[i]);
	}
}

/* Prints what LINE, which is below no other, is held by. */
static void print_holder(FILE *out, struct gh_heap_query *query, const struct gh_merged_line *line)
{
	const struct gh_root *roots;
	size_t count = gh_heap_roots(&query->heap, line->object, &roots);
	uint32_t above = query->dominators.idom[line->object];
	if (above != query->heap.count) {
		gh_names_print_object(out, &query->names, above);
		return;
	}
	if (count == 0) {
		print_ways(out, query, line->object);
		return;
	}
	if (line->heads > 1) {
		gh_names_print_stack(out, &query->names, &roots[0], line->heads);
		return;
	}
	gh_names_print_root(out, &query->names, &roots[0]);
	if (count > 1) {
		fputs(", and ", out);
		gh_print_count(out, count - 1, "more root");
	}
}

/* Deeper than this, lines are no longer indented. */
#define MAX_INDENT 16

/* An entry of the tree, as it is printed. */
struct row {
	uint64_t retained;
	struct gh_share share; /* of the heap's bytes */
	uint64_t objects;
	struct gh_heap_query *query;
	const struct gh_merged_line *line;
	uint64_t depth;          /* entries above it */
	struct gh_object object; /* the one that retains most; zeros unless it is JSON */
	struct gh_bytes holder;  /* as text; none unless it is JSON, and below no other; owned */
};

static void print_entry(struct gh_emit *emit, const void *member)
{
	const struct row *row = member;
	struct gh_heap_query *query = row->query;
	fprintf(emit->out, "%*s", (int)(2 * (row->depth < MAX_INDENT ? row->depth : MAX_INDENT)),
		"");
	gh_names_print_object(emit->out, &query->names, row->line->object);
	if (row->line->parent != GH_HEAP_NONE)
		return;
	fputs("  <- ", emit->out);
	print_holder(emit->out, query, row->line);
}

static const struct gh_column tree_columns[] = {
    {"retained", GH_COL_SIZE(struct row, retained)},
    {"%", GH_COL_SHARE(struct row, share)},
    {"objects", GH_COL_NUMBER(struct row, objects)},
    {"object", GH_COL_PRINTED(print_entry)},
    {0},
};

static const struct gh_column json_columns[] = {
    {"retained", GH_COL_SIZE(struct row, retained)},
    {"objects", GH_COL_NUMBER(struct row, objects)},
    {"depth", GH_COL_NUMBER(struct row, depth)},
    GH_OBJECT(struct row, object),
    {"holder", GH_COL_BYTES(struct row, holder), .optional = true},
    {0},
};

/* What print_holder prints; its data is to be freed, and NULL if memory ran out. */
static struct gh_bytes holder_text(struct gh_heap_query *query, const struct gh_merged_line *line)
{
	struct gh_bytes text = {0};
	char *data = NULL;
	FILE *out = open_memstream(&data, &text.size);
	if (out == NULL)
		return text;
	print_holder(out, query, line);
	text.data = gh_text_end(out, &data);
	return text;
}

static void print_line(struct gh_heap_query *query, struct gh_emit *emit,
		       const struct gh_merged_line *line, uint64_t depth)
{
	struct row row = {
	    .retained = line->retained,
	    .share = {line->retained, query->heap.bytes},
	    .objects = line->count,
	    .query = query,
	    .line = line,
	    .depth = depth,
	};
	if (emit->json) {
		row.object = gh_names_object(&query->names, line->object, 0);
		if (line->parent == GH_HEAP_NONE)
			row.holder = holder_text(query, line);
	}
	gh_emit_row(emit, emit->json ? json_columns : tree_columns, &row);
	free((char *)row.holder.data);
}

/* Prints LINE and what is below it. */
static void print_below(struct gh_heap_query *query, struct gh_emit *emit,
			const struct gh_merged_line *lines, uint32_t line)
{
	uint64_t depth = 0;
	uint32_t top = line;
	for (;;) {
		print_line(query, emit, &lines[line], depth);
		if (lines[line].child != GH_HEAP_NONE) {
			line = lines[line].child;
			depth++;
			continue;
		}
		while (line != top && lines[line].sibling == GH_HEAP_NONE) {
			line = lines[line].parent;
			depth--;
		}
		if (line == top)
			return;
		line = lines[line].sibling;
	}
}

static void print_tree(struct gh_heap_query *query, const struct gh_merged_dominators *tree)
{
	struct gh_emit emit =
	    gh_emit_start(stdout, GH_EMIT_TABLE, &query->dump, query->options->json);
	gh_emit_titles(&emit, tree_columns);
	for (size_t i = 0; i < tree->count; i++)
		if (tree->lines[i].parent == GH_HEAP_NONE)
			print_below(query, &emit, tree->lines, (uint32_t)i);
	gh_emit_finish(&emit, tree->seen);
}

/* TOP may be GH_HEAP_NONE. */
static int print_merged(struct gh_heap_query *query, uint32_t top)
{
	struct gh_merged_dominators tree;
	bool made =
	    gh_merged_dominators_make(&tree, &query->heap, &query->dominators,
				      gh_names_classes(&query->names), top, query->options->limit);
	if (made)
		print_tree(query, &tree);
	else
		gh_say(GH_OUT_OF_MEMORY);
	gh_merged_dominators_free(&tree);
	return made ? GH_EXIT_OK : GH_EXIT_INPUT;
}

/* An object by itself. */
struct object_row {
	uint64_t retained;
	uint64_t size;
	struct gh_object object;
	struct gh_known dominator; /* its address, if it is an object */
};

/* Adds all objects; those that TOP dominates directly, unless that is GH_HEAP_NONE. */
static void add_objects(struct gh_top *largest, const struct gh_heap_query *query, uint32_t top)
{
	const struct gh_dominators *dominators = &query->dominators;
	const struct gh_dominator_tree *tree = &query->tree;
	if (top != GH_HEAP_NONE && tree->child != NULL) {
		for (uint32_t i = tree->child[top]; i != GH_HEAP_NONE; i = tree->sibling[i])
			gh_top_add(largest, dominators->retained[i], i);
		return;
	}
	for (uint32_t i = 0; i < dominators->nreachable; i++) {
		uint32_t object = dominators->order[i];
		if (top == GH_HEAP_NONE || dominators->idom[object] == top)
			gh_top_add(largest, dominators->retained[object], object);
	}
}

/* The largest of them. */
static int print_json(struct gh_heap_query *query, uint32_t top)
{
	static const struct gh_column columns[] = {
	    {"retained", GH_COL_SIZE(struct object_row, retained)},
	    {"size", GH_COL_NUMBER(struct object_row, size)},
	    GH_OBJECT(struct object_row, object),
	    {"dominator", GH_COL_KNOWN_ADDRESS(struct object_row, dominator)},
	    {0},
	};
	const struct gh_heap *heap = &query->heap;
	const struct gh_dominators *dominators = &query->dominators;
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_TABLE, &query->dump, true);
	struct gh_top largest = {.limit = query->options->limit};
	size_t count;
	add_objects(&largest, query, top);
	const struct gh_top_item *items = gh_emit_top(&largest, &count);
	for (size_t i = 0; i < count; i++) {
		uint32_t object = items[i].number;
		uint32_t above = dominators->idom[object];
		struct object_row row = {
		    .retained = items[i].key,
		    .size = gh_heap_object(heap, object).size,
		    .object = gh_names_object(&query->names, object, 0),
		};
		if (above != heap->count)
			row.dominator =
			    (struct gh_known){gh_heap_object(heap, above).address, true};
		gh_emit_row(&emit, columns, &row);
	}
	gh_top_free(&largest);
	return GH_EXIT_OK;
}

static int answer(struct gh_heap_query *query, uint32_t top)
{
	bool is_merged = !query->options->json || query->options->merged;
	return is_merged ? print_merged(query, top) : print_json(query, top);
}

static int answer_dump(struct gh_heap_query *query)
{
	return answer(query, GH_HEAP_NONE);
}

static int answer_object(struct gh_heap_query *query, uint32_t object, uint64_t address)
{
	if (query->dominators.retained[object] > 0)
		return answer(query, object);
	gh_say("0x%" PRIx64 ": expected an object that a root leads to, found garbage", address);
	return GH_EXIT_INPUT;
}

int gh_cmd_dominators(const struct gh_options *options)
{
	return options->addresses.count == 0
		   ? gh_heap_query_run(options, GH_WITH_DOMINATORS | GH_WITH_NO_DATA, answer_dump)
		   : gh_heap_query_run_each(options, GH_WITH_DOMINATORS | GH_WITH_NO_DATA,
					    answer_object);
}
