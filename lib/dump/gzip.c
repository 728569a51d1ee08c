/* What gzip made: RFC 1952, and several members one after the other. */
#include <zlib.h>

#include "lib/dump/input.h"
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

bool gh_gzip_unpack(const uint8_t *data, size_t size, int fd, uint64_t limit, bool *cut,
		    const char *path, struct gh_error *err)
{
	uint8_t chunk[CHUNK_SIZE];
	z_stream stream = {0};
	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return gh_fail(err, path, GH_NO_OFFSET, "memory to unpack it", "none");
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
