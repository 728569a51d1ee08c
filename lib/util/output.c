#include "lib/util/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Other temporary files of this name: left by processes that were killed, with this process's id.
 */
#define MAX_ATTEMPTS 100

static bool is_replaceable(const char *path, struct gh_error *err)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return errno == ENOENT || gh_fail_errno(err, path, "write");
	if (S_ISREG(st.st_mode))
		return true;
	return gh_fail(err, path, GH_NO_OFFSET, "the name of a regular file",
		       "that of something else");
}

static void free_names(struct gh_output *out)
{
	free(out->path);
	free(out->temp);
}

/* Opens a file below PATH's directory that has no name yet: nothing is left of it if this process
 * is killed. Not every file system has such files, and /proc names them. False if none is to be
 * had.
 */
static bool open_unnamed(struct gh_output *out, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory = NULL;
	if (asprintf(&directory, "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
		     slash != NULL ? path : ".") < 0)
		return false;
	out->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
	free(directory);
	if (out->fd < 0)
		return false;
	char name[64];
	snprintf(name, sizeof(name), "/proc/self/fd/%d", out->fd);
	if (access(name, F_OK) == 0)
		return true;
	close(out->fd);
	out->fd = -1;
	return false;
}

/* Gives the unnamed file the name TEMP. */
static bool name_file(int fd, const char *temp)
{
	char name[64];
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, name, AT_FDCWD, temp, AT_SYMLINK_FOLLOW) == 0;
}

/* Makes the file's temporary name, and a file of that name: the one that is open, if one is. */
static bool make_temp(struct gh_output *out)
{
	/* open, unlike mkstemp, leaves the permissions to the umask. */
	for (int i = 0; i < MAX_ATTEMPTS; i++) {
		free(out->temp);
		if (asprintf(&out->temp, "%s.%ld-%d.tmp", out->path, (long)getpid(), i) < 0) {
			out->temp = NULL;
			return false;
		}
		bool made;
		if (out->fd >= 0) {
			made = name_file(out->fd, out->temp);
		} else {
			out->fd = open(out->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
			made = out->fd >= 0;
		}
		if (made)
			return true;
		if (errno != EEXIST)
			break;
	}
	free(out->temp);
	out->temp = NULL;
	return false;
}

bool gh_output_open(struct gh_output *out, const char *path, struct gh_error *err)
{
	*out = (struct gh_output){.fd = -1};
	if (!is_replaceable(path, err))
		return false;
	out->path = strdup(path);
	if (out->path != NULL && (open_unnamed(out, path) || make_temp(out)))
		return true;
	gh_fail_errno(err, path, "write");
	free_names(out);
	return false;
}

FILE *gh_output_stream(const struct gh_output *out, struct gh_error *err)
{
	int copy = dup(out->fd);
	FILE *stream = copy >= 0 ? fdopen(copy, "w") : NULL;
	if (stream != NULL)
		return stream;
	gh_fail_errno(err, out->path, "write");
	if (copy >= 0)
		close(copy);
	return NULL;
}

bool gh_output_commit(struct gh_output *out, struct gh_error *err)
{
	bool named = out->temp != NULL || make_temp(out);
	/* A full disk may be told of as late as here. */
	bool closed = close(out->fd) == 0;
	if (!named || !closed || rename(out->temp, out->path) != 0) {
		gh_fail_errno(err, out->path, "write");
		if (named)
			unlink(out->temp);
		free_names(out);
		return false;
	}
	free_names(out);
	return true;
}

void gh_output_discard(struct gh_output *out)
{
	close(out->fd);
	if (out->temp != NULL)
		unlink(out->temp);
	free_names(out);
}

bool gh_write_all(int fd, const void *data, size_t size)
{
	const char *bytes = data;
	while (size > 0) {
		ssize_t written = write(fd, bytes, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return false;
		bytes += written;
		size -= (size_t)written;
	}
	return true;
}
