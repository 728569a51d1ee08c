/* The separate debug file of a stripped Go program: what `objcopy --only-keep-debug` would have
 * kept, had there been anything to keep.
 *
 * - debugfile.c, supplement.c: write the file, of stripped programs and of those with DWARF;
 * - elf_skeleton.c, strtab.c, symtab.c: sections, strings and symbols;
 * - dwarf_info.c, packages.c: functions, in a unit for each package;
 * - dwarf_unit.c: what each unit begins with, and the functions' abbreviations;
 * - dwarf_parts.c: several of these units at once, put together;
 * - dwarf_line.c, dwarf_inline.c: lines and inlined calls; statements.c: where lines' code begins;
 * - dwarf_args.c, dwarf_live_words.c, dwarf_frame_slots.c: variables of functions: arguments, words
 *   that stack maps tell of, those that a heap dump's frames have; dwarf_variable.c: one of these;
 * - dwarf_types.c, dwarf_runtime_types.c: types; dwarf_type_entries.c: their abbreviations and
 *   entries; type_names.c: their names; info_reader.c, own_types.c: read those of a program's own
 *   DWARF;
 * - twin.c, twin_write.c: what another build of a program has of it, and its DWARF for the program;
 * - dwarf_frame.c, dwarf_signal_frame.c, dwarf_stack_switch.c, probes.c: unwinding;
 * - dwarf_operations.c: of expressions that follow pointers;
 * - dwarf_goroutine.c: variables that tell the goroutine, _goheap_* (dwarf_entries.h has them all);
 * - dwarf_globals.c: variables of the runtime that other debuggers look for;
 * - short_names.c, dump_itabs.c: symbols beside the functions' own. */
#ifndef GH_DEBUGFILE_DEBUGFILE_H
#define GH_DEBUGFILE_DEBUGFILE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/code/same_code.h"
#include "lib/dump/dump.h"
#include "lib/elf/elf_writer.h"
#include "lib/pclntab/pclntab.h"
#include "lib/util/vector.h"

/* The debuggers that a file is written for. */
enum gh_debugger {
	GH_FOR_ANY,  /* all that read Go's DWARF */
	GH_FOR_GDB,  /* GDB alone, with the symbols by which it finds functions by what people type,
			such as Server.handle: other tools may take these for the functions' names */
	GH_FOR_LLDB, /* LLDB alone, which has no types for Go's units: they are C's, and the types
			are such as LLDB's C shows */
};

/* Writes the debug file of TAB's image for DEBUGGER to PATH: ELF and section headers as in the
 * image, a symbol table of functions, types and itabs, DWARF 4 (.debug_info, .debug_abbrev,
 * .debug_line, .debug_aranges, .debug_ranges, .debug_frame), and the image's own .eh_frame for its
 * C functions. Unless SLOTS is NULL it is for a heap dump of the program: functions have its
 * variables (see gh_slot_block_begin), and if the program's types cannot be read the dump's have
 * symbols. The file is made under a temporary name beside PATH and renamed when it is whole.
 * Returns false and fills ERR if it cannot be written or the tables are malformed beyond use; then
 * nothing is left behind.
 */
bool gh_debugfile_write(const struct gh_pclntab *tab, const struct gh_slots *slots,
			enum gh_debugger debugger, const char *path, struct gh_error *err);

/* The same into FD, an empty file. PATH is its name, for errors. */
bool gh_debugfile_write_to(const struct gh_pclntab *tab, const struct gh_slots *slots,
			   enum gh_debugger debugger, int fd, const char *path,
			   struct gh_error *err);

/* Writes the program of TAB's image with the symbols and DWARF that its debug file would have to
 * PATH, as eu-unstrip would: its segments are the same bytes, and it runs. Otherwise as
 * gh_debugfile_write. */
bool gh_debugfile_unstrip(const struct gh_pclntab *tab, enum gh_debugger debugger, const char *path,
			  struct gh_error *err);
bool gh_debugfile_unstrip_to(const struct gh_pclntab *tab, enum gh_debugger debugger, int fd,
			     const char *path, struct gh_error *err);

/* Writes the program IMAGE, which has no section headers, to PATH with a section for each of its
 * segments: GDB takes no program without. The segments are the same bytes, and it runs. Otherwise
 * as gh_debugfile_write. */
bool gh_debugfile_add_sections(const struct gh_image *image, const char *path,
			       struct gh_error *err);

/* A debug file for GDB into memory: on success *DATA is *SIZE bytes, to be freed by the
 * caller.
 */
bool gh_debugfile_make(const struct gh_pclntab *tab, const struct gh_slots *slots, uint8_t **data,
		       size_t *size, struct gh_error *err);

/* Writes the debug file of TAB's image, which has DWARF of its own: its symbols, DWARF and whatever
 * else debuggers read of it, but with .debug_frame as in the other debug files, and with the
 * variables that tell the goroutine and the short names of functions. A debugger ends a goroutine's
 * stack where it ends, and finds callers where Go's own DWARF does not lead to them. Otherwise as
 * gh_debugfile_write and gh_debugfile_write_to. */
bool gh_supplement_write(const struct gh_pclntab *tab, const char *path, struct gh_error *err);
bool gh_supplement_write_to(const struct gh_pclntab *tab, int fd, const char *path,
			    struct gh_error *err);

/* Twins: other builds of a program's source. Go's builds can be repeated, so one that is not
 * stripped has the same code, and its DWARF is the program's. */

struct gh_twin_package {
	struct gh_name_part path; /* "" where functions are in none; in the program */
	size_t functions;         /* that one of both has not, or with other code */
};

/* How much of a program a twin has. The program and the build outlive it. */
struct gh_twin {
	const struct gh_pclntab *build, *program;
	size_t functions; /* of the program */
	size_t same;      /* those whose code and place are the same in the build */
	size_t elsewhere; /* those of the same size at another address, of which no more is known */
	struct GH_VECTOR(struct gh_twin_package) packages; /* with others, most of them first */
	bool same_c;             /* code that is no function of Go's is the same, too */
	size_t hidden;           /* variables without a place, once it is written */
	struct gh_builds builds; /* where variables are; the build is the first */
};

/* Compares BUILD with PROGRAM, which has section headers. False (ERR filled) if they are of two
 * machines or cannot be read. In any case TWIN is to be freed with gh_twin_free. */
bool gh_twin_compare(struct gh_twin *twin, const struct gh_pclntab *build,
		     const struct gh_pclntab *program, struct gh_error *err);

/* All functions of Go are the same. */
bool gh_twin_is_proved(const struct gh_twin *twin);

/* Writes the program of TWIN, which is proved, with the symbols and DWARF of the build, to PATH:
 * its segments are the program's, and it runs. Variables whose place is not known have none there.
 * Otherwise as gh_debugfile_write. */
bool gh_twin_write(struct gh_twin *twin, const char *path, struct gh_error *err);

void gh_twin_free(struct gh_twin *twin);

/* What follows are parts of a debug file that core files of heap dumps have, too. */

/* Symbols */

/* Appends SYMBOL to OUT, a symbol table of a machine with pointers of WORD bytes. */
void gh_symbol_put(struct gh_buffer *out, uint8_t word, const GElf_Sym *symbol);

/* Symbols for the types and itabs of a heap dump: a debugger that prints a pointer to one names it.
 */

struct gh_type_symbol {
	uint64_t address;               /* of the type's descriptor, or of the itab */
	const char *prefix;             /* "type:" or "itab:"; not owned */
	struct gh_dump_slice type_name; /* of the type, or of the itab's dynamic type */
};

struct gh_type_symbols GH_VECTOR(struct gh_type_symbol);

/* Appends to OUT, which is empty, a symbol for each type of DUMP and, in formats where they tell
 * their type, itab; by address, each address once. */
void gh_typesymbols_find(struct gh_type_symbols *out, const struct gh_dump *dump);

/* Appends the name of SYMBOL to OUT, a string table: "type:main.Node". */
void gh_typesymbol_name(struct gh_buffer *out, const struct gh_dump *dump,
			const struct gh_type_symbol *symbol);

/* Appends TEXT of DUMP, made safe for a terminal (gh_escape_overwrite), and a NUL. */
void gh_dumptext_put(struct gh_buffer *out, const struct gh_dump *dump, struct gh_dump_slice text);

/* What each unit of .debug_info begins and ends with. DWARF 4, section 7.5.1.1. */

/* Appends a unit's header to INFO: its abbreviations are at offset ABBREV of .debug_abbrev, and its
 * addresses have WORD bytes. Returns where the unit starts. */
size_t gh_unit_begin(struct gh_buffer *info, uint32_t abbrev, uint8_t word);

/* Ends the children of its first entry, and the unit that starts at START. */
void gh_unit_end(struct gh_buffer *info, size_t start);

/* Ends the entry of OUT, .debug_frame, that starts at START, where addresses have WORD bytes. */
void gh_frame_entry_end(struct gh_buffer *out, size_t start, uint8_t word);

/* Variables without a source in DWARF, in blocks of the code where they are known, and their types.
 * DWARF 4, sections 3.5, 4.1, 5.1, 5.2, 5.5 and 7.5. */

/* The codes of the abbreviations are from 1 to this. Checkers want codes to go up by one. */
#define GH_VARIABLE_ABBREVS 8

/* Begins .debug_abbrev with abbreviations; its end mark is still to come. */
void gh_variable_abbrevs(struct gh_buffer *abbrev);

/* The variables of a heap dump's frames in DWARF, and their types. */

/* The variables' types where they are in .debug_info. The fields are private. */
struct gh_slot_types {
	uint32_t plain[GH_FIELD_KINDS];               /* offset of the type of each kind of slot */
	struct GH_VECTOR(struct gh_typed_slot) typed; /* those that point to a type of the dump */
};

/* Appends a unit of PRODUCER's to INFO, .debug_info, with the types of SLOTS: pointers, and what Go
 * calls string, slice, iface and eface. Where a slot's pointer is to a type of the dump it is to a
 * struct of the type's name and size, with its fields, named by their offset: "f_0x8". False if
 * memory ran out. In any case TYPES is to be freed with gh_slot_types_free. */
bool gh_slot_types_put(struct gh_slot_types *types, const struct gh_slots *slots,
		       const char *producer, struct gh_buffer *info);

void gh_slot_types_free(struct gh_slot_types *types);

/* Appends to INFO, within a function, a lexical block for SITE, with the site's variables, named by
 * their offset from sp: "sp_0x18". The block's end mark, a zero byte, is still to come, so that
 * other entries can be added to it. */
void gh_slot_block_begin(struct gh_buffer *info, const struct gh_slot_types *types,
			 const struct gh_slots *slots, const struct gh_site *site);

/* The addresses of a function where GDB may stop at a line: the statements of its line table. */
struct gh_statements GH_VECTOR(uint64_t);

/* Finds those of FUNC, ascending, to be freed with gh_vector_free. False if memory ran out. */
bool gh_statements_find(struct gh_statements *statements, const struct gh_pclntab *tab,
			const struct gh_func *func);

#endif
