#include "lib/pclntab/internal.h"

/* The largest arguments that are believed, in bytes: together with any frame that fits 32 bits. */
#define MAX_ARGS (1U << 30)

bool gh_stackmaps_told(const struct gh_pclntab *tab)
{
	return tab->has_func_id && tab->numbers.stack_map_index > 0;
}

/* Reads FUNCDATA number N, whose maps tell of at most LIMIT words. */
static void find_bitmaps(struct gh_bitmaps *maps, const struct gh_pclntab *tab,
			 const struct gh_func *func, unsigned n, uint32_t limit)
{
	struct gh_cursor cur;
	uint64_t address = gh_pclntab_funcdata(tab, func, n);
	*maps = (struct gh_bitmaps){0};
	if (address == 0 || !gh_image_at(tab->image, address, &cur))
		return;
	uint32_t count = gh_cursor_u32(&cur);
	uint32_t nbits = gh_cursor_u32(&cur);
	if (cur.failed || nbits == 0 || nbits > limit ||
	    count > gh_cursor_left(&cur) / ((nbits + 7) / 8))
		return;
	*maps = (struct gh_bitmaps){cur, count, nbits};
}

bool gh_stackmaps_find(struct gh_stackmaps *maps, const struct gh_pclntab *tab,
		       const struct gh_func *func)
{
	const struct gh_arch *arch = tab->image->arch;
	uint8_t word = tab->pointer_size;
	maps->word = word;
	maps->above_locals = gh_arch_has_frame_pointer(arch) ? word : 0;
	maps->below_args = gh_arch_below_args(arch);
	find_bitmaps(&maps->locals, tab, func, GH_FUNCDATA_LOCALS_POINTER_MAPS,
		     (uint32_t)INT32_MAX / word);
	/* Maps of assembly functions have bits that stand for nothing. Of functions that do not say
	   how large their arguments are the runtime asks their callers. */
	find_bitmaps(&maps->args, tab, func, GH_FUNCDATA_ARGS_POINTER_MAPS,
		     func->args > 0 ? MAX_ARGS / word : 0);
	return maps->locals.nbits > 0 || maps->args.nbits > 0;
}

void gh_arg_maps_find(struct gh_bitmaps *maps, const struct gh_pclntab *tab,
		      const struct gh_func *func)
{
	find_bitmaps(maps, tab, func, GH_FUNCDATA_ARGS_POINTER_MAPS, MAX_ARGS / tab->pointer_size);
}

uint32_t gh_stackmaps_table(const struct gh_pclntab *tab, const struct gh_func *func)
{
	return gh_pclntab_pcdata(tab, func, tab->numbers.stack_map_index);
}

static size_t bitmap_size(const struct gh_bitmaps *maps)
{
	return (maps->nbits + 7) / 8;
}

size_t gh_stackmaps_size(const struct gh_stackmaps *maps)
{
	return bitmap_size(&maps->locals) + bitmap_size(&maps->args);
}

void gh_live_words_start(struct gh_live_words *walk, const struct gh_stackmaps *maps, int32_t index,
			 int32_t delta)
{
	/* A negative one but -1, which the runtime refuses, becomes that of no map. */
	*walk = (struct gh_live_words){
	    .maps = maps, .index = index == -1 ? 0 : (uint32_t)index, .delta = delta};
	if (delta < 0)
		walk->index = UINT32_MAX;
}

/* The bytes of map INDEX; none if there is no such map. */
static struct gh_cursor map_bytes(const struct gh_bitmaps *maps, uint32_t index)
{
	size_t size = bitmap_size(maps);
	struct gh_cursor cur = maps->bytes;
	if (index >= maps->count)
		return (struct gh_cursor){0};
	cur.pos += index * size;
	cur.end = cur.pos + size;
	return cur;
}

/* Moves *BIT to the next bit of map INDEX that is set; past the last if there is none. */
static bool next_bit(const struct gh_bitmaps *maps, uint32_t index, uint32_t *bit)
{
	struct gh_cursor cur = map_bytes(maps, index);
	size_t size = gh_cursor_left(&cur);
	while (*bit < maps->nbits && *bit / 8 < size) {
		unsigned rest = (unsigned)cur.pos[*bit / 8] >> *bit % 8;
		if (rest != 0) {
			*bit += (uint32_t)__builtin_ctz(rest);
			return *bit < maps->nbits;
		}
		*bit = (*bit / 8 + 1) * 8;
	}
	return false;
}

bool gh_bitmaps_have(const struct gh_bitmaps *maps, uint32_t index, uint32_t word)
{
	uint32_t bit = word;
	return next_bit(maps, index, &bit) && bit == word;
}

bool gh_live_words_next(struct gh_live_words *walk, uint32_t *offset)
{
	const struct gh_stackmaps *maps = walk->maps;
	uint32_t delta = (uint32_t)walk->delta;
	uint32_t locals = maps->locals.nbits * maps->word;
	bool fits = locals + maps->above_locals <= delta;
	if (!walk->in_args && fits && next_bit(&maps->locals, walk->index, &walk->bit)) {
		*offset = delta - maps->above_locals - locals + walk->bit++ * maps->word;
		return true;
	}
	if (!walk->in_args) {
		walk->in_args = true;
		walk->bit = 0;
	}
	if (!next_bit(&maps->args, walk->index, &walk->bit))
		return false;
	*offset = delta + maps->below_args + walk->bit++ * maps->word;
	return true;
}
