/* The registers that a function's arguments are passed in, by the code that saves them all where
 * the function asks for a larger stack (SpillRegisterArgs in src/cmd/internal/obj/link.go). */
#ifndef GH_WRITE_SPILL_H
#define GH_WRITE_SPILL_H

#include "lib/pclntab/pclntab.h"

/* The most registers that arguments are passed in: 16 for integers, 16 for floating-point numbers.
 * src/cmd/compile/abi-internal.md. */
#define GH_MAX_SPILLS 32

/* A register's place on the stack. */
struct gh_spill {
	uint32_t offset; /* from SP at the function's entry, in bytes */
	uint8_t size;    /* in bytes */
	uint8_t number;  /* of the register, as DWARF numbers them */
	bool is_float;   /* it is one for floating-point numbers */
};

struct gh_spills {
	struct gh_spill items[GH_MAX_SPILLS];
	size_t count;
};

/* Finds those of FUNC: none if it has no such code, or is for another machine than amd64, arm64,
 * loong64, ppc64, riscv64 and s390x. */
void gh_spills_find(struct gh_spills *spills, const struct gh_pclntab *tab,
		    const struct gh_func *func);

/* For those who find them: adds one, if there is room; and whether ADDRESS is where code goes for a
 * larger stack. */
void gh_spill_add(struct gh_spills *spills, struct gh_spill spill);
bool gh_spill_is_morestack(const struct gh_pclntab *tab, uint64_t address);

#endif
