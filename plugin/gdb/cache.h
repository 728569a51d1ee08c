/* The cache of debug files, below $XDG_CACHE_HOME/goheap or ~/.cache/goheap: a program that was
 * seen once gets its symbols back at once. */
#ifndef GH_PLUGIN_GDB_CACHE_H
#define GH_PLUGIN_GDB_CACHE_H

#include "lib/elf/image.h"

/* The canonical path of the cache's directory, made (mode 0700) if it is not there. To be freed;
 * NULL if there is none, or none that is the user's own. */
char *gh_cache_directory(void);

/* The path of the debug file of the Go program IMAGE in the cache DIRECTORY, where it is written
 * unless it is there and whole. Its name has a cryptographic hash of all that it is made from,
 * since build ids can be copied, and what tells this goheap from others; after its end it has a
 * checksum of itself. What was not used for long is removed
 * when one is written. To be freed; NULL if it can be neither found nor written. */
char *gh_cache_get(const char *directory, const struct gh_image *image);

#endif
