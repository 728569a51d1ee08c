/* The memory of the dumped process, as far as the dump has it: objects, stack frames, data and bss.
 */
#ifndef GH_DUMP_MEMORY_H
#define GH_DUMP_MEMORY_H

#include "lib/dump/dump.h"

/* A cursor over the bytes from ADDRESS to the end of the object, frame or segment that holds it, in
 * the dump's byte order. False if none does. */
bool gh_dump_memory(const struct gh_dump *dump, uint64_t address, struct gh_cursor *cur);

/* A stretch of memory that is in the dump. */
struct gh_region {
	uint64_t address;
	struct gh_dump_slice contents; /* never empty */
	enum gh_dump_kind kind;        /* object, frame, or data for either segment */
};

/* A walk over the memory by address. Zero it first. The fields are private. */
struct gh_regions {
	struct gh_extent_walk walks[3]; /* over objects, frames, segments */
	struct gh_extent heads[3];      /* the next of each */
	bool left[3];                   /* there is a next */
	bool started;
	bool full;    /* the end of the address space was reached */
	uint64_t end; /* one past the last region */
};

/* Gives the next region. They ascend and do not overlap: of bytes that the dump has twice, it is
 * the first extent's, by address, that are given. False at the end. */
bool gh_regions_next(const struct gh_dump *dump, struct gh_regions *walk, struct gh_region *region);

#endif
