#include "lib/heap/heap.h"

#include <stdlib.h>

/* A walk from an object to those that point to it, the nearest first. */
struct search {
	const struct gh_heap *heap;
	uint32_t *toward; /* by object: one more than the next on the way; 0 if not seen */
	struct GH_VECTOR(uint32_t) queue; /* the objects seen */
};

static bool reach(struct search *search, uint32_t object, uint32_t toward)
{
	if (search->toward[object] != 0)
		return true;
	search->toward[object] = toward + 1;
	return gh_vector_push(&search->queue, object);
}

/* Reaches what points to OBJECT. */
static bool reach_referrers(struct search *search, uint32_t object)
{
	const uint32_t *referrers;
	size_t count = gh_heap_referrers(search->heap, object, &referrers);
	for (size_t i = 0; i < count; i++)
		if (!reach(search, referrers[i], object))
			return false;
	return true;
}

/* Goes back from OBJECT until a lasting root points to what is reached; that is FIRST. If there is
 * none it is the nearest that one of the next rank points to, or GH_HEAP_NONE. False if memory ran
 * out. */
static bool find_first(struct search *search, uint32_t object, uint32_t *first)
{
	const struct gh_root *roots;
	enum gh_root_rank best = GH_RANKS;
	*first = GH_HEAP_NONE;
	if (!reach(search, object, object))
		return false;
	for (size_t at = 0; at < search->queue.count; at++) {
		uint32_t next = search->queue.items[at];
		if (gh_heap_roots(search->heap, next, &roots) > 0 &&
		    gh_root_rank(&roots[0]) < best) {
			*first = next;
			best = gh_root_rank(&roots[0]);
			if (best == GH_RANK_LASTING)
				return true;
		}
		if (!reach_referrers(search, next))
			return false;
	}
	return true;
}

/* Writes down the way from FIRST to LAST. */
static bool make_steps(const struct search *search, uint32_t first, uint32_t last,
		       struct gh_path *path)
{
	uint32_t object = first;
	while (object != last) {
		uint32_t next = search->toward[object] - 1;
		struct gh_path_step step = {object, gh_heap_offset(search->heap, object, next)};
		if (!gh_vector_push(&path->steps, step))
			return false;
		object = next;
	}
	return gh_vector_push(&path->steps, (struct gh_path_step){last, 0});
}

enum gh_path_result gh_path_find(const struct gh_heap *heap, uint32_t object, struct gh_path *path,
				 struct gh_error *err)
{
	struct search search = {.heap = heap};
	const struct gh_root *roots;
	uint32_t first = GH_HEAP_NONE;
	*path = (struct gh_path){0};
	search.toward = calloc((size_t)heap->count + 1, sizeof(*search.toward));
	bool ok = search.toward != NULL && find_first(&search, object, &first);
	if (ok && first != GH_HEAP_NONE) {
		gh_heap_roots(heap, first, &roots);
		path->root = roots[0];
		ok = make_steps(&search, first, object, path);
	}
	free(search.toward);
	gh_vector_free(&search.queue);
	if (!ok)
		gh_fail_memory(err, heap->dump->path);
	if (ok && first != GH_HEAP_NONE)
		return GH_PATH_FOUND;
	gh_path_free(path);
	return ok ? GH_PATH_NONE : GH_PATH_FAILED;
}

void gh_path_free(struct gh_path *path)
{
	gh_vector_free(&path->steps);
	*path = (struct gh_path){0};
}
