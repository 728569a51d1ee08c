#include <stdlib.h>

#include "lib/heap/heap.h"

/* Objects that are gone back through. */
#define MAX_OBJECTS 100000

/* An object that was reached, and which of those that point to the first one it was through. */
struct reached {
	uint32_t object;
	uint32_t way;
};

struct search {
	const struct gh_heap *heap;
	uint8_t *seen; /* by object: a bit; owned */
	struct GH_VECTOR(struct reached) queue;
};

static void reach(struct search *search, uint32_t object, uint32_t way)
{
	uint8_t bit = (uint8_t)(1U << object % 8);
	if ((search->seen[object / 8] & bit) != 0 || search->queue.count == MAX_OBJECTS)
		return;
	search->seen[object / 8] |= bit;
	gh_vector_push(&search->queue, (struct reached){object, way});
}

/* Reaches what points to OBJECT: by WAY, or, if that is GH_HEAP_NONE, each by its own. */
static void reach_referrers(struct search *search, uint32_t object, uint32_t way)
{
	const uint32_t *referrers;
	size_t count = gh_heap_referrers(search->heap, object, &referrers);
	for (size_t i = 0; i < count; i++)
		reach(search, referrers[i], way == GH_HEAP_NONE ? referrers[i] : way);
}

size_t gh_ways_find(const struct gh_heap *heap, uint32_t object, const struct gh_root **ways)
{
	struct search search = {.heap = heap, .seen = calloc((size_t)heap->count / 8 + 1, 1)};
	uint32_t taken[GH_WAYS];
	size_t count = 0;
	if (search.seen != NULL) {
		search.seen[object / 8] |= (uint8_t)(1U << object % 8);
		reach_referrers(&search, object, GH_HEAP_NONE);
	}
	for (size_t at = 0; at < search.queue.count && count < GH_WAYS; at++) {
		struct reached next = search.queue.items[at];
		const struct gh_root *roots;
		bool done = false;
		for (size_t i = 0; i < count; i++)
			done |= taken[i] == next.way;
		if (done)
			continue;
		if (gh_heap_roots(heap, next.object, &roots) > 0 &&
		    gh_root_rank(&roots[0]) == GH_RANK_LASTING) {
			taken[count] = next.way;
			ways[count++] = &roots[0];
		} else {
			reach_referrers(&search, next.object, next.way);
		}
	}
	free(search.seen);
	gh_vector_free(&search.queue);
	return count;
}
