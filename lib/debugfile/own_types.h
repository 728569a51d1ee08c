/* The types that a Go program's own DWARF has, by their names: what else is written into the same
 * sections can refer to them. */
#ifndef GH_DEBUGFILE_OWN_TYPES_H
#define GH_DEBUGFILE_OWN_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/util/cursor.h"

/* A predeclared type, or a pointer. */
struct gh_own_type {
	const char *name;
	uint32_t offset; /* of its entry in .debug_info; 0 if it is not found */
};

/* Finds TYPES, COUNT of them, in INFO and ABBREV, the contents of .debug_info and .debug_abbrev. */
void gh_own_types_find(struct gh_own_type *types, size_t count, struct gh_cursor info,
		       struct gh_cursor abbrev);

#endif
