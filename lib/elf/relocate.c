#include <string.h>

#include "lib/elf/elf.h"
#include "lib/util/hash.h"

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

/* The relocations of a file's DT_RELA table. */
struct relocations {
	struct gh_cursor table;
	struct gh_cursor symbols; /* failed if there are none */
	uint64_t left;
	/* Of the one that was read: */
	uint64_t where;
	uint64_t info;
	uint64_t addend;
};

static bool open_relocations(struct relocations *relocations, const struct gh_image *image)
{
	const struct gh_arch *arch = image->arch;
	uint64_t address;
	uint64_t size;
	*relocations = (struct relocations){0};
	if (arch->relative_type == 0 || arch->pointer_size != 8 ||
	    !gh_dynamic_find(image, DT_RELA, &address) ||
	    !gh_dynamic_find(image, DT_RELASZ, &size) ||
	    !gh_image_at(image, address, &relocations->table))
		return false;
	relocations->symbols.failed = !gh_dynamic_find(image, DT_SYMTAB, &address) ||
				      !gh_image_at(image, address, &relocations->symbols);
	uint64_t room = gh_cursor_left(&relocations->table);
	relocations->left = (size < room ? size : room) / 24;
	return true;
}

static bool next_relocation(struct relocations *relocations)
{
	if (relocations->left == 0)
		return false;
	relocations->left--;
	relocations->where = gh_cursor_u64(&relocations->table);
	relocations->info = gh_cursor_u64(&relocations->table);
	relocations->addend = gh_cursor_u64(&relocations->table);
	return true;
}

/* Whether the relocation is by a symbol, which is read; its address is 0 if IMAGE lacks it. */
static bool has_symbol(const struct relocations *relocations, const struct gh_image *image,
		       GElf_Sym *symbol)
{
	struct gh_cursor symbols = relocations->symbols;
	if ((uint32_t)relocations->info != image->arch->symbol_type)
		return false;
	if (!symbols.failed)
		gh_cursor_seek(&symbols, (relocations->info >> 32) * sizeof(Elf64_Sym));
	*symbol = gh_dynamic_read_symbol(image, &symbols);
	return !symbols.failed;
}

void gh_relocate(struct gh_image *image)
{
	struct relocations relocations;
	GElf_Sym symbol;
	if (!open_relocations(&relocations, image))
		return;
	while (next_relocation(&relocations)) {
		if ((uint32_t)relocations.info == image->arch->relative_type)
			write_address(image, relocations.where, relocations.addend);
		else if (has_symbol(&relocations, image, &symbol) && symbol.st_shndx != SHN_UNDEF)
			write_address(image, relocations.where,
				      symbol.st_value + relocations.addend);
	}
}

/* The symbols of a file, and their names: no more bytes of these are read than the file has, times
 * this, since those of a crafted file could be the same. */
#define MOST_NAMES 4

struct symbols {
	struct gh_cursor table;
	struct gh_cursor names;
	uint64_t left;
};

static bool open_symbols(struct symbols *symbols, const struct gh_image *image)
{
	symbols->left = MOST_NAMES * image->size;
	return gh_dynamic_symbols(image, &symbols->table, &symbols->names);
}

/* A hash of the name of SYMBOL; 0 if it has none. */
static uint64_t hash_name(struct symbols *symbols, const GElf_Sym *symbol)
{
	struct gh_cursor names = symbols->names;
	gh_cursor_seek(&names, symbol->st_name);
	uint64_t room = gh_cursor_left(&names);
	size_t size = strnlen((const char *)names.pos, room < symbols->left ? room : symbols->left);
	symbols->left -= size;
	return size > 0 ? gh_hash_bytes(GH_HASH_START, names.pos, size) : 0;
}

void gh_defined_symbols_add(struct gh_defined_symbols *symbols, const struct gh_image *image,
			    uint64_t bias)
{
	struct symbols own;
	if (!open_symbols(&own, image))
		return;
	while (gh_cursor_left(&own.table) > 0 && !symbols->addresses.failed) {
		GElf_Sym symbol = gh_dynamic_read_symbol(image, &own.table);
		if (symbol.st_shndx == SHN_UNDEF || own.table.failed)
			continue;
		uint64_t hash = hash_name(&own, &symbol);
		if (hash == 0 || gh_numbermap_get(&symbols->by_name, hash) != GH_NOT_MAPPED)
			continue;
		gh_numbermap_put(&symbols->by_name, hash, (uint32_t)symbols->addresses.count);
		gh_vector_push(&symbols->addresses, symbol.st_value + bias);
	}
}

void gh_relocate_undefined(struct gh_image *image, const struct gh_defined_symbols *symbols,
			   uint64_t bias)
{
	struct relocations relocations;
	struct symbols own;
	GElf_Sym symbol;
	if (!open_symbols(&own, image) || !open_relocations(&relocations, image))
		return;
	while (next_relocation(&relocations)) {
		if (!has_symbol(&relocations, image, &symbol) || symbol.st_shndx != SHN_UNDEF)
			continue;
		uint32_t place = gh_numbermap_get(&symbols->by_name, hash_name(&own, &symbol));
		if (place < symbols->addresses.count)
			write_address(image, relocations.where,
				      symbols->addresses.items[place] - bias + relocations.addend);
	}
}

void gh_defined_symbols_free(struct gh_defined_symbols *symbols)
{
	gh_numbermap_free(&symbols->by_name);
	gh_vector_free(&symbols->addresses);
}
