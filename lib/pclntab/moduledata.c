#include "lib/pclntab/pclntab.h"

/* The most text sections that are believed; the linker makes one for each 32 MB or so of text. */
#define MAX_TEXT_SECTIONS 256

/* Where the fields are, in words from the start of the structure. */
struct layout {
	unsigned ftab;  /* slice of nfunc + 1 pairs */
	unsigned minpc; /* then maxpc, text, etext, and the bounds of the data segments */
	unsigned types; /* then, after types_gap words, etypes */
	unsigned types_gap;
	unsigned gofunc;      /* after rodata; 0 before Go 1.18 */
	unsigned epclntab;    /* 0 before Go 1.26 */
	unsigned textsectmap; /* slice; 0 where it is not needed */
	unsigned itablinks;   /* slice; 0 from Go 1.27 */
};

static const struct layout layout_1_2 = {3, 10, 25, 0, 0, 0, 0, 33};
static const struct layout layout_1_16 = {16, 20, 35, 0, 0, 0, 0, 43};
static const struct layout layout_1_18 = {16, 20, 35, 0, 38, 0, 39, 45};
static const struct layout layout_1_20 = {16, 20, 37, 0, 40, 0, 41, 47};
static const struct layout layout_1_26 = {16, 20, 37, 0, 40, 41, 42, 48};
static const struct layout layout_1_27 = {16, 20, 37, 1, 43, 44, 45, 0};

/* A moduledata of which only the places of fields are known: ptab follows itablinks, or, where that
 * is not, textsectmap. */
static struct gh_moduledata words_of(const struct layout *layout)
{
	unsigned before_ptab = layout->itablinks != 0 ? layout->itablinks : layout->textsectmap;
	return (struct gh_moduledata){
	    .text_word = (uint8_t)(layout->minpc + 2),
	    .types_word = (uint8_t)layout->types,
	    .etypes_word = (uint8_t)(layout->types + 1 + layout->types_gap),
	    .ptab_word = (uint8_t)(before_ptab + 3),
	};
}

/* Word INDEX of the structure that CUR starts at; 0 past its segment's contents. */
static uint64_t word_at(const struct gh_pclntab *tab, const struct gh_cursor *cur, unsigned index)
{
	struct gh_cursor field = *cur;
	gh_cursor_bytes(&field, (uint64_t)index * tab->pointer_size);
	return gh_cursor_uint(&field, tab->pointer_size);
}

static void read_pair(const struct gh_pclntab *tab, const struct gh_cursor *cur, unsigned index,
		      uint64_t *start, uint64_t *end)
{
	*start = word_at(tab, cur, index);
	*end = word_at(tab, cur, index + 1);
}

/* Reads where the itabs are. From Go 1.27 they follow the types, and the two words after etypes
 * say where. */
static void read_itabs(struct gh_moduledata *module, const struct gh_pclntab *tab,
		       const struct gh_cursor *cur, const struct layout *layout)
{
	if (layout->itablinks != 0) {
		read_pair(tab, cur, layout->itablinks, &module->itablinks, &module->nitablinks);
		/* Go 1.7 had no textsectmap before it, and other fields, which are empty, there. */
		if (layout == &layout_1_2 && module->nitablinks == 0)
			read_pair(tab, cur, layout->itablinks - 3, &module->itablinks,
				  &module->nitablinks);
		return;
	}
	uint64_t offset;
	read_pair(tab, cur, module->etypes_word + 1U, &offset, &module->itabs_size);
	module->itabs = module->types + offset;
}

/* Reads the structure that CUR starts at as LAYOUT says, and checks it against the table. */
static bool read_layout(struct gh_moduledata *module, const struct gh_pclntab *tab,
			const struct gh_cursor *cur, const struct layout *layout)
{
	uint64_t ftab = tab->address + (tab->functab.offset - tab->header_offset) + tab->pairs;
	uint64_t minpc;
	uint64_t maxpc;
	read_pair(tab, cur, layout->minpc, &minpc, &maxpc);
	read_pair(tab, cur, layout->minpc + 2, &module->text, &module->etext);
	read_pair(tab, cur, layout->minpc + 4, &module->noptrdata, &module->enoptrdata);
	read_pair(tab, cur, layout->minpc + 6, &module->data, &module->edata);
	read_pair(tab, cur, layout->minpc + 8, &module->bss, &module->ebss);
	read_pair(tab, cur, layout->minpc + 10, &module->noptrbss, &module->enoptrbss);
	module->types = word_at(tab, cur, layout->types);
	module->etypes = word_at(tab, cur, module->etypes_word);
	if (word_at(tab, cur, layout->ftab) != ftab ||
	    word_at(tab, cur, layout->ftab + 1) != (uint64_t)tab->nfunc + 1 || minpc > maxpc ||
	    minpc < module->text || maxpc > module->etext ||
	    module->noptrdata > module->enoptrdata || module->data > module->edata ||
	    module->bss > module->ebss || module->noptrbss > module->enoptrbss)
		return false;
	if (layout->gofunc != 0)
		read_pair(tab, cur, layout->gofunc - 1, &module->rodata, &module->gofunc);
	if (layout->textsectmap != 0)
		read_pair(tab, cur, layout->textsectmap, &module->textsectmap,
			  &module->ntextsectmap);
	read_itabs(module, tab, cur, layout);
	struct gh_cursor types;
	if (layout->gofunc != 0 && module->ntextsectmap > MAX_TEXT_SECTIONS)
		return false;
	if (layout->gofunc != 0 &&
	    (module->types > module->etypes || !gh_image_at(tab->image, module->types, &types) ||
	     !gh_image_at(tab->image, module->gofunc, &types)))
		return false;
	return layout->epclntab == 0 || word_at(tab, cur, layout->epclntab) > tab->address;
}

/* Reads the structure that CUR starts at in the first layout of its format that fits. */
static bool read_moduledata(struct gh_moduledata *module, const struct gh_pclntab *tab,
			    const struct gh_cursor *cur)
{
	static const struct layout *const layouts[][4] = {
	    [GH_PCLNTAB_1_2] = {&layout_1_2},
	    [GH_PCLNTAB_1_16] = {&layout_1_16},
	    [GH_PCLNTAB_1_18] = {&layout_1_18},
	    [GH_PCLNTAB_1_20] = {&layout_1_20},
	};
	/* The pclntab tells these from 1.20: it has no textStart. */
	static const struct layout *const new_layouts[] = {&layout_1_27, &layout_1_26, NULL};
	const struct layout *const *layout = layouts[tab->format];
	if (tab->format == GH_PCLNTAB_1_20 && tab->text == 0)
		layout = new_layouts;
	for (; *layout != NULL; layout++) {
		*module = words_of(*layout);
		if (read_layout(module, tab, cur, *layout))
			return true;
	}
	*module = (struct gh_moduledata){0};
	return false;
}

/* Looks through SEGMENT's contents for a pointer to the table that starts a moduledata. */
static bool search_segment(struct gh_moduledata *module, const struct gh_pclntab *tab,
			   const GElf_Phdr *segment)
{
	unsigned word = tab->pointer_size;
	struct gh_cursor cur;
	if (!gh_image_at(tab->image, segment->p_vaddr, &cur))
		return false;
	uint64_t skew = segment->p_vaddr % word;
	gh_cursor_bytes(&cur, skew == 0 ? 0 : word - skew);
	while (gh_cursor_left(&cur) >= word) {
		struct gh_cursor start = cur;
		if (gh_cursor_uint(&cur, word) != tab->address ||
		    !read_moduledata(module, tab, &start))
			continue;
		module->address = segment->p_vaddr + (uint64_t)(start.pos - start.start);
		return true;
	}
	return false;
}

bool gh_moduledata_find(struct gh_moduledata *module, const struct gh_pclntab *tab)
{
	*module = (struct gh_moduledata){0};
	/* It is in writable memory, or in what is made read-only after relocation, which a linker
	 * may have put into a segment of its own. */
	for (int writable = 1; writable >= 0; writable--) {
		for (size_t i = 0; i < tab->image->nloads; i++) {
			const GElf_Phdr *segment = tab->image->loads[i];
			if ((segment->p_flags & PF_X) == 0 &&
			    ((segment->p_flags & PF_W) != 0) == writable &&
			    search_segment(module, tab, segment))
				return true;
		}
	}
	return false;
}
