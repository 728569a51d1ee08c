/* What the files of this room share, but for what is about symbols (symtab.h), and about types,
 * variables and frames (dwarf_entries.h). */
#ifndef GH_DEBUGFILE_INTERNAL_H
#define GH_DEBUGFILE_INTERNAL_H

#include "lib/code/code.h"
#include "lib/debugfile/debugfile.h"
#include "lib/debugfile/symtab.h"
#include "lib/pclntab/pclntab.h"
#include "lib/rtype/rtype.h"
#include "lib/util/intern.h"
#include "lib/util/numbermap.h"

/* The types that a Go program's own DWARF has, by their names: what else is written into the same
 * sections can refer to them. */

/* The entries of a program's own .debug_info, of DWARF 2 to 5 in the 32-bit format. */

struct gh_info_attribute {
	uint64_t name;     /* DW_AT_* */
	uint64_t form;     /* DW_FORM_* */
	const uint8_t *at; /* its value in .debug_info, of the entry that was read last */
};

struct gh_info_entry {
	uint64_t offset; /* in .debug_info */
	uint64_t tag;    /* DW_TAG_*; 0 for one that only ends the children of another */
	const struct gh_info_attribute *attributes;
	size_t count; /* of these */
};

struct gh_info_abbreviation {
	uint64_t tag;
	size_t first; /* its first attribute */
	size_t count; /* how many it has */
};

/* Where reading is. The fields but word are private. */
struct gh_info_reader {
	struct gh_cursor info;
	struct gh_cursor abbrev;
	struct GH_VECTOR(struct gh_info_abbreviation)
	    abbreviations;                                     /* of the unit, by code less 1 */
	struct GH_VECTOR(struct gh_info_attribute) attributes; /* theirs */
	uint64_t table;    /* where they are in .debug_abbrev; UINT64_MAX: none are read */
	uint64_t left;     /* bytes of abbreviations that may still be read */
	uint16_t version;  /* the unit's */
	uint8_t word;      /* size of an address in it, in bytes */
	bool readable;     /* its entries can be read */
	uint64_t unit_end; /* offset */
};

/* Appends the contents of IMAGE's own .debug_info and .debug_abbrev to INFO and ABBREV. False if it
 * lacks one, or one cannot be read. */
bool gh_info_read(const struct gh_image *image, struct gh_buffer *info, struct gh_buffer *abbrev);

/* Begins to read INFO by ABBREV, the contents of .debug_info and .debug_abbrev, which outlive the
 * reader. It is to be freed with gh_info_reader_free. */
struct gh_info_reader gh_info_reader_start(struct gh_cursor info, struct gh_cursor abbrev);

/* Reads the next entry, which is good until the next is read. What cannot be read of a unit is
 * passed over. False if there are no more. */
bool gh_info_reader_next(struct gh_info_reader *reader, struct gh_info_entry *entry);

void gh_info_reader_free(struct gh_info_reader *reader);

/* A predeclared type, or a pointer. */
struct gh_own_type {
	const char *name;
	uint32_t offset; /* of its entry in .debug_info; 0 if it is not found */
};

/* Finds TYPES, COUNT of them, in INFO and ABBREV, the contents of .debug_info and .debug_abbrev. */
void gh_own_types_find(struct gh_own_type *types, size_t count, struct gh_cursor info,
		       struct gh_cursor abbrev);

/* The packages of a Go program, and which functions each has. */

struct gh_packages {
	struct gh_intern names; /* package paths, by package number; in the image */
	uint32_t count;         /* packages; at least 1, even if none has a name */
	uint32_t *functions;    /* numbers of the functions, package by package, in each those in
				   Go and then those in assembly, both in address order; owned */
	uint32_t *first; /* count + 1 places in functions, where each package starts; owned */
};

/* Sorts the functions of TAB into packages. A function without one goes to the package of
 * the function before it, which is where the linker put it. False (ERR filled) if a function cannot
 * be read or memory ran out. To be freed with gh_packages_free. */
bool gh_packages_find(struct gh_packages *packages, const struct gh_pclntab *tab,
		      struct gh_error *err);

void gh_packages_free(struct gh_packages *packages);

/* .debug_abbrev: what the entries of .debug_info are made of. DWARF 4, section 7.5.3. */

/* The codes, of a byte. The attributes of each, in their order, are in gh_abbrevs_make. */
enum {
	GH_ABBREV_UNIT = GH_VARIABLE_ABBREVS + 1,
	GH_ABBREV_FUNCTION,          /* a function without children */
	GH_ABBREV_FUNCTION_NO_FILE,  /* a function in an unknown file */
	GH_ABBREV_FUNCTION_CHILDREN, /* the same two with children */
	GH_ABBREV_FUNCTION_CHILDREN_NO_FILE,
	GH_ABBREV_ABSTRACT,      /* a function that is inlined */
	GH_ABBREV_CALL,          /* an inlined call */
	GH_ABBREV_CALL_RANGES,   /* one that is in pieces */
	GH_ABBREV_CALL_CHILDREN, /* the same two with children */
	GH_ABBREV_CALL_CHILDREN_RANGES,
	GH_ABBREV_ARGUMENT,         /* an argument */
	GH_ABBREV_UNKNOWN_ARGUMENT, /* one that is nowhere */
	GH_ABBREV_BLOCK_RANGES,     /* a block with variables, in pieces */
	GH_ABBREV_WORDS, /* a function that stands for none, with variables to refer to */
	GH_ABBREV_WORD,  /* a variable that is as the one it refers to */
};

/* The language of units for DEBUGGER, DW_LANG_*. */
uint8_t gh_unit_language(enum gh_debugger debugger);

/* Adds the section's contents to ABBREV. */
void gh_abbrevs_make(struct gh_buffer *abbrev);

/* Offsets in sections that .debug_info has, in 4 bytes, and .debug_aranges. A part of the program
 * is written as if it were all of it; when the sections of the parts are put together, the offsets
 * grow by what comes before. */

enum gh_info_section {
	GH_INFO_INFO,
	GH_INFO_LINE,
	GH_INFO_RANGES,
	GH_INFO_LOC,
	GH_INFO_SECTIONS,                /* how many there are */
	GH_INFO_TYPE = GH_INFO_SECTIONS, /* no section: a type, by number */
};

struct gh_info_ref {
	uint32_t place;    /* of the offset, in .debug_info or .debug_aranges */
	uint32_t offset;   /* in the part's section, or the type's number */
	uint8_t section;   /* enum gh_info_section */
	bool from_aranges; /* it is in .debug_aranges */
};

/* The sections' contents. */
struct gh_info {
	enum gh_debugger debugger; /* that they are for */
	struct gh_buffer abbrev;
	struct gh_buffer info;
	struct gh_buffer line;
	struct gh_buffer ranges;
	struct gh_buffer loc;
	struct gh_buffer aranges;
	struct gh_entry_points points;             /* of all functions, for their short names */
	struct GH_VECTOR(struct gh_info_ref) refs; /* of a part; of the whole those to types */
};

/* .debug_line: which source line each instruction belongs to. DWARF 4, section 6.2. */

/* Where a function is in the source. */
struct gh_decl {
	uint32_t file; /* in the file table of its unit, from 1; 0 if unknown */
	int32_t line;  /* 0 if unknown */
};

/* A row of the line table. */
struct gh_line_row {
	uint64_t address;
	struct gh_decl at;
	int32_t tree_index; /* the inlined call that the code is of: see gh_frame */
	bool is_stop;       /* debuggers stop at the function here: DW_LNS_set_prologue_end */
	bool only_moves;    /* its instructions: see gh_code_only_moves */
	bool is_stmt;       /* a statement starts here: GDB may stop */
};

/* A place where rows of a function only move data. */
struct gh_line_move {
	uint64_t place;     /* the file, in the upper half, and the line */
	int32_t tree_index; /* as in the rows */
	bool has_statement; /* other rows of the place do its work */
};

#define GH_RECENT_FILES 64

/* A file that was looked up. */
struct gh_line_file {
	uint32_t file;   /* of the pclntab; GH_NO_FILE if none */
	uint32_t number; /* in the unit's file table */
};

/* The line number program of one unit after the other. The fields are private. */
struct gh_line_table {
	const struct gh_pclntab *tab;
	struct gh_buffer program;    /* the unit's rows */
	struct gh_buffer files;      /* the unit's file table: its entries */
	struct gh_intern dirs;       /* the unit's directories; in the image */
	struct gh_numbermap numbers; /* of the unit's files, by file of the pclntab */
	uint32_t nfiles;             /* in the unit's file table */
	struct gh_line_file
	    recent[GH_RECENT_FILES]; /* looked up last, by file modulo their number */
	size_t name_bytes;           /* bytes of file names that may still be written */
	const struct gh_func *func;  /* the function */
	uint64_t stop;               /* where debuggers stop at it: see gh_prologue_stop */
	uint64_t body;               /* where its body begins: see gh_prologue_end */
	struct gh_decl decl;         /* where it starts */
	struct GH_VECTOR(struct gh_line_row) rows;   /* its */
	struct GH_VECTOR(struct gh_line_move) moves; /* its places with such rows, sorted */
	uint64_t address;                            /* registers of the state machine */
	uint32_t file;
	int64_t line;
	bool in_statement;
	bool in_sequence; /* rows have been written since the last end of a sequence */
	uint64_t end;     /* of the last function */
	bool failed;      /* memory ran out */
};

/* File names may take LIMIT bytes. */
void gh_line_init(struct gh_line_table *lines, const struct gh_pclntab *tab, size_t limit);

/* The number of FILE, a file of the pclntab, in the unit's file table, to which it is added if it
 * is not there yet; 0 if it has no name. */
uint32_t gh_line_file(struct gh_line_table *lines, uint32_t file);

/* Starts the rows of FUNC, which stays put until gh_line_end. JOINED says that FUNC follows
 * the function before it with nothing but padding between, which then counts as that function's
 * last line; else a new sequence begins. */
void gh_line_begin(struct gh_line_table *lines, const struct gh_func *func, bool joined);

/* Adds the next range of the function: a row with the file and line of the innermost frame, unless
 * the row before has the same for the same call; and one at the end of the prologue. */
void gh_line_range(struct gh_line_table *lines, const struct gh_range *range);

/* Adds the function's rows to the unit, where no statement starts without is_stmt. Returns where
 * the function starts. */
struct gh_decl gh_line_end(struct gh_line_table *lines);

/* Appends the unit to OUT, .debug_line, and starts the next. Returns its offset. */
size_t gh_line_finish(struct gh_line_table *lines, struct gh_buffer *out);

/* Whether memory ran out. */
bool gh_line_failed(const struct gh_line_table *lines);

void gh_line_free(struct gh_line_table *lines);

/* The words of functions' frames that hold pointers while they call, as variables named by their
 * offset from sp: "sp_0x18". They are in blocks of those calls' last bytes: debuggers look up a
 * frame that has called by the byte before its pc, as the runtime does, and nothing else ever stops
 * there. Between calls the maps are out of date. Where a call was inlined around a call the block
 * is nested in that. DWARF 4, sections 3.3.8, 3.5, 4.1 and 5.1. */

/* Appends a unit called NAME for DEBUGGER to INFO, .debug_info, whose addresses have WORD bytes,
 * for types. Returns where it starts. The abbreviations are the section's first. */
size_t gh_variable_unit_begin(struct gh_buffer *info, enum gh_debugger debugger, const char *name,
			      const char *producer, uint8_t word);

/* Append a type to the unit that is in the making. Each returns the type's offset in INFO. Sizes
 * are in bytes; TO and TYPE are offsets of types. */
uint32_t gh_variable_base(struct gh_buffer *info, const char *name, uint8_t encoding, uint8_t size);

/* The same of a pointer, whose name, a string, is to follow. */
uint32_t gh_variable_pointer_begin(struct gh_buffer *info, uint8_t size, uint32_t to);

/* The same of a struct. Its name, a string, is to follow, and then its members; gh_buffer_u8 of 0
 * ends it. */
uint32_t gh_variable_struct_begin(struct gh_buffer *info, uint64_t size);
void gh_variable_member(struct gh_buffer *info, const char *name, uint64_t offset, uint32_t type);

/* The same of another name of TYPE, which is to follow. */
uint32_t gh_variable_typedef_begin(struct gh_buffer *info, uint32_t type);

/* Appends to INFO, within a function, a block of the code from ADDRESS on, of SIZE bytes.
 * gh_buffer_u8 of 0 ends it. */
void gh_variable_block_begin(struct gh_buffer *info, uint64_t address, uint64_t size, uint8_t word);

/* Appends to INFO the variable sp_0x..., at OFFSET, in bytes, from the register SP, by its DWARF
 * number. */
void gh_variable_at_sp(struct gh_buffer *info, uint64_t offset, uint32_t type, uint8_t sp);

/* The type of all those words. */
struct gh_word_type {
	uint32_t offset;           /* in .debug_info; 0: there are no words */
	struct gh_callees callees; /* of calls that are not left out */
};

/* The fields are private. */
struct gh_words {
	const struct gh_pclntab *tab;
	struct gh_info *info;                           /* the sections */
	const struct gh_word_type *type;                /* of the words */
	size_t unit;                                    /* where the unit starts in .debug_info */
	uint32_t number;                                /* of the unit, from 1 */
	struct GH_VECTOR(struct gh_word_entry) entries; /* what its variables refer to, by offset */
	struct gh_stackmaps maps;                       /* of the function */
	bool has_maps;                                  /* it has any */
	uint64_t entry;                                 /* its address */
	uint64_t end;                                   /* one past it */
	struct gh_pcvalue index;                        /* which of the maps */
	struct gh_pcvalue delta;                        /* of the stack */
	struct GH_VECTOR(struct gh_word_piece) pieces;  /* of the function */
	struct GH_VECTOR(struct gh_word_site) sites;    /* of the function */
	struct GH_VECTOR(struct gh_word_block) blocks;  /* of those */
	struct gh_buffer words; /* the blocks' variables, as .debug_info has them */
	size_t left;            /* bytes of DWARF that may still be written */
};

/* Appends a unit with the type to INFO if the program tells of words; else there are
 * none. In any case TYPE is to be freed. False if memory ran out. */
bool gh_word_type_put(struct gh_word_type *type, const struct gh_pclntab *tab, const char *producer,
		      struct gh_info *info);

void gh_word_type_free(struct gh_word_type *type);

/* The words may take LIMIT bytes in INFO. Everything given outlives LIVE. */
void gh_word_init(struct gh_words *live, const struct gh_pclntab *tab,
		  const struct gh_word_type *type, struct gh_info *info, size_t limit);

/* Starts a unit, at offset UNIT of .debug_info. */
void gh_word_begin_unit(struct gh_words *live, size_t unit);

/* Starts FUNC. */
void gh_word_begin(struct gh_words *live, const struct gh_func *func);

/* Adds the next range of the function, from START on, whose innermost inlined call is number
 * INLINED; any number that is no other's stands for the function. */
void gh_word_range(struct gh_words *live, uint64_t start, uint32_t inlined);

/* Ends the ranges of the function. Adds to .debug_info entries that the blocks refer to: no other
 * entry may be in the making there. */
void gh_word_end(struct gh_words *live);

/* Whether there are blocks within inlined call number INLINED. */
bool gh_word_has(const struct gh_words *live, uint32_t inlined);

/* Writes them, as children of the entry written last, the end of children left to the caller; and
 * to .debug_ranges where those are that are in pieces. The unit's low_pc must be 0. */
void gh_word_write(const struct gh_words *live, uint32_t inlined);

/* Whether memory ran out. */
bool gh_word_failed(const struct gh_words *live);

void gh_word_free(struct gh_words *live);

/* The inlined calls of a function, as DWARF nests them. DWARF 4, section 3.3.8. */

/* No call, or no span. */
#define GH_INLINE_NONE UINT32_MAX

/* An inlined call: a record of the inline tree that code is left of. */
struct gh_inline_call {
	uint32_t origin;     /* the abstract subprogram, offset in the unit */
	uint32_t name;       /* of the function that is called, for gh_pclntab_name */
	struct gh_decl site; /* of the call */
	int32_t tree_index;  /* the record's number */
	uint32_t parent; /* the call that this one was inlined into; GH_INLINE_NONE: the function */
	uint32_t first_child; /* the calls that were inlined into this one, by first address */
	uint32_t last_child;
	uint32_t next;       /* the parent's next child */
	uint32_t first_span; /* its code, by address */
	uint32_t last_span;
};

/* A run of addresses. */
struct gh_inline_span {
	uint64_t start; /* an address */
	uint64_t end;   /* one past the run */
	uint32_t next;  /* the same call's */
};

/* The inlined calls of one function after the other. The fields are private. */
struct gh_inlines {
	const struct gh_pclntab *tab;
	struct gh_strings *strings;  /* .debug_str */
	struct gh_line_table *lines; /* the unit's */
	struct gh_info *info;        /* the sections, and the calls' entry points */
	size_t unit;                 /* where the unit starts in .debug_info */
	struct gh_numbermap
	    origins; /* the unit's abstract subprograms: offset in the unit, by name */
	struct GH_VECTOR(struct gh_inline_call) calls; /* of the function */
	struct GH_VECTOR(struct gh_inline_span) spans; /* of its calls */
	struct GH_VECTOR(
	    uint32_t) numbers; /* by tree_index, one more than the call's number; 0: none */
	uint32_t first_call;   /* of the function, by address; with next, the others */
	uint32_t last_call;
	size_t left; /* bytes of DWARF that may still be written */
	bool failed; /* memory ran out */
};

/* The calls may take LIMIT bytes in INFO. Everything given outlives INLINES. */
void gh_inlines_init(struct gh_inlines *inlines, const struct gh_pclntab *tab,
		     struct gh_strings *strings, struct gh_line_table *lines, struct gh_info *info,
		     size_t limit);

/* Starts a unit, at offset UNIT of .debug_info. */
void gh_inlines_begin_unit(struct gh_inlines *inlines, size_t unit);

/* Starts a function. */
void gh_inlines_begin(struct gh_inlines *inlines);

/* Adds the next range of the function to the calls that are on its stack, and to .debug_info the
 * abstract subprograms that the unit has not yet: no other entry may be in the making there.
 * Returns the number of the innermost call, GH_INLINE_NONE for the function's own code. A frame is
 * left out, and those inlined into it, where its name or place is unknown, where it is on the stack
 * twice, and once the calls have taken as many bytes as they may. */
uint32_t gh_inlines_range(struct gh_inlines *inlines, const struct gh_range *range);

/* Whether the function has inlined calls. */
bool gh_inlines_any(const struct gh_inlines *inlines);

/* Writes the function's calls to .debug_info and their entry points, with the blocks that LIVE has
 * within them, as children of the entry written last, the end of children left to the caller; and
 * to .debug_ranges the spans of those that have several. The unit's low_pc must be 0. */
void gh_inlines_write(const struct gh_inlines *inlines, const struct gh_words *live);

/* Writes the calls that are on the stack of RANGE, which was added, once more: as having the code
 * from START to before END, each in the other, as the last children of the entry that is in the
 * making. */
void gh_inlines_write_at(struct gh_inlines *inlines, const struct gh_range *range, uint64_t start,
			 uint64_t end);

/* Whether memory ran out. */
bool gh_inlines_failed(const struct gh_inlines *inlines);

void gh_inlines_free(struct gh_inlines *inlines);

/* .debug_info and what goes with it: the packages as units, and their functions. DWARF 4, sections
 * 3.1, 3.3, 6.1.2, 7.5 and 7.21.
 *
 * A unit has an abstract subprogram of its own for each function that is inlined into one of its
 * functions, wherever that comes from: a debugger that looks for the name then finds all units that
 * have a copy of it, and none refers to another. */

/* Fills INFO, of which only the debugger is set, with a unit for each of PACKAGES and, unless SLOTS
 * is NULL, one for its types; its variables are in the functions. Function names refer to STRINGS
 * as .debug_str, to which those of inlined functions are added. False (ERR filled) if a function
 * cannot be read, memory ran out, or a section would not fit the 32-bit DWARF format. In any case
 * INFO is to be freed with gh_info_free. */
bool gh_info_make(struct gh_info *info, const struct gh_pclntab *tab,
		  const struct gh_packages *packages, struct gh_strings *strings,
		  const struct gh_slots *slots, const struct gh_rtypes *types,
		  struct gh_error *err);

void gh_info_free(struct gh_info *info);

/* Operations of DWARF expressions, which are added to OUT. */

void gh_op_address(struct gh_buffer *out, const struct gh_arch *arch, uint64_t address);
void gh_op_plus(struct gh_buffer *out, uint64_t offset);

/* The pointer OFFSET bytes from the one on the stack. */
void gh_op_field(struct gh_buffer *out, uint64_t offset);

/* A jump, to be given its target. Returns its place. */
size_t gh_op_jump(struct gh_buffer *out, uint8_t op);

/* One that is taken if the pointer on the stack, which stays, is nil. */
size_t gh_op_jump_if_nil(struct gh_buffer *out);

/* The jump at PLACE goes to TARGET. */
void gh_op_set_target(struct gh_buffer *out, size_t place, size_t target);

/* The DWARF expressions that lead from one stack to another. */

/* Adds to OUT, which is empty, the expression of the CFA in CODE, of a kind from GH_SWITCH_SAVED
 * on. ARCH is the machine, RUNTIME the program's. Where the thread runs no goroutine, which the
 * last two kinds can find, it is SP. */
void gh_switch_cfa(struct gh_buffer *out, const struct gh_switch *code, const struct gh_arch *arch,
		   const struct gh_runtime *runtime);

/* Adds the expression of the return address there, given the CFA, for the last two kinds: where the
 * CFA is SP, it is in mstart, as a thread's own stack begins there. */
void gh_switch_return(struct gh_buffer *out, const struct gh_switch *code,
		      const struct gh_arch *arch, const struct gh_runtime *runtime);

/* Adds the expression of a return address that may be the very entry of a function, given the CFA
 * and this ENTRY: then it is the next address, since a debugger looks for what calls at the address
 * before, and would find another function. */
void gh_return_past_entry(struct gh_buffer *out, const struct gh_arch *arch, uint64_t entry);

#endif
