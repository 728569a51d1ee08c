#include "lib/debugfile/dwarf_entries.h"
#include "lib/debugfile/internal.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/code/code.h"
#include "lib/util/output.h"
#include "lib/util/parallel.h"

void gh_debug_parts_free(struct gh_debug_parts *parts)
{
	gh_elf_free(&parts->elf);
	gh_skeleton_free(&parts->skeleton);
	gh_packages_free(&parts->packages);
	gh_strings_free(&parts->strings);
	gh_rtypes_free(&parts->types);
	gh_typenames_free(&parts->typenames);
	gh_info_free(&parts->info);
	gh_switches_free(&parts->switches);
	gh_buffer_free(&parts->frame);
	gh_buffer_free(&parts->probes);
	gh_short_names_free(&parts->names);
	gh_symtab_free(&parts->symtab);
}

/* What is made beside the short names. */
static bool make_others(struct gh_debug_parts *parts, const struct gh_pclntab *tab,
			const struct gh_slots *slots, struct gh_error *err)
{
	return gh_strings_finish(&parts->strings, tab, err) &&
	       gh_typenames_make(&parts->typenames, &parts->types, &parts->strings, err) &&
	       gh_dump_itabs_add(&parts->typenames.symbols, &parts->elf, &parts->strings,
				 tab->image, slots, err) &&
	       gh_switches_find(&parts->switches, tab, err) &&
	       gh_dwarf_types_add(&parts->info, &parts->types, &parts->typenames, &parts->strings,
				  &parts->switches.runtime, err) &&
	       gh_frame_make(
		   &parts->frame, tab, &parts->switches,
		   parts->info.debugger == GH_FOR_GDB ? GH_FRAME_FOR_GDB : GH_FRAME_FOR_ANY, err) &&
	       gh_probes_make(&parts->probes, tab, err);
}

/* The two halves of what is made at once. */
struct halves {
	struct gh_debug_parts *parts;
	const struct gh_pclntab *tab;
	const struct gh_slots *slots;
	bool made[2];
	struct gh_error errs[2];
};

static void make_half(void *context, uint32_t number)
{
	struct halves *halves = context;
	struct gh_debug_parts *parts = halves->parts;
	const struct gh_pclntab *tab = halves->tab;
	struct gh_error *err = &halves->errs[number];
	halves->made[number] = number == 0
				   ? make_others(parts, tab, halves->slots, err)
				   : gh_short_names_find(&parts->names, tab, &parts->info.points,
							 gh_symtab_own_names(tab->image), err);
}

static bool make_halves(struct gh_debug_parts *parts, const struct gh_pclntab *tab,
			const struct gh_slots *slots, struct gh_error *err)
{
	struct halves halves = {.parts = parts, .tab = tab, .slots = slots};
	uint32_t count = parts->info.debugger == GH_FOR_GDB ? 2 : 1;
	gh_parallel(count, make_half, &halves);
	for (uint32_t i = 0; i < count; i++) {
		if (!halves.made[i]) {
			if (err != NULL)
				*err = halves.errs[i];
			return false;
		}
	}
	return true;
}

static bool make_parts(struct gh_debug_parts *parts, const struct gh_pclntab *tab,
		       const struct gh_slots *slots, struct gh_error *err)
{
	return gh_skeleton_make(&parts->skeleton, &parts->elf, tab->image, parts->is_whole, err) &&
	       gh_strings_find(&parts->strings, tab, err) &&
	       gh_packages_find(&parts->packages, tab, err) &&
	       gh_rtypes_find(&parts->types, tab, err) &&
	       gh_info_make(&parts->info, tab, &parts->packages, &parts->strings, slots,
			    &parts->types, err) &&
	       make_halves(parts, tab, slots, err) &&
	       gh_symtab_make(&parts->symtab, tab, &parts->elf, &parts->skeleton, &parts->strings,
			      &parts->typenames.symbols, slots, &parts->switches,
			      parts->info.debugger == GH_FOR_GDB ? &parts->names : NULL, err);
}

bool gh_debug_parts_add(struct gh_debug_parts *parts)
{
	const struct {
		const char *name;
		const struct gh_buffer *contents;
	} sections[] = {
	    {".debug_abbrev", &parts->info.abbrev}, {".debug_info", &parts->info.info},
	    {".debug_line", &parts->info.line},     {".debug_ranges", &parts->info.ranges},
	    {".debug_loc", &parts->info.loc},       {".debug_aranges", &parts->info.aranges},
	    {".debug_frame", &parts->frame},
	};
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (!gh_elf_add_contents(&parts->elf, sections[i].name, sections[i].contents))
			return false;
	return true;
}

static bool add_strings(struct gh_debug_parts *parts)
{
	struct gh_elf_section *section =
	    gh_elf_add(&parts->elf, ".debug_str", SHT_PROGBITS, SHF_MERGE | SHF_STRINGS);
	if (section == NULL)
		return false;
	section->header.sh_entsize = 1;
	gh_strings_put(section, &parts->strings);
	return true;
}

/* Writes the debug file, or all of the program where WHOLE. */
static bool write_to(const struct gh_pclntab *tab, const struct gh_slots *slots,
		     enum gh_debugger debugger, bool whole, int fd, const char *path,
		     struct gh_error *err)
{
	struct gh_debug_parts parts = {.is_whole = whole, .info.debugger = debugger};
	bool written = make_parts(&parts, tab, slots, err);
	size_t first = parts.elf.sections.count;
	if (written && !(gh_debug_parts_add(&parts) && add_strings(&parts) &&
			 gh_probes_add(&parts.elf, &parts.probes) &&
			 gh_symtab_add(&parts.elf, &parts.symtab, &parts.strings)))
		written = gh_fail_errno(err, path, "write");
	written = written && (whole ? gh_elf_append(&parts.elf, tab->image, first, fd, path, err)
				    : gh_elf_write(&parts.elf, fd, path, err));
	gh_debug_parts_free(&parts);
	return written;
}

bool gh_debugfile_write_to(const struct gh_pclntab *tab, const struct gh_slots *slots,
			   enum gh_debugger debugger, int fd, const char *path,
			   struct gh_error *err)
{
	return write_to(tab, slots, debugger, false, fd, path, err);
}

bool gh_debugfile_unstrip_to(const struct gh_pclntab *tab, enum gh_debugger debugger, int fd,
			     const char *path, struct gh_error *err)
{
	return write_to(tab, NULL, debugger, true, fd, path, err);
}

bool gh_debugfile_unstrip(const struct gh_pclntab *tab, enum gh_debugger debugger, const char *path,
			  struct gh_error *err)
{
	struct gh_output out;
	if (!gh_image_output(tab->image, &out, path, err))
		return false;
	return gh_output_end(&out, gh_debugfile_unstrip_to(tab, debugger, out.fd, path, err), err);
}

bool gh_debugfile_write(const struct gh_pclntab *tab, const struct gh_slots *slots,
			enum gh_debugger debugger, const char *path, struct gh_error *err)
{
	struct gh_output out;
	if (!gh_output_open(&out, path, GH_OUTPUT_PUBLIC, err))
		return false;
	return gh_output_end(&out, gh_debugfile_write_to(tab, slots, debugger, out.fd, path, err),
			     err);
}

/* Reads all of FD into memory. */
static bool read_back(int fd, uint8_t **data, size_t *size)
{
	off_t end = lseek(fd, 0, SEEK_END);
	if (end < 0)
		return false;
	*size = (size_t)end;
	*data = malloc(*size);
	size_t done = 0;
	while (*data != NULL && done < *size) {
		ssize_t count = pread(fd, *data + done, *size - done, (off_t)done);
		if (count <= 0) {
			free(*data);
			*data = NULL;
		} else {
			done += (size_t)count;
		}
	}
	return *data != NULL;
}

bool gh_debugfile_make(const struct gh_pclntab *tab, const struct gh_slots *slots, uint8_t **data,
		       size_t *size, struct gh_error *err)
{
	/* libelf writes to files only. */
	int fd = memfd_create("goheap", MFD_CLOEXEC);
	if (fd < 0)
		return gh_fail_errno(err, tab->image->path, "make the debug file");
	bool made = gh_debugfile_write_to(tab, slots, GH_FOR_GDB, fd, tab->image->path, err);
	if (made && !read_back(fd, data, size))
		made = gh_fail_errno(err, tab->image->path, "make the debug file");
	close(fd);
	return made;
}
