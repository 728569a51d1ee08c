/* Functions that may be called where the compiler tells which words of the caller's frame hold
 * pointers. */
#ifndef GH_WRITE_CALLEE_H
#define GH_WRITE_CALLEE_H

#include "lib/pclntab/pclntab.h"
#include "lib/util/buffer.h"

/* The fields are private. */
struct gh_callees {
	struct gh_buffer entries; /* addresses, ascending: uint64_t */
};

/* Finds the functions of TAB, all but those that the compiler calls where the garbage collector
 * never looks at the stack, and writes no pointer maps: they are known by their names. See
 * hasStackMap in src/cmd/compile/internal/liveness/plive.go, and the operations without call: true
 * in src/cmd/compile/internal/ssa/_gen. CALLEES is to be freed with gh_callees_free, which returns
 * whether memory sufficed. */
void gh_callees_find(struct gh_callees *callees, const struct gh_pclntab *tab);
bool gh_callees_free(struct gh_callees *callees);

/* Whether one of them begins at ADDRESS. */
bool gh_callees_have(const struct gh_callees *callees, uint64_t address);

#endif
