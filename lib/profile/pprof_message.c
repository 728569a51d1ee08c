#include <errno.h>
#include <unistd.h>

#include "lib/profile/internal.h"
#include "lib/util/escape.h"
#include "lib/util/output.h"

/* How a value of a message is written: https://protobuf.dev/programming-guides/encoding. */
enum wire_type {
	VARINT = 0,
	LENGTH_DELIMITED = 2,
};

static void put_tag(struct gh_buffer *message, unsigned field, enum wire_type type)
{
	gh_buffer_uleb128(message, (uint64_t)field << 3 | type);
}

void gh_pprof_put_int(struct gh_buffer *message, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	put_tag(message, field, VARINT);
	gh_buffer_uleb128(message, value);
}

/* Appends a string or a message, SIZE bytes at DATA. A string must be UTF-8. */
static void put_bytes(struct gh_buffer *message, unsigned field, const void *data, size_t size)
{
	put_tag(message, field, LENGTH_DELIMITED);
	gh_buffer_uleb128(message, size);
	gh_buffer_bytes(message, data, size);
}

static size_t varint_size(uint64_t value)
{
	size_t size = 1;
	while (value >= 0x80) {
		value >>= 7;
		size++;
	}
	return size;
}

void gh_pprof_put_ints(struct gh_buffer *message, unsigned field, const uint64_t *values,
		       size_t count)
{
	size_t size = 0;
	for (size_t i = 0; i < count; i++)
		size += varint_size(values[i]);
	put_tag(message, field, LENGTH_DELIMITED);
	gh_buffer_uleb128(message, size);
	for (size_t i = 0; i < count; i++)
		gh_buffer_uleb128(message, values[i]);
}

/* What OUT failed of, as far as is known. */
static void fail_writing(struct gh_pprof_out *out)
{
	int number;
	gzerror(out->stream, &number);
	if (number != Z_ERRNO)
		errno = number == Z_MEM_ERROR ? ENOMEM : EIO;
	out->failed = true;
}

/* Writes the field. */
static void flush(struct gh_pprof_out *out)
{
	struct gh_buffer *field = &out->field;
	if (!out->failed && gzfwrite(field->data, 1, field->size, out->stream) != field->size)
		fail_writing(out);
	if (field->failed || out->message.failed || out->nested.failed) {
		errno = ENOMEM;
		out->failed = true;
	}
	field->size = 0;
}

void gh_pprof_write_int(struct gh_pprof_out *out, unsigned field, uint64_t value)
{
	gh_pprof_put_int(&out->field, field, value);
	flush(out);
}

void gh_pprof_end_message(struct gh_pprof_out *out, unsigned field)
{
	put_bytes(&out->field, field, out->message.data, out->message.size);
	out->message.size = 0;
	flush(out);
}

void gh_pprof_end_nested(struct gh_pprof_out *out, unsigned field)
{
	put_bytes(&out->message, field, out->nested.data, out->nested.size);
	out->nested.size = 0;
}

void gh_pprof_write_type(struct gh_pprof_out *out, unsigned field, unsigned type, unsigned unit)
{
	gh_pprof_put_int(&out->message, GH_PPROF_VALUE_TYPE_TYPE, type);
	gh_pprof_put_int(&out->message, GH_PPROF_VALUE_TYPE_UNIT, unit);
	gh_pprof_end_message(out, field);
}

void gh_pprof_write_string(struct gh_pprof_out *out, const char *text, size_t size)
{
	gh_escape_utf8(&out->message, text, size);
	gh_pprof_end_message(out, GH_PPROF_PROFILE_STRING_TABLE);
}

/* Writes the profile, compressed, to FD, which stays open. False, and errno set, if it cannot. */
static bool write_compressed(int fd, gh_pprof_writer *write, const void *context)
{
	int copy = dup(fd);
	struct gh_pprof_out out = {0};
	if (copy < 0)
		return false;
	errno = 0;
	out.stream = gzdopen(copy, "wb");
	if (out.stream == NULL) {
		close(copy);
		errno = errno != 0 ? errno : ENOMEM;
		return false;
	}
	write(&out, context);
	int number = errno;
	/* What is left in zlib's buffers is written now. */
	if (gzclose(out.stream) != Z_OK && !out.failed) {
		number = errno;
		out.failed = true;
	}
	gh_buffer_free(&out.field);
	gh_buffer_free(&out.message);
	gh_buffer_free(&out.nested);
	errno = number;
	return !out.failed;
}

bool gh_pprof_write_file(const char *path, gh_pprof_writer *write, const void *context,
			 struct gh_error *err)
{
	struct gh_output out;
	if (!gh_output_open(&out, path, GH_OUTPUT_PUBLIC, err))
		return false;
	bool whole = write_compressed(out.fd, write, context) || gh_fail_errno(err, path, "write");
	return gh_output_end(&out, whole, err);
}
