/* The pointers in an object, frame, or segment of a dump, and what they point to. */
#ifndef GH_HEAP_POINTERS_H
#define GH_HEAP_POINTERS_H

#include "lib/heap/object_table.h"

struct gh_pointer {
	uint64_t offset; /* of it, from the start of the region, in bytes */
	uint64_t value;  /* an address; 0 for nil */
	uint32_t target; /* the object that it points to, or into; or GH_HEAP_NONE */
};

/* A walk over the pointers of a region. The fields are private but the count. */
struct gh_pointers {
	const struct gh_dump *dump;          /* the caller's */
	const struct gh_object_table *table; /* the objects' numbers; the caller's */
	struct gh_fields fields;             /* of the region */
	struct gh_cursor contents;           /* of the region */
	uint64_t unknown;                    /* interfaces whose type is not in the dump */
};

/* Starts a walk over the pointers of RECORD, an object, frame, or segment of DUMP, whose objects
 * are numbered by TABLE. */
void gh_pointers_of(const struct gh_dump *dump, const struct gh_object_table *table,
		    const struct gh_dump_record *record, struct gh_pointers *walk);

/* Gives the next field that is a pointer: of a string or slice, that to its bytes or elements; of
 * an interface, its data word, if that is a pointer. It may be nil, and may point to no object.
 * False at the end. */
bool gh_pointers_next(struct gh_pointers *walk, struct gh_pointer *pointer);

/* The same of those that point to, or into, the object TARGET. */
bool gh_pointers_next_to(struct gh_pointers *walk, uint32_t target, struct gh_pointer *pointer);

#endif
