#include "lib/elf/elf.h"

#include "lib/util/bsearch.h"

/* Bits of a pointer's encoding (DW_EH_PE_*). */
#define FORMAT_MASK      0x0f
#define APPLICATION_MASK 0x70
#define PC_RELATIVE      0x10

/* What a CIE says of the FDEs that name it. */
struct cie {
	size_t offset;    /* in the section, in bytes; SIZE_MAX before the first is read */
	uint8_t encoding; /* of addresses */
};

/* The bytes of a pointer in ENCODING, for words of WORD bytes; 0 for other formats. */
static unsigned pointer_size(uint8_t encoding, unsigned word)
{
	switch (encoding & FORMAT_MASK) {
	case 0x00: /* absptr */
		return word;
	case 0x03: /* udata4 */
	case 0x0b: /* sdata4 */
		return 4;
	case 0x04: /* udata8 */
	case 0x0c: /* sdata8 */
		return 8;
	default:
		return 0;
	}
}

/* Reads the CIE whose length field is at OFFSET of SECTION, for words of WORD bytes. False if its
 * form is not known. */
static bool read_cie(struct cie *cie, struct gh_cursor section, size_t offset, unsigned word)
{
	gh_cursor_seek(&section, offset);
	gh_cursor_u32(&section); /* length */
	bool is_cie = gh_cursor_u32(&section) == 0;
	uint8_t version = gh_cursor_u8(&section);
	const char *augmentation = gh_cursor_string(&section);
	if (!is_cie || section.failed || (version != 1 && version != 3))
		return false;
	gh_cursor_skip_uvarint(&section); /* code alignment */
	gh_cursor_skip_uvarint(&section); /* data alignment */
	gh_cursor_skip_uvarint(&section); /* return address: a byte in version 1, below 128 */
	*cie = (struct cie){.offset = offset};
	if (*augmentation == 'z')
		gh_cursor_skip_uvarint(&section);
	for (; *augmentation != '\0'; augmentation++) {
		if (*augmentation == 'R')
			cie->encoding = gh_cursor_u8(&section);
		else if (*augmentation == 'L')
			gh_cursor_u8(&section);
		else if (*augmentation == 'P')
			gh_cursor_bytes(&section, pointer_size(gh_cursor_u8(&section), word));
		else if (*augmentation != 'z' && *augmentation != 'S' && *augmentation != 'B')
			return false;
	}
	return !section.failed && pointer_size(cie->encoding, word) != 0;
}

/* Reads at CUR, in SECTION that is loaded at ADDRESS, the addresses that an FDE is of. */
static struct gh_eh_range read_range(struct gh_cursor *cur, uint64_t address, uint8_t encoding,
				     unsigned word)
{
	unsigned size = pointer_size(encoding, word);
	uint64_t place = address + (uint64_t)(cur->pos - cur->start);
	uint64_t start = gh_cursor_uint(cur, size);
	if (size == 4 && (encoding & 0x08) != 0)
		start = (uint64_t)(int64_t)(int32_t)start;
	if ((encoding & APPLICATION_MASK) == PC_RELATIVE)
		start += place;
	return (struct gh_eh_range){.start = start, .end = start + gh_cursor_uint(cur, size)};
}

static int compare_ranges(const void *a, const void *b)
{
	const struct gh_eh_range *x = a;
	const struct gh_eh_range *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

bool gh_eh_frame_read(struct gh_eh_ranges *ranges, struct gh_cursor section, uint64_t address,
		      unsigned word)
{
	struct gh_cursor cur = section;
	struct cie cie = {.offset = SIZE_MAX};
	uint32_t length;
	while ((length = gh_cursor_u32(&cur)) != 0 && !cur.failed) {
		size_t id_at = (size_t)(cur.pos - cur.start);
		struct gh_cursor record = cur;
		if (length == UINT32_MAX || gh_cursor_bytes(&cur, length) == NULL)
			return false;
		uint32_t back = gh_cursor_u32(&record);
		if (back == 0) /* a CIE */
			continue;
		if (back > id_at)
			return false;
		if (cie.offset != id_at - back && !read_cie(&cie, section, id_at - back, word))
			return false;
		struct gh_eh_range range = read_range(&record, address, cie.encoding, word);
		if (record.failed || !gh_vector_push(ranges, range))
			return false;
	}
	if (ranges->count > 0)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), compare_ranges);
	return true;
}

bool gh_eh_frame_has(const struct gh_eh_ranges *ranges, uint64_t pc)
{
	size_t after = gh_lower_bound(ranges->count, i, ranges->items[i].start <= pc);
	return after > 0 && pc < ranges->items[after - 1].end;
}
