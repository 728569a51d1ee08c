/* Address ranges of the dumped process, each with its record, looked up by address. */
#ifndef GH_DUMP_EXTENTS_H
#define GH_DUMP_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/util/vector.h"

struct gh_extent {
	uint64_t address; /* of the first byte */
	uint64_t size;    /* in bytes */
	uint64_t offset;  /* of its record, in the file */
};

/* An extent in its run. */
struct gh_extent_item {
	uint16_t address; /* past the run's, in GH_EXTENT_UNIT bytes */
	uint16_t offset;  /* past the run's */
};

/* The Go heap's alignment. */
#define GH_EXTENT_UNIT 8

/* Extents one after the other. */
struct gh_extent_run {
	uint64_t address; /* of the first */
	uint64_t offset;  /* of the first's record */
	uint64_t size;    /* of each */
	size_t first;     /* the number of the first */
};

/* Extents are numbered in the order they came. The dumper goes span by span: what it writes is runs
 * of objects of one size whose addresses ascend, and so an extent takes 4 bytes here, what it adds
 * to its run's first. The spans, in the order they were made, are all that has to be sorted. */
struct gh_extents {
	struct GH_VECTOR(struct gh_extent_item) items; /* by number */
	struct GH_VECTOR(struct gh_extent_run) runs;   /* by number */
	size_t *order;             /* the runs by address, once finished; owned */
	uint64_t bytes;            /* in all extents; at most UINT64_MAX */
	size_t overlapping;        /* extents that begin within the one before, by address */
	uint64_t end;              /* private: one past the extent added last */
	struct gh_extent_run last; /* private: the run that it is in */
};

/* No extent of this number. */
#define GH_NO_EXTENT SIZE_MAX

/* Between two extents that do not touch, there may be others only where the first's page ends: a
 * span is whole pages. Runs are cut there, so that they do not interleave. */
#define GH_EXTENT_PAGE 8192

/* Private: EXTENT goes on with the last run. */
static inline bool gh_extents_follows(const struct gh_extents *extents,
				      const struct gh_extent *extent)
{
	const struct gh_extent_run *run = &extents->last;
	uint64_t past = extent->address - run->address;
	if (extents->runs.count == 0 || extent->address < extents->end ||
	    extent->size != run->size || past > UINT16_MAX * GH_EXTENT_UNIT ||
	    past % GH_EXTENT_UNIT != 0 || extent->offset - run->offset > UINT16_MAX)
		return false;
	return extent->address == extents->end ||
	       extent->address / GH_EXTENT_PAGE == (extents->end - 1) / GH_EXTENT_PAGE;
}

/* Private: adds EXTENT to the last run. */
static inline bool gh_extents_add_to_run(struct gh_extents *extents, const struct gh_extent *extent)
{
	const struct gh_extent_run *run = &extents->last;
	struct gh_extent_item item = {
	    .address = (uint16_t)((extent->address - run->address) / GH_EXTENT_UNIT),
	    .offset = (uint16_t)(extent->offset - run->offset),
	};
	if (!gh_vector_push(&extents->items, item))
		return false;
	if (__builtin_add_overflow(extent->address, extent->size, &extents->end))
		extents->end = UINT64_MAX;
	if (__builtin_add_overflow(extents->bytes, extent->size, &extents->bytes))
		extents->bytes = UINT64_MAX;
	return true;
}

/* Private: adds EXTENT as a run. */
bool gh_extents_add_slowly(struct gh_extents *extents, const struct gh_extent *extent);

/* Adds an extent, whose record is after those before in the file; it gets the next number. False if
 * memory ran out. Most of the time that an index takes is spent here: it is inline. */
static inline bool gh_extents_add(struct gh_extents *extents, const struct gh_extent *extent)
{
	return gh_extents_follows(extents, extent) ? gh_extents_add_to_run(extents, extent)
						   : gh_extents_add_slowly(extents, extent);
}

/* Sorts, once all are added: then they are found. False if memory ran out. */
bool gh_extents_finish(struct gh_extents *extents);

/* The extents in run number RUN. */
size_t gh_extents_run_length(const struct gh_extents *extents, size_t run);

/* Extent NUMBER, which there is. */
struct gh_extent gh_extents_get(const struct gh_extents *extents, size_t number);

/* The number of the extent that holds ADDRESS, or GH_NO_EXTENT. Where extents overlap, the one that
 * begins last is asked alone. */
size_t gh_extents_find(const struct gh_extents *extents, uint64_t address);

/* A walk over the extents by address. Zero it first. */
struct gh_extent_walk {
	size_t run;   /* private: place of the run, by address */
	size_t place; /* private: of the next extent in the run */
};

/* Gives the next extent. False at the end. */
bool gh_extents_next(const struct gh_extents *extents, struct gh_extent_walk *walk,
		     struct gh_extent *extent);

void gh_extents_free(struct gh_extents *extents);

#endif
