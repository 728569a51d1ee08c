#include "lib/typing/internal.h"

#include <stdlib.h>

#include "lib/util/bsearch.h"

/* Values nested deeper than this are passed over: they are in no program that people write. */
#define MAX_DEPTH 16

static void add_parts(struct gh_prefix_types *out, const struct gh_layouts *layouts, uint32_t whole)
{
	uint64_t count;
	uint64_t length = 1;
	bool is_array = false;
	uint32_t part = gh_layouts_first_part(layouts, whole, &count);
	for (int depth = 0; depth < MAX_DEPTH && part != GH_NO_LAYOUT; depth++) {
		gh_vector_push(out, (struct gh_prefix_type){part, whole, length, is_array});
		is_array = gh_layout(layouts, part)->kind == GH_LAYOUT_ARRAY;
		part = gh_layouts_first_part(layouts, part, &count);
		if (!is_array || __builtin_mul_overflow(length, count, &length))
			length = count;
	}
}

static int by_part(const void *left, const void *right)
{
	const struct gh_prefix_type *a = left;
	const struct gh_prefix_type *b = right;
	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	return (a->whole > b->whole) - (a->whole < b->whole);
}

bool gh_prefix_types_find(struct gh_prefix_types *containers, const struct gh_layouts *layouts)
{
	uint32_t count = layouts->types != NULL ? layouts->types->count : 0;
	for (uint32_t i = 0; i < count; i++)
		if (gh_layout(layouts, i)->kind == GH_LAYOUT_STRUCT &&
		    !gh_layout(layouts, i)->only_in_group)
			add_parts(containers, layouts, i);
	if (containers->count > 0)
		qsort(containers->items, containers->count, sizeof(*containers->items), by_part);
	return !containers->failed;
}

/* The place of the first of PART or later ones. */
static size_t first_of(const struct gh_prefix_types *containers, uint64_t part)
{
	return gh_lower_bound(containers->count, i, containers->items[i].part < part);
}

size_t gh_prefix_types_of(const struct gh_prefix_types *containers, uint32_t part,
			  const struct gh_prefix_type **items)
{
	size_t first = first_of(containers, part);
	*items = containers->items + first;
	return first_of(containers, (uint64_t)part + 1) - first;
}
