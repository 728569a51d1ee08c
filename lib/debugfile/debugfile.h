/* The separate debug file of a stripped Go program: what `objcopy --only-keep-debug` would have
 * kept, had there been anything to keep.
 *
 * - debugfile.c, supplement.c: write the file, of stripped programs and of those with DWARF;
 * - elf_writer.c, elf_append.c, elf_skeleton.c, strtab.c, symtab.c: ELF: sections, strings,
 *   symbols;
 * - dwarf_info.c, packages.c: functions, in a unit for each package;
 * - dwarf_unit.c: what each unit begins with, and the functions' abbreviations;
 * - dwarf_parts.c: several of these units at once, put together;
 * - dwarf_line.c, dwarf_inline.c: lines and inlined calls;
 * - dwarf_args.c, arg_rtypes.c, dwarf_live_words.c, dwarf_frame_slots.c, dwarf_variable.c:
 *   variables of functions;
 * - dwarf_types.c, dwarf_runtime_types.c: types; dwarf_type_entries.c: their abbreviations and
 *   entries; type_names.c: their names; own_types.c: reads those of a program's own DWARF;
 * - dwarf_frame.c, dwarf_signal_frame.c, dwarf_stack_switch.c, probes.c: unwinding;
 * - dwarf_goroutine.c: variables that tell the goroutine, _goheap_* (dwarf_entries.h has them all);
 * - dwarf_globals.c: variables of the runtime that other debuggers look for;
 * - short_names.c, dump_itabs.c: symbols beside the functions' own. */
#ifndef GH_DEBUGFILE_DEBUGFILE_H
#define GH_DEBUGFILE_DEBUGFILE_H

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/debugfile/dwarf.h"
#include "lib/dump/dump.h"
#include "lib/pclntab/pclntab.h"
#include "lib/util/cursor.h"
#include "lib/util/vector.h"

/* Writes the debug file of TAB's image to PATH: ELF and section headers as in the image, a
 * symbol table of functions, types and itabs, DWARF 4 (.debug_info, .debug_abbrev, .debug_line,
 * .debug_aranges, .debug_ranges, .debug_frame), and the image's own .eh_frame for its C functions.
 * Unless SLOTS is NULL it is for a heap dump of the program: functions have its variables (see
 * gh_slot_block_begin), and if the program's types cannot be read the dump's have symbols. With
 * SHORT_NAMES there are the symbols by which GDB finds functions by what people type, such as
 * Server.handle; other tools may take these for the functions' names. The file
 * is made under a temporary name beside PATH and renamed when it is whole. Returns false and fills
 * ERR if it cannot be written or the tables are malformed beyond use; then nothing is left behind.
 */
bool gh_debugfile_write(const struct gh_pclntab *tab, const struct gh_slots *slots,
			bool short_names, const char *path, struct gh_error *err);

/* The same into FD, an empty file. PATH is its name, for errors. */
bool gh_debugfile_write_to(const struct gh_pclntab *tab, const struct gh_slots *slots,
			   bool short_names, int fd, const char *path, struct gh_error *err);

/* Writes the program of TAB's image with the symbols and DWARF that its debug file would have to
 * PATH, as eu-unstrip would: its segments are the same bytes, and it runs. Otherwise as
 * gh_debugfile_write. */
bool gh_debugfile_unstrip(const struct gh_pclntab *tab, const char *path, struct gh_error *err);
bool gh_debugfile_unstrip_to(const struct gh_pclntab *tab, int fd, const char *path,
			     struct gh_error *err);

/* A debug file with short names into memory: on success *DATA is *SIZE bytes, to be freed by the
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

/* What follows are parts of a debug file that core files of heap dumps have, too. */

/* An ELF file that is put together in memory and then written. */

/* Contents of a section come in at most this many pieces. */
#define GH_ELF_MAX_PIECES 6

struct gh_elf_piece {
	const void *data; /* as it is to be in the file; not owned */
	size_t size;      /* in bytes */
};

struct gh_elf_section {
	const char *name;  /* not owned */
	GElf_Shdr header;  /* sh_name, and sh_size if there are pieces, are filled in on writing. So
			      is  sh_offset, but see keeps_offset */
	bool keeps_offset; /* sh_offset is the one to have, if the file's layout allows it */
	unsigned npieces;
	struct gh_elf_piece pieces[GH_ELF_MAX_PIECES];
};

struct gh_elf {
	GElf_Ehdr header;    /* the identity, type, machine, version, entry and flags */
	GElf_Phdr *segments; /* as in a file where each section has its contents; owned */
	size_t nsegments;
	struct GH_VECTOR(struct gh_elf_section) sections; /* from number 0, the null one */
};

/* Adds a section and returns it, zeroed but for its name, type and flags. It is good until the next
 * is added. NULL if memory ran out. */
struct gh_elf_section *gh_elf_add(struct gh_elf *elf, const char *name, uint32_t type,
				  uint64_t flags);

/* Adds a section NAME of CONTENTS, which must outlive the ELF file; none if they are empty. False
 * if memory ran out. */
bool gh_elf_add_contents(struct gh_elf *elf, const char *name, const struct gh_buffer *contents);

/* Adds SIZE bytes at DATA, which must outlive the ELF file, to the contents of SECTION. */
void gh_elf_add_piece(struct gh_elf_section *section, const void *data, size_t size);

/* Adds the section of section names, NAMES, which becomes its contents and gives each section its
 * name. False if memory ran out. */
bool gh_elf_add_names(struct gh_elf *elf, struct gh_buffer *names);

/* Adds the section of section names, lays the file out and writes it to FD, which is empty.
 * Segments are cut down to what the file has of them, as `objcopy --only-keep-debug` does. PATH is
 * for ERR, which is filled if false is returned. */
bool gh_elf_write(struct gh_elf *elf, int fd, const char *path, struct gh_error *err);

/* Writes to FD, which is empty, the file of IMAGE as it is, and behind it those sections of ELF
 * that come from number FIRST on, the section of section names, and all section headers. Those
 * before FIRST are in the image. Otherwise as gh_elf_write. */
bool gh_elf_append(struct gh_elf *elf, const struct gh_image *image, size_t first, int fd,
		   const char *path, struct gh_error *err);

void gh_elf_free(struct gh_elf *elf);

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

/* Variables without a source in DWARF, in blocks of the code where they are known, and their types.
 * DWARF 4, sections 3.5, 4.1, 5.1, 5.2, 5.5 and 7.5. */

/* The codes of the abbreviations are from 1 to this. Checkers want codes to go up by one. */
#define GH_VARIABLE_ABBREVS 8

/* Begins .debug_abbrev with abbreviations; its end mark is still to come. */
void gh_variable_abbrevs(struct gh_buffer *abbrev);

/* Appends a unit called NAME to INFO, .debug_info, whose addresses have WORD bytes, for types.
 * Returns where it starts. The abbreviations are the section's first. */
size_t gh_variable_unit_begin(struct gh_buffer *info, const char *name, uint8_t word);

/* Append a type to the unit that is in the making. Each returns the type's offset in INFO. Sizes
 * are in bytes; TO and TYPE are offsets of types. */
uint32_t gh_variable_base(struct gh_buffer *info, const char *name, uint8_t encoding, uint8_t size);
uint32_t gh_variable_pointer(struct gh_buffer *info, uint8_t size, uint32_t to);

/* The same of a struct. Its name, a string, is to follow, and then its members; gh_buffer_u8 of 0
 * ends it. */
uint32_t gh_variable_struct_begin(struct gh_buffer *info, uint64_t size);
void gh_variable_member(struct gh_buffer *info, const char *name, uint64_t offset, uint32_t type);

/* The same of another name of TYPE, which is to follow. */
uint32_t gh_variable_typedef_begin(struct gh_buffer *info, uint32_t type);

/* Appends to INFO, within a function, a block of the code from ADDRESS on, of SIZE bytes.
 * gh_buffer_u8 of 0 ends it. */
void gh_variable_block_begin(struct gh_buffer *info, uint64_t address, uint64_t size, uint8_t word);

/* Appends a variable to the block. The expression that tells where it is, in less than 128 bytes,
 * is to follow; gh_variable_end ends it, given what this returns. */
size_t gh_variable_begin(struct gh_buffer *info, const char *name, uint32_t type);
void gh_variable_end(struct gh_buffer *info, size_t start);

/* The variables of a heap dump's frames in DWARF, and their types. */

/* The variables' types where they are in .debug_info. The fields are private. */
struct gh_slot_types {
	uint32_t plain[GH_FIELD_KINDS];               /* offset of the type of each kind of slot */
	struct GH_VECTOR(struct gh_typed_slot) typed; /* those that point to a type of the dump */
};

/* Appends a unit to INFO, .debug_info, with the types of SLOTS: pointers, and what Go calls string,
 * slice, iface and eface. Where a slot's pointer is to a type of the dump it is to a struct of the
 * type's name and size, with its fields, named by their offset: "f_0x8". False if memory ran out.
 * In any case TYPES is to be freed with gh_slot_types_free. */
bool gh_slot_types_put(struct gh_slot_types *types, const struct gh_slots *slots,
		       struct gh_buffer *info);

void gh_slot_types_free(struct gh_slot_types *types);

/* Appends to INFO, within a function, a lexical block for SITE, with the site's variables, named by
 * their offset from sp: "sp_0x18". The block's end mark, a zero byte, is still to come, so that
 * other entries can be added to it. */
void gh_slot_block_begin(struct gh_buffer *info, const struct gh_slot_types *types,
			 const struct gh_slots *slots, const struct gh_site *site);

/* The types that a Go program's own DWARF has, by their names: what else is written into the same
 * sections can refer to them. */

/* A predeclared type, or a pointer. */
struct gh_own_type {
	const char *name;
	uint32_t offset; /* of its entry in .debug_info; 0 if it is not found */
};

/* Finds TYPES, COUNT of them, in INFO and ABBREV, the contents of .debug_info and .debug_abbrev. */
void gh_own_types_find(struct gh_own_type *types, size_t count, struct gh_cursor info,
		       struct gh_cursor abbrev);

/* The short names by which people call functions, as Delve takes them: handle, Server.handle and
 * main.Server.handle for main.(*Server).handle, http.Get for net/http.Get. Those without a package
 * are only of the program's own module. GDB finds a function by
 * its whole name only; but it takes each symbol's for a place to stop at. */

/* A place where GDB has a breakpoint on a function stop: after its prologue, or where a call of it
 * was inlined. */
struct gh_entry_point {
	uint64_t address; /* of the function's entry or of the call's first instruction */
	uint32_t name;    /* of the function, for gh_pclntab_name */
	bool is_own;      /* what GDB shows a stop there to be in is the function itself, and not a
			     call inlined into it, as it takes the innermost for a mere symbol */
};

struct gh_entry_points GH_VECTOR(struct gh_entry_point);

/* A symbol for a short name, local and of no size: that is no name for the code that follows. */
struct gh_short_name {
	uint64_t address;
	size_t text; /* its name, an offset */
};

struct gh_short_names {
	struct GH_VECTOR(struct gh_short_name) list;
	struct gh_buffer texts; /* each ended by a NUL */
};

/* The names of a program's own symbols. */
struct gh_own_names {
	struct gh_cursor symbols; /* that are left */
	struct gh_cursor names;   /* the string table */
	size_t symbol_size;
};

/* Fills OUT with the short names that stand for one function of POINTS, and for all of its places.
 * None is a name of a function of TAB, or one of TAKEN, the program's own symbols, or one by which
 * GDB looks for functions of C. The order of POINTS changes. False (ERR filled) if a function
 * cannot be read or memory ran out. In any case OUT is to be freed. */
bool gh_short_names_find(struct gh_short_names *out, const struct gh_pclntab *tab,
			 struct gh_entry_points *points, struct gh_own_names taken,
			 struct gh_error *err);

void gh_short_names_free(struct gh_short_names *names);

#endif
