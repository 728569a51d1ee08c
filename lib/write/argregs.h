/* In which registers a function's arguments are when its prologue has run. */
#ifndef GH_WRITE_ARGREGS_H
#define GH_WRITE_ARGREGS_H

#include "lib/pclntab/arginfo.h"

/* A word of an argument and where it is. */
struct gh_arg_register {
	struct gh_arg arg;
	uint8_t number; /* of the register, as DWARF numbers them */
	bool is_float;  /* it is passed as floating-point numbers are */
};

struct gh_arg_registers {
	struct gh_arg_register items[GH_MAX_ARGS];
	size_t count;
	uint64_t address; /* the registers hold them up to there, the end of the prologue */
};

/* Whether the functions of TAB have arguments that can be found: those of amd64, from Go 1.18. */
bool gh_arg_registers_told(const struct gh_pclntab *tab);

/* Finds the arguments of FUNC that are passed in registers, by the code that saves them all where
 * the function asks for a larger stack (spillArgs in src/cmd/internal/obj/x86/obj6.go). None are
 * given for a function that has no such code. */
void gh_arg_registers_find(struct gh_arg_registers *registers, const struct gh_pclntab *tab,
			   const struct gh_func *func);

#endif
