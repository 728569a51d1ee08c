/* Go heap dumps, opened and indexed: gh_dump_open. The records themselves are in record.h.
 *
 * - input.c: the file, mapped or unpacked;
 * - record.c, fields.c: the records, and the fieldlists in them;
 * - index.c, objects.c, extents.c: the pass over all records, and what it leaves to look up by
 *   address;
 * - dump.c: what is asked of an open dump;
 * - collections.c: how long goroutines have been blocked, by the collections that saw them so;
 * - section.c: goheap's own section, behind the end of dumps that it makes;
 * - regions.c, frame_slots.c: the dumped memory, and the variables in frames at one pc;
 * - same_program.c: whether two dumps are of one program. */
#ifndef GH_DUMP_DUMP_H
#define GH_DUMP_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/dump/record.h"
#include "lib/elf/arch.h"
#include "lib/elf/elf.h"
#include "lib/util/buffer.h"
#include "lib/util/error.h"
#include "lib/util/vector.h"

/* Address ranges of the dumped process, each with its record, looked up by address. */

struct gh_extent {
	uint64_t address; /* of the first byte */
	uint64_t size;    /* in bytes */
	uint64_t offset;  /* of its record, in the file */
};

/* An extent in its run. */
struct gh_extent_item {
	uint16_t address; /* past the run's, in GH_EXTENT_UNIT bytes */
	uint16_t offset;  /* past the run's */
};

/* The Go heap's alignment. */
#define GH_EXTENT_UNIT 8

/* Extents one after the other. */
struct gh_extent_run {
	uint64_t address; /* of the first */
	uint64_t offset;  /* of the first's record */
	uint64_t size;    /* of each */
	size_t first;     /* the number of the first */
};

/* Extents are numbered in the order they came. The dumper goes span by span: what it writes is runs
 * of objects of one size whose addresses ascend, and so an extent takes 4 bytes here, what it adds
 * to its run's first. The spans, in the order they were made, are all that has to be sorted. */
struct gh_extents {
	struct GH_VECTOR(struct gh_extent_item) items; /* by number */
	struct GH_VECTOR(struct gh_extent_run) runs;   /* by number */
	size_t *order;             /* the runs by address, once finished; owned */
	uint64_t bytes;            /* in all extents; at most UINT64_MAX */
	size_t overlapping;        /* extents that begin within the one before, by address */
	uint64_t end;              /* private: one past the extent added last */
	struct gh_extent_run last; /* private: the run that it is in */
};

/* No extent of this number. */
#define GH_NO_EXTENT SIZE_MAX

/* Between two extents that do not touch, there may be others only where the first's page ends: a
 * span is whole pages. Runs are cut there, so that they do not interleave. */
#define GH_EXTENT_PAGE 8192

/* The extents in run number RUN. */
size_t gh_extents_run_length(const struct gh_extents *extents, size_t run);

/* Extent NUMBER, which there is. */
struct gh_extent gh_extents_get(const struct gh_extents *extents, size_t number);

/* The number of the extent that holds ADDRESS, or GH_NO_EXTENT. Where extents overlap, the one that
 * begins last is asked alone. */
size_t gh_extents_find(const struct gh_extents *extents, uint64_t address);

/* A walk over the extents by address. Zero it first. */
struct gh_extent_walk {
	size_t run;   /* private: place of the run, by address */
	size_t place; /* private: of the next extent in the run */
};

/* The file of a heap dump, mapped; a compressed one is unpacked first. */

struct gh_dump_input {
	const uint8_t *data; /* mapped read-only; NULL if the file is empty */
	size_t size;         /* in bytes */
	int fd;              /* of the file, if that is not empty; owned */
	bool is_unpacked;    /* gzip had compressed it */
	bool is_bare;        /* see GH_DUMP_BARE_OBJECT */
	bool cut;       /* the compressed file is damaged, or unpacks to more than is allowed: this
			   is what came before */
	uint64_t limit; /* the bytes that are allowed, if it unpacks to more; else 0 */
};

/* Lets go of the memory that the bytes from START to END have been mapped to. They are still there
 * to be read: but who goes through a large file once need not have all of it in memory. */
void gh_dump_input_release(const struct gh_dump_input *input, uint64_t start, uint64_t end);

/* A Go heap dump: what runtime/debug.WriteHeapDump wrote, and an index of it.
 *
 * The file is mapped, and stays as it is: the index says where each record is, and a record is read
 * again when it is asked for. Contents, texts and fieldlists are never copied. */

/* No record of this number, or none that was looked for. */
#define GH_DUMP_NONE SIZE_MAX

/* A goroutine and what follows it in the file. */
struct gh_dump_stack {
	uint64_t offset;    /* of the goroutine's record, in the file */
	size_t first_frame; /* the number of its top frame; the others follow, callees first */
	size_t nframes;
	size_t first_defer; /* the number of its innermost defer */
	size_t ndefers;
	size_t first_panic; /* the number of its innermost panic */
	size_t npanics;
};

/* A record's number by its address (a profile's: by its id). */
struct gh_dump_key {
	uint64_t key;
	size_t number;
};

/* What is wrong with a dump that is read nonetheless, but for where it is cut off: its warning
 * says that (note_end in index.c). */
struct gh_dump_damage {
	size_t orphan_frames; /* before any goroutine */
	size_t
	    misplaced_frames; /* their depth is not the next, or their child not the frame before */
	size_t duplicate_ids; /* goroutines whose id another had */
	size_t strays; /* defers and panics that name another goroutine than the one before */
	size_t overlapping_objects; /* that begin within another */
	size_t overlapping_frames;  /* that begin within another */
	size_t repeated_params;     /* params after the first */
	uint64_t trailing;          /* bytes after the last record */
};

/* What goheap's own section tells of a goroutine, and no record does. */
struct gh_dump_extras {
	uint64_t creator; /* id of the goroutine that made it; 0 if none did or it is not known */
	uint64_t labels;  /* where its labels for profiles are among the dump's; 0: it has none */
	uint64_t stack;   /* its size, in bytes: not only what is in use; 0 if it is not known */
	bool locked;      /* to its thread; false also where that is not known */
	bool selected;    /* it runs on the thread that the debugger's user looks at */
};

/* What could not be read of the process when goheap made the dump of it. */
struct gh_dump_lost {
	uint64_t goroutines; /* that the dump lacks */
	uint64_t stacks;     /* of which frames are missing, or may be */
};

/* A goroutine has no more labels than these. */
#define GH_DUMP_LABELS_MAX 64

/* A label that runtime/pprof gave a goroutine. */
struct gh_dump_label {
	const char *key; /* not ended by a NUL */
	size_t key_size; /* in bytes */
	const char *value;
	size_t value_size;
};

/* A frame of C code on the stack of a goroutine's thread. */
struct gh_dump_c_frame {
	size_t goroutine; /* number of its record */
	uint64_t callees; /* how many of the goroutine's own frames it called, directly or not */
	uint64_t pc;      /* a return address but for the first, where that runs */
	uint64_t place;   /* of its functions, for gh_dump_c_places */
};

/* What a goroutine waits for in the C library. */
struct gh_dump_c_wait {
	size_t goroutine; /* number of its record */
	enum gh_dump_c_wait_kind kind;
	uint64_t object; /* address of the mutex, rwlock or semaphore; 0 if it is not known */
	uint64_t thread; /* that has the mutex or rwlock, or is waited for: the system's number; 0
			    if it is not known */
	size_t holder;   /* number of the record of its goroutine, or GH_DUMP_NONE */
	bool indirect;   /* the thread has none, and waits itself for that of HOLDER */
};

/* Memory from which C's malloc gives out blocks. */
struct gh_dump_part {
	uint64_t start;
	uint64_t end;
};

/* A system call that a thread is in. The texts are the dump's. */
struct gh_dump_call {
	uint64_t thread;    /* the system's number of it */
	uint64_t m;         /* address of its runtime.m; 0 if it has none */
	int64_t descriptor; /* its first argument, or -1 if that is none */
	uint64_t asleep;  /* for how long the thread has not run, at least, in ns; 0 if not known */
	const char *name; /* of the call */
	const char
	    *arguments; /* without the parentheses; to be escaped; "" if they are not known */
};

/* A function in C code. The texts are the dump's, and empty where they are not known. */
struct gh_dump_c_place {
	const char *function; /* its name; of one that has none where it is: "libc.so.6+0x12ab" */
	const char *object;   /* the name of the file that has the code */
	const char *file;     /* of the source */
	uint64_t line;        /* there; 0 if it is not known */
	uint64_t offset;      /* of the address: in the function; without a name, in the object */
	bool inlined;         /* into the next */
};

struct gh_dump {
	char *path;                     /* as given; owned */
	const struct gh_memory *memory; /* of what has the rest that no record has; not owned;
					   NULL: nothing has */
	struct gh_dump_input input;     /* owned; empty if the dump was opened in memory */
	bool is_copy;                   /* of another that owns all this */
	struct gh_cursor file;          /* over the whole dump, in its byte order */
	enum gh_dump_format format;
	uint8_t word;                 /* pointer size, in bytes: 4 or 8 */
	char goarch[16];              /* as GOARCH spells it; "" if unknown. To be escaped. */
	struct gh_dump_params params; /* as read */
	struct gh_extents objects;
	struct gh_extents frames;      /* in the file's order */
	struct gh_extents segments;    /* data and bss */
	struct gh_extents stack_words; /* the prototype's: of stack roots, and return addresses */
	struct gh_extents data_words;  /* the prototype's: of data roots */
	struct gh_buffer words; /* theirs, in the dump's byte order; their offsets are here */
	size_t *frame_order;    /* frame numbers to places in frames, where they differ; owned */
	struct GH_VECTOR(struct gh_dump_stack) stacks;     /* by goroutine number */
	struct GH_VECTOR(uint64_t) offsets[GH_DUMP_KINDS]; /* of the records of the other kinds */
	struct gh_dump_key *keys[GH_DUMP_KINDS]; /* of types, itabs and profiles, sorted; owned */
	uint64_t
	    latest; /* the latest time that the dump knows on the clock of its wait starts; ns */
	struct GH_VECTOR(struct gh_dump_extras) extras; /* by goroutine number, as far as goheap's
							   own section has them */
	struct gh_dump_slice labels; /* that these name; empty if there are none */
	struct GH_VECTOR(struct gh_dump_c_frame) c_frames; /* by goroutine */
	struct gh_dump_slice c_places;                     /* what their places are in */
	struct GH_VECTOR(struct gh_dump_c_wait) c_waits;   /* by goroutine */
	struct GH_VECTOR(struct gh_dump_part) c_memory;    /* by address */
	struct GH_VECTOR(uint64_t) c_words;                /* likewise */
	struct GH_VECTOR(struct gh_dump_call) calls;       /* by m */
	struct GH_VECTOR(struct gh_dump_slice) panics;     /* by record: their values' texts */
	struct gh_dump_lost lost;
	struct gh_dump_damage damage;
	struct gh_error warning; /* why records are missing at the end; "" if none are */
};

/* Opens the dump PATH, compressed by gzip or not, in one pass over its records. Where a record is
 * cut off or of an unknown kind, the dump ends before it, and dump->warning says so.
 * Returns false and fills ERR if it cannot be read, is no heap dump, or has not even its first
 * record, the params. On success the dump is to be closed with gh_dump_close. */
bool gh_dump_open(struct gh_dump *dump, const char *path, struct gh_error *err);

/* The same on SIZE bytes already in memory, not compressed, which stay the caller's and outlive the
 * dump. NAME is for errors. */
bool gh_dump_open_memory(struct gh_dump *dump, const void *data, size_t size, const char *name,
			 struct gh_error *err);

/* The same on the file FD, not compressed, which is the dump's from now on, also on failure. */
bool gh_dump_open_fd(struct gh_dump *dump, int fd, const char *name, struct gh_error *err);

/* The same on a bare one. */
bool gh_dump_open_bare(struct gh_dump *dump, int fd, const char *name, struct gh_error *err);

/* Frees everything. A zeroed dump may be closed too. */
void gh_dump_close(struct gh_dump *dump);

/* The SIZE first bytes of a file, at least 16, are those of a heap dump. */
bool gh_dump_recognise(const void *data, size_t size);

/* The format's name, "go1.7"; the prototype's is "go1.3 prototype". */
const char *gh_dump_format_name(enum gh_dump_format format);

/* The machine that the dumped process ran on. The prototype does not name it: then it is the one of
 * Go's at the time that has such pointers, and of 386 and arm the first. NULL, and ERR filled, if
 * the dump names none that is known, or it does not fit its pointers. */
const struct gh_arch *gh_dump_arch(const struct gh_dump *dump, struct gh_error *err);

/* How many records of KIND there are. They are numbered from 0 in the file's order; a goroutine's
 * frames by depth. */
size_t gh_dump_count(const struct gh_dump *dump, enum gh_dump_kind kind);

/* When the process had ended its last garbage collection, in ns since 1970, which is as near as a
 * dump tells to when it was written. 0 if it does not. */
uint64_t gh_dump_last_gc(const struct gh_dump *dump);

/* Reads record NUMBER of KIND, which there is. */
void gh_dump_get(const struct gh_dump *dump, enum gh_dump_kind kind, size_t number,
		 struct gh_dump_record *record);

/* The extras of goroutine NUMBER; zeros where they are not known. */
struct gh_dump_extras gh_dump_extras(const struct gh_dump *dump, size_t number);

/* Fills LABELS with those of goroutine NUMBER, sorted by key, and returns how many there are. */
size_t gh_dump_labels(const struct gh_dump *dump, size_t number,
		      struct gh_dump_label labels[GH_DUMP_LABELS_MAX]);

/* The frames of C code of goroutine NUMBER, callees first, COUNT of them. */
const struct gh_dump_c_frame *gh_dump_c_frames(const struct gh_dump *dump, size_t number,
					       size_t *count);

/* An object at ADDRESS is a block of C's malloc. */
bool gh_dump_is_c(const struct gh_dump *dump, uint64_t address);

/* Gives those of the SIZE bytes of Go's memory at ADDRESS that hold the address of such a block,
 * though Go has no pointer there: the words' own addresses, COUNT of them. */
const uint64_t *gh_dump_c_words(const struct gh_dump *dump, uint64_t address, uint64_t size,
				size_t *count);

/* What goroutine NUMBER waits for in the C library; NULL if that is nothing, or not known. */
const struct gh_dump_c_wait *gh_dump_c_wait(const struct gh_dump *dump, size_t number);

/* The system call that the thread is in whose runtime.m is at M; NULL if it is in none in which
 * threads wait, or that is not known. */
const struct gh_dump_call *gh_dump_call(const struct gh_dump *dump, uint64_t m);

/* Fills PLACES with the functions of FRAME, innermost first, and returns how many there are. */
size_t gh_dump_c_places(const struct gh_dump *dump, const struct gh_dump_c_frame *frame,
			struct gh_dump_c_place places[GH_DUMP_C_PLACES]);

/* Where goroutine NUMBER's frames, defers and panics are. */
const struct gh_dump_stack *gh_dump_stack(const struct gh_dump *dump, size_t number);

/* The number of the object that holds ADDRESS, not only where it begins; or GH_DUMP_NONE. */
size_t gh_dump_find_object(const struct gh_dump *dump, uint64_t address);

/* The number of the first type or itab at the address KEY, or profile with this id; or
 * GH_DUMP_NONE. */
size_t gh_dump_find(const struct gh_dump *dump, enum gh_dump_kind kind, uint64_t key);

/* A cursor over a text or contents, in the dump's byte order. */
struct gh_cursor gh_dump_bytes(const struct gh_dump *dump, struct gh_dump_slice slice);

/* ROOT is of a cleanup: see GH_DUMP_CLEANUP. */
bool gh_dump_is_cleanup(const struct gh_dump *dump, const struct gh_dump_other_root *root);

/* Starts a walk over the fields of an object, frame, data or bss segment, or type. */
void gh_dump_fields(const struct gh_dump *dump, const struct gh_dump_record *record,
		    struct gh_fields *walk);

/* How long a goroutine has waited, in ns, or 0 if the dump does not say. A wait starts, for Go, at
 * the first garbage collection that sees it; and a dump does not say when it was written: it is
 * counted up to the latest such start of any goroutine. So this is a lower bound. */
uint64_t gh_dump_waited(const struct gh_dump *dump, const struct gh_dump_goroutine *goroutine);

/* The work of the garbage collector. Sources: type mstats in src/runtime/mstats.go, type
 * gcControllerState in src/runtime/mgcpacer.go. */
struct gh_collections {
	uint64_t count;      /* how many there were; 0 if what follows is not known */
	uint64_t last;       /* when the last one ended, in ns since 1970 */
	uint64_t recent;     /* so many of them, the last ones, */
	uint64_t span;       /* took place within so many ns */
	double cpu_fraction; /* of the processors' time since the start, what they took; 0 to 1 */
	uint64_t limit;      /* of memory, in bytes (GOMEMLIMIT); 0 for none known */
	uint64_t limited;    /* bytes that count towards it */
	bool off;            /* it is turned off (GOGC=off) */
	bool never;          /* it has not run yet */
	uint64_t ends[GH_DUMP_PAUSES]; /* when the latest ended, in their order, as last */
	size_t nends;
	uint64_t count_at; /* address of COUNT in a process, and of the bytes of spans in use; 0 if
			      they are not known */
	uint64_t in_use_at;
};

/* The least that a goroutine has been blocked for at NOW, in ns since 1970, of which the runtime
 * says WAITED ns: it counts from the end of the collection before the one that first saw the
 * goroutine blocked. 0 if none of COLLECTIONS is known to have ended since then.
 *
 * Source: markroot in src/runtime/mgcmark.go, gcMark in src/runtime/mgc.go. */
uint64_t gh_collections_least_wait(const struct gh_collections *collections, uint64_t waited,
				   uint64_t now);

/* The Go version that wrote the dump, where it says ("go1.22.5", Go 1.17 and later); else size 0.
 */
struct gh_dump_slice gh_dump_go_version(const struct gh_dump *dump);

/* N of the release Go 1.N that wrote DUMP, of a development version too, or GH_GO_UNKNOWN. Those of
 * Go 1.7 to 1.16 do not say (gh_dump_go_version): they are taken for 1.16. */
int gh_dump_minor(const struct gh_dump *dump);

/* The memory of the dumped process, as far as the dump has it: objects, stack frames, data and bss;
 * of the last three the prototype has words only, those that are roots, and return addresses. */

/* A cursor over the bytes from ADDRESS to the end of the object, frame or segment that holds it, in
 * the dump's byte order. False if none does. */
bool gh_dump_memory(const struct gh_dump *dump, uint64_t address, struct gh_cursor *cur);

/* Objects, frames, segments, words of stacks, words of data. */
#define GH_MEMORY_SOURCES 5

/* A stretch of memory that is in the dump. */
struct gh_region {
	uint64_t address;
	uint64_t size;          /* in bytes; at least 1 */
	enum gh_dump_kind kind; /* object, frame, or data for either segment */
	/* Private: */
	unsigned source;
	uint64_t offset; /* of its extent */
	uint64_t skip;   /* bytes of its extent that are before it */
};

/* A walk over the memory by address. Zero it first. The fields are private. */
struct gh_regions {
	struct gh_extent_walk walks[GH_MEMORY_SOURCES]; /* over the dump's extents */
	struct gh_extent heads[GH_MEMORY_SOURCES];      /* the next of each */
	bool left[GH_MEMORY_SOURCES];                   /* there is a next */
	bool started;
	bool full;    /* the end of the address space was reached */
	uint64_t end; /* one past the last region */
};

/* Gives the next region. They ascend and do not overlap: of bytes that the dump has twice, it is
 * the first extent's, by address, that are given. False at the end. */
bool gh_regions_next(const struct gh_dump *dump, struct gh_regions *walk, struct gh_region *region);

/* The bytes of REGION, in the dump's byte order. The walk itself does not read the file. */
struct gh_cursor gh_region_contents(const struct gh_dump *dump, const struct gh_region *region);

/* The slots of a heap dump's frames that hold variables, which are the same in all frames at one
 * pc: function, size, and the slots that their fieldlists tell of. */

/* A variable of a frame. */
struct gh_slot {
	uint64_t offset; /* from the frame's sp, in bytes */
	enum gh_field_kind kind;
	size_t type; /* number of the type of what its pointer points to (a slice's array, an
			interface's data); GH_DUMP_NONE if that is unknown, or is not always the
			same */
};

/* Where in the code frames are. */
struct gh_site {
	uint64_t address;              /* of the bytes that debuggers look such frames up by */
	uint64_t end;                  /* one past them */
	uint64_t entry;                /* address of the function */
	uint64_t size;                 /* of the frame, from sp to its caller's, in bytes */
	struct gh_dump_slice function; /* its name */
	bool last;                     /* these frames have no caller */
	size_t first;                  /* place of its first slot */
	size_t count;                  /* slots */
};

struct gh_slots {
	const struct gh_dump *dump; /* not owned */
	const struct gh_arch *arch; /* the dump's */
	uint64_t bias;              /* how far above their addresses in the program's file the
				       dumped process had things; 0 until set */
	struct gh_site *sites;      /* by address, each address once; owned */
	size_t nsites;
	struct gh_slot *slots; /* site by site, by offset; no two at one offset; owned */
	size_t nslots;
};

/* The pc at which debuggers look up TOP, a stack's first frame. A goroutine that does not run has
 * saved the address that a call returns to, which may be another line's; or, where nothing was
 * called, its function's entry, before it starts, or the end of the prologue, in
 * runtime.systemstack_switch. */
uint64_t gh_top_frame_pc(const struct gh_arch *arch, const struct gh_dump_frame *top);

/* Collects the sites of DUMP with their slots, which are what fieldlists of frames say or, in the
 * prototype, stack roots. A site that frames with several fieldlists share has the slots of all.
 * False (ERR filled) if the dump is of no machine that is known, or memory ran out. In any case
 * SLOTS is to be freed with gh_slots_free, before the dump is closed. */
bool gh_slots_find(struct gh_slots *slots, const struct gh_dump *dump, struct gh_error *err);

void gh_slots_free(struct gh_slots *slots);

/* Whether A and B are, as far as their frames tell, of one program: the functions that frames of
 * both are of are as far from each other in both. */
bool gh_dump_is_same_program(const struct gh_dump *a, const struct gh_dump *b);

#endif
