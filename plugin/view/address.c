#include "plugin/view/internal.h"

#include <inttypes.h>

#include "lib/util/bsearch.h"
#include "plugin/view/emit.h"
#include "plugin/view/paths.h"

/* What a goroutine has, one after the other. */
struct span {
	size_t first;
	size_t count;
};

static struct span frames_of(const struct gh_dump_stack *stack)
{
	return (struct span){stack->first_frame, stack->nframes};
}

static struct span defers_of(const struct gh_dump_stack *stack)
{
	return (struct span){stack->first_defer, stack->ndefers};
}

static struct span panics_of(const struct gh_dump_stack *stack)
{
	return (struct span){stack->first_panic, stack->npanics};
}

static bool is_before(struct span span, size_t number)
{
	return span.first + span.count <= number;
}

/* The goroutine that has record NUMBER of what SPAN_OF gives. The spans ascend. */
static size_t find(const struct gh_dump *dump, size_t number,
		   struct span (*span_of)(const struct gh_dump_stack *stack))
{
	size_t found = gh_lower_bound(dump->stacks.count, i,
				      is_before(span_of(gh_dump_stack(dump, i)), number));
	if (found == dump->stacks.count || number < span_of(gh_dump_stack(dump, found)).first)
		return GH_DUMP_NONE;
	return found;
}

size_t gh_where_goroutine_of_frame(const struct gh_dump *dump, size_t number)
{
	return find(dump, number, frames_of);
}

size_t gh_where_goroutine_of_defer(const struct gh_dump *dump, size_t number)
{
	return find(dump, number, defers_of);
}

size_t gh_where_goroutine_of_panic(const struct gh_dump *dump, size_t number)
{
	return find(dump, number, panics_of);
}

uint64_t gh_where_goroutine_id(const struct gh_dump *dump, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_GOROUTINE, number, &record);
	return record.goroutine.id;
}

/* The number of the frame that has ADDRESS, or GH_DUMP_NONE. */
static size_t find_frame(const struct gh_dump *dump, uint64_t address)
{
	size_t place = gh_extents_find(&dump->frames, address);
	if (place == GH_NO_EXTENT)
		return GH_DUMP_NONE;
	if (dump->frame_order == NULL)
		return place;
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_FRAME); i++)
		if (dump->frame_order[i] == place)
			return i;
	return GH_DUMP_NONE;
}

static bool print_frame(FILE *out, const struct gh_dump *dump, uint64_t address)
{
	size_t number = find_frame(dump, address);
	if (number == GH_DUMP_NONE)
		return false;
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_FRAME, number, &record);
	size_t goroutine = gh_where_goroutine_of_frame(dump, number);
	if (goroutine == GH_DUMP_NONE)
		fputs("in a stack, ", out);
	else
		fprintf(out, "in the stack of goroutine %" PRIu64 ", ",
			gh_where_goroutine_id(dump, goroutine));
	gh_print_slice(out, dump, record.frame.function, false);
	return true;
}

static bool is_in_segment(const struct gh_dump *dump, enum gh_dump_kind kind, uint64_t address)
{
	struct gh_dump_record record;
	for (size_t i = 0; i < gh_dump_count(dump, kind); i++) {
		gh_dump_get(dump, kind, i, &record);
		if (address - record.segment.address < record.segment.contents.size)
			return true;
	}
	return false;
}

void gh_where_print(FILE *out, const struct gh_heap *heap, uint64_t address)
{
	const struct gh_dump *dump = heap->dump;
	if (print_frame(out, dump, address))
		return;
	if (is_in_segment(dump, GH_DUMP_DATA, address))
		fputs("in the data segment", out);
	else if (is_in_segment(dump, GH_DUMP_BSS, address))
		fputs("in the bss segment", out);
	else if (address >= dump->params.heap_start && address < dump->params.heap_end)
		fputs("in the heap's free memory", out);
	else
		fputs("outside of the dump", out);
}
