/* What a text begins with. */
#ifndef GH_UTIL_PREFIX_H
#define GH_UTIL_PREFIX_H

#include <stdbool.h>
#include <string.h>

static inline bool gh_starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

#endif
