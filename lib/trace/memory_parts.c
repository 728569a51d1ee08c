#include "lib/trace/trace.h"

#include <stdlib.h>

#include "lib/util/bsearch.h"

static int compare(const void *left, const void *right)
{
	const struct gh_memory_part *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

void gh_writable_free(struct gh_writable *writable)
{
	gh_vector_free(&writable->anonymous);
	gh_vector_free(&writable->of_files);
}

void gh_memory_parts_sort(struct gh_memory_parts *parts)
{
	if (parts->count > 0)
		qsort(parts->items, parts->count, sizeof(*parts->items), compare);
}

bool gh_memory_parts_next(const struct gh_memory_parts *parts, uint64_t start, uint64_t end,
			  struct gh_memory_part *part)
{
	const struct gh_memory_part *items = parts->items;
	size_t i = gh_lower_bound(parts->count, k, items[k].end <= start);
	if (start >= end || i == parts->count || items[i].start >= end)
		return false;
	part->start = items[i].start > start ? items[i].start : start;
	part->end = items[i].end < end ? items[i].end : end;
	return true;
}

void gh_memory_parts_merge(struct gh_memory_parts *parts)
{
	struct gh_memory_part *items = parts->items;
	size_t kept = 0;
	gh_memory_parts_sort(parts);
	for (size_t i = 0; i < parts->count; i++) {
		if (kept == 0 || items[i].start > items[kept - 1].end)
			items[kept++] = items[i];
		else if (items[i].end > items[kept - 1].end)
			items[kept - 1].end = items[i].end;
	}
	parts->count = kept;
}
