/* The largest of many: the first rows of a list, without sorting all of it. */
#ifndef GH_UTIL_TOP_H
#define GH_UTIL_TOP_H

#include <stddef.h>
#include <stdint.h>

#include "lib/util/vector.h"

struct gh_top_item {
	uint64_t key;    /* what it is sorted by */
	uint32_t number; /* that it is known by; of equal keys the lowest comes first */
};

struct gh_top {
	size_t limit;                               /* how many are kept; SIZE_MAX: all */
	struct GH_VECTOR(struct gh_top_item) items; /* that are kept; owned */
	uint64_t seen;                              /* that were added */
	uint64_t total;                             /* the sum of their keys */
};

/* Adds an item, which is kept as long as it is one of the largest. If memory runs out the vector
 * has failed. */
void gh_top_add(struct gh_top *top, uint64_t key, uint32_t number);

/* Sorts what is kept, the largest first, and gives it, COUNT items. */
const struct gh_top_item *gh_top_finish(struct gh_top *top, size_t *count);

void gh_top_free(struct gh_top *top);

#endif
