/* A process all of whose threads are stopped, for its memory to be read as of one moment.
 *
 * Interfaces: ptrace(2) (PTRACE_SEIZE), and /proc/PID/task and status, proc(5). The kernel lets the
 * threads go on when the tracer ends, however it does. */
#ifndef GH_PROCESS_STOPPED_H
#define GH_PROCESS_STOPPED_H

#include "lib/elf/arch.h"
#include "lib/process/process.h"
#include "lib/util/error.h"
#include "lib/util/vector.h"

/* A thread that is traced. */
struct gh_traced {
	int id;     /* 0 if it has ended */
	int signal; /* that it was about to be given; 0 for none */
	bool stopped;
};

struct gh_stopped {
	int pid;
	struct GH_VECTOR(struct gh_traced) threads; /* owned */
};

struct gh_thread_registers GH_VECTOR(struct gh_registers);

/* Stops all threads of the process PID. False (ERR filled) if there is no such process, it may not
 * be traced, or is already. In any case to be ended with gh_stopped_release. */
bool gh_stopped_make(struct gh_stopped *stopped, int pid, struct gh_error *err);

/* Adds to REGISTERS those of each thread, which runs on ARCH. False (ERR filled) if memory ran out.
 */
bool gh_stopped_registers(const struct gh_stopped *stopped, const struct gh_arch *arch,
			  struct gh_thread_registers *registers, struct gh_error *err);

/* Lets all threads go on. */
void gh_stopped_release(struct gh_stopped *stopped);

/* Fills ERR with why the process PID cannot be traced or read, after errno. Gives false. */
bool gh_stopped_fail(int pid, struct gh_error *err);

#endif
