/* The goroutines of a process: where runtime.g has its fields in each release, a walk over
 * runtime.allgs, and what hangs on a goroutine: why it waits, its labels, deferred calls, panics,
 * the words of its stack that hold pointers; and why the process crashed. */
#ifndef GH_PROCESS_GOROUTINE_H
#define GH_PROCESS_GOROUTINE_H

#include "lib/process/process.h"
#include "lib/rtype/rtype.h"

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

/* The layout of Go 1.MINOR, 2 or later, for pointers of WORD bytes. From Go 1.5 on the place of
 * gopc is not known, and 0. */
struct gh_g_layout gh_g_layout_of(uint32_t word, int minor);

/* The goroutines of a process: runtime.allgs and the runtime.g structs that it lists.
 *
 * Layout: type g and type gobuf in src/runtime/runtime2.go of each release. */

/* What else than the statuses of a heap dump (enum gh_dump_status) a goroutine may have
 * (src/runtime/runtime2.go). goroutine.c has the highest, and takes what has a higher one for no
 * goroutine; what they are called is in plugin/view/goroutine_text.c. */
enum {
	GH_G_DEAD = 6,       /* it ended; its struct waits to be used again */
	GH_G_LEAKED = 10,    /* it waits and, as the runtime has found, for ever (Go 1.26) */
	GH_G_DEAD_EXTRA = 11 /* as GH_G_DEAD, for a thread of C's */
};

/* All goroutines, and a walk over them. */
/* A goroutine that is in no list. */
struct gh_found_goroutine {
	uint64_t id;
	uint64_t address; /* of its runtime.g */
};

struct gh_goroutines {
	struct gh_g_layout layout;
	uint64_t list;     /* address of the array of pointers to them; or, where they are a list,
			      of the next that the walk comes to */
	uint64_t count;    /* of pointers */
	uint64_t count_at; /* where the process has that; 0 for a list */
	uint64_t next;     /* the pointer that the walk goes on with, counted from 0 */
	struct GH_VECTOR(struct gh_found_goroutine) found; /* in place of the array, by id */
	uint64_t lost; /* pointers passed over that led to no goroutine, or could not be read */
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
	uint64_t locked_to;  /* the runtime.m that it is locked to; 0 also where that is not known
			      */
	uint64_t labels;     /* of profiles: address of its labelMap; 0 if there is none */
	uint64_t vectors; /* address of the vector registers that it was preempted with, if that was
			     not at a call; 0 if they are not known, or on its stack */
};

/* Finds the goroutines of PROCESS. A stripped program does not say where runtime.allgs is: it is
 * the longest slice in the program's variables of whose elements, as far as they are in memory,
 * most point to what can only be a runtime.g. Likewise for the fields whose place differs from
 * release to release. Of a core file that lacks the slice the goroutines are found that it has.
 * False (ERR filled) if there is none: the process has not got to main.main, or
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

/* Why a goroutine waits, in words: runtime.waitReasonStrings. */

/* The table in the program's data, an array of strings by number. */
struct gh_wait_reasons {
	const struct gh_image *image; /* not owned */
	uint64_t address;             /* of the table in the file's address space; 0 if unknown */
};

/* Finds the table in IMAGE by how it begins, which is the same in all releases since Go 1.11 (the
 * numbers are not, and a stripped program does not say where it is). */
struct gh_wait_reasons gh_wait_reasons_find(const struct gh_image *image);

/* The text of reason NUMBER, of *LENGTH bytes, in the image; empty if it is not known. */
const char *gh_wait_reason(const struct gh_wait_reasons *reasons, uint8_t number, size_t *length);

/* The labels that runtime/pprof's Do and SetGoroutineLabels give a goroutine.
 *
 * Layout: type labelMap in src/runtime/pprof/label.go; of a map, type hmap and type bmap in
 * src/runtime/map.go. */

/* Longer labels are not read, in bytes. */
#define GH_LABEL_TEXT_MAX 4096

/* Reads those whose labelMap is at ADDRESS, and adds to OUT how many there are,
 * then the key and the value of each: a size and as many bytes. Numbers are uint32_t of this
 * machine. What is not in memory, is too long, or is one more than GH_DUMP_LABELS_MAX, is left out.
 */
void gh_labels_read(struct gh_buffer *out, struct gh_process *process, uint64_t address);

/* What a goroutine has deferred, and its panics: the lists of runtime._defer and runtime._panic.
 *
 * Layout: type _defer and type _panic in src/runtime/runtime2.go (panic.go) of each release. */

struct gh_defer {
	uint64_t sp; /* of the function that deferred */
	uint64_t pc; /* of the defer statement; a return address */
	uint64_t
	    closure;   /* 0 for what the function calls by itself, without a record (open-coded) */
	uint64_t next; /* address of the next, deferred before; 0 at the end */
	uint64_t arguments; /* address of those of the call, to Go 1.17; later it has none */
	uint64_t size;      /* of them, in bytes */
};

/* Reads the one at ADDRESS. False if it is not in memory. */
bool gh_defer_record_read(struct gh_process *process, uint64_t address, struct gh_defer *defer);

struct gh_panic {
	uint64_t type; /* of its value, an interface */
	uint64_t data; /* the interface's second word */
	uint64_t next; /* address of the panic that came before it; 0 at the end */
	bool recovered;
	bool repanicked; /* the panic that came after it has the same value */
	bool goexit;     /* it is runtime.Goexit's */
};

/* The same of a panic. */
bool gh_panic_record_read(struct gh_process *process, uint64_t address, struct gh_panic *panic);

/* The value of a panic, as Go prints it. */

/* Appends the string of SIZE bytes at ADDRESS in the process, what follows a newline being
 * indented (runtime.printindented). Long ones are cut. */
void gh_panic_string(struct gh_buffer *out, struct gh_process *process, uint64_t address,
		     uint64_t size);

/* Appends the value of the interface whose words are TYPE and DATA (runtime.printpanicval), the
 * types of the program being TYPES. Of errors and Stringers, whose methods cannot be called, the
 * text is known of the runtime's and of those of packages errors, fmt, io/fs and os; other values
 * are a type and an address. */
void gh_panic_value(struct gh_buffer *out, struct gh_process *process,
		    const struct gh_rtypes *types, uint64_t type, uint64_t data);

/* Why a Go process crashed, as the runtime prints it: panics and their values, a fatal error, or a
 * signal. */

struct gh_crash {
	struct gh_buffer text; /* lines that Go prints before the first stack, unescaped; owned */
	bool in_c;             /* code that is not Go's did, on a thread that runs no goroutine */
	bool has_goroutine;    /* a goroutine crashed */
	uint64_t goroutine;    /* its id */
};

/* Looks for what PROCESS crashes of, from the most telling on: a fatal error, panics that nothing
 * recovers, a signal that is handled, panics. There is no text if there is none of these. False
 * (ERR filled) if there are no goroutines or memory ran out. To be freed with gh_crash_free. */
bool gh_crash_find(struct gh_crash *crash, struct gh_process *process, struct gh_error *err);

void gh_crash_free(struct gh_crash *crash);

/* Adds to OUT, which is empty, a heap dump in the format of Go 1.7: the parameters, each goroutine
 * that has not ended, in the runtime's order, and its frames, without contents but for the
 * arguments of functions.
 * Its defers are there, too. Objects, roots and the rest are left out, and frames once there are as
 * many as the process's memory has words. VERSION is Go's. *LOST is how many entries of
 * runtime.allgs were left out because they, or what they point to, are not in memory, or are no
 * goroutine. What no record has a place for is in goheap's own section. False (ERR filled) if
 * PROCESS has no goroutines, or memory ran out; OUT is to be freed in either case. */
bool gh_snapshot_make(struct gh_buffer *out, struct gh_process *process, const char *version,
		      uint64_t *lost, struct gh_error *err);

/* The shape of buckets of strings to strings, with pointers of WORD bytes. */
struct gh_map_shape gh_map_shape_of_strings(unsigned word);

/* The variables of a function whose address is taken, which live in its frame:
 * FUNCDATA_StackObjects (Go 1.12 and later). Stack maps leave them out: the collector looks at one
 * if it meets a pointer to it.
 *
 * Format: type stackObjectRecord in src/runtime/stack.go of each release. */

struct gh_stack_object {
	int64_t offset; /* from the end of the frame's variables if negative, else from the start of
			   its arguments; bytes */
	uint64_t size;  /* in bytes */
	uint64_t pointers; /* bytes up to its last pointer */
	uint64_t mask;     /* address in its module of a bit for each word; 0: any may be one */
};

/* A walk over those of a function. The fields are private. */
struct gh_stack_objects {
	const struct gh_pclntab *tab;
	struct gh_cursor records; /* at the next */
	uint64_t left;            /* records */
	int minor;                /* of the Go release */
};

/* Starts a walk over those of FUNC, a function of TAB, a module of a process of Go 1.MINOR. */
void gh_stack_objects_start(struct gh_stack_objects *walk, const struct gh_pclntab *tab, int minor,
			    const struct gh_func *func);

/* Gives the next. False at the end, or where it is damaged. */
bool gh_stack_objects_next(struct gh_stack_objects *walk, struct gh_stack_object *object);

struct gh_stack;
struct gh_stack_frame;

/* Which words of a goroutine's stack hold pointers.
 *
 * The rules are those of scanstack in src/runtime/mgcmark.go, and of dumpframe in
 * src/runtime/heapdump.go. */

/* A variable in some frame whose address is taken. */
struct gh_stack_variable {
	uint64_t address;
	uint64_t size;     /* in bytes */
	uint64_t pointers; /* bytes up to its last pointer */
	uint64_t mask;     /* address in its module of a bit for each word; 0: any may be one */
	const struct gh_image *image; /* the module's */
	bool reached;                 /* a pointer to it was met */
};

struct gh_stack_addresses GH_VECTOR(uint64_t);

struct gh_stack_words {
	struct gh_process *process;                     /* not owned */
	struct GH_VECTOR(struct gh_stack_frame) frames; /* callees first */
	struct gh_stack_addresses certain; /* of words that hold pointers; ascending, each once */
	struct gh_stack_addresses perhaps; /* of those that may: without those of frames that were
					      interrupted, each word of which may */
	struct GH_VECTOR(struct gh_stack_variable) variables; /* by address */
	struct GH_VECTOR(uint32_t) queue;                     /* of variables that were reached */
	size_t followed;                                      /* of the queue */
};

/* Pointers that a goroutine has beside its stack, and that may lead to variables in its frames. */
struct gh_stack_pointers {
	const uint64_t *certain; /* what it is to call, and has deferred; not owned */
	size_t ncertain;
	const uint64_t *perhaps; /* registers; not owned */
	size_t nperhaps;
};

/* Notes the frames of G, of *LEFT words at most, which are taken off it. WORDS were zeroed or used
 * before.
 */
void gh_stack_words_walk(struct gh_stack_words *words, struct gh_stack *stack,
			 const struct gh_goroutine *g, uint64_t *left);

/* Finds the words of those frames that hold pointers, by the stack maps of their functions and by
 * what POINTERS, and they, lead to. Where a frame stands anywhere in its code, or its function has
 * no maps, each word may be one. */
void gh_stack_words_find(struct gh_stack_words *words, const struct gh_stack_pointers *pointers);

/* Where a frame's variables end, from its sp: before the return address and the caller's frame
 * pointer. */
uint64_t gh_stack_variables_end(const struct gh_process *process,
				const struct gh_stack_frame *frame);

/* Memory ran out. */
bool gh_stack_words_failed(const struct gh_stack_words *words);

void gh_stack_words_free(struct gh_stack_words *words);

#endif
