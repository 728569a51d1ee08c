#include "lib/util/output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
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

/* The names of temporary files, for gh_output_remove_temporary. Outputs beyond these few, of which
 * there are none, are left behind by a signal. */
static char *volatile temporary[8];

#define NTEMPORARY (sizeof(temporary) / sizeof(temporary[0]))

static void note_temp(char *temp)
{
	for (size_t i = 0; i < NTEMPORARY; i++) {
		char *none = NULL;
		if (__atomic_compare_exchange_n(&temporary[i], &none, temp, false, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST))
			return;
	}
}

static void forget_temp(char *temp)
{
	for (size_t i = 0; i < NTEMPORARY; i++) {
		char *noted = temp;
		if (__atomic_compare_exchange_n(&temporary[i], &noted, NULL, false,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return;
	}
}

void gh_output_remove_temporary(void)
{
	for (size_t i = 0; i < NTEMPORARY; i++)
		if (temporary[i] != NULL)
			unlink(temporary[i]);
}

static void free_names(struct gh_output *out)
{
	if (out->temp != NULL)
		forget_temp(out->temp);
	free(out->path);
	free(out->temp);
}

/* Opens a file below PATH's directory that has no name yet: nothing is left of it if this process
 * is killed. Not every file system has such files, and /proc names them. False if none is to be
 * had.
 */
static bool open_unnamed(struct gh_output *out, const char *path, mode_t mode)
{
	const char *slash = strrchr(path, '/');
	char *directory = NULL;
	if (asprintf(&directory, "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
		     slash != NULL ? path : ".") < 0)
		return false;
	out->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
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

/* Gives the open file the name TEMP, or makes one of that name if none is open. */
static bool create_temp(struct gh_output *out, mode_t mode)
{
	if (out->fd >= 0)
		return name_file(out->fd, out->temp);
	/* open, unlike mkstemp, leaves the permissions to the umask. */
	out->fd = open(out->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	return out->fd >= 0;
}

/* The same where no signal comes in between: its handler may remove no file that is another's, and
 * miss none of ours. */
static bool create_noted(struct gh_output *out, mode_t mode)
{
	sigset_t all;
	sigset_t before;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	bool made = create_temp(out, mode);
	int number = errno;
	if (made)
		note_temp(out->temp);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = number;
	return made;
}

/* Makes the file's temporary name, and a file of that name: the one that is open, if one is. */
static bool make_temp(struct gh_output *out, mode_t mode)
{
	for (int i = 0; i < MAX_ATTEMPTS; i++) {
		free(out->temp);
		if (asprintf(&out->temp, "%s.%ld-%d.tmp", out->path, (long)getpid(), i) < 0) {
			out->temp = NULL;
			return false;
		}
		if (create_noted(out, mode))
			return true;
		if (errno != EEXIST)
			break;
	}
	free(out->temp);
	out->temp = NULL;
	return false;
}

bool gh_output_open(struct gh_output *out, const char *path, mode_t mode, struct gh_error *err)
{
	*out = (struct gh_output){.fd = -1};
	if (!is_replaceable(path, err))
		return false;
	out->path = strdup(path);
	if (out->path != NULL && (open_unnamed(out, path, mode) || make_temp(out, mode)))
		return true;
	gh_fail_errno(err, path, "write");
	free_names(out);
	return false;
}

bool gh_output_spares(const char *path, const char *input, struct gh_error *err)
{
	struct stat output;
	struct stat read;
	if (stat(path, &output) != 0 || stat(input, &read) != 0 || output.st_dev != read.st_dev ||
	    output.st_ino != read.st_ino)
		return true;
	return gh_fail(err, path, GH_NO_OFFSET, "another output file than the input",
		       "the input itself");
}

bool gh_output_name(struct gh_output *out, struct gh_error *err)
{
	return out->temp != NULL || make_temp(out, 0) || gh_fail_errno(err, out->path, "write");
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

/* Gives the file, which has no name yet, its own at once, if no other file has that: whoever ends
 * the program meanwhile leaves nothing behind. */
static bool name_at_once(struct gh_output *out)
{
	char *name = out->temp == NULL ? strdup(out->path) : NULL;
	if (name == NULL || !name_file(out->fd, out->path)) {
		free(name);
		return false;
	}
	/* It is the file's last, too: to be renamed to that changes nothing. */
	out->temp = name;
	return true;
}

bool gh_output_commit(struct gh_output *out, struct gh_error *err)
{
	bool named = name_at_once(out) || gh_output_name(out, err);
	/* Some file systems, NFS among them, report a failed write only when the file is closed
	 * (close(2)). */
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

bool gh_output_end(struct gh_output *out, bool whole, struct gh_error *err)
{
	if (whole)
		return gh_output_commit(out, err);
	gh_output_discard(out);
	return false;
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
