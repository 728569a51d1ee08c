#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/escape.h"
#include "plugin/sql/internal.h"

/* Rows by which a table's columns get their widths, the bytes that these may take, and the widest
 * text that makes a column, in characters. */
#define FIRST_ROWS 1000
#define FIRST_SIZE (1 << 20)
#define WIDEST     80

/* A column of the result. */
struct cell {
	sqlite3_stmt *statement;
	int number;
	bool is_address;
	char *title;  /* owned */
	int width;    /* in a table */
	bool is_text; /* in a table: it begins at the left */
};

struct result {
	struct cell *cells; /* by number; owned */
	int count;
	FILE *out;
	struct GH_VECTOR(char *) texts; /* of a table's first rows; each owned */
	size_t size;                    /* of these texts, in bytes */
};

/* The address that CELL is; in an expression SQLite does not know that it is one. */
static uint64_t address_of(const struct cell *cell)
{
	return (uint64_t)sqlite3_column_int64(cell->statement, cell->number);
}

/* Prints a blob as hexadecimal digits. */
static void print_blob(FILE *out, const struct cell *cell)
{
	const unsigned char *data = sqlite3_column_blob(cell->statement, cell->number);
	int size = sqlite3_column_bytes(cell->statement, cell->number);
	for (int i = 0; i < size; i++)
		fprintf(out, "%02x", data[i]);
}

/* Takes a value as a text, of *SIZE bytes. */
static const char *text_of(const struct cell *cell, size_t *size)
{
	const char *text = (const char *)sqlite3_column_text(cell->statement, cell->number);
	*size = (size_t)sqlite3_column_bytes(cell->statement, cell->number);
	if (text == NULL)
		gh_leave_out();
	return text != NULL ? text : "";
}

/* Prints a value that is no text and not NULL. */
static void print_plain(FILE *out, const struct cell *cell)
{
	size_t size;
	int type = sqlite3_column_type(cell->statement, cell->number);
	if (type == SQLITE_BLOB)
		print_blob(out, cell);
	else if (type == SQLITE_INTEGER && cell->is_address)
		fprintf(out, "0x%" PRIx64, address_of(cell));
	else
		fputs(text_of(cell, &size), out);
}

/* JSON. */

static void print_json(struct gh_emit *emit, const void *member)
{
	const struct cell *cell = member;
	size_t size;
	int type = sqlite3_column_type(cell->statement, cell->number);
	bool is_quoted = type == SQLITE_BLOB || (type == SQLITE_INTEGER && cell->is_address);
	if (type == SQLITE_NULL || (type == SQLITE_FLOAT && !isfinite(sqlite3_column_double(
								cell->statement, cell->number)))) {
		fputs("null", emit->out);
	} else if (type == SQLITE_TEXT) {
		const char *text = text_of(cell, &size);
		gh_print_bytes(emit->out, text, size, true);
	} else {
		fputs(is_quoted ? "\"" : "", emit->out);
		print_plain(emit->out, cell);
		fputs(is_quoted ? "\"" : "", emit->out);
	}
}

/* TITLE as it stands between the quotes of a JSON string, to be freed. NULL if memory ran out. */
static char *make_key(const char *title)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (out == NULL)
		return NULL;
	gh_escape_json(out, title);
	text = gh_text_end(out, &text);
	if (text == NULL)
		return NULL;
	text[size - 1] = '\0';
	memmove(text, text + 1, size - 1);
	return text;
}

static int print_json_rows(struct result *result)
{
	struct gh_column *columns = calloc((size_t)result->count + 1, sizeof(*columns));
	struct gh_emit emit = gh_emit_start(result->out, GH_EMIT_ROWS, NULL, true);
	int status = SQLITE_NOMEM;
	bool made = columns != NULL;
	for (int i = 0; made && i < result->count; i++) {
		columns[i] = (struct gh_column){
		    .key = make_key(result->cells[i].title),
		    .kind = GH_VALUE_PRINTED,
		    .offset = (size_t)i * sizeof(struct cell),
		    .print = print_json,
		};
		made = columns[i].key != NULL;
	}
	while (made && (status = sqlite3_step(result->cells->statement)) == SQLITE_ROW)
		gh_emit_row(&emit, columns, result->cells);
	for (int i = 0; columns != NULL && i < result->count; i++)
		free((char *)columns[i].key);
	free(columns);
	return status;
}

/* CSV. */

/* Prints SIZE bytes of TEXT, in quotes if need be. A terminal gets nothing that it acts on,
 * although CSV has no form for that. */
static void print_csv_text(FILE *out, const char *text, size_t size, bool is_terminal)
{
	bool is_quoted = size == 0;
	for (size_t i = 0; i < size && !is_quoted; i++)
		is_quoted = strchr(",\"\r\n", text[i]) != NULL;
	if (is_quoted)
		putc('"', out);
	for (size_t i = 0; i < size && !is_terminal; i++) {
		if (text[i] == '"')
			putc('"', out);
		putc(text[i], out);
	}
	if (is_terminal)
		gh_print_bytes(out, text, size, false);
	if (is_quoted)
		putc('"', out);
}

static void print_csv_cell(FILE *out, const struct cell *cell, bool is_terminal)
{
	size_t size;
	int type = sqlite3_column_type(cell->statement, cell->number);
	if (type == SQLITE_TEXT) {
		const char *text = text_of(cell, &size);
		print_csv_text(out, text, size, is_terminal);
	} else if (type != SQLITE_NULL) {
		print_plain(out, cell);
	}
}

static int print_csv_rows(struct result *result)
{
	bool is_terminal = isatty(fileno(result->out));
	int status;
	for (int i = 0; i < result->count; i++) {
		fputs(i > 0 ? "," : "", result->out);
		print_csv_text(result->out, result->cells[i].title, strlen(result->cells[i].title),
			       is_terminal);
	}
	putc('\n', result->out);
	while ((status = sqlite3_step(result->cells->statement)) == SQLITE_ROW) {
		for (int i = 0; i < result->count; i++) {
			fputs(i > 0 ? "," : "", result->out);
			print_csv_cell(result->out, &result->cells[i], is_terminal);
		}
		putc('\n', result->out);
	}
	return status;
}

/* A table. */

/* CELL's value for a person, to be freed. NULL if memory ran out. */
static char *make_text(const struct cell *cell)
{
	char *made = NULL;
	size_t size;
	FILE *out = open_memstream(&made, &size);
	int type = sqlite3_column_type(cell->statement, cell->number);
	if (out == NULL)
		return NULL;
	if (type == SQLITE_TEXT) {
		const char *text = text_of(cell, &size);
		gh_print_bytes(out, text, size, false);
	} else if (type != SQLITE_NULL) {
		print_plain(out, cell);
	}
	return gh_text_end(out, &made);
}

/* How many characters TEXT has, which is UTF-8. */
static int count_characters(const char *text)
{
	int count = 0;
	for (; *text != '\0'; text++)
		count += (*text & 0xc0) != 0x80;
	return count;
}

/* Prints TEXT as cell NUMBER of a line. */
static void print_cell(const struct result *result, int number, const char *text)
{
	const struct cell *cell = &result->cells[number];
	int room = cell->width - count_characters(text);
	bool is_last = number + 1 == result->count;
	if (!cell->is_text && room > 0)
		fprintf(result->out, "%*s", room, "");
	fputs(text, result->out);
	if (cell->is_text && room > 0 && !is_last)
		fprintf(result->out, "%*s", room, "");
	fputs(is_last ? "\n" : "  ", result->out);
}

static void widen(struct cell *cell, const char *text)
{
	int width = count_characters(text);
	if (width > cell->width)
		cell->width = width < WIDEST ? width : WIDEST;
}

/* Prints the titles, and the rows that are kept. */
static bool print_first(struct result *result)
{
	for (int i = 0; i < result->count; i++) {
		char *title = NULL;
		size_t size;
		FILE *out = open_memstream(&title, &size);
		if (out != NULL)
			gh_escape_print(out, result->cells[i].title);
		title = gh_text_end(out, &title);
		if (title == NULL)
			return false;
		widen(&result->cells[i], title);
		print_cell(result, i, title);
		free(title);
	}
	for (size_t i = 0; i < result->texts.count; i++)
		print_cell(result, (int)(i % (size_t)result->count), result->texts.items[i]);
	return true;
}

/* Keeps the row, as one of the first. */
static bool keep_row(struct result *result)
{
	for (int i = 0; i < result->count; i++) {
		struct cell *cell = &result->cells[i];
		int type = sqlite3_column_type(cell->statement, cell->number);
		cell->is_text |= type == SQLITE_TEXT || type == SQLITE_BLOB;
		char *text = make_text(cell);
		if (text == NULL || !gh_vector_push(&result->texts, text)) {
			free(text);
			return false;
		}
		widen(cell, text);
		result->size += strlen(text);
	}
	return true;
}

static bool print_row(const struct result *result)
{
	for (int i = 0; i < result->count; i++) {
		char *text = make_text(&result->cells[i]);
		if (text == NULL)
			return false;
		print_cell(result, i, text);
		free(text);
	}
	return true;
}

/* The row has so long values that it is printed value by value, and has no part in the widths. */
static bool is_long(const struct result *result)
{
	sqlite3_stmt *statement = result->cells->statement;
	int64_t size = 0;
	for (int i = 0; i < result->count; i++) {
		int type = sqlite3_column_type(statement, i);
		if (type == SQLITE_TEXT || type == SQLITE_BLOB)
			size += sqlite3_column_bytes(statement, i);
	}
	return size > FIRST_SIZE;
}

static int print_table_rows(struct result *result)
{
	sqlite3_stmt *statement = result->cells->statement;
	int status;
	size_t first = 0;
	while ((status = sqlite3_step(statement)) == SQLITE_ROW && first++ < FIRST_ROWS &&
	       result->size < FIRST_SIZE && !is_long(result))
		if (!keep_row(result))
			return SQLITE_NOMEM;
	if (status != SQLITE_ROW && status != SQLITE_DONE)
		return status;
	if (!print_first(result))
		return SQLITE_NOMEM;
	for (; status == SQLITE_ROW; status = sqlite3_step(statement))
		if (!print_row(result))
			return SQLITE_NOMEM;
	return status;
}

/* The title of column NUMBER; of those that are called the same, with which of them it is, as a
 * JSON object has each once. To be freed; NULL if memory ran out. */
static char *make_title(sqlite3_stmt *statement, int number)
{
	const char *name = sqlite3_column_name(statement, number);
	int before = 0;
	char *title;
	for (int i = 0; name != NULL && i < number; i++)
		before += strcmp(sqlite3_column_name(statement, i), name) == 0;
	if (name == NULL || (before > 0 ? asprintf(&title, "%s:%d", name, before)
					: asprintf(&title, "%s", name)) < 0)
		return NULL;
	return title;
}

static bool make_cells(struct result *result, sqlite3_stmt *statement)
{
	result->cells = calloc((size_t)result->count + 1, sizeof(*result->cells));
	for (int i = 0; result->cells != NULL && i < result->count; i++) {
		const char *type = sqlite3_column_decltype(statement, i);
		result->cells[i] = (struct cell){
		    .statement = statement,
		    .number = i,
		    .is_address = type != NULL && strcmp(type, GH_SQL_ADDRESS) == 0,
		    .title = make_title(statement, i),
		};
		if (result->cells[i].title == NULL)
			return false;
	}
	return result->cells != NULL;
}

int gh_sql_print_rows(sqlite3_stmt *statement, enum gh_sql_form form, FILE *out)
{
	struct result result = {.count = sqlite3_column_count(statement), .out = out};
	int status = SQLITE_NOMEM;
	if (make_cells(&result, statement))
		status = form == GH_SQL_JSON  ? print_json_rows(&result)
			 : form == GH_SQL_CSV ? print_csv_rows(&result)
					      : print_table_rows(&result);
	for (size_t i = 0; i < result.texts.count; i++)
		free(result.texts.items[i]);
	gh_vector_free(&result.texts);
	for (int i = 0; result.cells != NULL && i < result.count; i++)
		free(result.cells[i].title);
	free(result.cells);
	return status;
}
