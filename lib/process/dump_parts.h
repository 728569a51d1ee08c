/* The parts of the heap dump that is made of a process, and of its footprint; and the memory that a
 * copy of it may take. */
#ifndef GH_PROCESS_DUMP_PARTS_H
#define GH_PROCESS_DUMP_PARTS_H

#include "lib/process/internal.h"
#include "lib/process/process.h"
#include "lib/rtype/rtype.h"
#include "lib/unwind/unwind.h"

/* The records of a heap dump on their way to a file, or kept in memory. */

struct gh_dump_stream {
	struct gh_buffer bytes; /* not written yet; owned */
	int fd;                 /* where they go; -1: they stay in BYTES */
	uint64_t left;          /* bytes of the process's memory that may still be added: a process
				   that lies about its tables does not fill a disk */
	uint64_t missing;       /* bytes that were not in memory, and are 0 */
	bool failed;            /* the file could not be written; at the end errno says why */
	int error;              /* errno when a write failed; 0 if none did */
	bool bare;              /* objects without pointers have no contents */
	uint64_t bare_size;     /* of the largest of these, in bytes */
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

/* goheap's own section of a dump: see GH_DUMP_SECTION. */

/* What it is to have. All zeros at first. */
struct gh_dump_section {
	struct gh_buffer goroutines; /* as the part has them; owned */
	struct gh_buffer labels;     /* likewise */
	struct gh_buffer stacks;     /* likewise */
	struct gh_buffer c_places;   /* likewise */
	struct gh_buffer c_frames;   /* likewise */
	struct gh_buffer c_waits;    /* likewise */
	struct gh_buffer c_memory;   /* likewise */
	struct gh_buffer c_words;    /* likewise */
	struct gh_buffer calls;      /* likewise */
	struct gh_buffer panics;     /* likewise */
	struct gh_numbermap known;   /* addresses of labels to where they are in LABELS; owned */
	struct gh_dump_lost lost;
};

/* Adds to SECTION the goroutine G, whose record is the next, with these FLAGS. */
void gh_dump_section_goroutine(struct gh_dump_section *section, struct gh_process *process,
			       const struct gh_goroutine *g, unsigned flags);

/* Adds to SECTION the value of PANIC, whose record is the next, by the program's TYPES; NULL: they
 * are not known. */
void gh_dump_section_panic(struct gh_dump_section *section, struct gh_process *process,
			   const struct gh_rtypes *types, const struct gh_panic *panic);

/* Adds SECTION, which is freed, behind the end of the dump. False if memory ran out for it. */
bool gh_dump_add_section(struct gh_dump_stream *stream, struct gh_dump_section *section);

/* The program and the libraries of a process, by which its C code and variables are known. */

struct gh_c_files {              /* zeros at first; does not move once it is open */
	struct gh_c_code *code;  /* owned; NULL if there is none */
	struct gh_memory memory; /* of the process, for that */
	bool opened;             /* it was looked for */
};

/* Opens the files of PROCESS, which has a list of them, once. False if they cannot be, or libdw is
 * not there. */
bool gh_c_files_open(struct gh_c_files *files, const struct gh_process *process);

void gh_c_files_close(struct gh_c_files *files);

/* The C code on the stacks of the threads that goroutines are on: what they have called, and what
 * has called back.
 *
 * Sources: cgocall and cgocallbackg in src/runtime/cgocall.go; asmcgocall and cgocallback in
 * src/runtime/asm_GOARCH.s; crosscall2 in src/runtime/cgo/asm_GOARCH.s. */

/* What is found of all goroutines. The other fields are private. */
struct gh_c_stacks {
	struct gh_buffer places; /* as the section's part has them; the caller's to free */
	struct gh_buffer list;   /* frames, likewise */
	struct gh_buffer waits;  /* likewise, once they are ended */
	struct gh_process *process;
	const struct gh_stack *stack; /* for its threads */
	uint32_t sched;               /* where runtime.g has sched.sp */
	struct gh_c_files files;
	struct GH_VECTOR(struct gh_c_frame) frames; /* of the part that is looked at; owned */
	struct GH_VECTOR(struct gh_dump_c_wait) list_of_waits; /* owned */
	struct gh_numbermap goroutines; /* by address of its runtime.m: the number of a goroutine's
					   record; owned */
	struct gh_numbermap known;      /* pcs to their places; owned */
	unsigned left;                  /* frames that may still be added */
};

/* Prepares for the goroutines of PROCESS, on whose threads are those of STACK. */
void gh_c_stacks_open(struct gh_c_stacks *stacks, struct gh_process *process,
		      const struct gh_stack *stack, uint32_t sched);

/* Adds those of G, which has the record NUMBER and these FRAMES. A goroutine that is not in C, and
 * was not called by it, takes no time. */
void gh_c_stacks_add(struct gh_c_stacks *stacks, const struct gh_goroutine *g, size_t number,
		     const struct gh_stack_frame *frames, size_t nframes);

/* Ends what is waited for: says which goroutines have it. The goroutines ALL were found; without
 * the program's TYPES, NULL, it is not known. */
void gh_c_waits_end(struct gh_c_stacks *stacks, const struct gh_goroutines *all,
		    const struct gh_rtypes *types);

/* Adds what THREAD, whose frames of C code are those of STACKS and which has the goroutine of
 * record NUMBER, waits for in glibc, if it does.
 *
 * Sources: struct __pthread_mutex_s and struct __pthread_rwlock_arch_t in sysdeps/nptl/bits and
 * sysdeps/x86/nptl/bits of glibc, which are so on all machines of 64 bits; pthread_join_common.c,
 * sem_waitcommon.c in nptl. */
void gh_c_wait_add(struct gh_c_stacks *stacks, const struct gh_stack_thread *thread, size_t number);

/* Finds the frames of C code of THREAD, down to the first in Go: they are those of STACKS then.
 * False if there are none. */
bool gh_c_stacks_walk(struct gh_c_stacks *stacks, const struct gh_stack_thread *thread);

void gh_c_stacks_close(struct gh_c_stacks *stacks);

/* Adds to OUT the system calls that the threads of PROCESS are in, as the section's part has them.
 */
void gh_thread_calls_add(struct gh_buffer *out, const struct gh_process *process);

/* The cleanups of a process, and of those that wait to be called (Go 1.25 and later; Go 1.24 queues
 * them as finalizers), as roots of a heap dump.
 *
 * Sources: type cleanupBlock and cleanupQueue in src/runtime/mcleanup.go, markroot in
 * src/runtime/mgcmark.go. */

/* Adds a root for each pointer that the cleanup at ADDRESS holds: its closures, and its argument.
 * They are described as WHAT and, from Go 1.26 on, by the function that it calls. */
void gh_dump_add_cleanup(struct gh_dump_stream *stream, struct gh_process *process,
			 const char *what, uint64_t address);

/* Adds the same of those that are queued. */
void gh_dump_add_queued_cleanups(struct gh_dump_stream *stream, struct gh_process *process);

/* The memory that C code has from glibc's malloc, on machines of 64 bits, block by block. */

/* A block that is given out. */
struct gh_c_block {
	uint64_t address;
	uint64_t size; /* in bytes, as malloc_usable_size(3) tells it */
};

/* C's memory is large from so many bytes on, if it is a fourth of the Go heap, too. */
#define GH_LARGE_C (UINT64_C(16) << 20)

struct gh_c_memory {
	struct GH_VECTOR(struct gh_c_block) blocks; /* by address; owned */
	struct gh_memory_parts parts; /* where malloc has its memory, in no order; owned */
	uint64_t bytes;               /* of all blocks */
	uint64_t corrupt; /* arenas of which not all could be read: chunks do not fit together */
	uint64_t last;    /* address of the last byte of the last one */
};

/* Finds the blocks of PROCESS: not those that threads keep to give out again (tcache), or that are
 * in lists of free ones. Of an arena that is corrupt it has those up to there. False if memory ran
 * out; to be freed with gh_c_memory_free in either case. */
bool gh_c_memory_find(struct gh_c_memory *memory, struct gh_process *process,
		      const struct gh_spans *spans);

void gh_c_memory_free(struct gh_c_memory *memory);

/* The block that a pointer to ADDRESS is to, or into; NULL for none. */
const struct gh_c_block *gh_c_memory_at(const struct gh_c_memory *memory, uint64_t address);

/* The blocks of C's memory, and what points to them, as records of a heap dump. */
struct gh_c_records {
	struct gh_c_memory memory;
	struct GH_VECTOR(uint64_t) words; /* of Go's memory that are no pointers for Go: their
					     addresses; owned */
};

/* Finds C's memory of PROCESS, if it is wanted (see struct gh_process); there is none if not. False
 * if memory ran out; to be freed in either case. */
bool gh_c_records_open(struct gh_c_records *records, struct gh_process *process,
		       const struct gh_spans *spans);

/* Adds a record for each block, whose fields are the words that point to, or into, another. */
void gh_dump_add_c_blocks(struct gh_dump_stream *stream, struct gh_process *process,
			  const struct gh_c_records *records);

/* Adds roots for what C's variables, stacks and registers, and Go's stacks point to. */
void gh_dump_add_c_roots(struct gh_dump_stream *stream, struct gh_process *process,
			 const struct gh_spans *spans, const struct gh_c_records *records);

/* VALUE is the address of BLOCK, or of what comes after a small header there: whoever keeps that
 * has the block, even if it is no pointer for Go. */
bool gh_c_block_is_named(const struct gh_c_block *block, uint64_t value);

/* Notes those of the SIZE bytes of Go's memory at ADDRESS that name a block, but for those that
 * POINTERS, a bit for each word, or NULL, has. */
void gh_c_records_note(struct gh_c_records *records, struct gh_process *process, uint64_t address,
		       uint64_t size, const uint64_t *pointers);

/* Adds to SECTION where C's memory is, and the words that were noted. */
void gh_c_records_end(struct gh_c_records *records, struct gh_dump_section *section);

void gh_c_records_free(struct gh_c_records *records);

/* The global variables of a process's modules, as records of a heap dump: those of the program, and
 * of what it has loaded as plugins or, if it is in C itself, as shared libraries.
 *
 * Source: type moduledata in src/runtime/symtab.go. */

/* Adds the records of the data and bss segments of the modules of PROCESS, those of its program
 * first. C notes the words that are no fields. False if the masks of some are not found: then they
 * are without fields. */
bool gh_dump_add_globals(struct gh_dump_stream *stream, struct gh_process *process,
			 struct gh_c_records *c);

/* The objects of a process's heap as records of a heap dump. */

struct gh_dump_totals {
	uint64_t objects;
	uint64_t bytes;   /* of their elements */
	uint64_t in_use;  /* bytes of the spans */
	uint64_t skipped; /* objects that were left out: there would be more than memory */
};

/* Adds the objects of SPANS to TOTALS. */
void gh_dump_count_objects(const struct gh_spans *spans, struct gh_process *process,
			   struct gh_dump_totals *totals);

/* Adds a record for each object, span by span: address, contents, and fields of the words that
 * POINTERS tells. C notes their other words. */
void gh_dump_add_objects(struct gh_dump_stream *stream, struct gh_span_pointers *pointers,
			 struct gh_c_records *c, struct gh_dump_totals *totals);

/* The memory statistics of a process, as a record of a heap dump.
 *
 * Source: type mstats in src/runtime/mstats.go. */

struct gh_dump_memstats;
struct gh_collections;

/* Finds them: what TOTALS and SPANS tell, what the program's variables say of its collections, and
 * zeros. COLLECTIONS are those. */
void gh_memstats_find(struct gh_dump_memstats *stats, struct gh_collections *collections,
		      struct gh_process *process, const struct gh_spans *spans,
		      const struct gh_dump_totals *totals);

/* Adds them. */
void gh_dump_add_memstats(struct gh_dump_stream *stream, struct gh_process *process,
			  const struct gh_spans *spans, const struct gh_dump_totals *totals);

/* The allocation profile of a process as records of a heap dump: where memory was allocated, and
 * which objects were sampled.
 *
 * Sources: dumpmemprof in src/runtime/heapdump.go, type bucket, type memRecord and MemProfile in
 * src/runtime/mprof.go, type specialprofile in src/runtime/mheap.go. */

/* Adds a record for each stack that the profile of PROCESS has, and one for each sampled object of
 * SPANS. What is counted is what the runtime has published: until the latest garbage collection but
 * one, or, before the first, until now. A program without a profile has no records. False if memory
 * ran out. */
bool gh_dump_add_profile(struct gh_dump_stream *stream, struct gh_process *process,
			 const struct gh_spans *spans);

/* Finalizers, the other roots that are neither on stacks nor in variables, and what else a heap
 * dump has of the runtime, of a process as records of a heap dump.
 *
 * Sources: dumproots and dumpitabs in src/runtime/heapdump.go, markrootSpans in
 * src/runtime/mgcmark.go, type finblock in src/runtime/mfinal.go, type itabTableType in
 * src/runtime/iface.go. */

/* The types that records name, each of which has a record once. */
struct gh_dump_types {
	const struct gh_rtypes *types; /* the program's; not owned */
	struct gh_numbermap written;   /* by address in the process; owned */
	bool failed;                   /* memory ran out */
};

/* Adds the record of the type at ADDRESS in the process, if it is the program's and has none yet.
 */
void gh_dump_add_type(struct gh_dump_stream *stream, const struct gh_process *process,
		      struct gh_dump_types *types, uint64_t address);

/* Adds the goroutines ALL with the contents of their frames, and roots for what perhaps points to
 * an object of SPANS; without either if that is NULL. Both with their defers and panics, of whose
 * types records are added unless TYPES, which may be NULL, has them already. SECTION gets what no
 * record has of each. *LOST is how many were left out. False if memory ran out. */
bool gh_dump_add_goroutines(struct gh_dump_stream *stream, struct gh_dump_section *section,
			    struct gh_goroutines *all, struct gh_process *process,
			    const struct gh_spans *spans, const struct gh_c_memory *c,
			    struct gh_dump_types *types, uint64_t *lost);

/* Adds a root of DESCRIPTION, unless POINTER is nil. */
void gh_dump_add_root(struct gh_dump_stream *stream, const char *description, uint64_t pointer);

/* Adds NOTE as the description of a nil root, which other readers pass over. */
void gh_dump_add_note(struct gh_buffer *out, const char *note);

/* Adds a record for each finalizer that is registered for an object of SPANS, and roots for its
 * cleanups and weak pointers. */
void gh_dump_add_specials(struct gh_dump_stream *stream, struct gh_process *process,
			  const struct gh_spans *spans, struct gh_dump_types *types);

/* Adds a record for each finalizer that waits to be run. */
void gh_dump_add_queued_finalizers(struct gh_dump_stream *stream, struct gh_process *process,
				   struct gh_dump_types *types);

/* Adds a record for each itab that the runtime has made or taken from the program. */
void gh_dump_add_itabs(struct gh_dump_stream *stream, struct gh_process *process,
		       struct gh_dump_types *types);

/* The threads of a Go process, as records of a heap dump.
 *
 * Sources: type m in src/runtime/runtime2.go, dumpms in src/runtime/heapdump.go. */

/* The list of those of a process, and where runtime.m has its fields, in bytes; its first is g0,
 * whose stack is the thread's. 0 for fields that it lacks, but for the first three. */
struct gh_m_list {
	uint64_t os_id;     /* procid, 8 bytes */
	uint64_t id;        /* 8 bytes */
	uint64_t next;      /* alllink */
	uint64_t signal_g;  /* gsignal */
	uint64_t current_g; /* curg */
	uint64_t locked_g;  /* lockedg */
	uint64_t in_c;      /* incgo, 1 byte */
	uint64_t dying;     /* 4 bytes */
	uint64_t first;     /* address of the first runtime.m */
	unsigned count;
};

/* Finds runtime.allm, the variable that the longest such list starts from. False if there is none,
 * or the program's TYPES do not describe it. The goroutines ALL were found. */
bool gh_m_list_find(struct gh_m_list *list, struct gh_process *process,
		    const struct gh_rtypes *types, const struct gh_goroutines *all);

/* Adds a record for each runtime.m that runtime.allm lists, as far as the program's TYPES describe
 * it. The goroutines ALL were found. */
void gh_dump_add_threads(struct gh_dump_stream *stream, struct gh_process *process,
			 const struct gh_rtypes *types, const struct gh_goroutines *all);

/* Pages that a process has, or a core file. */
struct gh_footprint_pages {
	const struct gh_memory *memory;
	int pagemap; /* of /proc/PID/pagemap; -1 of a core file */
};

/* The first page from ADDRESS, that of a page, on that is there; END if none is before that;
 * ADDRESS if it cannot be told. No time is taken for what is claimed and not there. */
uint64_t gh_footprint_next_page(const struct gh_footprint_pages *pages, uint64_t address,
				uint64_t end);

/* Adds how much is there of the pages from START to END to PART: in a core file of those that are
 * not all zeros. */
void gh_footprint_count(const struct gh_footprint_pages *pages, uint64_t start, uint64_t end,
			struct gh_footprint_part *part);

/* Adds to FOOTPRINT what there is of PROCESS's objects, which are in SPANS, of the runtime's own,
 * and of goroutines' stacks, whose largest it notes. */
void gh_footprint_add_totals(struct gh_footprint *footprint, struct gh_process *process,
			     const struct gh_spans *spans);

/* What the malloc of the C library has, by what it writes there. Sources: glibc's malloc/arena.c
 * and malloc/malloc.c, and musl's src/malloc/mallocng/meta.h. */

/* MAPPING has heaps of an arena: struct heap_info at the start of each. */
bool gh_malloc_is_arena(struct gh_process *process, const struct gh_mapping *mapping);

/* It has chunk after chunk, struct malloc_chunk, from its start to its end, as the [heap] of a
 * process, which core files do not name. */
bool gh_malloc_is_heap(struct gh_process *process, const struct gh_mapping *mapping);

/* The size of a chunk of glibc's at ADDRESS that goes on to no more than END, and has pages of its
 * own, which begin BEFORE bytes ahead of it; in bytes. 0 if there is none. */
uint64_t gh_malloc_mapped(struct gh_process *process, uint64_t address, uint64_t before,
			  uint64_t end);

/* The size of such a chunk that begins its pages or, of musl's, of a group of chunks; in bytes. 0
 * if there is none. */
uint64_t gh_malloc_chunk(struct gh_process *process, uint64_t address, uint64_t end);

/* How many bytes of ANONYMOUS, mappings of no file of the running PROCESS, begin as glibc's malloc
 * has them. */
uint64_t gh_malloc_estimate(struct gh_process *process, const struct gh_memory_parts *anonymous);

/* What the runtime has mapped for itself: where it allocates what is never freed, among it spans
 * and specials; bitmaps of spans, and the list of these; and the arenas' bitmaps.
 *
 * Sources: persistentalloc1 in src/runtime/malloc.go; newArenaMayUnlock, type heapArena and
 * allspans in src/runtime/mheap.go. */

/* Finds that of PROCESS: OWN, to be freed, is by address, and none overlaps another. If memory runs
 * out, OWN has failed. */
void gh_own_memory_find(struct gh_memory_parts *own, struct gh_process *process,
			const struct gh_spans *spans);

/* A running process to be read as it is: its MEMORY, which has to stay, the program of TAB, of Go
 * 1.MINOR, and its ENTRY. Its memory is to be freed with gh_process_memory_free. */
struct gh_process gh_live_process(const struct gh_memory *memory, const struct gh_pclntab *tab,
				  int minor, uint64_t entry);

/* The parts of a crash report: signals, and what the runtime itself has printed. */

/* The name that Go has for a signal that ends a program. NULL for others. */
const char *gh_crash_signal_name(uint32_t number);

/* THREAD of PROCESS began to end it: others may have been sent a signal since, to print their
 * stacks. The goroutines ALL were found; LIST has the process's threads, or none. */
bool gh_crash_is_dying(struct gh_process *process, const struct gh_goroutines *all,
		       const struct gh_m_list *list, const struct gh_stack_thread *thread);

/* Appends the report on the signal whose handler THREAD is in: its name, registers and address, and
 * that it arrived in C code.
 *
 * Sources: fatalsignal, up to Go 1.20 sighandler, in src/runtime/signal_unix.go. */
void gh_crash_add_signal(struct gh_buffer *out, struct gh_process *process,
			 const struct gh_goroutines *all, const struct gh_m_list *list,
			 const struct gh_stack_thread *thread);

/* Appends the runtime's own lines before FATAL, the line of a fatal error: its explanation of that
 * (stack limits, lack of memory). Nothing on machines other than amd64 and arm64.
 *
 * Source: printBacklog and recordForPanic in src/runtime/print.go. */
void gh_crash_add_printed(struct gh_buffer *out, struct gh_process *process, const char *fatal);

#endif
