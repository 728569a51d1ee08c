#include "lib/dump/input.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Unpacked to this many bytes even if that is more than GH_DUMP_MAX_RATIO allows. */
#define LEAST_LIMIT (16 << 20)

static bool map(struct gh_dump_input *input, int fd, const char *path, struct gh_error *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return gh_fail_errno(err, path, "read");
	if (!S_ISREG(st.st_mode))
		return gh_fail(err, path, GH_NO_OFFSET, "a regular file", "something else");
	if (st.st_size == 0)
		return true;
	void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return gh_fail_errno(err, path, "map");
	*input = (struct gh_dump_input){.data = data, .size = (size_t)st.st_size, .fd = fd};
	return true;
}

/* Maps FD, which is the input's from now on. */
static bool take(struct gh_dump_input *input, int fd, const char *path, struct gh_error *err)
{
	*input = (struct gh_dump_input){0};
	bool ok = map(input, fd, path, err);
	if (input->data == NULL)
		close(fd);
	return ok;
}

/* A file that is gone with its descriptor. */
static int make_temporary(void)
{
	const char *directory = getenv("TMPDIR");
	if (directory == NULL || *directory == '\0')
		directory = "/tmp";
	char *path;
	if (asprintf(&path, "%s/goheap-XXXXXX", directory) < 0)
		return -1;
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

/* Puts the unpacked file in the place of INPUT. */
static bool unpack(struct gh_dump_input *input, const char *path, struct gh_error *err)
{
	struct gh_dump_input packed = *input;
	*input = (struct gh_dump_input){0};
	uint64_t limit;
	if (__builtin_mul_overflow((uint64_t)packed.size, GH_DUMP_MAX_RATIO, &limit))
		limit = UINT64_MAX;
	if (limit < LEAST_LIMIT)
		limit = LEAST_LIMIT;

	bool cut = false;
	int fd = make_temporary();
	bool ok = fd >= 0 || gh_fail_errno(err, path, "make a temporary file to unpack it");
	if (ok && !gh_gzip_unpack(packed.data, packed.size, fd, limit, &cut, path, err)) {
		close(fd);
		ok = false;
	}
	ok = ok && take(input, fd, path, err);
	input->cut = ok && cut;
	gh_dump_input_close(&packed);
	return ok;
}

bool gh_dump_input_open(struct gh_dump_input *input, const char *path, struct gh_error *err)
{
	static const uint8_t gzip[] = {0x1f, 0x8b, 8};
	*input = (struct gh_dump_input){0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return gh_fail_errno(err, path, "open");
	if (!take(input, fd, path, err))
		return false;
	if (input->size < sizeof(gzip) || memcmp(input->data, gzip, sizeof(gzip)) != 0)
		return true;
	return unpack(input, path, err);
}

size_t gh_dump_input_copy(const struct gh_dump_input *input, void *buf, size_t size,
			  uint64_t offset)
{
	if (input->data == NULL)
		return 0;
	ssize_t copied = pread(input->fd, buf, size, (off_t)offset);
	return copied > 0 ? (size_t)copied : 0;
}

void gh_dump_input_release(const struct gh_dump_input *input, uint64_t start, uint64_t end)
{
	if (input->data == NULL)
		return;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	start -= start % page;
	if (end > input->size)
		end = input->size;
	if (start < end)
		madvise((void *)(input->data + start), (size_t)(end - start), MADV_DONTNEED);
}

void gh_dump_input_close(struct gh_dump_input *input)
{
	if (input->data != NULL) {
		munmap((void *)input->data, input->size);
		close(input->fd);
	}
	*input = (struct gh_dump_input){0};
}
