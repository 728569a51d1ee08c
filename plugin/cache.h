/* The cache of debug files, below $XDG_CACHE_HOME/goheap or ~/.cache/goheap: a program that was
 * seen once gets its symbols back at once. */
#ifndef GH_PLUGIN_CACHE_H
#define GH_PLUGIN_CACHE_H

#include <stdbool.h>

#include "lib/elf/buildinfo.h"

/* The canonical path of the cache's directory, made (mode 0700) if it is not there. To be freed;
 * NULL if there is none, or none that is the user's own. */
char *gh_cache_directory(void);

/* The name of the debug file of a program of SIZE bytes that was built as INFO says, without a
 * directory. It tells programs apart by their build ids, and debug files by the goheap that
 * wrote them. To be freed; NULL if the program has no build id to go by. */
char *gh_cache_name(const struct gh_buildinfo *info, size_t size);

/* A debug file that may be given to GDB is at PATH: a whole one, and the user's own. */
bool gh_cache_has(const char *path);

#endif
