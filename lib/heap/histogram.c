#include "lib/heap/heap.h"

#include <stdlib.h>

/* The next node that NODE's walk down from TOP comes to; TOP at its end. ABOVE has, by group, how
 * many of it dominate the node where the walk is. */
static uint32_t next_below(const struct gh_dominator_tree *tree, const uint32_t *groups,
			   uint32_t *above, uint32_t top, uint32_t node)
{
	uint32_t next = tree->child[node];
	while (next == GH_HEAP_NONE) {
		if (node == top)
			return top;
		if (node < tree->root)
			above[groups[node]]--;
		next = tree->sibling[node];
		node = tree->dominators->idom[node];
	}
	return next;
}

/* Goes through what TOP dominates. */
static void add_retained(struct gh_histogram_row *rows, const struct gh_dominator_tree *tree,
			 const uint32_t *groups, uint32_t top, uint32_t *above)
{
	uint32_t node = top;
	while ((node = next_below(tree, groups, above, top, node)) != top)
		if (node < tree->root && above[groups[node]]++ == 0)
			rows[groups[node]].retained += tree->dominators->retained[node];
}

void gh_histogram_add(struct gh_histogram_row *row, const struct gh_heap *heap,
		      const struct gh_dominators *dominators, uint32_t object)
{
	if (row->objects++ == 0 || (dominators != NULL && dominators->retained[object] >
							      dominators->retained[row->largest]))
		row->largest = object;
	row->bytes += gh_heap_object(heap, object).size;
}

void gh_histogram_below(struct gh_histogram_row *rows, const struct gh_heap *heap,
			const uint32_t *groups, const struct gh_dominator_tree *tree, uint32_t top,
			uint32_t *above)
{
	uint32_t node = top;
	while ((node = next_below(tree, groups, above, top, node)) != top) {
		if (node >= tree->root)
			continue;
		struct gh_histogram_row *row = &rows[groups[node]];
		gh_histogram_add(row, heap, tree->dominators, node);
		if (above[groups[node]]++ == 0)
			row->retained += tree->dominators->retained[node];
	}
}

bool gh_histogram_make(struct gh_histogram_row *rows, size_t ngroups, const struct gh_heap *heap,
		       const uint32_t *groups, const struct gh_dominators *dominators,
		       struct gh_error *err)
{
	for (uint32_t i = 0; i < heap->count; i++)
		gh_histogram_add(&rows[groups[i]], heap, dominators, i);
	if (dominators == NULL)
		return true;
	struct gh_dominator_tree tree = {0};
	uint32_t *above = calloc(ngroups + 1, sizeof(*above));
	bool made = above != NULL && gh_dominator_tree_make(&tree, heap, dominators);
	if (made)
		add_retained(rows, &tree, groups, tree.root, above);
	gh_dominator_tree_free(&tree);
	free(above);
	return made || gh_fail_memory(err, heap->dump->path);
}
