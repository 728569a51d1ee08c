#include <string.h>

#include "lib/dump/internal.h"

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

static bool read_part(struct gh_dump *dump, uint64_t tag, struct gh_cursor part)
{
	if (tag == GH_SECTION_GOROUTINES && dump->extras.count == 0)
		return read_goroutines(dump, part);
	if (tag == GH_SECTION_LABELS && dump->labels.size == 0)
		dump->labels = (struct gh_dump_slice){.offset = gh_cursor_offset(&part),
						      .size = gh_cursor_size(&part)};
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
