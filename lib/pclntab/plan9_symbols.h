/* The symbol table of Go 1.0 and 1.1 (.gosymtab), which came from Plan 9.
 *
 * Format: src/pkg/runtime/symtab.c of Go 1.1, and walksymtab in src/debug/gosym/symtab.go. */
#ifndef GH_PCLNTAB_PLAN9_SYMBOLS_H
#define GH_PCLNTAB_PLAN9_SYMBOLS_H

#include "lib/pclntab/pclntab.h"

/* Symbol types that tell of functions. */
enum gh_plan9_type {
	GH_PLAN9_FUNCTION = 'T',
	GH_PLAN9_STATIC_FUNCTION = 't',
	GH_PLAN9_LEAF = 'L',
	GH_PLAN9_STATIC_LEAF = 'l',
	GH_PLAN9_FRAME = 'm', /* a number about the function before it, which its name tells */
	GH_PLAN9_FILE = 'f',  /* a component of paths */
	GH_PLAN9_PATH = 'z',  /* a file begins at this line of an object, or ends */
	GH_PLAN9_LINE_NUMBER = 'Z', /* its next line has this number */
};

struct gh_plan9_symbol {
	uint64_t value;
	char type;           /* a letter, those of enum gh_plan9_type among others */
	const char *name;    /* "" for the two types below; in the image */
	const uint8_t *path; /* of GH_PLAN9_PATH and GH_PLAN9_LINE_NUMBER: pairs of bytes, each the
				value of a GH_PLAN9_FILE, big-endian; in the image */
	size_t path_size;    /* in bytes, an even number */
};

/* A walk over a table. The fields are private. */
struct gh_plan9_symbols {
	struct gh_cursor cur;
	enum gh_pclntab_format format;
	uint8_t word; /* size of a value that is not a varint, in bytes */
};

/* Starts a walk over the table that CUR is over, of a machine whose words are of WORD bytes. */
void gh_plan9_symbols_start(struct gh_plan9_symbols *walk, struct gh_cursor cur, uint8_t word);

/* Goes to the next symbol. False at the end, and where the table is cut short or damaged. */
bool gh_plan9_symbols_next(struct gh_plan9_symbols *walk, struct gh_plan9_symbol *symbol);

#endif
