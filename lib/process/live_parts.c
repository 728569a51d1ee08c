#include "lib/process/internal.h"

#include <string.h>

#include "lib/rtype/rtype.h"

/* The largest element of the spans that tiny objects share (maxTinySize): an object is added to one
 * without a change to the span. */
#define TINY_SIZE 16

/* What is not worth being older, in bytes of all parts: it is copied in a millisecond or two. */
#define LEAST (16 << 20)

/* Notes that FIELD of a description that begins at START says where a span's objects are. */
static void add_shape(struct gh_live_parts *parts, struct gh_span_field field, uint64_t start)
{
	if (field.offset >= start && field.offset - start + field.size <= parts->description_size)
		memset(parts->shape + (field.offset - start), 1, field.size);
}

/* Finds where runtime.mspan has what tells which objects a span has: from startAddr, whose offset
 * is *START, to elemsize, with freeindex, allocBits, sweepgen and state between the two. */
static bool find_description(struct gh_live_parts *parts, const struct gh_span_layout *layout,
			     uint64_t *start)
{
	size_t end = (size_t)layout->elemsize.offset + layout->elemsize.size;
	const struct gh_span_field shape[] = {layout->start, layout->npages, layout->nelems,
					      layout->class, layout->state,  layout->elemsize};
	*start = layout->start.offset;
	if (end <= *start || end - *start > GH_LIVE_DESCRIPTION_MAX)
		return false;
	parts->description_size = end - *start;
	for (size_t i = 0; i < sizeof(shape) / sizeof(shape[0]); i++)
		add_shape(parts, shape[i], *start);
	return true;
}

/* Adds SPAN. What small objects' spans have after their objects is the collector's. */
static void add_part(struct gh_live_parts *parts, const struct gh_spans *spans,
		     struct gh_process *process, const struct gh_span *span, uint64_t offset)
{
	struct gh_live_part part = {.start = span->start,
				    .size = span->size,
				    .elemsize = span->elemsize,
				    .description = span->descriptor + offset};
	if ((span->class & GH_SPAN_NOSCAN) != 0 && span->elemsize > TINY_SIZE &&
	    gh_span_after_heap_bits(spans, process, span) == 0 &&
	    gh_process_read(&process->memory, part.description, part.before,
			    parts->description_size))
		gh_vector_push(&parts->list, part);
}

uint64_t gh_live_parts_size(const struct gh_live_parts *parts)
{
	uint64_t size = 0;
	for (size_t i = 0; i < parts->list.count; i++)
		size += parts->list.items[i].size;
	return size;
}

void gh_live_parts_find(struct gh_live_parts *parts, struct gh_process *process)
{
	struct gh_error err;
	struct gh_rtypes types = {0};
	struct gh_spans spans = {0};
	uint64_t offset;
	parts->list.count = 0;
	if (gh_rtypes_find(&types, process->tab, &err) &&
	    gh_spans_find(&spans, process, &types, &err) &&
	    find_description(parts, &spans.layout, &offset))
		for (size_t i = 0; i < spans.list.count; i++)
			add_part(parts, &spans, process, &spans.list.items[i], offset);
	if (gh_live_parts_size(parts) < LEAST)
		parts->list.count = 0;
	gh_spans_free(&spans);
	gh_rtypes_free(&types);
}
