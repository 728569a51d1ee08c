#include "lib/heap/histogram.h"

#include <errno.h>
#include <stdlib.h>

/* The tree of dominators, to be walked down: what the root dominates is at the heap's count. */
struct tree {
	const uint32_t *parent; /* by object: its dominator */
	uint32_t *child;        /* by object: the first that it dominates, or GH_HEAP_NONE */
	uint32_t *sibling;      /* by object: the next with its dominator, or GH_HEAP_NONE */
	uint32_t root;          /* the heap's count */
};

static bool make_tree(struct tree *tree, const struct gh_heap *heap,
		      const struct gh_dominators *dominators)
{
	size_t size = (size_t)heap->count + 1;
	tree->parent = dominators->idom;
	tree->root = heap->count;
	tree->child = malloc(size * sizeof(*tree->child));
	tree->sibling = malloc(size * sizeof(*tree->sibling));
	if (tree->child == NULL || tree->sibling == NULL)
		return false;
	for (size_t i = 0; i < size; i++)
		tree->child[i] = tree->sibling[i] = GH_HEAP_NONE;
	for (uint32_t i = heap->count; i-- > 0;) {
		uint32_t parent = tree->parent[i];
		if (parent == GH_HEAP_NONE)
			continue;
		tree->sibling[i] = tree->child[parent];
		tree->child[parent] = i;
	}
	return true;
}

static void free_tree(struct tree *tree)
{
	free(tree->child);
	free(tree->sibling);
}

/* Goes through all of the tree. ABOVE has, by group, how many of it dominate the object where the
 * walk is. */
static void add_retained(struct gh_histogram_row *rows, const struct tree *tree,
			 const uint32_t *groups, const uint64_t *retained, uint32_t *above)
{
	uint32_t object = tree->root;
	for (;;) {
		uint32_t next = tree->child[object];
		while (next == GH_HEAP_NONE) {
			if (object == tree->root)
				return;
			above[groups[object]]--;
			next = tree->sibling[object];
			object = tree->parent[object];
		}
		object = next;
		if (above[groups[object]]++ == 0)
			rows[groups[object]].retained += retained[object];
	}
}

bool gh_histogram_make(struct gh_histogram_row *rows, size_t ngroups, const struct gh_heap *heap,
		       const uint32_t *groups, const struct gh_dominators *dominators,
		       struct gh_error *err)
{
	for (uint32_t i = 0; i < heap->count; i++) {
		struct gh_histogram_row *row = &rows[groups[i]];
		if (row->objects++ == 0 ||
		    (dominators != NULL &&
		     dominators->retained[i] > dominators->retained[row->largest]))
			row->largest = i;
		row->bytes += gh_heap_object(heap, i).size;
	}
	if (dominators == NULL)
		return true;
	struct tree tree = {0};
	uint32_t *above = calloc(ngroups + 1, sizeof(*above));
	bool made = above != NULL && make_tree(&tree, heap, dominators);
	if (made)
		add_retained(rows, &tree, groups, dominators->retained, above);
	free_tree(&tree);
	free(above);
	if (made)
		return true;
	errno = ENOMEM;
	return gh_fail_errno(err, heap->dump->path, "count its objects");
}
