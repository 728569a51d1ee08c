/* Calls that the runtime, or a debugger, puts into a goroutine that a signal stopped, on machines
 * whose calls leave the return address in the link register. */
#ifndef GH_WRITE_INJECTED_H
#define GH_WRITE_INJECTED_H

#include "lib/elf/arch.h"

/* How such a call is made (preparePanic and pushCall of src/runtime/signal_*.go): SP is lowered,
 * the link register saved there, and then set to where the goroutine stopped. */
struct gh_injected {
	uint16_t machine; /* ELF e_machine */
	uint8_t gap;      /* how far SP is lowered, in bytes */
	uint8_t column;   /* DWARF number of the pc, or of the column that the ABI has for it where
			     the link register has a value of its own */
};

/* NAME is that of a function that is called like that, at any instruction: by signal handlers or,
 * debugCallV1 and its successors, by debuggers. */
bool gh_is_injected(const char *name);

/* How it is done on the machine ARCH for the function NAME; NULL if that is not called like that,
 * or calls push the return address there. */
const struct gh_injected *gh_injected(const struct gh_arch *arch, const char *name);

#endif
