/* The symbols of a debug file: sections that they are in (elf_skeleton.c), their names (strtab.c,
 * short_names.c), and themselves (symtab.c). */
#ifndef GH_DEBUGFILE_SYMTAB_H
#define GH_DEBUGFILE_SYMTAB_H

#include "lib/code/code.h"
#include "lib/debugfile/debugfile.h"
#include "lib/pclntab/pclntab.h"
#include "lib/util/cursor.h"
#include "lib/util/vector.h"

/* The ELF file without its contents: what a debug file takes over from the program. */

struct gh_skeleton {
	uint32_t *numbers; /* each section's number in the new file, by its number in the image; 0
			      if it is left out; owned */
};

/* Fills ELF with the header, the segments and the allocated sections of IMAGE: those without
 * contents, as `objcopy --only-keep-debug` does it, but for the notes, the interpreter's name and
 * .eh_frame, which a debugger looks for in the debug file. Where the image has no section headers,
 * sections are made up from its segments. WHOLE is for a file that begins with all of the image:
 * then the sections are those of the image, without contents of their own. False (ERR filled) if
 * memory ran out; in any case ELF and SKELETON are to be freed. */
bool gh_skeleton_make(struct gh_skeleton *skeleton, struct gh_elf *elf,
		      const struct gh_image *image, bool whole, struct gh_error *err);

void gh_skeleton_free(struct gh_skeleton *skeleton);

/* Adds to ELF those sections of IMAGE that are not loaded, and of which IS_COPIED is true, with
 * their contents, which stay the image's. In a crafted file they may overlap, so no more is copied
 * than it has bytes. False (ERR filled) if memory ran out. */
bool gh_sections_copy(struct gh_elf *elf, const struct gh_image *image,
		      bool (*is_copied)(const void *context, const struct gh_section *section),
		      const void *context, struct gh_error *err);

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

/* The string table that the symbols and the DWARF share: the function names as the pclntab has
 * them, all of its bytes from the first name to the last. So it is not copied, and however the
 * names overlap it is no longer than the pclntab. Only where a name has control characters, which
 * GDB would send to the terminal, are there question marks instead. */

struct gh_strings {
	const char *start;  /* the first name; in the image */
	const char *names;  /* what is written for them: the same, or the copy below */
	char *clean;        /* a copy without control characters, if there are any; owned */
	bool dirty;         /* there are */
	bool split;         /* a name starts within a character of another: no bytes are letters */
	size_t names_size;  /* to the end of the last, its NUL included */
	char header[144];   /* what comes before them: the empty string and those named below */
	size_t header_size; /* with the last NUL */
	struct gh_buffer others; /* what gh_strings_append adds after the names */
	size_t others_limit;     /* the most bytes of it */
};

/* Makes a table for TAB's program without any names. */
void gh_strings_init(struct gh_strings *strings, const struct gh_pclntab *tab);

/* Finds the extent of the names of TAB's functions. False (ERR filled) if a function cannot be
 * read. */
bool gh_strings_find(struct gh_strings *strings, const struct gh_pclntab *tab,
		     struct gh_error *err);

/* Takes NAME in, which gh_pclntab_name gave: that of a function that has no code but where it is
 * inlined may come after all others. Returns its offset in the table; 0 if it is empty or comes
 * before the first of a function, as no linker puts it. */
uint32_t gh_strings_add(struct gh_strings *strings, const char *name);

/* Takes in what was added to PART, which was a copy of STRINGS. */
void gh_strings_join(struct gh_strings *strings, const struct gh_strings *part);

/* Makes the names ready to be written, once all are in. False (ERR filled) if they are too many for
 * 32-bit offsets or memory ran out. */
bool gh_strings_finish(struct gh_strings *strings, const struct gh_pclntab *tab,
		       struct gh_error *err);

/* Adds the LENGTH bytes at TEXT, which become a string without control characters, after the names,
 * once those are finished. Returns its offset; that of the empty string if what is added would grow
 * beyond a small multiple of the image. OTHERS has failed if memory ran out. */
uint32_t gh_strings_append(struct gh_strings *strings, const void *text, size_t length);

/* The size of the table, in bytes. */
size_t gh_strings_size(const struct gh_strings *strings);

/* Adds the table to the contents of SECTION. It must outlive the ELF file. */
void gh_strings_put(struct gh_elf_section *section, const struct gh_strings *strings);

void gh_strings_free(struct gh_strings *strings);

/* The offset of NAME, which gh_pclntab_name gave for a function, in the table. 0 if it is empty. */
uint32_t gh_strings_offset(const struct gh_strings *strings, const char *name);

/* The offsets of strings that are in every table: who made the file, the names by which GDB knows
 * the kernel's return from a signal handler (Go 1.21 calls it so), and that the stack may go on
 * anywhere (as GCC's split stacks), what goheap.gdb calls the dynamic section, the function that
 * has what variables refer to, and what Go's linker calls the end of Go's code. */
#define GH_STRINGS_SIGNAL_FRAME 1
#define GH_STRINGS_MORESTACK    30
#define GH_STRINGS_DYNAMIC      42
#define GH_STRINGS_WORDS        58
#define GH_STRINGS_ETEXT        72
#define GH_STRINGS_PRODUCER     86

/* .symtab: the ELF symbols of the functions, and of what the program itself still names. */

struct gh_symtab {
	struct gh_buffer symbols; /* the section's contents */
	uint32_t nlocals;         /* local symbols, which come first; its sh_info */
	uint8_t symbol_size;      /* size of a symbol, in bytes */
	struct gh_cursor names;   /* string table of the image's own symbols; it follows STRINGS in
				     .strtab, and a NUL follows it */
	struct gh_buffer added;   /* short names, types' and itabs', which follow that */
};

/* The names of IMAGE's own symbols, .symtab's or else .dynsym's; none if it has neither. */
struct gh_own_names gh_symtab_own_names(const struct gh_image *image);

/* The next of them, in the image; NULL if there are no more. Linkers have one name be the end of
 * another. */
const char *gh_symtab_next_name(struct gh_own_names *own);

/* Something in the program's data that has a name. */
struct gh_data_symbol {
	uint64_t address;
	uint64_t size; /* in bytes */
	uint32_t name; /* offset in the string table */
};

struct gh_data_symbols GH_VECTOR(struct gh_data_symbol);

/* Fills SYMTAB with each function of TAB, with the short NAMES if that is not NULL, with
 * DATA, and with the defined symbols of the image's own .symtab, else .dynsym, that are not a
 * function of the same name and address; and unless there are DATA or SLOTS is NULL with the types
 * and itabs of its dump. It marks the code of SWITCHES, without which GDB
 * takes a caller's stack at lower addresses for corrupt. Symbols are in the sections of ELF;
 * SKELETON has their numbers. False (ERR filled) if a function cannot be read or memory ran out; in
 * any case SYMTAB is to be freed. */
bool gh_symtab_make(struct gh_symtab *symtab, const struct gh_pclntab *tab,
		    const struct gh_elf *elf, const struct gh_skeleton *skeleton,
		    const struct gh_strings *strings, const struct gh_data_symbols *data,
		    const struct gh_slots *slots, const struct gh_switches *switches,
		    const struct gh_short_names *names, struct gh_error *err);

/* Fills SYMTAB with the symbols of the image's own, all of them, and with the short NAMES
 * and the marks of SWITCHES, as above. */
bool gh_symtab_take_over(struct gh_symtab *symtab, const struct gh_pclntab *tab,
			 const struct gh_elf *elf, const struct gh_skeleton *skeleton,
			 const struct gh_strings *strings, const struct gh_switches *switches,
			 const struct gh_short_names *names, struct gh_error *err);

/* Adds .symtab and .strtab to ELF, which SYMTAB and STRINGS must outlive. False if memory ran out.
 */
bool gh_symtab_add(struct gh_elf *elf, const struct gh_symtab *symtab,
		   const struct gh_strings *strings);

void gh_symtab_free(struct gh_symtab *symtab);

#endif
