/* The DWARF expressions that lead from one stack to another. */
#ifndef GH_WRITE_DWARF_SWITCH_H
#define GH_WRITE_DWARF_SWITCH_H

#include "lib/util/buffer.h"
#include "lib/write/stackswitch.h"

/* Adds to OUT, which is empty, the expression of the CFA in CODE, of a kind from GH_SWITCH_SAVED
 * on. ARCH is the machine, RUNTIME the program's. Where the thread runs no goroutine, which the
 * last two kinds can find, it is SP. */
void gh_switch_cfa(struct gh_buffer *out, const struct gh_switch *code, const struct gh_arch *arch,
		   const struct gh_runtime *runtime);

/* Adds the expression of the return address there, given the CFA, for the last two kinds: where the
 * CFA is SP, it is in mstart, as a thread's own stack begins there. */
void gh_switch_return(struct gh_buffer *out, const struct gh_switch *code,
		      const struct gh_arch *arch, const struct gh_runtime *runtime);

/* Adds the expression of the return address, given the CFA, in runtime.cgocallback. Up to Go 1.20
 * it can be the very entry of systemstack_switch: a debugger, which looks for what calls at the
 * address before, would find another function. */
void gh_switch_callback_return(struct gh_buffer *out, const struct gh_arch *arch,
			       const struct gh_runtime *runtime);

#endif
