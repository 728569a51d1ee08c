/* Memory that is all zeros: of a core file and a heap, most is. */
#ifndef GH_UTIL_ZEROS_H
#define GH_UTIL_ZEROS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The SIZE bytes are all zero, or there are none. */
static inline bool gh_is_zeros(const uint8_t *bytes, size_t size)
{
	return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

#endif
