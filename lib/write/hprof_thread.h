/* Goroutines as an hprof file's threads, and their stacks. */
#ifndef GH_WRITE_HPROF_THREAD_H
#define GH_WRITE_HPROF_THREAD_H

#include "lib/util/intern.h"
#include "lib/write/hprof.h"
#include "lib/write/hprof_class.h"

/* Strings that are written once. */
struct gh_hprof_strings {
	struct gh_intern set; /* of texts in the dump or the program */
	struct gh_buffer ids; /* uint64_t, by number in the set: of a string, or a class's serial */
};

/* The objects that a goroutine is made of, by id. */
struct gh_hprof_thread {
	uint64_t thread; /* the java.lang.Thread */
	uint64_t name;   /* a string */
	uint64_t chars;  /* its characters */
};

struct gh_hprof_threads {
	struct gh_hprof_classes *classes;     /* of the file; not owned */
	const struct gh_dump *dump;           /* the caller's */
	const struct gh_hprof_stacks *stacks; /* of its goroutines; the caller's */
	struct gh_hprof_thread *objects;      /* by goroutine number; owned */
	uint32_t *frames;                     /* by frame number: a thread's serial, or 0; owned */
	uint32_t *depths;                     /* by frame number: place in the trace; owned */
	uint32_t *defers;                     /* by defer number: a thread's serial, or 0; owned */
	uint32_t *panics;                     /* the same by panic number; owned */
	struct gh_hprof_strings names;        /* of functions and files */
	struct gh_hprof_strings packages;     /* of functions, as classes */
	uint64_t frame;                       /* the id of the last stack frame */
};

/* Writes the stacks of all goroutines. False if memory ran out. */
bool gh_hprof_threads_start(struct gh_hprof_threads *threads);

/* Writes, in the heap dump, the threads as objects and roots. False if memory ran out. */
bool gh_hprof_dump_threads(struct gh_hprof_threads *threads);

/* Writes, in the heap dump, that ROOT, of a goroutine or its stack, is a root of the object ID. */
void gh_hprof_dump_stack_root(struct gh_hprof_threads *threads, const struct gh_root *root,
			      uint64_t id);

void gh_hprof_threads_free(struct gh_hprof_threads *threads);

#endif
