#include "lib/debugfile/dwarf_entries.h"
#include "lib/debugfile/internal.h"

#include <dwarf.h>
#include <string.h>

/* The most bytes that an abstract subprogram takes, a call with its first span, and another span
 * with its part of the list's end. */
#define MAX_ABSTRACT_SIZE 20
#define MAX_CALL_SIZE     40
#define MAX_SPAN_SIZE     32

void gh_inlines_init(struct gh_inlines *inlines, const struct gh_pclntab *tab,
		     struct gh_strings *strings, struct gh_line_table *lines, struct gh_info *info,
		     size_t limit)
{
	*inlines = (struct gh_inlines){
	    .tab = tab,
	    .strings = strings,
	    .lines = lines,
	    .info = info,
	    /* The inlined calls of real programs take a quarter of that. A crafted table could have
	       them nested everywhere, in pieces of a byte each. */
	    .left = limit,
	};
}

void gh_inlines_begin_unit(struct gh_inlines *inlines, size_t unit)
{
	gh_numbermap_free(&inlines->origins);
	inlines->unit = unit;
}

static struct gh_inline_call *call_at(const struct gh_inlines *inlines, uint32_t number)
{
	return &inlines->calls.items[number];
}

static struct gh_inline_span *span_at(const struct gh_inlines *inlines, uint32_t number)
{
	return &inlines->spans.items[number];
}

static uint32_t count_calls(const struct gh_inlines *inlines)
{
	return (uint32_t)inlines->calls.count;
}

/* The place in numbers for record TREE_INDEX, which was read from the image: there are no more than
 * that has bytes. NULL if memory ran out. */
static uint32_t *number_place(struct gh_inlines *inlines, int32_t tree_index)
{
	size_t wanted = (size_t)tree_index + 1;
	if (wanted > inlines->numbers.count) {
		size_t more = wanted - inlines->numbers.count;
		uint32_t *added = gh_vector_extend(&inlines->numbers, more);
		if (added == NULL)
			return NULL;
		memset(added, 0, more * sizeof(*added));
	}
	return &inlines->numbers.items[tree_index];
}

void gh_inlines_begin(struct gh_inlines *inlines)
{
	for (uint32_t i = 0; i < count_calls(inlines); i++)
		*number_place(inlines, call_at(inlines, i)->tree_index) = 0;
	inlines->calls.count = 0;
	inlines->spans.count = 0;
	inlines->first_call = inlines->last_call = GH_INLINE_NONE;
}

static bool spend(struct gh_inlines *inlines, size_t bytes)
{
	bool enough = bytes <= inlines->left;
	if (enough)
		inlines->left -= bytes;
	return enough;
}

/* Writes the abstract subprogram that FRAME is a copy of. Returns its offset in the unit; 0 if its
 * name or file is unknown. */
static uint32_t add_abstract(struct gh_inlines *inlines, const struct gh_frame *frame)
{
	struct gh_buffer *info = &inlines->info->info;
	uint32_t origin = (uint32_t)(info->size - inlines->unit);
	uint32_t name =
	    gh_strings_add(inlines->strings, gh_pclntab_name(inlines->tab, frame->name));
	uint32_t file = gh_line_file(inlines->lines, frame->file);
	if (name == 0 || file == 0 || !spend(inlines, MAX_ABSTRACT_SIZE))
		return 0;
	gh_buffer_u8(info, GH_ABBREV_ABSTRACT);
	gh_buffer_u32(info, name);
	gh_buffer_u32(info, name); /* to linkers */
	gh_buffer_u8(info, DW_INL_inlined);
	gh_buffer_uleb128(info, file);
	gh_buffer_uleb128(info, frame->start_line > 0 ? (uint32_t)frame->start_line : 0);
	return origin;
}

/* The unit's abstract subprogram that FRAME is a copy of. */
static uint32_t find_abstract(struct gh_inlines *inlines, const struct gh_frame *frame)
{
	uint32_t known = gh_numbermap_get(&inlines->origins, frame->name);
	if (known != GH_NOT_MAPPED)
		return known;
	uint32_t origin = add_abstract(inlines, frame);
	inlines->failed |= !gh_numbermap_put(&inlines->origins, frame->name, origin);
	return origin;
}

/* Puts call NUMBER after the other children of its parent. */
static void link_call(struct gh_inlines *inlines, uint32_t number)
{
	uint32_t parent = call_at(inlines, number)->parent;
	bool top = parent == GH_INLINE_NONE;
	uint32_t *first = top ? &inlines->first_call : &call_at(inlines, parent)->first_child;
	uint32_t *last = top ? &inlines->last_call : &call_at(inlines, parent)->last_child;
	if (*first == GH_INLINE_NONE)
		*first = number;
	else
		call_at(inlines, *last)->next = number;
	*last = number;
}

/* Adds the call that FRAME[0] is, made from FRAME[1] within call PARENT. Returns its number;
 * GH_INLINE_NONE if there is none to be shown. */
static uint32_t add_call(struct gh_inlines *inlines, const struct gh_frame *frame, uint32_t parent)
{
	struct gh_inline_call call = {
	    .origin = find_abstract(inlines, frame),
	    .name = frame->name,
	    .site = {gh_line_file(inlines->lines, frame[1].file), frame[1].line},
	    .tree_index = frame->tree_index,
	    .parent = parent,
	    .first_child = GH_INLINE_NONE,
	    .last_child = GH_INLINE_NONE,
	    .next = GH_INLINE_NONE,
	    .first_span = GH_INLINE_NONE,
	    .last_span = GH_INLINE_NONE,
	};
	uint32_t number = count_calls(inlines);
	uint32_t *place = number_place(inlines, frame->tree_index);
	if (call.origin == 0 || call.site.file == 0 || call.site.line == 0 || place == NULL ||
	    !spend(inlines, MAX_CALL_SIZE))
		return GH_INLINE_NONE;
	if (!gh_vector_push(&inlines->calls, call))
		return GH_INLINE_NONE;
	*place = number + 1;
	link_call(inlines, number);
	return number;
}

/* The call that FRAME[0] is. In a sound tree a record has one parent, wherever its code is. */
static uint32_t find_call(struct gh_inlines *inlines, const struct gh_frame *frame, uint32_t parent)
{
	const uint32_t *place = number_place(inlines, frame->tree_index);
	if (place == NULL)
		return GH_INLINE_NONE;
	if (*place == 0)
		return add_call(inlines, frame, parent);
	uint32_t number = *place - 1;
	return call_at(inlines, number)->parent == parent ? number : GH_INLINE_NONE;
}

/* Adds RANGE to call NUMBER. */
static bool add_span(struct gh_inlines *inlines, uint32_t number, const struct gh_range *range)
{
	struct gh_inline_call *call = call_at(inlines, number);
	if (call->last_span != GH_INLINE_NONE &&
	    span_at(inlines, call->last_span)->end == range->start) {
		span_at(inlines, call->last_span)->end = range->end;
		return true;
	}
	uint32_t added = (uint32_t)inlines->spans.count;
	struct gh_inline_span span = {range->start, range->end, GH_INLINE_NONE};
	if (call->first_span != GH_INLINE_NONE && !spend(inlines, MAX_SPAN_SIZE))
		return false;
	if (!gh_vector_push(&inlines->spans, span))
		return false;
	if (call->first_span == GH_INLINE_NONE)
		call->first_span = added;
	else
		span_at(inlines, call->last_span)->next = added;
	call->last_span = added;
	return true;
}

uint32_t gh_inlines_range(struct gh_inlines *inlines, const struct gh_range *range)
{
	uint32_t parent = GH_INLINE_NONE;
	for (unsigned i = range->nframes - 1; i-- > 0;) {
		uint32_t call = find_call(inlines, &range->frames[i], parent);
		if (call == GH_INLINE_NONE || !add_span(inlines, call, range))
			break;
		parent = call;
	}
	return parent;
}

bool gh_inlines_any(const struct gh_inlines *inlines)
{
	return inlines->first_call != GH_INLINE_NONE && !inlines->spans.failed;
}

static void write_span(const struct gh_inlines *inlines, struct gh_buffer *out, uint64_t start,
		       uint64_t end)
{
	gh_buffer_uint(out, start, inlines->tab->pointer_size);
	gh_buffer_uint(out, end, inlines->tab->pointer_size);
}

/* Writes what CALL is a copy of, and where it is called. */
static void write_origin_and_site(const struct gh_inlines *inlines,
				  const struct gh_inline_call *call)
{
	gh_buffer_uleb128(&inlines->info->info, call->origin);
	gh_buffer_uleb128(&inlines->info->info, call->site.file);
	gh_buffer_uleb128(&inlines->info->info, (uint64_t)call->site.line);
}

/* Writes the entry of CALL; with children, if any are to follow. */
static void write_call(const struct gh_inlines *inlines, const struct gh_inline_call *call,
		       bool has_children)
{
	struct gh_buffer *info = &inlines->info->info;
	bool in_pieces = call->first_span != call->last_span;
	if (has_children)
		gh_buffer_u8(info,
			     in_pieces ? GH_ABBREV_CALL_CHILDREN_RANGES : GH_ABBREV_CALL_CHILDREN);
	else
		gh_buffer_u8(info, in_pieces ? GH_ABBREV_CALL_RANGES : GH_ABBREV_CALL);
	write_origin_and_site(inlines, call);
	const struct gh_inline_span *span = span_at(inlines, call->first_span);
	if (!in_pieces) {
		gh_buffer_uint(info, span->start, inlines->tab->pointer_size);
		gh_buffer_uleb128(info, span->end - span->start);
		return;
	}
	struct gh_buffer *ranges = &inlines->info->ranges;
	gh_info_refer(inlines->info, GH_INFO_RANGES, ranges->size);
	for (uint32_t i = call->first_span; i != GH_INLINE_NONE; i = span->next) {
		span = span_at(inlines, i);
		write_span(inlines, ranges, span->start, span->end);
	}
	write_span(inlines, ranges, 0, 0);
}

static uint64_t call_start(const struct gh_inlines *inlines, const struct gh_inline_call *call)
{
	return span_at(inlines, call->first_span)->start;
}

/* Adds where a breakpoint on the function that CALL is of stops. Within the prologue of the
 * function that it is in GDB has none. */
static void add_point(const struct gh_inlines *inlines, const struct gh_inline_call *call)
{
	uint64_t start = call_start(inlines, call);
	uint32_t inner = call->first_child;
	bool is_own =
	    inner == GH_INLINE_NONE || call_start(inlines, call_at(inlines, inner)) != start;
	gh_vector_push(&inlines->info->points,
		       (struct gh_entry_point){
			   .address = start,
			   .name = call->name,
			   .is_own = is_own && start >= inlines->lines->stop,
		       });
}

/* The call after CALL and those inlined into it; the entries that end there are ended. */
static uint32_t next_call(const struct gh_inlines *inlines, const struct gh_inline_call *call)
{
	while (call->next == GH_INLINE_NONE && call->parent != GH_INLINE_NONE) {
		gh_buffer_u8(&inlines->info->info, 0);
		call = call_at(inlines, call->parent);
	}
	return call->next;
}

void gh_inlines_write(const struct gh_inlines *inlines, const struct gh_words *live)
{
	uint32_t number = inlines->first_call;
	while (number != GH_INLINE_NONE) {
		const struct gh_inline_call *call = call_at(inlines, number);
		bool has_blocks = gh_word_has(live, number);
		bool has_calls = call->first_child != GH_INLINE_NONE;
		write_call(inlines, call, has_blocks || has_calls);
		add_point(inlines, call);
		if (has_blocks)
			gh_word_write(live, number);
		if (has_blocks && !has_calls)
			gh_buffer_u8(&inlines->info->info, 0); /* no more of them */
		number = has_calls ? call->first_child : next_call(inlines, call);
	}
}

void gh_inlines_write_at(struct gh_inlines *inlines, const struct gh_range *range, uint64_t start,
			 uint64_t end)
{
	struct gh_buffer *info = &inlines->info->info;
	uint32_t parent = GH_INLINE_NONE;
	unsigned depth = 0;
	for (unsigned i = range->nframes - 1; i-- > 0; depth++) {
		const uint32_t *place = number_place(inlines, range->frames[i].tree_index);
		if (place == NULL || *place == 0)
			break;
		const struct gh_inline_call *call = call_at(inlines, *place - 1);
		if (call->parent != parent || !spend(inlines, MAX_CALL_SIZE))
			break;
		gh_buffer_u8(info, GH_ABBREV_CALL_CHILDREN);
		write_origin_and_site(inlines, call);
		gh_buffer_uint(info, start, inlines->tab->pointer_size);
		gh_buffer_uleb128(info, end - start);
		parent = *place - 1;
	}
	while (depth-- > 0)
		gh_buffer_u8(info, 0);
}

bool gh_inlines_failed(const struct gh_inlines *inlines)
{
	return inlines->failed || inlines->calls.failed || inlines->spans.failed ||
	       inlines->numbers.failed;
}

void gh_inlines_free(struct gh_inlines *inlines)
{
	gh_numbermap_free(&inlines->origins);
	gh_vector_free(&inlines->calls);
	gh_vector_free(&inlines->spans);
	gh_vector_free(&inlines->numbers);
}
