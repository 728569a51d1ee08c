#include "lib/export/core_parts.h"

#include <elf.h>

size_t gh_core_headers_size(const struct gh_arch *arch, uint64_t count)
{
	bool wide = arch->pointer_size == 8;
	size_t size = wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	size += (size_t)count * (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
	if (count >= PN_XNUM)
		size += wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	return size;
}

void gh_core_header_append(struct gh_buffer *out, const struct gh_arch *arch, uint64_t count,
			   uint64_t offset)
{
	unsigned word = arch->pointer_size;
	bool extended = count >= PN_XNUM;
	uint8_t ident[EI_NIDENT] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3};
	ident[EI_CLASS] = word == 8 ? ELFCLASS64 : ELFCLASS32;
	ident[EI_DATA] = arch->big_endian ? ELFDATA2MSB : ELFDATA2LSB;
	ident[EI_VERSION] = EV_CURRENT;
	/* LLDB wants to know the system. */
	ident[EI_OSABI] = ELFOSABI_GNU;
	uint16_t segment_size = word == 8 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint16_t section_size = word == 8 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	gh_buffer_bytes(out, ident, sizeof(ident));
	gh_buffer_u16(out, ET_CORE);
	gh_buffer_u16(out, arch->machine);
	gh_buffer_u32(out, EV_CURRENT);
	gh_buffer_uint(out, 0, word); /* entry point */
	gh_buffer_uint(out, offset, word);
	gh_buffer_uint(out, extended ? offset + count * segment_size : 0, word);
	gh_buffer_u32(out, 0); /* flags */
	gh_buffer_u16(out, (uint16_t)gh_core_headers_size(arch, 0));
	gh_buffer_u16(out, segment_size);
	gh_buffer_u16(out, extended ? PN_XNUM : (uint16_t)count);
	gh_buffer_u16(out, section_size);
	gh_buffer_u16(out, extended);
	gh_buffer_u16(out, 0);
}

void gh_core_segment_append(struct gh_buffer *out, const struct gh_arch *arch,
			    const struct gh_core_segment *segment)
{
	unsigned word = arch->pointer_size;
	gh_buffer_u32(out, segment->type);
	if (word == 8)
		gh_buffer_u32(out, segment->flags);
	gh_buffer_uint(out, segment->offset, word);
	gh_buffer_uint(out, segment->address, word);
	gh_buffer_uint(out, 0, word); /* physical address */
	gh_buffer_uint(out, segment->file_size, word);
	gh_buffer_uint(out, segment->size, word);
	if (word == 4)
		gh_buffer_u32(out, segment->flags);
	gh_buffer_uint(out, segment->align, word);
}

void gh_core_count_append(struct gh_buffer *out, const struct gh_arch *arch, uint64_t count)
{
	unsigned word = arch->pointer_size;
	if (count < PN_XNUM)
		return;
	for (int i = 0; i < 2; i++)
		gh_buffer_u32(out, 0); /* name, type */
	for (int i = 0; i < 4; i++)
		gh_buffer_uint(out, 0, word); /* flags, address, offset, size */
	gh_buffer_u32(out, 0);                /* link */
	gh_buffer_u32(out, (uint32_t)count);
	gh_buffer_uint(out, 0, word); /* alignment */
	gh_buffer_uint(out, 0, word); /* size of an entry */
}
