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

/* Calls VISIT for each entry of the directory at PATH. */
static void visit_entries(const char *path, void (*visit)(int directory, const char *name))
{
	DIR *entries = opendir(path);
	if (entries == NULL)
		return;
	for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
		visit(dirfd(entries), entry->d_name);
	closedir(entries);
}

static void clean_entry(int directory, const char *name)
{
	if (is_of_cache(name) && is_old(directory, name, time(NULL)))
		unlinkat(directory, name, 0);
}

static void clean_link(int directory, const char *name)
{
	struct stat st;
	if (fstatat(directory, name, &st, 0) != 0)
		unlinkat(directory, name, 0);
}

void gh_cache_clean(const char *directory)
{
	visit_entries(directory, clean_entry);
	for (unsigned i = 0; i < 256; i++) {
		char path[PATH_MAX];
		snprintf(path, sizeof(path), "%s/" GH_CACHE_LINKS "/%02x", directory, i);
		visit_entries(path, clean_link);
	}
}
