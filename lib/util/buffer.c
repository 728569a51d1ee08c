#include "lib/util/buffer.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 256

void gh_buffer_free(struct gh_buffer *buf)
{
	free(buf->data);
	buf->data = NULL;
	buf->size = 0;
	buf->capacity = 0;
}

/* Doubling keeps the cost of each byte constant. What is reserved but never written costs address
 * space only. */
static bool grow(struct gh_buffer *buf, size_t size)
{
	size_t needed;
	if (buf->failed || __builtin_add_overflow(buf->size, size, &needed))
		return false;
	size_t capacity = buf->capacity > 0 ? buf->capacity : FIRST_CAPACITY;
	while (capacity < needed)
		if (__builtin_mul_overflow(capacity, 2, &capacity))
			return false;
	uint8_t *data = realloc(buf->data, capacity);
	if (data == NULL)
		return false;
	buf->data = data;
	buf->capacity = capacity;
	return true;
}

bool gh_buffer_grow(struct gh_buffer *buf, size_t size)
{
	if (!grow(buf, size))
		buf->failed = true;
	return !buf->failed;
}

void gh_buffer_bytes(struct gh_buffer *buf, const void *data, size_t size)
{
	if (size == 0)
		return;
	void *place = gh_buffer_extend(buf, size);
	if (place != NULL)
		memcpy(place, data, size);
}

void gh_buffer_string(struct gh_buffer *buf, const char *text)
{
	gh_buffer_bytes(buf, text, strlen(text) + 1);
}

static void store(uint8_t *place, uint64_t value, unsigned size, bool big_endian)
{
	for (unsigned i = 0; i < size; i++) {
		unsigned byte = big_endian ? size - 1 - i : i;
		place[i] = (uint8_t)(value >> (8 * byte));
	}
}

void gh_buffer_uint(struct gh_buffer *buf, uint64_t value, unsigned size)
{
	uint8_t *place = gh_buffer_extend(buf, size);
	if (place != NULL)
		store(place, value, size, buf->big_endian);
}

void gh_buffer_u8(struct gh_buffer *buf, uint8_t value)
{
	uint8_t *place = gh_buffer_extend(buf, 1);
	if (place != NULL)
		*place = value;
}

void gh_buffer_u16(struct gh_buffer *buf, uint16_t value)
{
	gh_buffer_uint(buf, value, 2);
}

void gh_buffer_u32(struct gh_buffer *buf, uint32_t value)
{
	gh_buffer_uint(buf, value, 4);
}

void gh_buffer_u64(struct gh_buffer *buf, uint64_t value)
{
	gh_buffer_uint(buf, value, 8);
}

void gh_buffer_uleb128(struct gh_buffer *buf, uint64_t value)
{
	size_t size = ((size_t)(64 - __builtin_clzll(value | 1)) + 6) / 7;
	uint8_t *place = gh_buffer_extend(buf, size);
	if (place == NULL)
		return;
	for (; value >= 0x80; value >>= 7)
		*place++ = (uint8_t)(value | 0x80);
	*place = (uint8_t)value;
}

void gh_buffer_sleb128(struct gh_buffer *buf, int64_t value)
{
	/* The last byte's second-highest bit is the sign of what follows it. */
	while (value < -0x40 || value > 0x3f) {
		gh_buffer_u8(buf, (uint8_t)(value | 0x80));
		value >>= 7;
	}
	gh_buffer_u8(buf, (uint8_t)(value & 0x7f));
}

void gh_buffer_align(struct gh_buffer *buf, size_t align)
{
	size_t size = -buf->size & (align - 1);
	if (size == 0)
		return;
	void *place = gh_buffer_extend(buf, size);
	if (place != NULL)
		memset(place, 0, size);
}

void gh_buffer_patch(struct gh_buffer *buf, size_t offset, uint64_t value, unsigned size)
{
	if (offset <= buf->size && size <= buf->size - offset)
		store(buf->data + offset, value, size, buf->big_endian);
}
