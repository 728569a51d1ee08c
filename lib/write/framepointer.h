/* Where functions save their caller's frame pointer. */
#ifndef GH_WRITE_FRAMEPOINTER_H
#define GH_WRITE_FRAMEPOINTER_H

#include "lib/pclntab/pclntab.h"

/* The DWARF number of the frame pointer; 0 if Go keeps none on the machine ARCH. */
uint8_t gh_frame_pointer(const struct gh_arch *arch);

/* The address from which on FUNC has saved the frame pointer, by the instructions at START, where
 * its stack delta grows from 0 to DELTA; 0 if it does not save it there. The forms are those of the
 * prologues that Go's assembler makes (preprocess in src/cmd/internal/obj/<arch>/obj*.go). */
uint64_t gh_frame_pointer_saved(const struct gh_pclntab *tab, const struct gh_func *func,
				uint64_t start, int32_t delta);

/* How far below the CFA it is saved, in bytes, where the stack delta is DELTA. */
uint64_t gh_frame_pointer_place(const struct gh_arch *arch, int32_t delta);

#endif
