/* Where a function's prologue ends. */
#ifndef GH_WRITE_PROLOGUE_H
#define GH_WRITE_PROLOGUE_H

#include "lib/pclntab/pclntab.h"

/* The address of the first instruction after the stack check and the frame's set-up, which shows in
 * the table of stack deltas (pcsp); FUNC's entry if it sets up no frame. */
uint64_t gh_prologue_end(const struct gh_pclntab *tab, const struct gh_func *func);

#endif
