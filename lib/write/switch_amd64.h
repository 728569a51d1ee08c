/* How the assembly functions of the runtime change stacks on amd64, by their instructions. */
#ifndef GH_WRITE_SWITCH_AMD64_H
#define GH_WRITE_SWITCH_AMD64_H

#include "lib/write/stackswitch.h"

/* Finds runtime.allm, and m.alllink, in FUNC, runtime.mcommoninit, which puts its m first in that
 * list. Does nothing where the code is not like that, or not amd64. */
void gh_switch_amd64_allm(struct gh_runtime *runtime, const struct gh_pclntab *tab,
			  const struct gh_func *func);

/* Finds the offsets m.curg and g.sched.sp in FUNC, runtime.systemstack, which compares the one with
 * the g that runs, and returns by the other. */
void gh_switch_amd64_offsets(struct gh_runtime *runtime, const struct gh_pclntab *tab,
			     const struct gh_func *func);

/* Adds the code of FUNC, which moves SP freely, that runs on another stack: from its first move of
 * SP on. */
void gh_switch_amd64_add(struct gh_switches *switches, const struct gh_pclntab *tab,
			 const struct gh_func *func);

#endif
