/* The structs behind channels and maps, one for each that is made of other types. */
#ifndef GH_WRITE_DWARF_GENERICTYPE_H
#define GH_WRITE_DWARF_GENERICTYPE_H

#include "lib/write/dwarf_typeunit.h"

/* The pointer to hchan<ELEM>, written if it is not yet; no entry may be begun. Types are given by
 * number. */
gh_entry gh_type_hchan(struct gh_type_unit *unit, uint32_t elem);

/* The same of the pointer to hash<KEY,ELEM>, or, where GROUP is that of a Swiss map, to
 * map<KEY,ELEM>. GROUP is the struct that has the entries. */
gh_entry gh_type_map(struct gh_type_unit *unit, uint32_t key, uint32_t elem, uint32_t group);

#endif
