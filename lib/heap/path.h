/* The shortest path from a root to an object: what keeps it alive. */
#ifndef GH_HEAP_PATH_H
#define GH_HEAP_PATH_H

#include "lib/heap/heap.h"

struct gh_path_step {
	uint32_t object; /* its number */
	uint64_t
	    offset; /* of the pointer to the next object, in this one, in bytes; of the last 0 */
};

struct gh_path {
	struct gh_root root;    /* points to the first step's object */
	struct gh_buffer steps; /* struct gh_path_step, up to the object asked for; owned */
	size_t nsteps;          /* how many these are */
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

/* The steps of PATH. */
const struct gh_path_step *gh_path_steps(const struct gh_path *path);

void gh_path_free(struct gh_path *path);

#endif
