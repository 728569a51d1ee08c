/* Variables that tell which goroutine a thread runs: of the unit of types, and in no function, so
 * that they can be named wherever the program stops.
 *
 *	goid                  the goroutine's id; 0 where the thread runs none
 *	g                     a pointer to its runtime.g; nil where the thread runs none
 *
 * What else there is serves to keep a goroutine on its thread while it is stepped through, as
 * runtime.LockOSThread would (src/runtime/proc.go):
 *
 *	_goheap_m             the address of the thread's runtime.m
 *	_goheap_g             the same as g, a number; no variable of a function hides it
 *	_goheap_goid          the same as goid
 *	_goheap_hold          1 if the goroutine is not locked to the thread; 2 if it is, without
 *	                      the count that LockOSThread keeps; else 0
 *	_goheap_lockedm       g.lockedm
 *	_goheap_lockedg       m.lockedg
 *	_goheap_preempted     m.signalPending, while which is 1 no signal to preempt is sent
 *	_goheap_stack         one past the goroutine's stack
 *	_goheap_text          the address of runtime.text
 *
 * Neither a register nor the thread's storage tells the goroutine in all code: on amd64 assembly
 * and C functions use R14, and debuggers do not let an expression have the thread's storage. So the
 * thread is the one in runtime.allm on one of whose stacks SP is. Where the place of that list is
 * not known, it is by the register. */
#ifndef GH_DEBUGFILE_DWARF_GOROUTINE_H
#define GH_DEBUGFILE_DWARF_GOROUTINE_H

#include "lib/debugfile/dwarf_type_entries.h"

/* Adds the variables to UNIT, of whose types runtime.g and runtime.m tell where the fields are.
 * Without those, or without a way to find the thread, nothing is added. */
void gh_dwarf_goroutine_add(struct gh_type_unit *unit, const struct gh_runtime *runtime);

#endif
