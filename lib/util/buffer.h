/* A growable array of bytes: what the writers write into. */
#ifndef GH_UTIL_BUFFER_H
#define GH_UTIL_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gh_buffer {
	uint8_t *data;   /* owned */
	size_t size;     /* bytes in use */
	size_t capacity; /* bytes allocated */
	bool big_endian; /* the byte order of integers */
	bool failed;     /* memory ran out: what was added since is lost */
};

/* Frees the bytes and makes the buffer empty. */
void gh_buffer_free(struct gh_buffer *buf);

/* Makes room for SIZE more bytes, not in use yet. False, and the buffer failed, if memory ran out.
 */
bool gh_buffer_grow(struct gh_buffer *buf, size_t size);

/* Makes room for SIZE more bytes and returns where they go, already counted as in use and not
 * initialised. NULL, and the buffer failed, if memory ran out. */
static inline void *gh_buffer_extend(struct gh_buffer *buf, size_t size)
{
	bool fits = buf->data != NULL && size <= buf->capacity - buf->size;
	if (!fits && !gh_buffer_grow(buf, size))
		return NULL;
	buf->size += size;
	return buf->data + buf->size - size;
}

void gh_buffer_bytes(struct gh_buffer *buf, const void *data, size_t size);
void gh_buffer_string(struct gh_buffer *buf, const char *text); /* with its NUL */
void gh_buffer_u8(struct gh_buffer *buf, uint8_t value);
void gh_buffer_u16(struct gh_buffer *buf, uint16_t value);
void gh_buffer_u32(struct gh_buffer *buf, uint32_t value);
void gh_buffer_u64(struct gh_buffer *buf, uint64_t value);
void gh_buffer_uint(struct gh_buffer *buf, uint64_t value, unsigned size); /* 1, 2, 4 or 8 bytes */
void gh_buffer_uleb128(struct gh_buffer *buf, uint64_t value);
void gh_buffer_sleb128(struct gh_buffer *buf, int64_t value);

/* Adds zero bytes up to a multiple of ALIGN, a power of two. */
void gh_buffer_align(struct gh_buffer *buf, size_t align);

/* Overwrites SIZE (1, 2, 4 or 8) bytes at OFFSET with VALUE; does nothing where they are not in
 * use, as when memory ran out before. */
void gh_buffer_patch(struct gh_buffer *buf, size_t offset, uint64_t value, unsigned size);

#endif
