/* A running process as the kernel gives it: stopped, and by page; and goheap beside it.
 *
 * - stopped.c: stops all threads of a process, and resumes them; watchdog.c: has them resumed if
 *   goheap does not;
 * - pages.c: which pages are in memory; memory_parts.c: parts of it;
 * - modest.c: memory and processors are the process's first;
 * - thread_states.c: what threads do; descriptors.c: what descriptors are of;
 * - system_calls.c: the calls that threads are in; call_arguments.c: their arguments; sleeps.c: how
 *   long they have been asleep. */
#ifndef GH_TRACE_TRACE_H
#define GH_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/elf/arch.h"
#include "lib/elf/elf.h"
#include "lib/util/error.h"
#include "lib/util/vector.h"

/* A process all of whose threads are stopped, for its memory to be read as of one moment.
 *
 * Interfaces: ptrace(2) (PTRACE_SEIZE), and /proc/PID/task and status, proc(5). The kernel lets the
 * threads go on when the tracer ends, however it does. */

/* A thread that is traced. */
struct gh_traced {
	int id;     /* 0 if it has ended */
	int signal; /* that it was about to be given; 0 for none */
	bool stopped;
	bool stuck; /* it is in the kernel, where nothing stops it, and has no registers to read */
};

struct gh_stopped {
	int pid;
	struct GH_VECTOR(struct gh_traced) threads; /* owned */
};

/* Stops all threads of the process PID. False (ERR filled) if there is no such process, it may not
 * be traced, or is already. In any case to be ended with gh_stopped_release. */
bool gh_stopped_make(struct gh_stopped *stopped, int pid, struct gh_error *err);

/* Lets all threads go on; one that was stuck, and has come back since, does once the thread that
 * called gh_stopped_make has ended. */
void gh_stopped_release(struct gh_stopped *stopped);

/* Done while a process is stopped. Touches nothing that may block: no terminal, no disk. False (ERR
 * filled) if it cannot be done. */
typedef bool gh_stopped_work(const struct gh_stopped *stopped, void *context, struct gh_error *err);

/* Stops the process PID, calls WORK with CONTEXT, and lets it go on. *PAUSED is how long it was
 * stopped, in ns. False (ERR filled) if it cannot be stopped, or WORK fails. It goes on in any
 * case: signals that would stop goheap meanwhile are blocked, and if goheap is stopped or hangs all
 * the same, a watchdog ends it. */
bool gh_stopped_run(int pid, gh_stopped_work *work, void *context, uint64_t *paused,
		    struct gh_error *err);

/* Fills ERR with why the process PID cannot be traced or read, after errno. Gives false. */
bool gh_stopped_fail(int pid, struct gh_error *err);

/* A process that ends the calling one if that stands still: only who traces a process can resume
 * it, and the kernel does when the tracer ends. */
struct gh_watchdog {
	pid_t child; /* -1 if there is none */
	int line;    /* a pipe's end; the watchdog goes when it is closed, however that happens */
};

/* Starts one, while the process PID is to be stopped. Without memory for it there is none. To be
 * ended with gh_watchdog_end. */
struct gh_watchdog gh_watchdog_start(int pid);

void gh_watchdog_end(struct gh_watchdog *watchdog);

/* Parts of a process's memory. */

struct gh_memory_part {
	uint64_t start;
	uint64_t end;
};

struct gh_memory_parts GH_VECTOR(struct gh_memory_part);

/* What a process may write, and is its own, mapping by mapping, by address. */
struct gh_writable {
	struct gh_memory_parts anonymous; /* of no file; owned */
	struct gh_memory_parts of_files;  /* the variables of programs and libraries; owned */
};

void gh_writable_free(struct gh_writable *writable);

/* Fills PART with the first that is from START to END of PARTS, which are by address, and do not
 * overlap. False if there is none. */
bool gh_memory_parts_next(const struct gh_memory_parts *parts, uint64_t start, uint64_t end,
			  struct gh_memory_part *part);

/* Puts PARTS in the order of their addresses. */
void gh_memory_parts_sort(struct gh_memory_parts *parts);

/* Puts PARTS in that order, and together what overlaps. */
void gh_memory_parts_merge(struct gh_memory_parts *parts);

/* Bits of an entry of /proc/PID/pagemap: the page is in memory, or in swap; it was written since
 * /proc/PID/clear_refs was last told to clear that, if the kernel keeps it (CONFIG_MEM_SOFT_DIRTY).
 */
#define GH_PAGE_PRESENT (UINT64_C(1) << 63)
#define GH_PAGE_SWAPPED (UINT64_C(1) << 62)
#define GH_PAGE_WRITTEN (UINT64_C(1) << 55)

/* Has the kernel keep which pages the process PID writes from now on. False if it does not. */
bool gh_track_written(int pid);

/* The address of the first page from ADDRESS, that of a page, on that is in memory or in swap, by
 * PAGEMAP, /proc/PID/pagemap; END if none is before that. ADDRESS if it cannot be told. Takes no
 * time for what is only reserved, where the kernel can tell. */
uint64_t gh_next_page(int pagemap, uint64_t address, uint64_t end);

/* Has the system end the calling process before others where memory runs out, if it is FIRST; else
 * as usual. */
void gh_be_first_to_go(bool first);

/* Has the calling thread, and those that it starts, wait for others' work: on the processors and on
 * disks. It does not go back: who traces a process is not to wait while that is stopped. */
void gh_be_last_in_turn(void);

/* Calls WORK with CONTEXT in a thread that does, and waits for that. */
void gh_work_last_in_turn(void (*work)(void *context), void *context);

/* What the threads of a process do, by the letters of the kernel's. */
struct gh_thread_states {
	size_t count;
	size_t running;  /* R: on a processor, or wait for one */
	size_t sleeping; /* S */
	size_t stuck;    /* D: in the kernel, where no signal reaches them */
	size_t stopped;  /* T: by a signal */
	size_t traced;   /* t: by a debugger */
	int first_stuck; /* the id of the first of those */
	char where[64];  /* the function of the kernel's that it is in; "" or "0" if not known */
};

/* Room for the name of a function of the kernel's, in bytes. */
#define GH_KERNEL_FUNCTION 64

/* The state of thread THREAD of process PID, a letter of the kernel's, and in WHERE the function of
 * the kernel's that it is in; "" if that is not known. '?' if it cannot be read. */
char gh_thread_state_read(char where[GH_KERNEL_FUNCTION], int pid, int thread);

/* Reads those of process PID. False if they cannot be read.
 *
 * Source: /proc/pid/stat in `man 5 proc'. */
bool gh_thread_states_read(struct gh_thread_states *states, int pid);

/* THREAD of process PID is in the kernel, where no signal reaches it, and has been there since
 * *SWITCHES were counted: how often it has left a processor. They are counted again; UINT64_MAX the
 * first time, which tells nothing. */
bool gh_thread_is_stuck(int pid, int thread, uint64_t *switches);

/* Counts the file descriptors that process PID has open, and how many it may have. False if that
 * cannot be read. */
bool gh_descriptors_count(uint64_t *count, uint64_t *limit, int pid);

/* A socket of the network that a process is in. */
struct gh_socket {
	uint64_t inode;
	char text[160]; /* "tcp 10.0.0.1:5120 to 10.0.0.2:80"; to be escaped */
	unsigned port;  /* its own; 0 for none */
	bool listens;   /* for connections to that port */
	bool accepted;  /* of such a connection */
};

struct gh_sockets GH_VECTOR(struct gh_socket); /* by inode */

/* Adds those of process PID; none if they cannot be read.
 *
 * Source: /proc/pid/net in `man 5 proc'. */
void gh_sockets_read(struct gh_sockets *sockets, int pid);

/* Writes to TEXT, of SIZE bytes, what DESCRIPTOR of process PID is of: a socket with its addresses,
 * a file's path, "pipe:[1234]"; to be escaped. With END without what differs between connections to
 * one server: "tcp to 10.0.0.2:80" or, if the process is the server, "tcp at 10.0.0.2:80". False if
 * that cannot be read. */
bool gh_descriptor_read(char *text, size_t size, const struct gh_sockets *sockets, int pid,
			int64_t descriptor, bool end);

/* System calls that threads of a process are in. */

/* A process, as far as arguments of its calls are told by it. */
struct gh_calling {
	const struct gh_memory *memory;
	const struct gh_sockets *sockets; /* its own; NULL if they are not known */
	int pid;                          /* 0 if it does not run here */
};

/* It is no descriptor. */
#define GH_NOT_OPEN (-1)

struct gh_system_call {
	int thread;         /* the system's number of it */
	uint64_t sp;        /* of the thread */
	int64_t descriptor; /* the first argument, or GH_NOT_OPEN if that is none */
	uint64_t asleep; /* for how long the thread has not run, at least, in ns; 0 if not known */
	const char *name;
	char *arguments; /* as text, to be escaped; NULL if they are not known; owned */
};

struct gh_system_calls GH_VECTOR(struct gh_system_call);

/* Adds those in which threads of the process OF, which runs, wait or take long; none if they cannot
 * be read. The process has the word size of goheap.
 *
 * Source: /proc/pid/syscall in `man 5 proc'. */
void gh_system_calls_read(struct gh_system_calls *calls, const struct gh_calling *of);

/* Adds that in which THREAD of the process OF is by its registers VALUES, a gregset of ARCH; of
 * machines of goheap's kind alone. */
void gh_system_calls_add(struct gh_system_calls *calls, const struct gh_calling *of,
			 const struct gh_arch *arch, int thread, const uint64_t *values);

void gh_system_calls_free(struct gh_system_calls *calls);

#endif
