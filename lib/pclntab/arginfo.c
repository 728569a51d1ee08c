#include "lib/pclntab/arginfo.h"

#define FUNCDATA_ARGS_POINTER_MAPS 0
#define FUNCDATA_ARG_INFO          5

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

/* Reads what CODE, the next byte of the list, stands for. False at the list's end, or where parts
 * are left out, so that the numbers of others cannot be told. */
static bool read_item(struct gh_args *args, struct place *place, struct gh_cursor *cur,
		      uint8_t code)
{
	switch (code) {
	case END_SEQUENCE:
	case DOTDOTDOT:
		return false;
	case START_AGGREGATE:
		begin_aggregate(place);
		return true;
	case END_AGGREGATE:
		return end_aggregate(place);
	default:
		if (code != OFFSET_TOO_LARGE && !add_word(args, place, code, gh_cursor_u8(cur)))
			return false;
		if (place->depth == 0)
			place->number++;
		else
			place->part++;
		return true;
	}
}

/* Marks the words of ARGS that the bits of MAP, of SIZE bytes, are set for. */
static void mark_pointers(struct gh_args *args, const uint8_t *map, size_t size, uint8_t word)
{
	for (size_t i = 0; i < args->count; i++) {
		struct gh_arg *arg = &args->items[i];
		unsigned bit = arg->offset / word;
		if (arg->size == word && bit / 8 < size && (map[bit / 8] >> bit % 8 & 1) != 0)
			arg->is_pointer = true;
	}
}

static void find_pointers(struct gh_args *args, const struct gh_pclntab *tab,
			  const struct gh_func *func)
{
	struct gh_cursor cur;
	uint64_t address = gh_pclntab_funcdata(tab, func, FUNCDATA_ARGS_POINTER_MAPS);
	if (address == 0 || !gh_image_at(tab->image, address, &cur))
		return;
	uint32_t count = gh_cursor_u32(&cur);
	uint32_t nbits = gh_cursor_u32(&cur);
	for (uint32_t i = 0; i < count && i < MAX_MAPS; i++) {
		const uint8_t *map = gh_cursor_bytes(&cur, nbits / 8 + (nbits % 8 != 0));
		if (map == NULL)
			return;
		mark_pointers(args, map, nbits / 8 + (nbits % 8 != 0), tab->pointer_size);
	}
}

void gh_args_read(struct gh_args *args, const struct gh_pclntab *tab, const struct gh_func *func)
{
	struct gh_cursor cur;
	struct place place = {0};
	uint64_t address = gh_pclntab_funcdata(tab, func, FUNCDATA_ARG_INFO);
	args->count = 0;
	if (address == 0 || !gh_image_at(tab->image, address, &cur))
		return;
	for (unsigned i = 0; i < MAX_LENGTH; i++) {
		uint8_t code = gh_cursor_u8(&cur);
		if (cur.failed || !read_item(args, &place, &cur, code))
			break;
	}
	find_pointers(args, tab, func);
}
