#include "lib/pclntab/pclntab.h"

/* The longest name that is believed. Names are C strings anywhere in their table, so that a crafted
 * table could make one long string stand for many names, each a suffix of it. */
#define MAX_NAME 32768

/* The string at OFFSET in TABLE; "" if it is not one. */
static const char *string_at(const struct gh_cursor *table, uint64_t offset)
{
	struct gh_cursor cur = *table;
	gh_cursor_seek(&cur, offset);
	if (gh_cursor_left(&cur) > MAX_NAME)
		cur.end = cur.pos + MAX_NAME;
	const char *text = gh_cursor_string(&cur);
	return text != NULL ? text : "";
}

const char *gh_pclntab_name(const struct gh_pclntab *tab, uint32_t name)
{
	return string_at(&tab->names, name);
}

const char *gh_pclntab_file(const struct gh_pclntab *tab, uint32_t file)
{
	if (file == GH_NO_FILE)
		return "";
	if (tab->format > GH_PCLNTAB_1_2)
		return string_at(&tab->files, file);
	struct gh_cursor cur = tab->files;
	gh_cursor_seek(&cur, (uint64_t)file * 4);
	uint32_t offset = gh_cursor_u32(&cur);
	return cur.failed ? "" : string_at(&tab->names, offset);
}

uint32_t gh_pclntab_cu_file(const struct gh_pclntab *tab, const struct gh_func *func, int32_t n)
{
	if (n < 0)
		return GH_NO_FILE;
	if (tab->format <= GH_PCLNTAB_1_2)
		return n > 0 && (uint32_t)n <= tab->nfiles ? (uint32_t)n : GH_NO_FILE;
	struct gh_cursor cur = tab->cutab;
	gh_cursor_seek(&cur, ((uint64_t)func->cu + (uint32_t)n) * 4);
	uint32_t file = gh_cursor_u32(&cur);
	return cur.failed ? GH_NO_FILE : file;
}

uint32_t gh_pclntab_pcdata(const struct gh_pclntab *tab, const struct gh_func *func, unsigned n)
{
	if (n >= func->npcdata)
		return 0;
	struct gh_cursor cur = tab->functab;
	gh_cursor_seek(&cur, func->record + (uint64_t)n * 4);
	return gh_cursor_u32(&cur);
}

uint64_t gh_pclntab_funcdata(const struct gh_pclntab *tab, const struct gh_func *func, unsigned n)
{
	if (n >= func->nfuncdata)
		return 0;
	struct gh_cursor cur = tab->functab;
	uint64_t start = func->record + (uint64_t)func->npcdata * 4;
	if (tab->format >= GH_PCLNTAB_1_18) {
		gh_cursor_seek(&cur, start + (uint64_t)n * 4);
		uint32_t offset = gh_cursor_u32(&cur);
		if (cur.failed || offset == UINT32_MAX || tab->module.gofunc == 0)
			return 0;
		return tab->module.gofunc + offset;
	}
	/* The pointers are aligned in memory, whatever comes before them; the table itself is. */
	unsigned word = tab->pointer_size;
	uint64_t skew = (cur.offset - tab->header_offset + start) % word;
	start += skew == 0 ? 0 : word - skew;
	gh_cursor_seek(&cur, start + (uint64_t)n * word);
	return gh_cursor_uint(&cur, word);
}
