/* The bounds-checked cursor through which every byte of an input is read.
 *
 * A read past the end gives 0 and marks the cursor as failed, for good: a caller may read a whole
 * structure and ask once, afterwards, whether all of it was there. */
#ifndef GH_UTIL_CURSOR_H
#define GH_UTIL_CURSOR_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct gh_error;

struct gh_cursor {
	const uint8_t *pos;   /* the next byte to read */
	const uint8_t *end;   /* one past the last byte that may be read */
	const uint8_t *start; /* the first byte */
	const char *file;     /* name of the input, for errors; not owned */
	uint64_t offset;      /* of start, in the input, in bytes */
	bool big_endian;      /* the byte order of integers */
	bool failed;          /* a read went past the end, or a varint has more than 64
				 bits: then the end is moved there */
};

/* A cursor over SIZE bytes at DATA, which lie at OFFSET in the input called FILE. */
struct gh_cursor gh_cursor_make(const void *data, size_t size, const char *file, uint64_t offset,
				bool big_endian);

/* Fixed-size integers, in the cursor's byte order. */
uint16_t gh_cursor_u16(struct gh_cursor *cur);
uint32_t gh_cursor_u32(struct gh_cursor *cur);
uint64_t gh_cursor_u64(struct gh_cursor *cur);

static inline uint8_t gh_cursor_u8(struct gh_cursor *cur)
{
	if (cur->pos == cur->end) {
		cur->failed = true;
		return 0;
	}
	return *cur->pos++;
}

/* The rest of an unsigned LEB128 integer whose first byte was FIRST, with its high bit set. */
uint64_t gh_cursor_uvarint_rest(struct gh_cursor *cur, uint8_t first);

/* Private: the integer in the bytes of WORD, the first in the lowest. */
static inline uint64_t gh_cursor_join_groups(uint64_t word)
{
	word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1;
	word = (word & 0x00003fff00003fff) | (word & 0x3fff00003fff0000) >> 2;
	return (word & 0x000000000fffffff) | (word & 0x0fffffff00000000) >> 4;
}

/* An unsigned LEB128 integer (Go's uvarint) of at most 64 bits. Of a longer one the cursor fails,
 * and ends where that begins. */
static inline uint64_t gh_cursor_uvarint(struct gh_cursor *cur)
{
	uint8_t first = gh_cursor_u8(cur);
	if (first < 0x80)
		return first;
	/* Most are addresses: all bytes at once, if they are in the next 8. */
	uint64_t word = 0;
	if ((size_t)(cur->end - cur->pos) >= sizeof(word)) {
		memcpy(&word, cur->pos - 1, sizeof(word));
		word = le64toh(word);
		uint64_t ends = ~word & 0x8080808080808080;
		if (ends != 0) {
			cur->pos += __builtin_ctzll(ends) / 8;
			return gh_cursor_join_groups(word & (ends ^ (ends - 1)));
		}
	}
	/* A copy, so that CUR can be in registers where this is inline. */
	struct gh_cursor copy = *cur;
	uint64_t value = gh_cursor_uvarint_rest(&copy, first);
	*cur = copy;
	return value;
}

/* Passes over one. */
static inline void gh_cursor_skip_uvarint(struct gh_cursor *cur)
{
	while (gh_cursor_u8(cur) >= 0x80)
		;
}

/* The bytes up to a NUL, which is passed over. NULL, and the cursor failed, if there is none. */
const char *gh_cursor_string(struct gh_cursor *cur);

/* SIZE bytes, which stay in the input. NULL, and the cursor failed, if there are fewer. */
static inline const uint8_t *gh_cursor_bytes(struct gh_cursor *cur, uint64_t size)
{
	if (size > (size_t)(cur->end - cur->pos)) {
		cur->pos = cur->end;
		cur->failed = true;
		return NULL;
	}
	const uint8_t *bytes = cur->pos;
	cur->pos += size;
	return bytes;
}

/* Private: the integer in the SIZE bytes at BYTES. */
uint64_t gh_cursor_join_bytes(const uint8_t *bytes, unsigned size, bool big_endian);

/* An unsigned integer of SIZE bytes: 1, 2, 4 or 8. */
static inline uint64_t gh_cursor_uint(struct gh_cursor *cur, unsigned size)
{
	const uint8_t *bytes = gh_cursor_bytes(cur, size);
	uint64_t word;
	if (bytes == NULL)
		return 0;
	if (size != sizeof(word))
		return gh_cursor_join_bytes(bytes, size, cur->big_endian);
	memcpy(&word, bytes, sizeof(word));
	return cur->big_endian ? be64toh(word) : le64toh(word);
}

/* Moves to OFFSET bytes from the start of the cursor; at most to its end, else it fails. */
static inline void gh_cursor_seek(struct gh_cursor *cur, uint64_t offset)
{
	if (offset > (size_t)(cur->end - cur->start)) {
		cur->pos = cur->end;
		cur->failed = true;
		return;
	}
	cur->pos = cur->start + offset;
}

/* A cursor over the SIZE bytes at OFFSET from the start of CUR; one that has failed if they
 * are not all there. */
struct gh_cursor gh_cursor_slice(const struct gh_cursor *cur, uint64_t offset, uint64_t size);

/* The bytes from its start to its end, wherever it stands. */
static inline size_t gh_cursor_size(const struct gh_cursor *cur)
{
	return (size_t)(cur->end - cur->start);
}

/* The bytes left. */
static inline size_t gh_cursor_left(const struct gh_cursor *cur)
{
	return (size_t)(cur->end - cur->pos);
}

/* The offset of the next byte in the input. */
static inline uint64_t gh_cursor_offset(const struct gh_cursor *cur)
{
	return cur->offset + (uint64_t)(cur->pos - cur->start);
}

/* Fills ERR with "expected EXPECTED, found the end of ..." at the cursor's place. Returns false. */
bool gh_cursor_fail(const struct gh_cursor *cur, struct gh_error *err, const char *expected);

#endif
