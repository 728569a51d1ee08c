/* The other way round: where the code of a source line is. */
#ifndef GH_PCLNTAB_LINEPCS_H
#define GH_PCLNTAB_LINEPCS_H

#include "lib/pclntab/sourcemap.h"

/* A walk over the ranges of one source line. Zero it before the first; the fields are private. */
struct gh_line_pcs {
	struct gh_sourcemap map;
	struct gh_func func;
	size_t next;  /* the function after func */
	bool walking; /* map is somewhere in func */
};

/* Gives the next range of TAB, by address, whose innermost frame is at LINE of FILE: a path, or the
 * last components of one, as debuggers take them ("server.go", "api/server.go"). Functions that
 * cannot be read are passed over. False at the end; memory that runs out is one, too. */
bool gh_line_pcs_next(struct gh_line_pcs *walk, const struct gh_pclntab *tab, const char *file,
		      int32_t line, struct gh_range *range);

/* Frees what the walk owns. */
void gh_line_pcs_free(struct gh_line_pcs *walk);

#endif
