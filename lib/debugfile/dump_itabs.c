/* Symbols for the itabs that a process made as it ran: the program has none of them, but its dump
 * says where they are and of which type. */
#include "lib/debugfile/dwarf_entries.h"

/* Itabs that are this close share a section, in bytes. */
#define MAX_GAP 65536

/* The most sections that are added: GDB goes through all of them. */
#define MAX_SECTIONS 64

static bool in_program(const struct gh_image *image, uint64_t address)
{
	for (size_t i = 0; i < image->nloads; i++)
		if (address - image->loads[i]->p_vaddr < image->loads[i]->p_memsz)
			return true;
	return false;
}

/* Has the last of *COUNT sections, or a new one, hold ADDRESS, which none before it is after. False
 * if there are too many, or memory ran out. */
static bool add_section(struct gh_elf *elf, size_t *count, uint64_t address)
{
	struct gh_elf_section *last = &elf->sections.items[elf->sections.count - 1];
	if (*count == 0 || address - (last->header.sh_addr + last->header.sh_size) >= MAX_GAP) {
		if (*count == MAX_SECTIONS)
			return false;
		last = gh_elf_add(elf, ".data", SHT_NOBITS, SHF_ALLOC | SHF_WRITE);
		if (last == NULL)
			return false;
		(*count)++;
		last->header.sh_addr = address;
	}
	last->header.sh_size = address + 1 - last->header.sh_addr;
	return true;
}

/* Adds the symbol ITAB, at ADDRESS, to SYMBOLS. False if there is no more room for its name. */
static bool add_symbol(struct gh_data_symbols *symbols, struct gh_strings *strings,
		       const struct gh_dump *dump, const struct gh_type_symbol *itab,
		       uint64_t address)
{
	struct gh_buffer name = {0};
	struct gh_data_symbol symbol = {.address = address, .size = 1};
	gh_typesymbol_name(&name, dump, itab);
	if (!name.failed)
		symbol.name = gh_strings_append(strings, name.data, name.size - 1);
	gh_buffer_free(&name);
	if (symbol.name != 0)
		gh_vector_push(symbols, symbol);
	return symbol.name != 0;
}

bool gh_dump_itabs_add(struct gh_data_symbols *symbols, struct gh_elf *elf,
		       struct gh_strings *strings, const struct gh_image *image,
		       const struct gh_slots *slots, struct gh_error *err)
{
	struct gh_type_symbols found = {0};
	size_t nsections = 0;
	bool more = slots != NULL && slots->dump != NULL;
	if (more)
		gh_typesymbols_find(&found, slots->dump);
	for (size_t i = 0; more && i < found.count; i++) {
		uint64_t address = found.items[i].address - slots->bias;
		if (*found.items[i].prefix == 'i' && found.items[i].address > slots->bias &&
		    address != UINT64_MAX && !in_program(image, address))
			more = add_section(elf, &nsections, address) &&
			       add_symbol(symbols, strings, slots->dump, &found.items[i], address);
	}
	bool failed = found.failed || symbols->failed || strings->others.failed;
	gh_vector_free(&found);
	return !failed || gh_fail_memory(err, image->path);
}
