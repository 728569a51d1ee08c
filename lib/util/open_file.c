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

int gh_open_temporary(void)
{
	const char *directory = getenv("TMPDIR");
	bool named = directory != NULL && *directory != '\0';
	if (!named)
		directory = "/tmp";
	char *path;
	if (asprintf(&path, "%s/goheap-XXXXXX", directory) < 0)
		return -1;
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	if (fd < 0 && !named)
		fd = memfd_create("goheap", MFD_CLOEXEC);
	return fd;
}

int gh_open_temporary_on_disk(uint64_t size)
{
	struct statfs system;
	int fd = gh_open_temporary();
	if (fd < 0)
		return -1;
	bool has_room = fstatfs(fd, &system) == 0 && (unsigned long)system.f_type != TMPFS_MAGIC &&
			(unsigned long)system.f_type != RAMFS_MAGIC &&
			system.f_bavail > size / (uint64_t)system.f_bsize;
	if (has_room)
		return fd;
	close(fd);
	errno = ENOSPC;
	return -1;
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
