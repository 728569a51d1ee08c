#include "plugin/gdb/gdb.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What a record begins with that prints. */
static const char prints[] = "~\"";

/* What a command prints that another one runs, as thread apply does, is a record in a record. */
#define MAX_DEPTH 4

static bool is_print(const char *text)
{
	return strncmp(text, prints, strlen(prints)) == 0;
}

static bool is_octal(const char *text)
{
	return text[0] >= '0' && text[0] <= '3' && text[1] >= '0' && text[1] <= '7' &&
	       text[2] >= '0' && text[2] <= '7';
}

/* Appends to *OUT the character that the escape at TEXT, after its backslash, stands for. Returns
 * where the escape ends. GDB writes those of C, and \e. */
static const char *unescape(char **out, const char *text)
{
	static const char letters[] = "abefnrt";
	static const char values[] = "\a\b\033\f\n\r\t";
	if (is_octal(text)) {
		*(*out)++ = (char)((text[0] - '0') * 64 + (text[1] - '0') * 8 + (text[2] - '0'));
		return text + 3;
	}
	const char *letter = *text != '\0' ? strchr(letters, *text) : NULL;
	*(*out)++ = letter != NULL ? values[letter - letters] : *text;
	return *text != '\0' ? text + 1 : text;
}

/* Writes to OUT, which may be where the text is, what the string at TEXT stands for, after its
 * first quote. Returns the end of what it wrote. */
static char *decode(char *out, const char *text)
{
	while (*text != '\0' && *text != '"' && *text != '\n') {
		if (*text == '\\')
			text = unescape(&out, text + 1);
		else
			*out++ = *text++;
	}
	return out;
}

/* A record that prints nothing: of a change, of the log, of an answer. */
static bool is_silent(const char *text)
{
	return *text != '\0' && strchr("=&*^", *text) != NULL;
}

/* Decodes the lines of TEXT. False if there was no record that prints. */
static bool decode_lines(char *text)
{
	bool found = false;
	char *out = text;
	for (const char *line = text; *line != '\0';) {
		const char *end = strchrnul(line, '\n');
		const char *next = *end != '\0' ? end + 1 : end;
		if (is_print(line)) {
			out = decode(out, line + strlen(prints));
			found = true;
		} else if (!is_silent(line)) {
			memmove(out, line, (size_t)(next - line));
			out += next - line;
		}
		line = next;
	}
	*out = '\0';
	return found;
}

void gh_piped_text_decode(char *text)
{
	for (int i = 0; i < MAX_DEPTH && decode_lines(text); i++)
		;
}

char *gh_piped_text_read(FILE *in)
{
	char *text = NULL;
	size_t size = 0;
	if (getdelim(&text, &size, '\0', in) < 0) {
		free(text);
		return ferror(in) ? NULL : strdup("");
	}
	/* Nothing that GDB is asked for begins so by itself; names in it may hold such a line. */
	if (is_print(text) || is_silent(text))
		gh_piped_text_decode(text);
	return text;
}
