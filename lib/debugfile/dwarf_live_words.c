#include "lib/debugfile/dwarf_entries.h"
#include "lib/debugfile/internal.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/util/bsearch.h"

/* The most bytes that a call takes without its variables, and that a variable takes: its own, and
 * those of the entry that it refers to. */
#define MAX_SITE_SIZE  32
#define MAX_WORD_SIZE  4
#define MAX_ENTRY_SIZE 40

/* Words beyond are left out: no sane frame is that large. In bytes from sp. */
#define MAX_OFFSET (1 << 20)

/* What variables of a word refer to. */
struct gh_word_entry {
	uint32_t unit;   /* number of the unit that has it; never 0 */
	uint32_t offset; /* of the entry in the unit */
};

/* Code within one inlined call, or within none, up to the next piece. */
struct gh_word_piece {
	uint32_t start;   /* offset from the function's entry */
	uint32_t inlined; /* what it is within */
};

/* A call with words that hold pointers. */
struct gh_word_site {
	uint32_t inlined; /* what it is within */
	int32_t index;    /* of the maps */
	int32_t delta;    /* of the stack */
	uint32_t end;     /* where it returns to, from the function's entry */
};

/* Calls that have their words in common, and a block. */
struct gh_word_block {
	uint32_t inlined; /* what they are within */
	uint32_t first;   /* number of the first of the sites */
	uint32_t count;   /* of them */
	uint32_t words;   /* offset of its variables in words */
	uint32_t size;    /* of them, in bytes */
};

bool gh_word_type_put(struct gh_word_type *type, const struct gh_pclntab *tab, const char *producer,
		      struct gh_info *to)
{
	struct gh_buffer *info = &to->info;
	*type = (struct gh_word_type){0};
	if (!gh_stackmaps_told(tab) || !gh_callees_find(&type->callees, tab))
		return !type->callees.entries.failed;
	uint8_t word = tab->pointer_size;
	size_t start =
	    gh_variable_unit_begin(info, to->debugger, "types of pointers", producer, word);
	uint32_t any = gh_variable_base(info, "uintptr", DW_ATE_unsigned, word);
	type->offset = gh_variable_pointer_begin(info, word, any);
	gh_buffer_string(info, "*uintptr");
	gh_unit_end(info, start);
	return true;
}

void gh_word_type_free(struct gh_word_type *type)
{
	gh_callees_free(&type->callees);
}

void gh_word_init(struct gh_words *live, const struct gh_pclntab *tab,
		  const struct gh_word_type *type, struct gh_info *info, size_t limit)
{
	*live = (struct gh_words){
	    .tab = tab,
	    .type = type,
	    .info = info,
	    /* What real programs have takes a tenth of the image. The functions of a crafted one
	       could have one map in common, of many words. */
	    .left = limit,
	};
}

void gh_word_begin_unit(struct gh_words *live, size_t unit)
{
	live->unit = unit;
	live->number++;
}

void gh_word_begin(struct gh_words *live, const struct gh_func *func)
{
	const struct gh_pclntab *tab = live->tab;
	live->sites.count = 0;
	live->pieces.count = 0;
	live->has_maps = live->type->offset != 0 && gh_stackmaps_find(&live->maps, tab, func);
	if (!live->has_maps)
		return;
	live->entry = func->entry;
	live->end = func->end;
	gh_pcvalue_start(&live->index, tab, func, gh_stackmaps_table(tab, func));
	gh_pcvalue_start(&live->delta, tab, func, func->pcsp);
}

static bool spend(struct gh_words *live, size_t bytes)
{
	bool enough = bytes <= live->left;
	live->left = enough ? live->left - bytes : 0;
	return enough;
}

/* The value of WALK's table at PC, which is no less than the last one asked for. */
static int32_t value_at(struct gh_pcvalue *walk, uint64_t pc)
{
	while (walk->end <= pc)
		if (!gh_pcvalue_next(walk))
			return -1;
	return walk->value;
}

static void start_words(const struct gh_words *live, const struct gh_word_site *site,
			struct gh_live_words *walk)
{
	gh_live_words_start(walk, &live->maps, site->index, site->delta);
}

/* Adds the call that returns to the function's code at END. */
static void add_site(struct gh_words *live, uint32_t end, uint32_t inlined)
{
	uint64_t address = live->entry + end - 1;
	struct gh_word_site site = {inlined, value_at(&live->index, address),
				    value_at(&live->delta, address), end};
	struct gh_live_words walk;
	uint32_t word;
	start_words(live, &site, &walk);
	if (spend(live, MAX_SITE_SIZE + gh_stackmaps_size(&live->maps)) &&
	    gh_live_words_next(&walk, &word))
		gh_vector_push(&live->sites, site);
}

void gh_word_range(struct gh_words *live, uint64_t start, uint32_t inlined)
{
	if (live->has_maps)
		gh_vector_push(&live->pieces,
			       (struct gh_word_piece){(uint32_t)(start - live->entry), inlined});
}

/* Whether SITE, in the piece that begins at START, is a call where maps are valid. */
static bool is_safe(const struct gh_words *live, struct gh_callsites *walk,
		    const struct gh_callsite *site, uint32_t start)
{
	if (site->direct)
		return gh_callees_have(&live->type->callees, site->target);
	return gh_callsites_check(walk, site, start);
}

/* Finds the function's calls. */
static void find_sites(struct gh_words *live)
{
	const struct gh_word_piece *pieces = live->pieces.items;
	size_t count = live->pieces.failed ? 0 : live->pieces.count;
	size_t i = 0;
	struct gh_callsites walk;
	struct gh_callsite site;
	gh_callsites_in(&walk, live->tab->image, live->entry, live->end);
	while (count > 0 && gh_callsites_next(&walk, &site)) {
		while (i + 1 < count && pieces[i + 1].start <= site.start)
			i++;
		if (is_safe(live, &walk, &site, pieces[i].start))
			add_site(live, (uint32_t)site.end, pieces[i].inlined);
	}
}

static int compare_sites(const void *a, const void *b)
{
	const struct gh_word_site *first = a;
	const struct gh_word_site *second = b;
	if (first->inlined != second->inlined)
		return first->inlined > second->inlined ? 1 : -1;
	if (first->index != second->index)
		return first->index > second->index ? 1 : -1;
	if (first->delta != second->delta)
		return first->delta > second->delta ? 1 : -1;
	return (first->end > second->end) - (first->end < second->end);
}

/* Sorts the sites, which often are in order. Returns how many there are. */
static size_t sort_sites(struct gh_words *live)
{
	struct gh_word_site *sites = live->sites.items;
	size_t count = live->sites.count;
	size_t sorted = 1;
	while (sorted < count && compare_sites(&sites[sorted - 1], &sites[sorted]) < 0)
		sorted++;
	if (sorted < count)
		qsort(sites, count, sizeof(*sites), compare_sites);
	return count;
}

/* The number of the first of the COUNT sites after number START that is not in its block. */
static size_t block_end(const struct gh_words *live, size_t start, size_t count)
{
	const struct gh_word_site *sites = live->sites.items;
	const struct gh_word_site *first = &sites[start];
	size_t end = start + 1;
	while (end < count && sites[end].inlined == first->inlined &&
	       sites[end].index == first->index && sites[end].delta == first->delta)
		end++;
	return end;
}

/* The place for the entry of the word at OFFSET from sp. NULL if that is too far, or memory ran
 * out. */
static struct gh_word_entry *entry_place(struct gh_words *live, uint32_t offset)
{
	size_t number = offset / live->tab->pointer_size;
	if (offset >= MAX_OFFSET)
		return NULL;
	if (number >= live->entries.count) {
		size_t more = number + 1 - live->entries.count;
		struct gh_word_entry *added = gh_vector_extend(&live->entries, more);
		if (added == NULL)
			return NULL;
		memset(added, 0, more * sizeof(*added));
	}
	return &live->entries.items[number];
}

/* Writes the variable at OFFSET from sp that others of its unit refer to, in the function that
 * *OPENED says was begun for such. */
static uint32_t add_entry(struct gh_words *live, uint32_t offset, bool *opened)
{
	struct gh_buffer *info = &live->info->info;
	if (!*opened) {
		gh_buffer_u8(info, GH_ABBREV_WORDS);
		gh_buffer_u32(info, GH_STRINGS_WORDS);
	}
	*opened = true;
	uint32_t entry = (uint32_t)(info->size - live->unit);
	gh_variable_at_sp(info, offset, live->type->offset, live->tab->image->arch->dwarf_sp);
	return entry;
}

/* Writes the variables of SITE to words, and what they refer to where the unit has it not yet.
 * False if the bytes left are too few. */
static bool add_words(struct gh_words *live, const struct gh_word_site *site, bool *opened)
{
	struct gh_live_words walk;
	uint32_t offset;
	start_words(live, site, &walk);
	while (gh_live_words_next(&walk, &offset)) {
		struct gh_word_entry *entry = entry_place(live, offset);
		bool known = entry != NULL && entry->unit == live->number;
		if (entry == NULL)
			continue;
		if (!spend(live, known ? MAX_WORD_SIZE : MAX_WORD_SIZE + MAX_ENTRY_SIZE))
			return false;
		if (!known)
			*entry =
			    (struct gh_word_entry){live->number, add_entry(live, offset, opened)};
		gh_buffer_u8(&live->words, GH_ABBREV_WORD);
		gh_buffer_uleb128(&live->words, entry->offset);
	}
	return true;
}

void gh_word_end(struct gh_words *live)
{
	bool opened = false;
	live->blocks.count = 0;
	live->words.size = 0;
	if (!live->has_maps)
		return;
	find_sites(live);
	size_t count = sort_sites(live);
	size_t end;
	for (size_t start = 0; start < count; start = end) {
		const struct gh_word_site *site = &live->sites.items[start];
		end = block_end(live, start, count);
		struct gh_word_block block = {.inlined = site->inlined,
					      .first = (uint32_t)start,
					      .count = (uint32_t)(end - start),
					      .words = (uint32_t)live->words.size};
		if (!add_words(live, site, &opened))
			break;
		block.size = (uint32_t)live->words.size - block.words;
		if (block.size > 0)
			gh_vector_push(&live->blocks, block);
	}
	if (opened)
		gh_buffer_u8(&live->info->info, 0);
}

static size_t count_blocks(const struct gh_words *live)
{
	return live->words.failed ? 0 : live->blocks.count;
}

/* The number of the first block within INLINED or after it. */
static size_t find_block(const struct gh_words *live, uint32_t inlined)
{
	const struct gh_word_block *blocks = live->blocks.items;
	return gh_lower_bound(count_blocks(live), i, blocks[i].inlined < inlined);
}

bool gh_word_has(const struct gh_words *live, uint32_t inlined)
{
	size_t first = find_block(live, inlined);
	return first < count_blocks(live) && live->blocks.items[first].inlined == inlined;
}

static void write_block(const struct gh_words *live, const struct gh_word_block *block)
{
	struct gh_buffer *info = &live->info->info;
	struct gh_buffer *ranges = &live->info->ranges;
	uint8_t word = live->tab->pointer_size;
	uint8_t tail = live->tab->image->arch->pc_unit;
	const struct gh_word_site *sites = &live->sites.items[block->first];
	if (block->count == 1) {
		gh_variable_block_begin(info, live->entry + sites->end - tail, tail, word);
	} else {
		gh_buffer_u8(info, GH_ABBREV_BLOCK_RANGES);
		gh_info_refer(live->info, GH_INFO_RANGES, ranges->size);
		for (size_t i = 0; i < block->count; i++) {
			gh_buffer_uint(ranges, live->entry + sites[i].end - tail, word);
			gh_buffer_uint(ranges, live->entry + sites[i].end, word);
		}
		gh_buffer_uint(ranges, 0, word);
		gh_buffer_uint(ranges, 0, word);
	}
	gh_buffer_bytes(info, live->words.data + block->words, block->size);
	gh_buffer_u8(info, 0); /* no more of them */
}

void gh_word_write(const struct gh_words *live, uint32_t inlined)
{
	size_t count = count_blocks(live);
	for (size_t i = find_block(live, inlined);
	     i < count && live->blocks.items[i].inlined == inlined; i++)
		write_block(live, &live->blocks.items[i]);
}

bool gh_word_failed(const struct gh_words *live)
{
	return live->pieces.failed || live->sites.failed || live->blocks.failed ||
	       live->words.failed || live->entries.failed;
}

void gh_word_free(struct gh_words *live)
{
	gh_vector_free(&live->pieces);
	gh_vector_free(&live->sites);
	gh_vector_free(&live->blocks);
	gh_buffer_free(&live->words);
	gh_vector_free(&live->entries);
}
