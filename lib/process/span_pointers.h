/* Which words of a heap object hold pointers, as the garbage collector has it.
 *
 * Sources: src/runtime/mbitmap.go (mbitmap_allocheaders.go in Go 1.22), type heapArena in
 * src/runtime/mheap.go. */
#ifndef GH_PROCESS_SPAN_POINTERS_H
#define GH_PROCESS_SPAN_POINTERS_H

#include "lib/process/spans.h"
#include "lib/process/type_mask.h"
#include "lib/util/numbermap.h"

/* What tells. The fields are private. */
struct gh_span_pointers {
	const struct gh_spans *spans;     /* not owned */
	struct gh_process *process;       /* not owned */
	uint64_t arenas;                  /* to Go 1.21: address of pointers to the arenas */
	uint64_t arena_base;              /* what is added to an address for its arena's number */
	struct gh_numbermap type_numbers; /* addresses of types to places in types; owned */
	struct GH_VECTOR(struct gh_type_mask) types; /* those that were read; owned */
	struct GH_VECTOR(uint64_t) words;            /* the last answer; owned */
	struct GH_VECTOR(uint8_t) bytes;             /* bits of the last span with bits; owned */
	uint64_t bits_of;                            /* start of that span; 0 for none */
	uint64_t unknown;                            /* objects whose pointers could not be told */
	bool failed;                                 /* memory ran out */
};

/* Prepares for the objects of SPANS, which outlive it. False (ERR filled) if the heap's arenas
 * cannot be found, to Go 1.21. In any case to be freed. */
bool gh_span_pointers_open(struct gh_span_pointers *pointers, const struct gh_spans *spans,
			   struct gh_process *process, struct gh_error *err);

void gh_span_pointers_free(struct gh_span_pointers *pointers);

/* A bit for each word of element INDEX of SPAN, whose first word is HEADER: bit I % 64 of
 * item I / 64 is 1 if word I is a pointer. Good until the next call. NULL if it has none: then
 * those of objects that should have some are counted as unknown. */
const uint64_t *gh_span_pointers_of(struct gh_span_pointers *pointers, const struct gh_span *span,
				    uint64_t index, uint64_t header);

/* Of an arena of the heap, in bytes (heapArenaBytes, but for Windows). */
uint64_t gh_heap_arena_size(const struct gh_process *process);

#endif
