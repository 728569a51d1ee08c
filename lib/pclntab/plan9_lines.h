/* The pclntab of Go 1.0 and 1.1: a line for each pc of the whole text, counted in all that the
 * compiler read to make an object. What file that is in, and where, its history tells
 * (lib/pclntab/plan9_history.h).
 *
 * Format: pclntab in src/cmd/ld/lib.c of Go 1.1, and parse in src/debug/gosym/pclntab.go. */
#ifndef GH_PCLNTAB_PLAN9_LINES_H
#define GH_PCLNTAB_PLAN9_LINES_H

#include "lib/util/cursor.h"

/* A walk over the table. Copy it to come back to where it is. */
struct gh_plan9_lines {
	struct gh_cursor cur; /* at the next code */
	uint64_t start;       /* of the current run, an address */
	uint64_t end;         /* one past it; UINT64_MAX in the last */
	int32_t line;         /* of the current run, in its object; 0 before the first */
	uint8_t quantum;      /* of pc deltas, in bytes */
};

/* Starts a walk over the table that CUR is over, in the run from TEXT, where the text begins. */
void gh_plan9_lines_start(struct gh_plan9_lines *walk, struct gh_cursor cur, uint64_t text,
			  uint8_t quantum);

/* Goes to the next run, until one ends after PC. */
void gh_plan9_lines_seek(struct gh_plan9_lines *walk, uint64_t pc);

#endif
