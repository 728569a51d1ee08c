/* The memory and threads of a running process, as they were at one moment.
 *
 * Interfaces: process_vm_readv(2), and /proc/PID/maps, pagemap and auxv, proc(5) and
 * admin-guide/mm/pagemap.rst of the kernel. */
#ifndef GH_PROCESS_LIVE_COPY_H
#define GH_PROCESS_LIVE_COPY_H

#include "lib/elf/arch.h"
#include "lib/process/stopped.h"
#include "lib/util/error.h"
#include "lib/util/vector.h"

/* Memory that the process may write. */
struct gh_live_range {
	uint64_t start; /* address in the process */
	uint64_t size;  /* in bytes */
	uint8_t *bytes; /* the copy; owned */
	bool from_file; /* pages that were never touched are those of a file; else they are zeros */
};

struct gh_live_ranges GH_VECTOR(struct gh_live_range);

struct gh_live_copy {
	int pid;
	struct gh_live_ranges ranges; /* by address */
	struct gh_thread_registers threads;
	uint64_t entry;  /* of the program, where it is loaded (AT_ENTRY) */
	uint64_t paused; /* how long the process was stopped, in ns */
	uint64_t size;   /* bytes of all ranges */
};

/* Copies the writable memory of the process PID, which runs on ARCH, and its threads' registers:
 * once while it runs, so that the copy that counts has its room, and then again. All its threads
 * are stopped while it is copied and go on afterwards, also when the caller is ended meanwhile.
 * False (ERR filled) if there is no such process, it may not be read, is traced already, or memory
 * ran out. In any case to be freed. */
bool gh_live_copy_make(struct gh_live_copy *live, int pid, const struct gh_arch *arch,
		       struct gh_error *err);

/* Copies its memory alone, while it runs: what changes meanwhile may not fit together. Likewise. */
bool gh_live_copy_running(struct gh_live_copy *live, int pid, const struct gh_arch *arch,
			  struct gh_error *err);

/* The copy, to be read; good until LIVE is freed. */
struct gh_memory gh_live_copy_memory(const struct gh_live_copy *live);

void gh_live_copy_free(struct gh_live_copy *live);

#endif
