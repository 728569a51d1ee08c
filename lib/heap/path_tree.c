#include <stdlib.h>
#include <string.h>

#include "lib/heap/heap.h"

/* The roots from which what is reached is reached first; within a rank, what is nearest. */
enum rank {
	RANK_GLOBAL,
	RANK_STACK,
	RANK_OTHER,
	RANK_PASSING,
	RANK_CONSERVATIVE,
	RANKS,
};

static enum rank rank_of(const struct gh_root *root, enum gh_path_order order)
{
	if (root->conservative)
		return RANK_CONSERVATIVE;
	if (root->passing)
		return RANK_PASSING;
	if (order == GH_PATH_NEAREST)
		return RANK_GLOBAL;
	switch (root->kind) {
	case GH_ROOT_DATA:
	case GH_ROOT_BSS:
		return RANK_GLOBAL;
	case GH_ROOT_FRAME:
	case GH_ROOT_GOROUTINE:
	case GH_ROOT_DEFER:
	case GH_ROOT_PANIC:
		return RANK_STACK;
	case GH_ROOT_FINALIZER:
	case GH_ROOT_QUEUED_FINALIZER:
	case GH_ROOT_CLEANUP_CLOSURE:
	case GH_ROOT_OTHER:
	case GH_ROOT_KINDS:
		break;
	}
	return RANK_OTHER;
}

static void reach(struct gh_path_tree *tree, uint32_t object, uint32_t parent)
{
	if (tree->parents[object] != GH_HEAP_NONE)
		return;
	tree->parents[object] = parent;
	tree->order[tree->nreached++] = object;
}

/* Walks from the roots of RANK, the nearest objects first. */
static void walk(struct gh_path_tree *tree, const struct gh_heap *heap, enum gh_path_order order,
		 enum rank rank)
{
	uint32_t at = tree->nreached;
	for (size_t i = 0; i < heap->nroots; i++)
		if (rank_of(&heap->roots[i], order) == rank)
			reach(tree, heap->roots[i].object, heap->roots[i].object);
	for (; at < tree->nreached; at++) {
		const uint32_t *targets;
		size_t count = gh_heap_targets(heap, tree->order[at], &targets);
		for (size_t i = 0; i < count; i++)
			reach(tree, targets[i], tree->order[at]);
	}
}

bool gh_path_tree_build(struct gh_path_tree *tree, const struct gh_heap *heap,
			enum gh_path_order order, struct gh_error *err)
{
	size_t size = ((size_t)heap->count + 1) * sizeof(uint32_t);
	*tree = (struct gh_path_tree){.parents = malloc(size), .order = malloc(size)};
	if (tree->parents == NULL || tree->order == NULL)
		return gh_fail_memory(err, heap->dump->path);
	/* GH_HEAP_NONE in each. */
	memset(tree->parents, 0xff, size);
	for (enum rank rank = 0; rank < RANKS; rank++)
		walk(tree, heap, order, rank);
	return true;
}

enum gh_path_result gh_path_tree_find(const struct gh_path_tree *tree, const struct gh_heap *heap,
				      uint32_t object, struct gh_path *path, struct gh_error *err)
{
	const uint32_t *parents = tree->parents;
	const struct gh_root *roots;
	uint32_t next = object;
	size_t count = 1;
	*path = (struct gh_path){0};
	if (parents[object] == GH_HEAP_NONE)
		return GH_PATH_NONE;
	for (; parents[next] != next; next = parents[next])
		count++;
	gh_heap_roots(heap, next, &roots);
	path->root = roots[0];
	if (!gh_vector_reserve(&path->steps, count)) {
		gh_fail_memory(err, heap->dump->path);
		return GH_PATH_FAILED;
	}
	path->steps.count = count;
	path->steps.items[count - 1] = (struct gh_path_step){object, 0};
	for (size_t i = count - 1; i > 0; i--) {
		uint32_t before = parents[object];
		path->steps.items[i - 1] =
		    (struct gh_path_step){before, gh_heap_offset(heap, before, object)};
		object = before;
	}
	return GH_PATH_FOUND;
}

void gh_path_tree_free(struct gh_path_tree *tree)
{
	free(tree->parents);
	free(tree->order);
	*tree = (struct gh_path_tree){0};
}
