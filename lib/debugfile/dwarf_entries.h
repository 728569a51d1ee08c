/* What the files that write DWARF share: its types, the variables that tell the goroutine, the
 * arguments of functions, frames, and probes. */
#ifndef GH_DEBUGFILE_DWARF_ENTRIES_H
#define GH_DEBUGFILE_DWARF_ENTRIES_H

#include "lib/code/code.h"
#include "lib/debugfile/debugfile.h"
#include "lib/debugfile/internal.h"
#include "lib/pclntab/pclntab.h"
#include "lib/rtype/rtype.h"
#include "lib/util/buffer.h"

/* The unit of .debug_info that types are written into: its abbreviations, and its entries, which
 * may be referred to before they are there. DWARF 4, chapter 5, as Go's linker writes it
 * (src/cmd/link/internal/ld/dwarf.go of each release), Go's own attributes included. */

struct gh_typenames;

/* Codes of the abbreviations. */
enum {
	GH_ENTRY_UNIT = 1,
	GH_ENTRY_BASE,
	GH_ENTRY_STRUCT,
	GH_ENTRY_EMPTY_STRUCT,
	GH_ENTRY_DECLARED,
	GH_ENTRY_MEMBER,
	GH_ENTRY_TYPEDEF,
	GH_ENTRY_POINTER,
	GH_ENTRY_BARE_POINTER,
	GH_ENTRY_ARRAY,
	GH_ENTRY_RANGE,
	GH_ENTRY_FUNC,
	GH_ENTRY_EMPTY_FUNC,
	GH_ENTRY_PARAMETER,
	GH_ENTRY_RESULT,
	GH_ENTRY_VARIADIC,
	GH_ENTRY_CHAN,
	GH_ENTRY_MAP,
	GH_ENTRY_INTERFACE,
	GH_ENTRY_SLICE,
	GH_ENTRY_UNSPECIFIED,
	GH_ENTRY_VARIABLE,
	GH_ENTRY_TEMPLATE, /* LLDB's alone */
};

/* Numbers of entries: those of the types, and then those of entries without a descriptor. */
typedef uint32_t gh_entry;

#define GH_NO_ENTRY UINT32_MAX

/* A pointer or an array that is to be written when the entry that needs it is complete. */
struct gh_type_late {
	gh_entry number; /* gh_type_later gives it */
	gh_entry target; /* what it points to or has elements of */
	uint32_t name;   /* in the string table */
	bool array;      /* and no pointer */
	uint64_t count;  /* elements of an array */
	uint64_t size;   /* of an array, in bytes */
};

/* The unit, while it is written; the caller gives what is not owned and comes before start. */
struct gh_type_unit {
	struct gh_buffer *out; /* .debug_info; not owned, as the next three */
	const struct gh_rtypes *types;
	const struct gh_typenames *names;
	struct gh_strings *strings;
	enum gh_debugger debugger;          /* that reads it */
	uint8_t word;                       /* pointer size, in bytes */
	int release;                        /* N of Go 1.N */
	size_t start;                       /* of the unit */
	gh_entry count;                     /* entries that have a number */
	size_t text_left;                   /* bytes of fields' names that may still be written */
	struct GH_VECTOR(uint32_t) offsets; /* of the entries from the unit's start; owned */
	struct GH_VECTOR(struct gh_type_reference) references; /* owned */
	struct GH_VECTOR(struct gh_type_late) lates;           /* owned */
	struct gh_buffer text; /* a name that is being made; owned */
	gh_entry *pointers;    /* to each type, or GH_NO_ENTRY; owned */
	gh_entry *queues;      /* pointer to hchan<T> by T, or GH_NO_ENTRY; owned */
	gh_entry *tables;      /* pointer to the map's header by its group, or GH_NO_ENTRY; owned */
	gh_entry basics[GH_KINDS];                /* the predeclared types, or GH_NO_ENTRY */
	gh_entry runtime[GH_MAX_RUNTIME_STRUCTS]; /* the runtime's types, or GH_NO_ENTRY */
	gh_entry runtime_pointers[GH_MAX_RUNTIME_STRUCTS]; /* pointers to them, or GH_NO_ENTRY */
	gh_entry unspecified; /* what a missing type is, or GH_NO_ENTRY */
};

/* Starts the unit in INFO, in whose .debug_info unit->out is. False if memory ran out. To be freed
 * with gh_type_unit_free in any case. */
bool gh_type_unit_begin(struct gh_type_unit *unit, struct gh_info *info);

/* Ends the unit, every entry that has a number being there. False if memory ran out. */
bool gh_type_unit_end(struct gh_type_unit *unit);

void gh_type_unit_free(struct gh_type_unit *unit);

/* A number for an entry that is yet to come. */
gh_entry gh_type_new(struct gh_type_unit *unit);

/* Begins the entry NUMBER, or one without a number for GH_NO_ENTRY, by an abbreviation. */
void gh_type_begin_entry(struct gh_type_unit *unit, unsigned code, gh_entry number);

/* The same, with its name, in the string table, and its kind and its descriptor's place, which are
 * 0 if TYPE is NULL. */
void gh_type_begin(struct gh_type_unit *unit, unsigned code, gh_entry number, uint32_t name,
		   const struct gh_rtype *type);

/* Ends a list of children. */
void gh_type_end_children(struct gh_type_unit *unit);

/* Adds a reference to the entry TO. */
void gh_type_refer(struct gh_type_unit *unit, gh_entry to);

/* Adds TEXT to the string table, and gives its offset. */
uint32_t gh_type_string(struct gh_type_unit *unit, const char *text);

/* The same of the name "BASE<A,B>", A and B being types by number; "BASE<A>" if B is GH_NO_ENTRY.
 */
uint32_t gh_type_generic_name(struct gh_type_unit *unit, const char *base, uint32_t a, uint32_t b);

/* The entry of the predeclared type of KIND. */
gh_entry gh_type_basic(struct gh_type_unit *unit, enum gh_kind kind);

/* The entry of type NUMBER, or of an unspecified one for GH_NO_RTYPE. */
gh_entry gh_type_of(struct gh_type_unit *unit, uint32_t number);

/* The pointer to type NUMBER; unsafe.Pointer for GH_NO_RTYPE. */
gh_entry gh_type_pointer_to(struct gh_type_unit *unit, uint32_t number);

/* The pointer to the entry TARGET, which has no descriptor. NAME is the pointer's. */
gh_entry gh_type_pointer(struct gh_type_unit *unit, gh_entry target, uint32_t name);

/* The number that LATE, which is copied, will have. */
gh_entry gh_type_later(struct gh_type_unit *unit, const struct gh_type_late *late);

/* LLDB, if the unit is for it, would not come to an end with TYPE, a pointer or slice: it reads at
 * once what those and arrays are of, which may be the type itself, as in "type list []list". */
bool gh_type_is_endless(const struct gh_type_unit *unit, const struct gh_rtype *type);

/* Writes the pointers and arrays that were asked for. */
void gh_type_add_lates(struct gh_type_unit *unit);

/* Writes whole entries, or, of a struct, a member at OFFSET, in bytes, whose name has LENGTH bytes.
 */
void gh_type_add_base(struct gh_type_unit *unit, gh_entry number, uint32_t name,
		      const struct gh_rtype *type);
void gh_type_add_typedef(struct gh_type_unit *unit, gh_entry number, uint32_t name, gh_entry of);
void gh_type_add_pointer(struct gh_type_unit *unit, gh_entry number, uint32_t name,
			 const struct gh_rtype *type, gh_entry target);
void gh_type_add_array(struct gh_type_unit *unit, gh_entry number, uint32_t name,
		       const struct gh_rtype *type, const struct gh_type_late *array);
void gh_type_add_member(struct gh_type_unit *unit, const char *name, size_t length, uint64_t offset,
			gh_entry type, bool embedded);

/* The program's types as DWARF: an entry for each descriptor, in a unit of their own. */

/* Adds a unit with TYPES to INFO, and the variables that tell the goroutine, for which RUNTIME is
 * what is known of the runtime. Their names are NAMES, in STRINGS; names that only DWARF has are
 * added to it. With no types nothing is added. False (ERR filled) if memory ran out or the section
 * would not fit the 32-bit DWARF format. */
bool gh_dwarf_types_add(struct gh_info *info, const struct gh_rtypes *types,
			const struct gh_typenames *names, struct gh_strings *strings,
			const struct gh_runtime *runtime, struct gh_error *err);

/* The names of the types and of the itabs, in the string table that the symbols and the DWARF
 * share. */

/* Bytes of a type's symbol's name before the type's: "type:", in Go before 1.20 "type.". */
#define GH_TYPE_PREFIX 5

struct gh_typenames {
	uint32_t *offsets; /* of each type's symbol's name in the string table, by number; 0
			      if it has none; owned */
	struct gh_data_symbols symbols; /* of the types and the itabs; owned */
};

/* Names TYPES and the itabs of their program in STRINGS. An itab's symbol is "go:itab.*T,I"
 * ("go.itab.*T,I" before 1.20), T and I being the types. False (ERR filled) if memory ran out. To
 * be freed with gh_typenames_free in any case. */
bool gh_typenames_make(struct gh_typenames *names, const struct gh_rtypes *types,
		       struct gh_strings *strings, struct gh_error *err);

/* Appends to SYMBOLS one for each itab in the dump of SLOTS, which may be
 * NULL, that lies outside of IMAGE, with a section of its own in ELF: "itab:*main.Node". Those that
 * are too many are left out. False (ERR filled) if memory ran out. */
bool gh_dump_itabs_add(struct gh_data_symbols *symbols, struct gh_elf *elf,
		       struct gh_strings *strings, const struct gh_image *image,
		       const struct gh_slots *slots, struct gh_error *err);

void gh_typenames_free(struct gh_typenames *names);

/* The entries of the runtime's structs that have no descriptors (gh_runtime_structs). */

/* The entry of number NUMBER; GH_NO_ENTRY if that is the last. */
gh_entry gh_type_runtime(struct gh_type_unit *unit, uint32_t number);

/* Writes struct NUMBER as ENTRY, which it gives, called NAME, with ARGUMENT for the types "$". */
gh_entry gh_type_add_runtime(struct gh_type_unit *unit, gh_entry entry, uint32_t number,
			     uint32_t name, gh_entry argument);

/* Writes the runtime's types that were asked for by name, and by them. */
void gh_type_add_runtimes(struct gh_type_unit *unit);

/* Writes the predeclared types that were asked for and have no descriptor. */
void gh_type_add_basics(struct gh_type_unit *unit);

/* Variables that tell which goroutine a thread runs: of a unit, and in no function, so that
 * they can be named wherever the program stops.
 *
 *	goid                  the goroutine's id; 0 where the thread runs none
 *	g                     a pointer to its runtime.g; nil where the thread runs none
 *
 * What else there is serves to keep a goroutine on its thread while it is stepped through, as
 * runtime.LockOSThread would (src/runtime/proc.go):
 *
 *	_goheap_m             the address of the thread's runtime.m
 *	_goheap_g             the same as g, a number; no variable of a function hides it
 *	_goheap_goid          the same as goid
 *	_goheap_hold          1 if the goroutine is not locked to the thread; 2 if it is, without
 *	                      the count that LockOSThread keeps; else 0
 *	_goheap_lockedm       g.lockedm
 *	_goheap_lockedg       m.lockedg
 *	_goheap_preempted     m.signalPending, while which is 1 no signal to preempt is sent
 *	_goheap_stack         one past the goroutine's stack
 *	_goheap_text          the address of runtime.text
 *
 * Neither a register nor the thread's storage tells the goroutine in all code: on amd64 assembly
 * and C functions use R14, and debuggers do not let an expression have the thread's storage. So the
 * thread is the one in runtime.allm on one of whose stacks SP is. Where the place of that list is
 * not known, it is by the register. */

/* What the variables are of. */
enum gh_goroutine_type {
	GH_GOROUTINE_INT,
	GH_GOROUTINE_UINT32,
	GH_GOROUTINE_UINT64,
	GH_GOROUTINE_UINTPTR,
	GH_GOROUTINE_G, /* a pointer to runtime.g */
};

/* Where they are written. */
struct gh_goroutine_writer {
	/* Adds one, which is where the expression LOCATION says, if that has not failed. */
	void (*add)(void *context, const char *name, enum gh_goroutine_type type,
		    const struct gh_buffer *location);
	void *context;
};

/* Adds the variables of a program of Go 1.RELEASE, of whose TYPES runtime.g and runtime.m tell
 * where the fields are. Without those, or without a way to find the thread, nothing is added. */
void gh_dwarf_goroutine_add(const struct gh_goroutine_writer *writer, const struct gh_rtypes *types,
			    int release, const struct gh_runtime *runtime);

/* Adds to UNIT the variables of the runtime by which Delve finds all goroutines and the types of
 * values in interfaces, and Go's version: runtime.allgs, runtime.allglen, runtime.firstmoduledata
 * and runtime.buildVersion, of those whose place is known. */
void gh_dwarf_globals_add(struct gh_type_unit *unit, const struct gh_runtime *runtime);

/* The frame of a signal in .debug_frame: the kernel puts it on the stack, and the address of
 * runtime.sigreturn as what the handler returns to. Where a machine's debuggers know it by the code
 * there, whatever the function is called, nothing is to be said. */

/* Begins an entry of .debug_frame that others have in common, up to the number of the return
 * address. Offsets in code and from the CFA count in QUANTUM and -WORD bytes. Returns its place. */
size_t gh_common_entry_begin(struct gh_buffer *out, const char *augmentation, uint8_t quantum,
			     uint8_t word);

/* Adds to OUT, .debug_frame, the description of FUNC, to which signal handlers return. It begins an
 * instruction before the function. The machine ARCH is one with gh_signal_frame.dwarf. */
void gh_signal_frame_add(struct gh_buffer *out, const struct gh_arch *arch,
			 const struct gh_func *func);

/* Where control leaves the frames of a goroutine without returning from them: where a panic was
 * recovered, the deferring function goes on.
 *
 * A debugger that waits for a function to return has to know. GDB stops a step where the C++
 * unwinder would go, which it learns at libgcc's probe `unwind' from that probe's second argument.
 * So here are probes of that name: SystemTap's notes of type 3 (sourceware.org/systemtap/wiki,
 * UserSpaceProbeImplementation). There is none where goroutines end: GDB would stop at the end of
 * each goroutine during a step, and may fail when the program ends meanwhile. */

/* Fills OUT with the notes: none unless the machine is amd64. False (ERR filled) if a function
 * cannot be read or memory ran out. To be freed in any case. */
bool gh_probes_make(struct gh_buffer *out, const struct gh_pclntab *tab, struct gh_error *err);

/* Adds the notes, which must outlive it, to ELF. False if memory ran out. */
bool gh_probes_add(struct gh_elf *elf, const struct gh_buffer *probes);

/* The types of arguments in DWARF, as far as they are known: integers, floating-point numbers,
 * pointers to uintptr, and structs of them, whose fields are called _0, _1 and so on. What has
 * one or two bytes is more often unsigned in Go programs, what has more is more often int. */

/* The fields are private. */
struct gh_arg_types {
	uint32_t integers[9]; /* offset in .debug_info of the type of so many bytes */
	uint32_t floats[9];
	uint32_t pointer;
};

/* Appends a unit with the types that are no structs to INFO if TAB's program tells of
 * arguments. */
void gh_arg_types_put(struct gh_arg_types *types, const struct gh_pclntab *tab,
		      const char *producer, struct gh_info *info);

/* The arguments of functions in DWARF, and where they surely are: from the function's entry to the
 * end of its prologue, where a breakpoint on it is. Nothing tells which memory or register holds a
 * variable that may have been changed. They are called arg0, arg1 and so on, as Go's tracebacks
 * count them. DWARF 4, sections 2.6 and 4.1. */

/* The fields are private. */
struct gh_arg_writer {
	const struct gh_pclntab *tab;
	struct gh_info *info; /* the sections */
	const struct gh_arg_types *types;
	const struct gh_rtypes *rtypes; /* with the signatures; NULL: no types are known */
	const struct gh_signatures *signatures;
	bool methods_told;                  /* as in struct gh_info_common */
	const struct gh_signature *whole;   /* of the function, if it tells where all arguments are,
					       beyond the words of PLACES, too; else NULL */
	void *structs;                      /* that were written, by their words, for tsearch */
	struct gh_arg_places places;        /* of the function's arguments */
	uint32_t type_offsets[GH_MAX_ARGS]; /* of the type of each argument, by its first word */
	uint32_t type_numbers[GH_MAX_ARGS]; /* the same of the program's own, or GH_NO_RTYPE */
	size_t left;                        /* bytes of DWARF that may still be written */
};

/* The arguments may take LIMIT bytes in INFO. Everything given outlives WRITER, which is to be
 * freed with gh_args_free. */
struct gh_info_common;
void gh_args_init(struct gh_arg_writer *writer, const struct gh_info_common *common,
		  struct gh_info *info, size_t limit);

/* Starts FUNC, and adds the types that it needs to its unit: no other entry may be in the making.
 * Returns whether it has arguments. */
bool gh_args_begin(struct gh_arg_writer *writer, const struct gh_func *func);

/* Writes the function's arguments, as children of the entry written last. The unit's low_pc must be
 * 0. */
void gh_args_write(const struct gh_arg_writer *writer, const struct gh_func *func);

void gh_args_free(struct gh_arg_writer *writer);

/* The units of packages. */

struct gh_info_common {
	const struct gh_pclntab *tab;
	const struct gh_packages *packages;
	const struct gh_slots *slots; /* of a dump of the program; no sites if there is none */
	struct gh_slot_types slot_types;
	struct gh_arg_types arg_types;
	struct gh_word_type live_type;
	const struct gh_rtypes *types; /* of the program; NULL: arguments are not typed */
	struct gh_signatures signatures;
	bool methods_told; /* signatures tell where the arguments of methods are */
};

/* Appends the units of the packages from number FIRST to before END to INFO, each kind of what is
 * in them up to LIMIT bytes. The names of inlined functions are added to STRINGS. False (ERR
 * filled) if a function cannot be read or memory ran out, or a section is too large. */
bool gh_info_write(struct gh_info *info, const struct gh_info_common *common,
		   struct gh_strings *strings, uint32_t first, uint32_t end, size_t limit,
		   struct gh_error *err);

/* Writes OFFSET, which is in SECTION of the same part of the program, to .debug_info. */
void gh_info_refer(struct gh_info *info, enum gh_info_section section, size_t offset);

/* Notes it for the 4 bytes at PLACE of .debug_info. */
void gh_info_refer_at(struct gh_info *info, size_t place, enum gh_info_section section,
		      size_t offset);

/* Writes the offset of a unit to .debug_aranges. */
void gh_info_refer_aranges(struct gh_info *info, size_t unit);

/* Checks that all that was written is there and within the reach of 32-bit offsets. */
bool gh_info_check(const struct gh_info *info, const char *file, struct gh_error *err);

/* .debug_frame: how to find each function's caller. DWARF 4, section 6.4. */

/* Who reads the file. */
enum gh_frame_reader {
	GH_FRAME_FOR_GDB,       /* GDB alone: where goroutines return to there is no caller */
	GH_FRAME_FOR_GDB_NAMES, /* The same, and it knows functions by what the program itself tells
				   it. So it is told that goroutines which return to the entry of
				   runtime.goexit (gh_goexit_after) return to the instruction
				   behind, and what the frame of a signal is, which it would
				   otherwise know by the function's name. */
	GH_FRAME_FOR_ANY,       /* Delve, too, which takes a return address that is undefined for an
				   error: where goroutines return to it is 0. GDB's finish would go
				   there. */
};

/* Fills OUT with a description of each function's frame, from its table of stack deltas (pcsp), as
 * Go's linker makes it (writeframes in src/cmd/link/internal/ld/dwarf.go), and of how it
 * leads to its caller's stack in the code of SWITCHES. False (ERR filled) if a function cannot be
 * read or memory ran out. */
bool gh_frame_make(struct gh_buffer *out, const struct gh_pclntab *tab,
		   const struct gh_switches *switches, enum gh_frame_reader reader,
		   struct gh_error *err);

/* What a debug file is made of. */
struct gh_debug_parts {
	bool is_whole; /* the program itself comes before them */
	struct gh_elf elf;
	struct gh_skeleton skeleton;
	struct gh_packages packages;
	struct gh_strings strings;
	struct gh_rtypes types;
	struct gh_typenames typenames;
	struct gh_info info;
	struct gh_switches switches;
	struct gh_buffer frame;
	struct gh_buffer probes;
	struct gh_short_names names;
	struct gh_symtab symtab;
};

/* Adds the sections of DWARF that have contents, but for .debug_str. False if memory ran out. */
bool gh_debug_parts_add(struct gh_debug_parts *parts);

void gh_debug_parts_free(struct gh_debug_parts *parts);

#endif
