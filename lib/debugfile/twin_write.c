/* Writes a program with the symbols and the DWARF of its twin, moved to where the program has its
 * variables. */
#include "lib/debugfile/internal.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/output.h"

/* What is written, while it is. */
struct writing {
	struct gh_twin *twin;
	struct gh_elf elf;
	struct gh_skeleton skeleton;
	struct gh_buffer info; /* .debug_info */
	struct gh_buffer abbrev;
	struct gh_buffer symbols; /* .symtab */
};

/* Has the expression AT, of an address and so SIZE bytes, say that the variable is nowhere: a piece
 * of it without a place, which is larger than any. DWARF 4, section 2.6.1.2. */
static void hide(uint8_t *at, size_t size)
{
	enum { PIECE = 5 }; /* bytes of the operation, whose number has 4 */
	static const uint8_t piece[PIECE] = {DW_OP_piece, 0xff, 0xff, 0xff, 0x7f};
	memset(at, DW_OP_nop, size);
	if (size >= PIECE)
		memcpy(at + size - PIECE, piece, PIECE);
}

/* Reads the length of an expression in FORM. False if a value in FORM is none. */
static bool read_length(struct gh_cursor *cur, uint64_t form, uint64_t *length)
{
	if (form == DW_FORM_exprloc || form == DW_FORM_block)
		*length = gh_cursor_uvarint(cur);
	else if (form == DW_FORM_block1)
		*length = gh_cursor_u8(cur);
	else if (form == DW_FORM_block2)
		*length = gh_cursor_u16(cur);
	else if (form == DW_FORM_block4)
		*length = gh_cursor_u32(cur);
	else
		return false;
	return true;
}

/* Moves the variable whose expression is the value of ATTRIBUTE, if that is one and begins with an
 * address. The value is in INFO, which is changed. */
static void move(struct gh_twin *twin, struct gh_buffer *info,
		 const struct gh_info_attribute *attribute)
{
	const struct gh_arch *arch = twin->program->image->arch;
	struct gh_cursor cur = gh_cursor_make(info->data, info->size, "", 0, arch->big_endian);
	uint64_t size;
	gh_cursor_seek(&cur, (uint64_t)(attribute->at - info->data));
	if (!read_length(&cur, attribute->form, &size))
		return;
	struct gh_cursor expression = gh_cursor_slice(&cur, (uint64_t)(cur.pos - cur.start), size);
	if (gh_cursor_u8(&expression) != DW_OP_addr)
		return;
	size_t at = (size_t)(expression.pos - info->data);
	uint64_t address = gh_cursor_uint(&expression, arch->pointer_size);
	if (expression.failed)
		return;
	if (gh_moved_address(&twin->builds, address, &address)) {
		gh_buffer_patch(info, at, address, arch->pointer_size);
	} else {
		hide(info->data + at - 1, (size_t)size);
		twin->hidden++;
	}
}

/* The unit whose first entry is ENTRY is of Go. */
static bool is_go(const struct gh_info_entry *entry)
{
	for (size_t i = 0; i < entry->count; i++)
		if (entry->attributes[i].name == DW_AT_language)
			return entry->attributes[i].form == DW_FORM_data1 &&
			       *entry->attributes[i].at == DW_LANG_Go;
	return false;
}

/* Moves the variables of the units that READER reads in INFO, and empties units of C, unless C's
 * code is the same: where it is in the program is not known. */
static void move_all(struct gh_twin *twin, struct gh_buffer *info, struct gh_info_reader *reader)
{
	struct gh_info_entry entry;
	while (gh_info_reader_next(reader, &entry)) {
		if (entry.tag == DW_TAG_compile_unit && !twin->same_c && !is_go(&entry))
			memset(info->data + entry.offset, 0, reader->unit_end - entry.offset);
		else
			for (size_t i = 0; i < entry.count; i++)
				move(twin, info, &entry.attributes[i]);
	}
}

static bool make_info(struct writing *writing, struct gh_error *err)
{
	struct gh_twin *twin = writing->twin;
	const struct gh_image *image = twin->build->image;
	twin->hidden = 0;
	struct gh_buffer *to = &writing->info;
	bool big_endian = image->arch->big_endian;
	if (!gh_info_read(image, to, &writing->abbrev))
		return gh_fail(err, image->path, GH_NO_OFFSET, "DWARF",
			       gh_debug_section(image, "debug_info") == NULL
				   ? "none"
				   : "sections that cannot be read");
	struct gh_info_reader reader = gh_info_reader_start(
	    gh_cursor_make(to->data, to->size, image->path, 0, big_endian),
	    gh_cursor_make(writing->abbrev.data, writing->abbrev.size, image->path, 0, big_endian));
	move_all(twin, to, &reader);
	gh_info_reader_free(&reader);
	return !(to->failed || writing->abbrev.failed) || gh_fail_memory(err, image->path);
}

/* A section of the build that debuggers read, and that is not changed. */
static bool is_copied(const void *context, const struct gh_section *section)
{
	const struct writing *writing = context;
	return section->header.sh_type == SHT_PROGBITS &&
	       section != gh_debug_section(writing->twin->build->image, "debug_info") &&
	       strcmp(section->name, ".debug_gdb_scripts") != 0;
}

static bool add_sections(struct writing *writing, struct gh_error *err)
{
	const struct gh_image *image = writing->twin->build->image;
	return gh_sections_copy(&writing->elf, image, is_copied, writing, err) &&
	       (gh_elf_add_contents(&writing->elf, ".debug_info", &writing->info) ||
		gh_fail_memory(err, image->path));
}

/* The number in the file that is written of the build's section NUMBER; 0 if it has none. */
static uint16_t section_number(const struct writing *writing, uint16_t number)
{
	const struct gh_image *build = writing->twin->build->image;
	const struct gh_image *program = writing->twin->program->image;
	const struct gh_section *section =
	    number < build->nsections ? gh_image_section(program, build->sections[number].name)
				      : NULL;
	return section != NULL ? (uint16_t)writing->skeleton.numbers[section - program->sections]
			       : 0;
}

/* Gives SYMBOL of the build its place in the program. False if that is not known: but for Go's
 * functions, if C's code is not the same. */
static bool place_symbol(const struct writing *writing, GElf_Sym *symbol)
{
	const struct gh_twin *twin = writing->twin;
	const struct gh_pclntab *tab = twin->program;
	struct gh_func func;
	bool is_go = gh_pclntab_at(tab, symbol->st_value, &func);
	symbol->st_shndx = section_number(writing, symbol->st_shndx);
	if (!twin->same_c && !is_go)
		return false;
	return GELF_ST_TYPE(symbol->st_info) == STT_TLS ||
	       gh_moved_address(&twin->builds, symbol->st_value, &symbol->st_value);
}

/* Adds the build's symbols, each at its place in the program. Those without one are not defined. */
static bool add_symbols(struct writing *writing, struct gh_error *err)
{
	const struct gh_image *image = writing->twin->build->image;
	const struct gh_section *section = gh_image_section(image, ".symtab");
	struct gh_cursor cur, names;
	if (section == NULL || section->header.sh_link >= image->nsections)
		return true;
	if (!gh_image_section_cursor(image, section, &cur, err) ||
	    !gh_image_section_cursor(image, &image->sections[section->header.sh_link], &names, err))
		return false;
	while (gh_cursor_left(&cur) > 0) {
		GElf_Sym symbol = gh_dynamic_read_symbol(image, &cur);
		if (cur.failed)
			break;
		if (symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < SHN_LORESERVE &&
		    !place_symbol(writing, &symbol))
			symbol.st_shndx = SHN_UNDEF;
		gh_symbol_put(&writing->symbols, image->arch->pointer_size, &symbol);
	}
	struct gh_elf_section *to = gh_elf_add(&writing->elf, ".symtab", SHT_SYMTAB, 0);
	if (to == NULL || writing->symbols.failed)
		return gh_fail_memory(err, image->path);
	to->header = section->header;
	to->header.sh_link = (uint32_t)writing->elf.sections.count;
	gh_elf_add_piece(to, writing->symbols.data, writing->symbols.size);
	to = gh_elf_add(&writing->elf, ".strtab", SHT_STRTAB, 0);
	if (to == NULL)
		return gh_fail_memory(err, image->path);
	gh_elf_add_piece(to, names.start, gh_cursor_size(&names));
	return true;
}

static bool write_to(struct gh_twin *twin, int fd, const char *path, struct gh_error *err)
{
	struct writing writing = {.twin = twin};
	const struct gh_image *program = twin->program->image;
	writing.info.big_endian = writing.symbols.big_endian = program->arch->big_endian;
	bool written = gh_skeleton_make(&writing.skeleton, &writing.elf, program, true, err) &&
		       make_info(&writing, err);
	size_t first = writing.elf.sections.count;
	written = written && add_sections(&writing, err) && add_symbols(&writing, err) &&
		  gh_elf_append(&writing.elf, program, first, fd, path, err);
	gh_elf_free(&writing.elf);
	gh_skeleton_free(&writing.skeleton);
	gh_buffer_free(&writing.info);
	gh_buffer_free(&writing.abbrev);
	gh_buffer_free(&writing.symbols);
	return written;
}

bool gh_twin_write(struct gh_twin *twin, const char *path, struct gh_error *err)
{
	struct gh_output out;
	if (!gh_image_output(twin->program->image, &out, path, err))
		return false;
	return gh_output_end(&out, write_to(twin, out.fd, path, err), err);
}
