/* .debug_line: which source line each instruction belongs to. DWARF 4, section 6.2. */
#ifndef GH_WRITE_DWARF_LINE_H
#define GH_WRITE_DWARF_LINE_H

#include "lib/pclntab/sourcemap.h"
#include "lib/util/buffer.h"
#include "lib/write/intern.h"

/* Where a function is in the source. */
struct gh_decl {
	uint32_t file; /* in the file table of its unit, from 1; 0 if unknown */
	int32_t line;  /* 0 if unknown */
};

/* A row of the line table. */
struct gh_line_row {
	uint64_t address;
	struct gh_decl at;
	bool prologue_end; /* the function's frame is set up here */
	bool only_moves;   /* no statement starts here: see statement.h */
};

/* The line number program of one unit after the other. The fields are private. */
struct gh_line_table {
	const struct gh_pclntab *tab;
	struct gh_sourcemap map;
	struct gh_buffer program; /* the unit's rows */
	struct gh_buffer files;   /* the unit's file table: its entries */
	struct gh_intern dirs;    /* the unit's directories; in the image */
	void *numbers;            /* of the unit's files, by file of the pclntab, for tsearch */
	uint32_t nfiles;          /* in the unit's file table */
	uint32_t last_file;    /* file of the pclntab that was looked up last; GH_NO_FILE if none */
	uint32_t last_number;  /* its number in the unit's file table */
	size_t name_bytes;     /* bytes of file names that may still be written */
	struct gh_buffer rows; /* of the function: struct gh_line_row */
	struct gh_buffer keys; /* of the function's places with a statement: uint64_t, sorted */
	uint64_t address;      /* registers of the state machine */
	uint32_t file;
	int64_t line;
	bool in_statement;
	bool in_sequence; /* rows have been written since the last end of a sequence */
	uint64_t end;     /* of the last function */
	bool failed;      /* memory ran out */
};

void gh_line_init(struct gh_line_table *lines, const struct gh_pclntab *tab);

/* Adds the rows of FUNC to the unit and fills DECL with where it starts. A row has the file and
 * line of the outermost of the inlined frames that are there: those of the function itself. A row
 * marks the end of the prologue. Rows at which no statement starts are told. JOINED says that FUNC
 * follows the function before it with nothing but padding between, which then counts as that
 * function's last line; else a new sequence begins.
 */
void gh_line_function(struct gh_line_table *lines, const struct gh_func *func, bool joined,
		      struct gh_decl *decl);

/* Appends the unit to OUT, .debug_line, and starts the next. Returns its offset. */
size_t gh_line_finish(struct gh_line_table *lines, struct gh_buffer *out);

/* Frees everything. Returns whether memory sufficed all along. */
bool gh_line_free(struct gh_line_table *lines);

#endif
