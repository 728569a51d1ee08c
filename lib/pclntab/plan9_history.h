/* Which files an object of Go 1.0 and 1.1 was made of, and at which of its lines each begins: an
 * object's lines are counted through all that the compiler read, files that are included too.
 *
 * Format: inithist in src/cmd/ld/dwarf.c of Go 1.1. (debug/gosym takes the line numbers that
 * directives give for files.) */
#ifndef GH_PCLNTAB_PLAN9_HISTORY_H
#define GH_PCLNTAB_PLAN9_HISTORY_H

#include "lib/pclntab/plan9_symbols.h"
#include "lib/util/buffer.h"
#include "lib/util/intern.h"

/* From a line of an object to the next place, all lines are of one file. */
struct gh_plan9_place {
	int64_t line;      /* of the object */
	int64_t file_line; /* the same, in the file */
	uint32_t file;     /* number of the path, from 1; 0 for none */
};

/* The histories of all objects so far. Zero it before the first symbol. */
struct gh_plan9_history {
	struct gh_intern paths;  /* of files, as the symbols have them */
	struct gh_buffer places; /* struct gh_plan9_place, one object's after the other's */
	size_t first;            /* the current object's first place, by number */
	size_t count;            /* number of places */
	struct gh_buffer stack;  /* struct gh_plan9_place, the files that include the current */
	int64_t line;            /* of the object, where the current place begins */
	bool open;               /* the last symbol was part of a history */
};

/* Takes the next symbol of the table, of any type: a history is a run of symbols. False if memory
 * ran out. */
bool gh_plan9_history_add(struct gh_plan9_history *history, const struct gh_plan9_symbol *symbol);

/* Sets the file and the line in it, 0 if unknown, of LINE of the object whose places are those from
 * number FIRST to before number END. */
void gh_plan9_history_find(const struct gh_plan9_history *history, size_t first, size_t end,
			   int32_t line, uint32_t *file, int32_t *file_line);

void gh_plan9_history_free(struct gh_plan9_history *history);

#endif
