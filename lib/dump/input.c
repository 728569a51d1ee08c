#include "lib/dump/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/util/open_file.h"
#include "lib/util/output.h"
#include "lib/util/zeros.h"

/* A gzip header, and the largest window. */
#define GZIP_WINDOW (16 + MAX_WBITS)

#define CHUNK_SIZE (1 << 16)

/* The input is given to zlib in pieces that its counter can hold. */
static void feed(z_stream *stream, const uint8_t **data, size_t *size)
{
	size_t piece = *size < CHUNK_SIZE ? *size : CHUNK_SIZE;
	stream->next_in = (Bytef *)*data;
	stream->avail_in = (uInt)piece;
	*data += piece;
	*size -= piece;
}

/* The next chunk of output. Z_STREAM_END if there is no more input where one member ends. */
static int next_chunk(z_stream *stream, const uint8_t **data, size_t *size)
{
	for (;;) {
		if (stream->avail_in == 0)
			feed(stream, data, size);
		bool starved = stream->avail_in == 0;
		int status = inflate(stream, Z_NO_FLUSH);
		if (status == Z_STREAM_END && (stream->avail_in > 0 || *size > 0))
			status = inflateReset(stream);
		else if (status == Z_BUF_ERROR && !starved)
			status = Z_OK;
		if (status != Z_OK || stream->avail_out == 0)
			return status;
	}
}

/* A file that is unpacked. What is zeros in it takes no room. */
struct unpacked {
	int fd;
	uint64_t size; /* in bytes */
	uint64_t left; /* bytes that may still be written */
	bool limited;  /* there were more */
};

/* Adds SIZE bytes. False if they cannot be written. */
static bool add(struct unpacked *to, const uint8_t *bytes, size_t size)
{
	bool zeros = gh_is_zeros(bytes, size);
	to->limited = !zeros && size > to->left;
	if (to->limited)
		return true;
	if (!zeros) {
		if (lseek(to->fd, (off_t)to->size, SEEK_SET) < 0 ||
		    !gh_write_all(to->fd, bytes, size))
			return false;
		to->left -= size;
	}
	to->size += size;
	return true;
}

/* Unpacks the SIZE bytes at DATA, which gzip made (RFC 1952, several members one after the other),
 * as far as it may. Sets CUT if it ends before its own end. PATH is for ERR, filled if false is
 * returned: the file cannot be written or memory ran out. */
static bool gunzip(const uint8_t *data, size_t size, struct unpacked *to, bool *cut,
		   const char *path, struct gh_error *err)
{
	uint8_t chunk[CHUNK_SIZE];
	z_stream stream = {0};
	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return gh_fail_memory(err, path);
	int status = Z_OK;
	bool written = true;
	while (status == Z_OK && !to->limited && written) {
		stream.next_out = chunk;
		stream.avail_out = sizeof(chunk);
		status = next_chunk(&stream, &data, &size);
		written = add(to, chunk, sizeof(chunk) - stream.avail_out);
	}
	inflateEnd(&stream);
	*cut = status != Z_STREAM_END;
	written = written && ftruncate(to->fd, (off_t)to->size) == 0;
	return written || gh_fail_errno(err, path, "unpack");
}

/* So much may be written in any case, in bytes. */
#define LEAST_LIMIT (16 << 20)

/* How much may be written to the temporary file FD, in bytes: half of what is free there. */
static uint64_t limit_of(int fd)
{
	struct statvfs system;
	uint64_t limit;
	if (fstatvfs(fd, &system) != 0 ||
	    __builtin_mul_overflow(system.f_bavail, system.f_frsize, &limit))
		return LEAST_LIMIT;
	return limit / 2 > LEAST_LIMIT ? limit / 2 : LEAST_LIMIT;
}

static bool map(struct gh_dump_input *input, int fd, const char *path, struct gh_error *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return gh_fail_errno(err, path, "read");
	if (st.st_size == 0)
		return true;
	void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return gh_fail_errno(err, path, "map");
	*input = (struct gh_dump_input){.data = data, .size = (size_t)st.st_size, .fd = fd};
	return true;
}

bool gh_dump_input_take(struct gh_dump_input *input, int fd, const char *path, struct gh_error *err)
{
	*input = (struct gh_dump_input){0};
	bool ok = map(input, fd, path, err);
	if (input->data == NULL)
		close(fd);
	return ok;
}

/* Puts the unpacked file in the place of INPUT. */
static bool unpack(struct gh_dump_input *input, const char *path, struct gh_error *err)
{
	struct gh_dump_input packed = *input;
	*input = (struct gh_dump_input){0};
	bool cut = false;
	int fd = gh_open_temporary();
	bool ok = fd >= 0 || gh_fail_errno(err, path, "make a temporary file to unpack it");
	struct unpacked to = {.fd = fd, .left = ok ? limit_of(fd) : 0};
	uint64_t limit = to.left;
	if (ok && !gunzip(packed.data, packed.size, &to, &cut, path, err)) {
		close(fd);
		ok = false;
	}
	ok = ok && gh_dump_input_take(input, fd, path, err);
	input->is_unpacked = true;
	input->cut = ok && cut;
	input->limit = ok && to.limited ? limit : 0;
	gh_dump_input_close(&packed);
	return ok;
}

bool gh_dump_input_open(struct gh_dump_input *input, const char *path, struct gh_error *err)
{
	static const uint8_t gzip[] = {0x1f, 0x8b, 8};
	*input = (struct gh_dump_input){0};
	struct stat st;
	int fd = gh_open_file(path, &st, err);
	if (fd < 0)
		return false;
	if (!gh_dump_input_take(input, fd, path, err))
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
