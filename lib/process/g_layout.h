/* Where runtime.g has its fields, by release.
 *
 * Source: type g and type gobuf in src/runtime/runtime2.go (Go 1.5 on) or runtime.h (to 1.4). */
#ifndef GH_PROCESS_G_LAYOUT_H
#define GH_PROCESS_G_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* How far the stack guard is above the end of a stack, in bytes: StackGuard in
 * src/pkg/runtime/stack.h. */
#define GH_STACK_GUARD 256

/* How runtime.g says why a goroutine waits. */
enum gh_g_reason {
	GH_G_REASON_NUMBER,  /* 1 byte, Go 1.11 on */
	GH_G_REASON_STRING,  /* a Go string, 1.4 to 1.10 */
	GH_G_REASON_C_STRING /* a pointer to text that a 0 ends, to 1.3 */
};

/* Offsets are in bytes; fields are of pointer size unless told. */
struct gh_g_layout {
	uint32_t stack_low;   /* stack.lo; to Go 1.3 stackguard, GH_STACK_GUARD above it */
	uint32_t stack_high;  /* stack.hi; to Go 1.3 stackbase */
	uint32_t top_panic;   /* _panic */
	uint32_t top_defer;   /* _defer */
	uint32_t thread;      /* m */
	uint32_t sched;       /* sched.sp; sched.pc and sched.g follow */
	uint32_t context;     /* sched.ctxt */
	uint32_t lr;          /* sched.lr */
	uint32_t syscall_sp;  /* syscallpc follows */
	uint32_t status;      /* atomicstatus, 4 bytes */
	uint32_t id;          /* goid, 8 bytes */
	uint32_t wait_since;  /* 8 bytes; 0 where there is none (Go 1.2) */
	uint32_t wait_reason; /* in the form: */
	uint32_t creator;     /* gopc; 0 while it was not found */
	uint32_t start_after; /* how far startpc is after gopc; 0 where there is none (to Go 1.4) */
	uint32_t parent_before; /* how far parentGoid, 8 bytes, is before gopc; 0 where there is
				   none (to Go 1.20) */
	uint32_t locked_before; /* how far lockedm is before gopc; 0 where that is not known (to
				   Go 1.4, and if the release is not) */
	uint32_t signal_before; /* how far sig, 4 bytes, is before gopc; sigcode0, sigcode1 and
				   sigpc are right before parentGoid or gopc */
	uint32_t labels_after; /* how far labels is after gopc; 0 where there is none (to Go 1.8) or
				  that is not known */
	uint32_t system;       /* issystem, 1 byte; 0 where there is none (Go 1.5 on) */
	uint32_t next;         /* alllink, the next goroutine; 0 but in Go 1.2 */
	enum gh_g_reason form; /* of wait_reason */
	bool segmented;   /* to Go 1.3: stacks have segments, each with a Stktop at its top, and
			     syscallsp keeps its value after the call */
	bool no_capacity; /* runtime.allgs is an array and its length, not a slice (1.3) */
};

/* The layout of Go 1.MINOR, 2 or later, for pointers of WORD bytes; of the newest if MINOR is
 * negative. From Go 1.5 on the place of gopc is not known, and 0. */
struct gh_g_layout gh_g_layout_of(uint32_t word, int minor);

#endif
