#include "lib/util/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* U+FFFD. */
#define REPLACEMENT "\xef\xbf\xbd"

/* One character of a text. */
struct character {
	uint32_t code; /* the code point; the byte itself if it is not UTF-8 */
	size_t size;   /* in bytes, at least 1 */
	bool valid;    /* it is UTF-8 */
};

/* Room for the escaped form of one character of four bytes, "\xNN" each. */
#define MAX_ESCAPED 16

/* The number of bytes after a lead byte, and the bits of the code point in it. */
static size_t lead_byte(uint8_t byte, uint32_t *bits)
{
	if (byte >= 0xc2 && byte <= 0xdf) {
		*bits = byte & 0x1f;
		return 1;
	}
	if (byte >= 0xe0 && byte <= 0xef) {
		*bits = byte & 0x0f;
		return 2;
	}
	if (byte >= 0xf0 && byte <= 0xf4) {
		*bits = byte & 0x07;
		return 3;
	}
	return 0;
}

/* The character at TEXT, which is not at its end. Overlong forms and surrogates are not UTF-8. */
static struct character next_character(const char *text)
{
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
	const uint8_t *bytes = (const uint8_t *)text;
	struct character bad = {bytes[0], 1, false};
	if (bytes[0] < 0x80)
		return (struct character){bytes[0], 1, true};

	uint32_t code = 0;
	size_t more = lead_byte(bytes[0], &code);
	if (more == 0)
		return bad;
	for (size_t i = 1; i <= more; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return bad;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return bad;
	return (struct character){code, more + 1, true};
}

/* A terminal acts on it, or a line reads as another: the characters of Unicode's general categories
 * Cc (C0 and C1 control characters), Zl and Zp (line and paragraph separators; UnicodeData.txt) and
 * of the property Bidi_Control (those that turn the direction of writing; PropList.txt and UAX #9).
 * Others without a glyph stay: names in some languages need U+200C and U+200D, and a terminal does
 * nothing at U+FEFF. None of all these can be in an identifier of Go's, which is letters and
 * digits. */
static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x061c ||
	       (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

/* The character at the start of the SIZE bytes at TEXT, SIZE not being 0; what comes after them is
 * not its. */
static struct character first_character(const char *text, size_t size)
{
	char place[5] = {0};
	memcpy(place, text, size < 4 ? size : 4);
	return next_character(place);
}

/* How many bytes at the start of TEXT can go out as they are: in most names, all. */
static size_t plain_prefix(const char *text)
{
	size_t n = 0;
	while (text[n] >= ' ' && text[n] <= '~' && text[n] != '\\' && text[n] != '"')
		n++;
	return n;
}

/* Writes the form for a person of character C, which is at TEXT, to OUT. Returns its length. */
static size_t escape_character(char out[MAX_ESCAPED], const char *text, struct character c)
{
	static const char hex[] = "0123456789abcdef";
	const char *letter = c.code == '\n'   ? "\\n"
			     : c.code == '\t' ? "\\t"
			     : c.code == '\\' ? "\\\\"
					      : NULL;
	if (letter != NULL) {
		memcpy(out, letter, 2);
		return 2;
	}
	if (c.valid && !is_control(c.code)) {
		memcpy(out, text, c.size);
		return c.size;
	}
	for (size_t i = 0; i < c.size; i++) {
		uint8_t byte = (uint8_t)text[i];
		char escape[4] = {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
		memcpy(out + 4 * i, escape, sizeof(escape));
	}
	return 4 * c.size;
}

/* Prints TEXT, with each character that is not plain as ESCAPE writes it. */
static void print_escaped(FILE *out, const char *text,
			  size_t (*escape)(char out[MAX_ESCAPED], const char *text,
					   struct character c))
{
	while (*text != '\0') {
		size_t plain = plain_prefix(text);
		if (plain > 0) {
			fwrite(text, 1, plain, out);
			text += plain;
			continue;
		}
		char escaped[MAX_ESCAPED];
		struct character c = next_character(text);
		fwrite(escaped, 1, escape(escaped, text, c), out);
		text += c.size;
	}
}

void gh_escape_print(FILE *out, const char *text)
{
	print_escaped(out, text, escape_character);
}

char *gh_escape_text(char *buf, size_t size, const char *text)
{
	size_t used = 0;
	while (*text != '\0') {
		char escaped[MAX_ESCAPED];
		struct character c = next_character(text);
		size_t length = escape_character(escaped, text, c);
		if (used + length >= size)
			break;
		memcpy(buf + used, escaped, length);
		used += length;
		text += c.size;
	}
	if (size > 0)
		buf[used] = '\0';
	return buf;
}

/* Writes the form in a JSON string of C, which is at TEXT, to OUT. Returns its length. */
static size_t json_character(char out[MAX_ESCAPED], const char *text, struct character c)
{
	if (!c.valid)
		return (size_t)snprintf(out, MAX_ESCAPED, "%s", REPLACEMENT);
	if (c.code == '"' || c.code == '\\')
		return (size_t)snprintf(out, MAX_ESCAPED, "\\%c", (char)c.code);
	if (c.code == '\n' || c.code == '\t')
		return (size_t)snprintf(out, MAX_ESCAPED, "\\%c", c.code == '\n' ? 'n' : 't');
	if (is_control(c.code))
		return (size_t)snprintf(out, MAX_ESCAPED, "\\u%04x", c.code);
	memcpy(out, text, c.size);
	return c.size;
}

void gh_escape_json(FILE *out, const char *text)
{
	putc('"', out);
	print_escaped(out, text, json_character);
	putc('"', out);
}

void gh_escape_json_bytes(struct gh_buffer *out, const char *text, size_t size)
{
	gh_buffer_u8(out, '"');
	for (size_t i = 0, step; i < size; i += step) {
		char escaped[MAX_ESCAPED];
		struct character c = first_character(text + i, size - i);
		step = c.size;
		gh_buffer_bytes(out, escaped, json_character(escaped, text + i, c));
	}
	gh_buffer_u8(out, '"');
}

void gh_escape_either(FILE *out, const char *text, bool json)
{
	(json ? gh_escape_json : gh_escape_print)(out, text);
}

void gh_escape_utf8(struct gh_buffer *out, const char *text, size_t size)
{
	for (size_t i = 0, step; i < size; i += step) {
		struct character c = first_character(text + i, size - i);
		step = c.size;
		if (c.valid && !is_control(c.code))
			gh_buffer_bytes(out, text + i, c.size);
		else
			gh_buffer_bytes(out, REPLACEMENT, strlen(REPLACEMENT));
	}
}

/* Appends the form within quotes of C, which is at TEXT. */
static void quote_character(struct gh_buffer *out, const char *text, struct character c)
{
	static const char letters[] = "abtnvfr"; /* from 7 on */
	char escape[12];
	int length = 0;
	if (c.code == '"' || c.code == '\\')
		length = snprintf(escape, sizeof(escape), "\\%c", (char)c.code);
	else if (c.code >= 7 && c.code < 7 + sizeof(letters) - 1)
		length = snprintf(escape, sizeof(escape), "\\%c", letters[c.code - 7]);
	else if (!c.valid || c.code < 0x20 || c.code == 0x7f)
		length = snprintf(escape, sizeof(escape), "\\x%02x", (uint8_t)c.code);
	else if (is_control(c.code))
		length = snprintf(escape, sizeof(escape), "\\u%04x", c.code);
	gh_buffer_bytes(out, length > 0 ? escape : text, length > 0 ? (size_t)length : c.size);
}

void gh_escape_quote(struct gh_buffer *out, const char *text, size_t size)
{
	gh_buffer_u8(out, '"');
	for (size_t i = 0, step; i < size; i += step) {
		struct character c = first_character(text + i, size - i);
		step = c.size;
		quote_character(out, text + i, c);
	}
	gh_buffer_u8(out, '"');
}

size_t gh_escape_name_length(const char *name)
{
	size_t length = strnlen(name, GH_MAX_NAME + 1);
	if (length <= GH_MAX_NAME)
		return length;
	/* Not within a character of UTF-8, if it is one. */
	for (length = GH_MAX_NAME; length > GH_MAX_NAME - 4; length--)
		if ((name[length] & 0xc0) != 0x80)
			return length;
	return GH_MAX_NAME;
}

void gh_escape_gdb(FILE *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._-+";
	for (; *text != '\0'; text++) {
		if (strchr(plain, *text) != NULL)
			putc(*text, out);
		else if (*text == '\'')
			fputs("\\'", out);
		else if (*text == '\\')
			/* A backslash at the end would have the line go on. */
			fputs("\\\\''", out);
		else
			fprintf(out, "'%c'", *text);
	}
}

/* C is not to be shown as it is. Of the bytes that are not UTF-8 a terminal that does not know
 * UTF-8 acts on 0x80 to 0x9f; the others are letters there, of which file names may consist. */
static bool is_unsafe(struct character c)
{
	return c.valid ? is_control(c.code) : c.code <= 0x9f;
}

bool gh_escape_is_text(const char *text, size_t size)
{
	for (size_t i = 0; i < size;) {
		uint32_t bits;
		if (lead_byte((uint8_t)text[i], &bits) >= size - i)
			return false;
		struct character c = next_character(text + i);
		bool is_space = c.code == '\t' || c.code == '\n' || c.code == '\r';
		if (!c.valid || (is_control(c.code) && !is_space))
			return false;
		i += c.size;
	}
	return true;
}

/* Finds the first character in the SIZE bytes at TEXT that is not to be shown as it is. Returns
 * where it is, or SIZE, and its *LENGTH in bytes. */
static size_t find_unsafe(const char *text, size_t size, size_t *length)
{
	for (size_t i = 0; i < size; i += *length) {
		*length = 1;
		if (text[i] >= ' ' && text[i] <= '~')
			continue;
		struct character c = first_character(text + i, size - i);
		*length = c.size;
		if (is_unsafe(c))
			return i;
	}
	return size;
}

size_t gh_escape_find_control(const char *text, size_t size)
{
	size_t length;
	return find_unsafe(text, size, &length);
}

void gh_escape_overwrite(char *text, size_t size)
{
	size_t i = 0, length;
	while ((i += find_unsafe(text + i, size - i, &length)) < size)
		memset(text + i, '?', length);
}

void gh_escape_message(FILE *out, const char *text)
{
	while (*text != '\0') {
		struct character c = next_character(text);
		if (c.code == '\n' || c.code == '\t' || (c.valid && !is_control(c.code)))
			fwrite(text, 1, c.size, out);
		else
			for (size_t i = 0; i < c.size; i++)
				fprintf(out, "\\x%02x", (uint8_t)text[i]);
		text += c.size;
	}
}

void gh_escape_echo(FILE *out, const char *text)
{
	fputs("echo ", out);
	/* GDB's echo reads backslashes, and loses a byte that is not ASCII after one, and spaces
	 * before the text. $arg0 is an argument of the command that GDB runs. */
	for (const char *first = text; *text != '\0'; text++) {
		if (*text >= (text == first ? '!' : ' ') && *text <= '~' && *text != '\\' &&
		    *text != '$')
			fputc(*text, out);
		else
			fprintf(out, "\\%03o", (unsigned char)*text);
	}
	fputs("\\n\n", out);
}
