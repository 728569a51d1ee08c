/* Which structs begin with a value of a type: a pointer to the one is a pointer to the other. */
#ifndef GH_HEAP_CONTAINERS_H
#define GH_HEAP_CONTAINERS_H

#include "lib/heap/layout.h"

struct gh_container {
	uint32_t part;  /* a type's number */
	uint32_t whole; /* that of a struct that begins with values of it */
	uint64_t count; /* how many of them, one after the other */
};

struct gh_containers {
	struct gh_container *items; /* by part; owned */
	size_t count;               /* of items */
};

/* Finds the structs that have descriptors, and what they begin with. False if memory ran out. To be
 * freed either way. */
bool gh_containers_find(struct gh_containers *containers, const struct gh_layouts *layouts);

void gh_containers_free(struct gh_containers *containers);

/* Those of type PART. Gives how many. */
size_t gh_containers_of(const struct gh_containers *containers, uint32_t part,
			const struct gh_container **items);

#endif
