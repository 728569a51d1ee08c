#include "lib/process/dump_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/util/output.h"

/* Bytes that are written at once. */
#define ENOUGH (1 << 20)

struct gh_dump_stream gh_dump_stream_make(const struct gh_process *process, int fd)
{
	uint64_t left;
	/* Zeros stand for what a core file that was cut short lacks. */
	if (__builtin_mul_overflow(process->memory.source->size, 4, &left))
		left = UINT64_MAX;
	return (struct gh_dump_stream){.fd = fd, .left = left};
}

void gh_dump_stream_compress(struct gh_dump_stream *stream)
{
	int fd = dup(stream->fd);
	stream->gzip = fd >= 0 ? gzdopen(fd, "wb1") : NULL;
	stream->failed = stream->gzip == NULL;
	if (stream->failed && fd >= 0) {
		close(fd);
		errno = ENOMEM;
	}
}

static bool write_all(const struct gh_dump_stream *stream)
{
	const struct gh_buffer *bytes = &stream->bytes;
	if (stream->gzip == NULL)
		return gh_write_all(stream->fd, bytes->data, bytes->size);
	return gzfwrite(bytes->data, 1, bytes->size, stream->gzip) == bytes->size;
}

static void write_bytes(struct gh_dump_stream *stream)
{
	if (stream->fd < 0)
		return;
	if (!stream->failed && !write_all(stream)) {
		stream->failed = true;
		stream->error = errno;
	}
	stream->bytes.size = 0;
}

void gh_dump_stream_pass(struct gh_dump_stream *stream)
{
	if (stream->bytes.size >= ENOUGH)
		write_bytes(stream);
}

bool gh_dump_stream_end(struct gh_dump_stream *stream)
{
	write_bytes(stream);
	if (stream->gzip != NULL && gzclose(stream->gzip) != Z_OK)
		stream->failed = true;
	stream->gzip = NULL;
	/* The rest has been read since. */
	if (stream->error != 0)
		errno = stream->error;
	return !stream->failed && !stream->bytes.failed;
}

void gh_dump_stream_text(struct gh_dump_stream *stream, const char *text, size_t size)
{
	gh_buffer_uleb128(&stream->bytes, size);
	gh_buffer_bytes(&stream->bytes, text, size);
}

/* Reads SIZE bytes at ADDRESS to BYTES, page by page if need be. */
static void copy(struct gh_dump_stream *stream, struct gh_process *process, uint64_t address,
		 uint8_t *bytes, size_t size)
{
	/* Small ones come from blocks that are kept. */
	if (size < GH_PROCESS_BLOCK / 2
		? gh_process_read(&process->memory, address, bytes, size)
		: process->memory.source->read(process->memory.source, address, bytes, size))
		return;
	while (size > 0) {
		size_t part = (size_t)(gh_page_end(address) - address);
		if (part > size)
			part = size;
		if (!gh_process_read(&process->memory, address, bytes, part)) {
			memset(bytes, 0, part);
			stream->missing += part;
		}
		address += part;
		bytes += part;
		size -= part;
	}
}

bool gh_dump_stream_memory(struct gh_dump_stream *stream, struct gh_process *process,
			   uint64_t address, uint64_t size)
{
	if (size > stream->left)
		return false;
	stream->left -= size;
	gh_buffer_uleb128(&stream->bytes, size);
	while (size > 0) {
		size_t part = size < GH_PROCESS_BLOCK ? (size_t)size : GH_PROCESS_BLOCK;
		uint8_t *bytes = gh_buffer_extend(&stream->bytes, part);
		if (bytes == NULL)
			return true;
		copy(stream, process, address, bytes, part);
		gh_dump_stream_pass(stream);
		address += part;
		size -= part;
	}
	return true;
}
