/* What commands share between reading their input and printing: programs, dumps and processes
 * opened with the user's options, and the names of what is in them. How rows become text, tables
 * or JSON is in emit.h.
 *
 * - target_kind.c, open_*.c, program_in_memory.c, modules.c, symbols.c: what is read; kept_twin.c:
 *   programs as they were before they were stripped;
 * - address.c, globals.c, object_names.c, root_names.c: what addresses and objects are called;
 * - holders.c: what keeps which share of the heap;
 * - merged_paths.c, root_frames.c, slice_range.c: how objects are held (paths.h);
 * - traceback.c: the calls on a goroutine's stack; goroutine_text.c, goroutine_json.c: a goroutine
 *   with its state (print.c words its wait) and calls, in Go's form and as JSON; goroutines.c:
 *   which are listed, and groups;
 * - profile_text.c: an allocation profile, in Go's form. */
#ifndef GH_PLUGIN_VIEW_VIEW_H
#define GH_PLUGIN_VIEW_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/code/code.h"
#include "lib/dump/dump.h"
#include "lib/elf/elf.h"
#include "lib/export/export.h"
#include "lib/heap/heap.h"
#include "lib/pclntab/pclntab.h"
#include "lib/process/process.h"
#include "lib/profile/profile.h"
#include "lib/typing/typing.h"
#include "lib/util/pattern.h"
#include "plugin/view/emit.h"

/* A Go program that a command reads. */

struct gh_program {
	struct gh_image image; /* owned */
	struct gh_pclntab tab; /* of the image */
	uint64_t names_left;   /* bytes of names that may still be printed of all functions */
};

/* Opens the Go program at PATH, to be closed with gh_program_close. On failure prints the error and
 * returns false. */
bool gh_program_open(struct gh_program *program, const char *path);

void gh_program_close(struct gh_program *program);

/* Counts SIZE bytes of names where all functions are printed: a crafted program's can share one. */
void gh_program_take_names(struct gh_program *program, size_t size);

/* What was printed is in proportion to the program. If not, prints that the rest is left out, and
 * returns false. */
bool gh_program_goes_on(const struct gh_program *program);

/* Twins that `goheap twin' has proved: the program with its symbols and DWARF. They are in this
 * directory of the cache. */
#define GH_KEPT_TWINS "twins"

/* The path of PROGRAM's, whether or not it is there; its directory is made. To be freed; NULL if
 * there is no cache. */
char *gh_kept_twin_path(const struct gh_image *program);

/* The same if it is there, and is the twin of PROGRAM's file and of no other; else NULL. */
char *gh_kept_twin_find(const struct gh_image *program);

/* Reads function number INDEX and starts the walk MAP over it, if the program goes on. On failure
 * prints the error and returns false. */
bool gh_program_walk(const struct gh_program *program, size_t index, struct gh_func *func,
		     struct gh_sourcemap *map);

/* Finds the function FUNC of TAB that PC is in, one of the file's addresses, and the RANGE of its
 * lines, with the walk MAP, over which FUNC must stay put. False if there is none; where memory ran
 * out, after gh_leave_out. */
bool gh_find_lines(struct gh_sourcemap *map, const struct gh_pclntab *tab, uint64_t pc,
		   struct gh_func *func, struct gh_range *range);

struct gh_target { /* a Go process that is read: from a core file, or while it runs */
	struct gh_program program;          /* that it runs */
	struct gh_buildinfo info;           /* of the program */
	struct gh_image core;               /* zeros if it runs */
	struct gh_live_copy live;           /* zeros if it is a core file's */
	struct gh_thread_registers threads; /* of a core file */
	struct gh_mapped_files files;
	struct gh_writable writable; /* of a core file, if C's memory is wanted */
	struct gh_other_modules others;
	struct gh_memory memory;
	struct gh_process process;
	const char *version; /* of Go; "" if it is not known */
	const char *path;    /* of the core file or the program, for messages */
};

/* Opens the process of the core file PATH, which ran PROGRAM. On failure prints the error and
 * returns false. To be closed with gh_target_close, and not to be moved. */
bool gh_target_open_core(struct gh_target *target, const char *path, const char *program);

/* The same of the running process PID, stopped while its memory is copied, for how long is told;
 * PROGRAM is what it runs, NULL for what the system says that it does. */
bool gh_target_open_live(struct gh_target *target, int pid, const char *program);

/* How a heap is read, or-ed: of most objects without pointers only where they are; with C's memory;
 * with that if it is large. */
enum { GH_HEAP_NO_DATA = 1, GH_HEAP_WITH_C = 2, GH_HEAP_WITH_LARGE_C = 4 };

/* Says so if HOW asks for C's memory, and DUMP, of PROCESS or, if that is NULL, a file, has none.
 */
void gh_check_c(const struct gh_dump *dump, const struct gh_process *process, unsigned how);

/* Has the heap of TARGET, which is open, be read with C's memory if HOW says so. */
void gh_target_want_c(struct gh_target *target, unsigned how);

/* The same as the first, without a stop: what changes meanwhile may not fit together. */
bool gh_target_open_running(struct gh_target *target, int pid, const char *program);

void gh_target_close(struct gh_target *target);

/* The process PID is there and may be read. Else says why it cannot be. */
bool gh_target_check_running(int pid);

/* A process that runs PROGRAM, of which INFO tells and whose entry point is at ENTRY, but for its
 * threads. Its memory is MEMORY. To be freed with gh_process_memory_free. */
struct gh_process gh_process_of(const struct gh_program *program, const struct gh_memory *memory,
				const struct gh_buildinfo *info, uint64_t entry);

/* Writes a heap dump of PROCESS, whose program VERSION of Go built, to the new file PATH. What it
 * lacks is told on standard error, of NAME. GZIP: it is compressed. On failure prints the error and
 * returns false. */
bool gh_process_write_heap(struct gh_process *process, const char *version, const char *name,
			   const char *path, bool gzip);

/* Opens such a dump, which has no name and may be BARE (see gh_heap_dump_write). Likewise. */
bool gh_process_open_heap(struct gh_dump *dump, struct gh_process *process, const char *version,
			  const char *name, bool bare);

/* Says how many goroutines of the process, or core file, PATH were LOST, if any were, and if the
 * functions in C that they are in could not be found. */
void gh_print_lost_goroutines(const char *path, uint64_t lost);

/* Opens the heap dump PATH; of a core file, the heap of its process, which ran PROGRAM; or, if that
 * is not NULL, of the process of number PROCESS, by PROGRAM unless that is NULL. HOW: see above. To
 * be closed with gh_dump_close. Likewise. */
bool gh_heap_open(struct gh_dump *dump, const char *path, const char *process, const char *program,
		  unsigned how);

/* The kinds of target: a command answers some of them. */
enum gh_target_kind {
	GH_KIND_NONE,             /* a file that cannot be read, or of no known kind */
	GH_KIND_PROGRAM = 1 << 0, /* an ELF file that is no core file */
	GH_KIND_PROCESS = 1 << 1,
	GH_KIND_CORE = 1 << 2,
	GH_KIND_DUMP = 1 << 3,     /* a heap dump, or a gzip file, as dumps may be */
	GH_KIND_DEBUGGED = 1 << 4, /* what GDB debugs: the session's socket */
};

/* Returns the kind of the file at PATH, by its first bytes. If there is none, ERR, which may be
 * NULL, has why. */
enum gh_target_kind gh_target_kind(const char *path, struct gh_error *err);

/* The Go libraries of a process whose program is another language's: each has its own runtime, with
 * goroutines and a heap. */

struct gh_modules {
	char **items; /* their paths, each owned */
	size_t count;
	size_t capacity;
	bool failed; /* memory ran out */
	bool any;    /* they are asked for also where the program is Go's */
};

/* Adds to MODULES, zeros but for ANY, those of the process of this number or, if PROCESS is NULL,
 * of the core file at PATH. There are none if it cannot be read. */
void gh_modules_find(struct gh_modules *modules, const char *path, const char *process);

/* Adds those among FILES, which a process that runs PROGRAM has mapped: of one that was linked with
 * -linkshared, the library that has its runtime. */
void gh_modules_add(struct gh_modules *modules, const struct gh_mapped_files *files,
		    const char *program);

/* The module at PATH is called NAME: its path, or what comes last in it. */
bool gh_module_is(const char *path, const char *name);

void gh_modules_free(struct gh_modules *modules);

/* Puts the path of the program that the core file at PATH is of into PROGRAM; "" if it has none. */
void gh_core_program_path(const char *path, char program[PATH_MAX]);

/* Programs that are made again from memory: a core file's, or that of a process that unpacked
 * itself. Each is read by the path of an open file that has no name. */
#define GH_PROGRAM_IN_MEMORY_PATH 32

/* Makes the program of the core file at PATH, and puts into MADE the path by which it can be opened
 * for as long as *FD, the caller's to close, is open; "" if the core file lacks it. On failure
 * prints the error and returns false. */
bool gh_core_program_make(const char *path, char made[GH_PROGRAM_IN_MEMORY_PATH], int *fd);

/* The same of the process PID. False, and nothing is printed, if its file is a Go program or none
 * is found in its memory. */
bool gh_live_program_make(int pid, char path[GH_PROGRAM_IN_MEMORY_PATH], int *fd);

/* Finds where in the memory of the process PID the ELF header of such a program is. */
bool gh_live_program_find(int pid, uint64_t *start);

/* A heap dump that a command reads, and what is in it in words. */

/* Opens the dump at PATH, to be closed with gh_dump_close. On failure prints the error and returns
 * false. What is missing or wrong in a dump that can be read is told on standard error. */
bool gh_dumpfile_open(struct gh_dump *dump, const char *path);

/* Writes a core file of DUMP, which PROGRAM wrote, to PATH. On failure prints the error and returns
 * false. */
bool gh_dumpfile_write_core(const struct gh_dump *dump, const struct gh_core_program *program,
			    const char *path);

/* The name of the type at ADDRESS, of size 0 if the dump does not have it. */
struct gh_dump_slice gh_dumpfile_type_name(const struct gh_dump *dump, uint64_t address);

/* The program that wrote a heap dump, as far as the dump's addresses need it. */

struct gh_symbols_entry;

struct gh_symbols {
	struct gh_program program; /* owned */
	uint64_t bias;             /* of the dump's addresses over the file's */
	struct gh_other_modules others;
	int wrapper; /* funcID of compiler-made wrappers; -1 if it is not known */
	struct gh_sourcemap map;
	struct gh_symbols_entry *cache; /* what was looked up; owned */
};

/* Opens the Go program at PATH, which wrote DUMP: what its frames execute must be its functions, or
 * those of other modules. On failure prints the error and returns false. To be closed with
 * gh_symbols_close. */
bool gh_symbols_open(struct gh_symbols *symbols, const struct gh_dump *dump, const char *path);

/* DUMP has frames and variables, and those of the Go program at PATH are where they are there. */
bool gh_symbols_fit(const struct gh_dump *dump, const char *path);

/* The program's module. */
struct gh_module gh_symbols_module(const struct gh_symbols *symbols);

/* Finds the types of it and of the modules with its runtime: see gh_rtypes_find_all. */
bool gh_symbols_types(struct gh_rtypes *types, const struct gh_symbols *symbols,
		      struct gh_error *err);

/* Frees everything. Zeroed ones may be closed too. */
void gh_symbols_close(struct gh_symbols *symbols);

/* Fills PROGRAM with what a core file of DUMP has to say of the program at PATH, which wrote it;
 * its name is in PATH. On failure prints the error and returns false: then the name alone is filled
 * in. */
bool gh_symbols_program(struct gh_core_program *program, const struct gh_dump *dump,
			const char *path);

/* Has PROCESS be what DUMP was written of, by the program of SYMBOLS: its MEMORY is what DUMP has.
 * To be freed with gh_process_memory_free. */
void gh_dump_process(struct gh_process *process, struct gh_memory *memory,
		     const struct gh_dump *dump, const struct gh_symbols *symbols);

/* Where in the dumped process an address is, for a person. */

/* Prints where ADDRESS is, which is in no object: "in the stack of goroutine 7, main.f", "in the
 * data segment", "outside of the dump". */
void gh_where_print(FILE *out, const struct gh_heap *heap, uint64_t address);

/* A goroutine's stack, call by call, as Go prints it. */

/* A call on the stack: of a frame, or inlined into one. */
struct gh_call {
	const char *name; /* of the function; not ended by a NUL; in the dump or the program */
	size_t length;    /* of the name, in bytes */
	const char *file; /* "" if unknown */
	int32_t line;     /* 0 if unknown */
	uint64_t pc;      /* as in the frame */
	uint64_t offset;  /* of pc in the function, in bytes */
	uint64_t at;  /* what was looked up: pc, or an address within the call that it is after */
	uint64_t sp;  /* of the caller's frame; 0 if that is not known */
	size_t frame; /* number of the frame */
	const char *object; /* of C code: the file that has it, or ""; else NULL */
	bool inlined;       /* into the next call */
	bool current;       /* its thread is at pc */
	bool hidden;        /* Go leaves it out: it is the runtime's, or a wrapper */
};

struct gh_traceback {
	struct GH_VECTOR(struct gh_call) calls; /* innermost first; used again for the next */
	bool all;                               /* nothing would be left: nothing is hidden */
};

/* Fills TRACEBACK with the stack of goroutine NUMBER; zero it before the first. SYMBOLS may be
 * NULL: then there are no inlined calls, files, and lines. False if memory ran out. */
bool gh_traceback_make(struct gh_traceback *traceback, const struct gh_dump *dump,
		       struct gh_symbols *symbols, size_t number);

/* The innermost call of the program's own, or else of no package that waits. NULL if none is. */
const struct gh_call *gh_traceback_own_call(const struct gh_traceback *traceback);

/* Prints the name of a call's function as Go's tracebacks do; or "main.f at x.go:12". */
void gh_traceback_print_name(FILE *out, const struct gh_call *call);
void gh_traceback_print_call(FILE *out, const struct gh_call *call);

/* Fills CALL with the innermost one at PC, an address of the dump's. False if it is in no function.
 */
bool gh_traceback_call_at(struct gh_symbols *symbols, uint64_t pc, struct gh_call *call);

void gh_traceback_free(struct gh_traceback *traceback);

/* The goroutines of a heap dump, as Go prints tracebacks, or as JSON. */

/* What Go calls the STATUS of a goroutine. */
const char *gh_goroutine_status(uint64_t status);

/* Reads the goroutine of DUMP whose id is ID into RECORD. Its number, or GH_DUMP_NONE. */
size_t gh_goroutine_find(const struct gh_dump *dump, uint64_t id, struct gh_dump_record *record);

/* Why GOROUTINE waits or, if it does not, its status: SIZE bytes, of the dump's or static; to be
 * escaped. */
const char *gh_goroutine_state(const struct gh_dump *dump,
			       const struct gh_dump_goroutine *goroutine, size_t *size);

/* How many whole minutes a goroutine has waited, or been in a system call. */
uint64_t gh_goroutine_minutes(const struct gh_dump *dump,
			      const struct gh_dump_goroutine *goroutine);

/* Which goroutines are printed, and how. Zeros but for the dump: those of the user's, one by one.
 */
struct gh_goroutine_list {
	FILE *out;
	const struct gh_dump *dump;
	struct gh_symbols *symbols; /* of the program that wrote it; NULL if none is given */
	const char *status;         /* those in this state alone; NULL for all */
	const char *label; /* those alone with this label: KEY=VALUE or KEY; NULL for all */
	const struct gh_pattern *pattern; /* those alone whose text it matches; NULL for all */
	const uint64_t *only; /* the one of this id alone, whatever it is; NULL for all */
	bool panics_told;     /* they have been printed before, with more of them */
	const bool *leaked;   /* by number, those alone for which it is true; NULL for all */
	bool all;             /* also what Go leaves out: the system's, and the runtime's calls */
	bool group;           /* those with the same state and stack together */
	uint64_t crashed;     /* id of the goroutine whose group comes first; 0 for none */
	bool json;            /* an object a line */
	bool one_line;        /* a line for each goroutine, with the user's first call */
	struct gh_traceback traceback; /* private: of one of them */
};

/* Prints them. On failure prints the error and returns false. */
bool gh_goroutines_print(struct gh_goroutine_list *listing);

/* Prints DUMP's goroutine ID to OUT, as `goheap goroutines' does but for its panics. On failure
 * prints the error and returns false. */
bool gh_goroutines_print_one(FILE *out, const struct gh_dump *dump, struct gh_symbols *symbols,
			     uint64_t id);

/* What the words of the data segments are called: variables, by the unstripped program; values that
 * the linker put there for a variable to point to, by way of that; and else by the functions whose
 * code refers to them. */

/* The references of the program's code, once they have been asked for. */
struct gh_globals {
	const struct gh_typing *typing; /* the caller's */
	struct gh_symbols *symbols;     /* the caller's; NULL if no program is given */
	struct gh_global_refs refs;
	bool found; /* they have been looked for */
};

/* What the objects of a heap, the pointers in them, and the roots are called. */

struct gh_names {
	const struct gh_heap *heap; /* the caller's */
	struct gh_symbols *symbols; /* of the program, the caller's; NULL if none is given */
	struct gh_typing typing;
	struct gh_globals globals;     /* what is in the segments */
	struct gh_traceback traceback; /* of the goroutine that was last asked about: */
	size_t goroutine;              /* its number, if there are calls */
};

/* Names what is in HEAP, which is the caller's and outlives it; names->symbols stay as they are.
 * TWIN is the path of the program that has names->symbols before it was stripped; NULL if there is
 * none. False (ERR filled) if that cannot be read or memory ran out. To be freed either way. */
bool gh_names_make(struct gh_names *names, const struct gh_heap *heap, const char *twin,
		   struct gh_error *err);

void gh_names_free(struct gh_names *names);

/* Objects that are called the same are a class: its number, by object; how many classes there are;
 * and what objects of class NUMBER are called, to be escaped. */
const uint32_t *gh_names_classes(const struct gh_names *names);
size_t gh_names_count(const struct gh_names *names);
const char *gh_names_class(const struct gh_names *names, uint32_t number);

/* Prints the class's name of OBJECT, escaped. */
void gh_names_print(FILE *out, const struct gh_names *names, uint32_t object);

/* Prints OBJECT for a person: its address, its class, and its size where that does not say it. */
void gh_names_print_object(FILE *out, const struct gh_names *names, uint32_t object);

/* An object as a member of a row, and a byte of it: for the columns below. */
struct gh_object {
	const struct gh_names *names;
	uint32_t number;
	uint64_t address;
	const char *type; /* what its class is called */
	uint64_t offset;  /* of the byte, from the object's address */
};

/* A row of one. */
struct gh_object_row {
	struct gh_object object;
};

/* OBJECT as a member of a row; OFFSET is that of a pointer in it, or 0. */
struct gh_object gh_names_object(const struct gh_names *names, uint32_t object, uint64_t offset);

/* The columns that say which object it is: MEMBER of the struct ROW, a struct gh_object. For a
 * person they are one, gh_names_print_object's. */
#define GH_OBJECT(row, member)                                                                     \
	{"object", GH_COL_PRINTED_MEMBER(row, member, gh_object_print), .only = GH_IN_TEXT},       \
	    {"object", GH_COL_ADDRESS(row, member.address), .only = GH_IN_JSON},                   \
	{                                                                                          \
		"type", GH_COL_TEXT(row, member.type), .only = GH_IN_JSON                          \
	}

/* The columns that say where in it the pointer is. */
#define GH_OBJECT_FIELD(row, member)                                                               \
	{"offset", GH_COL_NUMBER(row, member.offset), .only = GH_IN_JSON},                         \
	{                                                                                          \
		"field", GH_COL_PRINTED_MEMBER(row, member, gh_object_print_field)                 \
	}

/* Print the struct gh_object that MEMBER is, and the field of it that the byte is in. */
void gh_object_print(struct gh_emit *emit, const void *member);
void gh_object_print_field(struct gh_emit *emit, const void *member);

/* Prints the command by which GDB prints the value in OBJECT; nothing if GDB cannot name its type.
 */
void gh_names_print_command(FILE *out, const struct gh_names *names, uint32_t object);

/* Prints what is at OFFSET in OBJECT for a person, ".next"; if that is not known, "+16". */
void gh_names_print_field(FILE *out, const struct gh_names *names, uint32_t object,
			  uint64_t offset);

/* Prints ROOT for a person: "main.cache (bss, 0x53a8e0)", "main.srv -> main.Server (static).tenants
 * (data, 0x53a8e8)", "goroutine 7, main.f at x.go:12, sp_0x18". */
void gh_names_print_root(FILE *out, struct gh_names *names, const struct gh_root *root);

/* Prints ROOT of COUNT goroutines that have one stack, with the innermost call that is the
 * program's own: "5,000 goroutines in main.handle at main.go:51, r". */
void gh_names_print_stack(FILE *out, struct gh_names *names, const struct gh_root *root,
			  uint64_t count);

/* gh_names_print_root's as a JSON object. */
void gh_names_emit_root(struct gh_emit *emit, struct gh_names *names, const struct gh_root *root);

/* What holds the heap: variables, goroutines with the same stack, finalizers and the rest of the
 * roots, each with all that only it leads to. */

struct gh_holder {
	uint64_t key;        /* the same in another dump of the program */
	uint32_t root;       /* the number of that of its roots that alone retains most */
	uint32_t goroutines; /* with its stack; 0 if it is no stack */
};

struct gh_held {
	const struct gh_names *names; /* the caller's */
	struct GH_VECTOR(struct gh_holder) holders;
	uint32_t *of; /* by root: its holder's number; owned */
	struct gh_dominators dominators;
	struct gh_dominator_tree tree; /* of them */
};

/* Finds the holders of the heap of NAMES. False (ERR filled) if memory ran out. To be freed either
 * way. */
bool gh_held_make(struct gh_held *held, struct gh_names *names, struct gh_error *err);

void gh_held_free(struct gh_held *held);

/* The bytes that only holder NUMBER leads to. */
uint64_t gh_held_bytes(const struct gh_held *held, uint32_t number);

/* The number of the holder with KEY; GH_HEAP_NONE if there is none. */
uint32_t gh_held_find(const struct gh_held *held, uint64_t key);

/* Prints holder NUMBER for a person: "main.srv -> main.Server (static).tenants", "5,000
 * goroutines in main.handle at main.go:51, r". */
void gh_held_print(FILE *out, const struct gh_held *held, struct gh_names *names, uint32_t number);

/* An allocation profile as text, as Go prints it (debug=1). */

/* Prints the profile, most bytes in use first, and the dump's memory statistics as comments. RATE
 * is MemProfileRate. False if memory ran out. */
bool gh_profiletext_print(const struct gh_allocations *allocations, uint64_t rate);

/* Prints each record as a JSON object, a line each; in the dump's order. */
void gh_profiletext_print_json(const struct gh_allocations *allocations);

#endif
