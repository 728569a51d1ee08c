#include "lib/pclntab/internal.h"

/* More pointer maps than these are not looked at: a function has one for each set of arguments that
 * are in use at a call. */
#define MAX_MAPS 256

/* What stands in an offset's place. */
enum {
	OFFSET_TOO_LARGE = 0xfb,
	DOTDOTDOT = 0xfc,
	END_AGGREGATE = 0xfd,
	START_AGGREGATE = 0xfe,
	END_SEQUENCE = 0xff,
};

/* The longest list that the compiler writes: TraceArgsMaxLen in src/internal/abi/symtab.go. */
#define MAX_LENGTH 171

bool gh_arg_walk_start(struct gh_arg_walk *walk, const struct gh_pclntab *tab,
		       const struct gh_func *func)
{
	uint64_t address = gh_pclntab_funcdata(tab, func, GH_FUNCDATA_ARG_INFO);
	*walk = (struct gh_arg_walk){.left = MAX_LENGTH};
	return address != 0 && gh_image_at(tab->image, address, &walk->cur);
}

static uint8_t next_byte(struct gh_arg_walk *walk)
{
	if (walk->left == 0)
		return END_SEQUENCE;
	walk->left--;
	uint8_t byte = gh_cursor_u8(&walk->cur);
	return walk->cur.failed ? END_SEQUENCE : byte;
}

enum gh_arg_token gh_arg_walk_next(struct gh_arg_walk *walk)
{
	uint8_t code = next_byte(walk);
	switch (code) {
	case END_SEQUENCE:
		walk->left = 0;
		return GH_ARG_LIST_END;
	case START_AGGREGATE:
		return GH_ARG_BEGIN;
	case END_AGGREGATE:
		return GH_ARG_END;
	case DOTDOTDOT:
		return GH_ARG_DOTS;
	case OFFSET_TOO_LARGE:
		return GH_ARG_FAR_WORD;
	default:
		walk->offset = code;
		walk->size = next_byte(walk);
		return GH_ARG_WORD;
	}
}

uint64_t gh_args_extent(const struct gh_pclntab *tab, const struct gh_func *func)
{
	struct gh_arg_walk walk;
	enum gh_arg_token token;
	uint64_t extent = 0;
	if (!gh_arg_walk_start(&walk, tab, func))
		return 0;
	while ((token = gh_arg_walk_next(&walk)) != GH_ARG_LIST_END)
		if (token == GH_ARG_WORD && (uint64_t)walk.offset + walk.size > extent)
			extent = (uint64_t)walk.offset + walk.size;
	return extent;
}

void gh_arg_liveness_start(struct gh_arg_liveness *liveness, const struct gh_pclntab *tab,
			   const struct gh_func *func, uint64_t pc)
{
	*liveness = (struct gh_arg_liveness){.start = UINT8_MAX};
	uint64_t address = gh_pclntab_funcdata(tab, func, GH_FUNCDATA_ARG_LIVE_INFO);
	uint32_t table = gh_pclntab_pcdata(tab, func, GH_PCDATA_ARG_LIVE_INDEX);
	if (address == 0 || !gh_image_at(tab->image, address, &liveness->bits))
		return;
	liveness->start = gh_cursor_u8(&liveness->bits);
	int32_t place = table != 0 ? gh_pcvalue_at(tab, func, table, pc) : -1;
	if (place <= 0)
		return;
	gh_cursor_seek(&liveness->bits, (uint64_t)place);
	liveness->is_told = true;
}

uint64_t gh_arg_liveness_begins(const struct gh_pclntab *tab, const struct gh_func *func)
{
	struct gh_pcvalue walk;
	uint32_t table = gh_pclntab_pcdata(tab, func, GH_PCDATA_ARG_LIVE_INDEX);
	gh_pcvalue_start(&walk, tab, func, table);
	while (table != 0 && gh_pcvalue_next(&walk))
		if (walk.value > 0)
			return walk.start;
	return func->entry;
}

bool gh_arg_is_live(struct gh_arg_liveness *liveness, uint8_t offset)
{
	if (offset < liveness->start)
		return true;
	unsigned slot = liveness->slot++;
	struct gh_cursor bits = liveness->bits;
	gh_cursor_bytes(&bits, slot / 8);
	return !liveness->is_told || (gh_cursor_u8(&bits) >> slot % 8 & 1) != 0;
}

/* Where in the list a reader is. */
struct place {
	unsigned depth;  /* of aggregates */
	unsigned number; /* of the next argument */
	unsigned part;   /* of the aggregate, the next */
};

static void begin_aggregate(struct place *place)
{
	if (place->depth++ == 0)
		place->part = 0;
}

/* False if there is none to end. */
static bool end_aggregate(struct place *place)
{
	if (place->depth == 0)
		return false;
	if (--place->depth == 0)
		place->number++;
	return true;
}

/* False if there can be no such word, or no more. */
static bool add_word(struct gh_args *args, const struct place *place, uint8_t offset, uint8_t size)
{
	if (args->count == GH_MAX_ARGS || (size != 1 && size != 2 && size != 4 && size != 8))
		return false;
	args->items[args->count++] = (struct gh_arg){
	    .number = (uint8_t)place->number,
	    .part = place->depth == 0 ? GH_ARG_WHOLE : (uint8_t)place->part,
	    .offset = offset,
	    .size = size,
	};
	return true;
}

/* Reads what TOKEN, the next of the list, stands for. False at the list's end, or where parts are
 * left out, so that the numbers of others cannot be told. */
static bool read_item(struct gh_args *args, struct place *place, const struct gh_arg_walk *walk,
		      enum gh_arg_token token)
{
	switch (token) {
	case GH_ARG_LIST_END:
	case GH_ARG_DOTS:
		return false;
	case GH_ARG_BEGIN:
		begin_aggregate(place);
		return true;
	case GH_ARG_END:
		return end_aggregate(place);
	default:
		if (token == GH_ARG_WORD && !add_word(args, place, walk->offset, walk->size))
			return false;
		if (place->depth == 0)
			place->number++;
		else
			place->part++;
		return true;
	}
}

static void find_pointers(struct gh_args *args, const struct gh_pclntab *tab,
			  const struct gh_func *func)
{
	struct gh_bitmaps maps;
	gh_arg_maps_find(&maps, tab, func);
	for (size_t i = 0; i < args->count; i++) {
		struct gh_arg *arg = &args->items[i];
		uint32_t word = (uint32_t)arg->offset / tab->pointer_size;
		for (uint32_t map = 0; map < maps.count && map < MAX_MAPS; map++)
			arg->is_pointer |=
			    arg->size == tab->pointer_size && gh_bitmaps_have(&maps, map, word);
	}
}

void gh_args_read(struct gh_args *args, const struct gh_pclntab *tab, const struct gh_func *func)
{
	struct gh_arg_walk walk;
	struct place place = {0};
	args->count = 0;
	if (!gh_arg_walk_start(&walk, tab, func))
		return;
	while (read_item(args, &place, &walk, gh_arg_walk_next(&walk)))
		continue;
	find_pointers(args, tab, func);
}
