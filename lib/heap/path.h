/* Shortest paths from roots to objects: what keeps them alive. Those of one object are searched
 * back from it, those of all forward from the roots: in a heap of 5.1 million objects the one took
 * 12 ms on average, 110 ms at most, and the other 250 ms, which `goheap path` would take longer by,
 * and which pay for `goheap report` from some 20 paths on. */
#ifndef GH_HEAP_PATH_H
#define GH_HEAP_PATH_H

#include "lib/heap/heap.h"

struct gh_path_step {
	uint32_t object; /* its number */
	uint64_t
	    offset; /* of the pointer to the next object, in this one, in bytes; of the last 0 */
};

struct gh_path {
	struct gh_root root;                         /* points to the first step's object */
	struct GH_VECTOR(struct gh_path_step) steps; /* up to the object asked for */
};

enum gh_path_result {
	GH_PATH_FAILED,
	GH_PATH_FOUND,
	GH_PATH_NONE, /* no root reaches the object */
};

/* Finds a shortest path from a root of HEAP to OBJECT: from a certain root, if one leads to it,
 * however near a conservative one may be. Of several roots of an object it is the first by kind.
 * GH_PATH_FAILED (ERR filled) if memory ran out. If it is found the path is to be freed with
 * gh_path_free. */
enum gh_path_result gh_path_find(const struct gh_heap *heap, uint32_t object, struct gh_path *path,
				 struct gh_error *err);

void gh_path_free(struct gh_path *path);

/* Of an object that is held in several ways, roots that are told. */
#define GH_WAYS 3

/* Finds the nearest certain roots of OBJECT, of each that points to it the nearest, and gives how
 * many there are of at most GH_WAYS. Of a long way, or if memory runs out, there may be none. */
size_t gh_ways_find(const struct gh_heap *heap, uint32_t object, const struct gh_root **ways);

/* The shortest paths to all objects, as a tree: from the certain roots, and from the conservative
 * ones to what those do not reach. */
struct gh_path_tree {
	uint32_t *parents; /* by object: the one before it on a shortest path; itself if a root
			      points to it; GH_HEAP_NONE if no root reaches it; owned */
};

/* Finds them, in time and memory linear in HEAP. False (ERR filled) if memory ran out. To be freed
 * either way. */
bool gh_path_tree_build(struct gh_path_tree *tree, const struct gh_heap *heap,
			struct gh_error *err);

void gh_path_tree_free(struct gh_path_tree *tree);

#endif
