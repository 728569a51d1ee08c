/* Twins that were proved before: kept by their programs' build ids, for whatever asks next. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/blake2b.h"
#include "lib/util/cache_directory.h"
#include "lib/util/hex.h"
#include "lib/util/open_file.h"
#include "plugin/view/view.h"

/* Fills HASH with that of PROGRAM's build ids or, without, of all of it. False if memory ran out.
 */
static bool make_hash(const struct gh_image *program, uint8_t hash[GH_BLAKE2B_SIZE])
{
	struct gh_buildinfo info;
	char *ids = NULL;
	gh_buildinfo_read_ids(&info, program);
	bool made = !info.failed;
	if (info.go_build_id == NULL && info.gnu_build_id == NULL)
		made = made && gh_blake2b_tree(program->data, program->size, hash);
	else if (asprintf(&ids, "%s\n%s", info.go_build_id != NULL ? info.go_build_id : "",
			  info.gnu_build_id != NULL ? info.gnu_build_id : "") >= 0)
		gh_blake2b(ids, strlen(ids), hash);
	else
		made = false;
	free(ids);
	gh_buildinfo_free(&info);
	return made;
}

/* The directory of twins in the directory CACHE, in PATH. False if its name is too long. */
static bool find_twins(const char *cache, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/" GH_KEPT_TWINS, cache) < PATH_MAX;
}

/* The path of PROGRAM's twin in the directory CACHE, where none need be. To be freed; NULL if
 * memory ran out. */
static char *path_in(const char *cache, const struct gh_image *program)
{
	uint8_t hash[GH_BLAKE2B_SIZE];
	char digits[2 * GH_BLAKE2B_SIZE + 1];
	char *path = NULL;
	if (!make_hash(program, hash))
		return NULL;
	gh_hex_text(digits, hash, sizeof(hash));
	return asprintf(&path, "%s/" GH_KEPT_TWINS "/%s", cache, digits) >= 0 ? path : NULL;
}

char *gh_kept_twin_path(const struct gh_image *program)
{
	char *cache = gh_cache_directory(true);
	char *path = cache != NULL ? path_in(cache, program) : NULL;
	char twins[PATH_MAX];
	/* If it cannot be made, the twin cannot be written. */
	if (cache != NULL && find_twins(cache, twins))
		mkdir(twins, 0700);
	free(cache);
	return path;
}

/* There are twins in the directory CACHE: most users have none, and are not to wait for a hash. */
static bool has_twins(const char *cache)
{
	char path[PATH_MAX];
	return find_twins(cache, path) && access(path, F_OK) == 0;
}

/* The twin in the file FD begins with PROGRAM's file, but for where its ELF header says that the
 * sections are: build ids can be copied. */
static bool is_of(int fd, const struct gh_image *program)
{
	struct stat now;
	static uint8_t a[1 << 16], b[sizeof(a)];
	int own = gh_open_file(program->path, &now, NULL);
	bool same = own >= 0 && gh_is_same_file(&now, &program->file);
	for (off_t at = sizeof(Elf64_Ehdr); same && at < now.st_size;) {
		ssize_t size = pread(own, a, sizeof(a), at);
		same = size > 0 && pread(fd, b, (size_t)size, at) == size &&
		       memcmp(a, b, (size_t)size) == 0;
		at += size;
	}
	if (own >= 0)
		close(own);
	return same;
}

char *gh_kept_twin_find(const struct gh_image *program)
{
	struct stat st;
	char *cache = gh_cache_directory(false);
	char *path = cache != NULL && has_twins(cache) ? path_in(cache, program) : NULL;
	free(cache);
	int fd = path != NULL && access(path, F_OK) == 0 ? gh_open_file(path, &st, NULL) : -1;
	bool found = fd >= 0 && st.st_uid == geteuid() && is_of(fd, program);
	if (fd >= 0)
		close(fd);
	if (found)
		return path;
	free(path);
	return NULL;
}
