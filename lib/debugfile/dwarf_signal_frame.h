/* The frame of a signal in .debug_frame: the kernel puts it on the stack, and the address of
 * runtime.sigreturn as what the handler returns to. Where a machine's debuggers know it by the code
 * there, whatever the function is called, nothing is to be said. */
#ifndef GH_DEBUGFILE_DWARF_SIGNAL_FRAME_H
#define GH_DEBUGFILE_DWARF_SIGNAL_FRAME_H

#include "lib/pclntab/pclntab.h"

/* Whether it is described for the machine ARCH. */
bool gh_signal_frame_known(const struct gh_arch *arch);

/* Adds to OUT, .debug_frame, the description of FUNC, to which signal handlers return. It begins an
 * instruction before the function. */
void gh_signal_frame_add(struct gh_buffer *out, const struct gh_arch *arch,
			 const struct gh_func *func);

#endif
