#include "lib/dump/dump.h"
#include "lib/util/bsearch.h"

uint64_t gh_collections_least_wait(const struct gh_collections *collections, uint64_t waited,
				   uint64_t now)
{
	const uint64_t *ends = collections->ends;
	/* The collection that it is counted from ended right after that. */
	size_t from = gh_lower_bound(collections->nends, i, ends[i] + waited < now);
	if (waited == 0 || from + 1 >= collections->nends || ends[from + 1] > now)
		return 0;
	return now - ends[from + 1];
}
