/* The records of a Go heap dump, as they are in the file.
 *
 * Formats: the Go wiki's "heapdump13", "heapdump14" and "heapdump15-through-heapdump17", and the
 * writers themselves, src/runtime/heapdump.c (Go 1.3, 1.4) and heapdump.go (later). */
#ifndef GH_DUMP_RECORD_H
#define GH_DUMP_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/util/cursor.h"

/* The formats, named after the Go release whose name is in the file's first line; later ones
 * compare greater. 1.5 and 1.6 differ in that line only. */
enum gh_dump_format {
	GH_DUMP_PROTOTYPE, /* before Go 1.3 was released; its first line says 1.3 */
	GH_DUMP_1_3,
	GH_DUMP_1_4,
	GH_DUMP_1_5,
	GH_DUMP_1_6,
	GH_DUMP_1_7,  /* every release from 1.7 on */
	GH_DUMP_BARE, /* goheap's own, of a process: see GH_DUMP_BARE_OBJECT */
};

/* The tag of an object without pointers in a bare dump: it is like GH_DUMP_OBJECT, but lacks the
 * contents, unless it may be a closure. The last bytes of the file stand for them, which are zeros
 * and take no room. A bare dump is made for questions that show no contents, and has no name. */
#define GH_DUMP_BARE_OBJECT 32

/* Fieldlists: which words of a memory region hold pointers. They stay in the file. */

enum gh_field_kind {
	GH_FIELD_POINTER,
	GH_FIELD_STRING, /* pointer, length */
	GH_FIELD_SLICE,  /* pointer, length, capacity */
	GH_FIELD_IFACE,  /* itab, data */
	GH_FIELD_EFACE,  /* type, data */
	GH_FIELD_KINDS,  /* also: a kind that is not known */
};

struct gh_field {
	enum gh_field_kind kind;
	uint64_t offset; /* from the start of the region, in bytes */
};

/* Where a fieldlist is. */
struct gh_fieldlist {
	uint64_t offset; /* of the first pair in the file; 0 if there is no list */
	uint64_t count;  /* pairs, in the prototype; else the list ends itself */
};

/* Passes over the fieldlist at CUR, of a format that ends it with a mark, and notes where it is.
 * CUR fails if its end is not there. */
static inline struct gh_fieldlist gh_fieldlist_skip(struct gh_cursor *cur)
{
	struct gh_fieldlist list = {.offset = gh_cursor_offset(cur)};
	while (gh_cursor_u8(cur) != 0) {
		if (cur->pos[-1] >= 0x80)
			gh_cursor_skip_uvarint(cur);
		gh_cursor_skip_uvarint(cur);
	}
	return list;
}

/* A walk over the fields of a region. The fields are private. */
struct gh_fields {
	struct gh_cursor list;     /* from the first pair to the end of the file */
	struct gh_cursor cur;      /* at the next pair */
	struct gh_fieldlist where; /* of the list */
	uint64_t left;             /* pairs left, in the prototype */
	uint64_t budget;           /* pairs that may still be read */
	uint64_t base;             /* of the element that the list is applied to, in the region */
	uint64_t stride;           /* from one element to the next; 0 if there is but one */
	uint64_t element;          /* size of an element, in bytes */
	uint64_t size;             /* of the region, in bytes */
	uint8_t word;              /* pointer size, in bytes */
	uint64_t beyond;           /* fields passed over: beyond the region, or of unknown kinds */
	bool every_word;           /* no list: each word may be a pointer */
	enum gh_dump_format format;
};

/* Starts a walk over LIST, of a region of SIZE bytes. FILE is a cursor over the whole file; WORD
 * the pointer size. */
void gh_fields_start(struct gh_fields *walk, const struct gh_cursor *file,
		     enum gh_dump_format format, uint8_t word, struct gh_fieldlist list,
		     uint64_t size);

/* Gives the next field that lies within the region. Fields beyond it (runtime.goexit's frame has
 * some) and of unknown kinds are passed over. False at the end. */
bool gh_fields_next(struct gh_fields *walk, struct gh_field *field);

/* Size of a field in words. */
unsigned gh_field_words(enum gh_field_kind kind);

/* The kinds of records, numbered as the released formats' tags. */
enum gh_dump_kind {
	GH_DUMP_EOF = 0,
	GH_DUMP_OBJECT = 1,
	GH_DUMP_OTHER_ROOT = 2,
	GH_DUMP_TYPE = 3,
	GH_DUMP_GOROUTINE = 4,
	GH_DUMP_FRAME = 5,
	GH_DUMP_PARAMS = 6,
	GH_DUMP_FINALIZER = 7,
	GH_DUMP_ITAB = 8,
	GH_DUMP_THREAD = 9,
	GH_DUMP_MEMSTATS = 10,
	GH_DUMP_QUEUED_FINALIZER = 11,
	GH_DUMP_DATA = 12,
	GH_DUMP_BSS = 13,
	GH_DUMP_DEFER = 14,
	GH_DUMP_PANIC = 15,
	GH_DUMP_PROFILE = 16,
	GH_DUMP_SAMPLE = 17,
	/* A new release's tag 18 would go here, its struct into the union below, and its reading
	 * into record.c; lib/heap/roots.c says which kinds keep objects. What follows has no tag.
	 */
	GH_DUMP_TAGS,
	GH_DUMP_STACK_ROOT = GH_DUMP_TAGS, /* of the prototype only */
	GH_DUMP_DATA_ROOT,                 /* of the prototype only */
	GH_DUMP_KINDS,                     /* one more than the last; also: no kind that is known */
};

/* Bytes of the file: a text or contents. Not ended by a NUL, and may hold any byte. */
struct gh_dump_slice {
	uint64_t offset; /* in the file, in bytes */
	uint64_t size;   /* in bytes */
};

/* Pointers are as in the dumped process. A pointer that the process did not have is 0. */

struct gh_dump_object {
	uint64_t address;
	uint64_t type;                 /* address of its type; 0 if unknown, and from 1.4 on */
	uint64_t type_kind;            /* of enum gh_dump_type_kind; 0 from 1.4 on */
	struct gh_dump_slice contents; /* as long as its size class, which may be more than it */
	struct gh_fieldlist fields;    /* from 1.4 on; before, the type tells */
};

/* What an object is of its type (1.3 and the prototype). */
enum gh_dump_type_kind {
	GH_DUMP_REGULAR = 0,
	GH_DUMP_ARRAY = 1,          /* one after the other, as many as fit */
	GH_DUMP_CHANNEL = 2,        /* the same after a channel's header */
	GH_DUMP_CONSERVATIVE = 127, /* nothing is known: any word may be a pointer */
};

/* In a dump that was made of a process: how the description of a root ends that may be no pointer.
 */
#define GH_DUMP_PERHAPS ", perhaps"

/* That of what a cleanup has (runtime.AddCleanup): its closure; from Go 1.26 on, followed by its
 * function's name, what calls it, the function's closure, and its argument, in this order. */
#define GH_DUMP_CLEANUP "cleanup"

/* The description of a root of such a dump, a nil pointer, that says: frames have, among their
 * fields, those of variables whose address is taken. */
#define GH_DUMP_HAS_STACK_OBJECTS "frames list their stack objects"

/* How that of another such root begins: it is of a file that the process has code of beside its
 * program's, and goes on with the bias of its addresses over the file's, 16 digits, a colon, a
 * space and the path. */
#define GH_DUMP_MODULE "module at 0x"

/* The description of a nil root of such a dump that says the type of an object: the addresses of
 * both, 16 digits each. */
#define GH_DUMP_OBJECT_TYPE "object at 0x%016" PRIx64 " of the type at 0x%016" PRIx64

struct gh_dump_other_root {
	struct gh_dump_slice description;
	uint64_t pointer;
};

struct gh_dump_type {
	uint64_t address;
	uint64_t size; /* of a value, in bytes */
	struct gh_dump_slice name;
	bool indirect;              /* an interface's data word that holds it is a pointer */
	struct gh_fieldlist fields; /* 1.3 and the prototype */
};

/* What a goroutine is doing; other numbers are of runtime2.go of the release. */
enum gh_dump_status {
	GH_DUMP_IDLE = 0,
	GH_DUMP_RUNNABLE = 1,
	GH_DUMP_RUNNING = 2,
	GH_DUMP_SYSCALL = 3,
	GH_DUMP_WAITING = 4,
};

struct gh_dump_goroutine {
	uint64_t g;  /* address of its runtime.g */
	uint64_t sp; /* of its top frame */
	uint64_t id;
	uint64_t creator_pc; /* of the go statement that made it; a return address */
	uint64_t status;
	bool system;
	bool background;
	uint64_t wait_start; /* ns of the process's monotonic clock at the garbage collection that
				first found it waiting; 0 if none has */
	struct gh_dump_slice wait_reason; /* means something if it waits */
	uint64_t context;                 /* closure pointer; not in the prototype */
	uint64_t thread;                  /* address of its runtime.m; not in the prototype */
	uint64_t top_defer;               /* address of a defer; not in the prototype */
	uint64_t top_panic;               /* address of a panic; not in the prototype */
};

/* goheap's own section, behind the record that ends a dump: readers of the format stop there. It
 * begins with this line. Parts follow: a tag, the size of what comes, in bytes, and that. Parts of
 * unknown tags are to be skipped. The tag GH_SECTION_END, without a size, is the end. All numbers
 * are unsigned LEB128. goheap(1) describes it. */
#define GH_DUMP_SECTION "goheap section 1\n"

enum gh_section_tag {
	GH_SECTION_END,
	/* For each goroutine's record, in the file's order: its creator's id, 0 for none; its
	 * flags; where its labels are in the next part, 0 for none. */
	GH_SECTION_GOROUTINES,
	/* At each place a number of labels, at most GH_DUMP_LABELS_MAX, and of each its key and its
	 * value: sizes, and the texts. */
	GH_SECTION_LABELS,
	/* How many goroutines could not be read; and of how many frames are missing, or may be. */
	GH_SECTION_LOST,
	/* For each goroutine's record, in the file's order: the size of its stack, in bytes. */
	GH_SECTION_STACKS,
	/* At each place what is at an address in C code: the number of functions, at most
	 * GH_DUMP_C_PLACES, and of each, innermost first, whether it is inlined into the next; how
	 * far the address is after its start, or that of the file; its line, 0 for none; and three
	 * texts that a 0 ends, empty where they are not known: its name or where it is, the file
	 * that has the code, the source. */
	GH_SECTION_C_PLACES,
	/* For each goroutine with C code on its thread's stack, in the file's order: the number of
	 * its record, and of frames; of each, callees first, how many of the goroutine's own frames
	 * were called by it, directly or not; the pc; where its functions are in the part before.
	 */
	GH_SECTION_C_FRAMES,
	/* For each goroutine that waits in the C library, in the file's order: the number of its
	 * record; an enum gh_dump_c_wait_kind, and GH_SECTION_INDIRECT; the object's address, 0 if
	 * it is not known; the system's number of the thread that has it, or that is waited for, 0
	 * if it is not known; and one more than the number of the record of that thread's
	 * goroutine, or of the one for which that thread itself waits in C, if it is indirect; or
	 * 0. */
	GH_SECTION_C_WAITS,
	/* Where C's malloc has the blocks that have records of objects: of each part, by address,
	 * how far it begins after the end of the one before, and its size, in bytes. */
	GH_SECTION_C_MEMORY,
	/* The words of Go's objects and variables that are no pointers for Go, and are the address
	 * of such a block, or of what follows a header in it: of each, by address, how far it is
	 * after the one before. */
	GH_SECTION_C_WORDS,
	/* For each thread in a system call in which threads wait: the system's number of it; one
	 * more than the descriptor that is the call's first argument, or 0; for how long the thread
	 * has not run, at least, in ns, 0 if it is not known; and two texts that a 0 ends: the
	 * call's name, and its arguments, empty where they are not known. */
	GH_SECTION_CALLS,
	/* The value of each panic, in the order of their records, as Go prints it: its size, and
	 * the text. */
	GH_SECTION_PANICS,
};

/* What is waited for in the C library. */
enum gh_dump_c_wait_kind {
	GH_C_WAIT_MUTEX = 1,
	GH_C_WAIT_RWLOCK_READ,
	GH_C_WAIT_RWLOCK_WRITE,
	GH_C_WAIT_COND,
	GH_C_WAIT_SEMAPHORE,
	GH_C_WAIT_JOIN, /* that a thread ends */
	GH_C_WAIT_KINDS
};

/* No more functions are at one address in C code. */
#define GH_DUMP_C_PLACES 16

/* It is added to the kind of what is waited for. */
#define GH_SECTION_INDIRECT 16

/* The flags of a goroutine. */
#define GH_SECTION_LOCKED   1 /* to its thread */
#define GH_SECTION_SELECTED 2 /* on the thread that GDB's user has selected; never in files */

/* In a dump that was made of a process: the frame stands anywhere in its code, not at a call. No
 * function is there. */
#define GH_DUMP_INTERRUPTED 1

struct gh_dump_frame {
	uint64_t sp;        /* lowest address of the frame */
	uint64_t depth;     /* 0 for the top; 0 in the prototype */
	uint64_t child_sp;  /* of the frame that it called, 0 for none; not in the prototype */
	uint64_t parent_sp; /* of its caller's frame; in the prototype only */
	uint64_t size;      /* from sp to its caller's sp, in bytes; 0 if it is not known */
	struct gh_dump_slice contents; /* from sp; empty in the prototype */
	uint64_t entry;                /* of the function, an address */
	uint64_t pc;                   /* a return address but for the top frame */
	uint64_t
	    continuation; /* where it would go on after a panic, or GH_DUMP_INTERRUPTED; not in
			     the prototype; pc in the beta releases of Go 1.3, which had none */
	struct gh_dump_slice function; /* its name */
	struct gh_fieldlist fields;    /* offsets from sp; not in the prototype */
};

/* The CPUs in a dump that was made of a process. There the lines of a profile record are all those
 * of calls. */
#define GH_DUMP_FROM_OUTSIDE 0

struct gh_dump_params {
	bool big_endian;
	uint64_t pointer_size;           /* in bytes */
	uint64_t channel_header;         /* size in bytes; 1.3 and the prototype */
	uint64_t heap_start;             /* an address */
	uint64_t heap_end;               /* an address */
	uint64_t arch_char;              /* 1.3 to 1.6: letter of the architecture's compiler */
	struct gh_dump_slice arch;       /* from 1.7 on: GOARCH */
	struct gh_dump_slice experiment; /* GOEXPERIMENT or, from Go 1.17 or so, Go's version */
	uint64_t ncpu;                   /* CPUs; or GH_DUMP_FROM_OUTSIDE */
};

struct gh_dump_finalizer {
	uint64_t object;        /* that it is for */
	uint64_t func_value;    /* address of the closure */
	uint64_t entry;         /* of its function */
	uint64_t argument_type; /* address of a type */
	uint64_t object_type;   /* address of a (pointer) type */
};

struct gh_dump_itab {
	uint64_t address;
	uint64_t
	    type; /* from 1.4 on: address of the dynamic type (to 1.6: of what the data word is) */
	bool indirect; /* 1.3 and the prototype: the data word is a pointer */
};

struct gh_dump_thread {
	uint64_t m;     /* address of its runtime.m */
	uint64_t id;    /* Go's number of it */
	uint64_t os_id; /* the system's */
};

enum {
	GH_DUMP_PAUSES = 256,
};

/* The counters of runtime.MemStats, numbered in its order. */
enum gh_dump_counter {
	GH_DUMP_ALLOC,
	GH_DUMP_TOTAL_ALLOC,
	GH_DUMP_SYS,
	GH_DUMP_LOOKUPS,
	GH_DUMP_MALLOCS,
	GH_DUMP_FREES,
	GH_DUMP_HEAP_ALLOC,
	GH_DUMP_HEAP_SYS,
	GH_DUMP_HEAP_IDLE,
	GH_DUMP_HEAP_INUSE,
	GH_DUMP_HEAP_RELEASED,
	GH_DUMP_HEAP_OBJECTS,
	GH_DUMP_STACK_INUSE,
	GH_DUMP_STACK_SYS,
	GH_DUMP_MSPAN_INUSE,
	GH_DUMP_MSPAN_SYS,
	GH_DUMP_MCACHE_INUSE,
	GH_DUMP_MCACHE_SYS,
	GH_DUMP_BUCKHASH_SYS,
	GH_DUMP_GC_SYS,
	GH_DUMP_OTHER_SYS,
	GH_DUMP_NEXT_GC,
	GH_DUMP_LAST_GC, /* ns since 1970 */
	GH_DUMP_PAUSE_TOTAL,
	GH_DUMP_COUNTERS, /* how many there are */
};

/* runtime.MemStats, in its order; lib/process/dump_memstats.c writes it. */
struct gh_dump_memstats {
	uint64_t counters[GH_DUMP_COUNTERS]; /* from Alloc to PauseTotalNs */
	uint64_t pauses[GH_DUMP_PAUSES];     /* PauseNs, a ring, in ns */
	uint64_t ngc;                        /* NumGC */
};

struct gh_dump_segment {
	uint64_t address;
	struct gh_dump_slice contents;
	struct gh_fieldlist fields;
};

struct gh_dump_defer {
	uint64_t record;     /* address of it */
	uint64_t goroutine;  /* address of its goroutine's runtime.g */
	uint64_t argp;       /* sp of the function that deferred */
	uint64_t pc;         /* of the defer statement; a return address */
	uint64_t func_value; /* address of the closure */
	uint64_t entry;      /* of its function; 0 for open-coded defers */
	uint64_t next;       /* address of the next defer */
};

struct gh_dump_panic {
	uint64_t record;        /* address of it */
	uint64_t goroutine;     /* address of its goroutine's runtime.g */
	uint64_t argument_type; /* address of a type */
	uint64_t argument_data; /* data word of the argument, an interface */
	uint64_t defer;         /* that runs because of it; 0 from 1.4 on */
	uint64_t next;          /* address of the next panic */
	/* The argument as Go prints it, by goheap's own section; empty if that does not tell. */
	struct gh_dump_slice value;
};

struct gh_dump_profile {
	uint64_t id;
	uint64_t size;    /* of an object, in bytes */
	uint64_t nframes; /* of the stack that allocates */
	uint64_t frames;  /* offset of the first in the file, for gh_profile_next */
	uint64_t allocations;
	uint64_t frees;
};

/* A frame of a profile record's stack. */
struct gh_profile_frame {
	struct gh_dump_slice function;
	struct gh_dump_slice file;
	uint64_t line;
};

struct gh_dump_sample {
	uint64_t object;  /* an address */
	uint64_t profile; /* id of its profile record */
};

struct gh_dump_stack_root {
	uint64_t address; /* of the slot */
	uint64_t pointer; /* that is there */
	uint64_t sp;      /* of its frame */
};

struct gh_dump_data_root {
	uint64_t address; /* of the slot */
	uint64_t pointer; /* that is there */
};

/* A record of any kind. */
struct gh_dump_record {
	enum gh_dump_kind kind;
	uint64_t tag;    /* as it is in the file */
	uint64_t offset; /* of the tag, in the file */
	union {
		struct gh_dump_object object;
		struct gh_dump_other_root other_root;
		struct gh_dump_type type;
		struct gh_dump_goroutine goroutine;
		struct gh_dump_frame frame;
		struct gh_dump_params params;
		struct gh_dump_finalizer finalizer; /* registered or queued */
		struct gh_dump_itab itab;
		struct gh_dump_thread thread;
		struct gh_dump_memstats memstats;
		struct gh_dump_segment segment; /* data or bss */
		struct gh_dump_defer defer;
		struct gh_dump_panic panic;
		struct gh_dump_profile profile;
		struct gh_dump_sample sample;
		struct gh_dump_stack_root stack_root;
		struct gh_dump_data_root data_root;
	};
};

/* Reads the record at CUR, which is known to be all there. It takes no longer for one with many
 * fields, and does not leave CUR after it. */
bool gh_dump_record_read_again(struct gh_cursor *cur, enum gh_dump_format format,
			       struct gh_dump_record *record);

/* Reads a frame of a profile record's stack; the next is after it. False at the end of the data. */
bool gh_profile_next(struct gh_cursor *cur, struct gh_profile_frame *frame);

#endif
