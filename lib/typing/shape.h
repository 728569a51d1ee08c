/* Names for objects of unknown types: their size and the offsets of their pointers. */
#ifndef GH_TYPING_SHAPE_H
#define GH_TYPING_SHAPE_H

#include "lib/heap/heap.h"
#include "lib/util/numbermap.h"
#include "lib/util/vector.h"

/* A size and a fieldlist. */
struct gh_shape {
	uint64_t size;        /* of objects, in bytes */
	uint64_t list;        /* of a fieldlist like theirs: its offset in the file */
	uint64_t list_length; /* in bytes */
	uint32_t next;        /* of those with the same key; GH_NOT_MAPPED if it is the last */
};

struct gh_shapes {
	struct GH_VECTOR(struct gh_shape) items; /* by number */
	struct gh_numbermap keys;                /* the first of each key */
};

/* The number of the shape of OBJECT, a record of DUMP's; GH_NOT_MAPPED if memory ran out. */
uint32_t gh_shapes_of(struct gh_shapes *shapes, const struct gh_dump *dump,
		      const struct gh_dump_object *object);

/* Appends what objects of shape NUMBER are called to OUT: "48 bytes, pointers at 0 16". */
void gh_shapes_name(const struct gh_shapes *shapes, const struct gh_dump *dump, uint32_t number,
		    struct gh_buffer *out);

void gh_shapes_free(struct gh_shapes *shapes);

#endif
