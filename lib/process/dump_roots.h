/* Finalizers, the other roots that are neither on stacks nor in variables, and what else a heap
 * dump has of the runtime, of a process as records of a heap dump.
 *
 * Sources: dumproots and dumpitabs in src/runtime/heapdump.go, markrootSpans in
 * src/runtime/mgcmark.go, type finblock in src/runtime/mfinal.go, type itabTableType in
 * src/runtime/iface.go. */
#ifndef GH_PROCESS_DUMP_ROOTS_H
#define GH_PROCESS_DUMP_ROOTS_H

#include "lib/process/dump_objects.h"
#include "lib/rtype/rtype.h"

/* The types that records name, each of which has a record once. */
struct gh_dump_types {
	const struct gh_rtypes *types; /* the program's; not owned */
	struct gh_numbermap written;   /* by address in the process; owned */
	bool failed;                   /* memory ran out */
};

/* Adds a record for each finalizer that is registered for an object of SPANS, and roots for its
 * cleanups and weak pointers. */
void gh_dump_add_specials(struct gh_dump_stream *stream, struct gh_process *process,
			  const struct gh_spans *spans, struct gh_dump_types *types);

/* Adds a record for each finalizer that waits to be run. */
void gh_dump_add_queued(struct gh_dump_stream *stream, struct gh_process *process,
			struct gh_dump_types *types);

/* Adds a record for each itab that the runtime has made or taken from the program. */
void gh_dump_add_itabs(struct gh_dump_stream *stream, struct gh_process *process,
		       struct gh_dump_types *types);

#endif
