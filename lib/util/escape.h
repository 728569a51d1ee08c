/* Text from an input, made safe for where it goes.
 *
 * Everywhere the same characters are not let through to a terminal: control characters (C0, C1, in
 * UTF-8 or as single bytes), line and paragraph separators, and those that turn the direction of
 * writing. Below they are the control characters. */
#ifndef GH_UTIL_ESCAPE_H
#define GH_UTIL_ESCAPE_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/util/buffer.h"

/* Prints TEXT to OUT for a person: control characters, bytes that are not UTF-8, and backslashes as
 * \xNN, \n, \t or \\. Nothing that a terminal would act on gets through. */
void gh_escape_print(FILE *out, const char *text);

/* The same into the SIZE bytes at BUF, cut to fit and always ended by a NUL. Returns BUF. */
char *gh_escape_text(char *buf, size_t size, const char *text);

/* The SIZE bytes at TEXT are UTF-8 without control characters, but for those between lines and
 * columns. */
bool gh_escape_is_text(const char *text, size_t size);

/* The first place in the SIZE bytes at TEXT that holds a control character, or SIZE if none does.
 * Bytes that are not UTF-8 are none, but for 0x80 to 0x9f. */
size_t gh_escape_find_control(const char *text, size_t size);

/* Puts a question mark in place of each byte of the control characters in the SIZE bytes at TEXT,
 * for output whose reader is known to pass text on to a terminal as it is, and in which lengths
 * must not change. */
void gh_escape_overwrite(char *text, size_t size);

/* The most bytes of a name that are printed: a crafted program may have one long name for each of
 * its lines. In programs of today the longest is 2,968 bytes, a type's in the TypeScript compiler.
 */
#define GH_MAX_NAME 8192

/* How many bytes of NAME are printed: all, or as many whole characters as GH_MAX_NAME bytes hold.
 */
size_t gh_escape_name_length(const char *name);

/* Prints TEXT to OUT, the lines of a message that a library made and that quote the user: as
 * gh_escape_print does, but newlines, tabs and backslashes as they are. */
void gh_escape_message(FILE *out, const char *text);

/* Prints TEXT to OUT as a JSON string, with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void gh_escape_json(FILE *out, const char *text);

/* Appends the SIZE bytes at TEXT to OUT as such a string. */
void gh_escape_json_bytes(struct gh_buffer *out, const char *text, size_t size);

/* Prints TEXT to OUT in one of these ways. */
void gh_escape_either(FILE *out, const char *text, bool json);

/* Appends the SIZE bytes at TEXT to OUT as UTF-8: U+FFFD in place of each control character and of
 * each byte that is not UTF-8. */
void gh_escape_utf8(struct gh_buffer *out, const char *text, size_t size);

/* Appends the SIZE bytes at TEXT to OUT in quotes, as strconv.Quote of Go does; but what Go does
 * not print and a terminal does not act on stays as it is. */
void gh_escape_quote(struct gh_buffer *out, const char *text, size_t size);

/* Prints to OUT the GDB command that prints TEXT, which is fit for a terminal, and a newline. */
void gh_escape_echo(FILE *out, const char *text);

/* Prints TEXT to OUT as one argument of a GDB command (as gdb_buildargv splits them): every byte
 * that is not a letter, a digit or one of "/._-+" in quotes of its own, or after a backslash. So
 * nothing in it is $arg0, no space at the end is lost, and no backslash is at the end, which would
 * have the line go on. TEXT must hold no newline and no NUL: a GDB command is a line. */
void gh_escape_gdb(FILE *out, const char *text);

#endif
