#include "lib/elf/elf.h"

/* Writes the 8 bytes of VALUE at the address WHERE, if the file has all of them. */
static void write_address(struct gh_image *image, uint64_t where, uint64_t value)
{
	struct gh_cursor cur;
	if (!gh_image_at(image, where, &cur) || gh_cursor_left(&cur) < 8)
		return;
	uint8_t *bytes = image->data + cur.offset;
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * (cur.big_endian ? 7 - i : i));
}

/* The address of symbol INDEX of the table SYMBOLS. False if the file does not define it. */
static bool find_symbol(const struct gh_image *image, struct gh_cursor symbols, uint64_t index,
			uint64_t *value)
{
	gh_cursor_seek(&symbols, index * sizeof(Elf64_Sym));
	GElf_Sym symbol = gh_dynamic_read_symbol(image, &symbols);
	*value = symbol.st_value;
	return !symbols.failed && symbol.st_shndx != SHN_UNDEF;
}

void gh_relocate(struct gh_image *image)
{
	const struct gh_arch *arch = image->arch;
	uint64_t address;
	uint64_t size;
	struct gh_cursor table;
	if (arch->relative_type == 0 || arch->pointer_size != 8 ||
	    !gh_dynamic_find(image, DT_RELA, &address) ||
	    !gh_dynamic_find(image, DT_RELASZ, &size) || !gh_image_at(image, address, &table))
		return;
	struct gh_cursor symbols;
	bool has_symbols =
	    gh_dynamic_find(image, DT_SYMTAB, &address) && gh_image_at(image, address, &symbols);
	uint64_t count = (size < gh_cursor_left(&table) ? size : gh_cursor_left(&table)) / 24;
	while (count-- > 0) {
		uint64_t where = gh_cursor_u64(&table);
		uint64_t info = gh_cursor_u64(&table);
		uint64_t addend = gh_cursor_u64(&table);
		uint64_t value;
		if ((uint32_t)info == arch->relative_type)
			write_address(image, where, addend);
		else if ((uint32_t)info == arch->symbol_type && has_symbols &&
			 find_symbol(image, symbols, info >> 32, &value))
			write_address(image, where, value + addend);
	}
}
