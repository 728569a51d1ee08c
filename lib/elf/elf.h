/* ELF files and core files of Go programs: an image of sections and segments by address, what the
 * file says of its build, compressed debug sections, a program put together again from the memory
 * of a process, and the notes of a core file. What differs between machines is in arch.h and
 * arch.c.
 *
 * - image.c: an ELF file's sections, segments and bytes by address; relocate.c applies relocations;
 * - dynamic.c: what the dynamic linker is told;
 * - buildinfo.c: the Go release and the build settings that the file tells;
 * - identity.c: which build a program is;
 * - core.c, extent.c: a core file's notes, and how long a file is by its headers;
 * - file_kind.c: what a file is that is not what was expected;
 * - other_compiler.c: programs that another compiler made of Go;
 * - debug_section.c: sections of debug information, unpacked;
 * - eh_frame.c: the code that .eh_frame has unwind information for;
 * - loaded.c: a program put together again from the memory of a process;
 * - elf_writer.c, elf_append.c: write a file, and append sections to one (elf_writer.h). */
#ifndef GH_ELF_ELF_H
#define GH_ELF_ELF_H

#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/elf/arch.h"
#include "lib/util/buffer.h"
#include "lib/util/cursor.h"
#include "lib/util/error.h"
#include "lib/util/numbermap.h"
#include "lib/util/vector.h"

/* An ELF file as a program in memory: its sections, its segments, and the bytes at an address. */

/* A section, as its header says; nothing of it is checked against the file's size. */
struct gh_section {
	const char *name; /* "" if it has none; in the file */
	GElf_Shdr header; /* in host byte order */
};

struct gh_image {
	char *path;                 /* the file's name as given; owned */
	uint8_t *data;              /* the file, in private and writable memory */
	size_t size;                /* of the file, in bytes */
	struct stat file;           /* the file when it was opened; zeroed if in memory */
	bool mapped;                /* data was mapped by gh_image_open, and is owned */
	Elf *elf;                   /* owned */
	const struct gh_arch *arch; /* the machine */
	GElf_Ehdr header;           /* in host byte order */
	GElf_Phdr *segments;        /* all program headers; owned */
	size_t nsegments;
	const GElf_Phdr **loads; /* the loadable segments with contents, by address; owned */
	size_t nloads;
	struct gh_section *sections; /* all section headers, the null one at 0 included; owned */
	size_t nsections;            /* 0 if the section headers are gone */
};

/* Opens the ELF file PATH. Relocations of a position-independent program that add the load address
 * (R_*_RELATIVE) or that of a symbol which the file defines (R_*_64), with addends in the table,
 * are applied as for load address 0, so that pointers in its data read as the addresses in the
 * file's own address space. Returns false and fills ERR if it cannot be read, is no ELF executable
 * or shared object, or is for a machine that Go is not ported to. On success the image is to be
 * closed with gh_image_close.
 */
bool gh_image_open(struct gh_image *image, const char *path, struct gh_error *err);

/* The same, and no relocation is applied: the time it takes does not depend on the file's size. */
bool gh_image_open_unrelocated(struct gh_image *image, const char *path, struct gh_error *err);

/* The same on a core file, whose segments are the memory of the process; its notes are
 * gh_core_note's. */
bool gh_image_open_core(struct gh_image *image, const char *path, struct gh_error *err);

/* The same of the file FD, which is read from its start and stays the caller's; NAME is for
 * messages. */
bool gh_image_open_core_fd(struct gh_image *image, int fd, const char *name, struct gh_error *err);

/* The same as gh_image_open on a file already in memory: SIZE bytes at DATA, which stay the
 * caller's, and are modified where relocations apply. NAME is for errors. */
bool gh_image_open_memory(struct gh_image *image, void *data, size_t size, const char *name,
			  struct gh_error *err);

/* Has the image keep what the file has now: what is written to the file later on no longer shows.
 * Takes as much memory as the file is large. */
void gh_image_settle(const struct gh_image *image);

/* Frees everything. A zeroed image may be closed too. */
void gh_image_close(struct gh_image *image);

/* The first section of this NAME, or NULL. */
const struct gh_section *gh_image_section(const struct gh_image *image, const char *name);

/* A cursor over the contents of SECTION. False (ERR filled) if they are not in the file. */
bool gh_image_section_cursor(const struct gh_image *image, const struct gh_section *section,
			     struct gh_cursor *cur, struct gh_error *err);

/* A cursor over the bytes in the file from the address VADDR to the end of its segment's file
 * contents. False if no loadable segment's file contents hold VADDR. */
bool gh_image_at(const struct gh_image *image, uint64_t vaddr, struct gh_cursor *cur);

/* The offset in the file of what is at the address VADDR; 0 if it is not in the file. */
uint64_t gh_image_offset(const struct gh_image *image, uint64_t vaddr);

/* The file has DWARF of its own: it is not stripped of it. */
bool gh_image_has_dwarf(const struct gh_image *image);

/* The program is position-independent: its addresses are offsets from where it is loaded. */
bool gh_image_is_pie(const struct gh_image *image);

/* What the dynamic linker is told: the entries of the dynamic section, as the ELF specification has
 * them. */

struct gh_dynamic {
	struct gh_cursor entries; /* that are left */
	unsigned word;            /* bytes of a tag, and of a value */
	uint64_t tag;             /* DT_* of the entry that was read last */
	uint64_t value;           /* of the same */
};

/* Begins to read IMAGE's entries. False if it has none. */
bool gh_dynamic_open(struct gh_dynamic *dynamic, const struct gh_image *image);

/* Reads the next entry. False if there are no more. */
bool gh_dynamic_next(struct gh_dynamic *dynamic);

/* The value of IMAGE's first entry with this TAG. False if there is none. */
bool gh_dynamic_find(const struct gh_image *image, uint64_t tag, uint64_t *value);

/* The symbol called NAME among those that IMAGE shares with others, or, if its section is
 * SHN_UNDEF, needs of them. False if there is none, or the section headers are gone. Format: the
 * ELF specification's symbol table. */
bool gh_dynamic_symbol(const struct gh_image *image, const char *name, GElf_Sym *symbol);

/* Cursors over the table of those symbols and over their names. False as above. */
bool gh_dynamic_symbols(const struct gh_image *image, struct gh_cursor *symbols,
			struct gh_cursor *names);

/* Reads the symbol that CUR, in such a table of IMAGE's, is at. */
GElf_Sym gh_dynamic_read_symbol(const struct gh_image *image, struct gh_cursor *cur);

/* Unwind information of compiled C code: the FDEs of .eh_frame. */

/* The addresses that an FDE is of, from START to before END. */
struct gh_eh_range {
	uint64_t start;
	uint64_t end;
};

struct gh_eh_ranges GH_VECTOR(struct gh_eh_range); /* by start */

/* Reads the FDEs of SECTION, an .eh_frame that is loaded at ADDRESS, for words of WORD bytes; it
 * ends at its terminator or where SECTION does. False if one has a form that is not known, or
 * memory ran out. RANGES, zeroed before, is to be freed with gh_vector_free either way. Format: the
 * Linux Standard Base, "The .eh_frame section". */
bool gh_eh_frame_read(struct gh_eh_ranges *ranges, struct gh_cursor section, uint64_t address,
		      unsigned word);

/* An FDE is of the code at PC. */
bool gh_eh_frame_has(const struct gh_eh_ranges *ranges, uint64_t pc);

/* IMAGE is a shared library, and no program that could be run. */
bool gh_image_is_library(const struct gh_image *image);

/* What a file is by the SIZE bytes at DATA, its first, for an error: "an executable", "a Go heap
 * dump", or by which program it is unpacked. It is static. Formats: the ELF specification, RFC
 * 8878, 3.1.1, RFC 1952, 2.3.1, and the xz and LZ4 frame formats. */
const char *gh_file_kind(const void *data, size_t size);

/* The compiler that made the program IMAGE of Go, if it is not Go's own: "gccgo" or "TinyGo". NULL
 * for any other program. It takes as long as it takes to read the file. */
const char *gh_image_other_compiler(const struct gh_image *image);

/* Said of such a program, after its compiler's name. */
#define GH_OTHER_COMPILER_ADVICE                                                                   \
	"it has none of the tables that goheap reads; GDB by itself shows its functions and "      \
	"lines if it has its DWARF"

/* How long an ELF file is by what its own headers say, when only its beginning is there. */

/* The end, in bytes from the file's start, of what the headers describe: both header tables, the
 * segments, and the sections if their table is within the SIZE bytes at DATA, the file's first.
 * Nothing bounds what they say: UINT64_MAX stands for an end that has no number. 0 if there is no
 * ELF header. */
uint64_t gh_elf_extent(const uint8_t *data, size_t size);

/* What a Go program's file says about how it was built. */

struct gh_memory;

/* Each field is NULL where the program does not say. All are owned. */
struct gh_buildinfo {
	char *go_version;     /* as runtime.Version, e.g. "go1.22.5" */
	char *path;           /* import path of the main package */
	char *module;         /* path of the main module */
	char *module_version; /* of the main module, e.g. "v1.2.3", "(devel)" */
	char *go_build_id;    /* the text of the Go build id note */
	char *gnu_build_id;   /* the GNU build id note, in lower-case hexadecimal */
	char *settings;       /* lines: a word that says what, a tab, text that may have tabs */
	bool failed;          /* memory ran out for one of them */
};

/* Reads the notes (of segments, then of sections) and .go.buildinfo (documented in Go's
 * debug/buildinfo; both its forms, of Go 1.13 with pointers and of Go 1.18 with inline strings).
 * Before Go 1.13, and in what -buildmode=shared makes, there is only the version, in the program's
 * data (runtime.buildVersion).
 * What is missing or malformed stays NULL. */
void gh_buildinfo_read(struct gh_buildinfo *info, const struct gh_image *image);

/* The same of the build ids alone, which takes no time. */
void gh_buildinfo_read_ids(struct gh_buildinfo *info, const struct gh_image *image);

/* Adds the build ids, unless INFO has them, that CUR has, from any multiple of 4 bytes on: it is
 * over the beginning of a program, which no section's header tells of. Go's linker leaves GNU's out
 * of the segment of notes. */
void gh_buildinfo_find_ids(struct gh_buildinfo *info, struct gh_cursor cur);

void gh_buildinfo_free(struct gh_buildinfo *info);

/* Which build a program is. Addresses of another build's functions, variables and types fit
 * nothing. Each identity is to be freed with gh_identity_free. */

struct gh_identity {
	struct gh_buildinfo ids; /* the build ids alone; owned */
	char *path;              /* of the file, where a process had it; NULL: unknown; owned */
	char *name;              /* of the process, core file or program, for errors; owned */
};

/* The identity of the program whose ELF header is at START in MEMORY: its build ids are on the
 * first page there. NAME is for errors. */
void gh_identity_of_memory(struct gh_identity *identity, const struct gh_memory *memory,
			   uint64_t start, bool big_endian, const char *name);

void gh_identity_of_image(struct gh_identity *identity, const struct gh_image *image);

void gh_identity_free(struct gh_identity *identity);

enum gh_identities { GH_IDENTITIES_UNKNOWN, GH_IDENTITIES_SAME, GH_IDENTITIES_DIFFER };

/* Compares the build ids: GNU's and Go's, of which both have one. Unknown if there is none that
 * both have, or builds that differ may have the same. */
enum gh_identities gh_identity_compare(const struct gh_identity *a, const struct gh_identity *b);

/* The build id of IDENTITY to name where OTHER is another build: of a kind that both have. */
const char *gh_identity_told(const struct gh_identity *identity, const struct gh_identity *other);

/* The address of the variable runtime.buildVersion: of the one string that names a release in the
 * program's writable data. 0 if there is none, or several. */
uint64_t gh_build_version(const struct gh_image *image);

/* IMAGE is a program or library with Go code that was linked since Go 1.5, as far as its notes and
 * sections tell. */
bool gh_image_is_go(const struct gh_image *image);

/* The same of the file at PATH. False also if it cannot be read. */
bool gh_file_is_go(const char *path);

/* The file at PATH was made by -buildmode=shared, and has the Go runtime of the programs that are
 * linked with it (-linkshared). */
bool gh_file_shares_runtime(const char *path);

/* It is such a program, or a library of such a program's: it has no runtime. */
bool gh_file_needs_runtime(const char *path);

/* IMAGE is linked with one runtime and others: it is a program with plugins, a plugin, or such a
 * program or library as these. */
bool gh_image_names_runtime(const struct gh_image *image);

/* A release that is not known, or of a development version: it is taken for the newest. */
#define GH_GO_UNKNOWN INT_MAX

/* The minor release N of a version "go1.N...", or GH_GO_UNKNOWN if VERSION is NULL or of another
 * form ("devel ..."). */
int gh_go_minor(const char *version);

/* The same of the version that IMAGE says. */
int gh_image_go_minor(const struct gh_image *image);

/* Sections of debug information, which linkers compress. */

/* The section of IMAGE whose name is NAME, such as "debug_info", behind a dot or, as some linkers
 * call one that is compressed, ".z"; NULL if there is none. */
const struct gh_section *gh_debug_section(const struct gh_image *image, const char *name);

/* Appends what SECTION holds to OUT, uncompressed. False if it cannot be read, is compressed by
 * something else than zlib, or would be larger than any such section is, or memory ran out. */
bool gh_debug_section_read(const struct gh_image *image, const struct gh_section *section,
			   struct gh_buffer *out);

/* Relocations, applied to a file's bytes as for load address 0. */

/* Applies the relocations of IMAGE's DT_RELA table that add the load address, or the address of a
 * symbol that the file defines: it is taken to be the one that is used, though another file's may
 * come first. Those that lie outside the file's bytes are passed over. Tables without
 * addends (DT_REL, DT_RELR) need nothing: there the addend is in place already.
 * Format: the ELF specification's dynamic section, and each machine's psABI for the type numbers.
 */
void gh_relocate(struct gh_image *image);

/* The symbols that the files of a process define for each other. Zeroed there are none. */
struct gh_defined_symbols {
	struct gh_numbermap by_name; /* places in addresses, by a hash of the name; owned */
	struct GH_VECTOR(uint64_t) addresses; /* in the process; owned */
};

/* Adds those of IMAGE, which is loaded at BIAS, that no other before it has defined. */
void gh_defined_symbols_add(struct gh_defined_symbols *symbols, const struct gh_image *image,
			    uint64_t bias);

/* Applies the relocations of IMAGE, which is loaded at BIAS, by symbols that it does not define
 * itself: an address in another file is written as if that was loaded where it is from IMAGE. */
void gh_relocate_undefined(struct gh_image *image, const struct gh_defined_symbols *symbols,
			   uint64_t bias);

void gh_defined_symbols_free(struct gh_defined_symbols *symbols);

/* Reconstructs an ELF file from the memory of a process that runs it: its headers are at the start
 * of its first segment. */

/* What is read of a program to know its segments: its headers are in that, and no page is smaller.
 */
#define GH_LOADED_HEADERS 4096

/* IMAGE was packed by UPX, which has its magic number right after the few program headers that it
 * writes. Source: struct l_info in UPX's src/stub/src/include/linux.h. */
bool gh_image_is_packed(const struct gh_image *image);

/* The most that a program may be, in bytes, whose headers are those of a process: it can give
 * itself any. */
#define GH_LOADED_MOST (UINT64_C(1) << 30)

struct gh_memory {
	/* Reads SIZE bytes at ADDRESS into TO. False if they are not all there. */
	bool (*read)(const struct gh_memory *memory, uint64_t address, void *to, size_t size);
	/* Gives the first part at *ADDRESS or after that there is: *ADDRESS becomes where it
	 * begins. False if there is none. NULL if this cannot be told. */
	bool (*next)(const struct gh_memory *memory, uint64_t *address, uint64_t *size);
	void const *from; /* what they read from */
	uint64_t size;    /* bytes that there are at most */
};

struct gh_loaded {
	uint8_t bytes[GH_LOADED_HEADERS];
	struct gh_image headers; /* those bytes as a file of their own */
	uint64_t bias;           /* of addresses in memory over those in the headers */
};

/* Where the ELF header is in memory, whose program headers are at PHDR (AT_PHDR) and PHENT
 * (AT_PHENT) bytes each: they follow it. */
uint64_t gh_loaded_start(uint64_t phdr, uint64_t phent);

/* Reads the headers from BYTES, which are at the address START in the process. NAME is for errors.
 * False (ERR filled) if they are not those of a program. On success to be closed with
 * gh_loaded_close, and not to be moved. */
bool gh_loaded_open(struct gh_loaded *loaded, const uint8_t bytes[GH_LOADED_HEADERS],
		    uint64_t start, const char *name, struct gh_error *err);

void gh_loaded_close(struct gh_loaded *loaded);

/* How many bytes the segments' contents are by the headers, which nothing bounds: UINT64_MAX stands
 * for more than have a number. */
uint64_t gh_loaded_size(const struct gh_loaded *loaded);

/* Makes an ELF file of *SIZE bytes at *DATA, to be freed, of the segments in MEMORY, which are read
 * once, whole and in the order of their headers. It is not position-independent: its addresses
 * are those in MEMORY, as are the pointers in its data. It has no section headers, and its
 * variables have the values of this moment. False (ERR filled) if MEMORY lacks any. */
bool gh_loaded_make(const struct gh_loaded *loaded, const struct gh_memory *memory, uint8_t **data,
		    size_t *size, struct gh_error *err);

/* A core file: its notes, its auxiliary vector, and the process's memory. */

/* Finds the next note of the kernel's in CORE, which gh_image_open_core opened, from *AT on, which
 * is 0 at first and then where the next is looked for. TYPE is its type (NT_*), NOTE its contents.
 * False if there are no more. */
bool gh_core_note(const struct gh_image *core, uint64_t *at, uint32_t *type,
		  struct gh_cursor *note);

/* Finds the first note of TYPE. False if there is none. */
bool gh_core_note_find(const struct gh_image *core, uint32_t type, struct gh_cursor *note);

/* Looks the entry of this TYPE (AT_*) up in the auxiliary vector, the note NT_AUXV, of CORE. False
 * if there is none. */
bool gh_core_auxv(const struct gh_image *core, uint64_t type, uint64_t *value);

/* What the process's program was called when it was run, as far as CORE has it; NULL if not. */
const char *gh_core_execfn(const struct gh_image *core);

/* Opens LOADED, the headers of the process's program in CORE's memory, as gh_loaded_open does. */
bool gh_core_loaded(struct gh_loaded *loaded, const struct gh_image *core, struct gh_error *err);

/* How many bytes CORE's segments have past its end: not 0 if the file was cut short. */
uint64_t gh_core_missing(const struct gh_image *core);

/* The process's memory, as far as CORE has it; good for as long as that is open. */
struct gh_memory gh_core_memory(const struct gh_image *core);

#endif
