/* A Go process that a command reads: from a core file, or while it runs. */
#ifndef GH_PLUGIN_VIEW_OPEN_PROCESS_H
#define GH_PLUGIN_VIEW_OPEN_PROCESS_H

#include "lib/dump/dump.h"
#include "lib/elf/buildinfo.h"
#include "lib/process/live_copy.h"
#include "plugin/view/open_program.h"

struct gh_target {
	struct gh_program program;          /* that it runs */
	struct gh_buildinfo info;           /* of the program */
	struct gh_image core;               /* zeros if it runs */
	struct gh_live_copy live;           /* zeros if it is a core file's */
	struct gh_thread_registers threads; /* of a core file */
	struct gh_memory memory;
	struct gh_process process;
	const char *version; /* of Go; "" if it is not known */
	const char *path;    /* of the core file or the program, for messages */
};

/* Opens the process that the core file PATH, or standard input if that is "-", is of, which ran
 * PROGRAM. On failure prints the error
 * and returns false. To be closed with gh_target_close, and not to be moved. */
bool gh_target_open_core(struct gh_target *target, const char *path, const char *program);

/* The same of the running process PID, stopped for as long as it takes to copy its memory, which is
 * told on standard error; PROGRAM is what it runs, NULL for what the system says that it does. */
bool gh_target_open_live(struct gh_target *target, int pid, const char *program);

/* The same without a stop, which is told, too. */
bool gh_target_open_running(struct gh_target *target, int pid, const char *program);

void gh_target_close(struct gh_target *target);

/* Appends to THREADS the registers of each thread of the core file CORE. */
void gh_core_threads(struct gh_thread_registers *threads, const struct gh_image *core);

/* A process that runs PROGRAM, of which INFO tells and whose entry point is at ENTRY, but for its
 * threads. Its memory is MEMORY. To be freed with gh_process_memory_free. */
struct gh_process gh_process_of(const struct gh_program *program, const struct gh_memory *memory,
				const struct gh_buildinfo *info, uint64_t entry);

/* Writes a heap dump of PROCESS, whose program VERSION of Go built, to the new file PATH. What it
 * lacks is told on standard error, of NAME. GZIP: it is compressed. On failure prints the error and
 * returns false. */
bool gh_process_write_heap(struct gh_process *process, const char *version, const char *name,
			   const char *path, bool gzip);

/* Opens such a dump, not compressed, which has no name, to be closed with gh_dump_close. Likewise.
 */
bool gh_process_open_heap(struct gh_dump *dump, struct gh_process *process, const char *version,
			  const char *name);

/* Opens the heap dump PATH, to be closed with gh_dump_close; or, if that is a core file, the heap
 * of the process that it is of, which ran PROGRAM; or, if PROCESS is not NULL, that of the process
 * of this number, which PROGRAM, if not NULL, is run by. On failure prints the error and returns
 * false.
 */
bool gh_heap_open(struct gh_dump *dump, const char *path, const char *process, const char *program);

/* The file at PATH is an ELF file, as core files are. */
bool gh_target_is_elf(const char *path);

#endif
