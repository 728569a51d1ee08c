/* Goroutines to be listed: of a heap dump, of a core file, or of what GDB debugs. */
#ifndef GH_PLUGIN_GDB_GOROUTINE_SOURCE_H
#define GH_PLUGIN_GDB_GOROUTINE_SOURCE_H

#include "lib/dump/dump.h"
#include "lib/process/crash.h"
#include "lib/process/dump_goroutines.h"
#include "lib/process/process.h"
#include "plugin/view/open_program.h"

/* What goheap.gdb leaves in the session's directory of what GDB debugs, in lines of text: "entry
 * ADDRESS" of the program, "native" if it is a process of this machine, the auxiliary vector as
 * `info auxv' prints it, by which the program's entry point is known for sure, and "pc ADDRESS" and
 * "sp ADDRESS" as `info registers' does, first of the selected thread, then of all. */
#define GH_SESSION_PROCESS "process"

/* And a link to its program. */
#define GH_SESSION_RUN "process.program"

struct gh_snapshot {
	struct gh_dump dump;
	struct gh_buffer bytes;       /* of the dump, if it was made from memory; owned */
	struct gh_ties ties;          /* the dump's, likewise; owned */
	struct gh_registers selected; /* of GDB's selected thread; zeros if there is none */
	bool looks_for_crash;         /* CRASH was asked for */
	bool with_heap;               /* the heap was asked for */
	const char *output;           /* where its dump is to be written, and not opened; or NULL */
	bool gzip;                    /* that dump is compressed */
	struct gh_crash crash;
};

/* Opens the goroutines of the heap dump or core file at PATH; or, if PATH is the session's socket,
 * of GDB's process or core file. The last two run the program at PROGRAM. On failure prints the
 * error and returns false. To be closed with gh_snapshot_close. */
bool gh_snapshot_open(struct gh_snapshot *snapshot, const char *path, const char *program);

/* The same of the running process of this number; PROGRAM, if not NULL, is what it runs. */
bool gh_snapshot_open_process(struct gh_snapshot *snapshot, const char *process,
			      const char *program);

/* The same of a core file or GDB's process, and what it crashes of. */
bool gh_snapshot_open_crash(struct gh_snapshot *snapshot, const char *path, const char *program);

void gh_snapshot_close(struct gh_snapshot *snapshot);

/* PATH is the session's socket. */
bool gh_is_debugged(const char *path);

/* Opens the heap of GDB's process or core file, which runs PROGRAM, as a heap dump, to be closed
 * with gh_dump_close; SOCKET is the session's. On failure prints the error and returns false. */
bool gh_debugged_heap_open(struct gh_dump *dump, const char *socket, const char *program);

/* The same, written to the new file OUTPUT, compressed if GZIP says so. */
bool gh_debugged_heap_write(const char *output, const char *socket, const char *program, bool gzip);

/* Looks for what the process of the core file at PATH, which ran PROGRAM, crashed of, as
 * gh_crash_find does. False, without a word, if that cannot be told. To be freed with
 * gh_crash_free in either case. */
bool gh_core_crash(struct gh_crash *crash, const char *path, const struct gh_program *program);

#endif
