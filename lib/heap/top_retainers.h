/* The top of the dominator tree: the objects that retain most; and, summed up by class, what they
 * keep alive besides one another. */
#ifndef GH_HEAP_TOP_RETAINERS_H
#define GH_HEAP_TOP_RETAINERS_H

#include "lib/heap/dominators.h"

struct gh_top_retainers {
	uint32_t *objects; /* that which retains most first, so each after its dominator; owned */
	uint32_t count;    /* of them */
};

/* Finds the LIMIT objects, or as many as there are, that retain most of those that DEPTH others
 * dominate, or fewer (DEPTH is below 255): without that bound the nodes of one long list may be all
 * there is. What dominates an object found is among them too. Objects without a byte are not. False
 * (ERR filled) if memory ran out. To be freed either way. */
bool gh_top_retainers_find(struct gh_top_retainers *largest, const struct gh_heap *heap,
			   const struct gh_dominators *dominators, uint32_t limit, uint8_t depth,
			   struct gh_error *err);

void gh_top_retainers_free(struct gh_top_retainers *largest);

/* Objects of one class, with one immediate dominator. */
struct gh_remainder {
	uint32_t parent;   /* place of that among the largest; their count for the roots together */
	uint32_t class;    /* the class's number */
	uint64_t objects;  /* how many */
	uint64_t bytes;    /* in them */
	uint64_t retained; /* bytes that would go with them, theirs among them */
};

struct gh_remainders GH_VECTOR(struct gh_remainder);

/* Appends to OUT, by parent, one for each class of those objects that are not
 * among LARGEST, but whose immediate dominator is, or is the roots. CLASSES has the number of each
 * object's class, below NCLASSES. False (ERR filled) if memory ran out. */
bool gh_remainder_find(struct gh_remainders *out, const struct gh_heap *heap,
		       const struct gh_dominators *dominators,
		       const struct gh_top_retainers *largest, const uint32_t *classes,
		       size_t nclasses, struct gh_error *err);

#endif
