/* Rows of values as text, as aligned tables, as reports, or as JSON. A command describes the
 * columns of its rows once, in a table of struct gh_column, and hands over the rows: structs, of
 * which each column is a member. What is printed, in each of the forms, follows from the columns.
 */
#ifndef GH_PLUGIN_VIEW_EMIT_H
#define GH_PLUGIN_VIEW_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/dump/dump.h"

/* How text is laid out. JSON is the same in all: an object on a line for each row. */
enum gh_emit_layout {
	GH_EMIT_ROWS,   /* a row on a line, values separated by tabs */
	GH_EMIT_TABLE,  /* a row on a line, below titles, columns aligned; texts come last */
	GH_EMIT_REPORT, /* one row, a value on a line, after what it is */
};

struct gh_emit {
	FILE *out;
	const struct gh_dump *dump; /* that slices are of; NULL if there are none */
	enum gh_emit_layout layout;
	bool json;
	bool open;      /* JSON: the row's object has been begun */
	bool started;   /* a value of the row, or of the JSON object or list within, is printed */
	int width;      /* of a table's numbers, in characters */
	uint64_t rows;  /* that have been printed */
	size_t used;    /* bytes of the line */
	char line[256]; /* what is not written yet of a row */
};

/* What is in a column. Next to each is the type of the member; `?' and null are printed for what is
 * not known. */
enum gh_value {
	GH_VALUE_END,     /* there is no more column */
	GH_VALUE_NUMBER,  /* uint64_t */
	GH_VALUE_SIGNED,  /* int64_t; in an aligned table with its sign */
	GH_VALUE_LINE,    /* int32_t: of a source file */
	GH_VALUE_ADDRESS, /* uint64_t; text in JSON, too: its numbers are exact to 53 bits only */
	GH_VALUE_BOOL,    /* bool */
	GH_VALUE_TEXT,    /* const char *, to be escaped; NULL: not known */
	GH_VALUE_NAME,    /* const char *, as gh_print_name prints it */
	GH_VALUE_FILE,    /* const char *, the same; "": not known */
	GH_VALUE_BYTES,   /* struct gh_bytes, to be escaped; NULL: not known */
	GH_VALUE_READY,   /* struct gh_bytes, printed as they are */
	GH_VALUE_SLICE,   /* struct gh_dump_slice */
	GH_VALUE_KNOWN_SLICE,   /* the same; offset 0: not known */
	GH_VALUE_TYPE_NAME,     /* uint64_t: the name of the dump's type at this address */
	GH_VALUE_KNOWN_NUMBER,  /* struct gh_known */
	GH_VALUE_KNOWN_ADDRESS, /* struct gh_known; in an aligned table nothing if there is none */
	GH_VALUE_SHARE,         /* struct gh_share: in hundredths of the whole */
	GH_VALUE_PRINTED,       /* any: `print' prints the value */
	GH_VALUE_LIST,          /* any: `print' prints the items, in JSON within brackets */
};

/* A text that no NUL ends. */
struct gh_bytes {
	const char *data;
	size_t size;
};

/* A number that may not be there. */
struct gh_known {
	uint64_t value;
	bool known;
};

struct gh_share {
	uint64_t part;
	uint64_t whole;
};

struct gh_column {
	const char *key; /* in JSON, and in a report; of a table the title, unless it has one */
	enum gh_value kind;
	size_t offset; /* of the member in the row */
	void (*print)(struct gh_emit *emit, const void *member);
	const char *title;
	enum { GH_IN_BOTH, GH_IN_TEXT, GH_IN_JSON } only;
	bool optional; /* JSON has it only if it is known and, of GH_VALUE_BOOL, true */
};

/* Initializers of a column's kind and offset: MEMBER of the struct ROW, which must be of the type
 * that is next to the kind. A table of columns ends with {0}. */
#define GH_COL_NUMBER(row, member)  GH_COLUMN(GH_VALUE_NUMBER, row, member, uint64_t)
#define GH_COL_SIGNED(row, member)  GH_COLUMN(GH_VALUE_SIGNED, row, member, int64_t)
#define GH_COL_LINE(row, member)    GH_COLUMN(GH_VALUE_LINE, row, member, int32_t)
#define GH_COL_ADDRESS(row, member) GH_COLUMN(GH_VALUE_ADDRESS, row, member, uint64_t)
#define GH_COL_BOOL(row, member)    GH_COLUMN(GH_VALUE_BOOL, row, member, bool)
#define GH_COL_TEXT(row, member)    GH_COLUMN(GH_VALUE_TEXT, row, member, const char *)
#define GH_COL_NAME(row, member)    GH_COLUMN(GH_VALUE_NAME, row, member, const char *)
#define GH_COL_FILE(row, member)    GH_COLUMN(GH_VALUE_FILE, row, member, const char *)
#define GH_COL_BYTES(row, member)   GH_COLUMN(GH_VALUE_BYTES, row, member, struct gh_bytes)
#define GH_COL_READY(row, member)   GH_COLUMN(GH_VALUE_READY, row, member, struct gh_bytes)
#define GH_COL_SLICE(row, member)   GH_COLUMN(GH_VALUE_SLICE, row, member, struct gh_dump_slice)
#define GH_COL_KNOWN_SLICE(row, member)                                                            \
	GH_COLUMN(GH_VALUE_KNOWN_SLICE, row, member, struct gh_dump_slice)
#define GH_COL_TYPE_NAME(row, member) GH_COLUMN(GH_VALUE_TYPE_NAME, row, member, uint64_t)
#define GH_COL_KNOWN_NUMBER(row, member)                                                           \
	GH_COLUMN(GH_VALUE_KNOWN_NUMBER, row, member, struct gh_known)
#define GH_COL_KNOWN_ADDRESS(row, member)                                                          \
	GH_COLUMN(GH_VALUE_KNOWN_ADDRESS, row, member, struct gh_known)
#define GH_COL_SHARE(row, member) GH_COLUMN(GH_VALUE_SHARE, row, member, struct gh_share)

/* The same for what FUNCTION prints: of the whole row. */
#define GH_COL_PRINTED(function) .kind = GH_VALUE_PRINTED, .print = function
#define GH_COL_LIST(function)    .kind = GH_VALUE_LIST, .print = function

/* The same of a MEMBER, which FUNCTION knows the type of. */
#define GH_COL_PRINTED_MEMBER(row, member, function)                                               \
	.kind = GH_VALUE_PRINTED, .offset = offsetof(row, member), .print = function

/* Private: the offset is that of a member of TYPE, or this does not compile. */
#define GH_COLUMN(which, row, member, type)                                                        \
	.kind = which, .offset = offsetof(row, member) +                                           \
				 0 * sizeof(char[_Generic(((const row *)NULL)->member, type : 1)])

/* Begins to print to OUT. DUMP has the slices that are printed, and says how wide an aligned
 * table's numbers can be: none is larger than the bytes in all of its objects. NULL if there is
 * none. */
struct gh_emit gh_emit_start(FILE *out, enum gh_emit_layout layout, const struct gh_dump *dump,
			     bool json);

/* Prints the titles of an aligned table's COLUMNS, unless it is JSON. */
void gh_emit_titles(struct gh_emit *emit, const struct gh_column *columns);

/* Prints ROW's values of COLUMNS, and ends the row. */
void gh_emit_row(struct gh_emit *emit, const struct gh_column *columns, const void *row);

/* The same in parts: the values, which can be called repeatedly for one row, and its end. */
void gh_emit_values(struct gh_emit *emit, const struct gh_column *columns, const void *row);
void gh_emit_end(struct gh_emit *emit);

/* Ends a table of which there is a row for each of COUNT: says how many were not printed. */
void gh_emit_finish(const struct gh_emit *emit, uint64_t count);

/* For a function that prints a value: ROW's values of COLUMNS as a JSON object; in rows of text,
 * more values of the row. */
void gh_emit_object(struct gh_emit *emit, const struct gh_column *columns, const void *row);

/* The same in parts: values go in between. */
void gh_emit_open(struct gh_emit *emit);
void gh_emit_close(struct gh_emit *emit);

/* For a function that prints a list: begins an item, which is printed after it. */
void gh_emit_next(struct gh_emit *emit);

/* The same, on a line of its own: in a list that is the most of a file. */
void gh_emit_next_line(struct gh_emit *emit);

/* Prints an item: an object, or a number. */
void gh_emit_item(struct gh_emit *emit, const struct gh_column *columns, const void *row);
void gh_emit_item_number(struct gh_emit *emit, uint64_t number);

#endif
