/* Cleanups (runtime.AddCleanup), which a dump that the runtime wrote does not tell of. Up to
 * Go 1.25 each has a closure in the heap, of a function whose name is known, that nothing points to
 * but the runtime's record of it: what that leads to is kept for the cleanup. Go 1.26 keeps what it
 * calls outside of the heap. */
#ifndef GH_HEAP_CLEANUPS_H
#define GH_HEAP_CLEANUPS_H

#include "lib/heap/heap.h"
#include "lib/pclntab/pclntab.h"

/* Adds such closures to HEAP's roots: they are conservative, for one may be left of a cleanup that
 * has run. TAB is that of the program that wrote the dump, whose addresses are BIAS above its own.
 * False (ERR filled) if memory ran out. */
bool gh_cleanups_add(struct gh_heap *heap, const struct gh_pclntab *tab, uint64_t bias,
		     struct gh_error *err);

#endif
