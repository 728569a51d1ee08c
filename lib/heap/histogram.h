/* What the objects of a heap are, in groups: of a type, of a size, of a place that allocates. */
#ifndef GH_HEAP_HISTOGRAM_H
#define GH_HEAP_HISTOGRAM_H

#include "lib/heap/dominators.h"

struct gh_histogram_row {
	uint64_t objects;  /* how many */
	uint64_t bytes;    /* in them */
	uint64_t retained; /* bytes that would go with those of them that roots reach */
	uint32_t largest;  /* that of them which alone retains most, the first of like ones */
};

/* Fills ROWS, by number of the group: NGROUPS of them, all zero before. GROUPS has the number of
 * each object's group. What an object retains is not counted again for those of its group that it
 * dominates. DOMINATORS may be NULL: then nothing is retained, and the first is the largest. False
 * (ERR filled) if memory ran out. */
bool gh_histogram_make(struct gh_histogram_row *rows, size_t ngroups, const struct gh_heap *heap,
		       const uint32_t *groups, const struct gh_dominators *dominators,
		       struct gh_error *err);

#endif
