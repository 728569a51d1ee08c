/* The goroutines of a process: runtime.allgs and the runtime.g structs that it lists.
 *
 * Layout: type g and type gobuf in src/runtime/runtime2.go of each release. */
#ifndef GH_PROCESS_GOROUTINE_H
#define GH_PROCESS_GOROUTINE_H

#include "lib/process/g_layout.h"
#include "lib/process/process.h"
#include "lib/util/numbermap.h"

/* What else than the statuses of a heap dump a goroutine may have (src/runtime/runtime2.go). */
enum {
	GH_G_DEAD = 6,       /* it ended; its struct waits to be used again */
	GH_G_DEAD_EXTRA = 11 /* the same, for a thread of C's */
};

/* All goroutines, and a walk over them. */
struct gh_goroutines {
	struct gh_g_layout layout;
	uint64_t list;  /* address of the array of pointers to them; or, where they are a list,
			   of the next that the walk comes to */
	uint64_t count; /* of pointers */
	uint64_t next;  /* the pointer that the walk goes on with, counted from 0 */
	uint64_t lost;  /* pointers passed over that led to no goroutine, or could not be read */
	struct gh_numbermap seen; /* the addresses of those passed over; owned */
	bool failed;              /* memory ran out, and the walk ended */
};

/* A goroutine, as runtime.g has it; pointers as in the process. */
struct gh_goroutine {
	uint64_t address; /* of the struct */
	uint64_t stack_low;
	uint64_t stack_high; /* one past its stack */
	uint64_t top_panic;
	uint64_t top_defer;
	uint64_t thread;     /* its runtime.m; 0 if it is on none */
	uint64_t sp;         /* sched: where it goes on when it runs again */
	uint64_t pc;         /* the same */
	uint64_t context;    /* the same: the closure pointer */
	uint64_t lr;         /* the same: the link register; 0 if it is on the stack */
	uint64_t syscall_sp; /* of the call that entered the system call or C; 0 if it is in none */
	uint64_t syscall_pc;
	uint32_t status; /* without the bit that says that its stack is being scanned */
	uint64_t id;
	uint64_t wait_since;    /* ns of the process's monotonic clock; 0 if unknown */
	uint8_t wait_reason;    /* number of it, Go 1.11 on */
	uint64_t reason_text;   /* to Go 1.10: address of its text; 0 if there is none */
	uint64_t reason_length; /* of the text, in bytes; 0 if a 0 ends it */
	uint64_t stktop;        /* to Go 1.3: address of the Stktop above its stack; else 0 */
	uint64_t next;          /* Go 1.2: the next goroutine; 0 at the end */
	bool system;            /* to Go 1.4: the runtime made it for itself */
	uint64_t creator_pc;    /* of the go statement that made it, a return address */
	uint64_t start_pc;      /* entry of its first function */
	uint64_t creator_id; /* of the goroutine that made it; 0 if none did or it is not known */
	bool locked;         /* to its thread; false also where that is not known */
	uint64_t labels;     /* of profiles: address of its labelMap; 0 if there is none */
};

/* Finds the goroutines of PROCESS. A stripped program does not say where runtime.allgs is: it is
 * the longest slice in the program's variables of whose elements, as far as they are in memory,
 * most point to what can only be a runtime.g. Likewise for the fields whose place differs from
 * release to release. False (ERR filled) if there is none: the process has not got to main.main, or
 * its memory cannot be read. On success to be freed with gh_goroutines_free. */
bool gh_goroutines_find(struct gh_goroutines *all, struct gh_process *process,
			struct gh_error *err);

/* Reads the next goroutine that has not ended, in the runtime's order, each once. Those that cannot
 * be read, and what is no goroutine, are passed over and counted in ALL->lost. False at the end. */
bool gh_goroutines_next(struct gh_goroutines *all, struct gh_process *process,
			struct gh_goroutine *g);

/* The thread whose stack pointer is SP runs G: on its stack, or, in a call of C or the runtime, on
 * that of G's own thread (m.g0, the first field of a runtime.m; not to Go 1.3). */
bool gh_goroutine_is_on(const struct gh_goroutines *all, struct gh_process *process,
			const struct gh_goroutine *g, uint64_t sp);

/* Points *TEXT at why G waits, in the program, and returns its length in bytes: 0 from Go 1.11 on,
 * where reasons have numbers, or if it is not there. */
size_t gh_goroutine_reason(const struct gh_process *process, const struct gh_goroutine *g,
			   const char **text);

void gh_goroutines_free(struct gh_goroutines *all);

#endif
