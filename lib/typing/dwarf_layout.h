/* Layouts of the types that DWARF tells of: a descriptor's, where there is one; of other types,
 * what they are made of. */
#ifndef GH_TYPING_DWARF_LAYOUT_H
#define GH_TYPING_DWARF_LAYOUT_H

#include "lib/typing/dwarf_reader.h"
#include "lib/typing/layout.h"
#include "lib/util/numbermap.h"

/* A layout whose parts are not known yet. */
struct gh_dwarf_pending {
	uint64_t offset; /* of the type's entry */
	uint32_t layout; /* its number */
};

struct gh_dwarf_layouts {
	Dwarf_Debug dwarf;          /* not owned */
	struct gh_layouts *layouts; /* that are added to; not owned */
	struct gh_numbermap known;  /* layouts by the offset of their entry */
	struct gh_numbermap names;  /* before Go 1.9: types by a hash of their names */
	struct GH_VECTOR(struct gh_dwarf_pending) queue;
	bool failed; /* memory ran out */
};

/* The number of the layout of the type whose entry is at OFFSET; GH_NO_LAYOUT if it cannot be read.
 * Those of the types that it is made of are made by gh_dwarf_layouts_finish. */
uint32_t gh_dwarf_layout(struct gh_dwarf_layouts *layouts, uint64_t offset);

/* The number of that of a pointer to the type at OFFSET, of which there need be no entry. */
uint32_t gh_dwarf_layout_pointer(struct gh_dwarf_layouts *layouts, uint64_t offset);

/* Makes the layouts that others need. */
void gh_dwarf_layouts_finish(struct gh_dwarf_layouts *layouts);

void gh_dwarf_layouts_free(struct gh_dwarf_layouts *layouts);

#endif
