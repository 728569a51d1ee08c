#include "lib/debugfile/dwarf_entries.h"

#include <stdlib.h>
#include <string.h>

#include "lib/rtype/rtype.h"

/* Names as they are made. */
struct maker {
	struct gh_typenames *names;
	const struct gh_rtypes *types;
	struct gh_strings *strings;
	struct gh_buffer text; /* of the name that is being made; owned */
	bool full;             /* the string table takes no more */
	uint32_t *maps; /* the map of each type that is a map's group, else GH_NO_RTYPE; owned */
	bool *unequal;  /* types whose name has "noalg." before it, by number; owned */
};

static void begin(struct maker *maker, const char *new_prefix, const char *old_prefix)
{
	const char *prefix = maker->types->tab->format >= GH_PCLNTAB_1_20 ? new_prefix : old_prefix;
	maker->text.size = 0;
	gh_buffer_bytes(&maker->text, prefix, strlen(prefix));
}

static uint32_t add_symbol(struct maker *maker, uint64_t address, uint64_t size)
{
	struct gh_data_symbol symbol = {.address = address, .size = size};
	symbol.name = gh_strings_append(maker->strings, maker->text.data, maker->text.size);
	maker->full |= symbol.name == 0;
	if (symbol.name != 0)
		gh_vector_push(&maker->names->symbols, symbol);
	return symbol.name;
}

/* The structs of a map's buckets or groups, the arrays in them, and a group's slots, which are the
 * elements of one, have no equality of their own; from Go 1.9 on the compiler says so in their
 * names. */
static void find_groups(struct maker *maker)
{
	const struct gh_rtypes *types = maker->types;
	bool marked = !gh_rtypes_before_1_9(types);
	for (uint32_t i = 0; i < types->count; i++) {
		if (types->items[i].kind != GH_KIND_MAP)
			continue;
		uint32_t group = gh_rtype_group(types, &types->items[i]);
		if (group == GH_NO_RTYPE || maker->maps[group] != GH_NO_RTYPE)
			continue;
		maker->maps[group] = i;
		maker->unequal[group] = marked;
		/* The first field says which entries are in use. */
		for (uint32_t p = 1; p < types->items[group].nparts; p++) {
			struct gh_rtype_part part;
			gh_rtype_part(types, &types->items[group], p, &part);
			if (part.type == GH_NO_RTYPE ||
			    types->items[part.type].kind != GH_KIND_ARRAY)
				continue;
			maker->unequal[part.type] = marked;
			uint32_t slot = gh_rtype_elem(types, &types->items[part.type]);
			if (types->swiss_maps && slot != GH_NO_RTYPE &&
			    gh_rtype_text_is(part.name, "slots"))
				maker->unequal[slot] = true;
		}
	}
}

/* Adds the name of type NUMBER, the struct of MAP's entries: "map.group[K]V" for "map[K]V". */
static void add_group_name(struct maker *maker, uint32_t number, const struct gh_rtype *map)
{
	const struct gh_rtypes *types = maker->types;
	const struct gh_rtype_text *text = &types->items[number].text;
	const char *bracket = memchr(text->start, '[', text->length);
	uint32_t key = gh_rtype_key(types, map);
	uint32_t elem = gh_rtype_elem(types, map);
	if (bracket == NULL || key == GH_NO_RTYPE || elem == GH_NO_RTYPE) {
		gh_rtype_name(&maker->text, types, number);
		return;
	}
	gh_buffer_bytes(&maker->text, text->start, (size_t)(bracket - text->start));
	gh_buffer_u8(&maker->text, '[');
	gh_rtype_name(&maker->text, types, key);
	gh_buffer_u8(&maker->text, ']');
	gh_rtype_name(&maker->text, types, elem);
}

static void name_types(struct maker *maker)
{
	const struct gh_rtypes *types = maker->types;
	for (uint32_t i = 0; i < types->count && !maker->full; i++) {
		begin(maker, "type:", "type.");
		if (maker->unequal[i] && !types->items[i].named)
			gh_buffer_bytes(&maker->text, "noalg.", strlen("noalg."));
		if (maker->maps[i] != GH_NO_RTYPE)
			add_group_name(maker, i, &types->items[maker->maps[i]]);
		else
			gh_rtype_name(&maker->text, types, i);
		if (maker->text.failed)
			return;
		maker->names->offsets[i] =
		    add_symbol(maker, types->items[i].address,
			       gh_rtype_descriptor_size(types, &types->items[i]));
	}
}

static void name_itabs(struct maker *maker)
{
	struct gh_itab_walk walk = {0};
	struct gh_itab itab;
	while (!maker->full && gh_itabs_next(&walk, maker->types, &itab)) {
		begin(maker, "go:itab.", "go.itab.");
		gh_rtype_name(&maker->text, maker->types, itab.type);
		gh_buffer_u8(&maker->text, ',');
		gh_rtype_name(&maker->text, maker->types, itab.interface);
		if (!maker->text.failed)
			add_symbol(maker, itab.address, itab.size);
	}
}

bool gh_typenames_make(struct gh_typenames *names, const struct gh_rtypes *types,
		       struct gh_strings *strings, struct gh_error *err)
{
	*names = (struct gh_typenames){0};
	if (types->count == 0)
		return true;
	struct maker maker = {.names = names, .types = types, .strings = strings};
	names->offsets = calloc(types->count, sizeof(*names->offsets));
	maker.unequal = calloc(types->count, sizeof(*maker.unequal));
	maker.maps = malloc(types->count * sizeof(*maker.maps));
	bool made = names->offsets != NULL && maker.unequal != NULL && maker.maps != NULL;
	if (made) {
		memset(maker.maps, 0xff, types->count * sizeof(*maker.maps));
		find_groups(&maker);
		name_types(&maker);
		name_itabs(&maker);
		made = !maker.text.failed && !names->symbols.failed && !strings->others.failed;
	}
	gh_buffer_free(&maker.text);
	free(maker.unequal);
	free(maker.maps);
	return made || gh_fail_memory(err, types->tab->image->path);
}

void gh_typenames_free(struct gh_typenames *names)
{
	free(names->offsets);
	gh_vector_free(&names->symbols);
}
