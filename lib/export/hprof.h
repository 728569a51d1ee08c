/* A heap dump as an hprof file, the format of Java's heap dumps, for the tools that read those:
 * Eclipse MAT, VisualVM, jhat. */
#ifndef GH_EXPORT_HPROF_H
#define GH_EXPORT_HPROF_H

#include "lib/typing/object_types.h"

/* A call on a goroutine's stack. */
struct gh_hprof_call {
	const char *function; /* its name; not ended by a NUL; good until the file is written */
	size_t length;        /* of the name, in bytes */
	const char *file;     /* "" if unknown; good as long */
	int32_t line;         /* 0 if unknown */
	size_t frame;         /* number of its frame in the dump */
};

struct gh_hprof_stack {
	const char *name;                  /* of the goroutine; escaped */
	const struct gh_hprof_call *calls; /* innermost first */
	size_t ncalls;                     /* how many these are */
};

/* What a dump alone does not say of its goroutines. */
struct gh_hprof_stacks {
	/* Fills STACK with that of goroutine NUMBER, good until the next is asked for. False if
	 * memory ran out. */
	bool (*get)(void *context, size_t number, struct gh_hprof_stack *stack);
	void *context; /* for get */
};

/* What of a heap is not in its hprof file. */
struct gh_hprof_damage {
	uint64_t left_out; /* objects at no address, or at that of another */
	uint64_t cut;      /* objects too large for an array, cut off */
	uint64_t unplaced; /* pointers that are not where words are, in ascending order */
};

/* Writes HEAP to PATH as an hprof file of version 1.0.2. An object's id is its address; a pointer
 * into an object is a reference to it. Objects are instances, of one class if TYPING says that they
 * are of one type, they are of one size, and have pointers at the same offsets; arrays of numbers,
 * of bytes if their type is not known and they have no pointers; and, if they are larger than 64
 * words, arrays of words, null where a word is no pointer. Readers add to their sizes the headers
 * that Java's objects have. Goroutines are threads, and make a java.lang.Thread, a String and a
 * char[] each, that the heap does not have. The slots of frames are the roots of their threads;
 * defers, panics and contexts too; all other roots are static fields, of classes named after the
 * variable, or after their kind and its address, or that of the object with a finalizer. TIME is
 * when the dump was made, in ms since 1970. The file is made under a temporary name beside PATH and
 * renamed when it is whole. False (ERR filled) if it cannot be written. */
bool gh_hprof_write(const struct gh_heap *heap, const struct gh_typing *typing,
		    const struct gh_hprof_stacks *stacks, uint64_t time, const char *path,
		    struct gh_hprof_damage *damage, struct gh_error *err);

#endif
