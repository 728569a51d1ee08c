#include "plugin/cache.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The directory that holds all programs' caches. To be freed; NULL if the user has none. */
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

char *gh_cache_directory(void)
{
	char *parent = find_parent();
	char *path = NULL;
	if (parent != NULL && asprintf(&path, "%s/goheap", parent) >= 0) {
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

/* Different ids stay different. A slash cannot be in a file's name, and a dot ends an id here. */
static void print_id(FILE *out, const char *id)
{
	if (id == NULL)
		return;
	for (; *id != '\0'; id++) {
		if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", *id))
			fputc(*id, out);
		else
			fprintf(out, "%%%02x", (unsigned char)*id);
	}
}

static bool is_empty(const char *id)
{
	return id == NULL || id[0] == '\0';
}

/* Another goheap may write other debug files. Its size and the time it was made tell it apart. */
static void print_writer(FILE *out)
{
	struct stat st;
	if (stat("/proc/self/exe", &st) == 0)
		fprintf(out, "%jx.%jx.%lx", (uintmax_t)st.st_size, (uintmax_t)st.st_mtim.tv_sec,
			st.st_mtim.tv_nsec);
}

char *gh_cache_name(const struct gh_buildinfo *info, size_t size)
{
	if (is_empty(info->go_build_id) && is_empty(info->gnu_build_id))
		return NULL;
	char *name = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&name, &length);
	if (out == NULL)
		return NULL;
	print_id(out, info->go_build_id);
	fputc('.', out);
	print_id(out, info->gnu_build_id);
	fprintf(out, ".%zu.", size);
	print_writer(out);
	fputs(".debug", out);
	/* The writer adds to the name while the file is not whole. */
	if (fclose(out) == 0 && length <= NAME_MAX - 16)
		return name;
	free(name);
	return NULL;
}

bool gh_cache_has(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	struct stat st;
	GElf_Ehdr header;
	size_t count;
	bool good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		    elf_version(EV_CURRENT) != EV_NONE;
	Elf *elf = good ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	/* The section headers come last: a file that was cut, or whose blocks did not reach the
	   disk before a crash, does not end with them. */
	good = elf != NULL && gelf_getehdr(elf, &header) != NULL &&
	       elf_getshdrnum(elf, &count) == 0 && count > 0 &&
	       header.e_shoff + count * header.e_shentsize == (uint64_t)st.st_size;
	elf_end(elf);
	close(fd);
	return good;
}
