/* Allocation stacks: those of a heap dump's profile records, call by call.
 *
 * The dumper (dumpmemprof_callback in src/runtime/heapdump.go) writes a frame for each call,
 * inlined ones too: its file and line, but the name of the function whose code it is in, and no pc.
 * With the program at hand, frames that are lines of one place in its code become that place, with
 * the names of the inlined calls. Of the innermost frame the dumper writes the line that its call
 * returns to; goheap, in dumps that it makes of processes, that of the call. */
#ifndef GH_PROFILE_ALLOC_SITES_H
#define GH_PROFILE_ALLOC_SITES_H

#include "lib/dump/dump.h"
#include "lib/heap/heap.h"
#include "lib/pclntab/pclntab.h"
#include "lib/util/intern.h"
#include "lib/util/vector.h"

/* A line of a place. */
struct gh_allocation_line {
	uint32_t function;  /* text number of the function's name */
	uint32_t file;      /* text number of its file's name */
	uint64_t line;      /* 0 if unknown */
	int32_t start_line; /* of the function; 0 if unknown */
	bool inlined;       /* into the next line's function */
};

/* A place in the code. */
struct gh_allocation_place {
	uint64_t address;    /* where the code of its lines starts, in the program's file; 0 if
				unknown */
	uint32_t first_line; /* the number of its innermost line; the others follow */
	uint32_t nlines;     /* at least 1 */
};

/* Where a profile record's stack is. */
struct gh_allocation_stack {
	size_t first;   /* place of its innermost call in stack_places; the others follow */
	size_t nplaces; /* in all */
	size_t hidden;  /* of them that pprof does not show: the runtime's own, innermost */
};

struct gh_allocations {
	const struct gh_dump *dump; /* the caller's */
	struct gh_intern texts;     /* names of functions and files, in the dump or program */
	struct GH_VECTOR(struct gh_allocation_line) lines;   /* by number */
	struct GH_VECTOR(struct gh_allocation_place) places; /* by number */
	struct GH_VECTOR(uint32_t) stack_places;             /* numbers of places */
	struct GH_VECTOR(struct gh_allocation_stack) stacks; /* by profile record */
};

/* Fills ALLOCATIONS, to be freed with gh_allocations_free in any case. TAB is of the program that
 * wrote DUMP, and outlives ALLOCATIONS; NULL if it is not at hand. False (ERR filled) if memory ran
 * out. */
bool gh_allocations_make(struct gh_allocations *allocations, const struct gh_dump *dump,
			 const struct gh_pclntab *tab, struct gh_error *err);

void gh_allocations_free(struct gh_allocations *allocations);

/* Place NUMBER, and line N of it, innermost first. */
static inline const struct gh_allocation_place *
gh_allocations_place(const struct gh_allocations *allocations, uint32_t number)
{
	return &allocations->places.items[number];
}

static inline const struct gh_allocation_line *
gh_allocations_line(const struct gh_allocations *allocations, uint32_t number, uint32_t n)
{
	return &allocations->lines.items[gh_allocations_place(allocations, number)->first_line + n];
}

/* The places of profile record NUMBER's stack that are shown, innermost first; COUNT of them. */
const uint32_t *gh_allocations_stack(const struct gh_allocations *allocations, size_t number,
				     size_t *count);

/* What RECORD has in use: allocated and not freed; 0 if it says that more was freed. */
uint64_t gh_profile_inuse(const struct gh_dump_profile *record);

/* COUNT objects of SIZE bytes; at most INT64_MAX. */
uint64_t gh_profile_bytes(uint64_t count, uint64_t size);

/* An object that has no sample. */
#define GH_NOT_SAMPLED UINT32_MAX

/* Fills RECORDS, by object of HEAP, with the number of the profile record of its sample, or
 * GH_NOT_SAMPLED. A block of small objects may have several samples: the first counts. */
void gh_samples_find(uint32_t *records, const struct gh_heap *heap);

#endif
