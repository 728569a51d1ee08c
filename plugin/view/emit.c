#include "plugin/view/emit.h"

#include "lib/util/escape.h"
#include "plugin/view/open_dump.h"
#include "plugin/view/open_program.h"

/* Of an aligned table's columns. The numbers' is wider if need be. */
#define NUMBER_WIDTH  12
#define ADDRESS_WIDTH 16
#define SHARE_WIDTH   7

/* Column of a report's values. */
#define REPORT_WIDTH 17

/* Bytes of a text that are printed. */
#define START 60

/* Room for a number: its digits, a comma after each three, a sign, and a NUL. */
#define NUMBER_TEXT 32

/* VALUE in base 10 or 16, before END; gives where it begins. With COMMAS there is one after each
 * three digits. */
static char *format_number(char *end, uint64_t value, unsigned base, bool commas)
{
	unsigned digits = 0;
	do {
		if (commas && digits > 0 && digits % 3 == 0)
			*--end = ',';
		*--end = "0123456789abcdef"[value % base];
		digits++;
	} while ((value /= base) > 0);
	return end;
}

/* Prints the text from START to END after as many spaces as make it WIDTH characters. */
static void put_aligned(FILE *out, const char *start, const char *end, int width)
{
	for (int i = (int)(end - start); i < width; i++)
		putc_unlocked(' ', out);
	fwrite_unlocked(start, 1, (size_t)(end - start), out);
}

/* There are millions of numbers in some lists: printf takes several times as long. */
static void put_number(FILE *out, uint64_t value)
{
	char text[NUMBER_TEXT];
	char *end = text + sizeof(text);
	put_aligned(out, format_number(end, value, 10, false), end, 0);
}

static void put_signed(FILE *out, int64_t value)
{
	if (value < 0)
		putc_unlocked('-', out);
	put_number(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static void put_commas(FILE *out, uint64_t value, int width)
{
	char text[NUMBER_TEXT];
	char *end = text + sizeof(text);
	put_aligned(out, format_number(end, value, 10, true), end, width);
}

static void put_address(const struct gh_emit *emit, uint64_t value)
{
	char text[NUMBER_TEXT];
	char *end = text + sizeof(text);
	if (emit->json)
		*--end = '"';
	char *start = format_number(end, value, 16, false);
	*--start = 'x';
	*--start = '0';
	if (emit->json)
		*--start = '"';
	end = text + sizeof(text);
	put_aligned(emit->out, start, end,
		    emit->layout == GH_EMIT_TABLE && !emit->json ? ADDRESS_WIDTH : 0);
}

/* What is printed for a value that is not known. */
static const char *unknown(const struct gh_emit *emit)
{
	return emit->json ? "null" : emit->layout == GH_EMIT_REPORT ? "unknown" : "?";
}

/* An aligned table has column KIND on the right of its numbers, and texts are as long as they are.
 */
static bool is_text(enum gh_value kind)
{
	switch (kind) {
	case GH_VALUE_NUMBER:
	case GH_VALUE_SIGNED:
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
		char text[NUMBER_TEXT];
		char *end = text + sizeof(text);
		int length = (int)(end - format_number(end, dump->objects.bytes, 10, true));
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

/* Prints what a report says before a value. */
static void put_label(const struct gh_emit *emit, const char *key)
{
	int width = 0;
	for (; *key != '\0'; key++, width++)
		putc(*key == '_' ? ' ' : *key, emit->out);
	fprintf(emit->out, ":%*s", REPORT_WIDTH - width, "");
}

/* Prints what comes before the value of COLUMN. */
static void begin_value(struct gh_emit *emit, const struct gh_column *column)
{
	FILE *out = emit->out;
	if (emit->json) {
		if (!emit->open)
			putc_unlocked('{', out);
		else if (emit->started)
			putc_unlocked(',', out);
		emit->open = true;
		putc_unlocked('"', out);
		fputs_unlocked(column->key, out);
		fputs_unlocked("\":", out);
	} else if (emit->layout == GH_EMIT_REPORT) {
		put_label(emit, column->key);
	} else if (emit->layout == GH_EMIT_TABLE) {
		fputs_unlocked(is_text(column->kind) ? "  " : "", out);
	} else if (emit->started && column->kind != GH_VALUE_LIST) {
		putc_unlocked('\t', out);
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
		putc_unlocked('[', emit->out);
	column->print(emit, member);
	if (emit->json)
		putc_unlocked(']', emit->out);
	if (!more_values)
		emit->started = true;
}

static void print_signed(const struct gh_emit *emit, int64_t value)
{
	char text[NUMBER_TEXT];
	char *end = text + sizeof(text);
	if (emit->json || emit->layout != GH_EMIT_TABLE) {
		put_signed(emit->out, value);
		return;
	}
	char *start = format_number(end, value < 0 ? -(uint64_t)value : (uint64_t)value, 10, true);
	if (value != 0)
		*--start = value < 0 ? '-' : '+';
	put_aligned(emit->out, start, end, emit->width);
}

static void print_number(const struct gh_emit *emit, uint64_t value)
{
	if (emit->layout == GH_EMIT_TABLE && !emit->json)
		put_commas(emit->out, value, emit->width);
	else
		put_number(emit->out, value);
}

static void print_share(const struct gh_emit *emit, const struct gh_share *share)
{
	double whole = (double)share->whole;
	fprintf(emit->out, "%*.1f%%", SHARE_WIDTH - 1,
		share->whole > 0 ? 100 * (double)share->part / whole : 0);
}

/* Prints what is not known; an aligned table has no address then. */
static void print_unknown(const struct gh_emit *emit, enum gh_value kind)
{
	if (kind == GH_VALUE_KNOWN_ADDRESS && emit->layout == GH_EMIT_TABLE && !emit->json)
		fprintf(emit->out, "%*s", ADDRESS_WIDTH, "");
	else
		fputs_unlocked(unknown(emit), emit->out);
}

static void print_text(const struct gh_emit *emit, enum gh_value kind, const char *text)
{
	if (text == NULL || (kind == GH_VALUE_FILE && *text == '\0'))
		print_unknown(emit, kind);
	else if (kind == GH_VALUE_TEXT)
		gh_escape_either(emit->out, text, emit->json);
	else
		gh_print_name(emit->out, text, emit->json);
}

static void print_bytes(const struct gh_emit *emit, enum gh_value kind,
			const struct gh_bytes *bytes)
{
	if (bytes->data == NULL)
		print_unknown(emit, kind);
	else if (kind == GH_VALUE_READY)
		fwrite_unlocked(bytes->data, 1, bytes->size, emit->out);
	else
		gh_print_bytes(emit->out, bytes->data, bytes->size, emit->json);
}

static void print_slice(const struct gh_emit *emit, enum gh_value kind, struct gh_dump_slice slice)
{
	if (kind != GH_VALUE_SLICE && slice.offset == 0)
		print_unknown(emit, kind);
	else
		gh_print_slice(emit->out, emit->dump, slice, emit->json);
}

static void print_known(const struct gh_emit *emit, enum gh_value kind,
			const struct gh_known *number)
{
	if (!number->known)
		print_unknown(emit, kind);
	else if (kind == GH_VALUE_KNOWN_NUMBER)
		print_number(emit, number->value);
	else
		put_address(emit, number->value);
}

static void print_bool(const struct gh_emit *emit, bool value)
{
	const char *no = emit->json ? "false" : "no";
	const char *yes = emit->json ? "true" : "yes";
	fputs_unlocked(value ? yes : no, emit->out);
}

static void print_value(struct gh_emit *emit, const struct gh_column *column, const void *member)
{
	enum gh_value kind = column->kind;
	switch (kind) {
	case GH_VALUE_END:
		break;
	case GH_VALUE_NUMBER:
		print_number(emit, *(const uint64_t *)member);
		break;
	case GH_VALUE_SIGNED:
		print_signed(emit, *(const int64_t *)member);
		break;
	case GH_VALUE_LINE:
		put_signed(emit->out, *(const int32_t *)member);
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

void gh_emit_values(struct gh_emit *emit, const struct gh_column *columns, const void *row)
{
	for (; columns->kind != GH_VALUE_END; columns++) {
		const void *member = (const char *)row + columns->offset;
		if (columns->only == (emit->json ? GH_IN_TEXT : GH_IN_JSON) ||
		    (columns->optional && emit->json && !is_there(columns, member)))
			continue;
		begin_value(emit, columns);
		print_value(emit, columns, member);
		if (emit->layout == GH_EMIT_REPORT && !emit->json)
			putc_unlocked('\n', emit->out);
	}
}

void gh_emit_end(struct gh_emit *emit)
{
	if (emit->json)
		fputs_unlocked(emit->open ? "}\n" : "{}\n", emit->out);
	else if (emit->layout != GH_EMIT_REPORT)
		putc_unlocked('\n', emit->out);
	emit->open = false;
	emit->started = false;
	emit->rows++;
}

void gh_emit_row(struct gh_emit *emit, const struct gh_column *columns, const void *row)
{
	gh_emit_values(emit, columns, row);
	gh_emit_end(emit);
}

void gh_emit_open(struct gh_emit *emit)
{
	if (!emit->json)
		return;
	putc_unlocked('{', emit->out);
	emit->open = true;
	emit->started = false;
}

void gh_emit_close(struct gh_emit *emit)
{
	if (!emit->json)
		return;
	putc_unlocked('}', emit->out);
	emit->started = true;
}

void gh_emit_object(struct gh_emit *emit, const struct gh_column *columns, const void *row)
{
	gh_emit_open(emit);
	gh_emit_values(emit, columns, row);
	gh_emit_close(emit);
}

void gh_emit_next(struct gh_emit *emit)
{
	if (emit->json && emit->started)
		putc_unlocked(',', emit->out);
	else if (emit->started && emit->layout == GH_EMIT_REPORT)
		putc_unlocked(' ', emit->out);
	emit->started |= emit->json || emit->layout == GH_EMIT_REPORT;
}

void gh_emit_next_line(struct gh_emit *emit)
{
	bool first = !emit->started;
	gh_emit_next(emit);
	if (!first)
		putc_unlocked('\n', emit->out);
}

void gh_emit_item(struct gh_emit *emit, const struct gh_column *columns, const void *row)
{
	gh_emit_next(emit);
	gh_emit_object(emit, columns, row);
}

void gh_emit_item_number(struct gh_emit *emit, uint64_t number)
{
	gh_emit_next(emit);
	put_number(emit->out, number);
}

void gh_print_count(uint64_t count, const char *what)
{
	put_commas(stdout, count, 0);
	printf(" %s%s", what, count == 1 ? "" : "s");
}

void gh_print_more(uint64_t shown, uint64_t count)
{
	if (count <= shown)
		return;
	fputs("and ", stdout);
	put_commas(stdout, count - shown, 0);
	puts(" more: --limit 0 prints all");
}

void gh_emit_finish(const struct gh_emit *emit, uint64_t count)
{
	if (!emit->json)
		gh_print_more(emit->rows, count);
}

void gh_print_start(const char *data, size_t length)
{
	size_t shown = length;
	if (length > START) {
		shown = START;
		/* A character is not cut. */
		while (shown > 0 && ((uint8_t)data[shown] & 0xc0) == 0x80)
			shown--;
	}
	gh_print_bytes(stdout, data, shown, false);
	if (shown < length)
		fputs("...", stdout);
}
