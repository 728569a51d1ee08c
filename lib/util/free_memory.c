#include "lib/util/free_memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/number_file.h"

/* Where a version of control groups has the limit of memory, in bytes, what is used, and what of
 * that are pages of files, which go when memory is needed. */
struct version {
	const char *controllers; /* in /proc/self/cgroup; "" for version 2 */
	const char *mount;
	const char *limit;
	const char *usage;
	const char *file_pages; /* in memory.stat */
};

static const struct version versions[] = {
    {"", "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "},
    {"memory", "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file "},
};

/* Reads the number that follows KEY in the file NAME in DIRECTORY. */
static bool read_number(const char *directory, const char *name, const char *key, uint64_t *number)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/%s", directory, name);
	return (size_t)length < sizeof(path) && gh_number_file_read(path, key, number);
}

/* What the control group in DIRECTORY may still take; UINT64_MAX if it has no limit. */
static uint64_t left_in(const char *directory, const struct version *version)
{
	uint64_t limit;
	uint64_t usage;
	uint64_t pages = 0;
	if (!read_number(directory, version->limit, "", &limit) ||
	    !read_number(directory, version->usage, "", &usage))
		return UINT64_MAX;
	read_number(directory, "memory.stat", version->file_pages, &pages);
	usage -= pages < usage ? pages : usage;
	return limit > usage ? limit - usage : 0;
}

/* The same of the control group called NAME and of those that it is in. In a container the name may
 * be that outside of it: then only the outermost one is there, which is the container's. */
static uint64_t left_in_all(const char *root, const struct version *version, const char *name)
{
	char path[PATH_MAX];
	uint64_t least = UINT64_MAX;
	int mount = snprintf(path, sizeof(path), "%s/%s", root, version->mount);
	int length = snprintf(path, sizeof(path), "%s/%s%s", root, version->mount, name);
	if ((size_t)length >= sizeof(path))
		return UINT64_MAX;
	while (length >= mount) {
		uint64_t left = left_in(path, version);
		least = left < least ? left : least;
		while (length > mount && path[length - 1] != '/')
			length--;
		path[--length] = '\0';
	}
	return least;
}

/* The same of the control groups that LINE, of /proc/self/cgroup, tells: NUMBER:CONTROLLERS:NAME.
 */
static uint64_t left_by_line(const char *root, char *line)
{
	line[strcspn(line, "\n")] = '\0';
	char *controllers = strchr(line, ':');
	char *name = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
	if (name == NULL)
		return UINT64_MAX;
	*controllers++ = '\0';
	*name++ = '\0';
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (strcmp(controllers, versions[i].controllers) == 0)
			return left_in_all(root, &versions[i], name);
	return UINT64_MAX;
}

struct gh_free_memory gh_free_memory_find(const char *root)
{
	struct gh_free_memory found = {.bytes = UINT64_MAX};
	char path[PATH_MAX];
	char *line = NULL;
	size_t size = 0;
	uint64_t kib;
	snprintf(path, sizeof(path), "%s/proc", root);
	if (read_number(path, "meminfo", "MemAvailable:", &kib))
		found.bytes = kib * 1024;
	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	FILE *file = fopen(path, "re");
	while (file != NULL && getline(&line, &size, file) >= 0) {
		uint64_t left = left_by_line(root, line);
		found.in_container = found.in_container || left < found.bytes;
		found.bytes = left < found.bytes ? left : found.bytes;
	}
	free(line);
	if (file != NULL)
		fclose(file);
	return found;
}
