#include "lib/elf/elf.h"

#include <gelf.h>

/* Has *END be no less than the end of the SIZE bytes at OFFSET. */
static void cover(uint64_t *end, uint64_t offset, uint64_t size)
{
	uint64_t last = offset + size;
	if (last < size)
		last = UINT64_MAX;
	if (last > *end)
		*end = last;
}

static void cover_segments(uint64_t *end, Elf *elf)
{
	size_t count;
	GElf_Phdr segment;
	if (elf_getphdrnum(elf, &count) != 0)
		return;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &segment) != NULL; i++)
		cover(end, segment.p_offset, segment.p_filesz);
}

static void cover_sections(uint64_t *end, Elf *elf)
{
	GElf_Shdr section;
	Elf_Scn *scn = NULL;
	while ((scn = elf_nextscn(elf, scn)) != NULL && gelf_getshdr(scn, &section) != NULL)
		if (section.sh_type != SHT_NOBITS)
			cover(end, section.sh_offset, section.sh_size);
}

uint64_t gh_elf_extent(const uint8_t *data, size_t size)
{
	uint64_t end = 0;
	GElf_Ehdr header;
	elf_version(EV_CURRENT);
	Elf *elf = elf_memory((char *)data, size);
	if (elf != NULL && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) != NULL) {
		cover(&end, 0, header.e_ehsize);
		cover(&end, header.e_phoff, (uint64_t)header.e_phnum * header.e_phentsize);
		cover(&end, header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize);
		cover_segments(&end, elf);
		cover_sections(&end, elf);
	}
	elf_end(elf);
	return end;
}
