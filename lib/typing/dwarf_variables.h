/* The variables of a program, by its DWARF: globals, and where functions have theirs in their
 * frames. */
#ifndef GH_TYPING_DWARF_VARIABLES_H
#define GH_TYPING_DWARF_VARIABLES_H

#include "lib/typing/layout.h"
#include "lib/util/error.h"

/* A variable, or a piece of one, where it is in memory. */
struct gh_variable {
	uint64_t pc;      /* of a local: where in the code it is there; else 0 */
	uint64_t start;   /* its address, or, of a local, how far above its frame's end: below 0 */
	uint64_t size;    /* in bytes */
	uint64_t offset;  /* of the piece in the variable, in bytes */
	uint32_t layout;  /* the variable's; of one that was moved to the heap, a pointer's to it */
	const char *name; /* lives as long as this */
};

struct gh_variable_list GH_VECTOR(struct gh_variable);

struct gh_variables {
	void *dwarf;                     /* libdwarf's; owned */
	struct gh_variable_list globals; /* by start */
	struct gh_variable_list locals;  /* by pc and start */
};

/* Reads the globals of the program PATH, and the locals that there are at the NPCS places in the
 * code PCS, which ascend; but not those of inlined calls whose code is in several pieces. LAYOUTS,
 * those of the program's descriptors, are added to. False (ERR filled) if it has no DWARF or memory
 * ran out. To be freed either way. */
bool gh_variables_find(struct gh_variables *variables, struct gh_layouts *layouts, const char *path,
		       const uint64_t *pcs, size_t npcs, struct gh_error *err);

/* The global at ADDRESS; NULL if there is none. */
const struct gh_variable *gh_variables_global(const struct gh_variables *variables,
					      uint64_t address);

/* The local that is at OFFSET from its frame's end, which is negative, where PC is executed; NULL
 * if there is none. */
const struct gh_variable *gh_variables_local(const struct gh_variables *variables, uint64_t pc,
					     int64_t offset);

void gh_variables_free(struct gh_variables *variables);

#endif
