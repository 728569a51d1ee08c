/* What a goroutine has deferred, and its panics: the lists of runtime._defer and runtime._panic.
 *
 * Layout: type _defer and type _panic in src/runtime/runtime2.go (panic.go) of each release. */
#ifndef GH_PROCESS_DEFERRED_H
#define GH_PROCESS_DEFERRED_H

#include "lib/process/process.h"

struct gh_defer {
	uint64_t sp; /* of the function that deferred */
	uint64_t pc; /* of the defer statement; a return address */
	uint64_t
	    closure;   /* 0 for what the function calls by itself, without a record (open-coded) */
	uint64_t next; /* address of the next, deferred before; 0 at the end */
	uint64_t arguments; /* address of those of the call, to Go 1.17; later it has none */
	uint64_t size;      /* of them, in bytes */
};

/* Reads the one at ADDRESS. False if it is not in memory. */
bool gh_defer_record_read(struct gh_process *process, uint64_t address, struct gh_defer *defer);

struct gh_panic {
	uint64_t type; /* of its value, an interface */
	uint64_t data; /* the interface's second word */
	uint64_t next; /* address of the one before it; 0 at the end */
	bool recovered;
	bool repanicked; /* the value is that of the one after it */
	bool goexit;     /* it is runtime.Goexit's */
};

/* The same of a panic. */
bool gh_panic_record_read(struct gh_process *process, uint64_t address, struct gh_panic *panic);

#endif
