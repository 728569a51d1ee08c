#include "lib/dump/memory.h"

#define SOURCES 3

static const enum gh_dump_kind source_kinds[SOURCES] = {GH_DUMP_OBJECT, GH_DUMP_FRAME,
							GH_DUMP_DATA};

static const struct gh_extents *source(const struct gh_dump *dump, unsigned number)
{
	switch (number) {
	case 0:
		return &dump->objects;
	case 1:
		return &dump->frames;
	default:
		return &dump->segments;
	}
}

/* The contents of EXTENT. */
static struct gh_dump_slice contents_of(const struct gh_dump *dump, const struct gh_extent *extent)
{
	struct gh_dump_record record;
	struct gh_cursor cur = dump->file;
	gh_cursor_seek(&cur, extent->offset);
	gh_dump_record_read(&cur, dump->format, &record);
	if (record.kind == GH_DUMP_OBJECT)
		return record.object.contents;
	return record.kind == GH_DUMP_FRAME ? record.frame.contents : record.segment.contents;
}

bool gh_dump_memory(const struct gh_dump *dump, uint64_t address, struct gh_cursor *cur)
{
	for (unsigned i = 0; i < SOURCES; i++) {
		size_t number = gh_extents_find(source(dump, i), address);
		if (number == GH_NO_EXTENT)
			continue;
		struct gh_extent extent = gh_extents_get(source(dump, i), number);
		struct gh_dump_slice slice = contents_of(dump, &extent);
		slice.offset += address - extent.address;
		slice.size -= address - extent.address;
		*cur = gh_dump_bytes(dump, slice);
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

/* What EXTENT has past the end of the regions before it. False if that is nothing. */
static bool cut_out(const struct gh_dump *dump, struct gh_regions *walk,
		    const struct gh_extent *extent, struct gh_region *region)
{
	uint64_t skip = extent->address < walk->end ? walk->end - extent->address : 0;
	if (skip >= extent->size || walk->full)
		return false;
	region->address = extent->address + skip;
	region->contents = contents_of(dump, extent);
	region->contents.offset += skip;
	region->contents.size -= skip;
	if (__builtin_add_overflow(region->address, region->contents.size, &walk->end)) {
		region->contents.size -= walk->end;
		walk->end = 0;
		walk->full = true;
	}
	return region->contents.size > 0;
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
		region->kind = source_kinds[number];
		if (cut_out(dump, walk, &extent, region))
			return true;
	}
	return false;
}
