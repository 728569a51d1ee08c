/* What the files that read a process share: the layouts of the heap's structs by release, the
 * walk over a stack, and which words of memory are pointers. */
#ifndef GH_PROCESS_INTERNAL_H
#define GH_PROCESS_INTERNAL_H

#include "lib/pclntab/pclntab.h"
#include "lib/process/goroutine.h"
#include "lib/process/process.h"
#include "lib/rtype/rtype.h"
#include "lib/util/buffer.h"
#include "lib/util/numbermap.h"
#include "lib/util/vector.h"

/* The frames of a goroutine's stack, by the program's pclntab.
 *
 * The rules are those of gentraceback, later type unwinder, in src/runtime/traceback.go. */

struct gh_stack_site;

/* A signal, as siginfo_t has it. */
struct gh_signal {
	uint32_t number;  /* 0 if there is none */
	uint32_t code;    /* si_code */
	uint64_t address; /* si_addr */
};

/* A thread, past the signal handlers that it is in. */
struct gh_stack_thread {
	struct gh_registers at;
	struct gh_signal signal; /* what interrupted it there, if it is in handlers */
	uint64_t handler_sp;     /* of the innermost of these */
};

/* A walk over the frames of one goroutine after the other. */
struct gh_stack {
	struct gh_process *process;      /* not owned */
	struct gh_stack_site *sites;     /* what was looked up; owned */
	struct gh_stack_thread *threads; /* the process's, by their SP; owned */
	struct gh_registers selected;    /* of the first of them, likewise; zeros without any */
	uint64_t low;                    /* where the goroutine's stack is */
	uint64_t high;
	uint64_t stktop;   /* to Go 1.3: address of the Stktop of this segment; 0 from Go 1.4 on */
	unsigned segments; /* that were left */
	bool first;        /* nothing was walked over yet */
	bool entering;     /* the next frame is of a function that entered a system call */
	bool interrupted;  /* the next frame stands anywhere in its code, not at a call */
	bool ended;
	bool whole;     /* it came to what nothing called */
	bool injected;  /* the function before was called by a signal's handler */
	uint64_t pc;    /* of the next frame */
	uint64_t sp;    /* of the next frame */
	uint64_t lr;    /* its return address; 0 if that is on the stack */
	bool has_flags; /* see gh_stack_end */
};

/* A frame, in the process's addresses. */
struct gh_stack_frame {
	uint64_t sp;      /* lowest address of the frame */
	uint64_t end;     /* one past it: its caller's sp */
	uint64_t pc;      /* a return address but for the top frame, and if interrupted */
	uint64_t entry;   /* of its function */
	const char *name; /* of the function, in the program */
	uint64_t above;   /* bytes above the frame up to the end of the function's arguments */
	bool interrupted; /* pc is that of the next instruction, or of the one that faulted */
};

/* Prepares for walks. False if memory ran out. To be freed with gh_stack_free. */
bool gh_stack_open(struct gh_stack *stack, struct gh_process *process);

/* Starts a walk over the frames of G: from the registers of the thread whose SP is in its stack if
 * it runs, or was before signal handlers were called; from the call that entered the system call if
 * it is in one; else from where it goes on when it runs again. */
void gh_stack_start(struct gh_stack *stack, const struct gh_goroutine *g);

/* The registers that G runs with; NULL if it does not run, or they are not known. */
const struct gh_registers *gh_stack_registers(const struct gh_stack *stack,
					      const struct gh_goroutine *g);

/* Starts a walk over the frames of THREAD, one of stack->threads, on the stack that it is on. */
void gh_stack_start_thread(struct gh_stack *stack, const struct gh_stack_thread *thread);

/* Gives the next frame, callees first. False at the end, which is where a function is unknown or
 * its caller cannot be found, too. */
bool gh_stack_next(struct gh_stack *stack, struct gh_stack_frame *frame);

void gh_stack_free(struct gh_stack *stack);

/* Where runtime.mspan and the specials that hang on it have their fields, by release.
 *
 * Sources: type mspan, type special and those that start with one in src/runtime/mheap.go. */

/* A field of runtime.mspan, in bytes. */
struct gh_span_field {
	uint16_t offset;
	uint8_t size; /* 0 if the release has no such field */
};

/* The kinds of specials; 0 for those that the release does not have. */
struct gh_special_kinds {
	uint8_t finalizer;
	uint8_t weak_handle;
	uint8_t profile;
	uint8_t cleanup;
};

struct gh_span_layout {
	struct gh_span_field start; /* startAddr */
	struct gh_span_field npages;
	struct gh_span_field free_index; /* freeIndexForScan, or before Go 1.19 freeindex */
	struct gh_span_field nelems;
	struct gh_span_field alloc_bits;
	struct gh_span_field mark_bits; /* gcmarkBits */
	struct gh_span_field sweepgen;
	struct gh_span_field class; /* spanclass */
	struct gh_span_field state;
	struct gh_span_field elemsize;
	struct gh_span_field specials;
	struct gh_span_field large_type; /* from Go 1.22 on */
	struct gh_special_kinds kinds;
	uint8_t special_size;        /* of struct special, in bytes; what it is of follows it */
	uint8_t special_offset_size; /* of special.offset, which follows special.next, in bytes */
};

/* More than any release's runtime.mspan has up to the last field that is read. */
#define GH_SPAN_SIZE 256

/* The layout in Go 1.MINOR: what TYPES, the program's own, say of runtime.mspan; else what is known
 * of that release where pointers have 8 bytes. False if neither tells. */
bool gh_span_layout_find(struct gh_span_layout *layout, const struct gh_rtypes *types, int minor);

/* The heap of a process: of the spans that mheap_.allspans lists those that are in use for objects,
 * and which of their elements are objects.
 *
 * Sources: type mheap and type mspan in src/runtime/mheap.go, isFree in src/runtime/mbitmap.go, and
 * sweepgen's values beside type mspan. */

/* Of a page of the Go heap, in bytes. */
#define GH_HEAP_PAGE 8192

/* A span in use. Addresses are the process's. */
struct gh_span {
	uint64_t descriptor; /* address of its runtime.mspan */
	uint64_t start;
	uint64_t size;     /* in bytes */
	uint64_t elemsize; /* of an element, in bytes; not 0, but of manual ones */
	uint64_t nelems;   /* elements, which fit SIZE */
	uint64_t free_index;
	uint64_t alloc_bits; /* address of a bit for each element */
	uint64_t mark_bits;  /* the same */
	uint64_t specials;   /* address of the first special; 0 for none */
	uint64_t large_type; /* of the only element, from Go 1.22 on; else 0 */
	uint32_t sweepgen;
	uint8_t class; /* runtime.spanClass */
};

/* The lowest bit of a class: elements have no pointers. The others are the size class, 0 for spans
 * of one element. */
#define GH_SPAN_NOSCAN 1

/* SPAN is of one large object. */
#define GH_SPAN_IS_LARGE(span) ((span)->class / 2 == 0)

struct gh_spans {
	struct gh_span_layout layout;
	struct GH_VECTOR(struct gh_span) list;   /* by start, none overlaps another */
	struct GH_VECTOR(struct gh_span) manual; /* those of stacks and, with elements of 0 bytes,
						    of the collector's own; in no order */
	uint64_t allspans;                       /* address of the variable */
	uint64_t lost;     /* entries of allspans that could not be read or are no spans */
	uint32_t sweepgen; /* the heap's */
	bool inline_marks; /* small elements' mark bits are in the span: Go 1.25's Green Tea */
};

/* Finds and reads the spans of PROCESS, whose program has the TYPES. False (ERR filled) if there
 * are none, the release's are not known, or memory ran out. In any case to be freed. */
bool gh_spans_find(struct gh_spans *spans, struct gh_process *process,
		   const struct gh_rtypes *types, struct gh_error *err);

void gh_spans_free(struct gh_spans *spans);

/* Whether ADDRESS is in one of them. */
bool gh_spans_have(const struct gh_spans *spans, uint64_t address);

/* Whether one of them is between START and END, in part at least. */
bool gh_spans_meet(const struct gh_spans *spans, uint64_t start, uint64_t end);

/* Whether SPAN, a manual one, holds stacks. */
static inline bool gh_span_is_of_stacks(const struct gh_span *span)
{
	return span->elemsize != 0;
}

/* The bytes of those that do. */
uint64_t gh_spans_stack_bytes(const struct gh_spans *spans);

/* Whether elements of so many bytes have their pointers' bits at the end of the span, from Go 1.22
 * on (heapBitsInSpan). */
bool gh_span_has_heap_bits(const struct gh_process *process, uint64_t elemsize);

/* How many bytes at the end of SPAN come after those bits. */
uint64_t gh_span_after_heap_bits(const struct gh_spans *spans, const struct gh_process *process,
				 const struct gh_span *span);

/* Sets a bit in BITS, of (nelems + 7) / 8 bytes, for each element of SPAN that is an object: by
 * what is allocated, or by what was marked where the span waits to be swept. False if that is not
 * in memory: then every element is taken for an object. At most *SPECIALS are read for
 * that, and are taken off it. */
bool gh_span_objects(const struct gh_spans *spans, struct gh_process *process,
		     const struct gh_span *span, uint8_t *bits, uint64_t *specials);

/* A special: something that the runtime keeps of an object. */
struct gh_special {
	uint64_t next;   /* address of the next; 0 for none */
	uint64_t offset; /* of the object, or a place in it, in its span, in bytes */
	uint8_t kind;    /* one of struct gh_special_kinds, or another */
};

/* As many specials as there is memory for, which who follows lists of them counts down. */
uint64_t gh_specials_most(const struct gh_spans *spans, const struct gh_process *process);

/* Reads the special at ADDRESS. False if it is not in memory. */
bool gh_special_read(const struct gh_spans *spans, struct gh_process *process, uint64_t address,
		     struct gh_special *special);

/* Which words of a value of a type hold pointers, by the type's descriptor in a process. Sources:
 * type Type in src/internal/abi/type.go, getGCMask and buildGCMask in src/runtime/type.go. */

struct gh_type_mask {
	uint64_t size;     /* of a value, in bytes */
	uint64_t pointers; /* bytes up to the last pointer */
	uint64_t mask;     /* address of a bit for each word up to there; 0 if it is not
			      known, or made */
	struct GH_VECTOR(uint8_t) made; /* those bits, of a type for which the process has not made
					   them yet; owned */
};

/* Reads the type at ADDRESS of PROCESS, one that has pointers. TYPE has no mask if there is none,
 * or memory ran out: then type->made has failed. */
void gh_type_mask_read(struct gh_type_mask *type, struct gh_process *process, uint64_t address);

/* Reads SIZE bytes of TYPE's mask, from byte FROM on. False if they are not there. */
bool gh_type_mask_bytes(const struct gh_type_mask *type, struct gh_process *process, uint64_t from,
			uint8_t *bytes, size_t size);

/* Which words of a heap object hold pointers, as the garbage collector has it.
 *
 * Sources: src/runtime/mbitmap.go (mbitmap_allocheaders.go in Go 1.22), type heapArena in
 * src/runtime/mheap.go. */

/* What tells. The fields are private. */
struct gh_span_pointers {
	const struct gh_spans *spans;     /* not owned */
	struct gh_process *process;       /* not owned */
	uint64_t arenas;                  /* to Go 1.21: address of pointers to the arenas */
	uint64_t arena_base;              /* what is added to an address for its arena's number */
	struct gh_numbermap type_numbers; /* addresses of types to places in types; owned */
	struct GH_VECTOR(struct gh_type_mask) types; /* those that were read; owned */
	struct GH_VECTOR(uint64_t) words;            /* the last answer; owned */
	struct GH_VECTOR(uint8_t) bytes;             /* bits of the last span with bits; owned */
	uint64_t bits_of;                            /* start of that span; 0 for none */
	uint64_t unknown;                            /* objects whose pointers could not be told */
	bool failed;                                 /* memory ran out */
};

/* Prepares for the objects of SPANS, which outlive it. False (ERR filled) if the heap's arenas
 * cannot be found, to Go 1.21. In any case to be freed. */
bool gh_span_pointers_open(struct gh_span_pointers *pointers, const struct gh_spans *spans,
			   struct gh_process *process, struct gh_error *err);

void gh_span_pointers_free(struct gh_span_pointers *pointers);

/* A bit for each word of element INDEX of SPAN, whose first word is HEADER: bit I % 64 of
 * item I / 64 is 1 if word I is a pointer. Good until the next call. NULL if it has none: then
 * those of objects that should have some are counted as unknown. */
const uint64_t *gh_span_pointers_of(struct gh_span_pointers *pointers, const struct gh_span *span,
				    uint64_t index, uint64_t header);

/* Of an arena of the heap, in bytes (heapArenaBytes, but for Windows). */
uint64_t gh_heap_arena_size(const struct gh_process *process);

/* Reads the memory of a running or stopped process into its copy.
 *
 * Interfaces: process_vm_readv(2), and /proc/PID/mem and pagemap, proc(5) and
 * admin-guide/mm/pagemap.rst of the kernel. */

/* What of the memory is copied. */
enum gh_live_extent {
	GH_LIVE_ALL,
	GH_LIVE_PARTS,    /* the parts that may be older than the rest */
	GH_LIVE_BUT_PARTS /* of a whole copy with those in ranges that were not copied before */
};

/* Memory that one thread copies at a time. */
struct gh_live_piece {
	struct gh_live_range *range;
	uint64_t offset; /* in the range, in bytes */
	uint64_t size;   /* in bytes */
};

struct gh_live_reader {
	struct gh_live_copy *live;
	struct gh_error *err;
	int memory;  /* of /proc/PID/mem; -1 while process_vm_readv does */
	int pagemap; /* -1 if it cannot be read: then each page may be in use */
	bool again;  /* the memory was copied before */
	enum gh_live_extent extent;
	struct GH_VECTOR(struct gh_live_piece) pieces; /* of what is copied; owned */
	char name[64];                                 /* of the process, for messages */
};

/* No Go heap is as large, in bytes, as a mapping that is reserved for something else: sanitizers
 * have one for what they note of each address. */
#define GH_MOST_MAPPED (UINT64_C(1) << 42)

/* Opens the file NAME of the process in /proc; -1 if it cannot be, and errno says why. */
int gh_live_reader_open(const struct gh_live_reader *reader, const char *name);

/* Memory can be read: by process_vm_readv or, where a system does not have that call or forbids it,
 * by /proc/PID/mem. */
bool gh_live_reader_works(struct gh_live_reader *reader);

/* Copies, on several processors, what EXTENT says of all ranges. False (ERR filled) if memory, or
 * the disk that the copies go to, ran out. */
bool gh_live_reader_copy(struct gh_live_reader *reader, enum gh_live_extent extent);

/* Copies those of the parts whose descriptions, in the copy, are not as they were. Fails likewise.
 */
bool gh_live_reader_copy_changed(struct gh_live_reader *reader);

/* Reads SIZE bytes at ADDRESS of the process, as many as can be. */
void gh_live_reader_read(const struct gh_live_reader *reader, uint64_t address, uint8_t *to,
			 uint64_t size);

/* Copies that are in a file.
 *
 * A process is copied twice: while it runs, and while it stands. The second time only those pages
 * are written whose contents are others, so that it does not stand for a disk. */

/* A temporary file that has copies. */
struct gh_spill_file {
	int fd;        /* owned */
	int error;     /* errno when it could not be written; 0 if it could */
	uint64_t size; /* in bytes */
};

/* The copy of a range in such a file. */
struct gh_spilled_range {
	uint64_t place;  /* in the file, in bytes */
	uint64_t room;   /* that it has there, in bytes */
	uint64_t *pages; /* what tells the contents of each page from others; 0 of those that were
			    not copied; owned */
};

/* Has LIVE, which has no ranges with copies yet, have a file for copies of SIZE bytes. False if no
 * disk has room for it, or the directory of temporary files is in memory. */
bool gh_live_spill(struct gh_live_copy *live, uint64_t size);

/* Makes room in the file for the copy of RANGE. False (errno set) if there is none. */
bool gh_live_spill_room(struct gh_live_copy *live, struct gh_live_range *range);

/* Reads SIZE bytes, whole pages, at OFFSET of RANGE in the process, and writes those that are not
 * in the file yet. Errors stay in the file's. */
void gh_live_spill_read(const struct gh_live_reader *reader, struct gh_live_range *range,
			uint64_t offset, uint64_t size);

/* Has SIZE bytes, whole pages, at OFFSET of the copy of RANGE be zeros, and not copied. */
void gh_live_spill_clear(struct gh_live_copy *live, struct gh_live_range *range, uint64_t offset,
			 uint64_t size);

/* The offset of the first page of RANGE from that at OFFSET on that was copied; its size if there
 * is none. */
uint64_t gh_live_spill_next(const struct gh_live_copy *live, const struct gh_live_range *range,
			    uint64_t offset);

/* False (ERR filled) if the file, where there is one, could not be written. */
bool gh_live_spill_check(const struct gh_live_reader *reader);

/* Has what is in the file, if there is one, be on the disk: the memory for it can be taken at once
 * then, and the process stands for no disk. */
void gh_live_spill_settle(const struct gh_live_copy *live);

/* Frees what RANGE has of its copy in a file. */
void gh_live_spill_free_range(struct gh_live_range *range);

/* Frees the file. */
void gh_live_spill_free(struct gh_live_copy *live);

/* Finds the parts of PROCESS, a running one's or what a copy has of one. There are none if its heap
 * cannot be found. */
void gh_live_parts_find(struct gh_live_parts *parts, struct gh_process *process);

/* The size of all parts, in bytes. */
uint64_t gh_live_parts_size(const struct gh_live_parts *parts);

/* Reads the first words of all objects in the parts, for a bare copy. False (ERR filled) if memory
 * ran out. */
bool gh_first_words_read(struct gh_live_reader *reader);

/* Reads again those of PART, which has the description NOW, if its objects are where they were. */
bool gh_first_words_read_part(const struct gh_live_reader *reader, const struct gh_live_part *part,
			      const uint8_t *now);

/* Fills TO with what a bare copy has of the SIZE bytes at ADDRESS in place of a part's, and gives
 * how many that is: 0 if no part has the address, and *LEFT then says how many bytes none has. */
size_t gh_first_words_fill(const struct gh_live_copy *live, uint64_t address, uint8_t *to,
			   size_t size, size_t *left);

/* The range that has ADDRESS; NULL for none. */
struct gh_live_range *gh_live_range_find(const struct gh_live_copy *live, uint64_t address);

/* The word at ADDRESS of PROCESS; 0 if it cannot be read. */
uint64_t gh_process_word(struct gh_process *process, uint64_t address);

/* The name of the function whose code ENTRY is in; "" if it is in none. */
const char *gh_process_function(const struct gh_process *process, uint64_t entry);

/* Whether ADDRESS is that of the closure of a function of the program's. */
bool gh_process_is_closure(struct gh_process *process, uint64_t address);

/* Has MAPPING tell of the access that SEGMENT, a core file's, has. */
void gh_mapping_set_access(struct gh_mapping *mapping, const GElf_Phdr *segment);

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

/* Adds to REGISTERS those of each thread, which runs on ARCH. *VECTORS has the vector registers, to
 * be freed with free(). False (ERR filled) if memory ran out. */
bool gh_stopped_registers(const struct gh_stopped *stopped, const struct gh_arch *arch,
			  struct gh_thread_registers *registers, uint8_t **vectors,
			  struct gh_error *err);

/* Reads REGISTERS, but for vector registers, from what GREGS begins with, the elf_gregset_t of a
 * thread that runs on ARCH. False if it ends before. */
bool gh_registers_read(struct gh_registers *registers, const struct gh_arch *arch,
		       struct gh_cursor gregs);

/* Goroutines that no list leads to. */

/* Reads what is at ADDRESS, if it can only be the runtime.g of a goroutine that has not ended. */
bool gh_goroutine_probe(const struct gh_goroutines *all, struct gh_process *process,
			uint64_t address, struct gh_goroutine *g);

/* Finds the goroutines that are in the memory of PROCESS, which can be listed, and has ALL have
 * these. What runs out of memory is as if the process had no more. */
void gh_goroutines_scan(struct gh_goroutines *all, struct gh_process *process);

/* Writes to PATH, of SIZE bytes, by what the file can be opened that process PID has mapped at
 * START, though it was removed or replaced since: who may administer the system may. False if there
 * is none. Source: /proc/pid/map_files in `man 5 proc'. */
bool gh_mapped_file_in_memory(char *path, size_t size, int pid, uint64_t start);

#endif
