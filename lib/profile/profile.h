/* Profiles: the allocation sites of a heap dump, the live heap by them, and either, or what holds
 * the heap, in pprof's format.
 *
 * - alloc_sites.c: allocation stacks, with inlined calls named by the program's lines, which
 *   line_lookup.c finds;
 * - live_profile.c: the same for the objects that are reached;
 * - pprof.c: writes them as a profile.proto, with its mapping and functions;
 * - pprof_tree.c: a tree of frames as another;
 * - pprof_message.c: how the fields of these are encoded, whose numbers are in internal.h.
 */
#ifndef GH_PROFILE_PROFILE_H
#define GH_PROFILE_PROFILE_H

#include "lib/dump/dump.h"
#include "lib/heap/heap.h"
#include "lib/pclntab/pclntab.h"
#include "lib/util/intern.h"
#include "lib/util/vector.h"

/* Allocation stacks: those of a heap dump's profile records, call by call.
 *
 * The dumper (dumpmemprof_callback in src/runtime/heapdump.go) writes a frame for each call,
 * inlined ones too: its file and line, but the name of the function whose code it is in, and no pc.
 * With the program at hand, frames that are lines of one place in its code become that place, with
 * the names of the inlined calls. Of the innermost frame the dumper writes the line that its call
 * returns to; goheap, in dumps that it makes of processes, that of the call. */

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

/* The live heap by allocating stack: the objects that roots reach, of those whose allocations were
 * sampled. */

struct gh_live_stacks {
	struct gh_live_stack *items; /* owned */
	size_t count;                /* of items */
};

/* Fills STACKS with those that have live objects. ALLOCATIONS are of the dump of HEAP; RATE is as
 * for gh_pprof_scale. What an object retains is not counted again for those of its stack that it
 * dominates. False (ERR filled) if memory ran out. To be freed with gh_live_stacks_free either way.
 */
bool gh_live_stacks_make(struct gh_live_stacks *stacks, const struct gh_allocations *allocations,
			 const struct gh_heap *heap, const struct gh_dominators *dominators,
			 uint64_t rate, struct gh_error *err);

void gh_live_stacks_free(struct gh_live_stacks *stacks);

/* A heap dump's allocation profile as pprof's: a gzip-ed message Profile.
 *
 * Format: https://github.com/google/pprof/blob/main/proto/profile.proto; what a heap profile has in
 * it: src/runtime/pprof/protomem.go. */

/* runtime.MemProfileRate, unless the program sets it. */
#define GH_PPROF_RATE (512 * 1024)

struct gh_pprof {
	const struct gh_allocations *allocations; /* the profile */
	uint64_t rate; /* bytes allocated for each sample, on average; to 1: all are sampled */
	bool raw;      /* what was sampled, not scaled to what there was */
	const struct gh_live_stacks *live; /* write what is live, and what it retains; NULL: what
					      was allocated, and what is in use */
	const struct gh_image *program;    /* that wrote the dump; NULL if it is not at hand */
	const char *program_path;          /* its name in the profile; "" if it is not at hand */
	uint64_t bias;                     /* of the dump's addresses over the program's */
};

/* Writes the profile to PATH, which is there whole or not at all. Returns false and fills ERR if it
 * cannot be written. */
bool gh_pprof_write(const struct gh_pprof *pprof, const char *path, struct gh_error *err);

/* What has one frame, in what a tree of frames has of it. */
struct gh_pprof_node {
	uint32_t parent;  /* the number of the frame's that it is in, which comes before it */
	uint32_t frame;   /* the number of its name */
	uint64_t objects; /* its own, without those of what is in it */
	uint64_t bytes;   /* in them */
};

/* A tree of frames as a profile: what is in use, by the frames that lead to it. */
struct gh_pprof_tree {
	const struct gh_dump *dump;        /* that it is of */
	const struct gh_pprof_node *nodes; /* the first is none, but that all others are in */
	size_t nnodes;
	char *const *frames; /* by number: their names */
	size_t nframes;
};

/* Writes the profile to PATH, which is there whole or not at all. Returns false and fills ERR if it
 * cannot be written. */
bool gh_pprof_write_tree(const struct gh_pprof_tree *tree, const char *path, struct gh_error *err);

/* Scales COUNT sampled objects of SIZE bytes to how many there are likely to be, as the runtime
 * does: 1 in 1 - exp(-size / rate) is sampled. BYTES is their size together. Both are at most
 * INT64_MAX. */
void gh_pprof_scale(uint64_t rate, uint64_t size, uint64_t *count, uint64_t *bytes);

#endif
