/* The source map: for each function a sorted run of pc ranges, each with the stack of (function,
 * file, line) that is executing there. Every consumer of lines reads this; nothing else decodes the
 * tables behind it. */
#ifndef GH_PCLNTAB_SOURCEMAP_H
#define GH_PCLNTAB_SOURCEMAP_H

#include "lib/pclntab/pcvalue.h"
#include "lib/util/vector.h"

/* The deepest nesting of inlined calls that is followed; a chain that is longer is cut. */
#define GH_MAX_INLINE_DEPTH 64

/* One entry of a range's stack. */
struct gh_frame {
	uint32_t name;      /* of the function, for gh_pclntab_name */
	uint32_t file;      /* for gh_pclntab_file, or GH_NO_FILE */
	int32_t line;       /* 0 if unknown */
	int32_t start_line; /* of the function's func keyword; 0 if unknown */
	int32_t tree_index; /* record of the inline tree that this frame is; -1 for the function
			       itself */
};

/* A range of pcs that execute the same source lines. */
struct gh_range {
	uint64_t start;                              /* an address */
	uint64_t end;                                /* one past the range */
	unsigned nframes;                            /* at least 1 */
	struct gh_frame frames[GH_MAX_INLINE_DEPTH]; /* innermost first; the last is the function */
};

/* A run of pcs for which all tables of a function hold one value each. */
struct gh_piece {
	uint64_t start;  /* an address; the next piece's start, or the function's end, is its end */
	int32_t file;    /* of the pcfile table; -1 if unknown */
	int32_t line;    /* of the pcln table; -1 if unknown */
	int32_t inlined; /* record of the inline tree, -1 for none */
};

/* A walk over the ranges of one function after the other. Zero it before the first function. The
 * fields are private. */
struct gh_sourcemap {
	const struct gh_pclntab *tab;
	const struct gh_func *func;
	struct gh_cursor tree; /* the inline tree and what follows it; empty if there is none */
	struct GH_VECTOR(struct gh_piece) pieces; /* of the function, by start */
	size_t next;                              /* the piece that the next range is made of */
};

/* Starts a walk over FUNC, which must stay put until the walk ends. False if memory ran out. */
bool gh_sourcemap_start(struct gh_sourcemap *map, const struct gh_pclntab *tab,
			const struct gh_func *func);

/* Gives the next range. Ranges are ascending, do not overlap, and together cover the function from
 * entry to end; neighbours differ in their stacks. False at the end of the function. */
bool gh_sourcemap_next(struct gh_sourcemap *map, struct gh_range *range);

/* Gives the range that holds PC, an address in the function, wherever the walk is; the walk goes on
 * after it. False if PC is outside the function. */
bool gh_sourcemap_seek(struct gh_sourcemap *map, uint64_t pc, struct gh_range *range);

/* Frees what the walk owns. */
void gh_sourcemap_free(struct gh_sourcemap *map);

#endif
