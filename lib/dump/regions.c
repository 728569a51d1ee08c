#include "lib/dump/internal.h"

#define SOURCES GH_MEMORY_SOURCES

static const enum gh_dump_kind source_kinds[SOURCES] = {GH_DUMP_OBJECT, GH_DUMP_FRAME, GH_DUMP_DATA,
							GH_DUMP_FRAME, GH_DUMP_DATA};

static const struct gh_extents *source(const struct gh_dump *dump, unsigned number)
{
	const struct gh_extents *const sources[SOURCES] = {
	    &dump->objects, &dump->frames, &dump->segments, &dump->stack_words, &dump->data_words};
	return sources[number];
}

/* The contents of the extent at OFFSET, of source NUMBER. */
static struct gh_cursor contents_of(const struct gh_dump *dump, unsigned number, uint64_t offset)
{
	struct gh_dump_record record;
	struct gh_cursor cur = dump->file;
	if (number >= 3)
		return gh_cursor_make(dump->words.data + offset, dump->word, dump->path, 0,
				      dump->file.big_endian);
	gh_cursor_seek(&cur, offset);
	gh_dump_record_read_again(&cur, dump->format, &record);
	return gh_dump_bytes(dump, record.kind == GH_DUMP_OBJECT  ? record.object.contents
				   : record.kind == GH_DUMP_FRAME ? record.frame.contents
								  : record.segment.contents);
}

bool gh_dump_memory(const struct gh_dump *dump, uint64_t address, struct gh_cursor *cur)
{
	for (unsigned i = 0; i < SOURCES; i++) {
		size_t number = gh_extents_find(source(dump, i), address);
		if (number == GH_NO_EXTENT)
			continue;
		struct gh_extent extent = gh_extents_get(source(dump, i), number);
		uint64_t skip = address - extent.address;
		*cur = contents_of(dump, i, extent.offset);
		*cur = gh_cursor_slice(cur, skip, extent.size - skip);
		return true;
	}
	return false;
}

/* Goes to the next extent of source NUMBER. */
static void advance(const struct gh_dump *dump, struct gh_regions *walk, unsigned number)
{
	walk->left[number] =
	    gh_extents_next(source(dump, number), &walk->walks[number], &walk->heads[number]);
}

/* The source whose next extent is the lowest; SOURCES if all are at their ends. */
static unsigned lowest(const struct gh_regions *walk)
{
	unsigned best = SOURCES;
	for (unsigned i = 0; i < SOURCES; i++)
		if (walk->left[i] &&
		    (best == SOURCES || walk->heads[i].address < walk->heads[best].address))
			best = i;
	return best;
}

/* What EXTENT, of source NUMBER, has past the end of the regions before it. False if that is
 * nothing. */
static bool cut_out(struct gh_regions *walk, unsigned number, const struct gh_extent *extent,
		    struct gh_region *region)
{
	uint64_t skip = extent->address < walk->end ? walk->end - extent->address : 0;
	if (skip >= extent->size || walk->full)
		return false;
	*region = (struct gh_region){
	    .address = extent->address + skip,
	    .size = extent->size - skip,
	    .kind = source_kinds[number],
	    .source = number,
	    .offset = extent->offset,
	    .skip = skip,
	};
	if (__builtin_add_overflow(region->address, region->size, &walk->end)) {
		region->size -= walk->end;
		walk->end = 0;
		walk->full = true;
	}
	return region->size > 0;
}

bool gh_regions_next(const struct gh_dump *dump, struct gh_regions *walk, struct gh_region *region)
{
	for (unsigned i = 0; !walk->started && i < SOURCES; i++)
		advance(dump, walk, i);
	walk->started = true;
	unsigned number;
	while ((number = lowest(walk)) < SOURCES) {
		struct gh_extent extent = walk->heads[number];
		advance(dump, walk, number);
		if (cut_out(walk, number, &extent, region))
			return true;
	}
	return false;
}

struct gh_cursor gh_region_contents(const struct gh_dump *dump, const struct gh_region *region)
{
	struct gh_cursor contents = contents_of(dump, region->source, region->offset);
	return gh_cursor_slice(&contents, region->skip, region->size);
}
