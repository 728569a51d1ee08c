#include "lib/write/protobuf.h"

enum wire_type {
	VARINT = 0,
	LENGTH_DELIMITED = 2,
};

static void put_tag(struct gh_buffer *message, unsigned field, enum wire_type type)
{
	gh_buffer_uleb128(message, (uint64_t)field << 3 | type);
}

void gh_protobuf_int(struct gh_buffer *message, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	put_tag(message, field, VARINT);
	gh_buffer_uleb128(message, value);
}

void gh_protobuf_bytes(struct gh_buffer *message, unsigned field, const void *data, size_t size)
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

void gh_protobuf_ints(struct gh_buffer *message, unsigned field, const uint64_t *values,
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
