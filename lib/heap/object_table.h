/* The object table: the objects of a dump, but for the tails of spans (span_tail.h), numbered from
 * 0 by ascending address, and found by any address within. */
#ifndef GH_HEAP_OBJECT_TABLE_H
#define GH_HEAP_OBJECT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/dump/dump.h"
#include "lib/util/vector.h"

/* No object. */
#define GH_HEAP_NONE UINT32_MAX

struct gh_heap_object {
	uint64_t address; /* of its first byte */
	uint64_t size;    /* in bytes: of its size class */
	uint64_t offset;  /* of its record, in the file */
	size_t number;    /* of its record in the dump */
};

/* Objects of one size: those of a gh_extent_run, or of a part of one between span_tails. */
struct gh_object_run {
	uint64_t address; /* that its items' addresses are past */
	uint64_t size;    /* of each object, in bytes */
	uint64_t offset;  /* that its items' offsets are past */
	size_t number;    /* of the first's record in the dump */
	uint32_t first;   /* the first's number here */
};

/* What begins in one stretch of GH_OBJECT_TABLE_BLOCK bytes. */
struct gh_object_block {
	uint64_t starts; /* a bit for each GH_EXTENT_UNIT: an object begins there */
	uint32_t before; /* objects that begin before the block */
	uint32_t run;    /* that the last of them is in */
};

#define GH_OBJECT_TABLE_BLOCK (64 * GH_EXTENT_UNIT)

/* Blocks without a large gap between them. */
struct gh_object_segment {
	uint64_t first; /* number of the first block in the address space */
	uint64_t count; /* of blocks */
	size_t at;      /* of the first in the table of blocks */
};

struct gh_object_table {
	uint32_t count;                     /* of objects */
	uint64_t bytes;                     /* in them */
	uint64_t span_tails;                /* records of objects that are none: see span_tail.h */
	const struct gh_extent_item *items; /* of the dump's objects, by number of record */
	struct GH_VECTOR(struct gh_object_run) runs; /* by address, and one past the last */
	uint32_t *hints; /* by object / GH_OBJECT_TABLE_HINT: the run of the first; owned */
	bool irregular;  /* some overlap, or are not aligned: there are no blocks */
	struct GH_VECTOR(struct gh_object_block) blocks;
	struct GH_VECTOR(struct gh_object_segment) segments; /* by address */
};

#define GH_OBJECT_TABLE_HINT 64

/* Numbers the objects of DUMP, which stays the caller's and outlives them. False (ERR filled) if
 * they are more than GH_HEAP_NONE or memory ran out. To be freed either way. */
bool gh_object_table_make(struct gh_object_table *table, const struct gh_dump *dump,
			  struct gh_error *err);

void gh_object_table_free(struct gh_object_table *table);

/* Object NUMBER, which there is. */
struct gh_heap_object gh_object_table_get(const struct gh_object_table *table, uint32_t number);

/* The object that holds ADDRESS, not only where it begins; or GH_HEAP_NONE. Where objects overlap,
 * the one that begins last is asked alone. */
uint32_t gh_object_table_find(const struct gh_object_table *table, uint64_t address);

#endif
