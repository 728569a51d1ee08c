/* The same code of machines whose instructions are easily told apart: in the files
 * src/cmd/internal/obj/<arch>/obj*.go. */
#ifndef GH_WRITE_SPILL_RISC_H
#define GH_WRITE_SPILL_RISC_H

#include "lib/write/spill.h"

/* Adds what the function with CODE, which is at ENTRY, saves. False if it has no such code. */
bool gh_spill_risc(struct gh_spills *spills, struct gh_cursor *code, const struct gh_pclntab *tab,
		   uint64_t entry);

#endif
