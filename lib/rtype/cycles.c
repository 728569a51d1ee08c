#include "lib/rtype/internal.h"

#include <stdlib.h>

/* The deepest nesting of values in values that is believed. */
#define MAX_HEIGHT 200

/* The longest string of an unnamed type whose parts are followed: each takes one byte at least. */
#define MAX_FOLLOWED 4096

/* How far a type has been looked at; less than these is a height that it does not exceed. */
enum {
	NEW = UINT8_MAX,
	OPEN = UINT8_MAX - 1,
};

/* A type that is being looked at. */
struct visit {
	uint32_t type;
	uint32_t part; /* the next of its parts */
};

/* The type that part PART of TYPE contains by value, if it contains others in turn. */
static uint32_t contained(const struct gh_rtypes *types, const struct gh_rtype *type, uint32_t part)
{
	uint32_t number = GH_NO_RTYPE;
	struct gh_rtype_part field;
	if (type->kind == GH_KIND_ARRAY)
		number = gh_rtype_elem(types, type);
	else if (gh_rtype_part(types, type, part, &field))
		number = field.type;
	if (number == GH_NO_RTYPE || (types->items[number].kind != GH_KIND_STRUCT &&
				      types->items[number].kind != GH_KIND_ARRAY))
		return GH_NO_RTYPE;
	return number;
}

static uint32_t count_contained(const struct gh_rtype *type)
{
	return type->kind == GH_KIND_ARRAY ? 1 : type->kind == GH_KIND_STRUCT ? type->nparts : 0;
}

static void take_parts(struct gh_rtype *type)
{
	type->kind = GH_KIND_STRUCT;
	type->nparts = 0;
}

/* Looks at ROOT and all that it contains. STACK has room for MAX_HEIGHT visits. */
static void visit_all(struct gh_rtypes *types, uint8_t *heights, struct visit *stack, uint32_t root)
{
	size_t depth = 1;
	stack[0] = (struct visit){.type = root};
	heights[root] = OPEN;
	uint8_t below[MAX_HEIGHT] = {0}; /* the height of what each visited type contains */
	while (depth > 0) {
		struct visit *top = &stack[depth - 1];
		struct gh_rtype *type = &types->items[top->type];
		if (top->part >= count_contained(type)) {
			uint8_t height = (uint8_t)(below[depth - 1] + 1);
			heights[top->type] = height;
			depth--;
			if (depth > 0 && height > below[depth - 1])
				below[depth - 1] = height;
			continue;
		}
		uint32_t next = contained(types, type, top->part++);
		if (next == GH_NO_RTYPE)
			continue;
		if (depth == MAX_HEIGHT || (heights[next] != NEW && heights[next] >= MAX_HEIGHT)) {
			take_parts(type);
		} else if (heights[next] == NEW) {
			heights[next] = OPEN;
			below[depth] = 0;
			stack[depth++] = (struct visit){.type = next};
		} else if (heights[next] > below[depth - 1]) {
			below[depth - 1] = heights[next];
		}
	}
}

bool gh_rtypes_break_cycles(struct gh_rtypes *types)
{
	struct visit stack[MAX_HEIGHT];
	if (types->count == 0)
		return true;
	uint8_t *heights = malloc(types->count);
	if (heights == NULL)
		return false;
	for (uint32_t i = 0; i < types->count; i++)
		heights[i] = NEW;
	for (uint32_t i = 0; i < types->count; i++)
		if (heights[i] == NEW)
			visit_all(types, heights, stack, i);
	free(heights);
	return true;
}

uint32_t gh_rtype_shorter(const struct gh_rtypes *types, const struct gh_rtype *type, uint32_t part)
{
	if (part == GH_NO_RTYPE || type->named)
		return part;
	if (types->items[part].named)
		return part;
	if (type->text.length > MAX_FOLLOWED || types->items[part].text.length >= type->text.length)
		return GH_NO_RTYPE;
	return part;
}
