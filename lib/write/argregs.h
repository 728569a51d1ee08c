/* The registers that arguments are passed in: src/cmd/compile/abi-internal.md. */
#ifndef GH_WRITE_ARGREGS_H
#define GH_WRITE_ARGREGS_H

#include <stddef.h>

#include "lib/elf/arch.h"

/* Registers that follow each other as DWARF numbers them. */
struct gh_register_run {
	uint8_t first;
	uint8_t count;
};

/* Those of the machine ARCH, in *COUNT runs; none where arguments are in memory. Calls leave
 * nothing of a caller's in them, in any release. */
const struct gh_register_run *gh_arg_registers(const struct gh_arch *arch, size_t *count);

#endif
