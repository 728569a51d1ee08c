/* An allocation profile as text, as Go prints it (debug=1). */
#ifndef GH_PLUGIN_VIEW_PROFILE_TEXT_H
#define GH_PLUGIN_VIEW_PROFILE_TEXT_H

#include "lib/profile/alloc_sites.h"

/* Prints the profile, most bytes in use first, and the dump's memory statistics as comments. RATE
 * is MemProfileRate. False if memory ran out. */
bool gh_profiletext_print(const struct gh_allocations *allocations, uint64_t rate);

/* Prints each record as a JSON object, a line each; in the dump's order. */
void gh_profiletext_print_json(const struct gh_allocations *allocations);

#endif
