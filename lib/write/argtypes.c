#include "lib/write/argtypes.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/write/dwarf.h"
#include "lib/write/dwarf_unit.h"
#include "lib/write/dwarf_variable.h"

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

void gh_arg_types_init(struct gh_arg_types *types, struct gh_buffer *info, uint8_t word)
{
	*types = (struct gh_arg_types){.info = info};
	size_t start = gh_variable_unit_begin(info, "types of arguments", word);
	for (uint8_t size = 1; size <= 2; size = (uint8_t)(size * 2))
		types->integers[size] = add_base(info, "uint", DW_ATE_unsigned, size);
	for (uint8_t size = 4; size <= 8; size = (uint8_t)(size * 2))
		types->integers[size] = add_base(info, "int", DW_ATE_signed, size);
	for (uint8_t size = 4; size <= 8; size = (uint8_t)(size * 2))
		types->floats[size] = add_base(info, "float", DW_ATE_float, size);
	uint32_t any = gh_variable_base(info, "uintptr", DW_ATE_unsigned, word);
	types->pointer = gh_variable_pointer(info, word, any);
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
static uint32_t find_struct(struct gh_arg_types *types, struct known *key, uint64_t size)
{
	struct known **node = tsearch(key, &types->structs, compare);
	if (node == NULL) {
		free(key);
		types->info->failed = true;
		return 0;
	}
	if (*node == key)
		key->offset = add_struct(types->info, key, size);
	else
		free(key);
	return (*node)->offset;
}

uint32_t gh_arg_type(struct gh_arg_types *types, const struct gh_arg_place *places, size_t count)
{
	if (places[0].arg.part == GH_ARG_WHOLE)
		return word_type(types, places);
	struct known *key = calloc(1, sizeof(*key));
	if (key == NULL) {
		types->info->failed = true;
		return 0;
	}
	uint64_t size = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t offset = (uint32_t)(places[i].arg.offset - places[0].arg.offset);
		key->words[key->count++] = (struct word){offset, word_type(types, &places[i])};
		size = offset + places[i].arg.size;
	}
	return find_struct(types, key, size);
}

void gh_arg_types_free(struct gh_arg_types *types)
{
	tdestroy(types->structs, free);
	types->structs = NULL;
}
