#include "lib/util/output_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the names of directories begin with that are being written. */
#define PREFIX ".goheap-part-"

static bool make_directory(const char *path)
{
	return mkdir(path, 0777) == 0 || errno == EEXIST;
}

bool gh_make_directories(const char *path, struct gh_error *err)
{
	char *part = strdup(path);
	if (part == NULL)
		return gh_fail_memory(err, path);
	bool made = true;
	for (char *slash = part; made && *slash != '\0' && (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		made = make_directory(part);
		*slash = '/';
	}
	free(part);
	return (made && make_directory(path)) || gh_fail_errno(err, path, "make");
}

/* Calls ACT with each file and directory below PATH, what is in a directory before that; with what
 * follows PATH in its name, too. False, and errno set, if one call does, or what is there cannot be
 * listed. */
static bool walk(const char *path,
		 bool (*act)(const FTSENT *entry, const char *rest, void *context), void *context)
{
	char *const paths[] = {(char *)path, NULL};
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	bool walked = tree != NULL;
	FTSENT *entry;
	while (walked && (entry = fts_read(tree)) != NULL)
		walked =
		    entry->fts_info == FTS_D || act(entry, entry->fts_path + strlen(path), context);
	int number = errno;
	if (tree != NULL)
		fts_close(tree);
	errno = number;
	return walked;
}

static bool remove_entry(const FTSENT *entry, const char *rest, void *context)
{
	(void)rest, (void)context;
	remove(entry->fts_accpath);
	return true;
}

/* Puts a file into the directory CONTEXT, in the place of one that is there. */
static bool move_entry(const FTSENT *entry, const char *rest, void *context)
{
	char *place = NULL;
	struct gh_error err;
	if (entry->fts_info != FTS_F)
		return true;
	if (asprintf(&place, "%s%s", (const char *)context, rest) < 0)
		return false;
	char *slash = strrchr(place, '/');
	*slash = '\0';
	bool made = gh_make_directories(place, &err);
	*slash = '/';
	bool moved = made && rename(entry->fts_accpath, place) == 0;
	free(place);
	return moved;
}

/* Removes directory NAME in TOP if it is one that this user's process wrote and that is written no
 * longer. */
static void remove_left(const char *top, const char *name)
{
	char *path = NULL;
	struct stat status;
	if (asprintf(&path, "%s/%s", top, name) < 0)
		return;
	int lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (lock >= 0 && fstat(lock, &status) == 0 && status.st_uid == geteuid() &&
	    (status.st_mode & 077) == 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
		walk(path, remove_entry, NULL);
	if (lock >= 0)
		close(lock);
	free(path);
}

static void remove_all_left(const char *top)
{
	DIR *entries = opendir(top);
	struct dirent *entry;
	while (entries != NULL && (entry = readdir(entries)) != NULL)
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0)
			remove_left(top, entry->d_name);
	if (entries != NULL)
		closedir(entries);
}

/* Makes the directory, and locks it. */
static bool make_locked(struct gh_output_directory *out, const char *top)
{
	if (asprintf(&out->path, "%s/" PREFIX "XXXXXX", top) < 0) {
		out->path = NULL;
		return false;
	}
	if (mkdtemp(out->path) != NULL) {
		out->lock = open(out->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		/* Where there are no locks, nothing is taken for left. */
		if (out->lock >= 0 && flock(out->lock, LOCK_EX | LOCK_NB) >= -1)
			return true;
	}
	free(out->path);
	return false;
}

bool gh_output_directory_open(struct gh_output_directory *out, const char *top,
			      struct gh_error *err)
{
	*out = (struct gh_output_directory){.lock = -1};
	if (!gh_make_directories(top, err))
		return false;
	/* A directory is not locked yet when it is made: meanwhile nobody looks for what is left.
	 */
	int lock = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock >= 0 && flock(lock, LOCK_EX) == 0)
		remove_all_left(top);
	bool made = lock >= 0 && make_locked(out, top);
	if (!made)
		gh_fail_errno(err, top, "write");
	if (lock >= 0)
		close(lock);
	return made;
}

/* Makes the directory that TARGET is in. */
static bool make_parent(const char *target, struct gh_error *err)
{
	const char *slash = strrchr(target, '/');
	char *parent = slash != NULL ? strndup(target, (size_t)(slash - target)) : strdup(".");
	bool made = parent != NULL ? gh_make_directories(parent, err) : gh_fail_memory(err, target);
	free(parent);
	return made;
}

bool gh_output_directory_commit(struct gh_output_directory *out, const char *target,
				struct gh_error *err)
{
	bool moved = make_parent(target, err);
	if (moved && rename(out->path, target) != 0) {
		bool is_there = errno == ENOTEMPTY || errno == EEXIST;
		moved = (is_there && walk(out->path, move_entry, (void *)target)) ||
			gh_fail_errno(err, target, "write");
	}
	gh_output_directory_discard(out);
	return moved;
}

void gh_output_directory_discard(struct gh_output_directory *out)
{
	walk(out->path, remove_entry, NULL);
	close(out->lock);
	free(out->path);
}
