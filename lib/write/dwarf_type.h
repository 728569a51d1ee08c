/* The program's types as DWARF: an entry for each descriptor, in a unit of their own. */
#ifndef GH_WRITE_DWARF_TYPE_H
#define GH_WRITE_DWARF_TYPE_H

#include "lib/rtype/rtype.h"
#include "lib/write/dwarf_info.h"
#include "lib/write/typename.h"

/* Adds a unit with TYPES to INFO. Their names are NAMES, in STRINGS; names that only DWARF has are
 * added to it. With no types nothing is added. False (ERR filled) if memory ran out or the section
 * would not fit the 32-bit DWARF format. */
bool gh_dwarf_types_add(struct gh_info *info, const struct gh_rtypes *types,
			const struct gh_typenames *names, struct gh_strings *strings,
			struct gh_error *err);

#endif
