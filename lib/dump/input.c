#include "lib/dump/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/util/open_file.h"
#include "lib/util/output.h"

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

/* Unpacks the SIZE bytes at DATA, which gzip made (RFC 1952, several
 * members one after the other), into FD. At most LIMIT bytes
 * come out. Sets CUT if it ends before its own end. PATH is for ERR, filled if false is returned:
 * FD cannot be written or memory ran out. */
static bool gunzip(const uint8_t *data, size_t size, int fd, uint64_t limit, bool *cut,
		   const char *path, struct gh_error *err)
{
	uint8_t chunk[CHUNK_SIZE];
	z_stream stream = {0};
	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return gh_fail_memory(err, path);
	int status = Z_OK;
	bool written = true;
	uint64_t total = 0;
	while (status == Z_OK && total < limit && written) {
		stream.next_out = chunk;
		stream.avail_out = sizeof(chunk);
		status = next_chunk(&stream, &data, &size);
		size_t length = sizeof(chunk) - stream.avail_out;
		if (length > limit - total) {
			length = limit - total;
			status = Z_OK;
		}
		total += length;
		written = gh_write_all(fd, chunk, length);
	}
	inflateEnd(&stream);
	*cut = status != Z_STREAM_END;
	return written || gh_fail_errno(err, path, "unpack");
}

/* Unpacked to this many bytes even if that is more than GH_DUMP_MAX_RATIO allows. */
#define LEAST_LIMIT (16 << 20)

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
	uint64_t limit;
	if (__builtin_mul_overflow((uint64_t)packed.size, GH_DUMP_MAX_RATIO, &limit))
		limit = UINT64_MAX;
	if (limit < LEAST_LIMIT)
		limit = LEAST_LIMIT;

	bool cut = false;
	int fd = gh_open_temporary();
	bool ok = fd >= 0 || gh_fail_errno(err, path, "make a temporary file to unpack it");
	if (ok && !gunzip(packed.data, packed.size, fd, limit, &cut, path, err)) {
		close(fd);
		ok = false;
	}
	ok = ok && gh_dump_input_take(input, fd, path, err);
	input->is_unpacked = true;
	input->cut = ok && cut;
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
