#include "lib/util/cursor.h"

#include <string.h>

#include "lib/util/error.h"

struct gh_cursor gh_cursor_make(const void *data, size_t size, const char *file, uint64_t offset,
				bool big_endian)
{
	const uint8_t *start = data;
	return (struct gh_cursor){
	    .pos = start,
	    .end = start + size,
	    .start = start,
	    .file = file,
	    .offset = offset,
	    .big_endian = big_endian,
	};
}

uint64_t gh_cursor_join_bytes(const uint8_t *bytes, unsigned size, bool big_endian)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < size; i++)
		value = value << 8 | bytes[big_endian ? i : size - 1 - i];
	return value;
}

uint16_t gh_cursor_u16(struct gh_cursor *cur)
{
	return (uint16_t)gh_cursor_uint(cur, 2);
}

uint32_t gh_cursor_u32(struct gh_cursor *cur)
{
	const uint8_t *bytes = gh_cursor_bytes(cur, 4);
	if (bytes == NULL)
		return 0;
	/* Compilers make one instruction of either: this is read for every row of a pclntab. */
	if (cur->big_endian)
		return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
		       (uint32_t)bytes[2] << 8 | bytes[3];
	return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 |
	       bytes[0];
}

uint64_t gh_cursor_u64(struct gh_cursor *cur)
{
	return gh_cursor_uint(cur, 8);
}

/* The number that begins at START is too long: nothing is read of it, nor of what follows. */
static uint64_t fail_at(struct gh_cursor *cur, const uint8_t *start)
{
	cur->pos = cur->end = start;
	cur->failed = true;
	return 0;
}

uint64_t gh_cursor_uvarint_rest(struct gh_cursor *cur, uint8_t first)
{
	const uint8_t *start = cur->pos - 1;
	uint64_t value = first & 0x7f;
	for (unsigned shift = 7; shift < 64; shift += 7) {
		uint8_t byte = gh_cursor_u8(cur);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return shift == 63 && byte > 1 ? fail_at(cur, start) : value;
	}
	return fail_at(cur, start);
}

const char *gh_cursor_string(struct gh_cursor *cur)
{
	const uint8_t *nul = memchr(cur->pos, 0, gh_cursor_left(cur));
	if (nul == NULL) {
		cur->pos = cur->end;
		cur->failed = true;
		return NULL;
	}
	const char *text = (const char *)cur->pos;
	cur->pos = nul + 1;
	return text;
}

struct gh_cursor gh_cursor_slice(const struct gh_cursor *cur, uint64_t offset, uint64_t size)
{
	struct gh_cursor slice = *cur;
	gh_cursor_seek(&slice, offset);
	slice.offset = gh_cursor_offset(&slice);
	slice.start = slice.pos;
	if (size > gh_cursor_left(&slice))
		slice.failed = true;
	else
		slice.end = slice.start + size;
	return slice;
}

bool gh_cursor_fail(const struct gh_cursor *cur, struct gh_error *err, const char *expected)
{
	return gh_fail(err, cur->file, gh_cursor_offset(cur), expected, "the end of the data");
}
