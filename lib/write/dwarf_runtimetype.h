/* The entries of the runtime's own types, which have no descriptors, by what runtimetype.h says. */
#ifndef GH_WRITE_DWARF_RUNTIMETYPE_H
#define GH_WRITE_DWARF_RUNTIMETYPE_H

#include "lib/write/dwarf_typeunit.h"
#include "lib/write/runtimetype.h"

/* The entry of the runtime's type called NAME, whose number in gh_runtime_types goes to *INDEX;
 * GH_NO_ENTRY if it is not listed. */
gh_entry gh_type_runtime(struct gh_type_unit *unit, const char *name, unsigned *index);

/* A field that is the pointer TYPE. */
struct gh_type_value gh_type_pointer_value(const struct gh_type_unit *unit, gh_entry type);

/* Writes runtime type INDEX as entry NUMBER called NAME, with ARGUMENTS for the types "$N". Gives a
 * field of it. */
struct gh_type_value gh_type_add_runtime(struct gh_type_unit *unit, gh_entry number, unsigned index,
					 uint32_t name, const struct gh_type_value *arguments);

/* Writes the runtime's types that were asked for by name, and by them. */
void gh_type_add_runtimes(struct gh_type_unit *unit);

/* Writes the predeclared types that were asked for and have no descriptor. */
void gh_type_add_basics(struct gh_type_unit *unit);

#endif
