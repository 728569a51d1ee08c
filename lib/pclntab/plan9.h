/* Converts the symbol and line tables of Go 1.0 and 1.1, which are Plan 9's, to the pclntab that
 * Go 1.2 would have written, which all else reads. */
#ifndef GH_PCLNTAB_PLAN9_H
#define GH_PCLNTAB_PLAN9_H

#include "lib/pclntab/pclntab.h"
#include "lib/util/buffer.h"

/* Makes OUT a pclntab of Go 1.2 from the symbols in SYMTAB and the lines in LINES, the cursors over
 * the sections .gosymtab and .gopclntab of IMAGE, and sets FORMAT to what they were. Names, file
 * names and stack deltas are in it; arguments and locals are not. False (ERR filled) if there are
 * no functions, or they are out of order; OUT is to be freed in either case. */
bool gh_plan9_convert(struct gh_buffer *out, enum gh_pclntab_format *format,
		      const struct gh_image *image, const struct gh_cursor *symtab,
		      const struct gh_cursor *lines, struct gh_error *err);

#endif
