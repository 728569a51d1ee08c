/* The strings in a heap: which objects are text.
 *
 * A dump does not say which objects are strings' bytes. One is taken for text if it has no
 * pointers, if some pointer to it is followed by a length, as in a string or slice, of at least
 * GH_HEAP_STRING_LEAST bytes which it has, and if those bytes are UTF-8 without control characters.
 */
#ifndef GH_HEAP_STRINGS_H
#define GH_HEAP_STRINGS_H

#include "lib/heap/heap.h"

#define GH_HEAP_STRING_LEAST 4

struct gh_heap_string {
	const char *data; /* in the dump; not ended by a NUL */
	size_t length;    /* in bytes */
	uint32_t object;  /* the first that has it, of those with like text */
	uint32_t copies;  /* objects with like text */
	uint64_t bytes;   /* in these objects */
};

struct gh_heap_strings GH_VECTOR(struct gh_heap_string);

/* Finds the texts in HEAP, each once. False (ERR filled) if memory ran out. The vector is to be
 * freed either way.
 */
bool gh_heap_strings_find(struct gh_heap_strings *texts, const struct gh_heap *heap,
			  struct gh_error *err);

#endif
