/* .debug_abbrev: what the entries of .debug_info are made of. DWARF 4, section 7.5.3. */
#ifndef GH_WRITE_DWARF_ABBREV_H
#define GH_WRITE_DWARF_ABBREV_H

#include "lib/util/buffer.h"
#include "lib/write/dwarf_variable.h"

/* The codes. The attributes of each, in their order, are in the code of gh_abbrevs_make. */
enum {
	GH_ABBREV_UNIT = GH_VARIABLE_ABBREVS + 1,
	GH_ABBREV_FUNCTION,         /* a function */
	GH_ABBREV_FUNCTION_NO_FILE, /* a function in an unknown file */
	GH_ABBREV_CALLER,           /* the same two with inlined calls */
	GH_ABBREV_CALLER_NO_FILE,
	GH_ABBREV_ABSTRACT,    /* a function that is inlined */
	GH_ABBREV_CALL,        /* an inlined call */
	GH_ABBREV_CALL_RANGES, /* one that is in pieces */
	GH_ABBREV_NESTED,      /* the same two with inlined calls */
	GH_ABBREV_NESTED_RANGES,
	GH_ABBREV_ARGUMENT,         /* an argument */
	GH_ABBREV_UNKNOWN_ARGUMENT, /* one that is nowhere */
	GH_ABBREV_BLOCK_RANGES,     /* a block with variables, in pieces */
	GH_ABBREV_WORDS, /* a function that stands for none, with variables to refer to */
	GH_ABBREV_WORD,  /* a variable that is as the one it refers to */
};

/* Adds the section's contents to ABBREV. */
void gh_abbrevs_make(struct gh_buffer *abbrev);

#endif
