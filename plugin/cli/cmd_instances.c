/* goheap instances: the objects of one type, those that keep most alive first. */
#include <stdio.h>
#include <string.h>

#include "lib/heap/heap.h"
#include "lib/util/escape.h"
#include "lib/util/top.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/view/emit.h"

struct row {
	uint64_t retained;
	uint64_t size;
	struct gh_object object;
};

static const struct gh_column columns[] = {
    {"retained", GH_COL_SIZE(struct row, retained)},
    {"size", GH_COL_SIZE(struct row, size)},
    GH_OBJECT(struct row, object),
    {0},
};

/* The number of the class that TYPE is the name of; the count of classes if there is none. */
static uint32_t find_class(const struct gh_names *names, const char *type)
{
	uint32_t count = (uint32_t)gh_names_count(names);
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(gh_names_class(names, i), type) == 0)
			return i;
	return count;
}

static bool print_objects(const struct gh_heap_query *query, uint32_t class)
{
	const struct gh_heap *heap = &query->heap;
	const uint32_t *classes = gh_names_classes(&query->names);
	struct gh_emit emit =
	    gh_emit_start(stdout, GH_EMIT_TABLE, &query->dump, query->options->json);
	struct gh_top largest = {.limit = query->options->limit};
	size_t count;
	for (uint32_t i = 0; i < heap->count; i++)
		if (classes[i] == class)
			gh_top_add(&largest, query->dominators.retained[i], i);
	const struct gh_top_item *items = gh_emit_top(&largest, &count);
	gh_emit_titles(&emit, columns);
	for (size_t i = 0; i < count; i++) {
		struct row row = {
		    .retained = items[i].key,
		    .size = gh_heap_object(heap, items[i].number).size,
		    .object = gh_names_object(&query->names, items[i].number, 0),
		};
		gh_emit_row(&emit, columns, &row);
	}
	gh_emit_finish(&emit, largest.seen);
	bool failed = largest.items.failed;
	gh_top_free(&largest);
	return !failed;
}

static int answer(struct gh_heap_query *query)
{
	const char *type = query->options->words[0];
	uint32_t class = find_class(&query->names, type);
	if (class == gh_names_count(&query->names)) {
		fputs("goheap: no object is called ", stderr);
		gh_escape_print(stderr, type);
		fputs(": ", stderr);
		gh_see_print(stderr, query->options, "histogram --limit 0");
		fputs(" (what they are called)\n", stderr);
		return GH_EXIT_INPUT;
	}
	if (print_objects(query, class))
		return GH_EXIT_OK;
	gh_say(GH_OUT_OF_MEMORY);
	return GH_EXIT_INPUT;
}

int gh_cmd_instances(const struct gh_options *options)
{
	if (options->nwords == 1)
		return gh_heap_query_run(options, GH_WITH_DOMINATORS, answer);
	gh_say("expected one type, as goheap histogram prints it: 'map[string]*main.Session'");
	return GH_EXIT_USAGE;
}
