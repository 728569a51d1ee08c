/* The cleanups of a process that wait to be called, as roots of a heap dump (Go 1.25 and later; Go
 * 1.24 queues them as finalizers).
 *
 * Sources: type cleanupBlock and cleanupQueue in src/runtime/mcleanup.go, markroot in
 * src/runtime/mgcmark.go. */
#ifndef GH_PROCESS_DUMP_CLEANUPS_H
#define GH_PROCESS_DUMP_CLEANUPS_H

#include "lib/process/dump_stream.h"

/* Adds a root for each pointer that a queued cleanup holds: its closures, and its argument. */
void gh_dump_add_cleanups(struct gh_dump_stream *stream, struct gh_process *process);

#endif
