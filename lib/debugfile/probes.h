/* Where control leaves the frames of a goroutine without returning from them: where a panic was
 * recovered, the deferring function goes on.
 *
 * A debugger that waits for a function to return has to know. GDB stops a step where the C++
 * unwinder would go, which it learns at libgcc's probe `unwind' from that probe's second argument.
 * So here are probes of that name: SystemTap's notes of type 3 (sourceware.org/systemtap/wiki,
 * UserSpaceProbeImplementation). There is none where goroutines end: GDB would stop at the end of
 * each goroutine during a step, and may fail when the program ends meanwhile. */
#ifndef GH_DEBUGFILE_PROBES_H
#define GH_DEBUGFILE_PROBES_H

#include "lib/debugfile/debugfile.h"
#include "lib/pclntab/pclntab.h"

/* Fills OUT with the notes: none unless the machine is amd64. False (ERR filled) if a function
 * cannot be read or memory ran out. To be freed in any case. */
bool gh_probes_make(struct gh_buffer *out, const struct gh_pclntab *tab, struct gh_error *err);

/* Adds the notes, which must outlive it, to ELF. False if memory ran out. */
bool gh_probes_add(struct gh_elf *elf, const struct gh_buffer *probes);

#endif
