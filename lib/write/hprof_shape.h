/* The classes of the heap's objects in an hprof file.
 *
 * An instance's class says all of it: its name, its size, its fields. So objects are of one class
 * if they are of one type, of one size, and have references at the same offsets. What is large is
 * an array of words, with references where it has pointers and null elsewhere: readers want field
 * counts that fit 15 bits, and no class for each large object. */
#ifndef GH_WRITE_HPROF_SHAPE_H
#define GH_WRITE_HPROF_SHAPE_H

#include "lib/heap/typing.h"
#include "lib/write/hprof_class.h"

/* Words of an instance, at most. */
#define GH_HPROF_WORDS 64

/* Objects that have one class. */
struct gh_hprof_shape {
	uint32_t type;     /* the number of their class in the typing */
	uint64_t size;     /* in bytes; 0 for an array of words, however long */
	uint64_t pointers; /* a bit for each word that is one, the first the lowest */
};

struct gh_hprof_kind {
	struct gh_hprof_shape shape; /* of its objects */
	uint64_t id;                 /* of the class */
	struct gh_buffer fields;     /* struct gh_hprof_field, one after the other; owned */
};

struct gh_hprof_shapes {
	struct gh_hprof_classes *classes;     /* of the file; not owned */
	const struct gh_typing *typing;       /* of the heap; not owned */
	struct gh_hprof_kind **items;         /* in the order they came; owned */
	size_t count;                         /* of items */
	size_t capacity;                      /* of items */
	void *tree;                           /* the same, for tsearch */
	const struct gh_hprof_kind *last;     /* that was asked for */
	uint64_t offsets[8 * GH_HPROF_WORDS]; /* by offset: ids of the names of fields without one;
						 0 if there is none yet */
};

/* The class of SHAPE, of at most GH_HPROF_WORDS words, which OBJECT has; NULL if memory ran out.
 * What loads it is written where it is new: that is before the heap dump. */
const struct gh_hprof_kind *gh_hprof_kind_of(struct gh_hprof_shapes *shapes,
					     const struct gh_hprof_shape *shape, uint32_t object);

/* The fields of KIND, and how many. */
const struct gh_hprof_field *gh_hprof_fields(const struct gh_hprof_kind *kind, uint16_t *count);

/* Writes, in the heap dump, what the classes are. */
void gh_hprof_dump_shapes(struct gh_hprof_shapes *shapes);

void gh_hprof_shapes_free(struct gh_hprof_shapes *shapes);

#endif
