/* The goroutines of a process as a heap dump has them. */
#ifndef GH_PROCESS_AS_DUMP_H
#define GH_PROCESS_AS_DUMP_H

#include "lib/process/goroutine.h"
#include "lib/util/buffer.h"

/* Adds to OUT, which is empty, a heap dump in the format of Go 1.7: the parameters, each goroutine
 * that has not ended, in the runtime's order, and its frames, without contents but for the
 * arguments of functions.
 * Objects, roots, defers and the rest are left out, and frames once there are as many as the
 * process's memory has words. VERSION is Go's. *LOST is how many entries of
 * runtime.allgs were left out because they, or what they point to, are not in memory, or are no
 * goroutine. False (ERR filled) if PROCESS has no goroutines, or memory ran out. */
bool gh_snapshot_make(struct gh_buffer *out, struct gh_process *process, const char *version,
		      uint64_t *lost, struct gh_error *err);

#endif
