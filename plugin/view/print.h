/* Single values as text for a person, or as JSON: numbers, counts, sizes, names and other texts. */
#ifndef GH_PLUGIN_VIEW_PRINT_H
#define GH_PLUGIN_VIEW_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/dump/dump.h"

/* Bytes that the text of a number takes: its digits, commas, a sign, and what is around it. */
#define GH_NUMBER_TEXT 32

/* Has standard output written in large blocks: some lists have millions of rows. */
void gh_print_in_blocks(void);

/* Puts VALUE before END, where there are GH_NUMBER_TEXT bytes, and gives where it begins. With
 * COMMAS there is one after each three digits. */
char *gh_format_number(char *end, uint64_t value, bool commas);

/* Prints "1 object", "2 objects". */
void gh_print_count(uint64_t count, const char *what);

/* Prints that there are more than SHOWN of COUNT, if so. */
void gh_print_more(uint64_t shown, uint64_t count);

/* Bytes that the text of a size takes, with its NUL. */
#define GH_SIZE_TEXT 32

/* SIZE, in bytes, as "512 bytes", "4.4 MB"; in BUF. */
const char *gh_size_text(uint64_t size, char buf[GH_SIZE_TEXT]);

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

#endif
