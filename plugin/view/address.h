/* Where in the dumped process an address is, for a person. */
#ifndef GH_PLUGIN_VIEW_ADDRESS_H
#define GH_PLUGIN_VIEW_ADDRESS_H

#include <stdio.h>

#include "lib/heap/heap.h"

/* Prints where ADDRESS is, which is in no object: "in the stack of goroutine 7, main.f", "in the
 * data segment", "outside of the dump". */
void gh_where_print(FILE *out, const struct gh_heap *heap, uint64_t address);

/* The number of the goroutine that frame NUMBER is of; GH_DUMP_NONE if it is of none. */
size_t gh_where_goroutine_of_frame(const struct gh_dump *dump, size_t number);

/* The same for a defer or panic. */
size_t gh_where_goroutine_of_defer(const struct gh_dump *dump, size_t number);
size_t gh_where_goroutine_of_panic(const struct gh_dump *dump, size_t number);

/* The id of goroutine NUMBER. */
uint64_t gh_where_goroutine_id(const struct gh_dump *dump, size_t number);

#endif
