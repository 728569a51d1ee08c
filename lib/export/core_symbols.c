#include "lib/export/export.h"

#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/debugfile/debugfile.h"
#include "lib/util/output.h"

/* Symbols of data that are this close share a section, in bytes. */
#define MAX_GAP 65536

/* More sections a symbol has no number for. */
#define MAX_DATA_SECTIONS SHN_LORESERVE

/* The parts of the file. */
struct symbols {
	const struct gh_dump *dump;
	const struct gh_arch *arch;
	struct gh_slots slots;
	struct gh_slot_types types;
	struct gh_type_symbols data;
	struct gh_buffer symtab;
	struct gh_buffer strtab;
	struct gh_buffer frames; /* .debug_frame */
	struct gh_buffer abbrev; /* .debug_abbrev */
	struct gh_buffer info;   /* .debug_info */
	struct gh_elf elf;
};

/* The sites after number START, and with it, that are in its function; returns the first that is
 * not. */
static size_t function_end(const struct gh_slots *slots, size_t start)
{
	size_t end = start + 1;
	while (end < slots->nsites && slots->sites[end].entry == slots->sites[start].entry)
		end++;
	return end;
}

/* Functions, from their entry to their last site. */
static void put_functions(struct symbols *symbols)
{
	const struct gh_slots *slots = &symbols->slots;
	size_t end;
	for (size_t start = 0; start < slots->nsites; start = end) {
		end = function_end(slots, start);
		const struct gh_site *site = &slots->sites[start];
		GElf_Sym symbol = {.st_name = (uint32_t)symbols->strtab.size,
				   .st_info = GELF_ST_INFO(STB_GLOBAL, STT_FUNC),
				   .st_shndx = 1, /* .text */
				   .st_value = site->entry,
				   .st_size = slots->sites[end - 1].end - site->entry};
		gh_dumptext_put(&symbols->strtab, symbols->dump, site->function);
		gh_symbol_put(&symbols->symtab, symbols->arch->pointer_size, &symbol);
	}
}

/* The section of data, the last, that a symbol at ADDRESS is in; a new one if it is far from that.
 * NULL if it is in the code, or there are too many. */
static struct gh_elf_section *data_section(struct symbols *symbols, uint64_t address)
{
	struct gh_elf *elf = &symbols->elf;
	const GElf_Shdr *text = &elf->sections.items[1].header;
	struct gh_elf_section *last = &elf->sections.items[elf->sections.count - 1];
	uint64_t start = last->header.sh_addr;
	if (address - text->sh_addr < text->sh_size || address == UINT64_MAX)
		return NULL;
	bool across = start < text->sh_addr && address > text->sh_addr;
	if (elf->sections.count > 2 && !across &&
	    address - (start + last->header.sh_size) < MAX_GAP) {
		last->header.sh_size = address + 1 - start;
		return last;
	}
	if (elf->sections.count == MAX_DATA_SECTIONS)
		return NULL;
	last = gh_elf_add(elf, ".data", SHT_NOBITS, SHF_ALLOC | SHF_WRITE);
	if (last == NULL) {
		symbols->symtab.failed = true;
		return NULL;
	}
	last->header.sh_addr = address;
	last->header.sh_size = 1;
	return last;
}

/* Types and itabs. How long they are the dump does not say. */
static void put_data(struct symbols *symbols)
{
	const struct gh_type_symbol *data = symbols->data.items;
	for (size_t i = 0; i < symbols->data.count; i++) {
		if (data_section(symbols, data[i].address) == NULL)
			continue;
		GElf_Sym symbol = {.st_name = (uint32_t)symbols->strtab.size,
				   .st_info = GELF_ST_INFO(STB_GLOBAL, STT_OBJECT),
				   .st_shndx = (uint16_t)(symbols->elf.sections.count - 1),
				   .st_value = data[i].address,
				   .st_size = 1};
		gh_typesymbol_name(&symbols->strtab, symbols->dump, &data[i]);
		gh_symbol_put(&symbols->symtab, symbols->arch->pointer_size, &symbol);
	}
}

/* Adds the section of the code, and makes the symbols, with sections for those that are data. */
static bool make_symtab(struct symbols *symbols)
{
	const struct gh_slots *slots = &symbols->slots;
	uint64_t first = UINT64_MAX;
	for (size_t i = 0; i < slots->nsites; i++)
		if (slots->sites[i].entry < first)
			first = slots->sites[i].entry;
	if (gh_elf_add(&symbols->elf, "", SHT_NULL, 0) == NULL)
		return false;
	struct gh_elf_section *text =
	    gh_elf_add(&symbols->elf, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR);
	if (text == NULL)
		return false;
	text->header.sh_addr = first;
	text->header.sh_size = slots->sites[slots->nsites - 1].end - first;
	gh_buffer_u8(&symbols->strtab, 0);
	gh_symbol_put(&symbols->symtab, symbols->arch->pointer_size, &(GElf_Sym){0});
	put_functions(symbols);
	gh_typesymbols_find(&symbols->data, symbols->dump);
	put_data(symbols);
	return !symbols->data.failed && !symbols->symtab.failed && !symbols->strtab.failed;
}

/* Abbreviations beside those of the variables. */
enum {
	UNIT = GH_VARIABLE_ABBREVS + 1,
	FUNCTION,
};

static void make_abbrevs(struct symbols *symbols)
{
	static const uint8_t abbrevs[] = {
	    /* clang-format off */
	    UNIT, DW_TAG_compile_unit, 1,
	    DW_AT_language, DW_FORM_data1, DW_AT_name, DW_FORM_string,
	    DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_addr, 0, 0,
	    FUNCTION, DW_TAG_subprogram, 1,
	    DW_AT_name, DW_FORM_string, DW_AT_external, DW_FORM_flag_present,
	    DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_addr, 0, 0,
	    /* clang-format on */
	};
	gh_variable_abbrevs(&symbols->abbrev);
	gh_buffer_bytes(&symbols->abbrev, abbrevs, sizeof(abbrevs));
	gh_buffer_u8(&symbols->abbrev, 0);
}

/* The function of the sites from number START to before END. */
static void put_function(struct symbols *symbols, size_t start, size_t end)
{
	struct gh_buffer *out = &symbols->info;
	const struct gh_slots *slots = &symbols->slots;
	unsigned word = symbols->arch->pointer_size;
	gh_buffer_u8(out, FUNCTION);
	gh_dumptext_put(out, symbols->dump, slots->sites[start].function);
	gh_buffer_uint(out, slots->sites[start].entry, word);
	gh_buffer_uint(out, slots->sites[end - 1].end, word);
	for (size_t i = start; i < end; i++) {
		gh_slot_block_begin(out, &symbols->types, slots, &slots->sites[i]);
		gh_buffer_u8(out, 0);
	}
	gh_buffer_u8(out, 0);
}

static bool make_info(struct symbols *symbols)
{
	struct gh_buffer *out = &symbols->info;
	const struct gh_slots *slots = &symbols->slots;
	const GElf_Shdr *text = &symbols->elf.sections.items[1].header;
	uint8_t word = symbols->arch->pointer_size;
	make_abbrevs(symbols);
	if (!gh_slot_types_put(&symbols->types, slots, "goheap", out))
		return false;
	size_t start = gh_unit_begin(out, 0, word);
	gh_buffer_u8(out, UNIT);
	gh_buffer_u8(out, DW_LANG_Go);
	gh_buffer_string(out, "frames of the heap dump");
	gh_buffer_uint(out, text->sh_addr, word);
	gh_buffer_uint(out, text->sh_addr + text->sh_size, word);
	size_t end;
	for (size_t i = 0; i < slots->nsites; i = end) {
		end = function_end(slots, i);
		put_function(symbols, i, end);
	}
	gh_unit_end(out, start);
	return !symbols->abbrev.failed && !out->failed;
}

static void put_common_entry(struct symbols *symbols)
{
	const struct gh_arch *arch = symbols->arch;
	struct gh_buffer *out = &symbols->frames;
	gh_buffer_u32(out, 0);
	gh_buffer_u32(out, UINT32_MAX);
	gh_buffer_u8(out, 4); /* version */
	gh_buffer_u8(out, 0); /* no augmentation */
	gh_buffer_u8(out, arch->pointer_size);
	gh_buffer_u8(out, 0);       /* no segment selector */
	gh_buffer_uleb128(out, 1);  /* code alignment */
	gh_buffer_sleb128(out, -1); /* data alignment */
	gh_buffer_uleb128(out, arch->dwarf_ra);
	gh_frame_entry_end(out, 0, arch->pointer_size);
}

/* In a frame of SIZE bytes, from sp to its caller's: the return address is the highest word, or,
 * where calls leave it in a register, the lowest; or there, while the function has no frame. */
static void put_site(struct symbols *symbols, const struct gh_site *site)
{
	const struct gh_arch *arch = symbols->arch;
	struct gh_buffer *out = &symbols->frames;
	size_t start = out->size;
	gh_buffer_u32(out, 0);
	gh_buffer_u32(out, 0);
	gh_buffer_uint(out, site->address, arch->pointer_size);
	gh_buffer_uint(out, site->end - site->address, arch->pointer_size);
	gh_buffer_u8(out, DW_CFA_def_cfa);
	gh_buffer_uleb128(out, arch->dwarf_sp);
	gh_buffer_uleb128(out, site->size);
	bool in_register = arch->link_register && site->size == 0;
	if (site->last || (site->size < arch->pointer_size && !in_register)) {
		gh_buffer_u8(out, DW_CFA_undefined);
		gh_buffer_uleb128(out, arch->dwarf_ra);
	} else if (in_register) {
		gh_buffer_u8(out, DW_CFA_same_value);
		gh_buffer_uleb128(out, arch->dwarf_ra);
	} else {
		gh_buffer_u8(out, DW_CFA_offset_extended);
		gh_buffer_uleb128(out, arch->dwarf_ra);
		gh_buffer_uleb128(out, arch->link_register ? site->size : arch->pointer_size);
	}
	gh_frame_entry_end(out, start, arch->pointer_size);
}

static bool make_frames(struct symbols *symbols)
{
	put_common_entry(symbols);
	for (size_t i = 0; i < symbols->slots.nsites; i++)
		put_site(symbols, &symbols->slots.sites[i]);
	return !symbols->frames.failed;
}

/* The function that goroutines return to, which has no caller; 0 if it has no frame. */
static uint64_t find_goexit(const struct symbols *symbols)
{
	static const char name[] = "runtime.goexit";
	const struct gh_slots *slots = &symbols->slots;
	for (size_t i = 0; i < slots->nsites; i++) {
		struct gh_cursor text = gh_dump_bytes(symbols->dump, slots->sites[i].function);
		if (gh_cursor_size(&text) == sizeof(name) - 1 &&
		    memcmp(text.start, name, sizeof(name) - 1) == 0)
			return slots->sites[i].entry;
	}
	return 0;
}

static void make_header(struct symbols *symbols)
{
	const struct gh_arch *arch = symbols->arch;
	GElf_Ehdr *header = &symbols->elf.header;
	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = arch->pointer_size == 8 ? ELFCLASS64 : ELFCLASS32;
	header->e_ident[EI_DATA] = arch->big_endian ? ELFDATA2MSB : ELFDATA2LSB;
	header->e_ident[EI_VERSION] = EV_CURRENT;
	header->e_type = ET_EXEC;
	header->e_machine = arch->machine;
	header->e_version = EV_CURRENT;
	/* Where GDB cannot read a function's code it may not look for its call frame description;
	 * but it knows that nothing called the entry point. */
	header->e_entry = find_goexit(symbols);
}

/* Adds a section that is not in memory. */
static struct gh_elf_section *add_section(struct symbols *symbols, const char *name, uint32_t type,
					  const struct gh_buffer *contents)
{
	struct gh_elf_section *section = gh_elf_add(&symbols->elf, name, type, 0);
	if (section == NULL)
		return NULL;
	section->header.sh_addralign = symbols->arch->pointer_size;
	gh_elf_add_piece(section, contents->data, contents->size);
	return section;
}

static bool make_elf(struct symbols *symbols)
{
	make_header(symbols);
	if (add_section(symbols, ".debug_abbrev", SHT_PROGBITS, &symbols->abbrev) == NULL ||
	    add_section(symbols, ".debug_info", SHT_PROGBITS, &symbols->info) == NULL ||
	    add_section(symbols, ".debug_frame", SHT_PROGBITS, &symbols->frames) == NULL)
		return false;
	struct gh_elf_section *symtab =
	    add_section(symbols, ".symtab", SHT_SYMTAB, &symbols->symtab);
	if (symtab == NULL)
		return false;
	symtab->header.sh_link = (uint32_t)symbols->elf.sections.count;
	symtab->header.sh_info = 1;
	symtab->header.sh_entsize =
	    symbols->arch->pointer_size == 8 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	return add_section(symbols, ".strtab", SHT_STRTAB, &symbols->strtab) != NULL;
}

static bool make_parts(struct symbols *symbols, struct gh_error *err)
{
	const char *path = symbols->dump->path;
	if (!gh_slots_find(&symbols->slots, symbols->dump, err))
		return false;
	if (symbols->slots.nsites == 0)
		return gh_fail(err, path, GH_NO_OFFSET, "stack frames", "none");
	symbols->arch = symbols->slots.arch;
	symbols->symtab.big_endian = symbols->frames.big_endian = symbols->info.big_endian =
	    symbols->arch->big_endian;
	if (elf_version(EV_CURRENT) == EV_NONE || !make_symtab(symbols) || !make_info(symbols) ||
	    !make_frames(symbols) || !make_elf(symbols))
		return gh_fail_errno(err, path, "make its symbols");
	if (symbols->info.size > UINT32_MAX || symbols->strtab.size > UINT32_MAX)
		return gh_fail(err, path, GH_NO_OFFSET, "less than 4 GiB of symbols", "more");
	return true;
}

static void free_parts(struct symbols *symbols)
{
	gh_slots_free(&symbols->slots);
	gh_slot_types_free(&symbols->types);
	gh_vector_free(&symbols->data);
	gh_buffer_free(&symbols->symtab);
	gh_buffer_free(&symbols->strtab);
	gh_buffer_free(&symbols->frames);
	gh_buffer_free(&symbols->abbrev);
	gh_buffer_free(&symbols->info);
	gh_elf_free(&symbols->elf);
}

bool gh_dumpsymbols_write_to(const struct gh_dump *dump, int fd, const char *path,
			     struct gh_error *err)
{
	struct symbols symbols = {.dump = dump};
	bool ok = make_parts(&symbols, err) && gh_elf_write(&symbols.elf, fd, path, err);
	free_parts(&symbols);
	return ok;
}

bool gh_dumpsymbols_write(const struct gh_dump *dump, const char *path, struct gh_error *err)
{
	struct gh_output out;
	if (!gh_output_open(&out, path, GH_OUTPUT_PUBLIC, err))
		return false;
	return gh_output_end(&out, gh_dumpsymbols_write_to(dump, out.fd, path, err), err);
}
