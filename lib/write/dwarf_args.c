#include "lib/write/dwarf_args.h"

#include <stdio.h>

#include "lib/write/dwarf.h"
#include "lib/write/dwarf_abbrev.h"

/* The most bytes that a word of an argument takes, with its type and its list, and those that a
 * function's arguments take. */
#define MAX_WORD_SIZE     96
#define MAX_FUNCTION_SIZE (GH_MAX_ARGS * MAX_WORD_SIZE)

void gh_args_init(struct gh_arg_writer *writer, const struct gh_pclntab *tab,
		  struct gh_buffer *info, struct gh_buffer *loc)
{
	*writer = (struct gh_arg_writer){
	    .tab = tab,
	    .info = info,
	    .loc = loc,
	    /* The arguments of real programs take a small part of that. The functions of a crafted
	       one could have a list of them in common. */
	    .left = tab->image->size,
	};
	if (gh_arg_places_told(tab))
		gh_arg_types_init(&writer->types, info, tab->pointer_size);
}

/* How many words, from number FIRST on, are the same argument's. */
static size_t count_words(const struct gh_arg_places *places, size_t first)
{
	size_t end = first + 1;
	while (end < places->count &&
	       places->items[end].arg.number == places->items[first].arg.number)
		end++;
	return end - first;
}

bool gh_args_begin(struct gh_arg_writer *writer, const struct gh_func *func)
{
	struct gh_arg_places *places = &writer->places;
	gh_arg_places_find(places, writer->tab, func);
	if (places->end >= func->end)
		places->any = false;
	if (places->count == 0 || writer->left < MAX_FUNCTION_SIZE)
		return false;
	writer->left -= places->count * MAX_WORD_SIZE;
	size_t count;
	for (size_t i = 0; i < places->count; i += count) {
		count = count_words(places, i);
		writer->type_offsets[i] = gh_arg_type(&writer->types, &places->items[i], count);
	}
	return true;
}

/* The expression that tells where the word at PLACE is. */
static void add_place(struct gh_buffer *out, const struct gh_arg_place *place)
{
	switch (place->where) {
	case GH_ARG_IN_REGISTER:
		if (place->number < 32) {
			gh_buffer_u8(out, (uint8_t)(DW_OP_reg0 + place->number));
		} else {
			gh_buffer_u8(out, DW_OP_regx);
			gh_buffer_uleb128(out, place->number);
		}
		break;
	case GH_ARG_IN_MEMORY:
		/* From the frame base, which is the CFA. */
		gh_buffer_u8(out, DW_OP_fbreg);
		gh_buffer_sleb128(out, place->offset);
		break;
	default:
		break;
	}
}

static void add_piece(struct gh_buffer *out, unsigned size)
{
	gh_buffer_u8(out, DW_OP_piece);
	gh_buffer_uleb128(out, size);
}

/* The expression for an argument of COUNT words. Between them, and where one is unknown, are pieces
 * that are nowhere. */
static void add_expression(struct gh_buffer *out, const struct gh_arg_place *places, size_t count)
{
	if (places[0].arg.part == GH_ARG_WHOLE) {
		add_place(out, places);
		return;
	}
	unsigned end = places[0].arg.offset;
	for (size_t i = 0; i < count; i++) {
		if (places[i].arg.offset > end)
			add_piece(out, places[i].arg.offset - end);
		add_place(out, &places[i]);
		add_piece(out, places[i].arg.size);
		end = places[i].arg.offset + places[i].arg.size;
	}
}

/* Writes the list of the one place where the argument is known. */
static void write_list(const struct gh_arg_writer *writer, uint64_t start,
		       const struct gh_arg_place *places, size_t count)
{
	struct gh_buffer *out = writer->loc;
	uint8_t word = writer->tab->pointer_size;
	gh_buffer_uint(out, start, word);
	gh_buffer_uint(out, writer->places.end + 1, word);
	size_t length = out->size;
	gh_buffer_u16(out, 0);
	add_expression(out, places, count);
	if (!out->failed)
		gh_buffer_patch(out, length, out->size - length - 2, 2);
	gh_buffer_uint(out, 0, word);
	gh_buffer_uint(out, 0, word);
}

static bool any_known(const struct gh_arg_place *places, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (places[i].where != GH_ARG_UNKNOWN)
			return true;
	return false;
}

/* Writes the argument whose words begin with number FIRST. */
static void write_argument(const struct gh_arg_writer *writer, const struct gh_func *func,
			   size_t first, size_t count)
{
	struct gh_buffer *info = writer->info;
	const struct gh_arg_place *places = &writer->places.items[first];
	bool known = writer->places.any && any_known(places, count);
	char name[16];
	snprintf(name, sizeof(name), "arg%u", places[0].arg.number);
	gh_buffer_u8(info, known ? GH_ABBREV_ARGUMENT : GH_ABBREV_UNKNOWN_ARGUMENT);
	gh_buffer_string(info, name);
	gh_buffer_u32(info, writer->type_offsets[first]);
	if (!known)
		return;
	gh_buffer_u32(info, (uint32_t)writer->loc->size);
	write_list(writer, func->entry, places, count);
}

void gh_args_write(const struct gh_arg_writer *writer, const struct gh_func *func)
{
	size_t count;
	for (size_t i = 0; i < writer->places.count; i += count) {
		count = count_words(&writer->places, i);
		write_argument(writer, func, i, count);
	}
}

void gh_args_free(struct gh_arg_writer *writer)
{
	gh_arg_types_free(&writer->types);
}
