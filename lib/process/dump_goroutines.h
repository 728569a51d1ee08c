/* The goroutines of a process, with their stacks, as records of a heap dump.
 *
 * Sources: dumpgoroutine and dumpframe in src/runtime/heapdump.go. */
#ifndef GH_PROCESS_DUMP_GOROUTINES_H
#define GH_PROCESS_DUMP_GOROUTINES_H

#include "lib/dump/dump.h"
#include "lib/process/dump_stream.h"
#include "lib/process/goroutine.h"
#include "lib/process/spans.h"

/* What no record has a place for. All zeros at first. */
struct gh_ties {
	struct gh_buffer rows;     /* struct gh_dump_ties, of each goroutine; owned */
	struct gh_buffer labels;   /* as the dump's; owned */
	struct gh_numbermap known; /* addresses of labels to where they are in LABELS; owned */
};

/* Has DUMP, which the goroutines were added to, tell of TIES. */
void gh_ties_give(const struct gh_ties *ties, struct gh_dump *dump);

void gh_ties_free(struct gh_ties *ties);

/* Adds the goroutines ALL without the contents of their frames, and what else is known of each to
 * TIES; or, if that is NULL, with the contents, their defers and panics,
 * and roots for what perhaps points to an object of SPANS. *LOST is how many were left out. False
 * if memory ran out. */
bool gh_dump_add_goroutines(struct gh_dump_stream *stream, struct gh_ties *ties,
			    struct gh_goroutines *all, struct gh_process *process,
			    const struct gh_spans *spans, uint64_t *lost);

#endif
