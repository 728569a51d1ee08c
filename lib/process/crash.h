/* Why a Go process crashed, as the runtime prints it: panics and their values, a fatal error, or a
 * signal. */
#ifndef GH_PROCESS_CRASH_H
#define GH_PROCESS_CRASH_H

#include "lib/process/goroutine.h"
#include "lib/util/buffer.h"

struct gh_crash {
	struct gh_buffer text; /* what Go prints before the first stack, in lines; owned. Texts of
				  the process are in it as they are */
	bool has_goroutine;    /* a goroutine crashed */
	uint64_t goroutine;    /* its id */
	struct gh_buffer
	    deferred; /* its deferred calls that are still to run, the next one first:
			 lines as `goheap goroutines' has them; those that the
			 compiler keeps in the frame (open-coded) are left out; owned */
};

/* Looks for what PROCESS crashes of, from the most telling on: a fatal error, panics that nothing
 * recovers, a signal that is handled, panics. There is no text if there is none of these. False
 * (ERR filled) if there are no goroutines or memory ran out. To be freed with gh_crash_free. */
bool gh_crash_find(struct gh_crash *crash, struct gh_process *process, struct gh_error *err);

void gh_crash_free(struct gh_crash *crash);

#endif
