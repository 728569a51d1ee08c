/* Go processes, live or in a core file: their memory, goroutines, crash and heap; and all of that
 * as the records of a heap dump. gh_live_copy_make copies a running process; of that, or of a core
 * file's memory, gh_snapshot_make gives the goroutines, gh_heap_dump_write the heap, and
 * gh_crash_find why it crashed.
 *
 * - memory.c: the memory, read from any struct gh_memory in blocks that are read ahead and kept;
 *   process.c: words in it;
 * - mappings.c: what is mapped; footprint.c, footprint_*.c: what all memory is used for;
 *   malloc_memory.c, malloc_blocks.c, allocator.c, runtime_memory.c, live_go_memory.c: C's and
 *   the runtime's;
 * - mapped_files.c, other_modules.c: the files that are in it, where Go libraries are found, and
 *   those that have code of its program's runtime;
 * - live_counters.c: how much a running process has, to be asked again and again;
 * - running.c: the build that it runs, and whether a file is of that;
 * - thread_registers.c: those of threads, from the notes of core files too;
 * - live_copy.c, live_read.c, live_spill.c: copy a running process, to a file where memory is
 * short; live_parts.c, first_words.c: parts of it;
 * - c_files.c: what C code is in; c_stacks.c, c_waits.c: that on goroutines' stacks, and its waits;
 *   thread_calls.c: system calls;
 * - goroutine.c, goroutine_scan.c, g_layout.c, waitreason.c, labels.c: goroutines;
 * - stack.c, stack_words.c, stack_objects.c: their frames, and the pointers in these;
 * - deferred.c, panic.c: deferred calls; panics, and their values;
 * - crash.c: why the process crashed, as Go prints it; crash_signal.c: signals; crash_printed.c:
 *   what the runtime has printed of it;
 * - map_entries.c: the entries of maps, by where lib/value/value_map.c finds that they are;
 * - spans.c, span_layout.c, span_pointers.c, type_mask.c: the heap's objects, and pointers in them;
 * - as_dump.c: writes all records of a heap dump, by dump_stream.c, each of the dump_*.c some of
 *   them: dump_roots.c roots, types and finalizers; dump_memstats.c the memory statistics, among
 *   them how many objects there are of each size class; dump_section.c goheap's own section. */
#ifndef GH_PROCESS_PROCESS_H
#define GH_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/dump/dump.h"
#include "lib/elf/arch.h"
#include "lib/elf/elf.h"
#include "lib/pclntab/pclntab.h"
#include "lib/rtype/rtype.h"
#include "lib/trace/trace.h"
#include "lib/util/buffer.h"
#include "lib/util/error.h"
#include "lib/util/numbermap.h"
#include "lib/util/vector.h"

/* The memory of a process or of a core file is read, and kept, in blocks of so many bytes, however
 * little is asked for: a multiple of every machine's page, and the most that GDB is asked for. */
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

/* Reads the first integer of SIZE bytes, 4 or 8, at *ADDRESS or, where that cannot be read, in the
 * next page that can, before END; *ADDRESS becomes its place. False if there is none. */
bool gh_process_next_uint(struct gh_process_memory *memory, uint64_t *address, uint64_t end,
			  unsigned size, uint64_t *value);

/* Frees what is kept. A zeroed one may be freed too. */
void gh_process_memory_free(struct gh_process_memory *memory);

/* The registers of a thread of the system's. */
struct gh_registers {
	uint64_t pc;
	uint64_t sp;
	uint64_t lr; /* the link register; 0 if it is not known, or the machine has none */
	uint64_t values[GH_MAX_REGISTERS]; /* of all of them, in any order */
	unsigned count;                    /* 0 if they are not known */
	int id;                 /* the system's number of the thread; 0 if it is not known */
	const uint8_t *vectors; /* the vector registers and what is kept with them; not owned */
	size_t vectors_size;    /* in bytes; 0 if they are not known */
};

struct gh_process {
	struct gh_process_memory memory;
	const struct gh_pclntab *tab;       /* of the program; not owned */
	int minor;                          /* of the Go release that built it: see gh_go_minor */
	uint64_t bias;                      /* of the process's addresses over the program file's */
	const struct gh_registers *threads; /* not owned */
	size_t nthreads;
	bool selected; /* the first thread is the one that the debugger's user looks at */
	const struct gh_module *others; /* modules beside the program's; not owned */
	size_t nothers;
	const struct gh_mapped_files *files; /* for C code; not owned; NULL: it is left out */
	const struct gh_writable *writable;  /* for C's memory; likewise */
	bool only_large_c;                   /* that is wanted only if it is large */
	int pid;                             /* if it is here, running or stopped; else 0 */
	struct gh_system_calls calls; /* read before it was copied; registers tell others; owned */
};

/* The memory of PROCESS, read in blocks that are kept; good as long as PROCESS is. */
struct gh_memory gh_process_memory_of(const struct gh_process *process);

/* The module of PROCESS that has a function at PC, whose number is *INDEX; that of the program, and
 * *INDEX SIZE_MAX, if none has. */
struct gh_module gh_process_module_at(const struct gh_process *process, uint64_t pc, size_t *index);

/* Finds the types that the program of PROCESS, and its other modules that have the same runtime,
 * describe: see gh_rtypes_find_all. */
bool gh_process_types(struct gh_rtypes *types, const struct gh_process *process,
		      struct gh_error *err);

/* Reads the SIZE bytes at ADDRESS of PROCESS; what its memory lacks is read from its modules'
 * files, as core files leave out what is in files. False if they are in neither. */
bool gh_process_read_constant(struct gh_process *process, uint64_t address, void *to, size_t size);

/* Reads an integer of SIZE bytes, likewise. False, and *VALUE 0, if it is in neither. */
bool gh_process_constant_uint(struct gh_process *process, uint64_t address, unsigned size,
			      uint64_t *value);

/* The pointer at ADDRESS, likewise; 0 if it is in neither. */
uint64_t gh_process_constant_pointer(struct gh_process *process, uint64_t address);

/* The double that BITS are, of SIZE bytes: 4 or 8. */
double gh_process_float(uint64_t bits, unsigned size);

/* What a dump of a process's heap lacks. */
struct gh_heap_losses {
	uint64_t goroutines; /* left out, as gh_snapshot_make's LOST */
	uint64_t spans;      /* entries of mheap_.allspans that are no spans, or overlap others */
	uint64_t objects;    /* left out: there would be more than memory */
	uint64_t bytes;      /* that are in objects, frames and variables, and not in memory: 0 */
	uint64_t untyped;    /* objects that are there and whose pointers are not known */
	bool variables;      /* the pointers of the program's variables are not known */
	uint64_t c_arenas;   /* parts of C's malloc that are corrupt */
};

enum gh_heap_form { GH_HEAP_WHOLE, GH_HEAP_GZIP, GH_HEAP_BARE };

/* Writes to FD, the file PATH, as FORM says, compressed or bare (see GH_DUMP_BARE_OBJECT), a heap
 * dump of PROCESS in the format of Go 1.7, as its own runtime/debug.WriteHeapDump would, as far as
 * the memory tells: parameters, itabs and their types, objects, goroutines with their frames,
 * variables, finalizers, memory statistics. What that function leaves out, cleanups and weak
 * pointers, are other roots; creators and labels of goroutines are in goheap's own section. Frames
 * that stand anywhere in their code have each word for a pointer. VERSION is Go's. False (ERR
 * filled) if the heap cannot be found, PATH cannot be written, or memory ran out. */
bool gh_heap_dump_write(int fd, enum gh_heap_form form, const char *path,
			struct gh_process *process, const char *version,
			struct gh_heap_losses *losses, struct gh_error *err);

struct gh_thread_registers GH_VECTOR(struct gh_registers);

/* Appends to THREADS the registers of each thread of CORE, which has the vector registers: it has
 * to stay open. Formats: gh_gregset and GH_PRSTATUS_REG of lib/elf/arch.h. */
void gh_core_threads(struct gh_thread_registers *threads, const struct gh_image *core);

/* What a process has mapped. Sources: proc_pid_maps(5) and proc_pid_smaps(5); fill_files_note in
 * the kernel's fs/binfmt_elf.c. */

struct gh_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;   /* of START in the file, in bytes */
	uint64_t inode;    /* of the file; 0 if there is none, or it is a core file's */
	char access[5];    /* as rw-p: to read, write, run; private, or s for shared */
	const char *name;  /* of the file, or of what else is there; "" for none */
	uint64_t resident; /* bytes in memory; 0 but in smaps */
	uint64_t swapped;  /* bytes in swap; likewise */
	uint64_t own;      /* bytes in memory that are no file's; likewise */
	bool huge;         /* of huge pages that are reserved for that; likewise */
	bool left_out;     /* no core file has it: a device, or by the process's advice; likewise */
	bool is_device, is_locked, is_spare; /* its flags have io or pf; lo; nr; likewise */
};

/* Adds MAPPING to WRITABLE, if a process can write it, and it is its own. False if not. */
bool gh_writable_add(struct gh_writable *writable, const struct gh_mapping *mapping);

/* Fills WRITABLE, to be freed, with all such of the process of CORE. */
void gh_writable_core(struct gh_writable *writable, const struct gh_image *core);

typedef void gh_mapping_take(void *context, int pid, struct gh_mapping *mapping);

/* Calls TAKE with CONTEXT and each mapping of the running process PID, by address, as its FILE in
 * /proc tells: "maps", "smaps", or "smaps_rollup", which has all as one; the last two take long
 * where there is much memory. False, and errno set, if it cannot be asked. */
bool gh_mappings_live(int pid, const char *file, gh_mapping_take *take, void *context);

/* Calls TAKE with CONTEXT and each mapping of a file of CORE, by its note NT_FILE. The access is
 * that of the segment which begins with it, or "". False if it has none, or it is damaged. */
bool gh_mappings_core_files(const struct gh_image *core, gh_mapping_take *take, void *context);

struct gh_mapped_file { /* the program of a process, or a library that it has loaded */
	char *path;     /* by which it can be opened here, if it is still there; owned */
	uint64_t start; /* where its beginning is in memory */
	uint64_t end;   /* one past the last of it there */
};

struct gh_mapped_files GH_VECTOR(struct gh_mapped_file); /* by address */

/* Adds those of process PID that have code. False, and errno set, if it cannot be asked. */
bool gh_mapped_files_live(struct gh_mapped_files *files, int pid);

/* The entry point of the program that the running process PID has, which is on ARCH. 0 if it is not
 * known: errno says why, or is 0 if the process has ended. */
uint64_t gh_live_entry(int pid, const struct gh_arch *arch);

/* The same of CORE, by its note NT_FILE. False if it has none. */
bool gh_mapped_files_core(struct gh_mapped_files *files, const struct gh_image *core);

/* Finds how far the library IMAGE, which is one of FILES, is loaded above its own addresses. What
 * MEMORY has there must be its program headers and build id: two files can be the same, and one can
 * have been replaced since. False (ERR filled) if it is none of them. */
bool gh_mapped_files_find(const struct gh_mapped_files *files, const struct gh_memory *memory,
			  const struct gh_image *image, uint64_t *bias, struct gh_error *err);

/* The file of IMAGE, one of FILES by its path, is not the one that was loaded. */
bool gh_mapped_files_replaced(const struct gh_mapped_files *files, const struct gh_memory *memory,
			      const struct gh_image *image);

void gh_mapped_files_free(struct gh_mapped_files *files);

/* Where NAME, as /proc has it, is of a file that is no longer there: how long the file's own name
 * is, which the kernel adds " (deleted)" to. 0 if the file is there. */
size_t gh_mapped_file_deleted(const char *name);

/* The identity of CORE's program, with the path that the note NT_FILE has. */
void gh_identity_of_core(struct gh_identity *identity, const struct gh_image *core);

/* The same of the running process PID: of the file that it runs, even if that was replaced. */
void gh_identity_of_process(struct gh_identity *identity, int pid);

/* Checks that TAB is of the program of IDENTITY: by build ids or, where these do not tell, by what
 * MEMORY has, BIAS above the file's addresses. False (ERR filled, with both ids and where the right
 * file was) if it is another build. Whoever takes a file for what a process runs checks it here. */
bool gh_identity_check(const struct gh_identity *identity, const struct gh_pclntab *tab,
		       const struct gh_memory *memory, uint64_t bias, struct gh_error *err);

struct gh_starts GH_VECTOR(uint64_t); /* addresses at which parts of memory begin */

/* Adds those parts of the running process PID to STARTS, by address, that are of no file, or of one
 * that is no longer there: a program that has unpacked itself is in one. None if it cannot be
 * asked. Source: proc_pid_maps(5). */
void gh_unbacked_live(struct gh_starts *starts, int pid);

/* The same of CORE, as far as it has them: of what is in files it has at most the first page. */
void gh_unbacked_core(struct gh_starts *starts, const struct gh_image *core);

/* Adds to PARTS, which is empty, the Go heap of the running process PID, which runs the program of
 * TAB, of Go 1.MINOR, and what its runtime has for itself. False (ERR filled) if they cannot be
 * found. To be freed in either case. */
bool gh_live_go_memory(struct gh_memory_parts *parts, int pid, const struct gh_pclntab *tab,
		       int minor, struct gh_error *err);

/* The modules of a process beside the one that is read: plugins, libraries linked with -linkshared,
 * and libraries that have a runtime of their own. */
struct gh_other_modules {
	struct GH_VECTOR(struct gh_module) list;
	struct GH_VECTOR(struct gh_module_file *) files; /* what the list is of; owned */
};

/* Adds those of Go's among FILES but PROGRAM, which is loaded at BIAS, and links them. */
void gh_other_modules_find(struct gh_other_modules *modules, const struct gh_mapped_files *files,
			   const struct gh_memory *memory, const struct gh_image *program,
			   uint64_t bias);

/* Notes which modules have the runtime of PROGRAM, which is loaded at BIAS, and applies to these
 * the relocations by symbols that other modules, or PROGRAM, define. */
void gh_other_modules_link(struct gh_other_modules *modules, const struct gh_image *program,
			   uint64_t bias);

/* Adds those that DUMP, of a process on ARCH, was made with, as far as their files are there. */
void gh_other_modules_of_dump(struct gh_other_modules *modules, const struct gh_arch *arch,
			      const struct gh_dump *dump);

void gh_other_modules_free(struct gh_other_modules *modules);

/* The memory of the running process whose number *PID is, which stays the caller's. */
struct gh_memory gh_live_memory(const int *pid);

/* Counts the goroutines of the running process PID, which runs the program of TAB, of Go 1.MINOR,
 * but for the runtime's own, without stopping it. False if they cannot be found. */
bool gh_live_count_goroutines(uint64_t *count, int pid, const struct gh_pclntab *tab, int minor);

/* Words of a running process that say how much it has. To read them takes microseconds. */
struct gh_live_counters {
	int pid;
	bool big_endian;
	uint8_t word;                           /* size of a pointer, in bytes */
	uint64_t heap, collections, goroutines; /* their addresses; 0 if they are not known */
};

struct gh_live_sample {       /* 0 for what is not known */
	uint64_t resident;    /* bytes in memory */
	uint64_t processors;  /* ns of processor time that it has taken */
	uint64_t heap;        /* bytes of spans in use */
	uint64_t collections; /* how many there were */
	uint64_t goroutines;  /* the most that there were at once */
};

/* Finds those of PID, which runs the program of TAB. HEAP is known from Go 1.19 on, once there was
 * a collection. */
void gh_live_counters_find(struct gh_live_counters *counters, int pid, const struct gh_pclntab *tab,
			   int minor);

/* Reads what they say now. False if the process has ended. */
bool gh_live_counters_read(const struct gh_live_counters *counters, struct gh_live_sample *sample);

/* The memory and threads of a running process, as they were at one moment. Interfaces:
 * process_vm_readv(2), and /proc/PID/maps, pagemap and auxv, proc(5). */
struct gh_live_range {                    /* memory that the process may write */
	uint64_t start;                   /* address in the process */
	uint64_t size;                    /* in bytes */
	uint8_t *bytes;                   /* the copy; owned */
	struct gh_spilled_range *spilled; /* where the copy is in a file: more of it; owned */
	bool from_file; /* pages that were never touched are those of a file; else they are zeros */
	bool kept;      /* BYTES are of an earlier copy, as far as they were not copied again */
};

struct gh_live_ranges GH_VECTOR(struct gh_live_range);

#define GH_LIVE_DESCRIPTION_MAX 128 /* more than the part of runtime.mspan that is kept */

/* A part of the memory whose contents may be a little older than the rest: a span of objects
 * without pointers, as long as they are the same objects. */
struct gh_live_part {
	uint64_t start;
	uint64_t size;                           /* in bytes */
	uint64_t elemsize;                       /* of each object, in bytes */
	uint64_t description;                    /* address of what says which objects it has */
	uint8_t before[GH_LIVE_DESCRIPTION_MAX]; /* the bytes there when it was found */
	size_t words;                            /* the first of its objects, in a bare copy */
	bool whole;                              /* it was copied all the same */
};

struct gh_live_parts {
	struct GH_VECTOR(struct gh_live_part) list; /* by address, none overlaps another */
	size_t description_size;                    /* of each part's, in bytes */
	uint8_t shape[GH_LIVE_DESCRIPTION_MAX]; /* not 0: a byte that says where its objects are */
	uint64_t *words; /* of a bare copy: the first 8 bytes of each object; owned */
};

/* A copy is bare, or unless C's memory seems to be large (GH_LARGE_C). */
enum gh_live_bare { GH_LIVE_WHOLE, GH_LIVE_BARE, GH_LIVE_BARE_UNLESS_C };

struct gh_live_copy {
	int pid;
	const struct gh_pclntab *tab; /* not owned */
	int minor;                    /* of the Go release */
	bool bare;                    /* of PARTS it has first words, then zeros */
	struct gh_live_parts parts;
	struct gh_live_ranges ranges;    /* by address */
	struct gh_live_ranges constants; /* of files, which it may not write: no copies */
	struct gh_writable writable;     /* the mappings that the ranges are of */
	int pagemap;                     /* of goheap itself, for what was copied; owned */
	struct gh_spill_file *file;      /* where memory is short: has the copies; owned */
	struct gh_thread_registers threads;
	uint8_t *vectors; /* their vector registers; owned */
	uint64_t entry;   /* of the program or library, where it is loaded */
	uint64_t paused;  /* how long the process was stopped, in ns */
	uint64_t size;    /* bytes of all ranges */
};

/* Copies the writable memory of the process PID, which has the program of TAB, of Go 1.MINOR, as
 * its program or one of its libraries, while it runs: what changes meanwhile may not fit together.
 * Where memory is short the copy is in a file, which the system can write out. TAB is the caller's
 * and outlives it. A BARE copy has no contents of most objects without pointers. False (ERR filled)
 * if there is no such process, it may not be read, or memory and disk ran out. To be freed. */
bool gh_live_copy_running(struct gh_live_copy *live, int pid, const struct gh_pclntab *tab,
			  int minor, enum gh_live_bare bare, struct gh_error *err);

/* Copies the memory again, which gh_live_copy_running copied, and the threads' registers: the parts
 * once more while the process runs, then all else, and those parts that have other objects now,
 * while all its threads are stopped. They go on afterwards, also when the caller is ended
 * meanwhile. What is copied a second time takes a fraction of the time, as it need not be given
 * memory. False (ERR filled) if the process has ended, is traced already, or memory ran out. */
bool gh_live_copy_stop(struct gh_live_copy *live, struct gh_error *err);

/* The copy, to be read; good until LIVE is freed. */
struct gh_memory gh_live_copy_memory(const struct gh_live_copy *live);

void gh_live_copy_free(struct gh_live_copy *live);

/* What the memory of a process is used for. Interfaces: /proc/PID/smaps and pagemap, proc(5); type
 * mheap in src/runtime/mheap.go; malloc/arena.c and malloc/malloc.c of glibc. */

enum gh_footprint_kind {
	GH_FOOTPRINT_OBJECTS,   /* the Go heap: spans of objects */
	GH_FOOTPRINT_STACKS,    /* spans of goroutines' stacks */
	GH_FOOTPRINT_COLLECTOR, /* spans of the garbage collector's own */
	GH_FOOTPRINT_FREE,      /* what is no span */
	GH_FOOTPRINT_MALLOC,    /* the C library's malloc */
	GH_FOOTPRINT_THREADS,   /* stacks of threads */
	GH_FOOTPRINT_RUNTIME,   /* the Go runtime's own, outside its heap */
	GH_FOOTPRINT_ANONYMOUS, /* no file's, and none of the above */
	GH_FOOTPRINT_RESERVED,  /* addresses, without memory */
	GH_FOOTPRINT_SHARED,    /* shared with other processes, and no file's */
	GH_FOOTPRINT_PINNED,    /* the same that stays in memory, as for a device */
	GH_FOOTPRINT_DEVICES,   /* devices, which are not to be read */
	GH_FOOTPRINT_PROGRAM,   /* the program and its libraries, with their variables */
	GH_FOOTPRINT_FILES,     /* other files */
	GH_FOOTPRINT_KINDS
};

struct gh_footprint_part { /* in bytes */
	uint64_t size;     /* that is mapped */
	uint64_t resident; /* in memory; in a core file, pages that are not all zeros */
	uint64_t swapped;  /* in swap */
};

struct gh_allocator {     /* another malloc than the C library's */
	const char *name; /* "jemalloc"; NULL if it is not known */
	char file[64];    /* that has it, without directories, to be escaped; "": there is none */
};

/* Looks for one in the files of PROCESS, by what these export, or by their names. A program without
 * a dynamic section may have one of a few. False if there is none. */
bool gh_allocator_find(struct gh_allocator *allocator, const struct gh_process *process);

struct gh_footprint_file {
	enum gh_footprint_kind kind; /* of files, or of devices */
	char *name;                  /* as the kernel has it; owned */
	struct gh_footprint_part part;
};

struct gh_footprint {
	struct gh_footprint_part parts[GH_FOOTPRINT_KINDS];
	struct gh_collections collections;
	uint64_t objects;    /* bytes of the heap's objects, those that are garbage, too */
	uint64_t runtime;    /* bytes of what the runtime has beside its heap; 0 if unknown */
	uint64_t stacks;     /* bytes of all goroutines' stacks */
	uint64_t deepest;    /* of the largest of them */
	uint64_t deepest_id; /* of its goroutine; 0 if there is none */
	struct gh_allocator allocator;
	struct GH_VECTOR(struct gh_footprint_file) files; /* in no order; owned */
};

/* Finds that of PROCESS, a copy of the running process PID. False (ERR filled) if it may not be
 * looked at, has no Go heap, or memory ran out. In any case to be freed. */
bool gh_footprint_live(struct gh_footprint *footprint, struct gh_process *process, int pid,
		       struct gh_error *err);

/* The same of PROCESS, which CORE is of. */
bool gh_footprint_core(struct gh_footprint *footprint, struct gh_process *process,
		       const struct gh_image *core, struct gh_error *err);

/* The bytes of the running process PID that are in memory; 0 if it cannot be asked. */
uint64_t gh_footprint_resident(int pid);

void gh_footprint_free(struct gh_footprint *footprint);

/* Maps in the memory of a process. Sources: type hmap and type bmap in src/runtime/map.go
 * (hashmap.go, hashmap.c) to Go 1.23; src/internal/runtime/maps from Go 1.24 on. */

struct gh_map_entry {
	uint64_t key; /* its address */
	uint64_t value;
};

struct gh_map_entries GH_VECTOR(struct gh_map_entry);

/* Where a group of a map's entries, or a bucket, has what: offsets and distances in bytes. */
struct gh_map_shape {
	bool swiss;            /* a group; else a bucket */
	uint64_t size;         /* of it */
	uint64_t keys;         /* the first key */
	uint64_t values;       /* the first value */
	uint64_t key_step;     /* from a key to the next */
	uint64_t value_step;   /* the same */
	uint64_t overflow;     /* of a bucket, the address of the one that goes on */
	bool key_is_pointer;   /* keys are elsewhere: there is a pointer to each */
	bool value_is_pointer; /* the same */
};

/* How many entries the map with its header at HEADER has. False if it cannot be read. */
bool gh_map_count(struct gh_process *process, const struct gh_map_shape *shape, uint64_t header,
		  uint64_t *count);

/* How many buckets or groups, of 8 places for entries each, it has, without those that buckets go
 * on in. Likewise. */
bool gh_map_buckets(struct gh_process *process, bool swiss, uint64_t header, uint64_t *count);

/* The header of a map of SHAPE is at HEADER: its fields agree with each other and with what they
 * point to. Memory that begins with a pointer or with nil is none. */
bool gh_map_is_header(struct gh_process *process, const struct gh_map_shape *shape,
		      uint64_t header);

/* Adds all its entries to ENTRIES, in the order of memory, those of a map that grows, too. No more
 * than BYTES of buckets or groups are read. False if some cannot be read, or memory ran out:
 * ENTRIES has failed then. */
bool gh_map_read(struct gh_map_entries *entries, struct gh_process *process,
		 const struct gh_map_shape *shape, uint64_t header, uint64_t bytes);

#endif
