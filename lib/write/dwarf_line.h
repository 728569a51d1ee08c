/* .debug_line: which source line each instruction belongs to. DWARF 4, section 6.2. */
#ifndef GH_WRITE_DWARF_LINE_H
#define GH_WRITE_DWARF_LINE_H

#include "lib/pclntab/sourcemap.h"
#include "lib/util/buffer.h"
#include "lib/util/intern.h"
#include "lib/util/numbermap.h"

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
	bool prologue_end;  /* the function's frame is set up here */
	bool only_moves;    /* no statement starts here: see statement.h */
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
	uint64_t prologue_end;       /* its, an address */
	struct gh_decl decl;         /* where it starts */
	struct gh_buffer rows;       /* its: struct gh_line_row */
	struct gh_buffer moves;      /* its places with such rows: struct gh_line_move, sorted */
	uint64_t address;            /* registers of the state machine */
	uint32_t file;
	int64_t line;
	bool in_statement;
	bool in_sequence; /* rows have been written since the last end of a sequence */
	uint64_t end;     /* of the last function */
	bool failed;      /* memory ran out */
};

void gh_line_init(struct gh_line_table *lines, const struct gh_pclntab *tab);

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

/* Adds the function's rows to the unit, those told at which no statement starts. Returns where the
 * function starts. */
struct gh_decl gh_line_end(struct gh_line_table *lines);

/* Appends the unit to OUT, .debug_line, and starts the next. Returns its offset. */
size_t gh_line_finish(struct gh_line_table *lines, struct gh_buffer *out);

/* Frees everything. Returns whether memory sufficed all along. */
bool gh_line_free(struct gh_line_table *lines);

#endif
