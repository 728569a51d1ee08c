/* A table for a person, its columns aligned, or one JSON object a line. */
#ifndef GH_PLUGIN_VIEW_TABLE_H
#define GH_PLUGIN_VIEW_TABLE_H

#include "plugin/view/object_names.h"
#include "plugin/view/row.h"

struct gh_table {
	struct gh_row row; /* that is being printed, in JSON */
	uint64_t rows;     /* that have been printed */
	int width;         /* of a number, in characters */
};

/* Begins a table of what is in DUMP: none of its numbers is larger than the bytes in all objects.
 */
struct gh_table gh_table_start(const struct gh_dump *dump, bool json);

/* Prints the TITLES of columns, of which the last COUNT - NUMBERS are texts, unless it is JSON.
 * That of addresses begins with an @, which is not printed. */
void gh_table_titles(const struct gh_table *table, const char *const *titles, size_t count,
		     size_t numbers);

/* Prints a value; KEY is its name in JSON. */
void gh_table_number(struct gh_table *table, const char *key, uint64_t value);
void gh_table_signed(struct gh_table *table, const char *key, int64_t value);
void gh_table_address(struct gh_table *table, const char *key, uint64_t value);
void gh_table_no_address(struct gh_table *table, const char *key); /* there is none */

/* Prints how many hundredths of WHOLE a PART is. Not in JSON. */
void gh_table_share(struct gh_table *table, uint64_t part, uint64_t whole);

/* Prints a text, the last of its row; VALUE may be NULL: not known. */
void gh_table_text(struct gh_table *table, const char *key, const char *value);

/* Prints an object, its address and what it is called, the last of its row. */
void gh_table_object(struct gh_table *table, const struct gh_names *names, uint32_t object);

/* Begins a value that the caller prints: a text for a person, or JSON. */
void gh_table_key(struct gh_table *table, const char *key);

void gh_table_end(struct gh_table *table);

/* Ends a table of which there is a row for each of COUNT: says how many were not printed. */
void gh_table_finish(const struct gh_table *table, uint64_t count);

/* Prints "1 object", "2 objects". */
void gh_print_count(uint64_t count, const char *what);

/* Prints the start of a text for a person, so much as there is room for in a line; LENGTH bytes at
 * DATA. */
void gh_print_start(const char *data, size_t length);

#endif
