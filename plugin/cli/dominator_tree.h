/* What keeps most of the heap alive, as a tree: the objects that retain most, each below what
 * dominates it. A map of a million entries is not a million lines of it, nor a list: objects of one
 * class are one line if they are dominated by objects of one line, and an object is in the line of
 * one of its class that dominates it. Those that nothing dominates are if no root points to them,
 * or if those that do are of the same slot in the frames of goroutines with the same stack. */
#ifndef GH_PLUGIN_CLI_DOMINATOR_TREE_H
#define GH_PLUGIN_CLI_DOMINATOR_TREE_H

#include "lib/heap/dominators.h"

struct gh_tree_line {
	uint32_t object;   /* that of the line that retains most */
	uint32_t count;    /* objects in the line */
	uint32_t heads;    /* those of them that none of the line dominates */
	uint64_t retained; /* bytes that would go with the line */
	uint32_t parent;   /* the line that it is below; GH_HEAP_NONE for none */
	uint32_t child;    /* the first line below; GH_HEAP_NONE for none */
	uint32_t sibling;  /* the next line with its parent; GH_HEAP_NONE for none */
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
