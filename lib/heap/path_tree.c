#include <stdlib.h>
#include <string.h>

#include "lib/heap/heap.h"

/* A walk from the roots, the nearest objects first. */
struct search {
	uint32_t *parents; /* the tree's */
	uint32_t *queue;   /* objects that were reached, in their order */
	uint32_t reached;  /* of them */
};

static void reach(struct search *search, uint32_t object, uint32_t parent)
{
	if (search->parents[object] != GH_HEAP_NONE)
		return;
	search->parents[object] = parent;
	search->queue[search->reached++] = object;
}

/* Walks from the roots that are CONSERVATIVE, or from the others. */
static void walk(struct search *search, const struct gh_heap *heap, bool conservative)
{
	uint32_t at = search->reached;
	for (size_t i = 0; i < heap->nroots; i++)
		if (heap->roots[i].conservative == conservative)
			reach(search, heap->roots[i].object, heap->roots[i].object);
	for (; at < search->reached; at++) {
		const uint32_t *targets;
		size_t count = gh_heap_targets(heap, search->queue[at], &targets);
		for (size_t i = 0; i < count; i++)
			reach(search, targets[i], search->queue[at]);
	}
}

bool gh_path_tree_build(struct gh_path_tree *tree, const struct gh_heap *heap, struct gh_error *err)
{
	size_t size = ((size_t)heap->count + 1) * sizeof(uint32_t);
	struct search search = {.parents = malloc(size), .queue = malloc(size)};
	bool ok = search.parents != NULL && search.queue != NULL;
	tree->parents = search.parents;
	if (ok) {
		/* GH_HEAP_NONE in each. */
		memset(search.parents, 0xff, size);
		walk(&search, heap, false);
		walk(&search, heap, true);
	}
	free(search.queue);
	return ok || gh_fail_memory(err, heap->dump->path);
}

void gh_path_tree_free(struct gh_path_tree *tree)
{
	free(tree->parents);
	*tree = (struct gh_path_tree){0};
}
