/* The memory of the dumped process, as far as the dump has it: objects, stack frames, data and bss;
 * of the last three the prototype has words only, those that are roots, and return addresses. */
#ifndef GH_DUMP_REGIONS_H
#define GH_DUMP_REGIONS_H

#include "lib/dump/dump.h"

/* A cursor over the bytes from ADDRESS to the end of the object, frame or segment that holds it, in
 * the dump's byte order. False if none does. */
bool gh_dump_memory(const struct gh_dump *dump, uint64_t address, struct gh_cursor *cur);

/* Objects, frames, segments, words of stacks, words of data. */
#define GH_MEMORY_SOURCES 5

/* A stretch of memory that is in the dump. */
struct gh_region {
	uint64_t address;
	struct gh_cursor contents; /* never empty; in the dump's byte order */
	enum gh_dump_kind kind;    /* object, frame, or data for either segment */
};

/* A walk over the memory by address. Zero it first. The fields are private. */
struct gh_regions {
	struct gh_extent_walk walks[GH_MEMORY_SOURCES]; /* over the dump's extents */
	struct gh_extent heads[GH_MEMORY_SOURCES];      /* the next of each */
	bool left[GH_MEMORY_SOURCES];                   /* there is a next */
	bool started;
	bool full;    /* the end of the address space was reached */
	uint64_t end; /* one past the last region */
};

/* Gives the next region. They ascend and do not overlap: of bytes that the dump has twice, it is
 * the first extent's, by address, that are given. False at the end. */
bool gh_regions_next(const struct gh_dump *dump, struct gh_regions *walk, struct gh_region *region);

#endif
