/* The arguments of functions in DWARF, and where they surely are: from the function's entry to the
 * end of its prologue, where a breakpoint on it is. Nothing tells which memory or register holds a
 * variable that may have been changed. They are called arg0, arg1 and so on, as Go's tracebacks
 * count them. DWARF 4, sections 2.6 and 4.1. */
#ifndef GH_WRITE_DWARF_ARGS_H
#define GH_WRITE_DWARF_ARGS_H

#include "lib/write/argtypes.h"

/* The fields are private. */
struct gh_arg_writer {
	const struct gh_pclntab *tab;
	struct gh_buffer *info; /* .debug_info */
	struct gh_buffer *loc;  /* .debug_loc */
	struct gh_arg_types types;
	struct gh_arg_places places;        /* of the function's arguments */
	uint32_t type_offsets[GH_MAX_ARGS]; /* of the type of each argument, by its first word */
	size_t left;                        /* bytes of DWARF that may still be written */
};

/* Appends a unit with the types to INFO, if there are arguments. Everything given outlives WRITER,
 * which is to be freed with gh_args_free. */
void gh_args_init(struct gh_arg_writer *writer, const struct gh_pclntab *tab,
		  struct gh_buffer *info, struct gh_buffer *loc);

/* Starts FUNC, and adds the types that it needs to its unit: no other entry may be in the making.
 * Returns whether it has arguments. */
bool gh_args_begin(struct gh_arg_writer *writer, const struct gh_func *func);

/* Writes the function's arguments, as children of the entry written last. The unit's low_pc must be
 * 0. */
void gh_args_write(const struct gh_arg_writer *writer, const struct gh_func *func);

void gh_args_free(struct gh_arg_writer *writer);

#endif
