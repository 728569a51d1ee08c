/* The live heap by allocating stack: the objects that roots reach, of those whose allocations were
 * sampled. */
#ifndef GH_PROFILE_LIVE_PROFILE_H
#define GH_PROFILE_LIVE_PROFILE_H

#include "lib/heap/dominators.h"
#include "lib/profile/alloc_sites.h"

/* A stack, as it is shown. */
struct gh_live_stack {
	size_t record;     /* a profile record with this stack */
	uint64_t objects;  /* live, as many as there are likely to be */
	uint64_t bytes;    /* in them */
	uint64_t retained; /* bytes that would go with those of them that were sampled */
};

struct gh_live_stacks {
	struct gh_live_stack *items; /* owned */
	size_t count;                /* of items */
};

/* Fills STACKS with those that have live objects. ALLOCATIONS are of the dump of HEAP; RATE is as
 * for gh_pprof_scale. What an object retains is not counted again for those of its stack that it
 * dominates. False (ERR filled) if memory ran out. To be freed with gh_live_stacks_free either way.
 */
bool gh_live_stacks_make(struct gh_live_stacks *stacks, const struct gh_allocations *allocations,
			 const struct gh_heap *heap, const struct gh_dominators *dominators,
			 uint64_t rate, struct gh_error *err);

void gh_live_stacks_free(struct gh_live_stacks *stacks);

#endif
