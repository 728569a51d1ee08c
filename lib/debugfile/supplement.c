/* The debug file of a program that has DWARF of its own: a copy of all that a debugger reads of it,
 * in which functions' frames are described as in other debug files. A debugger takes this file
 * for the program's own wherever it is loaded; one beside the program's it would not move along. */
#include "lib/debugfile/internal.h"
#include "lib/debugfile/probes.h"

#include <string.h>

#include "lib/util/output.h"

/* What the file is made of. */
struct parts {
	struct gh_elf elf;
	struct gh_skeleton skeleton;
	struct gh_strings strings;
	struct gh_switches switches;
	struct gh_buffer frame;
	struct gh_buffer probes;
	struct gh_symtab symtab;
};

static void free_parts(struct parts *parts)
{
	gh_elf_free(&parts->elf);
	gh_skeleton_free(&parts->skeleton);
	gh_strings_free(&parts->strings);
	gh_switches_free(&parts->switches);
	gh_buffer_free(&parts->frame);
	gh_buffer_free(&parts->probes);
	gh_symtab_free(&parts->symtab);
}

/* A section that is copied: what the program has for debuggers, and not what is written anew. */
static bool is_copied(const struct gh_section *section)
{
	static const char *const others[] = {".debug_frame", ".zdebug_frame", ".comment"};
	uint32_t type = section->header.sh_type;
	if (section->header.sh_flags & SHF_ALLOC || (type != SHT_PROGBITS && type != SHT_NOTE))
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(section->name, others[i]) == 0)
			return false;
	return true;
}

/* Adds the program's sections. In a crafted file they may overlap, so no more is copied than it
 * has bytes. */
static bool copy_sections(struct gh_elf *elf, const struct gh_image *image, struct gh_error *err)
{
	size_t left = image->size;
	for (size_t i = 1; i < image->nsections; i++) {
		const struct gh_section *section = &image->sections[i];
		struct gh_cursor cur;
		if (!is_copied(section) || !gh_image_section_cursor(image, section, &cur, NULL) ||
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

static bool make_parts(struct parts *parts, const struct gh_pclntab *tab, struct gh_error *err)
{
	gh_strings_init(&parts->strings, tab);
	return gh_skeleton_make(&parts->skeleton, &parts->elf, tab->image, err) &&
	       copy_sections(&parts->elf, tab->image, err) &&
	       gh_switches_find(&parts->switches, tab, err) &&
	       gh_frame_make(&parts->frame, tab, &parts->switches, true, err) &&
	       gh_probes_make(&parts->probes, tab, err) &&
	       gh_symtab_take_over(&parts->symtab, tab, &parts->elf, &parts->skeleton,
				   &parts->strings, &parts->switches, err);
}

static bool add_frame(struct parts *parts)
{
	struct gh_elf_section *section = gh_elf_add(&parts->elf, ".debug_frame", SHT_PROGBITS, 0);
	if (section == NULL)
		return false;
	gh_elf_add_piece(section, parts->frame.data, parts->frame.size);
	return true;
}

bool gh_supplement_write_to(const struct gh_pclntab *tab, int fd, const char *path,
			    struct gh_error *err)
{
	struct parts parts = {0};
	bool written = make_parts(&parts, tab, err);
	if (written && !(add_frame(&parts) && gh_probes_add(&parts.elf, &parts.probes) &&
			 gh_symtab_add(&parts.elf, &parts.symtab, &parts.strings)))
		written = gh_fail_errno(err, path, "write");
	written = written && gh_elf_write(&parts.elf, fd, path, err);
	free_parts(&parts);
	return written;
}

bool gh_supplement_write(const struct gh_pclntab *tab, const char *path, struct gh_error *err)
{
	struct gh_output out;
	if (!gh_output_open(&out, path, GH_OUTPUT_PUBLIC, err))
		return false;
	if (gh_supplement_write_to(tab, out.fd, path, err))
		return gh_output_commit(&out, err);
	gh_output_discard(&out);
	return false;
}
