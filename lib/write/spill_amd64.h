/* The code of amd64 that saves a function's arguments: in src/cmd/internal/obj/x86/obj6.go. */
#ifndef GH_WRITE_SPILL_AMD64_H
#define GH_WRITE_SPILL_AMD64_H

#include "lib/write/spill.h"

/* Adds what the function with CODE, which is at ENTRY, saves. False if it has no such code. */
bool gh_spill_amd64(struct gh_spills *spills, struct gh_cursor *code, const struct gh_pclntab *tab,
		    uint64_t entry);

#endif
