#include "plugin/view/emit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/util/escape.h"

/* Texts up to this size are copied to the stack. */
#define SHORT_TEXT 256

/* Bytes of a text that gh_print_start prints. */
#define START 60

/* Counts from this on are rounded: 24.0 M. */
#define LARGE 1000000

/* Nothing is rounded. */
static bool is_exact;

/* Names that gh_print_name has not printed whole. */
static uint64_t names_cut;

void gh_print_in_blocks(void)
{
	/* The C library takes the size only of a buffer that it is given. */
	static char buffer[1 << 18];
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

char *gh_format_number(char *end, uint64_t value, bool commas)
{
	unsigned digits = 0;
	do {
		if (commas && digits > 0 && digits % 3 == 0)
			*--end = ',';
		*--end = (char)('0' + value % 10);
		digits++;
	} while ((value /= 10) > 0);
	return end;
}

void gh_print_exact(bool exact)
{
	is_exact = exact;
}

bool gh_prints_exact(void)
{
	return is_exact;
}

/* Puts VALUE as "1.50", "15.0", "150" and the unit that is that many thousands into BUF. */
static const char *round_text(double value, const char *const *units, char buf[GH_SIZE_TEXT])
{
	size_t unit = 0;
	for (; value >= 999.5; value /= 1000)
		unit++;
	int digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
	snprintf(buf, GH_SIZE_TEXT, "%.*f %s", digits, value, units[unit]);
	return buf;
}

const char *gh_number_text(uint64_t number, char buf[GH_SIZE_TEXT])
{
	static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};
	char *end = buf + GH_SIZE_TEXT - 1;
	if (!is_exact && number >= LARGE)
		return round_text((double)number, units, buf);
	*end = '\0';
	return gh_format_number(end, number, true);
}

void gh_print_number(FILE *out, uint64_t number)
{
	char text[GH_SIZE_TEXT];
	fputs(gh_number_text(number, text), out);
}

void gh_print_count(FILE *out, uint64_t count, const char *what)
{
	gh_print_number(out, count);
	fprintf(out, " %s%s", what, count == 1 ? "" : "s");
}

void gh_print_more(uint64_t shown, uint64_t count)
{
	if (count <= shown)
		return;
	fputs("and ", stdout);
	gh_print_number(stdout, count - shown);
	puts(" more: --limit 0 prints all");
}

void gh_minutes_print_as_go(FILE *out, uint64_t minutes)
{
	if (minutes > 0)
		fprintf(out, ", %" PRIu64 " minutes", minutes);
}

void gh_minutes_print(FILE *out, uint64_t minutes)
{
	if (minutes > 0)
		fprintf(out, ", %" PRIu64 " minute%s", minutes, minutes > 1 ? "s" : "");
}

const char *gh_size_text(uint64_t size, char buf[GH_SIZE_TEXT])
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
	char text[GH_SIZE_TEXT];
	if (!is_exact && size != 1)
		return round_text((double)size, units, buf);
	snprintf(buf, GH_SIZE_TEXT, "%s byte%s", gh_number_text(size, text), size == 1 ? "" : "s");
	return buf;
}

void gh_print_size(FILE *out, uint64_t size)
{
	char text[GH_SIZE_TEXT];
	fputs(gh_size_text(size, text), out);
}

void gh_time_print(FILE *out, uint64_t when)
{
	char text[32] = "?";
	time_t seconds = (time_t)when;
	struct tm local;
	if (localtime_r(&seconds, &local) != NULL)
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
	fputs(text, out);
}

void gh_age_print(FILE *out, uint64_t seconds)
{
	static const struct {
		uint64_t seconds;
		const char *name;
	} units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
	size_t i = 0;
	while (i < 3 && seconds < units[i].seconds)
		i++;
	fprintf(out, "%" PRIu64 " %s", seconds / units[i].seconds, units[i].name);
	uint64_t rest = i < 2 ? seconds % units[i].seconds / units[i + 1].seconds : 0;
	if (rest > 0)
		fprintf(out, " %" PRIu64 " %s", rest, units[i + 1].name);
}

/* TEXT is SIZE bytes and a NUL, and may have others within. */
static void print_text(FILE *out, char *text, size_t size)
{
	for (const char *end = text + size;; text++) {
		gh_escape_print(out, text);
		text += strlen(text);
		if (text == end)
			return;
		fputs("\\x00", out);
	}
}

static void print_json(FILE *out, char *text, size_t size)
{
	for (char *nul = text; (nul = memchr(nul, 0, size - (size_t)(nul - text))) != NULL;)
		*nul = '\xff';
	gh_escape_json(out, text);
}

void gh_print_bytes(FILE *out, const char *data, size_t size, bool json)
{
	char buffer[SHORT_TEXT];
	char *text = size < sizeof(buffer) ? buffer : malloc(size + 1);
	if (text == NULL) {
		fputs(json ? "null" : "?", out);
		return;
	}
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	(json ? print_json : print_text)(out, text, size);
	if (text != buffer)
		free(text);
}

void gh_print_slice(FILE *out, const struct gh_dump *dump, struct gh_dump_slice slice, bool json)
{
	struct gh_cursor bytes = gh_dump_bytes(dump, slice);
	gh_print_bytes(out, (const char *)bytes.start, gh_cursor_size(&bytes), json);
}

void gh_print_name(FILE *out, const char *name, bool json)
{
	static const char more[] = "[...]";
	char cut[GH_MAX_NAME + sizeof(more)];
	size_t length = gh_escape_name_length(name);
	if (name[length] != '\0') {
		memcpy(cut, name, length);
		memcpy(cut + length, more, sizeof(more));
		name = cut;
		names_cut++;
	}
	gh_escape_either(out, name, json);
}

uint64_t gh_print_names_cut(void)
{
	uint64_t count = names_cut;
	names_cut = 0;
	return count;
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

void gh_module_print(FILE *out, const char *module, const char *version)
{
	if (module != NULL) {
		fputs(", ", out);
		gh_escape_print(out, module);
	}
	if (version != NULL) {
		putc(' ', out);
		gh_escape_print(out, version);
	}
}
