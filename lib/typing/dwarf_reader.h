/* DWARF of Go programs, as libdwarf reads it: what the files beside this one share. */
#ifndef GH_TYPING_DWARF_READER_H
#define GH_TYPING_DWARF_READER_H

#include <dwarf.h>
#include <libdwarf.h>
#include <stdbool.h>
#include <stdint.h>

/* Attributes of Go's own (cmd/internal/dwarf/dwarf.go). */
enum {
	GH_DW_AT_go_kind = 0x2900,         /* reflect.Kind */
	GH_DW_AT_go_elem = 0x2902,         /* the type of a slice's elements */
	GH_DW_AT_go_runtime_type = 0x2904, /* where the type's descriptor is */
};

/* The number in attribute NAME of DIE. False if there is none. */
bool gh_dwarf_number(Dwarf_Die die, Dwarf_Half name, uint64_t *number);

/* The offset in .debug_info of what attribute NAME of DIE refers to. False if there is none. */
bool gh_dwarf_reference(Dwarf_Die die, Dwarf_Half name, uint64_t *offset);

/* The name of DIE; "" if it has none. It lives as long as the DWARF is open. */
const char *gh_dwarf_name(Dwarf_Die die);

/* The tag of DIE; 0 if it cannot be read. */
Dwarf_Half gh_dwarf_tag(Dwarf_Die die);

/* The entry at OFFSET in .debug_info, to be freed; NULL if there is none. */
Dwarf_Die gh_dwarf_at(Dwarf_Debug dwarf, uint64_t offset);

/* The next sibling of DIE, which is freed, or with FIRST_CHILD its first child, and it is not; NULL
 * if there is none. */
Dwarf_Die gh_dwarf_sibling(Dwarf_Debug dwarf, Dwarf_Die die);
Dwarf_Die gh_dwarf_child(Dwarf_Die die);

void gh_dwarf_free(Dwarf_Debug dwarf, Dwarf_Die die);

#endif
