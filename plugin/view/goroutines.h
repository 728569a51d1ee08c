/* The goroutines of a heap dump, for commands that show them among other things. */
#ifndef GH_PLUGIN_VIEW_GOROUTINES_H
#define GH_PLUGIN_VIEW_GOROUTINES_H

#include "plugin/view/symbols.h"

/* Prints DUMP's goroutines to OUT, but for the system's: those with the same status and stack
 * together, the most first, a JSON object a line, as `goheap goroutines --group --json' does.
 * SYMBOLS may be NULL. On failure prints the error and returns false. */
bool gh_goroutines_print_groups(FILE *out, const struct gh_dump *dump, struct gh_symbols *symbols);

/* Prints DUMP's goroutine ID to OUT, as `goheap goroutines' does. On failure prints the error and
 * returns false. */
bool gh_goroutines_print_one(FILE *out, const struct gh_dump *dump, struct gh_symbols *symbols,
			     uint64_t id);

#endif
