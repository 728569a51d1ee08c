#include "lib/util/open_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/statfs.h>
#include <unistd.h>

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a directory";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

int gh_open_file(const char *path, struct stat *st, struct gh_error *err)
{
	/* A socket cannot be opened, and some devices do something when they are. */
	bool found = stat(path, st) == 0;
	int fd = -1;
	if (found && S_ISREG(st->st_mode)) {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		found = fd >= 0 && fstat(fd, st) == 0;
	}
	if (!found)
		gh_fail_errno(err, path, "open");
	else if (!S_ISREG(st->st_mode))
		gh_fail(err, path, GH_NO_OFFSET, "a regular file", "%s", kind_of(st->st_mode));
	else
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Opens a file in DIRECTORY that is gone with its descriptor. */
static int open_in(const char *directory)
{
	char *path;
	if (asprintf(&path, "%s/goheap-XXXXXX", directory) < 0)
		return -1;
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

/* The directory that the user has named for temporary files; NULL if there is none. */
static const char *named_directory(void)
{
	const char *directory = getenv("TMPDIR");
	return directory != NULL && *directory != '\0' ? directory : NULL;
}

int gh_open_temporary(void)
{
	const char *named = named_directory();
	int fd = open_in(named != NULL ? named : "/tmp");
	if (fd < 0 && named == NULL)
		fd = memfd_create("goheap", MFD_CLOEXEC);
	return fd;
}

/* The file FD is on a disk that has room for SIZE bytes. */
static bool has_room(int fd, uint64_t size)
{
	struct statfs system;
	return fstatfs(fd, &system) == 0 && (unsigned long)system.f_type != TMPFS_MAGIC &&
	       (unsigned long)system.f_type != RAMFS_MAGIC &&
	       system.f_bavail > size / (uint64_t)system.f_bsize;
}

int gh_open_temporary_on_disk(uint64_t size)
{
	const char *named = named_directory();
	const char *directories[] = {named != NULL ? named : "/tmp",
				     named != NULL ? NULL : "/var/tmp"};
	for (size_t i = 0; i < 2 && directories[i] != NULL; i++) {
		int fd = open_in(directories[i]);
		if (fd >= 0 && has_room(fd, size))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	errno = ENOSPC;
	return -1;
}

bool gh_write_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
	const uint8_t *from = bytes;
	while (size > 0) {
		ssize_t written = pwrite(fd, from, size, (off_t)offset);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		from += written;
		size -= (size_t)written;
		offset += (uint64_t)written;
	}
	return true;
}

bool gh_is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool gh_copy_file(int to, int from, off_t size)
{
	for (off_t done = 0; done < size;)
		if (sendfile(to, from, &done, (size_t)(size - done)) <= 0)
			return false;
	return true;
}
