#include <stdlib.h>

#include "lib/typing/internal.h"

/* Layouts that are tried, and pointers that are looked at for them. No heap but one that was made
 * to have them needs more. */
#define MAX_STEPS (1U << 27)

/* How many pointers the collector sees in VIEW. */
static uint64_t count_pointers(const struct gh_infer *infer, const struct gh_view *view)
{
	struct gh_fields walk;
	struct gh_field field;
	uint64_t count = 0;
	gh_dump_fields(infer->heap->dump, &view->record, &walk);
	while (gh_fields_next(&walk, &field))
		count++;
	return count;
}

/* A value of layout NUMBER, or MANY of them, can be in an object like VIEW's, with COUNT pointers.
 */
static bool fits(struct gh_infer *infer, const struct gh_view *view, uint32_t number, bool many,
		 uint64_t count)
{
	const struct gh_link *links;
	const struct gh_layout *layout = gh_layout(infer->layouts, number);
	uint64_t values = 1;
	if (layout->opaque || layout->only_in_group || !layout->has_pointers || layout->size == 0 ||
	    layout->size > view->size)
		return false;
	gh_layouts_links(infer->layouts, number, &links);
	layout = gh_layout(infer->layouts, number);
	if (many)
		values = layout->npointers > 0 ? count / layout->npointers : 0;
	if ((many && values < 2) || values > view->size / layout->size ||
	    gh_allocator_size(&infer->allocator, values * layout->size, true) != view->size ||
	    infer->steps_left < count)
		return false;
	infer->steps_left -= (uint32_t)count;
	return gh_infer_matches(infer, view, number, many);
}

bool gh_infer_guess_start(struct gh_infer *infer)
{
	const struct gh_layouts *layouts = infer->layouts;
	infer->steps_left = MAX_STEPS;
	infer->elements = calloc((size_t)layouts->count + 1, sizeof(*infer->elements));
	for (uint32_t i = 0; infer->elements != NULL && i < layouts->count; i++) {
		const struct gh_layout *layout = gh_layout(layouts, i);
		if ((layout->kind == GH_LAYOUT_SLICE || layout->kind == GH_LAYOUT_ELEMENTS) &&
		    layout->elem < layouts->count)
			infer->elements[layout->elem] = true;
	}
	return infer->elements != NULL;
}

/* Layout NUMBER tells more of another that is tried, or less. */
static bool is_another(const struct gh_layouts *layouts, uint32_t number)
{
	const struct gh_layout *layout = gh_layout(layouts, number);
	return layout->gc_shape ||
	       (layout->refines != GH_NO_LAYOUT && !gh_layout(layouts, layout->refines)->gc_shape);
}

struct gh_finding gh_infer_guess(struct gh_infer *infer, const struct gh_view *view)
{
	const struct gh_finding none = {.layout = GH_INFER_NONE};
	struct gh_finding found = none;
	uint32_t count = infer->layouts->count;
	if (infer->heap->dump->format < GH_DUMP_1_4 || view->no_pointers || view->in_c ||
	    infer->steps_left < count)
		return none;
	infer->steps_left -= count;
	uint64_t pointers = count_pointers(infer, view);
	for (uint32_t i = 0; i < count; i++) {
		if (is_another(infer->layouts, i))
			continue;
		for (unsigned many = 0; many <= infer->elements[i]; many++) {
			if (!fits(infer, view, i, many, pointers))
				continue;
			if (found.layout != GH_INFER_NONE)
				return none;
			found = (struct gh_finding){.layout = i & GH_INFER_NONE, .many = many & 1};
		}
	}
	return found;
}
