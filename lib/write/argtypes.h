/* The types of arguments in DWARF, as far as they are known: integers, floating-point numbers,
 * pointers to uintptr, and structs of them, whose fields are called _0, _1 and so on. What has
 * one or two bytes is more often unsigned in Go programs, what has more is more often int. */
#ifndef GH_WRITE_ARGTYPES_H
#define GH_WRITE_ARGTYPES_H

#include "lib/util/buffer.h"
#include "lib/write/argplaces.h"

/* The fields are private. */
struct gh_arg_types {
	struct gh_buffer *info; /* .debug_info; not owned */
	uint32_t integers[9];   /* offset in it of the type of so many bytes */
	uint32_t floats[9];
	uint32_t pointer;
	void *structs; /* by their words, for tsearch */
};

/* Appends a unit with the types that are no structs to INFO, which outlives TYPES. WORD is the size
 * of a pointer, in bytes. To be freed with gh_arg_types_free. */
void gh_arg_types_init(struct gh_arg_types *types, struct gh_buffer *info, uint8_t word);

/* The offset in .debug_info of the type of the argument that the COUNT words at PLACES are. A
 * struct that is not there yet is added: no entry but a unit may be in the making. */
uint32_t gh_arg_type(struct gh_arg_types *types, const struct gh_arg_place *places, size_t count);

void gh_arg_types_free(struct gh_arg_types *types);

#endif
