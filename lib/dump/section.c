#include <stdlib.h>
#include <string.h>

#include "lib/dump/internal.h"
#include "lib/util/bsearch.h"
#include "lib/util/numbermap.h"

/* Reads goroutines up to the end of CUR, or before one that is cut off. False if memory ran out. */
static bool read_goroutines(struct gh_dump *dump, struct gh_cursor cur)
{
	/* The first part of this tag counts. */
	while (dump->extras.count < dump->stacks.count && gh_cursor_left(&cur) > 0) {
		struct gh_dump_extras extras = {.creator = gh_cursor_uvarint(&cur)};
		uint64_t flags = gh_cursor_uvarint(&cur);
		extras.labels = gh_cursor_uvarint(&cur);
		extras.locked = (flags & GH_SECTION_LOCKED) != 0;
		extras.selected = (flags & GH_SECTION_SELECTED) != 0;
		if (cur.failed)
			return true;
		if (!gh_vector_push(&dump->extras, extras))
			return false;
	}
	return true;
}

/* Reads the sizes of stacks of those that have been read; the first part of this tag counts. */
static void read_stacks(struct gh_dump *dump, struct gh_cursor cur)
{
	for (size_t i = 0; i < dump->extras.count && gh_cursor_left(&cur) > 0; i++) {
		uint64_t size = gh_cursor_uvarint(&cur);
		if (!cur.failed && dump->extras.items[i].stack == 0)
			dump->extras.items[i].stack = size;
	}
}

static struct gh_dump_slice slice_of(const struct gh_cursor *part)
{
	return (struct gh_dump_slice){.offset = gh_cursor_offset(part),
				      .size = gh_cursor_size(part)};
}

/* Frames of C code that one goroutine has at most, and bytes of a text at a place: many frames can
 * have one place. */
#define MAX_C_FRAMES 4096
#define MAX_C_TEXT   1024

/* Threads in system calls. */
#define MAX_CALLS (1U << 20)

/* Reads the frames of C code, up to the end of CUR or to what does not fit together; the first part
 * of this tag counts. False if memory ran out. */
static bool read_c_frames(struct gh_dump *dump, struct gh_cursor cur)
{
	size_t least = 0;
	while (gh_cursor_left(&cur) > 0) {
		uint64_t goroutine = gh_cursor_uvarint(&cur);
		uint64_t count = gh_cursor_uvarint(&cur);
		uint64_t callees = 0;
		if (goroutine < least || goroutine >= dump->stacks.count || count > MAX_C_FRAMES)
			return true;
		least = (size_t)goroutine + 1;
		for (; count > 0; count--) {
			struct gh_dump_c_frame frame = {.goroutine = (size_t)goroutine};
			frame.callees = gh_cursor_uvarint(&cur);
			frame.pc = gh_cursor_uvarint(&cur);
			frame.place = gh_cursor_uvarint(&cur);
			if (cur.failed || frame.callees < callees)
				return true;
			callees = frame.callees;
			if (!gh_vector_push(&dump->c_frames, frame))
				return false;
		}
	}
	return true;
}

const struct gh_dump_c_frame *gh_dump_c_frames(const struct gh_dump *dump, size_t number,
					       size_t *count)
{
	const struct gh_dump_c_frame *frames = dump->c_frames.items;
	size_t first = gh_lower_bound(dump->c_frames.count, i, frames[i].goroutine < number);
	size_t end = first;
	while (end < dump->c_frames.count && frames[end].goroutine == number)
		end++;
	*count = end - first;
	return *count > 0 ? &frames[first] : NULL;
}

/* Reads a text that a 0 ends; none if it is too long. */
static const char *read_text(struct gh_cursor *cur)
{
	const char *text = gh_cursor_string(cur);
	return text != NULL && strnlen(text, MAX_C_TEXT) < MAX_C_TEXT ? text : "";
}

size_t gh_dump_c_places(const struct gh_dump *dump, const struct gh_dump_c_frame *frame,
			struct gh_dump_c_place places[GH_DUMP_C_PLACES])
{
	struct gh_cursor cur = gh_dump_bytes(dump, dump->c_places);
	size_t found = 0;
	gh_cursor_seek(&cur, frame->place);
	uint64_t count = gh_cursor_uvarint(&cur);
	while (found < count && found < GH_DUMP_C_PLACES) {
		struct gh_dump_c_place *place = &places[found];
		place->inlined = gh_cursor_uvarint(&cur) != 0;
		place->offset = gh_cursor_uvarint(&cur);
		place->line = gh_cursor_uvarint(&cur);
		place->function = read_text(&cur);
		place->object = read_text(&cur);
		place->file = read_text(&cur);
		if (cur.failed)
			break;
		found++;
	}
	return found;
}

/* Reads what is waited for in the C library, likewise. */
static bool read_c_waits(struct gh_dump *dump, struct gh_cursor cur)
{
	size_t least = 0;
	while (gh_cursor_left(&cur) > 0) {
		uint64_t goroutine = gh_cursor_uvarint(&cur);
		uint64_t kind = gh_cursor_uvarint(&cur);
		struct gh_dump_c_wait wait = {.object = gh_cursor_uvarint(&cur)};
		wait.indirect = (kind & GH_SECTION_INDIRECT) != 0;
		kind &= ~(uint64_t)GH_SECTION_INDIRECT;
		wait.thread = gh_cursor_uvarint(&cur);
		uint64_t holder = gh_cursor_uvarint(&cur);
		if (cur.failed || goroutine < least || goroutine >= dump->stacks.count ||
		    kind == 0 || kind >= GH_C_WAIT_KINDS || holder > dump->stacks.count)
			return true;
		least = (size_t)goroutine + 1;
		wait.goroutine = (size_t)goroutine;
		wait.kind = (enum gh_dump_c_wait_kind)kind;
		wait.holder = holder != 0 ? (size_t)holder - 1 : GH_DUMP_NONE;
		if (!gh_vector_push(&dump->c_waits, wait))
			return false;
	}
	return true;
}

const struct gh_dump_c_wait *gh_dump_c_wait(const struct gh_dump *dump, size_t number)
{
	const struct gh_dump_c_wait *waits = dump->c_waits.items;
	size_t found = gh_lower_bound(dump->c_waits.count, i, waits[i].goroutine < number);
	return found < dump->c_waits.count && waits[found].goroutine == number ? &waits[found]
									       : NULL;
}

/* Reads where C's malloc has memory, up to the end of CUR or to what cannot be; the first part of
 * this tag counts. False if memory ran out. */
static bool read_c_memory(struct gh_dump *dump, struct gh_cursor cur)
{
	uint64_t last = 0;
	while (gh_cursor_left(&cur) > 0) {
		struct gh_dump_part part;
		uint64_t gap = gh_cursor_uvarint(&cur);
		uint64_t size = gh_cursor_uvarint(&cur);
		if (cur.failed || __builtin_add_overflow(last, gap, &part.start) ||
		    __builtin_add_overflow(part.start, size, &part.end))
			return true;
		last = part.end;
		if (!gh_vector_push(&dump->c_memory, part))
			return false;
	}
	return true;
}

/* Reads the words that have addresses of blocks there, likewise. */
static bool read_c_words(struct gh_dump *dump, struct gh_cursor cur)
{
	uint64_t last = 0;
	while (gh_cursor_left(&cur) > 0) {
		uint64_t gap = gh_cursor_uvarint(&cur);
		if (cur.failed || __builtin_add_overflow(last, gap, &last))
			return true;
		if (!gh_vector_push(&dump->c_words, last))
			return false;
	}
	return true;
}

bool gh_dump_is_c(const struct gh_dump *dump, uint64_t address)
{
	const struct gh_dump_part *parts = dump->c_memory.items;
	size_t i = gh_lower_bound(dump->c_memory.count, k, parts[k].end <= address);
	return i < dump->c_memory.count && parts[i].start <= address;
}

const uint64_t *gh_dump_c_words(const struct gh_dump *dump, uint64_t address, uint64_t size,
				size_t *count)
{
	const uint64_t *words = dump->c_words.items;
	size_t first = gh_lower_bound(dump->c_words.count, i, words[i] < address);
	size_t end = first;
	while (end < dump->c_words.count && words[end] - address < size)
		end++;
	*count = end - first;
	return *count > 0 ? &words[first] : NULL;
}

static int compare_calls(const void *a, const void *b)
{
	const struct gh_dump_call *x = a, *y = b;
	return (x->m > y->m) - (x->m < y->m);
}

/* Finds the records of the threads that the calls are of, and puts the calls in their order. False
 * if memory ran out. */
static bool sort_calls(struct gh_dump *dump)
{
	struct gh_numbermap threads = {0};
	struct gh_dump_record record;
	bool made = true;
	for (size_t i = 0; i < dump->calls.count; i++)
		made = made && gh_numbermap_put(&threads, dump->calls.items[i].thread, (uint32_t)i);
	for (size_t i = 0; made && i < gh_dump_count(dump, GH_DUMP_THREAD); i++) {
		gh_dump_get(dump, GH_DUMP_THREAD, i, &record);
		uint32_t call = gh_numbermap_get(&threads, record.thread.os_id);
		if (call != GH_NOT_MAPPED)
			dump->calls.items[call].m = record.thread.m;
	}
	gh_numbermap_free(&threads);
	if (dump->calls.count > 0)
		qsort(dump->calls.items, dump->calls.count, sizeof(*dump->calls.items),
		      compare_calls);
	return made;
}

/* Reads the system calls of threads, likewise. */
static bool read_calls(struct gh_dump *dump, struct gh_cursor cur)
{
	while (gh_cursor_left(&cur) > 0) {
		struct gh_dump_call call = {.thread = gh_cursor_uvarint(&cur)};
		uint64_t descriptor = gh_cursor_uvarint(&cur);
		call.asleep = gh_cursor_uvarint(&cur);
		call.name = read_text(&cur);
		call.arguments = read_text(&cur);
		if (cur.failed || descriptor > INT32_MAX || *call.name == '\0' ||
		    dump->calls.count >= MAX_CALLS)
			break;
		call.descriptor = (int64_t)descriptor - 1;
		if (!gh_vector_push(&dump->calls, call))
			return false;
	}
	return sort_calls(dump);
}

const struct gh_dump_call *gh_dump_call(const struct gh_dump *dump, uint64_t m)
{
	const struct gh_dump_call *calls = dump->calls.items;
	size_t found = gh_lower_bound(dump->calls.count, i, calls[i].m < m);
	return m != 0 && found < dump->calls.count && calls[found].m == m ? &calls[found] : NULL;
}

/* Reads the values of panics, likewise. */
static bool read_panics(struct gh_dump *dump, struct gh_cursor cur)
{
	while (gh_cursor_left(&cur) > 0 &&
	       dump->panics.count < gh_dump_count(dump, GH_DUMP_PANIC)) {
		uint64_t size = gh_cursor_uvarint(&cur);
		struct gh_dump_slice value = {.offset = gh_cursor_offset(&cur), .size = size};
		gh_cursor_bytes(&cur, size);
		if (cur.failed)
			break;
		if (!gh_vector_push(&dump->panics, value))
			return false;
	}
	return true;
}

static bool read_part(struct gh_dump *dump, uint64_t tag, struct gh_cursor part)
{
	if (tag == GH_SECTION_C_MEMORY && dump->c_memory.count == 0)
		return read_c_memory(dump, part);
	if (tag == GH_SECTION_C_WORDS && dump->c_words.count == 0)
		return read_c_words(dump, part);
	if (tag == GH_SECTION_C_WAITS && dump->c_waits.count == 0)
		return read_c_waits(dump, part);
	if (tag == GH_SECTION_CALLS && dump->calls.count == 0)
		return read_calls(dump, part);
	if (tag == GH_SECTION_PANICS && dump->panics.count == 0)
		return read_panics(dump, part);
	if (tag == GH_SECTION_C_FRAMES && dump->c_frames.count == 0)
		return read_c_frames(dump, part);
	if (tag == GH_SECTION_C_PLACES && dump->c_places.size == 0)
		dump->c_places = slice_of(&part);
	if (tag == GH_SECTION_GOROUTINES && dump->extras.count == 0)
		return read_goroutines(dump, part);
	if (tag == GH_SECTION_LABELS && dump->labels.size == 0)
		dump->labels = slice_of(&part);
	if (tag == GH_SECTION_LOST && dump->lost.goroutines == 0 && dump->lost.stacks == 0) {
		dump->lost.goroutines = gh_cursor_uvarint(&part);
		dump->lost.stacks = gh_cursor_uvarint(&part);
	}
	if (tag == GH_SECTION_STACKS)
		read_stacks(dump, part);
	return true;
}

bool gh_dump_read_section(struct gh_dump *dump, struct gh_cursor *cur)
{
	size_t length = strlen(GH_DUMP_SECTION);
	dump->damage.trailing = gh_cursor_left(cur);
	if (gh_cursor_left(cur) < length || memcmp(cur->pos, GH_DUMP_SECTION, length) != 0)
		return true;
	gh_cursor_bytes(cur, length);
	dump->damage.trailing = 0;
	for (;;) {
		uint64_t offset = gh_cursor_offset(cur);
		uint64_t tag = gh_cursor_uvarint(cur);
		if (!cur->failed && tag == GH_SECTION_END) {
			/* A bare dump goes on with zeros. */
			if (dump->format != GH_DUMP_BARE)
				dump->damage.trailing = gh_cursor_left(cur);
			return true;
		}
		uint64_t size = gh_cursor_uvarint(cur);
		bool whole = !cur->failed && size <= gh_cursor_left(cur);
		if (!whole)
			size = gh_cursor_left(cur);
		struct gh_cursor part =
		    gh_cursor_slice(cur, (uint64_t)(cur->pos - cur->start), size);
		gh_cursor_bytes(cur, size);
		if (!read_part(dump, tag, part))
			return false;
		if (whole)
			continue;
		gh_fail(&dump->warning, dump->path, offset, "a whole part of goheap's own section",
			"the end of the file within it; only what comes before is used");
		return true;
	}
}
