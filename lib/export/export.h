/* Heap dumps in others' formats: core files, and Java's hprof.
 *
 * - core_file.c, core_symbols.c: a core file, and symbols for it (core_parts.h);
 * - live_core.c: the core file of a running process (core_parts.h);
 * - hprof.c, hprof_out.c: a Java heap dump, and its records;
 * - hprof_shape.c: its classes of Go types, with their names, and objects; hprof_class.c: how a
 *   class is written, and Java's own;
 * - hprof_static.c, hprof_thread.c: variables as static fields; goroutines as threads. */
#ifndef GH_EXPORT_EXPORT_H
#define GH_EXPORT_EXPORT_H

#include "lib/dump/dump.h"
#include "lib/elf/arch.h"
#include "lib/process/process.h"
#include "lib/typing/typing.h"
#include "lib/util/buffer.h"
#include "lib/util/cursor.h"

/* Symbols from a heap dump alone, for when the program that wrote it is not at hand. */

/* Writes an ELF file for debuggers to PATH. It has a symbol for each function that has a frame in
 * DUMP, and for each type and itab; a call frame description (DWARF 4, section 6.4) for each place
 * in the code that a frame is at, whose size the dump knows; and there, as variables, what the
 * frames' fieldlists say (see struct gh_frame_slots). Addresses are those of the dumped process. A
 * stack's last frame has no caller. Made under a temporary name beside PATH and renamed when it is
 * whole. Returns false and fills ERR if it cannot be written, or if the dump is of no machine that
 * is known, or has no frames. */
bool gh_dumpsymbols_write(const struct gh_dump *dump, const char *path, struct gh_error *err);

/* A core file made from a heap dump: goroutines as threads, and what the dump has of memory. */

/* What a dump does not say of the program that wrote it. */
struct gh_core_program {
	const char *name; /* without a directory; "" if unknown */
	uint64_t entry; /* address of the entry point where the program was loaded; 0 if unknown */
	uint64_t allgs; /* of runtime.allgs there, and of runtime.allglen; 0 if unknown */
	uint64_t allglen;
};

/* Writes DUMP to PATH as an ELF core file: an NT_PRSTATUS note for each goroutine, whose thread id
 * is the goroutine's where that can be (positive, fits, and no other has it), with pc (at
 * the call it is in) and sp of its top frame; an NT_PRPSINFO note with the name of PROGRAM; an
 * NT_AUXV note with its entry point, by which debuggers know where a position-independent program
 * was; and objects, stack frames, data and bss as loadable segments, and runtime.allglen, which no
 * dump has. Objects that lie within a page
 * of each other share a segment, as do frames; what is between them reads as zeros. The file is
 * made under a temporary name beside PATH and renamed when it is whole; where it is zero it is
 * sparse. Only the user may read it. LEFT_OUT is set to how many goroutines are no threads, which
 * none are but of a dump that says next to nothing of each: the threads of a file shall not take
 * many times as much as the file. Returns false and fills ERR if it cannot be written, or if the
 * dump is of no machine that is known. */
bool gh_corefile_write(const struct gh_dump *dump, const struct gh_core_program *program,
		       const char *path, size_t *left_out, struct gh_error *err);

/* A core file of a running process. */

struct gh_live_core {
	int pid;
	struct gh_memory_parts *go; /* memory of no file is left out but for mappings that have some
				       of these, merged; stacks of threads are added; NULL: all */
	bool gzip;                  /* compress it, once it is there: both take room meanwhile */
	uint64_t paused;            /* how long the process was stopped, in ns */
};

/* Writes to PATH the core file that the kernel would write if CORE's process crashed, as far as its
 * memory is resident or in swap: all threads with all their registers, and the mappings by
 * /proc/PID/coredump_filter; what only is reserved is no part of the file. The process stands
 * while its memory is read for the last time, and not while that is written. The file is sparse,
 * its program headers are at its end, only the user may read it, and it is made under a temporary
 * name and renamed when it is whole. False (ERR filled) if the process may not be traced, or PATH
 * cannot be written, which is found out before the process is stopped. */
bool gh_live_core_write(struct gh_live_core *core, const char *path, struct gh_error *err);

/* A heap dump as an hprof file, the format of Java's heap dumps, for the tools that read those:
 * Eclipse MAT, VisualVM, jhat. */

/* A call on a goroutine's stack. */
struct gh_hprof_call {
	const char *function; /* its name; not ended by a NUL; good until the file is written */
	size_t length;        /* of the name, in bytes */
	const char *file;     /* "" if unknown; good as long */
	int32_t line;         /* 0 if unknown */
	size_t frame;         /* number of its frame in the dump */
};

struct gh_hprof_stack {
	const char *name;                  /* of the goroutine; escaped */
	const struct gh_hprof_call *calls; /* innermost first */
	size_t ncalls;                     /* how many these are */
};

/* What a dump alone does not say of its goroutines. */
struct gh_hprof_stacks {
	/* Fills STACK with that of goroutine NUMBER, good until the next is asked for. False if
	 * memory ran out. */
	bool (*get)(void *context, size_t number, struct gh_hprof_stack *stack);
	void *context; /* for get */
};

/* What of a heap is not in its hprof file. */
struct gh_hprof_damage {
	uint64_t left_out; /* objects at no address, or at that of another */
	uint64_t cut;      /* objects too large for an array, cut off */
	uint64_t unplaced; /* pointers that are not where words are, in ascending order */
};

/* Writes HEAP to PATH as an hprof file of version 1.0.2. An object's id is its address; a pointer
 * into an object is a reference to it. Objects are instances, of one class if TYPING says that they
 * are of one type, they are of one size, and have pointers at the same offsets; arrays of numbers,
 * of bytes if their type is not known and they have no pointers; and, if they are larger than 64
 * words, arrays of words, null where a word is no pointer. Readers add to their sizes the headers
 * that Java's objects have. Goroutines are threads, and make a java.lang.Thread, a String and a
 * char[] each, that the heap does not have. The slots of frames are the roots of their threads;
 * defers, panics and contexts too; all other roots are static fields, of classes named after the
 * variable, or after their kind and its address, or that of the object with a finalizer. TIME is
 * when the dump was made, in ms since 1970. The file is made under a temporary name beside PATH and
 * renamed when it is whole. False (ERR filled) if it cannot be written. */
bool gh_hprof_write(const struct gh_heap *heap, const struct gh_typing *typing,
		    const struct gh_hprof_stacks *stacks, uint64_t time, const char *path,
		    struct gh_hprof_damage *damage, struct gh_error *err);

#endif
