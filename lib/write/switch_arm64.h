/* How the assembly functions of the runtime change stacks on arm64, by their instructions. */
#ifndef GH_WRITE_SWITCH_ARM64_H
#define GH_WRITE_SWITCH_ARM64_H

#include "lib/write/stackswitch.h"

/* Finds the offsets g.m, m.curg and g.sched.sp in FUNC, runtime.systemstack, which returns by them
 * to the goroutine. Does nothing where the code is not like that, or not arm64. */
void gh_switch_arm64_offsets(struct gh_runtime *runtime, const struct gh_pclntab *tab,
			     const struct gh_func *func);

/* Adds the code of FUNC, which moves SP freely, that runs on another stack: from its first move of
 * SP on. */
void gh_switch_arm64_add(struct gh_switches *switches, const struct gh_pclntab *tab,
			 const struct gh_func *func);

#endif
