#include "plugin/gdb/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A program that is built anew has another debug file. One that is removed too early, since the
 * file system does not keep the time of the last access, is made again. */
#define KEPT_SECONDS (30 * 24 * 60 * 60)

static bool is_of_cache(const char *name)
{
	const char *suffix = strrchr(name, '.');
	return suffix != NULL && (strcmp(suffix, ".debug") == 0 || strcmp(suffix, ".link") == 0);
}

static bool is_old(int directory, const char *name, time_t now)
{
	struct stat st;
	return fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       now - st.st_atim.tv_sec > KEPT_SECONDS && now - st.st_mtim.tv_sec > KEPT_SECONDS;
}

void gh_cache_clean(const char *directory)
{
	DIR *entries = opendir(directory);
	if (entries == NULL)
		return;
	time_t now = time(NULL);
	for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
		if (is_of_cache(entry->d_name) && is_old(dirfd(entries), entry->d_name, now))
			unlinkat(dirfd(entries), entry->d_name, 0);
	closedir(entries);
}
