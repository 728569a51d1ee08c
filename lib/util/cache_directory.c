#include "lib/util/cache_directory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The directory of all programs' caches. To be freed; NULL if the user has none. */
static char *find_parent(void)
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char *path = NULL;
	if (cache != NULL && cache[0] == '/')
		return strdup(cache);
	if (home == NULL || home[0] != '/' || asprintf(&path, "%s/.cache", home) < 0)
		return NULL;
	return path;
}

/* Anybody who can write there could have GDB read what they like. */
static bool is_private(const char *directory)
{
	struct stat st;
	return stat(directory, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       (st.st_mode & (S_IWGRP | S_IWOTH)) == 0 && access(directory, W_OK | X_OK) == 0;
}

char *gh_cache_directory(bool make)
{
	char *parent = find_parent();
	char *path = NULL;
	if (parent != NULL && asprintf(&path, "%s/goheap", parent) >= 0 && make) {
		mkdir(parent, 0700);
		mkdir(path, 0700);
	}
	free(parent);
	char *canonical = path != NULL ? realpath(path, NULL) : NULL;
	free(path);
	if (canonical != NULL && is_private(canonical) && strchr(canonical, '\n') == NULL)
		return canonical;
	free(canonical);
	return NULL;
}
