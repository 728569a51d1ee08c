/* Go processes, live or in a core file: their memory, goroutines, crash and heap; and all of that
 * as the records of a heap dump. gh_live_copy_make copies a running process; of that, or of a core
 * file's memory, gh_snapshot_make gives the goroutines, gh_heap_dump_write the heap, and
 * gh_crash_find why it crashed.
 *
 * - memory.c, process.c: the memory, and words in it;
 * - stopped.c, live_copy.c, live_read.c, live_parts.c: a running process: stopped, and copied; what
 *   of it may be copied before;
 * - goroutine.c, g_layout.c, waitreason.c, labels.c: goroutines;
 * - stack.c, stack_words.c, stack_objects.c: their frames, and the pointers in these;
 * - deferred.c, panic_value.c, crash.c: deferred calls and panics; why the process crashed;
 * - spans.c, span_layout.c, span_pointers.c, type_mask.c: the heap's objects, and pointers in them;
 * - dump_*.c: each writes one kind of records, by dump_stream.c; as_dump.c all of them. */
#ifndef GH_PROCESS_PROCESS_H
#define GH_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/dump/dump.h"
#include "lib/elf/arch.h"
#include "lib/elf/elf.h"
#include "lib/pclntab/pclntab.h"
#include "lib/util/buffer.h"
#include "lib/util/error.h"
#include "lib/util/numbermap.h"
#include "lib/util/vector.h"

/* The memory of a process or of a core file, wherever it is read from. */

/* The unit in which memory is read and kept, in bytes: a multiple of every machine's page. */
#define GH_PROCESS_BLOCK (1 << 16)

struct gh_process_block {
	uint64_t address; /* a multiple of GH_PROCESS_BLOCK */
	bool asked;       /* it has been read, or could not be */
	uint8_t *bytes;   /* NULL if it cannot be read as a whole; owned */
};

struct gh_process_memory {
	const struct gh_memory *source;  /* asked for at most GH_PROCESS_BLOCK bytes; not owned */
	bool big_endian;                 /* the byte order of integers */
	struct gh_process_block *blocks; /* what was read last; owned */
};

/* Reads SIZE bytes at ADDRESS into BUF. False if they are not all there: BUF is undefined. */
bool gh_process_read(struct gh_process_memory *memory, uint64_t address, void *buf, size_t size);

/* Reads an integer of SIZE bytes: 1, 2, 4 or 8. False, and *VALUE 0, if it is not there. */
bool gh_process_uint(struct gh_process_memory *memory, uint64_t address, unsigned size,
		     uint64_t *value);

/* Frees what is kept. A zeroed one may be freed too. */
void gh_process_memory_free(struct gh_process_memory *memory);

/* A Go process, live or in a core file, with the program that it runs. */

/* More than any machine has in its elf_gregset_t. */
#define GH_MAX_REGISTERS 64

/* The registers of a thread of the system's. */
struct gh_registers {
	uint64_t pc;
	uint64_t sp;
	uint64_t lr; /* the link register; 0 if it is not known, or the machine has none */
	uint64_t values[GH_MAX_REGISTERS]; /* of all of them, in any order */
	unsigned count;                    /* 0 if they are not known */
};

struct gh_process {
	struct gh_process_memory memory;
	const struct gh_pclntab *tab;       /* of the program; not owned */
	int minor;                          /* of the Go release that built it: 22 for Go 1.22 */
	uint64_t bias;                      /* of the process's addresses over the program file's */
	const struct gh_registers *threads; /* not owned */
	size_t nthreads;
	bool selected; /* the first thread is the one that the debugger's user looks at */
};

/* The word at ADDRESS of PROCESS; 0 if it cannot be read. */
uint64_t gh_process_word(struct gh_process *process, uint64_t address);

/* Reads the SIZE bytes at ADDRESS of PROCESS; what its memory lacks is read from the program's
 * file, as core files leave out what is in files. False if they are in neither. */
bool gh_process_read_constant(struct gh_process *process, uint64_t address, void *to, size_t size);

/* The pointer at ADDRESS, likewise; 0 if it is in neither. */
uint64_t gh_process_constant_pointer(struct gh_process *process, uint64_t address);

/* Whether ADDRESS is that of the closure of a function of the program's. */
bool gh_process_is_closure(struct gh_process *process, uint64_t address);

/* No page of memory is smaller, in bytes, and nothing is in the first one. */
#define GH_LEAST_PAGE 4096

/* The end of the page that ADDRESS is in, if pages are of the least size. */
static inline uint64_t gh_page_end(uint64_t address)
{
	return address - address % GH_LEAST_PAGE + GH_LEAST_PAGE;
}

/* Whether a struct or a list of words can be at ADDRESS, whatever is in memory. */
static inline bool gh_process_may_point(const struct gh_process *process, uint64_t address)
{
	return address >= GH_LEAST_PAGE && address % process->tab->pointer_size == 0;
}

/* How far the stack guard is above the end of a stack, in bytes: StackGuard in
 * src/pkg/runtime/stack.h. */
#define GH_STACK_GUARD 256

/* How runtime.g says why a goroutine waits. */
enum gh_g_reason {
	GH_G_REASON_NUMBER,  /* 1 byte, Go 1.11 on */
	GH_G_REASON_STRING,  /* a Go string, 1.4 to 1.10 */
	GH_G_REASON_C_STRING /* a pointer to text that a 0 ends, to 1.3 */
};

/* Where runtime.g has its fields, by release: offsets in bytes; fields are of pointer size unless
 * told. What a debug file needs of it is found by the fields' names (dwarf_goroutine.c).
 *
 * Source: type g and type gobuf in src/runtime/runtime2.go (Go 1.5 on) or runtime.h (to 1.4). */
struct gh_g_layout {
	uint32_t stack_low;   /* stack.lo; to Go 1.3 stackguard, GH_STACK_GUARD above it */
	uint32_t stack_high;  /* stack.hi; to Go 1.3 stackbase */
	uint32_t top_panic;   /* _panic */
	uint32_t top_defer;   /* _defer */
	uint32_t thread;      /* m */
	uint32_t sched;       /* sched.sp; sched.pc and sched.g follow */
	uint32_t context;     /* sched.ctxt */
	uint32_t lr;          /* sched.lr */
	uint32_t syscall_sp;  /* syscallpc follows */
	uint32_t status;      /* atomicstatus, 4 bytes */
	uint32_t id;          /* goid, 8 bytes */
	uint32_t wait_since;  /* 8 bytes; 0 where there is none (Go 1.2) */
	uint32_t wait_reason; /* in the form: */
	uint32_t creator;     /* gopc; 0 while it was not found */
	uint32_t start_after; /* how far startpc is after gopc; 0 where there is none (to Go 1.4) */
	uint32_t parent_before; /* how far parentGoid, 8 bytes, is before gopc; 0 where there is
				   none (to Go 1.20) */
	uint32_t locked_before; /* how far lockedm is before gopc; 0 where that is not known (to
				   Go 1.4, and if the release is not) */
	uint32_t signal_before; /* how far sig, 4 bytes, is before gopc; sigcode0, sigcode1 and
				   sigpc are right before parentGoid or gopc */
	uint32_t labels_after; /* how far labels is after gopc; 0 where there is none (to Go 1.8) or
				  that is not known */
	uint32_t vectors_after; /* how far xRegs is after gopc; 0 where it is no root (to Go 1.26)
				   or that is not known */
	uint32_t system;        /* issystem, 1 byte; 0 where there is none (Go 1.5 on) */
	uint32_t next;          /* alllink, the next goroutine; 0 but in Go 1.2 */
	enum gh_g_reason form;  /* of wait_reason */
	bool segmented;   /* to Go 1.3: stacks have segments, each with a Stktop at its top, and
			     syscallsp keeps its value after the call */
	bool no_capacity; /* runtime.allgs is an array and its length, not a slice (1.3) */
};

/* The layout of Go 1.MINOR, 2 or later, for pointers of WORD bytes; of the newest if MINOR is
 * negative. From Go 1.5 on the place of gopc is not known, and 0. */
struct gh_g_layout gh_g_layout_of(uint32_t word, int minor);

/* The goroutines of a process: runtime.allgs and the runtime.g structs that it lists.
 *
 * Layout: type g and type gobuf in src/runtime/runtime2.go of each release. */

/* What else than the statuses of a heap dump a goroutine may have (src/runtime/runtime2.go). */
enum {
	GH_G_DEAD = 6,       /* it ended; its struct waits to be used again */
	GH_G_DEAD_EXTRA = 11 /* the same, for a thread of C's */
};

/* All goroutines, and a walk over them. */
struct gh_goroutines {
	struct gh_g_layout layout;
	uint64_t list;  /* address of the array of pointers to them; or, where they are a list,
			   of the next that the walk comes to */
	uint64_t count; /* of pointers */
	uint64_t next;  /* the pointer that the walk goes on with, counted from 0 */
	uint64_t lost;  /* pointers passed over that led to no goroutine, or could not be read */
	struct gh_numbermap seen; /* the addresses of those passed over; owned */
	bool failed;              /* memory ran out, and the walk ended */
};

/* A goroutine, as runtime.g has it; pointers as in the process. */
struct gh_goroutine {
	uint64_t address; /* of the struct */
	uint64_t stack_low;
	uint64_t stack_high; /* one past its stack */
	uint64_t top_panic;
	uint64_t top_defer;
	uint64_t thread;     /* its runtime.m; 0 if it is on none */
	uint64_t sp;         /* sched: where it goes on when it runs again */
	uint64_t pc;         /* the same */
	uint64_t context;    /* the same: the closure pointer */
	uint64_t lr;         /* the same: the link register; 0 if it is on the stack */
	uint64_t syscall_sp; /* of the call that entered the system call or C; 0 if it is in none */
	uint64_t syscall_pc;
	uint32_t status; /* without the bit that says that its stack is being scanned */
	uint64_t id;
	uint64_t wait_since;    /* ns of the process's monotonic clock; 0 if unknown */
	uint8_t wait_reason;    /* number of it, Go 1.11 on */
	uint64_t reason_text;   /* to Go 1.10: address of its text; 0 if there is none */
	uint64_t reason_length; /* of the text, in bytes; 0 if a 0 ends it */
	uint64_t stktop;        /* to Go 1.3: address of the Stktop above its stack; else 0 */
	uint64_t next;          /* Go 1.2: the next goroutine; 0 at the end */
	bool system;            /* to Go 1.4: the runtime made it for itself */
	uint64_t creator_pc;    /* of the go statement that made it, a return address */
	uint64_t start_pc;      /* entry of its first function */
	uint64_t creator_id; /* of the goroutine that made it; 0 if none did or it is not known */
	bool locked;         /* to its thread; false also where that is not known */
	uint64_t labels;     /* of profiles: address of its labelMap; 0 if there is none */
	uint64_t vectors; /* address of the vector registers that it was preempted with, if that was
			     not at a call; 0 if they are not known, or on its stack */
};

/* Finds the goroutines of PROCESS. A stripped program does not say where runtime.allgs is: it is
 * the longest slice in the program's variables of whose elements, as far as they are in memory,
 * most point to what can only be a runtime.g. Likewise for the fields whose place differs from
 * release to release. False (ERR filled) if there is none: the process has not got to main.main, or
 * its memory cannot be read. On success to be freed with gh_goroutines_free. */
bool gh_goroutines_find(struct gh_goroutines *all, struct gh_process *process,
			struct gh_error *err);

/* Reads the next goroutine that has not ended, in the runtime's order, each once. Those that cannot
 * be read, and what is no goroutine, are passed over and counted in ALL->lost. False at the end. */
bool gh_goroutines_next(struct gh_goroutines *all, struct gh_process *process,
			struct gh_goroutine *g);

/* The thread whose stack pointer is SP runs G: on its stack, or, in a call of C or the runtime, on
 * that of G's own thread (m.g0, the first field of a runtime.m; not to Go 1.3). */
bool gh_goroutine_is_on(const struct gh_goroutines *all, struct gh_process *process,
			const struct gh_goroutine *g, uint64_t sp);

/* Points *TEXT at why G waits, in the program, and returns its length in bytes: 0 from Go 1.11 on,
 * where reasons have numbers, or if it is not there. */
size_t gh_goroutine_reason(const struct gh_process *process, const struct gh_goroutine *g,
			   const char **text);

void gh_goroutines_free(struct gh_goroutines *all);

/* Why a Go process crashed, as the runtime prints it: panics and their values, a fatal error, or a
 * signal. */

struct gh_crash {
	struct gh_buffer text; /* what Go prints before the first stack, in lines; owned. Texts of
				  the process are in it as they are */
	bool has_goroutine;    /* a goroutine crashed */
	uint64_t goroutine;    /* its id */
};

/* Looks for what PROCESS crashes of, from the most telling on: a fatal error, panics that nothing
 * recovers, a signal that is handled, panics. There is no text if there is none of these. False
 * (ERR filled) if there are no goroutines or memory ran out. To be freed with gh_crash_free. */
bool gh_crash_find(struct gh_crash *crash, struct gh_process *process, struct gh_error *err);

void gh_crash_free(struct gh_crash *crash);

/* The records of a heap dump on their way to a file, or kept in memory. */

struct gh_dump_stream {
	struct gh_buffer bytes; /* not written yet; owned */
	int fd;                 /* where they go; -1: they stay in BYTES */
	uint64_t left;          /* bytes of the process's memory that may still be added: a process
				   that lies about its tables does not fill a disk */
	uint64_t missing;       /* bytes that were not in memory, and are 0 */
	bool failed;            /* the file could not be written; errno says why */
	void *gzip;             /* gzFile, by which the file is written; NULL: as it is; owned */
};

/* A stream of PROCESS's, to FD or, if that is -1, to memory. To be ended with gh_dump_stream_end.
 */
struct gh_dump_stream gh_dump_stream_make(const struct gh_process *process, int fd);

/* Has the stream compress what it writes. */
void gh_dump_stream_compress(struct gh_dump_stream *stream);

/* Hands what there is of whole records to the file, once that is much. */
void gh_dump_stream_pass(struct gh_dump_stream *stream);

/* Hands over the rest. False if that, or something before, failed. */
bool gh_dump_stream_end(struct gh_dump_stream *stream);

/* Adds a text or contents: its size, and the bytes. */
void gh_dump_stream_text(struct gh_dump_stream *stream, const char *text, size_t size);

/* Adds the size and the contents of SIZE bytes at ADDRESS in the process; zeros, counted as
 * missing, for what is not there. False, and nothing added, if there is more than may be added. */
bool gh_dump_stream_memory(struct gh_dump_stream *stream, struct gh_process *process,
			   uint64_t address, uint64_t size);

/* The goroutines of a process, with their stacks, as records of a heap dump.
 *
 * Sources: dumpgoroutine and dumpframe in src/runtime/heapdump.go. */

/* What no record has a place for. All zeros at first. */
struct gh_ties {
	struct gh_buffer rows;     /* struct gh_dump_ties, of each goroutine; owned */
	struct gh_buffer labels;   /* as the dump's; owned */
	struct gh_numbermap known; /* addresses of labels to where they are in LABELS; owned */
};

/* Has DUMP, which the goroutines were added to, tell of TIES. */
void gh_ties_give(const struct gh_ties *ties, struct gh_dump *dump);

void gh_ties_free(struct gh_ties *ties);

/* A process as a heap dump has it: its goroutines alone, or its heap, too. */

/* Adds to OUT, which is empty, a heap dump in the format of Go 1.7: the parameters, each goroutine
 * that has not ended, in the runtime's order, and its frames, without contents but for the
 * arguments of functions.
 * Its defers are there, too. Objects, roots and the rest are left out, and frames once there are as
 * many as the process's memory has words. VERSION is Go's. *LOST is how many entries of
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

/* A process all of whose threads are stopped, for its memory to be read as of one moment.
 *
 * Interfaces: ptrace(2) (PTRACE_SEIZE), and /proc/PID/task and status, proc(5). The kernel lets the
 * threads go on when the tracer ends, however it does. */

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

/* The memory and threads of a running process, as they were at one moment.
 *
 * Interfaces: process_vm_readv(2), and /proc/PID/maps, pagemap and auxv, proc(5) and
 * admin-guide/mm/pagemap.rst of the kernel. */

/* Memory that the process may write. */
struct gh_live_range {
	uint64_t start; /* address in the process */
	uint64_t size;  /* in bytes */
	uint8_t *bytes; /* the copy; owned */
	bool from_file; /* pages that were never touched are those of a file; else they are zeros */
	bool kept;      /* BYTES are of an earlier copy, as far as they were not copied again */
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

/* Copies the writable memory of the process PID, which runs on ARCH, while it runs: what changes
 * meanwhile may not fit together. False (ERR filled) if there is no such process, it may not be
 * read, or memory ran out. In any case to be freed. */
bool gh_live_copy_running(struct gh_live_copy *live, int pid, const struct gh_arch *arch,
			  struct gh_error *err);

/* More than the part of runtime.mspan that says which objects a span has, in any release. */
#define GH_LIVE_DESCRIPTION_MAX 128

/* A part of the memory whose contents may be a little older than the rest: a span of objects
 * without pointers, as long as they are the same objects. */
struct gh_live_part {
	uint64_t start;
	uint64_t size;                           /* in bytes */
	uint64_t description;                    /* address of what says which objects it has */
	uint8_t before[GH_LIVE_DESCRIPTION_MAX]; /* the bytes there when it was found */
};

struct gh_live_parts {
	struct GH_VECTOR(struct gh_live_part) list; /* by address, none overlaps another */
	size_t description_size;                    /* of each part's, in bytes */
};

/* Finds those of PROCESS, whose memory is a copy that was made while it ran. There are none if its
 * heap cannot be found. To be freed. */
void gh_live_parts_find(struct gh_live_parts *parts, struct gh_process *process);

void gh_live_parts_free(struct gh_live_parts *parts);

/* Copies the memory again, which gh_live_copy_running copied, and the threads' registers: PARTS
 * once more while the process runs, then all else, and those of PARTS that have other objects now,
 * while all its threads are stopped. They go on afterwards, also when the caller is ended
 * meanwhile. What is copied a second time takes a fraction of the time, as it need not be given
 * memory. False (ERR filled) if the process has ended, is traced already, or memory ran out. */
bool gh_live_copy_stop(struct gh_live_copy *live, const struct gh_arch *arch,
		       const struct gh_live_parts *parts, struct gh_error *err);

/* The copy, to be read; good until LIVE is freed. */
struct gh_memory gh_live_copy_memory(const struct gh_live_copy *live);

void gh_live_copy_free(struct gh_live_copy *live);

#endif
