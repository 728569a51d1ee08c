#include "plugin/view/emit.h"

#include <string.h>

#include "lib/util/escape.h"
#include "plugin/view/view.h"

/* Of an aligned table's columns, of which the numbers' is wider if need be, and a report's. */
#define NUMBER_WIDTH  12
#define ADDRESS_WIDTH 16
#define SHARE_WIDTH   7
#define REPORT_WIDTH  17

/* Writes what has been put together of a row. There are millions of rows in some lists: a write for
 * each value takes twice as long. */
static void flush(struct gh_emit *emit)
{
	fwrite_unlocked(emit->line, 1, emit->used, emit->out);
	emit->used = 0;
}

/* Where the next SIZE bytes of the row go, if they fit a line at all. */
static char *find_room(struct gh_emit *emit, size_t size)
{
	if (size > sizeof(emit->line) - emit->used)
		flush(emit);
	return emit->line + emit->used;
}

static void put(struct gh_emit *emit, const char *data, size_t size)
{
	if (size <= sizeof(emit->line)) {
		memcpy(find_room(emit, size), data, size);
		emit->used += size;
	} else {
		flush(emit);
		fwrite_unlocked(data, 1, size, emit->out);
	}
}

static void put_char(struct gh_emit *emit, char c)
{
	*find_room(emit, 1) = c;
	emit->used++;
}

static void put_text(struct gh_emit *emit, const char *text)
{
	put(emit, text, strlen(text));
}

/* Puts the text from START to END after as many spaces as make it WIDTH characters. */
static void put_aligned(struct gh_emit *emit, const char *start, const char *end, int width)
{
	for (int i = (int)(end - start); i < width; i++)
		put_char(emit, ' ');
	put(emit, start, (size_t)(end - start));
}

static void put_number(struct gh_emit *emit, uint64_t value)
{
	char text[GH_NUMBER_TEXT];
	char *end = text + sizeof(text);
	char *start = gh_format_number(end, value, false);
	put(emit, start, (size_t)(end - start));
}

static void put_signed(struct gh_emit *emit, int64_t value)
{
	if (value < 0)
		put_char(emit, '-');
	put_number(emit, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static void put_address(struct gh_emit *emit, uint64_t value)
{
	int digits = (67 - __builtin_clzll(value | 1)) / 4;
	bool aligned = emit->layout == GH_EMIT_TABLE && !emit->json;
	for (int i = digits + 2; aligned && i < ADDRESS_WIDTH; i++)
		put_char(emit, ' ');
	char *room = find_room(emit, GH_NUMBER_TEXT);
	char *out = room;
	if (emit->json)
		*out++ = '"';
	*out++ = '0';
	*out++ = 'x';
	while (digits-- > 0)
		*out++ = "0123456789abcdef"[value >> 4 * digits & 15];
	if (emit->json)
		*out++ = '"';
	emit->used += (size_t)(out - room);
}

/* What is printed for a value that is not known. */
static const char *unknown(const struct gh_emit *emit)
{
	return emit->json ? "null" : emit->layout == GH_EMIT_REPORT ? "unknown" : "?";
}

/* An aligned table has columns of KIND behind its numbers; texts are as long as they are. */
static bool is_text(enum gh_value kind)
{
	switch (kind) {
	case GH_VALUE_NUMBER:
	case GH_VALUE_SIGNED:
	case GH_VALUE_SIZE:
	case GH_VALUE_SIZE_GROWTH:
	case GH_VALUE_ADDRESS:
	case GH_VALUE_KNOWN_ADDRESS:
	case GH_VALUE_SHARE:
		return false;
	default:
		return true;
	}
}

struct gh_emit gh_emit_start(FILE *out, enum gh_emit_layout layout, const struct gh_dump *dump,
			     bool json)
{
	struct gh_emit emit = {
	    .out = out, .dump = dump, .layout = layout, .json = json, .width = NUMBER_WIDTH};
	if (layout == GH_EMIT_TABLE && dump != NULL) {
		char text[GH_NUMBER_TEXT];
		char *end = text + sizeof(text);
		int length = (int)(end - gh_format_number(end, dump->objects.bytes, true));
		if (length + 2 > NUMBER_WIDTH)
			emit.width = length + 2;
	}
	return emit;
}

static int column_width(const struct gh_emit *emit, enum gh_value kind)
{
	if (kind == GH_VALUE_SHARE)
		return SHARE_WIDTH;
	return kind == GH_VALUE_ADDRESS || kind == GH_VALUE_KNOWN_ADDRESS ? ADDRESS_WIDTH
									  : emit->width;
}

void gh_emit_titles(struct gh_emit *emit, const struct gh_column *columns)
{
	if (emit->json)
		return;
	for (; columns->kind != GH_VALUE_END; columns++) {
		const char *title = columns->title != NULL ? columns->title : columns->key;
		if (columns->only == GH_IN_JSON)
			continue;
		if (is_text(columns->kind))
			fprintf(emit->out, "  %s", title);
		else
			fprintf(emit->out, "%*s", column_width(emit, columns->kind), title);
	}
	putc('\n', emit->out);
}

/* Puts what a report says before a value; a long one needs no column. */
static void put_label(struct gh_emit *emit, const char *key)
{
	int width = (int)strlen(key);
	for (; *key != '\0'; key++)
		put_char(emit, *key == '_' ? ' ' : *key);
	put_char(emit, ':');
	for (; width < REPORT_WIDTH; width++)
		put_char(emit, ' ');
}

/* Prints what comes before the value of COLUMN. */
static void begin_value(struct gh_emit *emit, const struct gh_column *column)
{
	if (emit->json) {
		if (!emit->open)
			put_char(emit, '{');
		else if (emit->started)
			put_char(emit, ',');
		emit->open = true;
		put_char(emit, '"');
		put_text(emit, column->key);
		put_text(emit, "\":");
	} else if (emit->layout == GH_EMIT_REPORT) {
		put_label(emit, column->title != NULL ? column->title : column->key);
	} else if (emit->layout == GH_EMIT_TABLE) {
		put_text(emit, is_text(column->kind) ? "  " : "");
	} else if (emit->started && column->kind != GH_VALUE_LIST) {
		put_char(emit, '\t');
	}
	/* The items of a list in rows of text are more values of the row. */
	emit->started |= column->kind != GH_VALUE_LIST;
}

static void print_list(struct gh_emit *emit, const struct gh_column *column, const void *member)
{
	bool more_values = !emit->json && emit->layout == GH_EMIT_ROWS;
	if (!more_values)
		emit->started = false;
	if (emit->json)
		put_char(emit, '[');
	flush(emit);
	column->print(emit, member);
	if (emit->json)
		put_char(emit, ']');
	if (!more_values)
		emit->started = true;
}

/* Texts are for a person: numbers in them are rounded, or have commas. */
static bool is_for_person(const struct gh_emit *emit)
{
	return emit->layout == GH_EMIT_TABLE && !emit->json;
}

/* Puts VALUE for a person after SIGN. Where a size is exact the title says that it is bytes. */
static void put_for_person(struct gh_emit *emit, uint64_t value, bool is_size, const char *sign)
{
	char text[GH_SIZE_TEXT];
	char after[GH_SIZE_TEXT + 1];
	bool is_rounded = is_size && !gh_prints_exact();
	snprintf(after, sizeof(after), "%s%s", sign,
		 is_rounded ? gh_size_text(value, text) : gh_number_text(value, text));
	put_aligned(emit, after, after + strlen(after), emit->width);
}

static void print_signed(struct gh_emit *emit, int64_t value, bool is_size)
{
	uint64_t number = value < 0 ? -(uint64_t)value : (uint64_t)value;
	if (is_for_person(emit))
		put_for_person(emit, number, is_size, value < 0 ? "-" : value > 0 ? "+" : "");
	else
		put_signed(emit, value);
}

static void print_number(struct gh_emit *emit, uint64_t value, bool is_size)
{
	char text[GH_SIZE_TEXT];
	if (is_for_person(emit))
		put_for_person(emit, value, is_size, "");
	else if (is_size && emit->layout == GH_EMIT_REPORT && !emit->json && !gh_prints_exact())
		put_text(emit, gh_size_text(value, text));
	else
		put_number(emit, value);
}

static void print_share(struct gh_emit *emit, const struct gh_share *share)
{
	char text[GH_NUMBER_TEXT];
	double part = (double)share->part;
	double whole = (double)share->whole;
	snprintf(text, sizeof(text), "%*.1f%%", SHARE_WIDTH - 1,
		 share->whole > 0 ? 100 * part / whole : 0);
	put_text(emit, text);
}

static void print_unknown(struct gh_emit *emit, enum gh_value kind)
{
	bool blank = kind == GH_VALUE_KNOWN_ADDRESS && emit->layout == GH_EMIT_TABLE && !emit->json;
	const char *text = blank ? "" : unknown(emit);
	put_aligned(emit, text, text + strlen(text), blank ? ADDRESS_WIDTH : 0);
}

static void print_text(struct gh_emit *emit, enum gh_value kind, const char *text)
{
	if (text == NULL || (kind == GH_VALUE_FILE && *text == '\0')) {
		print_unknown(emit, kind);
		return;
	}
	flush(emit);
	if (kind == GH_VALUE_TEXT)
		gh_escape_either(emit->out, text, emit->json);
	else
		gh_print_name(emit->out, text, emit->json);
}

static void print_bytes(struct gh_emit *emit, enum gh_value kind, const struct gh_bytes *bytes)
{
	if (bytes->data == NULL) {
		print_unknown(emit, kind);
	} else if (kind == GH_VALUE_READY) {
		put(emit, bytes->data, bytes->size);
	} else {
		flush(emit);
		gh_print_bytes(emit->out, bytes->data, bytes->size, emit->json);
	}
}

static void print_slice(struct gh_emit *emit, enum gh_value kind, struct gh_dump_slice slice)
{
	if (kind != GH_VALUE_SLICE && slice.offset == 0) {
		print_unknown(emit, kind);
		return;
	}
	flush(emit);
	gh_print_slice(emit->out, emit->dump, slice, emit->json);
}

static void print_known(struct gh_emit *emit, enum gh_value kind, const struct gh_known *number)
{
	if (!number->known)
		print_unknown(emit, kind);
	else if (kind == GH_VALUE_KNOWN_NUMBER)
		print_number(emit, number->value, false);
	else
		put_address(emit, number->value);
}

static void print_bool(struct gh_emit *emit, bool value)
{
	const char *no = emit->json ? "false" : "no";
	const char *yes = emit->json ? "true" : "yes";
	put_text(emit, value ? yes : no);
}

static void print_value(struct gh_emit *emit, const struct gh_column *column, const void *member)
{
	enum gh_value kind = column->kind;
	switch (kind) {
	case GH_VALUE_END:
		break;
	case GH_VALUE_NUMBER:
	case GH_VALUE_SIZE:
		print_number(emit, *(const uint64_t *)member, kind == GH_VALUE_SIZE);
		break;
	case GH_VALUE_SIGNED:
	case GH_VALUE_SIZE_GROWTH:
		print_signed(emit, *(const int64_t *)member, kind == GH_VALUE_SIZE_GROWTH);
		break;
	case GH_VALUE_LINE:
		put_signed(emit, *(const int32_t *)member);
		break;
	case GH_VALUE_ADDRESS:
		put_address(emit, *(const uint64_t *)member);
		break;
	case GH_VALUE_BOOL:
		print_bool(emit, *(const bool *)member);
		break;
	case GH_VALUE_TEXT:
	case GH_VALUE_NAME:
	case GH_VALUE_FILE:
		print_text(emit, kind, *(const char *const *)member);
		break;
	case GH_VALUE_BYTES:
	case GH_VALUE_READY:
		print_bytes(emit, kind, member);
		break;
	case GH_VALUE_SLICE:
	case GH_VALUE_KNOWN_SLICE:
		print_slice(emit, kind, *(const struct gh_dump_slice *)member);
		break;
	case GH_VALUE_TYPE_NAME:
		print_slice(emit, kind,
			    gh_dumpfile_type_name(emit->dump, *(const uint64_t *)member));
		break;
	case GH_VALUE_KNOWN_NUMBER:
	case GH_VALUE_KNOWN_ADDRESS:
		print_known(emit, kind, member);
		break;
	case GH_VALUE_SHARE:
		print_share(emit, member);
		break;
	case GH_VALUE_PRINTED:
		flush(emit);
		column->print(emit, member);
		break;
	case GH_VALUE_LIST:
		print_list(emit, column, member);
		break;
	}
}

/* The value of COLUMN, which is optional, is there. */
static bool is_there(const struct gh_column *column, const void *member)
{
	switch (column->kind) {
	case GH_VALUE_BOOL:
		return *(const bool *)member;
	case GH_VALUE_TEXT:
	case GH_VALUE_NAME:
		return *(const char *const *)member != NULL;
	case GH_VALUE_FILE:
		return **(const char *const *)member != '\0';
	case GH_VALUE_BYTES:
	case GH_VALUE_READY:
		return ((const struct gh_bytes *)member)->data != NULL;
	case GH_VALUE_KNOWN_SLICE:
		return ((const struct gh_dump_slice *)member)->offset != 0;
	case GH_VALUE_KNOWN_NUMBER:
	case GH_VALUE_KNOWN_ADDRESS:
		return ((const struct gh_known *)member)->known;
	default:
		return true;
	}
}

static void put_values(struct gh_emit *emit, const struct gh_column *columns, const void *row)
{
	for (; columns->kind != GH_VALUE_END; columns++) {
		const void *member = (const char *)row + columns->offset;
		if (columns->only == (emit->json ? GH_IN_TEXT : GH_IN_JSON) ||
		    (columns->optional && emit->json && !is_there(columns, member)))
			continue;
		begin_value(emit, columns);
		print_value(emit, columns, member);
		if (emit->layout == GH_EMIT_REPORT && !emit->json)
			put_char(emit, '\n');
	}
}

/* Others may print to the same stream: nothing is left here when a function returns. */
void gh_emit_values(struct gh_emit *emit, const struct gh_column *columns, const void *row)
{
	put_values(emit, columns, row);
	flush(emit);
}

void gh_emit_end(struct gh_emit *emit)
{
	if (emit->json)
		put_text(emit, emit->open ? "}\n" : "{}\n");
	else if (emit->layout != GH_EMIT_REPORT)
		put_char(emit, '\n');
	flush(emit);
	emit->open = false;
	emit->started = false;
	emit->rows++;
}

void gh_emit_row(struct gh_emit *emit, const struct gh_column *columns, const void *row)
{
	put_values(emit, columns, row);
	gh_emit_end(emit);
}

static void put_open(struct gh_emit *emit)
{
	if (!emit->json)
		return;
	put_char(emit, '{');
	emit->open = true;
	emit->started = false;
}

static void put_close(struct gh_emit *emit)
{
	if (!emit->json)
		return;
	put_char(emit, '}');
	emit->started = true;
}

void gh_emit_open(struct gh_emit *emit)
{
	put_open(emit);
	flush(emit);
}

void gh_emit_close(struct gh_emit *emit)
{
	put_close(emit);
	flush(emit);
}

void gh_emit_object(struct gh_emit *emit, const struct gh_column *columns, const void *row)
{
	put_open(emit);
	put_values(emit, columns, row);
	put_close(emit);
	flush(emit);
}

/* Puts what is before an item. */
static void put_next(struct gh_emit *emit)
{
	if (emit->started && (emit->json || emit->layout == GH_EMIT_REPORT))
		put_char(emit, emit->json ? ',' : ' ');
	emit->started |= emit->json || emit->layout == GH_EMIT_REPORT;
}

void gh_emit_next(struct gh_emit *emit)
{
	put_next(emit);
	flush(emit);
}

void gh_emit_item(struct gh_emit *emit, const struct gh_column *columns, const void *row)
{
	put_next(emit);
	gh_emit_object(emit, columns, row);
}

void gh_emit_item_number(struct gh_emit *emit, uint64_t number)
{
	put_next(emit);
	put_number(emit, number);
	flush(emit);
}

void gh_emit_finish(const struct gh_emit *emit, uint64_t count)
{
	if (!emit->json)
		gh_print_more(emit->rows, count);
}
