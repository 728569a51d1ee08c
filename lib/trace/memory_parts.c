#include "lib/trace/trace.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
	const struct gh_memory_part *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

void gh_memory_parts_merge(struct gh_memory_parts *parts)
{
	struct gh_memory_part *items = parts->items;
	size_t kept = 0;
	if (parts->count > 0)
		qsort(items, parts->count, sizeof(*items), compare);
	for (size_t i = 0; i < parts->count; i++) {
		if (kept == 0 || items[i].start > items[kept - 1].end)
			items[kept++] = items[i];
		else if (items[i].end > items[kept - 1].end)
			items[kept - 1].end = items[i].end;
	}
	parts->count = kept;
}
