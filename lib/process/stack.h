/* The frames of a goroutine's stack, by the program's pclntab.
 *
 * The rules are those of gentraceback, later type unwinder, in src/runtime/traceback.go. */
#ifndef GH_PROCESS_STACK_H
#define GH_PROCESS_STACK_H

#include "lib/process/goroutine.h"

struct gh_stack_site;

/* A signal, as siginfo_t has it. */
struct gh_signal {
	uint32_t number;  /* 0 if there is none */
	uint32_t code;    /* si_code */
	uint64_t address; /* si_addr, where the signal has it */
};

/* A thread where it is on a stack of no signal's. */
struct gh_stack_thread {
	struct gh_registers at;
	struct gh_signal signal; /* what interrupted it there, if it is in handlers */
};

/* A walk over the frames of one goroutine after the other. */
struct gh_stack {
	struct gh_process *process;      /* not owned */
	struct gh_stack_site *sites;     /* what was looked up; owned */
	struct gh_stack_thread *threads; /* the process's, by their SP; owned */
	struct gh_registers selected;    /* of the first of them, likewise; zeros without any */
	uint64_t low;                    /* where the goroutine's stack is */
	uint64_t high;
	uint64_t stktop;   /* to Go 1.3: address of the Stktop of this segment; 0 from Go 1.4 on */
	unsigned segments; /* that were left */
	bool first;        /* nothing was walked over yet */
	bool entering;     /* the next frame is of a function that entered a system call */
	bool interrupted;  /* the next frame stands anywhere in its code, not at a call */
	bool ended;
	bool injected;  /* the function before was called by a signal's handler */
	uint64_t pc;    /* of the next frame */
	uint64_t sp;    /* of the next frame */
	uint64_t lr;    /* its return address; 0 if that is on the stack */
	bool has_flags; /* see gh_stack_end */
};

/* A frame, in the process's addresses. */
struct gh_stack_frame {
	uint64_t sp;      /* lowest address of the frame */
	uint64_t end;     /* one past it: its caller's sp */
	uint64_t pc;      /* a return address but for the top frame, and if interrupted */
	uint64_t entry;   /* of its function */
	const char *name; /* of the function, in the program */
	uint64_t above;   /* bytes above the frame up to the end of the function's arguments */
	bool interrupted; /* pc is that of the next instruction, or of the one that faulted */
};

/* Prepares for walks. False if memory ran out. To be freed with gh_stack_free. */
bool gh_stack_open(struct gh_stack *stack, struct gh_process *process);

/* Starts a walk over the frames of G: from the registers of the thread whose SP is in its stack if
 * it runs, or was before signal handlers were called; from the call that entered the system call if
 * it is in one; else from where it goes on when it runs again. */
void gh_stack_start(struct gh_stack *stack, const struct gh_goroutine *g);

/* The registers that G runs with; NULL if it does not run, or they are not known. */
const struct gh_registers *gh_stack_registers(const struct gh_stack *stack,
					      const struct gh_goroutine *g);

/* Starts a walk over the frames of THREAD, one of stack->threads, on the stack that it is on. */
void gh_stack_start_thread(struct gh_stack *stack, const struct gh_stack_thread *thread);

/* Gives the next frame, callees first. False at the end, which is where a function is unknown or
 * its caller cannot be found, too. */
bool gh_stack_next(struct gh_stack *stack, struct gh_stack_frame *frame);

void gh_stack_free(struct gh_stack *stack);

#endif
