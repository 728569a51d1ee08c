#include "lib/process/internal.h"

#include "lib/rtype/rtype.h"

/* The largest element of the spans that tiny objects share (maxTinySize): an object is added to one
 * without a change to the span. */
#define TINY_SIZE 16

/* What is not worth being older, in bytes of all parts: it is copied in a millisecond or two. */
#define LEAST (16 << 20)

/* Where runtime.mspan has what tells which objects a span has: from startAddr to elemsize, with
 * freeindex, allocBits, sweepgen and state between the two. */
static bool find_description(const struct gh_span_layout *layout, uint64_t *start, size_t *size)
{
	size_t end = (size_t)layout->elemsize.offset + layout->elemsize.size;
	*start = layout->start.offset;
	*size = end > *start ? end - *start : 0;
	return *size > 0 && *size <= GH_LIVE_DESCRIPTION_MAX;
}

/* Adds SPAN. What small objects' spans have after their objects is the collector's. */
static void add_part(struct gh_live_parts *parts, const struct gh_spans *spans,
		     struct gh_process *process, const struct gh_span *span, uint64_t offset)
{
	struct gh_live_part part = {
	    .start = span->start, .size = span->size, .description = span->descriptor + offset};
	if ((span->class & GH_SPAN_NOSCAN) != 0 && span->elemsize > TINY_SIZE &&
	    gh_span_after_heap_bits(spans, process, span) == 0 &&
	    gh_process_read(&process->memory, part.description, part.before,
			    parts->description_size))
		gh_vector_push(&parts->list, part);
}

static uint64_t size_of(const struct gh_live_parts *parts)
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
	*parts = (struct gh_live_parts){0};
	if (gh_rtypes_find(&types, process->tab, &err) &&
	    gh_spans_find(&spans, process, &types, &err) &&
	    find_description(&spans.layout, &offset, &parts->description_size))
		for (size_t i = 0; i < spans.list.count; i++)
			add_part(parts, &spans, process, &spans.list.items[i], offset);
	if (size_of(parts) < LEAST)
		parts->list.count = 0;
	gh_spans_free(&spans);
	gh_rtypes_free(&types);
}

void gh_live_parts_free(struct gh_live_parts *parts)
{
	gh_vector_free(&parts->list);
}
