#include "lib/elf/elf.h"

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
	if (relative == 0 || image->arch->pointer_size != 8 ||
	    !gh_dynamic_find(image, DT_RELA, &address) ||
	    !gh_dynamic_find(image, DT_RELASZ, &size) || !gh_image_at(image, address, &table))
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
