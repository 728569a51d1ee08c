/* The objects that retain most: the top of the tree of dominators. */
#ifndef GH_HEAP_LARGEST_H
#define GH_HEAP_LARGEST_H

#include "lib/heap/dominators.h"

struct gh_largest {
	uint32_t *objects; /* that which retains most first, so each after its dominator; owned */
	uint32_t count;    /* of them */
};

/* Finds the LIMIT objects, or as many as there are, that retain most of those that DEPTH others
 * dominate, or fewer (DEPTH is below 255): without that bound the nodes of one long list may be all
 * there is. What dominates an object found is among them too. Objects without a byte are not. False
 * (ERR filled) if memory ran out. To be freed either way. */
bool gh_largest_find(struct gh_largest *largest, const struct gh_heap *heap,
		     const struct gh_dominators *dominators, uint32_t limit, uint8_t depth,
		     struct gh_error *err);

void gh_largest_free(struct gh_largest *largest);

#endif
