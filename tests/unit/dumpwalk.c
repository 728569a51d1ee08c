#include "tests/unit/dumpwalk.h"

#include <stdlib.h>

#include "lib/dump/dump.h"

static void must(bool condition)
{
	if (!condition)
		abort();
}

/* Bytes that were looked at, so that they must be there. */
static volatile uint8_t sink;

static void walk_slice(const struct gh_dump *dump, struct gh_dump_slice slice)
{
	struct gh_cursor cur = gh_dump_bytes(dump, slice);
	must(!cur.failed && gh_cursor_size(&cur) == slice.size);
	if (slice.size > 0)
		sink = (uint8_t)(cur.start[0] + cur.end[-1]);
}

/* Elements of an array that have no field in them are passed over one by one. */
static void walk_fields(const struct gh_dump *dump, const struct gh_dump_record *record,
			uint64_t size)
{
	struct gh_fields walk;
	struct gh_field field;
	uint64_t count = 0;
	gh_dump_fields(dump, record, &walk);
	while (gh_fields_next(&walk, &field)) {
		uint64_t width = (uint64_t)gh_field_words(field.kind) * dump->word;
		must(field.kind < GH_FIELD_KINDS);
		must(width <= size && field.offset <= size - width);
		count++;
	}
	must(count <= size + gh_cursor_size(&dump->file));
	must(!gh_fields_next(&walk, &field));
}

static void walk_profile(const struct gh_dump *dump, const struct gh_dump_profile *profile)
{
	struct gh_cursor cur = dump->file;
	struct gh_profile_frame frame;
	gh_cursor_seek(&cur, profile->frames);
	for (uint64_t i = 0; i < profile->nframes; i++) {
		must(gh_profile_next(&cur, &frame));
		walk_slice(dump, frame.function);
		walk_slice(dump, frame.file);
	}
}

static void walk_record(const struct gh_dump *dump, const struct gh_dump_record *record)
{
	switch (record->kind) {
	case GH_DUMP_OBJECT:
		walk_slice(dump, record->object.contents);
		walk_fields(dump, record, record->object.contents.size);
		break;
	case GH_DUMP_OTHER_ROOT:
		walk_slice(dump, record->other_root.description);
		break;
	case GH_DUMP_TYPE:
		walk_slice(dump, record->type.name);
		walk_fields(dump, record, record->type.size);
		must(gh_dump_find(dump, GH_DUMP_TYPE, record->type.address) != GH_DUMP_NONE);
		break;
	case GH_DUMP_GOROUTINE:
		walk_slice(dump, record->goroutine.wait_reason);
		gh_dump_waited(dump, &record->goroutine);
		break;
	case GH_DUMP_FRAME:
		walk_slice(dump, record->frame.contents);
		walk_slice(dump, record->frame.function);
		walk_fields(dump, record, record->frame.contents.size);
		break;
	case GH_DUMP_DATA:
	case GH_DUMP_BSS:
		walk_slice(dump, record->segment.contents);
		walk_fields(dump, record, record->segment.contents.size);
		break;
	case GH_DUMP_PROFILE:
		walk_profile(dump, &record->profile);
		break;
	default:
		break;
	}
}

/* Frames, defers and panics each belong to one goroutine at most, in their order. */
static void walk_stacks(const struct gh_dump *dump)
{
	size_t frames = dump->damage.orphan_frames;
	for (size_t i = 0; i < dump->stacks.count; i++) {
		const struct gh_dump_stack *stack = gh_dump_stack(dump, i);
		must(stack->first_frame == frames);
		frames += stack->nframes;
		must(stack->first_defer + stack->ndefers <= gh_dump_count(dump, GH_DUMP_DEFER));
		must(stack->first_panic + stack->npanics <= gh_dump_count(dump, GH_DUMP_PANIC));
		uint64_t depth = 0;
		for (size_t f = 0; f < stack->nframes; f++) {
			struct gh_dump_record record;
			gh_dump_get(dump, GH_DUMP_FRAME, stack->first_frame + f, &record);
			must(record.frame.depth >= depth);
			depth = record.frame.depth;
		}
	}
	must(frames == gh_dump_count(dump, GH_DUMP_FRAME));
}

/* Frames of C code and what is waited for there have goroutines; system calls have threads. */
static void walk_c(const struct gh_dump *dump)
{
	size_t total = 0;
	for (size_t i = 0; i < dump->stacks.count; i++) {
		struct gh_dump_c_place places[GH_DUMP_C_PLACES];
		size_t count;
		const struct gh_dump_c_frame *frames = gh_dump_c_frames(dump, i, &count);
		const struct gh_dump_c_wait *wait = gh_dump_c_wait(dump, i);
		for (size_t k = 0; k < count; k++) {
			size_t nplaces = gh_dump_c_places(dump, &frames[k], places);
			must(nplaces <= GH_DUMP_C_PLACES);
			for (size_t n = 0; n < nplaces; n++)
				must(strlen(places[n].function) + strlen(places[n].object) +
					 strlen(places[n].file) <
				     gh_cursor_size(&dump->file));
		}
		must(wait == NULL || wait->holder == GH_DUMP_NONE ||
		     wait->holder < dump->stacks.count);
		total += count;
	}
	must(total == dump->c_frames.count);
	for (size_t i = 0; i < dump->calls.count; i++) {
		const struct gh_dump_call *call = &dump->calls.items[i];
		must(i == 0 || call[-1].m <= call->m);
		must(call->descriptor >= -1 && *call->name != '\0');
		must(strlen(call->name) + strlen(call->arguments) < gh_cursor_size(&dump->file));
		must(call->m == 0 || gh_dump_call(dump, call->m)->m == call->m);
	}
}

static void walk_regions(const struct gh_dump *dump)
{
	struct gh_regions walk = {0};
	struct gh_region region;
	uint64_t last = 0, total = 0;
	bool first = true;
	while (gh_regions_next(dump, &walk, &region)) {
		uint64_t size = region.size;
		struct gh_cursor contents = gh_region_contents(dump, &region);
		must(size > 0 && gh_cursor_size(&contents) == size);
		must(first || region.address > last);
		must(region.address + (size - 1) >= region.address);
		last = region.address + (size - 1);
		must(gh_cursor_bytes(&contents, size) != NULL);
		total += size;
		struct gh_cursor cur;
		bool found = gh_dump_memory(dump, region.address, &cur);
		must(found || region.address == UINT64_MAX ||
		     dump->damage.overlapping_objects > 0 || dump->damage.overlapping_frames > 0 ||
		     dump->segments.overlapping > 0 || dump->stack_words.overlapping > 0 ||
		     dump->data_words.overlapping > 0);
		first = false;
	}
	must(total <= gh_cursor_size(&dump->file) + dump->words.size);
	must(dump->words.size <= 4 * gh_cursor_size(&dump->file));
}

/* Where no object overlaps another, or reaches the end of the address space, each is found. */
static void walk_objects(const struct gh_dump *dump)
{
	for (size_t i = 0; i < dump->objects.items.count && dump->objects.overlapping == 0; i++) {
		struct gh_extent extent = gh_extents_get(&dump->objects, i);
		uint64_t last = extent.address + extent.size - 1;
		if (extent.size > 0 && last >= extent.address && last < UINT64_MAX)
			must(gh_dump_find_object(dump, last) == i);
	}
}

void dump_walk(const struct gh_dump *dump)
{
	struct gh_dump_record record;
	for (int kind = 0; kind < GH_DUMP_KINDS; kind++) {
		size_t count = gh_dump_count(dump, (enum gh_dump_kind)kind);
		must(count <= gh_cursor_size(&dump->file));
		for (size_t i = 0; i < count; i++) {
			gh_dump_get(dump, (enum gh_dump_kind)kind, i, &record);
			must(record.kind == (enum gh_dump_kind)kind);
			walk_record(dump, &record);
		}
	}
	walk_objects(dump);
	walk_stacks(dump);
	walk_c(dump);
	walk_regions(dump);
}
