#include "lib/elf/elf.h"

#include <string.h>

bool gh_dynamic_open(struct gh_dynamic *dynamic, const struct gh_image *image)
{
	*dynamic = (struct gh_dynamic){.word = image->arch->pointer_size};
	for (size_t i = 0; i < image->nsegments; i++)
		if (image->segments[i].p_type == PT_DYNAMIC)
			return gh_image_at(image, image->segments[i].p_vaddr, &dynamic->entries);
	return false;
}

bool gh_dynamic_next(struct gh_dynamic *dynamic)
{
	if (gh_cursor_left(&dynamic->entries) < 2 * dynamic->word)
		return false;
	dynamic->tag = gh_cursor_uint(&dynamic->entries, dynamic->word);
	dynamic->value = gh_cursor_uint(&dynamic->entries, dynamic->word);
	return dynamic->tag != DT_NULL;
}

bool gh_dynamic_find(const struct gh_image *image, uint64_t tag, uint64_t *value)
{
	struct gh_dynamic dynamic;
	if (!gh_dynamic_open(&dynamic, image))
		return false;
	while (gh_dynamic_next(&dynamic))
		if (dynamic.tag == tag) {
			*value = dynamic.value;
			return true;
		}
	return false;
}

GElf_Sym gh_dynamic_read_symbol(const struct gh_image *image, struct gh_cursor *cur)
{
	unsigned word = image->arch->pointer_size;
	GElf_Sym symbol = {.st_name = gh_cursor_u32(cur)};
	if (word == 4) {
		symbol.st_value = gh_cursor_u32(cur);
		symbol.st_size = gh_cursor_u32(cur);
	}
	symbol.st_info = gh_cursor_u8(cur);
	symbol.st_other = gh_cursor_u8(cur);
	symbol.st_shndx = gh_cursor_u16(cur);
	if (word == 8) {
		symbol.st_value = gh_cursor_u64(cur);
		symbol.st_size = gh_cursor_u64(cur);
	}
	return symbol;
}

bool gh_dynamic_symbols(const struct gh_image *image, struct gh_cursor *symbols,
			struct gh_cursor *names)
{
	size_t i = 0;
	while (i < image->nsections && image->sections[i].header.sh_type != SHT_DYNSYM)
		i++;
	return i < image->nsections && image->sections[i].header.sh_link < image->nsections &&
	       gh_image_section_cursor(image, &image->sections[i], symbols, NULL) &&
	       gh_image_section_cursor(image, &image->sections[image->sections[i].header.sh_link],
				       names, NULL);
}

bool gh_dynamic_symbol(const struct gh_image *image, const char *name, GElf_Sym *symbol)
{
	struct gh_cursor symbols;
	struct gh_cursor names;
	if (!gh_dynamic_symbols(image, &symbols, &names))
		return false;
	size_t size = strlen(name) + 1;
	while (gh_cursor_left(&symbols) > 0 && !symbols.failed) {
		struct gh_cursor found = names;
		*symbol = gh_dynamic_read_symbol(image, &symbols);
		gh_cursor_seek(&found, symbol->st_name);
		if (!symbols.failed && size <= gh_cursor_left(&found) &&
		    memcmp(found.pos, name, size) == 0)
			return true;
	}
	return false;
}

bool gh_image_is_library(const struct gh_image *image)
{
	uint64_t flags = 0;
	if (image->header.e_type != ET_DYN)
		return false;
	for (size_t i = 0; i < image->nsegments; i++)
		if (image->segments[i].p_type == PT_INTERP)
			return false;
	/* A statically linked program may be position-independent. */
	return !gh_dynamic_find(image, DT_FLAGS_1, &flags) || (flags & DF_1_PIE) == 0;
}
