#include "lib/elf/elf.h"

#include <string.h>
#include <zlib.h>

/* Debug information is compressed to a third or so. A crafted section could grow to a thousand
 * times its size. */
#define MAX_RATIO 32

/* What comes before the contents of a section called .zdebug: this and their size, as a big-endian
 * number of 8 bytes. */
static const char magic[] = "ZLIB";

const struct gh_section *gh_debug_section(const struct gh_image *image, const char *name)
{
	for (size_t i = 1; i < image->nsections; i++) {
		const char *found = image->sections[i].name;
		if (found[0] == '.' && (strcmp(found + 1, name) == 0 ||
					(found[1] == 'z' && strcmp(found + 2, name) == 0)))
			return &image->sections[i];
	}
	return NULL;
}

/* Appends what is left of CUR, which is compressed, and has SIZE bytes when it is not. */
static bool inflate_to(struct gh_buffer *out, const struct gh_cursor *cur, uint64_t size)
{
	size_t compressed = gh_cursor_left(cur);
	if (cur->failed || size / MAX_RATIO > compressed)
		return false;
	uLongf written = size;
	uint8_t *to = gh_buffer_extend(out, size);
	return to != NULL && uncompress(to, &written, cur->pos, compressed) == Z_OK &&
	       written == size;
}

bool gh_debug_section_read(const struct gh_image *image, const struct gh_section *section,
			   struct gh_buffer *out)
{
	struct gh_cursor cur;
	uint64_t size = 0;
	if (!gh_image_section_cursor(image, section, &cur, NULL))
		return false;
	if ((section->header.sh_flags & SHF_COMPRESSED) != 0) {
		bool is_zlib = gh_cursor_u32(&cur) == ELFCOMPRESS_ZLIB;
		if (image->arch->pointer_size == 8)
			gh_cursor_u32(&cur);
		size = gh_cursor_uint(&cur, image->arch->pointer_size);
		gh_cursor_uint(&cur, image->arch->pointer_size); /* alignment */
		return is_zlib && inflate_to(out, &cur, size);
	}
	if (section->name[1] == 'z') {
		const uint8_t *begin = gh_cursor_bytes(&cur, sizeof(magic) - 1);
		if (begin == NULL || memcmp(begin, magic, sizeof(magic) - 1) != 0)
			return false;
		for (unsigned i = 0; i < 8; i++)
			size = size << 8 | gh_cursor_u8(&cur);
		return inflate_to(out, &cur, size);
	}
	gh_buffer_bytes(out, cur.pos, gh_cursor_left(&cur));
	return !out->failed;
}
