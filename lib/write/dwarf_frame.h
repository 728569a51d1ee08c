/* .debug_frame: how to find each function's caller. DWARF 4, section 6.4. */
#ifndef GH_WRITE_DWARF_FRAME_H
#define GH_WRITE_DWARF_FRAME_H

#include "lib/pclntab/pclntab.h"
#include "lib/util/buffer.h"
#include "lib/write/stackswitch.h"

/* Fills OUT with a description of each function's frame, from its table of stack deltas (pcsp), as
 * Go's linker makes it (writeframes in src/cmd/link/internal/ld/dwarf.go), and of how it
 * leads to its caller's stack in the code of SWITCHES. False (ERR filled) if a
 * function cannot be read or memory ran out. */
bool gh_frame_make(struct gh_buffer *out, const struct gh_pclntab *tab,
		   const struct gh_switches *switches, struct gh_error *err);

#endif
