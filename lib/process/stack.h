/* The frames of a goroutine's stack, by the program's pclntab.
 *
 * The rules are those of gentraceback, later type unwinder, in src/runtime/traceback.go. */
#ifndef GH_PROCESS_STACK_H
#define GH_PROCESS_STACK_H

#include "lib/process/goroutine.h"

struct gh_stack_site;

/* A walk over the frames of one goroutine after the other. */
struct gh_stack {
	struct gh_process *process;   /* not owned */
	struct gh_stack_site *sites;  /* what was looked up; owned */
	struct gh_registers *threads; /* the process's, by their SP; owned */
	uint64_t low;                 /* where the goroutine's stack is */
	uint64_t high;
	bool first;       /* nothing was walked over yet */
	bool entering;    /* the next frame is of a function that entered a system call */
	bool interrupted; /* the next frame is a thread's, anywhere in its code */
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
	uint64_t pc;      /* a return address but for the top frame */
	uint64_t entry;   /* of its function */
	const char *name; /* of the function, in the program */
	uint64_t above;   /* bytes above the frame up to the end of the function's arguments */
};

/* Prepares for walks. False if memory ran out. To be freed with gh_stack_free. */
bool gh_stack_open(struct gh_stack *stack, struct gh_process *process);

/* Starts a walk over the frames of G: from the registers of the thread whose SP is in its stack if
 * it runs, from the call that entered the system call if it is in one, else from where it goes on
 * when it runs again. */
void gh_stack_start(struct gh_stack *stack, const struct gh_goroutine *g);

/* Gives the next frame, callees first. False at the end, which is where a function is unknown or
 * its caller cannot be found, too. */
bool gh_stack_next(struct gh_stack *stack, struct gh_stack_frame *frame);

void gh_stack_free(struct gh_stack *stack);

#endif
