/* What keeps most of the heap alive, as a tree: the objects that retain most, each below what
 * dominates it. A list of a million elements is not a million lines of it: an object and those of
 * its class that it dominates, one by way of the other, are one. */
#ifndef GH_PLUGIN_CLI_DOMINATOR_TREE_H
#define GH_PLUGIN_CLI_DOMINATOR_TREE_H

#include "lib/heap/dominators.h"

struct gh_tree_line {
	uint32_t object;  /* the first of those that are in the line */
	uint32_t count;   /* objects in the line */
	uint32_t parent;  /* the line that it is below; GH_HEAP_NONE for none */
	uint32_t child;   /* the first line below; GH_HEAP_NONE for none */
	uint32_t sibling; /* the next line with its parent; GH_HEAP_NONE for none */
};

struct gh_tree {
	struct gh_tree_line *lines; /* the largest first; owned */
	size_t count;               /* of lines */
	uint64_t seen;              /* how many there would be without a limit */
};

/* Makes the tree of the LIMIT (SIZE_MAX: all) lines of HEAP that retain most. CLASSES are by
 * object. False if memory ran out; to be freed either way. */
bool gh_tree_make(struct gh_tree *tree, const struct gh_heap *heap,
		  const struct gh_dominators *dominators, const uint32_t *classes, size_t limit);

void gh_tree_free(struct gh_tree *tree);

#endif
