/* Code that runs on another stack than its function was called on. */
#ifndef GH_WRITE_STACKSWITCH_H
#define GH_WRITE_STACKSWITCH_H

#include "lib/pclntab/pclntab.h"

/* Where the value that SP had on the stack of the caller is, while another stack is in use. */
enum gh_switch_kind {
	GH_SWITCH_LOST,     /* not known */
	GH_SWITCH_REGISTER, /* in a register that calls preserve */
	GH_SWITCH_SAVED,    /* saved on the other stack */
	GH_SWITCH_DEPTH,    /* saved there, as its distance from the top of a goroutine's stack */
	GH_SWITCH_RUNNING,  /* in sched.sp of the goroutine that the thread runs (m.curg) */
	GH_SWITCH_CALLED,   /* the same, and on amd64 if it is the goroutine that is at SP; with a
			       link   register, in sched.pc is where it goes on */
};

struct gh_switch {
	uint64_t start; /* address of the code's first instruction, or of the call that it returns
			   from */
	uint64_t end;   /* one past its last */
	enum gh_switch_kind kind;
	uint8_t reg;     /* DWARF number of the register */
	uint8_t sp_slot; /* where SP or the distance is saved, in bytes above SP */
	uint8_t g_slot;  /* where the goroutine (a *g) is saved */
	int32_t frame;   /* distance of the CFA above that value, in bytes */
};

/* What is known of the runtime's variables and structs: runtime.g and runtime.m of
 * src/runtime/runtime2.go. Zeros where it was not found. */
struct gh_runtime {
	uint64_t allm;   /* address of runtime.allm, the list of all threads */
	uint64_t mstart; /* address of runtime.mstart, the first function of a thread's own stack */
	uint64_t systemstack_switch; /* address of the function of that name, where it is but a
					return: before Go 1.21 */
	uint32_t m_alllink;          /* offset in m of the next one in the list, in bytes */
	uint32_t m_curg;             /* in m: of the goroutine that it runs */
	uint32_t g_m;                /* in g: of the m that runs it; where a register holds g */
	uint32_t
	    g_sched_sp; /* in g: of SP while other code than the goroutine's runs; pc is next */
};

/* The offsets that are the same in all releases that have g.stack (Go 1.4), on machines with
 * pointers of 8 bytes. */
#define GH_G_STACK_HI 8 /* in g: one past its stack, whose start comes first */
#define GH_M_G0       0 /* in m: the g of its own stack */

struct gh_switches {
	struct gh_switch *list; /* by address, none overlapping another; owned */
	size_t count;
	size_t capacity;
	bool failed; /* memory ran out */
	struct gh_runtime runtime;
};

/* Finds all such code of the program: in functions that move SP freely, by what the machine's
 * instructions do (amd64, arm64), else from a function's second instruction on, as GH_SWITCH_LOST.
 * False (ERR filled) if a function cannot be read or memory ran out; in any case SWITCHES is to be
 * freed.
 */
bool gh_switches_find(struct gh_switches *switches, const struct gh_pclntab *tab,
		      struct gh_error *err);

void gh_switches_free(struct gh_switches *switches);

/* Adds one; what memory running out loses is told by gh_switches_find. */
void gh_switches_add(struct gh_switches *switches, const struct gh_switch *code);

#endif
