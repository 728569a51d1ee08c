/* The directory of what goheap keeps for later. */
#ifndef GH_UTIL_CACHE_DIRECTORY_H
#define GH_UTIL_CACHE_DIRECTORY_H

#include <stdbool.h>

/* The canonical path of $XDG_CACHE_HOME/goheap or ~/.cache/goheap, which is made (mode 0700) if it
 * is not there and MAKE says so. To be freed; NULL if there is none, or none that is the user's
 * own. */
char *gh_cache_directory(bool make);

#endif
