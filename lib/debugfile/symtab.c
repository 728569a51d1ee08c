#include "lib/debugfile/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/debugfile/dwarf_entries.h"
#include "lib/util/bsearch.h"
#include "lib/util/escape.h"

void gh_dumptext_put(struct gh_buffer *out, const struct gh_dump *dump, struct gh_dump_slice text)
{
	struct gh_cursor cur = gh_dump_bytes(dump, text);
	size_t size = gh_cursor_left(&cur);
	size_t start = out->size;
	gh_buffer_bytes(out, cur.pos, size);
	if (!out->failed)
		gh_escape_overwrite((char *)out->data + start, size);
	gh_buffer_u8(out, 0);
}

/* Adds the symbol of what is at ADDRESS and of the type at TYPE, if its name has at most *LEFT
 * bytes: in a crafted dump all itabs could have one type with a long one. */
static void add_type_symbol(struct gh_type_symbols *out, const struct gh_dump *dump,
			    uint64_t address, const char *prefix, uint64_t type, uint64_t *left)
{
	size_t number = gh_dump_find(dump, GH_DUMP_TYPE, type);
	if (number == GH_DUMP_NONE)
		return;
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_TYPE, number, &record);
	if (record.type.name.size > *left)
		return;
	*left -= record.type.name.size;
	gh_vector_push(out, (struct gh_type_symbol){address, prefix, record.type.name});
}

static int compare_type_symbols(const void *a, const void *b)
{
	const struct gh_type_symbol *first = a;
	const struct gh_type_symbol *second = b;
	if (first->address != second->address)
		return first->address > second->address ? 1 : -1;
	return -strcmp(first->prefix, second->prefix);
}

void gh_typesymbols_find(struct gh_type_symbols *out, const struct gh_dump *dump)
{
	struct gh_dump_record record;
	uint64_t left = 2 * gh_cursor_size(&dump->file);
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_TYPE); i++) {
		gh_dump_get(dump, GH_DUMP_TYPE, i, &record);
		add_type_symbol(out, dump, record.type.address, "type:", record.type.address,
				&left);
	}
	for (size_t i = 0; dump->format >= GH_DUMP_1_4 && i < gh_dump_count(dump, GH_DUMP_ITAB);
	     i++) {
		gh_dump_get(dump, GH_DUMP_ITAB, i, &record);
		add_type_symbol(out, dump, record.itab.address, "itab:", record.itab.type, &left);
	}
	struct gh_type_symbol *symbols = out->items;
	if (out->count == 0)
		return;
	qsort(symbols, out->count, sizeof(*symbols), compare_type_symbols);
	size_t kept = 1;
	for (size_t i = 1; i < out->count; i++)
		if (symbols[i].address != symbols[kept - 1].address)
			symbols[kept++] = symbols[i];
	out->count = kept;
}

void gh_typesymbol_name(struct gh_buffer *out, const struct gh_dump *dump,
			const struct gh_type_symbol *symbol)
{
	gh_buffer_bytes(out, symbol->prefix, strlen(symbol->prefix));
	gh_dumptext_put(out, dump, symbol->type_name);
}

/* A section in memory. */
struct extent {
	uint64_t start;  /* address */
	uint64_t end;    /* one past it */
	uint16_t number; /* of the section */
};

/* The symbols as they are written. */
struct writer {
	struct gh_symtab *symtab;
	const struct gh_pclntab *tab;
	const struct gh_strings *strings;
	const struct gh_skeleton *skeleton;
	const struct gh_switches *switches;
	bool all_own;           /* the image's own symbols are taken over whatever they are of */
	struct extent *extents; /* of the sections, by address; owned */
	size_t nextents;
	struct gh_cursor own; /* the image's own symbols; empty if it has none */
};

static int compare_extents(const void *a, const void *b)
{
	const struct extent *first = a;
	const struct extent *second = b;
	return (first->start > second->start) - (first->start < second->start);
}

static bool find_extents(struct writer *writer, const struct gh_elf *elf)
{
	writer->extents = calloc(elf->sections.count, sizeof(*writer->extents));
	if (writer->extents == NULL)
		return false;
	for (size_t i = 1; i < elf->sections.count && i < SHN_LORESERVE; i++) {
		const GElf_Shdr *header = &elf->sections.items[i].header;
		/* Thread-local sections have addresses, but not in memory. */
		if (!(header->sh_flags & SHF_ALLOC) || header->sh_flags & SHF_TLS ||
		    header->sh_size == 0)
			continue;
		writer->extents[writer->nextents++] =
		    (struct extent){.start = header->sh_addr,
				    .end = header->sh_addr + header->sh_size,
				    .number = (uint16_t)i};
	}
	qsort(writer->extents, writer->nextents, sizeof(*writer->extents), compare_extents);
	return true;
}

/* The number of the section that ADDRESS is in; SHN_ABS if it is in none. */
static uint16_t section_at(const struct writer *writer, uint64_t address)
{
	const struct extent *extents = writer->extents;
	size_t after = gh_lower_bound(writer->nextents, i, extents[i].start <= address);
	if (after == 0 || address >= extents[after - 1].end)
		return SHN_ABS;
	return extents[after - 1].number;
}

void gh_symbol_put(struct gh_buffer *out, uint8_t word, const GElf_Sym *symbol)
{
	gh_buffer_u32(out, symbol->st_name);
	if (word == 4) {
		gh_buffer_u32(out, (uint32_t)symbol->st_value);
		gh_buffer_u32(out, (uint32_t)symbol->st_size);
	}
	gh_buffer_u8(out, symbol->st_info);
	gh_buffer_u8(out, symbol->st_other);
	gh_buffer_u16(out, symbol->st_shndx);
	if (word == 8) {
		gh_buffer_u64(out, symbol->st_value);
		gh_buffer_u64(out, symbol->st_size);
	}
}

static void add_symbol(struct writer *writer, const GElf_Sym *symbol)
{
	gh_symbol_put(&writer->symtab->symbols, writer->tab->pointer_size, symbol);
}

static bool add_functions(struct writer *writer, struct gh_error *err)
{
	const struct gh_pclntab *tab = writer->tab;
	for (size_t i = 0; i < tab->nfunc; i++) {
		struct gh_func func;
		if (!gh_pclntab_func(tab, i, &func, err))
			return false;
		const char *name = gh_pclntab_name(tab, func.name);
		GElf_Sym symbol = {.st_name = gh_strings_offset(writer->strings, name),
				   .st_info = GELF_ST_INFO(STB_GLOBAL, STT_FUNC),
				   .st_shndx = section_at(writer, func.entry),
				   .st_value = func.entry,
				   .st_size = func.end - func.entry};
		add_symbol(writer, &symbol);
	}
	return true;
}

static void add_data(struct writer *writer, const struct gh_data_symbols *data)
{
	for (size_t i = 0; i < data->count; i++) {
		const struct gh_data_symbol *item = &data->items[i];
		GElf_Sym symbol = {.st_name = item->name,
				   .st_info = GELF_ST_INFO(STB_LOCAL, STT_OBJECT),
				   .st_shndx = section_at(writer, item->address),
				   .st_value = item->address,
				   .st_size = item->size};
		add_symbol(writer, &symbol);
	}
}

/* The name by which GDB tells such code is no function's: the symbols are local and have no type.
 */
static void add_switches(struct writer *writer)
{
	for (size_t i = 0; i < writer->switches->list.count; i++) {
		const struct gh_switch *code = &writer->switches->list.items[i];
		if (code->kind == GH_SWITCH_LOST)
			continue;
		GElf_Sym symbol = {.st_name = GH_STRINGS_MORESTACK,
				   .st_info = GELF_ST_INFO(STB_LOCAL, STT_NOTYPE),
				   .st_shndx = section_at(writer, code->start),
				   .st_value = code->start,
				   .st_size = code->end - code->start};
		add_symbol(writer, &symbol);
	}
}

/* Marks the end of Go's code, as Go's linker does: C functions that follow, whose names are gone,
 * are not part of the last function of Go's. GDB takes a symbol without a size for all up to the
 * next, so it has one where there is more. */
static void add_end(struct writer *writer)
{
	const struct gh_pclntab *tab = writer->tab;
	struct gh_func last;
	if (tab->nfunc == 0 || !gh_pclntab_func(tab, tab->nfunc - 1, &last, NULL))
		return;
	GElf_Sym symbol = {.st_name = GH_STRINGS_ETEXT,
			   .st_info = GELF_ST_INFO(STB_LOCAL, STT_FUNC),
			   .st_shndx = section_at(writer, last.entry),
			   .st_value = last.end};
	symbol.st_size = section_at(writer, last.end) == symbol.st_shndx;
	add_symbol(writer, &symbol);
}

/* Where the dynamic section is, which GDB does not move with a program whose symbols it has from
 * elsewhere. */
static void add_dynamic(struct writer *writer)
{
	const struct gh_image *image = writer->tab->image;
	const struct gh_section *dynamic = gh_image_section(image, ".dynamic");
	if (dynamic == NULL || !gh_image_is_pie(image) || gh_image_is_library(image))
		return;
	GElf_Sym symbol = {.st_name = GH_STRINGS_DYNAMIC,
			   .st_info = GELF_ST_INFO(STB_LOCAL, STT_OBJECT),
			   .st_shndx = section_at(writer, dynamic->header.sh_addr),
			   .st_value = dynamic->header.sh_addr};
	add_symbol(writer, &symbol);
}

/* Reads the next of the image's own symbols. False after the last. */
static bool read_symbol(struct writer *writer, struct gh_cursor *cur, GElf_Sym *symbol)
{
	bool is_64 = writer->tab->pointer_size == 8;
	symbol->st_name = gh_cursor_u32(cur);
	if (!is_64) {
		symbol->st_value = gh_cursor_u32(cur);
		symbol->st_size = gh_cursor_u32(cur);
	}
	symbol->st_info = gh_cursor_u8(cur);
	symbol->st_other = gh_cursor_u8(cur);
	symbol->st_shndx = gh_cursor_u16(cur);
	if (is_64) {
		symbol->st_value = gh_cursor_u64(cur);
		symbol->st_size = gh_cursor_u64(cur);
	}
	return !cur->failed;
}

/* SYMBOL is a function that the pclntab has as well. */
static bool is_go_function(const struct writer *writer, const GElf_Sym *symbol)
{
	const struct gh_pclntab *tab = writer->tab;
	size_t number = gh_pclntab_find(tab, symbol->st_value);
	struct gh_func func;
	if (number == SIZE_MAX || !gh_pclntab_record(tab, number, &func, NULL) ||
	    func.entry != symbol->st_value)
		return false;
	struct gh_cursor name = writer->symtab->names;
	gh_cursor_seek(&name, symbol->st_name);
	const char *go_name = gh_pclntab_name(tab, func.name);
	size_t size = strlen(go_name) + 1;
	return size <= gh_cursor_left(&name) && memcmp(name.pos, go_name, size) == 0;
}

/* Changes a symbol of the image to one of the debug file. False if it is not to be in it. */
static bool take_over(const struct writer *writer, GElf_Sym *symbol)
{
	const struct gh_image *image = writer->tab->image;
	const struct gh_strings *strings = writer->strings;
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_name == 0 ||
	    symbol->st_name >= gh_cursor_size(&writer->symtab->names) ||
	    (!writer->all_own && is_go_function(writer, symbol)))
		return false;
	symbol->st_name += (uint32_t)gh_strings_size(strings);
	if (symbol->st_shndx >= SHN_LORESERVE)
		return symbol->st_shndx == SHN_ABS;
	if (symbol->st_shndx >= image->nsections)
		return false;
	uint32_t number = writer->skeleton->numbers[symbol->st_shndx];
	symbol->st_shndx = (uint16_t)number;
	return number != 0 && number < SHN_LORESERVE;
}

/* Adds the image's own symbols that are LOCAL, or those that are not. */
static void add_own(struct writer *writer, bool local)
{
	struct gh_cursor cur = writer->own;
	GElf_Sym symbol = {0};
	while (gh_cursor_left(&cur) > 0 && read_symbol(writer, &cur, &symbol))
		if ((GELF_ST_BIND(symbol.st_info) == STB_LOCAL) == local &&
		    take_over(writer, &symbol))
			add_symbol(writer, &symbol);
}

/* Finds IMAGE's own symbols of section type TYPE, and their names. */
static bool find_type(const struct gh_image *image, uint32_t type, struct gh_cursor *symbols,
		      struct gh_cursor *names)
{
	for (size_t i = 0; i < image->nsections; i++) {
		const struct gh_section *section = &image->sections[i];
		if (section->header.sh_type == type && section->header.sh_link < image->nsections &&
		    gh_image_section_cursor(image, section, symbols, NULL) &&
		    gh_image_section_cursor(image, &image->sections[section->header.sh_link], names,
					    NULL))
			return true;
	}
	return false;
}

static void find_own(const struct gh_image *image, struct gh_cursor *symbols,
		     struct gh_cursor *names)
{
	if (!find_type(image, SHT_SYMTAB, symbols, names) &&
	    !find_type(image, SHT_DYNSYM, symbols, names))
		*symbols = *names = gh_cursor_make("", 0, image->path, 0, image->arch->big_endian);
}

struct gh_own_names gh_symtab_own_names(const struct gh_image *image)
{
	struct gh_own_names own = {
	    .symbol_size = image->arch->pointer_size == 8 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym)};
	find_own(image, &own.symbols, &own.names);
	return own;
}

const char *gh_symtab_next_name(struct gh_own_names *own)
{
	while (gh_cursor_left(&own->symbols) >= own->symbol_size) {
		struct gh_cursor cur = own->names;
		/* In both classes the name is a symbol's first field. */
		gh_cursor_seek(&cur, gh_cursor_u32(&own->symbols));
		gh_cursor_bytes(&own->symbols, own->symbol_size - 4);
		const char *name = gh_cursor_string(&cur);
		if (name != NULL)
			return name;
	}
	return NULL;
}

/* The offset in .strtab of what is added to the names next. */
static size_t added_offset(const struct writer *writer)
{
	const struct gh_symtab *symtab = writer->symtab;
	return gh_strings_size(writer->strings) + gh_cursor_size(&symtab->names) + 1 +
	       symtab->added.size;
}

static void add_short_names(struct writer *writer, const struct gh_short_names *names)
{
	size_t before = added_offset(writer);
	if (names->texts.size >= UINT32_MAX - before)
		return;
	for (size_t i = 0; i < names->list.count; i++) {
		const struct gh_short_name *name = &names->list.items[i];
		GElf_Sym symbol = {.st_name = (uint32_t)(before + name->text),
				   .st_info = GELF_ST_INFO(STB_LOCAL, STT_FUNC),
				   .st_shndx = section_at(writer, name->address),
				   .st_value = name->address};
		add_symbol(writer, &symbol);
	}
	gh_buffer_bytes(&writer->symtab->added, names->texts.data, names->texts.size);
}

/* Adds the types and itabs of the dump that SLOTS are of. */
static bool add_types(struct writer *writer, const struct gh_slots *slots)
{
	struct gh_symtab *symtab = writer->symtab;
	struct gh_type_symbols types = {0};
	gh_typesymbols_find(&types, slots->dump);
	for (size_t i = 0; i < types.count; i++) {
		GElf_Sym symbol = {.st_name = (uint32_t)added_offset(writer),
				   .st_info = GELF_ST_INFO(STB_GLOBAL, STT_OBJECT),
				   .st_value = types.items[i].address - slots->bias,
				   .st_size = 1};
		symbol.st_shndx = section_at(writer, symbol.st_value);
		if (symbol.st_shndx == SHN_ABS)
			continue;
		gh_typesymbol_name(&symtab->added, slots->dump, &types.items[i]);
		add_symbol(writer, &symbol);
	}
	bool failed = types.failed || symtab->added.failed;
	gh_vector_free(&types);
	return !failed;
}

static bool add_symbols(struct writer *writer, const struct gh_data_symbols *data,
			const struct gh_slots *slots, const struct gh_short_names *names,
			struct gh_error *err)
{
	struct gh_symtab *symtab = writer->symtab;
	add_symbol(writer, &(GElf_Sym){0});
	add_switches(writer);
	add_dynamic(writer);
	add_own(writer, true);
	add_data(writer, data);
	if (names != NULL)
		add_short_names(writer, names);
	add_end(writer);
	symtab->nlocals = (uint32_t)(symtab->symbols.size / symtab->symbol_size);
	if (!add_functions(writer, err))
		return false;
	add_own(writer, false);
	bool added = slots == NULL || data->count > 0 || add_types(writer, slots);
	return (added && !symtab->symbols.failed && !symtab->added.failed) ||
	       gh_fail_memory(err, writer->tab->image->path);
}

/* The image's own symbols, and those that it does not have. */
static bool add_taken_over(struct writer *writer, const struct gh_short_names *names,
			   struct gh_error *err)
{
	struct gh_symtab *symtab = writer->symtab;
	add_symbol(writer, &(GElf_Sym){0});
	add_switches(writer);
	add_own(writer, true);
	add_short_names(writer, names);
	symtab->nlocals = (uint32_t)(symtab->symbols.size / symtab->symbol_size);
	add_own(writer, false);
	return (!symtab->symbols.failed && !symtab->added.failed) ||
	       gh_fail_memory(err, writer->tab->image->path);
}

/* Makes SYMTAB empty and finds what WRITER, which has what is given, needs besides. */
static bool begin(struct writer *writer, struct gh_symtab *symtab, const struct gh_elf *elf,
		  struct gh_error *err)
{
	const struct gh_image *image = writer->tab->image;
	const struct gh_arch *arch = image->arch;
	*symtab = (struct gh_symtab){.symbols = {.big_endian = arch->big_endian},
				     .symbol_size = arch->pointer_size == 8 ? sizeof(Elf64_Sym)
									    : sizeof(Elf32_Sym)};
	writer->symtab = symtab;
	if (!find_extents(writer, elf))
		return gh_fail_memory(err, image->path);
	find_own(image, &writer->own, &symtab->names);
	return true;
}

bool gh_symtab_make(struct gh_symtab *symtab, const struct gh_pclntab *tab,
		    const struct gh_elf *elf, const struct gh_skeleton *skeleton,
		    const struct gh_strings *strings, const struct gh_data_symbols *data,
		    const struct gh_slots *slots, const struct gh_switches *switches,
		    const struct gh_short_names *names, struct gh_error *err)
{
	struct writer writer = {
	    .tab = tab, .strings = strings, .skeleton = skeleton, .switches = switches};
	bool made =
	    begin(&writer, symtab, elf, err) && add_symbols(&writer, data, slots, names, err);
	free(writer.extents);
	return made;
}

bool gh_symtab_take_over(struct gh_symtab *symtab, const struct gh_pclntab *tab,
			 const struct gh_elf *elf, const struct gh_skeleton *skeleton,
			 const struct gh_strings *strings, const struct gh_switches *switches,
			 const struct gh_short_names *names, struct gh_error *err)
{
	struct writer writer = {.tab = tab,
				.strings = strings,
				.skeleton = skeleton,
				.switches = switches,
				.all_own = true};
	bool made = begin(&writer, symtab, elf, err) && add_taken_over(&writer, names, err);
	free(writer.extents);
	return made;
}

bool gh_symtab_add(struct gh_elf *elf, const struct gh_symtab *symtab,
		   const struct gh_strings *strings)
{
	struct gh_elf_section *section = gh_elf_add(elf, ".symtab", SHT_SYMTAB, 0);
	if (section == NULL)
		return false;
	section->header.sh_link = (uint32_t)elf->sections.count;
	section->header.sh_info = symtab->nlocals;
	section->header.sh_entsize = symtab->symbol_size;
	section->header.sh_addralign = symtab->symbol_size == sizeof(Elf64_Sym) ? 8 : 4;
	gh_elf_add_piece(section, symtab->symbols.data, symtab->symbols.size);
	section = gh_elf_add(elf, ".strtab", SHT_STRTAB, 0);
	if (section == NULL)
		return false;
	gh_strings_put(section, strings);
	gh_elf_add_piece(section, symtab->names.start, gh_cursor_size(&symtab->names));
	gh_elf_add_piece(section, "", 1);
	gh_elf_add_piece(section, symtab->added.data, symtab->added.size);
	return true;
}

void gh_symtab_free(struct gh_symtab *symtab)
{
	gh_buffer_free(&symtab->symbols);
	gh_buffer_free(&symtab->added);
}
