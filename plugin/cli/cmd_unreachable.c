/* goheap unreachable: the garbage in a heap dump, that the collector had not swept yet. */
#include <stdio.h>

#include "lib/util/top.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/view/emit.h"

static void print_total(const struct gh_heap_query *query, const struct gh_top *top)
{
	fputs("garbage: ", stdout);
	gh_print_count(stdout, top->seen, "object");
	fputs(" of ", stdout);
	gh_print_size(stdout, top->total);
	fputs(", in ", stdout);
	gh_print_count(stdout, query->heap.count, "object");
	fputs(" of ", stdout);
	gh_print_size(stdout, query->heap.bytes);
	putchar('\n');
}

/* An object, as it is printed. */
struct row {
	uint64_t size; /* in bytes */
	struct gh_object object;
};

static const struct gh_column columns[] = {
    {"size", GH_COL_SIZE(struct row, size)},
    GH_OBJECT(struct row, object),
    {0},
};

static int print_unreachable(struct gh_heap_query *query)
{
	const struct gh_heap *heap = &query->heap;
	bool json = query->options->json;
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_TABLE, &query->dump, json);
	struct gh_top top = {.limit = query->options->limit};
	size_t count;
	for (uint32_t i = 0; i < heap->count; i++)
		if (query->dominators.idom[i] == GH_HEAP_NONE)
			gh_top_add(&top, gh_heap_object(heap, i).size, i);
	const struct gh_top_item *items = gh_emit_top(&top, &count);
	gh_emit_titles(&emit, columns);
	for (size_t i = 0; i < count; i++) {
		struct row row = {items[i].key, gh_names_object(&query->names, items[i].number, 0)};
		gh_emit_row(&emit, columns, &row);
	}
	gh_emit_finish(&emit, top.seen);
	if (!json)
		print_total(query, &top);
	gh_top_free(&top);
	return GH_EXIT_OK;
}

int gh_cmd_unreachable(const struct gh_options *options)
{
	return gh_heap_query_run(options, GH_WITH_DOMINATORS | GH_WITH_NO_DATA, print_unreachable);
}
