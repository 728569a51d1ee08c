/* The goroutines of a process: runtime.allgs and the runtime.g structs that it lists.
 *
 * Layout: type g and type gobuf in src/runtime/runtime2.go of each release. */
#ifndef GH_PROCESS_GOROUTINE_H
#define GH_PROCESS_GOROUTINE_H

#include "lib/process/process.h"

/* What else than the statuses of a heap dump a goroutine may have (src/runtime/runtime2.go). */
enum {
	GH_G_DEAD = 6,       /* it ended; its struct waits to be used again */
	GH_G_DEAD_EXTRA = 11 /* the same, for a thread of C's */
};

/* Where the fields are in runtime.g, in bytes. */
struct gh_g_layout {
	uint32_t lr;          /* sched.lr */
	uint32_t syscall_sp;  /* syscallpc follows */
	uint32_t status;      /* atomicstatus, 4 bytes */
	uint32_t id;          /* goid, 8 bytes */
	uint32_t wait_since;  /* 8 bytes */
	uint32_t wait_reason; /* 1 byte */
	uint32_t creator;     /* gopc; startpc is two words on. 0 if it was not found */
};

/* All goroutines. */
struct gh_goroutines {
	struct gh_g_layout layout;
	uint64_t list;  /* address of the array of pointers to them */
	uint64_t count; /* of pointers */
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
	uint64_t wait_since; /* ns of the process's monotonic clock; 0 if unknown */
	uint8_t wait_reason; /* number of it */
	uint64_t creator_pc; /* of the go statement that made it, a return address */
	uint64_t start_pc;   /* entry of its first function */
};

/* Finds the goroutines of PROCESS. A stripped program does not say where runtime.allgs is: it is
 * the longest slice in the program's variables of whose elements each points to what can only be a
 * runtime.g. Likewise for the fields whose place differs from release to release. False (ERR
 * filled) if there is none: the process has not got to main.main, or its memory cannot be read. */
bool gh_goroutines_find(struct gh_goroutines *all, struct gh_process *process,
			struct gh_error *err);

/* Reads goroutine NUMBER, counted from 0 and less than all->count. False if it cannot be read. */
bool gh_goroutine_read(const struct gh_goroutines *all, struct gh_process *process, uint64_t number,
		       struct gh_goroutine *g);

#endif
