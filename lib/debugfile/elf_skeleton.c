#include "lib/debugfile/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/util/output.h"

/* What the first page of a segment is at most, in bytes. */
#define NOTES_PAGE 4096

/* Program headers among which notes are looked for: no linker makes as many. */
#define MAX_HEADERS 64

/* A section whose contents the debug file must have. That of a library does not take its place, as
 * that of a program may: debuggers have both, and the library's own .eh_frame. */
static bool is_wanted(const struct gh_image *image, const struct gh_section *section)
{
	static const char *const names[] = {".interp", ".eh_frame", ".comment"};
	if (section->header.sh_type == SHT_NOTE)
		return true;
	if (strcmp(section->name, ".eh_frame") == 0 && gh_image_is_library(image))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(section->name, names[i]) == 0)
			return true;
	return false;
}

static bool is_loaded(const struct gh_section *section)
{
	return (section->header.sh_flags & SHF_ALLOC) != 0 &&
	       strcmp(section->name, ".eh_frame") != 0;
}

/* Where in the image the first contents are that the debug file is to be without: what is loaded
 * from behind that has no place in it, as segments end there. */
static uint64_t find_end(const struct gh_image *image)
{
	uint64_t end = UINT64_MAX;
	for (size_t i = 1; i < image->nsections; i++) {
		const struct gh_section *section = &image->sections[i];
		if (is_loaded(section) && !is_wanted(image, section) &&
		    section->header.sh_offset < end)
			end = section->header.sh_offset;
	}
	return end;
}

/* Gives TO the contents of SECTION or, if they are not wanted or loaded from behind END, none.
 * BUDGET is what may still be copied, in bytes: sections of a crafted file may overlap. */
static void copy_contents(struct gh_elf_section *to, const struct gh_image *image,
			  const struct gh_section *section, uint64_t end, size_t *budget)
{
	struct gh_cursor cur;
	bool has_place = !is_loaded(section) || section->header.sh_offset < end;
	if (is_wanted(image, section) && has_place &&
	    gh_image_section_cursor(image, section, &cur, NULL) &&
	    gh_cursor_left(&cur) <= *budget) {
		*budget -= gh_cursor_left(&cur);
		gh_elf_add_piece(to, cur.pos, gh_cursor_left(&cur));
		/* What is allocated and has contents must be in a segment that has them. Only the
		   first segment, which starts with the headers, keeps some. */
		if (strcmp(section->name, ".eh_frame") == 0)
			to->header.sh_flags &= ~(uint64_t)SHF_ALLOC;
		to->keeps_offset = (to->header.sh_flags & SHF_ALLOC) != 0;
	} else {
		to->header.sh_type = SHT_NOBITS;
	}
}

static bool is_kept(const struct gh_section *section)
{
	return section->header.sh_flags & SHF_ALLOC || strcmp(section->name, ".comment") == 0;
}

static bool add_sections(struct gh_skeleton *skeleton, struct gh_elf *elf,
			 const struct gh_image *image, bool whole)
{
	size_t budget = image->size;
	uint64_t end = find_end(image);
	skeleton->numbers = calloc(image->nsections, sizeof(uint32_t));
	if (skeleton->numbers == NULL)
		return false;
	for (size_t i = 1; i < image->nsections; i++) {
		const struct gh_section *section = &image->sections[i];
		if (!is_kept(section))
			continue;
		skeleton->numbers[i] = (uint32_t)elf->sections.count;
		struct gh_elf_section *to = gh_elf_add(elf, section->name, 0, 0);
		if (to == NULL)
			return false;
		to->header = section->header;
		if (!whole)
			copy_contents(to, image, section, end, &budget);
	}
	return true;
}

/* Sets the sections' references to each other to the new numbers. */
static void renumber(const struct gh_skeleton *skeleton, struct gh_elf *elf, size_t nsections)
{
	for (size_t i = 1; i < elf->sections.count; i++) {
		GElf_Shdr *header = &elf->sections.items[i].header;
		header->sh_link =
		    header->sh_link < nsections ? skeleton->numbers[header->sh_link] : 0;
		if (header->sh_flags & SHF_INFO_LINK)
			header->sh_info =
			    header->sh_info < nsections ? skeleton->numbers[header->sh_info] : 0;
	}
}

/* Where the contents of SEGMENT begin behind the notes that linkers put at its start: symbols are
 * in one section only. */
static uint64_t skip_notes(const struct gh_image *image, const GElf_Phdr *segment)
{
	uint64_t skip = 0;
	for (size_t i = 0; i < image->nsegments && i < MAX_HEADERS; i++) {
		const GElf_Phdr *note = &image->segments[i];
		uint64_t at = note->p_vaddr - segment->p_vaddr;
		if (note->p_type != PT_NOTE || at >= NOTES_PAGE || note->p_memsz > NOTES_PAGE)
			continue;
		if (at + note->p_memsz > skip)
			skip = at + note->p_memsz;
	}
	return skip < segment->p_memsz ? skip : 0;
}

/* Makes a section up from SEGMENT; where WHOLE, of what it has in the file. */
static bool add_segment(struct gh_elf *elf, const struct gh_image *image, const GElf_Phdr *segment,
			bool whole, size_t *budget)
{
	const char *name = ".rodata";
	uint64_t flags = SHF_ALLOC;
	if (segment->p_flags & PF_X) {
		name = ".text";
		flags |= SHF_EXECINSTR;
	} else if (segment->p_flags & PF_W) {
		name = ".data";
	}
	if (segment->p_flags & PF_W)
		flags |= SHF_WRITE;
	bool is_note = segment->p_type == PT_NOTE;
	struct gh_elf_section *to =
	    gh_elf_add(elf, is_note ? ".note" : name, SHT_NOBITS, is_note ? SHF_ALLOC : flags);
	if (to == NULL)
		return false;
	uint64_t skip = is_note ? 0 : skip_notes(image, segment);
	to->header.sh_addr = segment->p_vaddr + skip;
	to->header.sh_size = segment->p_memsz - skip;
	struct gh_cursor cur;
	if (whole && segment->p_filesz > skip) {
		to->header.sh_type = is_note ? SHT_NOTE : SHT_PROGBITS;
		to->header.sh_offset = segment->p_offset + skip;
		to->header.sh_size = segment->p_filesz - skip;
	} else if (is_note && gh_image_at(image, segment->p_vaddr, &cur) &&
		   gh_cursor_left(&cur) >= segment->p_filesz && segment->p_filesz <= *budget) {
		*budget -= (size_t)segment->p_filesz;
		to->header.sh_type = SHT_NOTE;
		to->header.sh_offset = segment->p_offset;
		to->header.sh_addralign = segment->p_align;
		to->keeps_offset = true;
		gh_elf_add_piece(to, cur.pos, (size_t)segment->p_filesz);
	}
	return true;
}

static bool add_segments(struct gh_elf *elf, const struct gh_image *image, bool whole)
{
	size_t budget = image->size;
	for (size_t i = 0; i < image->nsegments; i++) {
		uint32_t type = image->segments[i].p_type;
		if ((type == PT_LOAD || type == PT_NOTE) &&
		    !add_segment(elf, image, &image->segments[i], whole, &budget))
			return false;
	}
	return true;
}

bool gh_skeleton_make(struct gh_skeleton *skeleton, struct gh_elf *elf,
		      const struct gh_image *image, bool whole, struct gh_error *err)
{
	*skeleton = (struct gh_skeleton){0};
	*elf = (struct gh_elf){.header = image->header, .nsegments = image->nsegments};
	elf->segments = calloc(image->nsegments, sizeof(*elf->segments));
	bool made = elf->segments != NULL && gh_elf_add(elf, "", SHT_NULL, 0) != NULL;
	if (made) {
		memcpy(elf->segments, image->segments, image->nsegments * sizeof(*elf->segments));
		made = image->nsections > 0 ? add_sections(skeleton, elf, image, whole)
					    : add_segments(elf, image, whole);
	}
	if (!made)
		return gh_fail_memory(err, image->path);
	if (skeleton->numbers != NULL)
		renumber(skeleton, elf, image->nsections);
	return true;
}

bool gh_sections_copy(struct gh_elf *elf, const struct gh_image *image,
		      bool (*is_copied)(const void *context, const struct gh_section *section),
		      const void *context, struct gh_error *err)
{
	size_t left = image->size;
	for (size_t i = 1; i < image->nsections; i++) {
		const struct gh_section *section = &image->sections[i];
		struct gh_cursor cur;
		if ((section->header.sh_flags & SHF_ALLOC) != 0 || !is_copied(context, section) ||
		    !gh_image_section_cursor(image, section, &cur, NULL) ||
		    gh_cursor_left(&cur) > left)
			continue;
		left -= gh_cursor_left(&cur);
		struct gh_elf_section *to = gh_elf_add(elf, section->name, 0, 0);
		if (to == NULL)
			return gh_fail_memory(err, image->path);
		to->header = section->header;
		to->header.sh_link = to->header.sh_info = 0;
		gh_elf_add_piece(to, cur.pos, gh_cursor_left(&cur));
	}
	return true;
}

void gh_skeleton_free(struct gh_skeleton *skeleton)
{
	free(skeleton->numbers);
	skeleton->numbers = NULL;
}

bool gh_debugfile_add_sections(const struct gh_image *image, const char *path, struct gh_error *err)
{
	struct gh_skeleton skeleton;
	struct gh_elf elf;
	struct gh_output out;
	bool made = gh_skeleton_make(&skeleton, &elf, image, true, err) &&
		    gh_output_open(&out, path, S_IRWXU, err);
	if (made)
		made = gh_output_end(
		    &out, gh_elf_append(&elf, image, elf.sections.count, out.fd, path, err), err);
	gh_skeleton_free(&skeleton);
	gh_elf_free(&elf);
	return made;
}
