/* How far SP is from where it was at a function's entry, in programs of Go 1.0 and 1.1: their
 * tables have only the size of the frame, so it is read off the few instructions by which the
 * linker moves SP.
 *
 * Source: noops in src/cmd/6l/pass.c (8l, 5l) and ginscall in src/cmd/6g/ggen.c of Go 1.1. */
#ifndef GH_PCLNTAB_PLAN9_FRAME_H
#define GH_PCLNTAB_PLAN9_FRAME_H

#include "lib/elf/image.h"
#include "lib/pclntab/pcvalue_write.h"

/* Adds to WRITER, which stands at ENTRY, the stack deltas of the function from ENTRY to END whose
 * symbols tell of a frame of SIZE bytes, the return address included. Where the code does not look
 * as expected it has its frame from the second instruction on, as the runtime takes it. */
void gh_plan9_frame_write(struct gh_pcvalue_writer *writer, const struct gh_image *image,
			  uint64_t entry, uint64_t end, uint64_t size);

#endif
