/* Which words a function's arguments are made of, for tracebacks (Go 1.17 and later):
 * FUNCDATA_ArgInfo. Format: printArgs in src/runtime/traceback.go, and EmitArgInfo in
 * src/cmd/compile/internal/ssagen/ssa.go. Which of them are pointers: FUNCDATA_ArgsPointerMaps,
 * stackmap in src/runtime/symtab.go. */
#ifndef GH_PCLNTAB_ARGINFO_H
#define GH_PCLNTAB_ARGINFO_H

#include "lib/pclntab/pclntab.h"

/* The compiler tells no more words than these. */
#define GH_MAX_ARGS 10

/* gh_arg.part: the argument is no aggregate. */
#define GH_ARG_WHOLE UINT8_MAX

/* A word that is an argument, or part of one. */
struct gh_arg {
	uint8_t number;  /* of the argument, from 0 */
	uint8_t part;    /* of the aggregate, from 0, nested ones laid flat; or GH_ARG_WHOLE */
	uint8_t offset;  /* of its place in memory from that of the first argument, in bytes */
	uint8_t size;    /* in bytes: 1, 2, 4 or 8 */
	bool is_pointer; /* known to be one; others may be */
};

struct gh_args {
	struct gh_arg items[GH_MAX_ARGS];
	size_t count;
};

/* Reads the words of FUNC's arguments; as many as can be read. The memory that is theirs may hold
 * something else. */
void gh_args_read(struct gh_args *args, const struct gh_pclntab *tab, const struct gh_func *func);

#endif
