#include "lib/elf/elf.h"

/* Where the DT_RELA table is and how long, in bytes. False if there is none. */
static bool find_rela(const struct gh_image *image, uint64_t *address, uint64_t *size)
{
	unsigned word = image->arch->pointer_size;
	struct gh_cursor cur;
	for (size_t i = 0; i < image->nsegments; i++) {
		if (image->segments[i].p_type != PT_DYNAMIC)
			continue;
		if (!gh_image_at(image, image->segments[i].p_vaddr, &cur))
			return false;
		*address = *size = 0;
		while (gh_cursor_left(&cur) >= 2 * word) {
			uint64_t tag = gh_cursor_uint(&cur, word);
			uint64_t value = gh_cursor_uint(&cur, word);
			if (tag == DT_NULL)
				break;
			if (tag == DT_RELA)
				*address = value;
			else if (tag == DT_RELASZ)
				*size = value;
		}
		return *address != 0 && *size != 0;
	}
	return false;
}

/* Writes the 8 bytes of VALUE at the address WHERE, if the file has all of them. */
static void write_addend(struct gh_image *image, uint64_t where, uint64_t value)
{
	struct gh_cursor cur;
	if (!gh_image_at(image, where, &cur) || gh_cursor_left(&cur) < 8)
		return;
	uint8_t *bytes = image->data + cur.offset;
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * (cur.big_endian ? 7 - i : i));
}

void gh_relocate(struct gh_image *image)
{
	uint32_t relative = image->arch->relative_type;
	uint64_t address;
	uint64_t size;
	struct gh_cursor table;
	if (relative == 0 || image->arch->pointer_size != 8 || !find_rela(image, &address, &size) ||
	    !gh_image_at(image, address, &table))
		return;
	uint64_t count = (size < gh_cursor_left(&table) ? size : gh_cursor_left(&table)) / 24;
	while (count-- > 0) {
		uint64_t where = gh_cursor_u64(&table);
		uint64_t info = gh_cursor_u64(&table);
		uint64_t addend = gh_cursor_u64(&table);
		if ((uint32_t)info == relative)
			write_addend(image, where, addend);
	}
}
