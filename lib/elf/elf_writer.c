#include "lib/elf/elf_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Longer section names are cut: in a crafted file one long string may be the name of every section.
 */
#define MAX_NAME 256

/* Sections that keep their offset are the notes, near the start of the file. Further in, the file
 * would grow by as much as is left out before them. */
#define MAX_KEPT_OFFSET 65536

/* In this file nothing needs more, whatever its place in memory needs. */
#define MAX_ALIGN 16

struct gh_elf_section *gh_elf_add(struct gh_elf *elf, const char *name, uint32_t type,
				  uint64_t flags)
{
	bool added = gh_vector_push(
	    &elf->sections,
	    (struct gh_elf_section){
		.name = name, .header = {.sh_type = type, .sh_flags = flags, .sh_addralign = 1}});
	return added ? &elf->sections.items[elf->sections.count - 1] : NULL;
}

void gh_elf_add_piece(struct gh_elf_section *section, const void *data, size_t size)
{
	if (size > 0)
		section->pieces[section->npieces++] =
		    (struct gh_elf_piece){.data = data, .size = size};
}

bool gh_elf_add_contents(struct gh_elf *elf, const char *name, const struct gh_buffer *contents)
{
	if (contents->size == 0)
		return true;
	struct gh_elf_section *section = gh_elf_add(elf, name, SHT_PROGBITS, 0);
	if (section == NULL)
		return false;
	gh_elf_add_piece(section, contents->data, contents->size);
	return true;
}

void gh_elf_free(struct gh_elf *elf)
{
	free(elf->segments);
	gh_vector_free(&elf->sections);
	*elf = (struct gh_elf){0};
}

bool gh_elf_add_names(struct gh_elf *elf, struct gh_buffer *names)
{
	if (gh_elf_add(elf, ".shstrtab", SHT_STRTAB, 0) == NULL)
		return false;
	gh_buffer_u8(names, 0);
	for (size_t i = 1; i < elf->sections.count; i++) {
		struct gh_elf_section *section = &elf->sections.items[i];
		size_t length = strnlen(section->name, MAX_NAME);
		section->header.sh_name = length == 0 ? 0 : (uint32_t)names->size;
		if (length > 0) {
			gh_buffer_bytes(names, section->name, length);
			gh_buffer_u8(names, 0);
		}
	}
	gh_elf_add_piece(&elf->sections.items[elf->sections.count - 1], names->data, names->size);
	return !names->failed;
}

static uint64_t align_up(uint64_t offset, uint64_t align)
{
	return (offset + align - 1) & -align;
}

static int compare_offsets(const void *a, const void *b)
{
	const struct gh_elf_section *first = *(struct gh_elf_section *const *)a;
	const struct gh_elf_section *second = *(struct gh_elf_section *const *)b;
	uint64_t left = first->header.sh_offset;
	uint64_t right = second->header.sh_offset;
	return (left > right) - (left < right);
}

/* Lets sections stay where they were, from offset END on, as far as they do not overlap. Returns
 * the end of the last. */
static uint64_t keep_offsets(struct gh_elf *elf, uint64_t end)
{
	struct gh_elf_section **kept = calloc(elf->sections.count, sizeof(struct gh_elf_section *));
	size_t nkept = 0;
	if (kept == NULL)
		return end;
	for (size_t i = 1; i < elf->sections.count; i++)
		if (elf->sections.items[i].keeps_offset)
			kept[nkept++] = &elf->sections.items[i];
	qsort(kept, nkept, sizeof(*kept), compare_offsets);
	for (size_t i = 0; i < nkept; i++) {
		const GElf_Shdr *header = &kept[i]->header;
		kept[i]->keeps_offset = header->sh_offset >= end &&
					header->sh_offset <= MAX_KEPT_OFFSET &&
					header->sh_offset % header->sh_addralign == 0;
		if (kept[i]->keeps_offset)
			end = header->sh_offset + header->sh_size;
	}
	free(kept);
	return end;
}

/* Gives each section its place from OFFSET on. Returns the end of the last. */
static uint64_t place_sections(struct gh_elf *elf, uint64_t offset)
{
	for (size_t i = 1; i < elf->sections.count; i++) {
		struct gh_elf_section *section = &elf->sections.items[i];
		GElf_Shdr *header = &section->header;
		if (section->keeps_offset)
			continue;
		uint64_t align =
		    header->sh_addralign < MAX_ALIGN ? header->sh_addralign : MAX_ALIGN;
		if (header->sh_type != SHT_NOBITS)
			offset = align_up(offset, align);
		header->sh_offset = offset;
		if (header->sh_type != SHT_NOBITS)
			offset += header->sh_size;
	}
	return offset;
}

/* Cuts the segments down to what is left of them: nothing but what is before offset KEPT, which is
 * where it was. HEADERS is where the program headers are. */
static void cut_segments(struct gh_elf *elf, uint64_t headers, uint64_t kept)
{
	for (size_t i = 0; i < elf->nsegments; i++) {
		GElf_Phdr *segment = &elf->segments[i];
		bool whole =
		    segment->p_offset <= kept && segment->p_filesz <= kept - segment->p_offset;
		if (segment->p_type == PT_PHDR) {
			segment->p_offset = headers;
		} else if (segment->p_type == PT_LOAD && segment->p_offset == 0) {
			if (!whole)
				segment->p_filesz = kept;
		} else if (!whole || segment->p_filesz == 0) {
			/* Loaders and checkers have it that offset and address agree. */
			bool aligned = segment->p_align > 1 &&
				       (segment->p_align & (segment->p_align - 1)) == 0;
			segment->p_filesz = 0;
			segment->p_offset = aligned ? segment->p_vaddr & (segment->p_align - 1) : 0;
		}
	}
}

static void measure_sections(struct gh_elf *elf)
{
	for (size_t i = 1; i < elf->sections.count; i++) {
		struct gh_elf_section *section = &elf->sections.items[i];
		GElf_Shdr *header = &section->header;
		if (header->sh_addralign == 0 ||
		    (header->sh_addralign & (header->sh_addralign - 1)) != 0)
			header->sh_addralign = 1;
		if (header->sh_type == SHT_NOBITS)
			continue;
		header->sh_size = 0;
		for (unsigned j = 0; j < section->npieces; j++)
			header->sh_size += section->pieces[j].size;
	}
}

/* Decides where everything is in the file. */
static void lay_out(struct gh_elf *elf)
{
	bool is_64 = elf->header.e_ident[EI_CLASS] == ELFCLASS64;
	uint64_t headers = is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	uint64_t end = headers + elf->nsegments * (is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
	measure_sections(elf);
	uint64_t kept = keep_offsets(elf, end);
	cut_segments(elf, headers, kept);
	elf->header.e_phoff = elf->nsegments > 0 ? headers : 0;
	elf->header.e_shoff = align_up(place_sections(elf, kept), is_64 ? 8 : 4);
}

/* Creates the section headers' contents in OUT. */
static bool put_sections(const struct gh_elf *elf, Elf *out)
{
	for (size_t i = 1; i < elf->sections.count; i++) {
		const struct gh_elf_section *section = &elf->sections.items[i];
		GElf_Shdr header = section->header;
		Elf_Scn *scn = elf_newscn(out);
		if (scn == NULL)
			return false;
		int64_t offset = 0;
		for (unsigned j = 0; j < section->npieces; j++) {
			Elf_Data *data = elf_newdata(scn);
			if (data == NULL)
				return false;
			/* libelf does not write to it. */
			data->d_buf = (void *)(uintptr_t)section->pieces[j].data;
			data->d_size = section->pieces[j].size;
			data->d_off = offset;
			data->d_align = 1;
			data->d_type = ELF_T_BYTE;
			data->d_version = EV_CURRENT;
			offset += (int64_t)section->pieces[j].size;
		}
		if (gelf_update_shdr(scn, &header) == 0)
			return false;
	}
	return true;
}

/* Notes that section INDEX, the last, has the sections' names. A number that the header has no room
 * for goes into the null section. */
static bool put_names_index(Elf *out, GElf_Ehdr *header, size_t index)
{
	if (index < SHN_LORESERVE) {
		header->e_shstrndx = (uint16_t)index;
		return true;
	}
	header->e_shstrndx = SHN_XINDEX;
	Elf_Scn *null = elf_getscn(out, 0);
	GElf_Shdr first;
	if (null == NULL || gelf_getshdr(null, &first) == NULL)
		return false;
	first.sh_link = (uint32_t)index;
	return gelf_update_shdr(null, &first) != 0;
}

static bool put_all(const struct gh_elf *elf, Elf *out)
{
	if (gelf_newehdr(out, elf->header.e_ident[EI_CLASS]) == NULL)
		return false;
	elf_flagelf(out, ELF_C_SET, ELF_F_LAYOUT);
	GElf_Ehdr header = elf->header;
	if (elf->nsegments > 0 && gelf_newphdr(out, elf->nsegments) == NULL)
		return false;
	for (size_t i = 0; i < elf->nsegments; i++)
		if (gelf_update_phdr(out, (int)i, &elf->segments[i]) == 0)
			return false;
	if (!put_sections(elf, out) || !put_names_index(out, &header, elf->sections.count - 1))
		return false;
	GElf_Ehdr made;
	if (gelf_getehdr(out, &made) == NULL)
		return false;
	header.e_ehsize = made.e_ehsize;
	header.e_phentsize = made.e_phentsize;
	header.e_phnum = made.e_phnum;
	header.e_shentsize = made.e_shentsize;
	header.e_shnum = made.e_shnum;
	return gelf_update_ehdr(out, &header) != 0 && elf_update(out, ELF_C_WRITE) >= 0;
}

bool gh_elf_write(struct gh_elf *elf, int fd, const char *path, struct gh_error *err)
{
	struct gh_buffer names = {0};
	bool written = false;
	if (gh_elf_add_names(elf, &names)) {
		lay_out(elf);
		errno = 0;
		Elf *out = elf_begin(fd, ELF_C_WRITE, NULL);
		written = out != NULL && put_all(elf, out);
		/* libelf does not tell why a write failed; errno does. */
		if (!written && errno != 0)
			gh_fail_errno(err, path, "write");
		else if (!written)
			gh_fail(err, path, GH_NO_OFFSET, "an ELF file that can be written", "%s",
				elf_errmsg(-1));
		elf_end(out);
	} else {
		gh_fail_errno(err, path, "write");
	}
	gh_buffer_free(&names);
	return written;
}
