/* Eviction from the cache of debug files: what has not been used for long goes. */
#ifndef GH_PLUGIN_GDB_CACHE_CLEAN_H
#define GH_PLUGIN_GDB_CACHE_CLEAN_H

/* Removes from the cache DIRECTORY the debug files and links that were neither written nor read for
 * 30 days. */
void gh_cache_clean(const char *directory);

#endif
