#include "lib/pclntab/pclntab.h"

#include <inttypes.h>

#include "lib/elf/elf.h"
#include "lib/pclntab/internal.h"
#include "lib/util/bsearch.h"

/* The most headers that are tried where the section headers are gone, so that a file full of them
 * is not searched once for each. */
#define MAX_CANDIDATES 64

/* Bytes before the fields of pointer size: magic, two zeros, pc quantum, pointer size. */
#define HEADER_START 8

/* The most that a pc quantum is, in bytes. */
#define MAX_QUANTUM 4

static bool format_of_magic(uint32_t magic, enum gh_pclntab_format *format)
{
	switch (magic) {
	case 0xfffffffb:
		*format = GH_PCLNTAB_1_2;
		return true;
	case 0xfffffffa:
		*format = GH_PCLNTAB_1_16;
		return true;
	case 0xfffffff0:
		*format = GH_PCLNTAB_1_18;
		return true;
	case 0xfffffff1:
		*format = GH_PCLNTAB_1_20;
		return true;
	default:
		return false;
	}
}

/* Reads the fixed part of the header from CUR, whose start is the table's. */
static bool read_start(struct gh_pclntab *tab, struct gh_cursor *cur, struct gh_error *err)
{
	uint64_t offset = cur->offset;
	uint32_t magic = gh_cursor_u32(cur);
	uint16_t zeros = gh_cursor_u16(cur);
	tab->quantum = gh_cursor_u8(cur);
	tab->pointer_size = gh_cursor_u8(cur);
	if (cur->failed)
		return gh_cursor_fail(cur, err, "a pclntab header");
	if (!format_of_magic(magic, &tab->format))
		return gh_fail(err, cur->file, offset, "a pclntab magic number", "0x%" PRIx32,
			       magic);
	if (zeros != 0)
		return gh_fail(err, cur->file, offset + 4, "two zero bytes", "0x%04x", zeros);
	if (tab->quantum != 1 && tab->quantum != 2 && tab->quantum != 4)
		return gh_fail(err, cur->file, offset + 6, "a pc quantum of 1, 2 or 4", "%u",
			       tab->quantum);
	if (tab->pointer_size != tab->image->arch->pointer_size)
		return gh_fail(err, cur->file, offset + 7, "the machine's pointer size", "%u",
			       tab->pointer_size);
	return true;
}

/* Reads a count whose items take at least SIZE bytes each of what TABLE holds. */
static bool read_count(struct gh_cursor *cur, unsigned word, const struct gh_cursor *table,
		       unsigned size, const char *expected, uint64_t *count, struct gh_error *err)
{
	uint64_t offset = gh_cursor_offset(cur);
	*count = gh_cursor_uint(cur, word);
	if (cur->failed)
		return gh_cursor_fail(cur, err, expected);
	if (*count > gh_cursor_size(table) / size)
		return gh_fail(err, cur->file, offset, expected,
			       "%" PRIu64 ", too many for %zu bytes", *count,
			       gh_cursor_size(table));
	return true;
}

/* The format of Go 1.2: everything is in one table, offsets are relative to its start. */
static bool read_header_1_2(struct gh_pclntab *tab, struct gh_cursor *cur, struct gh_error *err)
{
	struct gh_cursor all = *cur;
	unsigned word = tab->pointer_size;
	uint64_t nfunc;
	if (!read_count(cur, word, &all, 2 * word, "a number of functions", &nfunc, err))
		return false;
	tab->nfunc = (size_t)nfunc;
	tab->functab = tab->names = tab->pctab = all;
	tab->pairs = HEADER_START + word;
	gh_cursor_seek(cur, tab->pairs + (2 * nfunc + 1) * word);
	uint64_t offset = gh_cursor_offset(cur);
	uint32_t filetab = gh_cursor_u32(cur);
	if (cur->failed)
		return gh_cursor_fail(cur, err, "the function table");
	gh_cursor_seek(cur, filetab);
	if (cur->failed)
		return gh_fail(err, cur->file, offset, "a file table inside the pclntab",
			       "offset 0x%" PRIx32, filetab);
	/* The first entry of the table is its length, that entry included. */
	uint64_t nfiles;
	if (!read_count(cur, 4, &all, 4, "a number of files", &nfiles, err))
		return false;
	tab->nfiles = (uint32_t)nfiles;
	tab->files = gh_cursor_slice(&all, filetab, nfiles * 4);
	if (tab->files.failed)
		return gh_cursor_fail(&tab->files, err, "the file table");
	/* The linkers of Go 1.2 to 1.6 leave the last file out of that count. */
	struct gh_cursor longer = gh_cursor_slice(&all, filetab, (nfiles + 1) * 4);
	if (!longer.failed)
		tab->files = longer;
	return true;
}

/* The formats of Go 1.16 and later: the header has the offset of each table. A table's end is not
 * told; each is taken to reach to the end of the whole. */
static bool read_header_1_16(struct gh_pclntab *tab, struct gh_cursor *cur, struct gh_error *err)
{
	struct gh_cursor all = *cur;
	unsigned word = tab->pointer_size;
	uint64_t nfunc;
	uint64_t nfiles;
	if (!read_count(cur, word, &all, 2 * tab->pair_half, "a number of functions", &nfunc,
			err) ||
	    !read_count(cur, word, &all, 1, "a number of files", &nfiles, err))
		return false;
	tab->nfunc = (size_t)nfunc;
	tab->nfiles = (uint32_t)nfiles;
	if (tab->format >= GH_PCLNTAB_1_18)
		tab->text = gh_cursor_uint(cur, word);
	struct gh_cursor *tables[] = {&tab->names, &tab->cutab, &tab->files, &tab->pctab,
				      &tab->functab};
	static const char *const names[] = {
	    "the function names inside the pclntab", "the cutab inside the pclntab",
	    "the file names inside the pclntab", "the pctab inside the pclntab",
	    "the functab inside the pclntab"};
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		uint64_t place = gh_cursor_offset(cur);
		uint64_t offset = gh_cursor_uint(cur, word);
		if (cur->failed)
			return gh_cursor_fail(cur, err, "a pclntab header");
		if (offset > gh_cursor_size(&all))
			return gh_fail(err, cur->file, place, names[i], "offset 0x%" PRIx64,
				       offset);
		*tables[i] = gh_cursor_slice(&all, offset, gh_cursor_size(&all) - offset);
	}
	tab->pairs = 0;
	return true;
}

/* The address of an entry that is stored as OFFSET from the text. Programs whose text is in several
 * sections have a map of how those were placed (moduledata.textAddr in src/runtime/symtab.go). */
static uint64_t text_address(const struct gh_pclntab *tab, uint64_t offset)
{
	unsigned word = tab->pointer_size;
	struct gh_cursor cur;
	if (tab->module.ntextsectmap > 1 &&
	    gh_image_at(tab->image, tab->module.textsectmap, &cur)) {
		for (uint64_t i = 0; i < tab->module.ntextsectmap && !cur.failed; i++) {
			uint64_t vaddr = gh_cursor_uint(&cur, word);
			uint64_t end = gh_cursor_uint(&cur, word);
			uint64_t base = gh_cursor_uint(&cur, word);
			bool last = i + 1 == tab->module.ntextsectmap;
			if (offset >= vaddr && (offset < end || (last && offset == end)))
				return base + offset - vaddr;
		}
	}
	return tab->text + offset;
}

/* The address in pair INDEX of the functab; pair nfunc holds the end of the text. */
static uint64_t pair_address(const struct gh_pclntab *tab, size_t index)
{
	struct gh_cursor cur = tab->functab;
	gh_cursor_seek(&cur, tab->pairs + (uint64_t)index * 2 * tab->pair_half);
	uint64_t pc = gh_cursor_uint(&cur, tab->pair_half);
	return tab->format >= GH_PCLNTAB_1_18 ? text_address(tab, pc) : pc;
}

/* Checks that the functab is in order, and in one segment's bytes: so the sum of all functions is
 * no longer than the file. An empty function begins where the next one does: the linker makes them
 * of C objects that begin with one, as the race detector's. */
static bool check_functab(struct gh_pclntab *tab, struct gh_error *err)
{
	struct gh_cursor cur = tab->functab;
	gh_cursor_seek(&cur, tab->pairs);
	uint64_t offset = gh_cursor_offset(&cur);
	gh_cursor_bytes(&cur, ((uint64_t)tab->nfunc * 2 + 1) * tab->pair_half);
	if (cur.failed)
		return gh_cursor_fail(&cur, err, "the function table");
	if (tab->nfunc == 0)
		return gh_fail(err, cur.file, offset, "at least one function", "none");
	uint64_t first = pair_address(tab, 0);
	uint64_t last = first;
	for (size_t i = 1; i <= tab->nfunc; i++) {
		uint64_t pc = pair_address(tab, i);
		if (pc < last)
			return gh_fail(err, cur.file, offset + i * 2 * tab->pair_half,
				       "functions in ascending order",
				       "0x%" PRIx64 " after 0x%" PRIx64, pc, last);
		last = pc;
	}
	tab->end = last;
	struct gh_cursor text;
	if (!gh_image_at(tab->image, first, &text) || last - first > gh_cursor_left(&text))
		return gh_fail(err, cur.file, offset, "functions inside one loadable segment",
			       "0x%" PRIx64 " to 0x%" PRIx64, first, last);
	return true;
}

static uint64_t record_offset(const struct gh_pclntab *tab, size_t index)
{
	struct gh_cursor cur = tab->functab;
	gh_cursor_seek(&cur, tab->pairs + (2 * (uint64_t)index + 1) * tab->pair_half);
	return gh_cursor_uint(&cur, tab->pair_half);
}

/* Goes from a cursor at the start of a _func record to its field npcdata. */
static void skip_to_npcdata(const struct gh_pclntab *tab, struct gh_cursor *cur)
{
	unsigned entry_size = tab->format >= GH_PCLNTAB_1_18 ? 4 : tab->pointer_size;
	gh_cursor_bytes(cur, entry_size + 6 * 4);
}

/* Before Go 1.12 nfuncdata was a 32-bit integer; since then it is the last of four bytes, whose
 * first is funcID. In a big-endian table that is one and the same; in a little-endian one the last
 * byte of an old record is 0 in every function. */
static bool records_have_func_id(const struct gh_pclntab *tab)
{
	if (tab->format > GH_PCLNTAB_1_2)
		return true;
	for (size_t i = 0; i < tab->nfunc; i++) {
		struct gh_cursor cur = tab->functab;
		gh_cursor_seek(&cur, record_offset(tab, i));
		skip_to_npcdata(tab, &cur);
		gh_cursor_bytes(&cur, 4);
		const uint8_t *last = gh_cursor_bytes(&cur, 4);
		if (last != NULL && (cur.big_endian ? last[0] : last[3]) != 0)
			return true;
	}
	return false;
}

static const struct gh_pclntab_numbers numbers_1_12 = {
    .stack_map_index = 0, .inl_tree_index = 1, .inl_tree = 2, .stack_objects = 4};
static const struct gh_pclntab_numbers numbers_1_13 = {
    .stack_map_index = 1, .inl_tree_index = 2, .inl_tree = 4, .stack_objects = 3};
static const struct gh_pclntab_numbers numbers_1_16 = {
    .stack_map_index = 1, .inl_tree_index = 2, .inl_tree = 3, .stack_objects = 2};

/* The numbers of PCDATA and FUNCDATA (src/runtime/funcdata.h). Go 1.12 and 1.13 have the same
 * format. What does not tell its release, as plugins of Go up to 1.17 do not, is taken to be of
 * Go 1.13. */
static struct gh_pclntab_numbers numbers_of(const struct gh_pclntab *tab)
{
	if (tab->format > GH_PCLNTAB_1_2)
		return numbers_1_16;
	struct gh_buildinfo info;
	gh_buildinfo_read(&info, tab->image);
	int minor = gh_go_minor(info.go_version);
	bool old = info.go_version != NULL && minor < 13;
	gh_buildinfo_free(&info);
	return old ? numbers_1_12 : numbers_1_13;
}

/* Opens the table that CUR is over, at ADDRESS. */
static bool open_at(struct gh_pclntab *tab, const struct gh_image *image, struct gh_cursor cur,
		    uint64_t address, struct gh_error *err)
{
	*tab = (struct gh_pclntab){.image = image, .address = address, .header_offset = cur.offset};
	if (!read_start(tab, &cur, err))
		return false;
	tab->pair_half = tab->format >= GH_PCLNTAB_1_18 ? 4 : tab->pointer_size;
	if (tab->format == GH_PCLNTAB_1_2 ? !read_header_1_2(tab, &cur, err)
					  : !read_header_1_16(tab, &cur, err))
		return false;
	bool found = gh_moduledata_find(&tab->module, tab);
	tab->no_text_start = tab->format >= GH_PCLNTAB_1_18 && tab->text == 0;
	if (tab->no_text_start) {
		if (!found)
			return gh_fail(err, cur.file, cur.offset,
				       "a moduledata that points to the pclntab", "none");
		tab->text = tab->module.text;
	}
	if (!check_functab(tab, err))
		return false;
	tab->has_func_id = records_have_func_id(tab);
	if (tab->has_func_id)
		tab->numbers = numbers_of(tab);
	return true;
}

/* Looks for the table by its header, in SEGMENT's contents. ERR is filled by each
 * candidate that looks like a header and is none; *TRIES is how many more may be tried. */
static bool search_segment(struct gh_pclntab *tab, const struct gh_image *image,
			   const GElf_Phdr *segment, unsigned *tries, struct gh_error *err)
{
	unsigned word = image->arch->pointer_size;
	struct gh_cursor cur;
	if (!gh_image_at(image, segment->p_vaddr, &cur))
		return false;
	uint64_t skew = segment->p_vaddr % word;
	gh_cursor_bytes(&cur, skew == 0 ? 0 : word - skew);
	for (; gh_cursor_left(&cur) >= HEADER_START && *tries > 0; gh_cursor_bytes(&cur, word)) {
		struct gh_cursor start = cur;
		enum gh_pclntab_format format;
		if (!format_of_magic(gh_cursor_u32(&start), &format) ||
		    gh_cursor_u16(&start) != 0 || gh_cursor_u8(&start) > MAX_QUANTUM ||
		    gh_cursor_u8(&start) != word)
			continue;
		--*tries;
		uint64_t skipped = (uint64_t)(cur.pos - cur.start);
		start = gh_cursor_slice(&cur, skipped, gh_cursor_left(&cur));
		if (open_at(tab, image, start, segment->p_vaddr + skipped, err))
			return true;
	}
	return false;
}

/* IMAGE has no pclntab. Fills ERR. */
static void fail_without(const struct gh_image *image, struct gh_error *err)
{
	const char *compiler = gh_image_other_compiler(image);
	if (compiler == NULL)
		gh_fail(err, image->path, GH_NO_OFFSET, "a Go program", "no pclntab");
	else
		gh_fail(err, image->path, GH_NO_OFFSET, "a program of Go's own compiler",
			"one that %s built: " GH_OTHER_COMPILER_ADVICE, compiler);
}

static bool search_segments(struct gh_pclntab *tab, const struct gh_image *image,
			    struct gh_error *err)
{
	unsigned tries = MAX_CANDIDATES;
	for (size_t i = 0; i < image->nloads && tries > 0; i++)
		if (search_segment(tab, image, image->loads[i], &tries, err))
			return true;
	if (tries == MAX_CANDIDATES)
		fail_without(image, err);
	return false;
}

/* Opens a table of Go 1.0 or 1.1, whose lines LINES is over. It has no header, and no functions:
 * they are in SYMTAB. */
static bool open_plan9(struct gh_pclntab *tab, const struct gh_image *image,
		       const struct gh_section *symtab, const struct gh_cursor *lines,
		       uint64_t address, struct gh_error *err)
{
	struct gh_cursor symbols;
	struct gh_buffer converted = {0};
	enum gh_pclntab_format format;
	if (gh_image_section_cursor(image, symtab, &symbols, err) &&
	    gh_plan9_convert(&converted, &format, image, &symbols, lines, err)) {
		struct gh_cursor cur = gh_cursor_make(converted.data, converted.size, lines->file,
						      lines->offset, converted.big_endian);
		if (open_at(tab, image, cur, address, err)) {
			tab->format = format;
			tab->converted = converted;
			return true;
		}
	}
	gh_buffer_free(&converted);
	return false;
}

static bool open_section(struct gh_pclntab *tab, const struct gh_image *image,
			 const struct gh_section *section, struct gh_error *err)
{
	struct gh_cursor cur;
	if (!gh_image_section_cursor(image, section, &cur, err))
		return false;
	struct gh_cursor start = cur;
	enum gh_pclntab_format format;
	const struct gh_section *symtab = gh_image_section(image, ".gosymtab");
	if (format_of_magic(gh_cursor_u32(&start), &format) || symtab == NULL ||
	    symtab->header.sh_size == 0)
		return open_at(tab, image, cur, section->header.sh_addr, err);
	return open_plan9(tab, image, symtab, &cur, section->header.sh_addr, err);
}

bool gh_pclntab_open(struct gh_pclntab *tab, const struct gh_image *image, struct gh_error *err)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab"};
	*tab = (struct gh_pclntab){0};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct gh_section *section = gh_image_section(image, names[i]);
		if (section != NULL && section->header.sh_type != SHT_NOBITS)
			return open_section(tab, image, section, err);
	}
	return search_segments(tab, image, err);
}

void gh_pclntab_close(struct gh_pclntab *tab)
{
	gh_buffer_free(&tab->converted);
	*tab = (struct gh_pclntab){0};
}

/* Reads the _func record that CUR is at into FUNC; returns its entry as stored. */
static uint64_t read_record(const struct gh_pclntab *tab, struct gh_cursor *cur,
			    struct gh_func *func)
{
	uint64_t entry = tab->format >= GH_PCLNTAB_1_18 ? text_address(tab, gh_cursor_u32(cur))
							: gh_cursor_uint(cur, tab->pointer_size);
	func->name = gh_cursor_u32(cur);
	func->args = (int32_t)gh_cursor_u32(cur);
	gh_cursor_bytes(cur, 4); /* frame size (1.2), offset of the deferreturn call (later) */
	func->pcsp = gh_cursor_u32(cur);
	func->pcfile = gh_cursor_u32(cur);
	func->pcln = gh_cursor_u32(cur);
	func->npcdata = gh_cursor_u32(cur);
	if (tab->format >= GH_PCLNTAB_1_16)
		func->cu = gh_cursor_u32(cur);
	if (tab->format >= GH_PCLNTAB_1_20)
		func->start_line = (int32_t)gh_cursor_u32(cur);
	if (tab->has_func_id) {
		func->func_id = gh_cursor_u8(cur);
		func->flag = gh_cursor_u8(cur);
		gh_cursor_u8(cur);
		func->nfuncdata = gh_cursor_u8(cur);
	} else {
		func->nfuncdata = gh_cursor_u32(cur);
	}
	func->record = (uint64_t)(cur->pos - cur->start);
	return entry;
}

/* The end of FUNC, whose padding reaches to NEXT: each pc-value table of a function ends where the
 * function does. The stack delta's is the shortest. */
static uint64_t find_end(const struct gh_pclntab *tab, const struct gh_func *func, uint64_t next)
{
	uint32_t offset = func->pcsp != 0 ? func->pcsp : func->pcln;
	struct gh_pcvalue walk;
	gh_pcvalue_start(&walk, tab, func, offset);
	while (walk.end < next && gh_pcvalue_next(&walk))
		;
	return walk.end > func->entry && walk.end < next ? walk.end : next;
}

bool gh_pclntab_record(const struct gh_pclntab *tab, size_t index, struct gh_func *func,
		       struct gh_error *err)
{
	*func = (struct gh_func){0};
	if (index >= tab->nfunc)
		return gh_fail(err, tab->image->path, GH_NO_OFFSET, "a function's number",
			       "%zu of %zu", index, tab->nfunc);
	struct gh_cursor cur = tab->functab;
	gh_cursor_seek(&cur, record_offset(tab, index));
	uint64_t place = gh_cursor_offset(&cur);
	uint64_t entry = read_record(tab, &cur, func);
	if (cur.failed)
		return gh_fail(err, cur.file, place, "a function's record", "the end of the data");
	func->entry = pair_address(tab, index);
	if (entry != func->entry)
		return gh_fail(err, cur.file, place, "the record of the function in the functab",
			       "entry 0x%" PRIx64 " instead of 0x%" PRIx64, entry, func->entry);
	func->end = pair_address(tab, index + 1);
	return true;
}

bool gh_pclntab_func(const struct gh_pclntab *tab, size_t index, struct gh_func *func,
		     struct gh_error *err)
{
	if (!gh_pclntab_record(tab, index, func, err))
		return false;
	func->end = find_end(tab, func, func->end);
	return true;
}

size_t gh_pclntab_find(const struct gh_pclntab *tab, uint64_t pc)
{
	if (pc < pair_address(tab, 0) || pc >= tab->end)
		return SIZE_MAX;
	return gh_lower_bound(tab->nfunc, i, pair_address(tab, i) <= pc) - 1;
}

bool gh_pclntab_at(const struct gh_pclntab *tab, uint64_t entry, struct gh_func *func)
{
	size_t index = gh_pclntab_find(tab, entry);
	return index != SIZE_MAX && gh_pclntab_record(tab, index, func, NULL) &&
	       func->entry == entry;
}
