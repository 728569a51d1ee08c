#include "lib/write/dwarf_info.h"

#include <string.h>

#include "lib/util/escape.h"
#include "lib/write/dwarf.h"
#include "lib/write/stackend.h"

/* Code alignment leaves at most these many bytes between two functions. */
#define MAX_PADDING 64

/* Codes of .debug_abbrev. Both kinds of units are laid out alike, so that the code can be told when
 * the unit is complete. */
enum {
	UNIT_RUN = 1,    /* a unit whose functions are together */
	UNIT_RANGES,     /* a unit with others' functions in between */
	FUNCTION,        /* a function */
	FUNCTION_NO_FILE /* a function in an unknown file */
};

/* A unit as it is written. */
struct unit {
	struct gh_info *info;
	const struct gh_pclntab *tab;
	size_t start;   /* of the unit, in .debug_info */
	size_t code;    /* of its abbreviation code, the same */
	size_t extent;  /* of low_pc, the same; high_pc or ranges comes after it */
	size_t ranges;  /* of its ranges, in .debug_ranges */
	size_t aranges; /* of its set, in .debug_aranges */
	unsigned nruns; /* runs of functions that have been written */
	uint64_t low;   /* address of the run's first function */
	uint64_t high;  /* one past its last one so far */
};

static void add_attribute(struct gh_buffer *abbrev, uint64_t attribute, uint64_t form)
{
	gh_buffer_uleb128(abbrev, attribute);
	gh_buffer_uleb128(abbrev, form);
}

static void add_unit_abbrev(struct gh_buffer *abbrev, unsigned code, unsigned extent,
			    unsigned extent_form)
{
	gh_buffer_uleb128(abbrev, code);
	gh_buffer_uleb128(abbrev, DW_TAG_compile_unit);
	gh_buffer_u8(abbrev, 1); /* has children */
	add_attribute(abbrev, DW_AT_producer, DW_FORM_strp);
	add_attribute(abbrev, DW_AT_language, DW_FORM_data1);
	add_attribute(abbrev, DW_AT_stmt_list, DW_FORM_sec_offset);
	add_attribute(abbrev, DW_AT_low_pc, DW_FORM_addr);
	add_attribute(abbrev, extent, extent_form);
	add_attribute(abbrev, DW_AT_name, DW_FORM_string);
	add_attribute(abbrev, DW_AT_comp_dir, DW_FORM_string);
	add_attribute(abbrev, 0, 0);
}

static void add_function_abbrev(struct gh_buffer *abbrev, unsigned code, bool has_file)
{
	gh_buffer_uleb128(abbrev, code);
	gh_buffer_uleb128(abbrev, DW_TAG_subprogram);
	gh_buffer_u8(abbrev, 0); /* has no children */
	add_attribute(abbrev, DW_AT_external, DW_FORM_flag_present);
	add_attribute(abbrev, DW_AT_name, DW_FORM_strp);
	add_attribute(abbrev, DW_AT_low_pc, DW_FORM_addr);
	add_attribute(abbrev, DW_AT_high_pc, DW_FORM_udata);
	add_attribute(abbrev, DW_AT_frame_base, DW_FORM_exprloc);
	if (has_file) {
		add_attribute(abbrev, DW_AT_decl_file, DW_FORM_udata);
		add_attribute(abbrev, DW_AT_decl_line, DW_FORM_udata);
	}
	add_attribute(abbrev, 0, 0);
}

static void add_abbrevs(struct gh_buffer *abbrev)
{
	add_unit_abbrev(abbrev, UNIT_RUN, DW_AT_high_pc, DW_FORM_data4);
	add_unit_abbrev(abbrev, UNIT_RANGES, DW_AT_ranges, DW_FORM_sec_offset);
	add_function_abbrev(abbrev, FUNCTION, true);
	add_function_abbrev(abbrev, FUNCTION_NO_FILE, false);
	gh_buffer_u8(abbrev, 0);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The linker writes some bytes of a package path as %xx, so that a symbol's name can be taken apart
 * (objabi.PathToPrefix). */
static void add_package_path(struct gh_buffer *out, const struct gh_interned *name)
{
	const char *text = name->text;
	size_t start = out->size;
	for (size_t i = 0; i < name->length; i++) {
		if (text[i] == '%' && name->length - i > 2) {
			int high = hex_digit(text[i + 1]);
			int low = hex_digit(text[i + 2]);
			if (high >= 0 && low >= 0 && high + low > 0) {
				gh_buffer_u8(out, (uint8_t)(high << 4 | low));
				i += 2;
				continue;
			}
		}
		gh_buffer_u8(out, (uint8_t)text[i]);
	}
	if (!out->failed)
		gh_escape_overwrite((char *)out->data + start, out->size - start);
	gh_buffer_u8(out, 0);
}

static void begin_unit(struct unit *unit, const struct gh_interned *name)
{
	struct gh_buffer *out = &unit->info->info;
	uint8_t word = unit->tab->pointer_size;
	unit->start = out->size;
	gh_buffer_u32(out, 0); /* length, from here */
	gh_buffer_u16(out, 4); /* version */
	gh_buffer_u32(out, 0); /* offset in .debug_abbrev */
	gh_buffer_u8(out, word);
	unit->code = out->size;
	gh_buffer_u8(out, UNIT_RUN);
	gh_buffer_u32(out, GH_STRINGS_PRODUCER);
	gh_buffer_u8(out, DW_LANG_Go);
	gh_buffer_u32(out, (uint32_t)unit->info->line.size);
	unit->extent = out->size;
	gh_buffer_uint(out, 0, word);
	gh_buffer_u32(out, 0);
	if (name != NULL)
		add_package_path(out, name);
	else
		gh_buffer_string(out, "");
	gh_buffer_string(out, "."); /* directory of the compilation */

	unit->ranges = unit->info->ranges.size;
	out = &unit->info->aranges;
	unit->aranges = out->size;
	gh_buffer_u32(out, 0); /* length, from here */
	gh_buffer_u16(out, 2); /* version */
	gh_buffer_u32(out, (uint32_t)unit->start);
	gh_buffer_u8(out, word);
	gh_buffer_u8(out, 0); /* size of a segment selector: none */
	gh_buffer_align(out, 2U * word);
}

/* Writes the run of functions from low to high. */
static void end_run(struct unit *unit)
{
	uint8_t word = unit->tab->pointer_size;
	gh_buffer_uint(&unit->info->ranges, unit->low, word);
	gh_buffer_uint(&unit->info->ranges, unit->high, word);
	gh_buffer_uint(&unit->info->aranges, unit->low, word);
	gh_buffer_uint(&unit->info->aranges, unit->high - unit->low, word);
	unit->nruns++;
}

/* Takes FUNC into the run, or begins a run with it. Returns whether it joins the function before
 * it. */
static bool add_to_run(struct unit *unit, const struct gh_func *func, bool neighbour)
{
	bool joined = neighbour && func->entry - unit->high <= MAX_PADDING;
	if (!joined) {
		if (unit->high != 0)
			end_run(unit);
		unit->low = func->entry;
	}
	unit->high = func->end;
	return joined;
}

static void add_function(struct unit *unit, const struct gh_func *func, uint32_t name,
			 struct gh_decl decl)
{
	struct gh_buffer *out = &unit->info->info;
	gh_buffer_u8(out, decl.file != 0 ? FUNCTION : FUNCTION_NO_FILE);
	gh_buffer_u32(out, name);
	gh_buffer_uint(out, func->entry, unit->tab->pointer_size);
	gh_buffer_uleb128(out, func->end - func->entry);
	gh_buffer_u8(out, 1); /* length of the frame base's expression */
	gh_buffer_u8(out, DW_OP_call_frame_cfa);
	if (decl.file == 0)
		return;
	gh_buffer_uleb128(out, decl.file);
	gh_buffer_uleb128(out, (uint64_t)decl.line);
}

static void end_unit(struct unit *unit)
{
	struct gh_info *info = unit->info;
	uint8_t word = unit->tab->pointer_size;
	end_run(unit);
	uint64_t size = unit->high - unit->low;
	if (unit->nruns == 1 && size <= UINT32_MAX) {
		info->ranges.size = unit->ranges;
		gh_buffer_patch(&info->info, unit->extent, unit->low, word);
		gh_buffer_patch(&info->info, unit->extent + word, size, 4);
	} else {
		/* A low_pc of 0 is what the ranges are relative to. */
		gh_buffer_uint(&info->ranges, 0, word);
		gh_buffer_uint(&info->ranges, 0, word);
		gh_buffer_patch(&info->info, unit->code, UNIT_RANGES, 1);
		gh_buffer_patch(&info->info, unit->extent + word, unit->ranges, 4);
	}
	gh_buffer_u8(&info->info, 0); /* no more functions */
	gh_buffer_patch(&info->info, unit->start, info->info.size - unit->start - 4, 4);
	gh_buffer_uint(&info->aranges, 0, word);
	gh_buffer_uint(&info->aranges, 0, word);
	gh_buffer_patch(&info->aranges, unit->aranges, info->aranges.size - unit->aranges - 4, 4);
}

/* The offset in .debug_str of what FUNC is called. */
static uint32_t function_name(const struct gh_pclntab *tab, const struct gh_strings *strings,
			      const struct gh_func *func)
{
	const char *name = gh_pclntab_name(tab, func->name);
	if (gh_stack_end(func, name, true) == GH_STACK_SIGNAL_FRAME)
		return GH_STRINGS_SIGNAL_FRAME;
	return gh_strings_offset(strings, name);
}

/* The name of package number PACKAGE; NULL if it has none, or if *LEFT bytes are too few for it:
 * where names overlap, a crafted table could have a long one for each of its functions. */
static const struct gh_interned *package_name(const struct gh_packages *packages, uint32_t package,
					      size_t *left)
{
	if (package >= packages->names.count)
		return NULL;
	const struct gh_interned *name = packages->names.items[package];
	if (name->length > *left)
		return NULL;
	*left -= name->length;
	return name;
}

/* Writes the unit of package number PACKAGE, called NAME unless that is NULL. */
static bool add_unit(struct gh_info *info, const struct gh_pclntab *tab,
		     const struct gh_packages *packages, uint32_t package,
		     const struct gh_interned *name, const struct gh_strings *strings,
		     struct gh_line_table *lines, struct gh_error *err)
{
	struct unit unit = {.info = info, .tab = tab};
	begin_unit(&unit, name);
	for (uint32_t i = packages->first[package]; i < packages->first[package + 1]; i++) {
		uint32_t number = packages->functions[i];
		bool neighbour =
		    i > packages->first[package] && number == packages->functions[i - 1] + 1;
		struct gh_func func;
		if (!gh_pclntab_func(tab, number, &func, err))
			return false;
		bool joined = add_to_run(&unit, &func, neighbour);
		struct gh_decl decl;
		gh_line_function(lines, &func, joined, &decl);
		add_function(&unit, &func, function_name(tab, strings, &func), decl);
	}
	gh_line_finish(lines, &info->line);
	end_unit(&unit);
	return true;
}

/* Checks that all that was written is there and within the reach of 32-bit offsets. */
static bool check_sections(const struct gh_info *info, const char *file, bool whole,
			   struct gh_error *err)
{
	const struct gh_buffer *sections[] = {&info->abbrev, &info->info, &info->line,
					      &info->ranges, &info->aranges};
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		whole = whole && !sections[i]->failed;
		if (sections[i]->size > UINT32_MAX)
			return gh_fail(err, file, GH_NO_OFFSET, "less than 4 GiB of DWARF", "more");
	}
	return whole || gh_fail_errno(err, file, "make DWARF");
}

bool gh_info_make(struct gh_info *info, const struct gh_pclntab *tab,
		  const struct gh_packages *packages, const struct gh_strings *strings,
		  struct gh_error *err)
{
	bool big_endian = tab->image->arch->big_endian;
	*info = (struct gh_info){.abbrev = {.big_endian = big_endian},
				 .info = {.big_endian = big_endian},
				 .line = {.big_endian = big_endian},
				 .ranges = {.big_endian = big_endian},
				 .aranges = {.big_endian = big_endian}};
	add_abbrevs(&info->abbrev);
	struct gh_line_table lines;
	gh_line_init(&lines, tab);
	bool made = true;
	size_t left = tab->image->size;
	for (uint32_t i = 0; made && i < packages->count; i++)
		made = add_unit(info, tab, packages, i, package_name(packages, i, &left), strings,
				&lines, err);
	bool whole = gh_line_free(&lines);
	return made && check_sections(info, tab->image->path, whole, err);
}

void gh_info_free(struct gh_info *info)
{
	gh_buffer_free(&info->abbrev);
	gh_buffer_free(&info->info);
	gh_buffer_free(&info->line);
	gh_buffer_free(&info->ranges);
	gh_buffer_free(&info->aranges);
}
