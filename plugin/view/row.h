/* A table's rows: tab-separated values, or one JSON object a line. */
#ifndef GH_PLUGIN_VIEW_ROW_H
#define GH_PLUGIN_VIEW_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/dump/dump.h"

struct gh_row {
	const struct gh_dump *dump; /* that texts are from */
	bool json;
	bool started; /* a value of this row has been printed */
};

/* Prints a value; KEY is its name in JSON. Addresses are text in JSON too. */
void gh_row_number(struct gh_row *row, const char *key, uint64_t value);
void gh_row_address(struct gh_row *row, const char *key, uint64_t value);
void gh_row_bool(struct gh_row *row, const char *key, bool value);
void gh_row_text(struct gh_row *row, const char *key, const char *value);

/* The same for a text of the dump. None (offset 0) is not known: "?" or null. */
void gh_row_slice(struct gh_row *row, const char *key, struct gh_dump_slice value);

/* Begins a value that the caller prints. */
void gh_row_key(struct gh_row *row, const char *key);

/* The fields of RECORD, as pairs of kind and offset. In JSON only. */
void gh_row_fields(struct gh_row *row, const struct gh_dump_record *record);

/* Ends the row. */
void gh_row_end(struct gh_row *row);

#endif
