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
	uint32_t nholders;   /* 0 but for gh_dominators_build_held */
};

/* Roots in groups, as those of one variable or of goroutines with one stack: each is a holder of
 * what is reached from its roots alone. Those of one are all conservative, or none is. */
struct gh_holders {
	const uint32_t *of; /* by the heap's root: its holder's number */
	uint32_t count;     /* of holders: with the heap's objects fewer than GH_HEAP_NONE - 1 */
};

/* Finds the dominators of HEAP's objects. False (ERR filled) if memory ran out. On success to be
 * freed with gh_dominators_free. */
bool gh_dominators_build(struct gh_dominators *dominators, const struct gh_heap *heap,
			 struct gh_error *err);

/* The same with a node for each of HOLDERS, which is to what its roots point to as an object to
 * what it points to: in all of the arrays the holders follow after the roots together, and the
 * order has those that have roots, too. */
bool gh_dominators_build_held(struct gh_dominators *dominators, const struct gh_heap *heap,
			      const struct gh_holders *holders, struct gh_error *err);

/* The node of holder NUMBER. */
static inline uint32_t gh_dominators_holder(const struct gh_heap *heap, uint32_t number)
{
	return heap->count + 1 + number;
}

void gh_dominators_free(struct gh_dominators *dominators);

#endif
