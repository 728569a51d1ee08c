/* The shapes of objects whose type is not known: their size, and which of their words are pointers.
 */
#ifndef GH_PLUGIN_SHAPES_H
#define GH_PLUGIN_SHAPES_H

#include "lib/heap/heap.h"

struct gh_shapes {
	uint32_t *of;           /* by object: its shape's number; owned */
	struct gh_buffer names; /* char *, by number; owned */
	size_t count;
};

/* Finds the shapes of HEAP's objects. False (ERR filled) if memory ran out. To be freed either way.
 */
bool gh_shapes_make(struct gh_shapes *shapes, const struct gh_heap *heap, struct gh_error *err);

/* The name of shape NUMBER: "48 bytes, pointers at 0 16". */
const char *gh_shapes_name(const struct gh_shapes *shapes, uint32_t number);

void gh_shapes_free(struct gh_shapes *shapes);

#endif
