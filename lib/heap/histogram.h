/* The histogram of a heap: how many objects there are of each group, such as a type, a size or an
 * allocation site, their bytes, and what they retain. */
#ifndef GH_HEAP_HISTOGRAM_H
#define GH_HEAP_HISTOGRAM_H

#include "lib/heap/dominators.h"

struct gh_histogram_row {
	uint64_t objects;  /* how many */
	uint64_t bytes;    /* in them */
	uint64_t retained; /* bytes that would go with those of them that roots reach */
	uint32_t largest;  /* that of them which alone retains most, the first of like ones */
};

/* The tree of dominators, to be walked down. */
struct gh_dominator_tree {
	const struct gh_dominators *dominators;
	uint32_t *child;   /* by node: the first that it dominates, or GH_HEAP_NONE; owned */
	uint32_t *sibling; /* by node: the next with its dominator, or GH_HEAP_NONE; owned */
	uint32_t root;     /* the node of the roots together: the heap's count */
};

/* Makes the tree of DOMINATORS, which are HEAP's and outlive it. False if memory ran out. To be
 * freed either way. */
bool gh_dominator_tree_make(struct gh_dominator_tree *tree, const struct gh_heap *heap,
			    const struct gh_dominators *dominators);

void gh_dominator_tree_free(struct gh_dominator_tree *tree);

/* Adds to ROWS, by number of the group, what NODE dominates besides itself; the largest are those
 * of what is added. ABOVE has as many zeros as there are groups, and has them again afterwards. */
void gh_histogram_below(struct gh_histogram_row *rows, const struct gh_heap *heap,
			const uint32_t *groups, const struct gh_dominator_tree *tree, uint32_t node,
			uint32_t *above);

/* Fills ROWS, by number of the group: NGROUPS of them, all zero before. GROUPS has the number of
 * each object's group. What an object retains is not counted again for those of its group that it
 * dominates. DOMINATORS may be NULL: then nothing is retained, and the first is the largest. False
 * (ERR filled) if memory ran out. */
bool gh_histogram_make(struct gh_histogram_row *rows, size_t ngroups, const struct gh_heap *heap,
		       const uint32_t *groups, const struct gh_dominators *dominators,
		       struct gh_error *err);

#endif
