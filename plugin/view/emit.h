/* Rows of values as text, as aligned tables, as reports, or as JSON. A command describes the
 * columns of its rows once, in a table of struct gh_column, and hands over the rows: structs, of
 * which each column is a member. What is printed, in each of the forms, follows from the columns.
 *
 * - emit.c: rows as text, tables, reports or JSON;
 * - print.c: how single values are worded: counts, sizes, how long something waits, names, text;
 * - progress.c: a line of progress; dot.c: graphs for Graphviz. */
#ifndef GH_PLUGIN_VIEW_EMIT_H
#define GH_PLUGIN_VIEW_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/dump/dump.h"
#include "lib/util/vector.h"

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
	bool failed;    /* memory ran out for what was to be printed */
	int width;      /* of a table's numbers, in characters */
	uint64_t rows;  /* that have been printed */
	size_t used;    /* bytes of the line */
	char line[256]; /* what is not written yet of a row */
};

/* What is in a column. Next to each is the type of the member; `?' and null are printed for what is
 * not known. */
enum gh_value {
	GH_VALUE_END,    /* there is no more column */
	GH_VALUE_NUMBER, /* uint64_t */
	GH_VALUE_SIGNED, /* int64_t; in an aligned table with its sign */
	GH_VALUE_SIZE, /* uint64_t, bytes: in an aligned table and a report as gh_size_text has them
			*/
	GH_VALUE_SIZE_GROWTH, /* int64_t, the same with its sign */
	GH_VALUE_LINE,        /* int32_t: of a source file */
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
	const char *key; /* in JSON; of a table and a report the title, unless it has one */
	enum gh_value kind;
	size_t offset; /* of the member in the row */
	void (*print)(struct gh_emit *emit, const void *member);
	const char *title;
	enum { GH_IN_BOTH, GH_IN_TEXT, GH_IN_JSON } only;
	bool optional; /* JSON has it only if it is known and, of GH_VALUE_BOOL, true */
};

/* Initializers of a column's kind and offset: MEMBER of the struct ROW, which must be of the type
 * that is next to the kind. A table of columns ends with {0}. */
#define GH_COL_NUMBER(row, member)      GH_COLUMN(GH_VALUE_NUMBER, row, member, uint64_t)
#define GH_COL_SIGNED(row, member)      GH_COLUMN(GH_VALUE_SIGNED, row, member, int64_t)
#define GH_COL_SIZE(row, member)        GH_COLUMN(GH_VALUE_SIZE, row, member, uint64_t)
#define GH_COL_SIZE_GROWTH(row, member) GH_COLUMN(GH_VALUE_SIZE_GROWTH, row, member, int64_t)
#define GH_COL_LINE(row, member)        GH_COLUMN(GH_VALUE_LINE, row, member, int32_t)
#define GH_COL_ADDRESS(row, member)     GH_COLUMN(GH_VALUE_ADDRESS, row, member, uint64_t)
#define GH_COL_BOOL(row, member)        GH_COLUMN(GH_VALUE_BOOL, row, member, bool)
#define GH_COL_TEXT(row, member)        GH_COLUMN(GH_VALUE_TEXT, row, member, const char *)
#define GH_COL_NAME(row, member)        GH_COLUMN(GH_VALUE_NAME, row, member, const char *)
#define GH_COL_FILE(row, member)        GH_COLUMN(GH_VALUE_FILE, row, member, const char *)
#define GH_COL_BYTES(row, member)       GH_COLUMN(GH_VALUE_BYTES, row, member, struct gh_bytes)
#define GH_COL_READY(row, member)       GH_COLUMN(GH_VALUE_READY, row, member, struct gh_bytes)
#define GH_COL_SLICE(row, member)       GH_COLUMN(GH_VALUE_SLICE, row, member, struct gh_dump_slice)
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

/* Prints an item: an object, or a number. */
void gh_emit_item(struct gh_emit *emit, const struct gh_column *columns, const void *row);
void gh_emit_item_number(struct gh_emit *emit, uint64_t number);

/* Single values as text for a person, or as JSON: numbers, counts, sizes, names and other texts. */

/* Bytes that the text of a number takes: its digits, commas, a sign, and what is around it. */
#define GH_NUMBER_TEXT 32

/* Has standard output written in large blocks: some lists have millions of rows. */
void gh_print_in_blocks(void);

/* Puts VALUE before END, where there are GH_NUMBER_TEXT bytes, and gives where it begins. With
 * COMMAS there is one after each three digits. */
char *gh_format_number(char *end, uint64_t value, bool commas);

/* Has sizes and counts be printed to the last digit (--bytes), and not in three digits with a unit.
 */
void gh_print_exact(bool exact);
bool gh_prints_exact(void);

/* Bytes that the text of a size or a count takes, with its NUL. */
#define GH_SIZE_TEXT 32

/* Prints "1,000", "1.50 M". */
void gh_print_number(FILE *out, uint64_t number);

/* The same text, in BUF. */
const char *gh_number_text(uint64_t number, char buf[GH_SIZE_TEXT]);

/* Prints "1 object", "2 objects". */
void gh_print_count(FILE *out, uint64_t count, const char *what);

/* Prints that there are more than SHOWN of COUNT, if so. */
void gh_print_more(uint64_t shown, uint64_t count);

/* SIZE, in bytes, as "512 bytes", "4.40 MB"; in BUF. */
const char *gh_size_text(uint64_t size, char buf[GH_SIZE_TEXT]);

/* Prints the same. */
void gh_print_size(FILE *out, uint64_t size);

/* Prints WHEN, in seconds since the epoch, as the user's clock shows it. */
void gh_time_print(FILE *out, uint64_t when);

/* Prints how long something has lasted, in its two largest units: "3 d 4 h". */
void gh_age_print(FILE *out, uint64_t seconds);

/* Prints ", MODULE VERSION", escaped, of what a program is built from; either may be NULL. */
void gh_module_print(FILE *out, const char *module, const char *version);

#define GH_NS_PER_MINUTE UINT64_C(60000000000)

/* Prints how long something waits, ", 5 minutes", and nothing where it is less than one.
 * gh_minutes_print says ", 1 minute"; gh_minutes_print_as_go says ", 1 minutes", as Go's tracebacks
 * do. GDB words it itself in the names of threads (plugin/gdb/thread_names.c), and so does the
 * browser (plugin/web/page/views.js). */
void gh_minutes_print(FILE *out, uint64_t minutes);
void gh_minutes_print_as_go(FILE *out, uint64_t minutes);

/* Prints SIZE bytes at DATA to OUT: escaped, or as a JSON string, where a NUL is not UTF-8 either.
 */
void gh_print_bytes(FILE *out, const char *data, size_t size, bool json);

/* The same for a text of DUMP. */
void gh_print_slice(FILE *out, const struct gh_dump *dump, struct gh_dump_slice slice, bool json);

/* Prints the start of a text for a person, so much as there is room for in a line; LENGTH bytes at
 * DATA. */
void gh_print_start(const char *data, size_t length);

/* Prints the NAME of a function, type or file to OUT: escaped, or as JSON. Of one that is longer
 * than any in a real program the first GH_MAX_NAME bytes and "[...]" are printed. */
void gh_print_name(FILE *out, const char *name, bool json);

/* How many names have not been printed whole since this was last asked. */
uint64_t gh_print_names_cut(void);

/* A line on the terminal, while long work is done, that says what is and for how long. */

/* Work begins on the file PATH: "DOING PATH, N s" is shown after a second, and from then on each
 * second, if standard error is a terminal. DOING is fit for it. Until the end nothing else is to
 * print there. */
void gh_progress_begin(const char *doing, const char *path);

/* The work has ended: the line is wiped. */
void gh_progress_end(void);

struct gh_top;
struct gh_top_item;

/* As gh_top_finish, for rows; what memory ran out for is left out. */
const struct gh_top_item *gh_emit_top(struct gh_top *top, size_t *count);

/* A picture of objects, in the language of Graphviz's dot; it looks as pprof's do. */

struct gh_dot {
	FILE *out;      /* where it goes; not owned */
	FILE *label;    /* what is written to it is a label, quoted; owned */
	uint64_t whole; /* bytes that shares are of */
	uint64_t most;  /* bytes that the largest retains: it has the largest letters */
	unsigned notes; /* that were drawn */
};

/* How an edge is drawn. */
enum gh_dot_edge {
	GH_DOT_POINTER,
	GH_DOT_PATH,     /* of what keeps the object alive that was asked for */
	GH_DOT_INDIRECT, /* by way of what is not drawn */
};

/* Begins a picture on OUT. False if memory ran out. To be ended with gh_dot_close. */
bool gh_dot_open(struct gh_dot *dot, FILE *out);

/* Each of these begins something, whose label the caller then writes to dot->label, fit for a
 * person, and ends with gh_dot_end. A newline is one in the picture. */

/* The legend, in a corner. */
void gh_dot_legend(const struct gh_dot *dot);

/* Object NUMBER, which retains so many bytes. MARKED: it is the one that was asked for. */
void gh_dot_object(const struct gh_dot *dot, uint32_t number, uint64_t retained, bool marked);

/* A note that points to OBJECT, with a heavy line if it is on the path. */
void gh_dot_note(struct gh_dot *dot, uint32_t object, bool path);

/* An edge from one object to another, which retains so many bytes. */
void gh_dot_edge(const struct gh_dot *dot, uint32_t from, uint32_t to, uint64_t retained,
		 enum gh_dot_edge edge);

void gh_dot_end(const struct gh_dot *dot);

/* Ends the picture. */
void gh_dot_close(struct gh_dot *dot);

/* What goes wrong, on standard error. */

/* Prints ERR to standard error as the one line it is. */
void gh_print_error(const struct gh_error *err);

/* Prints what system call failed DOING something with FILE, as gh_fail_errno tells it. */
void gh_print_failure(const char *file, const char *doing);

/* Prints "goheap: ", the text of the printf FORMAT as gh_escape_print does, and a newline to
 * standard error. */
void gh_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says on standard error that a process was stopped for so many ns. */
void gh_say_paused(uint64_t paused);

/* Says once that memory ran out, for a part of what is printed that is left out: whoever finds that
 * need not have all of its callers know. The program then ends as one that failed. */
void gh_leave_out(void);

/* Whether something was. */
bool gh_has_left_out(void);

/* Ends the text that is printed to OUT, which open_memstream made with TEXT, NULL if it could not.
 * Returns the text, to be freed; NULL if memory ran out. */
char *gh_text_end(FILE *out, char **text);

/* PATH, NULL if there is none, may be written: it is not INPUT, NULL if there is none, by whatever
 * name. If it is, prints so and returns false. */
bool gh_check_output(const char *path, const char *input);

/* Prints to standard error what system call failed on PATH, as perror does, but escaped. */
void gh_print_errno(const char *path);

/* Prints to standard error that the file at PATH has COUNT of WHAT; nothing if COUNT is 0. */
void gh_print_warning(const char *path, uint64_t count, const char *what);

#endif
