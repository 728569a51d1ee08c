/* The goroutines of a process, with their stacks, as records of a heap dump.
 *
 * Sources: dumpgoroutine and dumpframe in src/runtime/heapdump.go. */
#ifndef GH_PROCESS_DUMP_GOROUTINES_H
#define GH_PROCESS_DUMP_GOROUTINES_H

#include "lib/process/dump_stream.h"
#include "lib/process/goroutine.h"
#include "lib/process/spans.h"

/* Adds the goroutines ALL without the contents of their frames, and what else is known of each to
 * TIES, as struct gh_dump_ties; or, if that is NULL, with the contents, their defers and panics,
 * and roots for what perhaps points to an object of SPANS. *LOST is how many were left out. False
 * if memory ran out. */
bool gh_dump_add_goroutines(struct gh_dump_stream *stream, struct gh_buffer *ties,
			    struct gh_goroutines *all, struct gh_process *process,
			    const struct gh_spans *spans, uint64_t *lost);

#endif
