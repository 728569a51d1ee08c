/* The memory statistics of a process, as a record of a heap dump.
 *
 * Source: type mstats in src/runtime/mstats.go. */
#ifndef GH_PROCESS_DUMP_MEMSTATS_H
#define GH_PROCESS_DUMP_MEMSTATS_H

#include "lib/process/dump_objects.h"

/* Adds them: what TOTALS and SPANS tell, what the program's variables say of its collections, and
 * zeros. */
void gh_dump_add_memstats(struct gh_dump_stream *stream, struct gh_process *process,
			  const struct gh_spans *spans, const struct gh_dump_totals *totals);

#endif
