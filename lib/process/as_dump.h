/* A process as a heap dump has it: its goroutines alone, or its heap, too. */
#ifndef GH_PROCESS_AS_DUMP_H
#define GH_PROCESS_AS_DUMP_H

#include "lib/dump/dump.h"
#include "lib/process/dump_goroutines.h"
#include "lib/util/buffer.h"

/* Adds to OUT, which is empty, a heap dump in the format of Go 1.7: the parameters, each goroutine
 * that has not ended, in the runtime's order, and its frames, without contents but for the
 * arguments of functions.
 * Objects, roots, defers and the rest are left out, and frames once there are as many as the
 * process's memory has words. VERSION is Go's. *LOST is how many entries of
 * runtime.allgs were left out because they, or what they point to, are not in memory, or are no
 * goroutine. TIES gets what no record has a place for. False (ERR filled) if PROCESS has no
 * goroutines, or memory ran out; both are to be freed in either case. */
bool gh_snapshot_make(struct gh_buffer *out, struct gh_ties *ties, struct gh_process *process,
		      const char *version, uint64_t *lost, struct gh_error *err);

/* What a dump of a process's heap lacks. */
struct gh_heap_losses {
	uint64_t goroutines; /* left out, as gh_snapshot_make's LOST */
	uint64_t spans;      /* entries of mheap_.allspans that are no spans, or overlap others */
	uint64_t objects;    /* left out: there would be more than memory */
	uint64_t bytes;      /* that are in objects, frames and variables, and not in memory: 0 */
	uint64_t untyped;    /* objects that are there and whose pointers are not known */
	bool variables;      /* the pointers of the program's variables are not known */
};

/* Writes to FD, the file PATH, compressed if GZIP says so, a heap dump of PROCESS in the format of
 * Go 1.7, as its own runtime/debug.WriteHeapDump would, as far as the memory tells: parameters,
 * itabs and their types, objects, goroutines with their frames, variables, finalizers, memory
 * statistics. What that function leaves out, cleanups and weak pointers, are other roots. Frames
 * that stand anywhere in their code have each word for a pointer. VERSION is Go's. False (ERR
 * filled) if the heap cannot be found, PATH cannot be written, or memory ran out. */
bool gh_heap_dump_write(int fd, bool gzip, const char *path, struct gh_process *process,
			const char *version, struct gh_heap_losses *losses, struct gh_error *err);

#endif
