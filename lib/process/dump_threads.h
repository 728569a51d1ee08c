/* The threads of a Go process, as records of a heap dump.
 *
 * Sources: type m in src/runtime/runtime2.go, dumpms in src/runtime/heapdump.go. */
#ifndef GH_PROCESS_DUMP_THREADS_H
#define GH_PROCESS_DUMP_THREADS_H

#include "lib/process/dump_stream.h"
#include "lib/process/goroutine.h"
#include "lib/rtype/rtype.h"

/* Adds a record for each runtime.m that runtime.allm lists, as far as the program's TYPES describe
 * it. The goroutines ALL were found. */
void gh_dump_add_threads(struct gh_dump_stream *stream, struct gh_process *process,
			 const struct gh_rtypes *types, const struct gh_goroutines *all);

#endif
