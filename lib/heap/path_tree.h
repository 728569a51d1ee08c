/* The shortest paths from the roots of a heap to all of its objects, as a tree, by one
 * breadth-first search from the certain roots, and one from the conservative roots to what those do
 * not reach. */
#ifndef GH_HEAP_PATH_TREE_H
#define GH_HEAP_PATH_TREE_H

#include "lib/heap/heap.h"

struct gh_path_tree {
	uint32_t *parents; /* by object: the one before it on a shortest way; itself if a root
			      points to it; GH_HEAP_NONE if no root reaches it; owned */
};

/* Finds them, in time and memory linear in HEAP. False (ERR filled) if memory ran out. To be freed
 * either way. */
bool gh_path_tree_build(struct gh_path_tree *tree, const struct gh_heap *heap,
			struct gh_error *err);

void gh_path_tree_free(struct gh_path_tree *tree);

#endif
