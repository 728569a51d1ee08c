/* The words of functions' frames that hold pointers while they call, as variables named by their
 * offset from sp: "sp_0x18". They are in blocks of those calls' last bytes: debuggers look up a
 * frame that has called by the byte before its pc, as the runtime does, and nothing else ever stops
 * there. Between calls the maps are out of date. Where a call was inlined around a call the block
 * is nested in that. DWARF 4, sections 3.3.8, 3.5, 4.1 and 5.1. */
#ifndef GH_WRITE_DWARF_LIVE_H
#define GH_WRITE_DWARF_LIVE_H

#include "lib/pclntab/sourcemap.h"
#include "lib/pclntab/stackmap.h"
#include "lib/util/buffer.h"
#include "lib/write/callee.h"

/* The fields are private. */
struct gh_live {
	const struct gh_pclntab *tab;
	struct gh_buffer *info;    /* .debug_info */
	uint32_t type;             /* offset in it of the words' type; 0: there are no words */
	struct gh_callees callees; /* of calls that are not left out */
	size_t unit;               /* where the unit starts in .debug_info */
	struct gh_buffer entries;  /* what its variables refer to, by offset: struct entry */
	struct gh_stackmaps maps;  /* of the function */
	bool has_maps;             /* it has any */
	uint64_t entry;            /* its address */
	uint64_t end;              /* one past it */
	struct gh_pcvalue index;   /* which of the maps */
	struct gh_pcvalue delta;   /* of the stack */
	struct gh_buffer pieces;   /* of the function: struct piece */
	struct gh_buffer sites;    /* of the function: struct site */
	struct gh_buffer blocks;   /* of those: struct block */
	struct gh_buffer words;    /* the blocks' variables, as .debug_info has them */
	size_t left;               /* bytes of DWARF that may still be written */
};

/* Appends a unit with the type to INFO, if the words are WANTED and the program tells of them; else
 * there are none. Everything given outlives LIVE. */
void gh_live_init(struct gh_live *live, const struct gh_pclntab *tab, bool wanted,
		  struct gh_buffer *info);

/* Starts a unit, at offset UNIT of .debug_info. */
void gh_live_begin_unit(struct gh_live *live, size_t unit);

/* Starts FUNC. */
void gh_live_begin(struct gh_live *live, const struct gh_func *func);

/* Adds the next range of the function, from START on, whose innermost inlined call is number
 * INLINED; any number that is no other's stands for the function. */
void gh_live_range(struct gh_live *live, uint64_t start, uint32_t inlined);

/* Ends the ranges of the function. Adds to .debug_info entries that the blocks refer to: no other
 * entry may be in the making there. */
void gh_live_end(struct gh_live *live);

/* Whether there are blocks within inlined call number INLINED. */
bool gh_live_has(const struct gh_live *live, uint32_t inlined);

/* Writes them, as children of the entry written last, the end of children left to the caller; and
 * to RANGES, .debug_ranges, where those are that are in pieces. The unit's low_pc must be 0. */
void gh_live_write(const struct gh_live *live, uint32_t inlined, struct gh_buffer *ranges);

/* Frees everything. Returns whether memory sufficed all along. */
bool gh_live_free(struct gh_live *live);

#endif
