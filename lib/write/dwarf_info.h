/* .debug_info and what goes with it: the packages as units, and their functions. DWARF 4, sections
 * 3.1, 3.3, 6.1.2, 7.5 and 7.21.
 *
 * A unit has an abstract subprogram of its own for each function that is inlined into one of its
 * functions, wherever that comes from: a debugger that looks for the name then finds all units that
 * have a copy of it, and none refers to another. */
#ifndef GH_WRITE_DWARF_INFO_H
#define GH_WRITE_DWARF_INFO_H

#include "lib/util/buffer.h"
#include "lib/write/dwarf_line.h"
#include "lib/write/package.h"
#include "lib/write/slots.h"
#include "lib/write/strings.h"

/* The sections' contents. */
struct gh_info {
	struct gh_buffer abbrev;
	struct gh_buffer info;
	struct gh_buffer line;
	struct gh_buffer ranges;
	struct gh_buffer loc;
	struct gh_buffer aranges;
};

/* Fills INFO with a unit for each of PACKAGES and, unless SLOTS is NULL, one for its types; its
 * variables are in the functions. Function names refer to STRINGS as .debug_str, to
 * which those of inlined functions are added.
 * False (ERR filled) if a function cannot be read, memory ran out, or a section would not
 * fit the 32-bit DWARF format. In any case INFO is to be freed with gh_info_free. */
bool gh_info_make(struct gh_info *info, const struct gh_pclntab *tab,
		  const struct gh_packages *packages, struct gh_strings *strings,
		  const struct gh_slots *slots, struct gh_error *err);

void gh_info_free(struct gh_info *info);

#endif
