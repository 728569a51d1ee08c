/* What the objects that retain most keep alive besides one another, by class. */
#ifndef GH_HEAP_REMAINDER_H
#define GH_HEAP_REMAINDER_H

#include "lib/heap/largest.h"

/* Objects of one class, with one immediate dominator. */
struct gh_remainder {
	uint32_t parent;   /* place of that among the largest; their count for the roots together */
	uint32_t class;    /* the class's number */
	uint64_t objects;  /* how many */
	uint64_t bytes;    /* in them */
	uint64_t retained; /* bytes that would go with them, theirs among them */
};

/* Appends to OUT, by parent, a struct gh_remainder for each class of those objects that are not
 * among LARGEST, but whose immediate dominator is, or is the roots. CLASSES has the number of each
 * object's class, below NCLASSES. False (ERR filled) if memory ran out. */
bool gh_remainder_find(struct gh_buffer *out, const struct gh_heap *heap,
		       const struct gh_dominators *dominators, const struct gh_largest *largest,
		       const uint32_t *classes, size_t nclasses, struct gh_error *err);

#endif
