/* The dominators of a heap's objects: one object dominates another if every path from a root to
 * that one goes through it. What an object dominates would go with it: its retained size.
 *
 * A conservative root counts only for what no certain one leads to: a word that may be no pointer
 * does not take an object from what is known to hold it. */
#ifndef GH_HEAP_DOMINATORS_H
#define GH_HEAP_DOMINATORS_H

#include "lib/heap/heap.h"

struct gh_dominators {
	uint32_t *idom;     /* by object: the nearest that dominates it; the heap's count if that is
			       the roots together; GH_HEAP_NONE if no root reaches it; owned */
	uint64_t *retained; /* by object: bytes that would go with it, its own among them; 0 if no
			       root reaches it; one more for the roots together; owned */
	uint32_t *order;    /* the objects that roots reach, each after its dominator; owned */
	uint32_t nreachable; /* of them */
};

/* Finds the dominators of HEAP's objects. False (ERR filled) if memory ran out. On success to be
 * freed with gh_dominators_free. */
bool gh_dominators_build(struct gh_dominators *dominators, const struct gh_heap *heap,
			 struct gh_error *err);

void gh_dominators_free(struct gh_dominators *dominators);

#endif
