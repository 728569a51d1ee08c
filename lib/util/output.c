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

bool gh_output_open(struct gh_output *out, const char *path, struct gh_error *err)
{
	*out = (struct gh_output){.fd = -1};
	if (!is_replaceable(path, err))
		return false;
	out->path = strdup(path);
	if (out->path == NULL)
		return gh_fail_errno(err, path, "write");
	/* open, unlike mkstemp, leaves the permissions to the umask. */
	for (int i = 0; i < MAX_ATTEMPTS && out->fd < 0; i++) {
		free(out->temp);
		if (asprintf(&out->temp, "%s.%ld-%d.tmp", path, (long)getpid(), i) < 0) {
			out->temp = NULL;
			break;
		}
		out->fd = open(out->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (out->fd < 0 && errno != EEXIST)
			break;
	}
	if (out->fd >= 0)
		return true;
	gh_fail_errno(err, path, "write");
	free_names(out);
	return false;
}

bool gh_output_commit(struct gh_output *out, struct gh_error *err)
{
	/* A full disk may be told of as late as here. */
	bool closed = close(out->fd) == 0;
	if (!closed || rename(out->temp, out->path) != 0) {
		gh_fail_errno(err, out->path, "write");
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
	unlink(out->temp);
	free_names(out);
}
