/* The variables of a function whose address is taken, which live in its frame:
 * FUNCDATA_StackObjects (Go 1.12 and later). Stack maps leave them out: the collector looks at one
 * if it meets a pointer to it.
 *
 * Format: type stackObjectRecord in src/runtime/stack.go of each release. */
#ifndef GH_PROCESS_STACK_OBJECTS_H
#define GH_PROCESS_STACK_OBJECTS_H

#include "lib/process/process.h"

struct gh_stack_object {
	int64_t offset; /* from the end of the frame's variables if negative, else from the start of
			   its arguments; bytes */
	uint64_t size;  /* in bytes */
	uint64_t pointers; /* bytes up to its last pointer */
	uint64_t mask;     /* address in the program of a bit for each word; 0: any may be one */
};

/* A walk over those of a function. The fields are private. */
struct gh_stack_objects {
	const struct gh_pclntab *tab;
	struct gh_cursor records; /* at the next */
	uint64_t left;            /* records */
	int minor;                /* of the Go release */
};

/* Starts a walk over those of FUNC, a function of PROCESS's program. */
void gh_stack_objects_start(struct gh_stack_objects *walk, const struct gh_process *process,
			    const struct gh_func *func);

/* Gives the next. False at the end, or where it is damaged. */
bool gh_stack_objects_next(struct gh_stack_objects *walk, struct gh_stack_object *object);

#endif
