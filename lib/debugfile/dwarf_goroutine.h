/* Variables that tell which goroutine a thread runs: of a unit, and in no function, so that
 * they can be named wherever the program stops.
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

#include "lib/code/code.h"
#include "lib/rtype/rtype.h"
#include "lib/util/buffer.h"

/* What the variables are of. */
enum gh_goroutine_type {
	GH_GOROUTINE_INT,
	GH_GOROUTINE_UINT32,
	GH_GOROUTINE_UINT64,
	GH_GOROUTINE_UINTPTR,
	GH_GOROUTINE_G, /* a pointer to runtime.g */
};

/* Where they are written. */
struct gh_goroutine_writer {
	/* Adds one, which is where the expression LOCATION says, if that has not failed. */
	void (*add)(void *context, const char *name, enum gh_goroutine_type type,
		    const struct gh_buffer *location);
	void *context;
};

/* Adds the variables of a program of Go 1.RELEASE, of whose TYPES runtime.g and runtime.m tell
 * where the fields are. Without those, or without a way to find the thread, nothing is added. */
void gh_dwarf_goroutine_add(const struct gh_goroutine_writer *writer, const struct gh_rtypes *types,
			    int release, const struct gh_runtime *runtime);

/* The number of the struct type called NAME; GH_NO_RTYPE if there is none. */
uint32_t gh_rtypes_struct(const struct gh_rtypes *types, const char *name);

#endif
