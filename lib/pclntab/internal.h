/* What the files of this room share: pc-value tables that are written, the tables of Go 1.0
 * and 1.1, and where a function's PCDATA and the moduledata are. */
#ifndef GH_PCLNTAB_INTERNAL_H
#define GH_PCLNTAB_INTERNAL_H

#include "lib/pclntab/pclntab.h"
#include "lib/util/buffer.h"
#include "lib/util/intern.h"
#include "lib/util/vector.h"

/* Tables of pc values, written. */

/* A table that is being written. The fields are private. */
struct gh_pcvalue_writer {
	struct gh_buffer *out; /* not owned */
	uint64_t pc;           /* where the first run starts, an address */
	uint8_t quantum;       /* of pc deltas, in bytes */
	uint64_t end;          /* of the run that was added last, which is not written yet */
	int32_t value;         /* of it */
	int32_t written;       /* value of the run before */
	bool pending;          /* there is such a run */
};

/* Starts the table of a function that begins at ENTRY, at the end of OUT. */
void gh_pcvalue_write_start(struct gh_pcvalue_writer *writer, struct gh_buffer *out, uint64_t entry,
			    uint8_t quantum);

/* Adds the run that goes from where the last one ended to END, an address. One of no length is
 * left out; neighbours of one value become one run, as a table must have it. */
void gh_pcvalue_write_run(struct gh_pcvalue_writer *writer, uint64_t end, int32_t value);

/* Ends the table. */
void gh_pcvalue_write_end(struct gh_pcvalue_writer *writer);

/* What the tables of Go 1.0 and 1.1 are made of, and how they become those of Go 1.2 (plan9.c). */

/* The symbol table of Go 1.0 and 1.1 (.gosymtab), which came from Plan 9.
 *
 * Format: src/pkg/runtime/symtab.c of Go 1.1, and walksymtab in src/debug/gosym/symtab.go. */

/* Symbol types that tell of functions. */
enum gh_plan9_type {
	GH_PLAN9_FUNCTION = 'T',
	GH_PLAN9_STATIC_FUNCTION = 't',
	GH_PLAN9_LEAF = 'L',
	GH_PLAN9_STATIC_LEAF = 'l',
	GH_PLAN9_FRAME = 'm', /* a number about the function before it, which its name tells */
	GH_PLAN9_FILE = 'f',  /* a component of paths */
	GH_PLAN9_PATH = 'z',  /* a file begins at this line of an object, or ends */
	GH_PLAN9_LINE_NUMBER = 'Z', /* its next line has this number */
};

struct gh_plan9_symbol {
	uint64_t value;
	char type;           /* a letter, those of enum gh_plan9_type among others */
	const char *name;    /* "" for the two types below; in the image */
	const uint8_t *path; /* of GH_PLAN9_PATH and GH_PLAN9_LINE_NUMBER: pairs of bytes, each the
				value of a GH_PLAN9_FILE, big-endian; in the image */
	size_t path_size;    /* in bytes, an even number */
};

/* A walk over a table. The fields are private. */
struct gh_plan9_symbols {
	struct gh_cursor cur;
	enum gh_pclntab_format format;
	uint8_t word; /* size of a value that is not a varint, in bytes */
};

/* Starts a walk over the table that CUR is over, of a machine whose words are of WORD bytes. */
void gh_plan9_symbols_start(struct gh_plan9_symbols *walk, struct gh_cursor cur, uint8_t word);

/* Goes to the next symbol. False at the end, and where the table is cut short or damaged. */
bool gh_plan9_symbols_next(struct gh_plan9_symbols *walk, struct gh_plan9_symbol *symbol);

/* The pclntab of Go 1.0 and 1.1: a line for each pc of the whole text, counted in all that the
 * compiler read to make an object. What file that is in, and where, its history tells
 * (struct gh_plan9_history).
 *
 * Format: pclntab in src/cmd/ld/lib.c of Go 1.1, and parse in src/debug/gosym/pclntab.go. */

/* A walk over the table. Copy it to come back to where it is. */
struct gh_plan9_lines {
	struct gh_cursor cur; /* at the next code */
	uint64_t start;       /* of the current run, an address */
	uint64_t end;         /* one past it; UINT64_MAX in the last */
	int32_t line;         /* of the current run, in its object; 0 before the first */
	uint8_t quantum;      /* of pc deltas, in bytes */
};

/* Starts a walk over the table that CUR is over, in the run from TEXT, where the text begins. */
void gh_plan9_lines_start(struct gh_plan9_lines *walk, struct gh_cursor cur, uint64_t text,
			  uint8_t quantum);

/* Goes to the next run, until one ends after PC. */
void gh_plan9_lines_seek(struct gh_plan9_lines *walk, uint64_t pc);

/* Which files an object of Go 1.0 and 1.1 was made of, and at which of its lines each begins: an
 * object's lines are counted through all that the compiler read, files that are included too.
 *
 * Format: inithist in src/cmd/ld/dwarf.c of Go 1.1. (debug/gosym takes the line numbers that
 * directives give for files.) */

/* From a line of an object to the next place, all lines are of one file. */
struct gh_plan9_place {
	int64_t line;      /* of the object */
	int64_t file_line; /* the same, in the file */
	uint32_t file;     /* number of the path, from 1; 0 for none */
};

struct gh_plan9_places GH_VECTOR(struct gh_plan9_place);

/* The histories of all objects so far. Zero it before the first symbol. */
struct gh_plan9_history {
	struct gh_intern paths;        /* of files, as the symbols have them */
	struct gh_plan9_places places; /* one object's after the other's */
	size_t first;                  /* the current object's first place, by number */
	struct gh_plan9_places stack;  /* the files that include the current */
	int64_t line;                  /* of the object, where the current place begins */
	bool open;                     /* the last symbol was part of a history */
};

/* Takes the next symbol of the table, of any type: a history is a run of symbols. False if memory
 * ran out. */
bool gh_plan9_history_add(struct gh_plan9_history *history, const struct gh_plan9_symbol *symbol);

/* Sets the file and the line in it, 0 if unknown, of LINE of the object whose places are those from
 * number FIRST to before number END. */
void gh_plan9_history_find(const struct gh_plan9_history *history, size_t first, size_t end,
			   int32_t line, uint32_t *file, int32_t *file_line);

void gh_plan9_history_free(struct gh_plan9_history *history);

/* How far SP is from where it was at a function's entry, in programs of Go 1.0 and 1.1: their
 * tables have only the size of the frame, so it is read off the few instructions by which the
 * linker moves SP.
 *
 * Source: noops in src/cmd/6l/pass.c (8l, 5l) and ginscall in src/cmd/6g/ggen.c of Go 1.1. */

/* Adds to WRITER, which stands at ENTRY, the stack deltas of the function from ENTRY to END whose
 * symbols tell of a frame of SIZE bytes, the return address included. Where the code does not look
 * as expected it has its frame from the second instruction on, as the runtime takes it. */
void gh_plan9_frame_write(struct gh_pcvalue_writer *writer, const struct gh_image *image,
			  uint64_t entry, uint64_t end, uint64_t size);

/* Converts the symbol and line tables of Go 1.0 and 1.1, which are Plan 9's, to the pclntab that
 * Go 1.2 would have written, which all else reads. */

/* Makes OUT a pclntab of Go 1.2 from the symbols in SYMTAB and the lines in LINES, the cursors over
 * the sections .gosymtab and .gopclntab of IMAGE, and sets FORMAT to what they were. Names, file
 * names and stack deltas are in it; arguments and locals are not. False (ERR filled) if there are
 * no functions, or they are out of order; OUT is to be freed in either case. */
bool gh_plan9_convert(struct gh_buffer *out, enum gh_pclntab_format *format,
		      const struct gh_image *image, const struct gh_cursor *symtab,
		      const struct gh_cursor *lines, struct gh_error *err);

/* Finds the moduledata that points to TAB, whose format, address, and pointer size are known, by
 * looking through the data segments (section .go.module from Go 1.26) for a pointer to it followed
 * by fields that agree with the segments. False, and MODULE zeroed, if there is none (Go before 1.5
 * had none). */
bool gh_moduledata_find(struct gh_moduledata *module, const struct gh_pclntab *tab);

/* Offset of FUNC's PCDATA table number N in pctab; 0 if it has none. */
uint32_t gh_pclntab_pcdata(const struct gh_pclntab *tab, const struct gh_func *func, unsigned n);

/* Reads where the maps of FUNC's arguments are, however large it says that those are. None, if they
 * cannot be read. */
void gh_arg_maps_find(struct gh_bitmaps *maps, const struct gh_pclntab *tab,
		      const struct gh_func *func);

/* Whether map INDEX says that word number WORD holds a pointer. */
bool gh_bitmaps_have(const struct gh_bitmaps *maps, uint32_t index, uint32_t word);

#endif
