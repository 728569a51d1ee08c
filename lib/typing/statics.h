/* Values in the data segments that are no variables: the linker put them there for a variable, or
 * another such value, to point to. */
#ifndef GH_TYPING_STATICS_H
#define GH_TYPING_STATICS_H

#include "lib/heap/heap.h"
#include "lib/util/vector.h"

/* Values of a type, one after the other. */
struct gh_static {
	uint64_t address;
	uint64_t size; /* of all of them, in bytes */
	uint32_t layout;
};

struct gh_static_list GH_VECTOR(struct gh_static);

/* A pointer of a segment's into a segment. */
struct gh_static_pointer {
	uint64_t value; /* where it points to */
	uint64_t slot;  /* where it is */
};

struct gh_statics {
	struct gh_static_list values;                        /* by address, the largest first */
	struct GH_VECTOR(struct gh_static_pointer) pointers; /* by value and slot */
};

/* Takes over VALUES, and finds the pointers in the segments of HEAP's dump.
 * False if memory ran out. To be freed either way. */
bool gh_statics_make(struct gh_statics *statics, struct gh_static_list *values,
		     const struct gh_heap *heap);

/* The value that ADDRESS is in; NULL if none is known. */
const struct gh_static *gh_statics_find(const struct gh_statics *statics, uint64_t address);

/* The first of the pointers to the last place that is not past ADDRESS; NULL if there is none. */
const struct gh_static_pointer *gh_statics_pointer(const struct gh_statics *statics,
						   uint64_t address);

void gh_statics_free(struct gh_statics *statics);

#endif
