/* The allocation profile of a process as records of a heap dump: where memory was allocated, and
 * which objects were sampled.
 *
 * Sources: dumpmemprof in src/runtime/heapdump.go, type bucket, type memRecord and MemProfile in
 * src/runtime/mprof.go, type specialprofile in src/runtime/mheap.go. */
#ifndef GH_PROCESS_DUMP_PROFILE_H
#define GH_PROCESS_DUMP_PROFILE_H

#include "lib/process/dump_stream.h"
#include "lib/process/spans.h"

/* Adds a record for each stack that the profile of PROCESS has, and one for each sampled object of
 * SPANS. What is counted is what the runtime has published: until the latest garbage collection but
 * one, or, before the first, until now. A program without a profile has no records. False if memory
 * ran out. */
bool gh_dump_add_profile(struct gh_dump_stream *stream, struct gh_process *process,
			 const struct gh_spans *spans);

#endif
