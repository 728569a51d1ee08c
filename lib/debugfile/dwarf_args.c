#include "lib/debugfile/dwarf_entries.h"
#include "lib/debugfile/internal.h"

#include <dwarf.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A struct is told from others by its words: the place and the type of each. */
struct word {
	uint32_t offset; /* from the first, in bytes */
	uint32_t type;   /* offset in .debug_info */
};

struct known {
	struct word words[GH_MAX_ARGS];
	size_t count;
	uint32_t offset; /* of the struct, in .debug_info */
};

static int compare(const void *a, const void *b)
{
	const struct known *first = a;
	const struct known *second = b;
	if (first->count != second->count)
		return first->count > second->count ? 1 : -1;
	return memcmp(first->words, second->words, first->count * sizeof(first->words[0]));
}

static uint32_t add_base(struct gh_buffer *info, const char *kind, uint8_t encoding, uint8_t size)
{
	char name[16];
	snprintf(name, sizeof(name), "%s%u", kind, size * 8U);
	return gh_variable_base(info, name, encoding, size);
}

void gh_arg_types_put(struct gh_arg_types *types, const struct gh_pclntab *tab,
		      const char *producer, struct gh_info *to)
{
	struct gh_buffer *info = &to->info;
	*types = (struct gh_arg_types){0};
	if (!gh_arg_places_told(tab))
		return;
	uint8_t word = tab->pointer_size;
	size_t start =
	    gh_variable_unit_begin(info, to->debugger, "types of arguments", producer, word);
	for (uint8_t size = 1; size <= 2; size = (uint8_t)(size * 2))
		types->integers[size] = add_base(info, "uint", DW_ATE_unsigned, size);
	for (uint8_t size = 4; size <= 8; size = (uint8_t)(size * 2))
		types->integers[size] = add_base(info, "int", DW_ATE_signed, size);
	for (uint8_t size = 4; size <= 8; size = (uint8_t)(size * 2))
		types->floats[size] = add_base(info, "float", DW_ATE_float, size);
	uint32_t any = gh_variable_base(info, "uintptr", DW_ATE_unsigned, word);
	types->pointer = gh_variable_pointer_begin(info, word, any);
	gh_buffer_string(info, "*uintptr");
	gh_unit_end(info, start);
}

static uint32_t word_type(const struct gh_arg_types *types, const struct gh_arg_place *place)
{
	if (place->arg.is_pointer)
		return types->pointer;
	return place->is_float ? types->floats[place->arg.size] : types->integers[place->arg.size];
}

static uint32_t add_struct(struct gh_buffer *info, const struct known *known, uint64_t size)
{
	uint32_t offset = gh_variable_struct_begin(info, size);
	gh_buffer_string(info, "");
	for (size_t i = 0; i < known->count; i++) {
		char name[24];
		snprintf(name, sizeof(name), "_%zu", i);
		gh_variable_member(info, name, known->words[i].offset, known->words[i].type);
	}
	gh_buffer_u8(info, 0);
	return offset;
}

/* The struct of KEY's words, which is taken over if it is new. */
static uint32_t find_struct(struct gh_arg_writer *writer, struct known *key, uint64_t size)
{
	struct gh_buffer *info = &writer->info->info;
	struct known **node = tsearch(key, &writer->structs, compare);
	if (node == NULL) {
		free(key);
		info->failed = true;
		return 0;
	}
	if (*node == key)
		key->offset = add_struct(info, key, size);
	else
		free(key);
	return (*node)->offset;
}

/* The offset in .debug_info of the type of the argument that the COUNT words at PLACES are. A
 * struct that is not there yet is added: no entry but a unit may be in the making. */
static uint32_t arg_type(struct gh_arg_writer *writer, const struct gh_arg_place *places,
			 size_t count)
{
	const struct gh_arg_types *types = writer->types;
	if (places[0].arg.part == GH_ARG_WHOLE)
		return word_type(types, places);
	struct known *key = calloc(1, sizeof(*key));
	if (key == NULL) {
		writer->info->info.failed = true;
		return 0;
	}
	uint64_t size = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t offset = (uint32_t)(places[i].arg.offset - places[0].arg.offset);
		key->words[key->count++] = (struct word){offset, word_type(types, &places[i])};
		size = offset + places[i].arg.size;
	}
	return find_struct(writer, key, size);
}

/* The most bytes that a word of an argument takes, with its type and its list, and those that a
 * function's arguments take. */
#define MAX_WORD_SIZE     96
#define MAX_FUNCTION_SIZE (GH_MAX_ARGS * MAX_WORD_SIZE)

void gh_args_init(struct gh_arg_writer *writer, const struct gh_info_common *common,
		  struct gh_info *info, size_t limit)
{
	*writer = (struct gh_arg_writer){
	    .tab = common->tab,
	    .types = &common->arg_types,
	    .rtypes = common->types,
	    .signatures = &common->signatures,
	    .methods_told = common->methods_told,
	    .info = info,
	    /* The arguments of real programs take a small part of the image. The functions of a
	       crafted one could have a list of them in common. */
	    .left = limit,
	};
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

/* SIGNATURE tells where all arguments of FUNC are, by the calling convention, and there is room for
 * them. */
static bool tells_places(struct gh_arg_writer *writer, const struct gh_func *func,
			 const struct gh_signature *signature)
{
	struct gh_results walk;
	struct gh_result passed;
	size_t size = 0;
	int release = gh_rtypes_release(writer->rtypes);
	if (!writer->methods_told || (func->flag & GH_FUNC_ASM) != 0 ||
	    writer->places.end >= func->end ||
	    !gh_parameters_agree(writer->rtypes, signature, release, &writer->places) ||
	    !gh_parameters_begin(&walk, writer->rtypes, signature, release))
		return false;
	/* Those without a size are not written. */
	while (gh_parameters_next(&walk, &passed))
		if (writer->rtypes->items[passed.type].size > 0)
			size += (1 + passed.nparts) * MAX_WORD_SIZE;
	if (size == 0 || size > writer->left)
		return false;
	writer->left -= size;
	return true;
}

/* Finds what the program tells of the types of FUNC's arguments. Of a generic function, called as
 * others are, Go leaves out the first argument. */
static void find_types(struct gh_arg_writer *writer, const struct gh_func *func)
{
	const struct gh_signature *signature = gh_signature_at(writer->signatures, func->entry);
	const char *name = gh_pclntab_name(writer->tab, func->name);
	writer->whole = NULL;
	if (signature != NULL && strchr(name, '[') == NULL) {
		gh_arg_rtypes(writer->type_numbers, &writer->places, writer->rtypes, signature);
		if (tells_places(writer, func, signature))
			writer->whole = signature;
		return;
	}
	for (size_t i = 0; i < writer->places.count; i++)
		writer->type_numbers[i] = GH_NO_RTYPE;
}

bool gh_args_begin(struct gh_arg_writer *writer, const struct gh_func *func)
{
	struct gh_arg_places *places = &writer->places;
	gh_arg_places_find(places, writer->tab, func);
	if (places->end >= func->end)
		places->any = false;
	if ((places->count == 0 && gh_arg_places_told(writer->tab)) ||
	    writer->left < MAX_FUNCTION_SIZE)
		return false;
	writer->left -= places->count * MAX_WORD_SIZE;
	find_types(writer, func);
	size_t count;
	for (size_t i = 0; i < places->count; i += count) {
		count = count_words(places, i);
		if (writer->type_numbers[i] == GH_NO_RTYPE)
			writer->type_offsets[i] = arg_type(writer, &places->items[i], count);
	}
	return places->count > 0 || writer->whole != NULL;
}

/* The expression for the register of this DWARF number. */
static void add_register(struct gh_buffer *out, uint8_t number)
{
	if (number < 32) {
		gh_buffer_u8(out, (uint8_t)(DW_OP_reg0 + number));
	} else {
		gh_buffer_u8(out, DW_OP_regx);
		gh_buffer_uleb128(out, number);
	}
}

/* The expression that tells where the word at PLACE is. */
static void add_place(struct gh_buffer *out, const struct gh_arg_place *place)
{
	switch (place->where) {
	case GH_ARG_IN_REGISTER:
		add_register(out, place->number);
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

/* The expression for an argument of COUNT words and SIZE bytes, 0: no more than those. Between
 * them, and where one is unknown, are pieces that are nowhere. */
static void add_expression(struct gh_buffer *out, const struct gh_arg_place *places, size_t count,
			   uint64_t size)
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
	end -= places[0].arg.offset;
	if (size > end && size - end <= UINT32_MAX)
		add_piece(out, (unsigned)(size - end));
}

/* The same for one that is where PASSED tells, of SIZE bytes. */
static void add_passed(struct gh_buffer *out, const struct gh_arch *arch,
		       const struct gh_result *passed, uint64_t size)
{
	uint64_t end = 0;
	if (passed->in_memory) {
		gh_buffer_u8(out, DW_OP_fbreg);
		gh_buffer_sleb128(out, (int64_t)(arch->min_frame + passed->offset));
		return;
	}
	for (size_t i = 0; i < passed->nparts; i++) {
		const struct gh_result_part *part = &passed->parts[i];
		if (part->offset > end)
			add_piece(out, (unsigned)(part->offset - end));
		add_register(out, gh_result_register(arch, part));
		end = part->offset + part->size;
		if (passed->nparts > 1 || end < size)
			add_piece(out, part->size);
	}
	if (size > end && size - end <= UINT32_MAX)
		add_piece(out, (unsigned)(size - end));
}

/* Begins the list of the one place where an argument of the function from ENTRY on is known.
 * Returns where its expression, which is to follow, has its length. */
static size_t begin_list(const struct gh_arg_writer *writer, uint64_t entry)
{
	struct gh_buffer *out = &writer->info->loc;
	uint8_t word = writer->tab->pointer_size;
	/* Addresses count from 0, as the unit says; Delve needs to be told, too. */
	gh_buffer_uint(out, UINT64_MAX, word);
	gh_buffer_uint(out, 0, word);
	gh_buffer_uint(out, entry, word);
	gh_buffer_uint(out, writer->places.end + 1, word);
	gh_buffer_u16(out, 0);
	return out->size - 2;
}

static void end_list(const struct gh_arg_writer *writer, size_t length)
{
	struct gh_buffer *out = &writer->info->loc;
	gh_buffer_patch(out, length, out->size - length - 2, 2);
	gh_buffer_uint(out, 0, writer->tab->pointer_size);
	gh_buffer_uint(out, 0, writer->tab->pointer_size);
}

static bool any_known(const struct gh_arg_place *places, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (places[i].where != GH_ARG_UNKNOWN)
			return true;
	return false;
}

/* Begins the entry of argument NUMBER, of which it is KNOWN where it is. Its type is to follow. */
static void begin_argument(struct gh_buffer *info, unsigned number, bool known)
{
	char name[16];
	snprintf(name, sizeof(name), "arg%u", number);
	gh_buffer_u8(info, known ? GH_ABBREV_ARGUMENT : GH_ABBREV_UNKNOWN_ARGUMENT);
	gh_buffer_string(info, name);
	gh_buffer_u8(info, 0); /* no result */
}

/* Writes the argument whose words begin with number FIRST. */
static void write_argument(const struct gh_arg_writer *writer, const struct gh_func *func,
			   size_t first, size_t count)
{
	struct gh_buffer *info = &writer->info->info;
	const struct gh_arg_place *places = &writer->places.items[first];
	bool known = writer->places.any && any_known(places, count);
	uint32_t type = writer->type_numbers[first];
	begin_argument(info, places[0].arg.number, known);
	if (type != GH_NO_RTYPE)
		gh_info_refer(writer->info, GH_INFO_TYPE, type);
	else if (places[0].arg.part == GH_ARG_WHOLE)
		gh_buffer_u32(info, writer->type_offsets[first]);
	else
		gh_info_refer(writer->info, GH_INFO_INFO, writer->type_offsets[first]);
	if (!known)
		return;
	gh_info_refer(writer->info, GH_INFO_LOC, writer->info->loc.size);
	size_t length = begin_list(writer, func->entry);
	add_expression(&writer->info->loc, places, count,
		       type != GH_NO_RTYPE ? writer->rtypes->items[type].size : 0);
	end_list(writer, length);
}

/* Writes all arguments that have a size, where the function's signature tells. */
static void write_whole(const struct gh_arg_writer *writer, const struct gh_func *func)
{
	struct gh_results walk;
	struct gh_result passed;
	gh_parameters_begin(&walk, writer->rtypes, writer->whole,
			    gh_rtypes_release(writer->rtypes));
	for (unsigned i = 0; gh_parameters_next(&walk, &passed); i++) {
		uint64_t size = writer->rtypes->items[passed.type].size;
		if (size == 0)
			continue;
		begin_argument(&writer->info->info, i, true);
		gh_info_refer(writer->info, GH_INFO_TYPE, passed.type);
		gh_info_refer(writer->info, GH_INFO_LOC, writer->info->loc.size);
		size_t length = begin_list(writer, func->entry);
		add_passed(&writer->info->loc, writer->tab->image->arch, &passed, size);
		end_list(writer, length);
	}
}

void gh_args_write(const struct gh_arg_writer *writer, const struct gh_func *func)
{
	size_t count;
	if (writer->whole != NULL) {
		write_whole(writer, func);
		return;
	}
	for (size_t i = 0; i < writer->places.count; i += count) {
		count = count_words(&writer->places, i);
		write_argument(writer, func, i, count);
	}
}

void gh_args_free(struct gh_arg_writer *writer)
{
	tdestroy(writer->structs, free);
	writer->structs = NULL;
}
