/* The goroutines of a heap dump, as Go prints tracebacks, or as JSON. */
#ifndef GH_PLUGIN_VIEW_GOROUTINES_H
#define GH_PLUGIN_VIEW_GOROUTINES_H

#include <regex.h>

#include "plugin/view/traceback.h"

/* Which goroutines are printed, and how. Zeros but for the dump: those of the user's, one by one.
 */
struct gh_goroutine_list {
	FILE *out;
	const struct gh_dump *dump;
	struct gh_symbols *symbols; /* of the program that wrote it; NULL if none is given */
	const char *status;         /* those in this state alone; NULL for all */
	const char *label;      /* those alone with this label: KEY=VALUE or KEY; NULL for all */
	const regex_t *pattern; /* those alone whose text it matches; NULL for all */
	const uint64_t *only;   /* the one of this id alone, whatever it is; NULL for all */
	bool all;               /* also what Go leaves out: the system's, and the runtime's calls */
	bool group;             /* those with the same state and stack together, the most first */
	bool json;              /* an object a line */
	bool one_line;          /* a line for each goroutine, with the user's first call */
	struct gh_traceback traceback; /* private: of one of them */
};

/* Prints them. On failure prints the error and returns false. */
bool gh_goroutines_print(struct gh_goroutine_list *listing);

/* Prints DUMP's goroutines to OUT, but for the system's: those with the same status and stack
 * together, the most first, a JSON object a line, as `goheap goroutines --group --json' does.
 * SYMBOLS may be NULL. On failure prints the error and returns false. */
bool gh_goroutines_print_groups(FILE *out, const struct gh_dump *dump, struct gh_symbols *symbols);

/* Prints DUMP's goroutine ID to OUT, as `goheap goroutines' does. On failure prints the error and
 * returns false. */
bool gh_goroutines_print_one(FILE *out, const struct gh_dump *dump, struct gh_symbols *symbols,
			     uint64_t id);

#endif
