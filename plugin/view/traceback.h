/* A goroutine's stack, call by call, as Go prints it. */
#ifndef GH_PLUGIN_VIEW_TRACEBACK_H
#define GH_PLUGIN_VIEW_TRACEBACK_H

#include <stdio.h>

#include "plugin/view/symbols.h"

/* A call on the stack: of a frame, or inlined into one. */
struct gh_call {
	const char *name; /* of the function; not ended by a NUL; in the dump or the program */
	size_t length;    /* of the name, in bytes */
	const char *file; /* "" if unknown */
	int32_t line;     /* 0 if unknown */
	uint64_t pc;      /* as in the frame */
	uint64_t offset;  /* of pc in the function, in bytes */
	uint64_t at;  /* what was looked up: pc, or an address within the call that it is after */
	uint64_t sp;  /* of the caller's frame; 0 if that is not known */
	size_t frame; /* number of the frame */
	bool inlined; /* into the next call */
	bool current; /* its thread is at pc */
	bool hidden;  /* Go leaves it out: it is the runtime's, or a wrapper */
};

struct gh_traceback {
	struct gh_call *calls; /* innermost first; owned, and used again for the next */
	size_t ncalls;         /* how many these are */
	size_t capacity;       /* of calls */
	bool all;              /* nothing would be left: nothing is hidden */
};

/* Fills TRACEBACK with the stack of goroutine NUMBER; zero it before the first. SYMBOLS may be
 * NULL: then there are no inlined calls, files, and lines. False if memory ran out. */
bool gh_traceback_make(struct gh_traceback *traceback, const struct gh_dump *dump,
		       struct gh_symbols *symbols, size_t number);

/* Where GOROUTINE was created. False if that is not known, or it is the first. */
bool gh_traceback_creator(const struct gh_dump_goroutine *goroutine, struct gh_symbols *symbols,
			  struct gh_call *call);

/* Prints a function's name, LENGTH bytes at NAME, as Go does: type arguments as [...]. */
void gh_traceback_print_function(FILE *out, const char *name, size_t length);

/* Prints the name of a call's function, of a panic's too, as Go's tracebacks do. */
void gh_traceback_print_name(FILE *out, const struct gh_call *call);

/* Prints what CALL was made with, in parentheses, as Go's tracebacks do: what is in the memory of
 * each word. (...) if that is not known. */
void gh_traceback_print_arguments(FILE *out, const struct gh_dump *dump, struct gh_symbols *symbols,
				  const struct gh_call *call);

void gh_traceback_free(struct gh_traceback *traceback);

#endif
