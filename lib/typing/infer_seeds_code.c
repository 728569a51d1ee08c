/* What the program's code says of what its globals lead to, and of its closures. */
#include "lib/code/code_types.h"
#include "lib/typing/internal.h"

/* Reads the word at ADDRESS. False if it is in no object or segment. */
static bool read_word(struct gh_infer *infer, uint64_t address, uint64_t *value)
{
	struct gh_cursor contents;
	if (!gh_infer_look_at(infer, address, &contents))
		return false;
	*value = gh_cursor_uint(&contents, infer->heap->dump->word);
	return !contents.failed;
}

/* The word at ADDRESS is the second of an interface, which holds what its first says. */
static bool is_of_interface(struct gh_infer *infer, uint64_t address)
{
	uint64_t type;
	return read_word(infer, address - infer->heap->dump->word, &type) && type != 0 &&
	       gh_infer_dynamic_type(infer, type) != GH_NO_LAYOUT;
}

/* The values that TYPE says are at VALUE, which the word at PLACE has. */
static void take_values(struct gh_infer *infer, const struct gh_code_type *type, uint64_t place,
			uint64_t value)
{
	uint8_t word = infer->heap->dump->word;
	struct gh_cursor none = {0};
	struct gh_link link;
	uint64_t count = 1;
	if (type->kind == GH_CODE_VALUE) {
		if (gh_layouts_link_at(infer->layouts, type->type, 0, &link))
			gh_infer_follow(infer, &link, &none, 0, value);
		return;
	}
	if (type->kind == GH_CODE_SLICE && !read_word(infer, place + 2U * word, &count))
		return;
	if (type->kind == GH_CODE_POINTER && gh_infer_is_closure_struct(infer, type->type))
		gh_infer_claim_closure(infer, value);
	else if (count > 0)
		gh_infer_claim(infer, value, type->type, count,
			       type->kind == GH_CODE_SLICE ? GH_TRUST_SLICED : GH_TRUST_POINTED);
}

static void take_global(struct gh_infer *infer, const struct gh_code_type *type)
{
	uint64_t value = (uint64_t)type->offsets[0] + infer->bias;
	uint64_t place = 0;
	for (unsigned i = 1; i <= type->nloads; i++) {
		place = value;
		if (!read_word(infer, place, &value) || value == 0)
			return;
		if (is_of_interface(infer, place))
			return;
		value += (uint64_t)type->offsets[i];
	}
	take_values(infer, type, place, value);
}

bool gh_infer_read_code(struct gh_infer *infer, struct gh_error *err)
{
	const struct gh_extents *segments = &infer->heap->dump->segments;
	uint64_t start = UINT64_MAX, end = 0;
	for (size_t i = 0; i < segments->items.count; i++) {
		struct gh_extent extent = gh_extents_get(segments, i);
		start = extent.address < start ? extent.address : start;
		end = extent.address + extent.size > end ? extent.address + extent.size : end;
	}
	return infer->layouts->types == NULL || start >= end ||
	       gh_code_types_find(&infer->code, infer->layouts->types, start - infer->bias,
				  end - infer->bias, err);
}

void gh_infer_seed_code(struct gh_infer *infer)
{
	for (size_t i = 0; i < infer->code.globals.count; i++)
		take_global(infer, &infer->code.globals.items[i]);
}
