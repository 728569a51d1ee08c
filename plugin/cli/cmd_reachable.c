/* goheap reachable: how much an object leads to. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/util/vector.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/view/emit.h"

struct reached {
	struct gh_object object; /* that leads to them */
	uint64_t objects;
	uint64_t bytes;    /* in them */
	uint64_t retained; /* bytes of them that nothing else leads to */
};

/* Adds up what OBJECT leads to, itself among it. False if memory ran out. */
static bool follow(const struct gh_heap *heap, uint32_t object, struct reached *reached)
{
	uint8_t *seen = calloc((size_t)heap->count / 8 + 1, 1);
	struct GH_VECTOR(uint32_t) stack = {0};
	if (seen == NULL)
		return false;
	seen[object / 8] |= (uint8_t)(1 << object % 8);
	gh_vector_push(&stack, object);
	while (stack.count > 0) {
		const uint32_t *targets;
		object = stack.items[--stack.count];
		reached->objects++;
		reached->bytes += gh_heap_object(heap, object).size;
		size_t count = gh_heap_targets(heap, object, &targets);
		for (size_t i = 0; i < count; i++) {
			uint8_t bit = (uint8_t)(1 << targets[i] % 8);
			if (seen[targets[i] / 8] & bit)
				continue;
			seen[targets[i] / 8] |= bit;
			gh_vector_push(&stack, targets[i]);
		}
	}
	bool whole = !stack.failed;
	gh_vector_free(&stack);
	free(seen);
	return whole;
}

static int print_reachable(struct gh_heap_query *query, uint32_t object, uint64_t address)
{
	(void)address;
	static const struct gh_column columns[] = {
	    GH_OBJECT(struct reached, object),
	    {"objects", GH_COL_NUMBER(struct reached, objects)},
	    {"bytes", GH_COL_NUMBER(struct reached, bytes)},
	    {"retained", GH_COL_NUMBER(struct reached, retained)},
	    {0},
	};
	struct reached reached = {
	    .object = gh_names_object(&query->names, object, 0),
	    .retained = query->dominators.retained[object],
	};
	if (!follow(&query->heap, object, &reached)) {
		gh_say(GH_OUT_OF_MEMORY);
		return GH_EXIT_INPUT;
	}
	if (query->options->json) {
		struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, &query->dump, true);
		gh_emit_row(&emit, columns, &reached);
		return GH_EXIT_OK;
	}
	gh_names_print_object(stdout, &query->names, object);
	fputs("\n  leads to ", stdout);
	gh_print_count(stdout, reached.objects, "object");
	fputs(", itself among them, of ", stdout);
	gh_print_size(stdout, reached.bytes);
	fputs("\n  keeps alive, alone, ", stdout);
	gh_print_size(stdout, reached.retained);
	putchar('\n');
	return GH_EXIT_OK;
}

int gh_cmd_reachable(const struct gh_options *options)
{
	return gh_heap_query_run_each(options, GH_WITH_DOMINATORS | GH_WITH_NO_DATA,
				      print_reachable);
}
