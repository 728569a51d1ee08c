/* The arguments of functions in DWARF, where they are surely known: at the end of the prologue,
 * where a breakpoint on the function is. Nothing tells which memory or register holds a variable
 * that is changed later. They are variables of a block of that place: as parameters they would be
 * in each frame of a backtrace, optimized out. They are called arg0, arg1 and so on, the parts of
 * aggregates arg1_0, arg1_1, as Go's tracebacks count them. DWARF 4, sections 3.5, 4.1 and 5.1. */
#ifndef GH_WRITE_DWARF_ARGS_H
#define GH_WRITE_DWARF_ARGS_H

#include "lib/util/buffer.h"
#include "lib/write/argregs.h"

/* The fields are private. */
struct gh_arg_writer {
	const struct gh_pclntab *tab;
	struct gh_buffer *info; /* .debug_info */
	uint32_t types[9];      /* offset in it of the unsigned integer of so many bytes */
	uint32_t floats[9];     /* the same of the floating-point number */
	struct gh_arg_registers registers; /* of the function */
	size_t left;                       /* bytes of DWARF that may still be written */
};

/* Appends a unit with the types to INFO, if there are arguments. Everything given outlives WRITER,
 * which needs no freeing. */
void gh_args_init(struct gh_arg_writer *writer, const struct gh_pclntab *tab,
		  struct gh_buffer *info);

/* Starts FUNC, whose first inlined call is at INLINED, which has a block of its own. Returns
 * whether any of its arguments is known. */
bool gh_args_begin(struct gh_arg_writer *writer, const struct gh_func *func, uint64_t inlined);

/* Writes the function's arguments in a block, as a child of the entry written last. */
void gh_args_write(const struct gh_arg_writer *writer);

#endif
