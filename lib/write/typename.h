/* The names of the types and of the itabs, in the string table that the symbols and the DWARF
 * share. */
#ifndef GH_WRITE_TYPENAME_H
#define GH_WRITE_TYPENAME_H

#include "lib/rtype/rtype.h"
#include "lib/util/buffer.h"
#include "lib/write/strings.h"

/* Something in the program's data that has a name. */
struct gh_data_symbol {
	uint64_t address;
	uint64_t size; /* in bytes */
	uint32_t name; /* offset in the string table */
};

/* Bytes of a type's symbol's name before the type's: "type:", in Go before 1.20 "type.". */
#define GH_TYPE_PREFIX 5

struct gh_typenames {
	uint32_t *offsets;        /* of each type's symbol's name in the string table, by number; 0
				     if it has none; owned */
	struct gh_buffer symbols; /* struct gh_data_symbol of the types and the itabs; owned */
};

/* Names TYPES and the itabs of their program in STRINGS. An itab's symbol is "go:itab.*T,I"
 * ("go.itab.*T,I" before 1.20), T and I being the types. False (ERR filled) if memory ran out. To
 * be freed with gh_typenames_free in any case. */
bool gh_typenames_make(struct gh_typenames *names, const struct gh_rtypes *types,
		       struct gh_strings *strings, struct gh_error *err);

void gh_typenames_free(struct gh_typenames *names);

#endif
