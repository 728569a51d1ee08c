/* The objects of a dump, numbered from 0 by ascending address, and found by any address within. */
#ifndef GH_HEAP_PLACES_H
#define GH_HEAP_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/dump/dump.h"

/* No object. */
#define GH_HEAP_NONE UINT32_MAX

struct gh_heap_object {
	uint64_t address; /* of its first byte */
	uint64_t size;    /* in bytes: of its size class */
	uint64_t offset;  /* of its record, in the file */
	size_t number;    /* of its record in the dump */
};

/* Objects of one size, as gh_extent_run has them, by address. */
struct gh_place_run {
	uint64_t address; /* of the first */
	uint64_t size;    /* of each, in bytes */
	uint64_t offset;  /* of the first's record, in the file */
	size_t number;    /* of the first's record in the dump */
	uint32_t first;   /* the first's number here */
};

/* What begins in one stretch of GH_PLACES_BLOCK bytes. */
struct gh_place_block {
	uint64_t starts; /* a bit for each GH_EXTENT_UNIT: an object begins there */
	uint32_t before; /* objects that begin before the block */
	uint32_t run;    /* that the last of them is in */
};

#define GH_PLACES_BLOCK (64 * GH_EXTENT_UNIT)

/* Blocks without a large gap between them. */
struct gh_place_segment {
	uint64_t first; /* number of the first block in the address space */
	uint64_t count; /* of blocks */
	size_t at;      /* of the first in the table of blocks */
};

struct gh_places {
	uint32_t count;                     /* of objects */
	const struct gh_extent_item *items; /* of the dump's objects, by number of record */
	struct gh_place_run *runs;          /* by address, and one past the last; owned */
	uint32_t *hints;           /* by object / GH_PLACES_HINT: the run of the first; owned */
	bool irregular;            /* some overlap, or are not aligned: there are no blocks */
	struct gh_buffer blocks;   /* struct gh_place_block */
	struct gh_buffer segments; /* struct gh_place_segment, by address */
	size_t nsegments;
};

#define GH_PLACES_HINT 64

/* Numbers the objects of DUMP, which stays the caller's and outlives them. False (ERR filled) if
 * they are more than GH_HEAP_NONE or memory ran out. To be freed either way. */
bool gh_places_make(struct gh_places *places, const struct gh_dump *dump, struct gh_error *err);

void gh_places_free(struct gh_places *places);

/* Object NUMBER, which there is. */
struct gh_heap_object gh_places_get(const struct gh_places *places, uint32_t number);

/* How many objects begin at ADDRESS or before. */
uint32_t gh_places_upto(const struct gh_places *places, uint64_t address);

/* The object that holds ADDRESS, not only where it begins; or GH_HEAP_NONE. Where objects overlap,
 * the one that begins last is asked alone. */
uint32_t gh_places_find(const struct gh_places *places, uint64_t address);

#endif
