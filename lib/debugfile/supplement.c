/* The debug file of a program that has DWARF of its own: a copy of all that a debugger reads of it,
 * in which functions' frames are described as in other debug files, and which has their variables
 * that tell the goroutine and their short names. A debugger takes this file for the program's own
 * wherever it is loaded; one beside the program's it would not move along. */
#include "lib/debugfile/dwarf_entries.h"
#include "lib/debugfile/internal.h"

#include <dwarf.h>
#include <string.h>

#include "lib/debugfile/debugfile.h"
#include "lib/elf/elf.h"
#include "lib/util/output.h"

/* Codes of the abbreviations. */
enum {
	ABBREV_UNIT = 1,
	ABBREV_VARIABLE,
};

/* The variables' unit, while it is written. */
struct unit {
	struct gh_buffer *info;
	struct gh_own_type *types; /* by enum gh_goroutine_type */
};

/* Where the program's DWARF does not have the type there is no variable. */
static void add_variable(void *context, const char *name, enum gh_goroutine_type type,
			 const struct gh_buffer *location)
{
	struct unit *unit = context;
	if (unit->types[type].offset == 0)
		return;
	gh_buffer_uleb128(unit->info, ABBREV_VARIABLE);
	gh_buffer_string(unit->info, name);
	gh_buffer_u32(unit->info, unit->types[type].offset);
	gh_buffer_uleb128(unit->info, location->size);
	gh_buffer_bytes(unit->info, location->data, location->size);
	unit->info->failed |= location->failed;
}

static void add_abbrevs(struct gh_buffer *abbrev)
{
	static const uint8_t abbrevs[] = {
	    /* clang-format off */
	    ABBREV_UNIT, DW_TAG_compile_unit, 1,
	    DW_AT_producer, DW_FORM_string, DW_AT_language, DW_FORM_data1,
	    DW_AT_name, DW_FORM_string, 0, 0,
	    ABBREV_VARIABLE, DW_TAG_variable, 0,
	    DW_AT_name, DW_FORM_string, DW_AT_external, DW_FORM_flag_present,
	    DW_AT_type, DW_FORM_ref_addr, DW_AT_location, DW_FORM_exprloc, 0, 0,
	    0,
	    /* clang-format on */
	};
	gh_buffer_bytes(abbrev, abbrevs, sizeof(abbrevs));
}

/* Adds the unit of the variables to the program's own. */
static void add_unit(struct gh_debug_parts *parts, struct unit *unit)
{
	const struct gh_pclntab *tab = parts->types.tab;
	struct gh_info *made = &parts->info;
	struct gh_goroutine_writer writer = {.add = add_variable, .context = unit};
	size_t start = gh_unit_begin(&made->info, (uint32_t)made->abbrev.size, tab->pointer_size);
	gh_buffer_uleb128(&made->info, ABBREV_UNIT);
	gh_buffer_string(&made->info, "goheap");
	gh_buffer_u8(&made->info, gh_unit_language(made->debugger));
	gh_buffer_string(&made->info, "goheap");
	gh_dwarf_goroutine_add(&writer, &parts->types, gh_rtypes_release(&parts->types),
			       &parts->switches.runtime);
	gh_unit_end(&made->info, start);
	add_abbrevs(&made->abbrev);
}

/* Reads the program's units and adds that of the variables. What cannot be read stays as it is. */
static bool make_info(struct gh_debug_parts *parts, const struct gh_image *image,
		      struct gh_error *err)
{
	struct gh_own_type types[] = {[GH_GOROUTINE_INT] = {.name = "int"},
				      [GH_GOROUTINE_UINT32] = {.name = "uint32"},
				      [GH_GOROUTINE_UINT64] = {.name = "uint64"},
				      [GH_GOROUTINE_UINTPTR] = {.name = "uintptr"},
				      [GH_GOROUTINE_G] = {.name = "*runtime.g"}};
	struct gh_info *made = &parts->info;
	const size_t count = sizeof(types) / sizeof(types[0]);
	struct unit unit = {.info = &made->info, .types = types};
	bool big_endian = image->arch->big_endian;
	made->info.big_endian = made->abbrev.big_endian = big_endian;
	bool readable = gh_info_read(image, &made->info, &made->abbrev);
	if (readable && made->info.size < UINT32_MAX / 2 && made->abbrev.size < UINT32_MAX / 2) {
		gh_own_types_find(
		    types, count,
		    gh_cursor_make(made->info.data, made->info.size, image->path, 0, big_endian),
		    gh_cursor_make(made->abbrev.data, made->abbrev.size, image->path, 0,
				   big_endian));
		add_unit(parts, &unit);
	} else {
		made->info.size = made->abbrev.size = 0;
	}
	return !(made->info.failed || made->abbrev.failed) || gh_fail_memory(err, image->path);
}

/* A section that is copied: what the program has for debuggers, and not what is written anew. An
 * index has none of what was added. */
static bool is_copied(const void *context, const struct gh_section *section)
{
	const struct gh_debug_parts *parts = context;
	static const char *const others[] = {".debug_frame", ".zdebug_frame", ".comment"};
	static const char *const changed[] = {".debug_info",     ".zdebug_info",    ".debug_abbrev",
					      ".zdebug_abbrev",  ".gdb_index",      ".debug_names",
					      ".debug_pubnames", ".zdebug_pubnames"};
	uint32_t type = section->header.sh_type;
	if (type != SHT_PROGBITS && type != SHT_NOTE)
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(section->name, others[i]) == 0)
			return false;
	for (size_t i = 0; parts->info.info.size > 0 && i < sizeof(changed) / sizeof(changed[0]);
	     i++)
		if (strcmp(section->name, changed[i]) == 0)
			return false;
	return true;
}

/* Finds where GDB stops at functions: that comes with all that a stripped program is given. */
static bool find_points(struct gh_debug_parts *parts, const struct gh_pclntab *tab,
			struct gh_error *err)
{
	struct gh_packages packages = {0};
	struct gh_strings strings = {0};
	struct gh_info info = {0};
	bool found = gh_strings_find(&strings, tab, err) && gh_packages_find(&packages, tab, err) &&
		     gh_info_make(&info, tab, &packages, &strings, NULL, NULL, err);
	parts->info.points = info.points;
	info.points = (struct gh_entry_points){0};
	gh_info_free(&info);
	gh_packages_free(&packages);
	gh_strings_free(&strings);
	return found;
}

static bool make_parts(struct gh_debug_parts *parts, const struct gh_pclntab *tab,
		       struct gh_error *err)
{
	gh_strings_init(&parts->strings, tab);
	return gh_skeleton_make(&parts->skeleton, &parts->elf, tab->image, false, err) &&
	       gh_switches_find(&parts->switches, tab, err) &&
	       gh_rtypes_find(&parts->types, tab, err) && make_info(parts, tab->image, err) &&
	       gh_sections_copy(&parts->elf, tab->image, is_copied, parts, err) &&
	       find_points(parts, tab, err) &&
	       gh_frame_make(&parts->frame, tab, &parts->switches, GH_FRAME_FOR_GDB_NAMES, err) &&
	       gh_probes_make(&parts->probes, tab, err) &&
	       gh_short_names_find(&parts->names, tab, &parts->info.points,
				   gh_symtab_own_names(tab->image), err) &&
	       gh_symtab_take_over(&parts->symtab, tab, &parts->elf, &parts->skeleton,
				   &parts->strings, &parts->switches, &parts->names, err);
}

bool gh_supplement_write_to(const struct gh_pclntab *tab, int fd, const char *path,
			    struct gh_error *err)
{
	struct gh_debug_parts parts = {.info.debugger = GH_FOR_GDB};
	bool written = make_parts(&parts, tab, err);
	if (written && !(gh_debug_parts_add(&parts) && gh_probes_add(&parts.elf, &parts.probes) &&
			 gh_symtab_add(&parts.elf, &parts.symtab, &parts.strings)))
		written = gh_fail_errno(err, path, "write");
	written = written && gh_elf_write(&parts.elf, fd, path, err);
	gh_debug_parts_free(&parts);
	return written;
}

bool gh_supplement_write(const struct gh_pclntab *tab, const char *path, struct gh_error *err)
{
	struct gh_output out;
	if (!gh_output_open(&out, path, GH_OUTPUT_PUBLIC, err))
		return false;
	return gh_output_end(&out, gh_supplement_write_to(tab, out.fd, path, err), err);
}
