#include "lib/write/dwarf_unit.h"

#define LENGTH_SIZE 4

size_t gh_unit_begin(struct gh_buffer *info, uint32_t abbrev, uint8_t word)
{
	size_t start = info->size;
	gh_buffer_u32(info, 0); /* length, from here */
	gh_buffer_u16(info, 4); /* version */
	gh_buffer_u32(info, abbrev);
	gh_buffer_u8(info, word);
	return start;
}

void gh_unit_end(struct gh_buffer *info, size_t start)
{
	gh_buffer_u8(info, 0);
	if (!info->failed)
		gh_buffer_patch(info, start, info->size - start - LENGTH_SIZE, LENGTH_SIZE);
}
