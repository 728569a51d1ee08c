/* Where a function's arguments are until its prologue has run. */
#ifndef GH_WRITE_ARGPLACES_H
#define GH_WRITE_ARGPLACES_H

#include "lib/pclntab/arginfo.h"

enum gh_arg_where {
	GH_ARG_UNKNOWN,
	GH_ARG_IN_REGISTER,
	GH_ARG_IN_MEMORY,
};

/* A word of an argument and where it is. */
struct gh_arg_place {
	struct gh_arg arg;
	enum gh_arg_where where;
	bool is_float;   /* it is in a register for floating-point numbers */
	uint8_t number;  /* of the register, as DWARF numbers them */
	uint16_t offset; /* in memory, from the CFA, in bytes */
};

struct gh_arg_places {
	struct gh_arg_place items[GH_MAX_ARGS];
	size_t count;
	bool any;     /* some are known */
	uint64_t end; /* they hold from the function's entry to the instruction there, the first
			 after the prologue */
};

/* Whether the functions of TAB have arguments: from Go 1.18 on. */
bool gh_arg_places_told(const struct gh_pclntab *tab);

/* Finds those of FUNC. Where arguments are passed in registers none is known of a function that has
 * no code to save them, nor, on any machine, of one in assembly. */
void gh_arg_places_find(struct gh_arg_places *places, const struct gh_pclntab *tab,
			const struct gh_func *func);

#endif
