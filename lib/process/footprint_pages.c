#include "lib/process/dump_parts.h"

#include <unistd.h>

#include "lib/util/zeros.h"

/* Pages whose state is asked for at once. */
#define PAGES 512

uint64_t gh_footprint_next_page(const struct gh_footprint_pages *pages, uint64_t address,
				uint64_t end)
{
	const struct gh_memory *memory = pages->memory;
	uint64_t next = address;
	uint64_t size;
	if (address >= end)
		return end;
	if (pages->pagemap >= 0)
		return gh_next_page(pages->pagemap, address, end);
	if (memory->next == NULL)
		return address;
	if (!memory->next(memory, &next, &size) || next >= end)
		return end;
	/* A part of memory that does not begin with a page has none of its own there. */
	next += (GH_LEAST_PAGE - next % GH_LEAST_PAGE) % GH_LEAST_PAGE;
	return next >= address && next < end ? next : end;
}

/* Adds what the process has of the pages from START to END to PART, by its pagemap. */
static void count_live(const struct gh_footprint_pages *pages, uint64_t start, uint64_t end,
		       struct gh_footprint_part *part)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t entries[PAGES];
	while ((start = gh_next_page(pages->pagemap, start, end)) < end) {
		uint64_t count = (end - start + page - 1) / page;
		size_t size = (size_t)(count < PAGES ? count : PAGES) * sizeof(*entries);
		off_t at = (off_t)(start / page * sizeof(*entries));
		if (pread(pages->pagemap, entries, size, at) != (ssize_t)size)
			return;
		for (size_t i = 0; i < size / sizeof(*entries); i++) {
			part->resident += entries[i] & GH_PAGE_PRESENT ? page : 0;
			part->swapped += entries[i] & GH_PAGE_SWAPPED ? page : 0;
		}
		start += size / sizeof(*entries) * page;
	}
}

/* The same of a core file: pages that are there, and are not all zeros. */
static void count_core(const struct gh_footprint_pages *pages, uint64_t start, uint64_t end,
		       struct gh_footprint_part *part)
{
	const struct gh_memory *memory = pages->memory;
	uint8_t bytes[GH_LEAST_PAGE];
	while ((start = gh_footprint_next_page(pages, start, end)) < end &&
	       end - start >= sizeof(bytes)) {
		if (memory->read(memory, start, bytes, sizeof(bytes)) &&
		    !gh_is_zeros(bytes, sizeof(bytes)))
			part->resident += sizeof(bytes);
		start += sizeof(bytes);
	}
}

void gh_footprint_count(const struct gh_footprint_pages *pages, uint64_t start, uint64_t end,
			struct gh_footprint_part *part)
{
	if (pages->pagemap >= 0)
		count_live(pages, start, end, part);
	else
		count_core(pages, start, end, part);
}
