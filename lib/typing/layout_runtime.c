#include "lib/typing/internal.h"

#include <string.h>

#include "lib/rtype/rtype.h"

uint32_t gh_layouts_find(const struct gh_layouts *layouts, const char *package, const char *name)
{
	const struct gh_rtypes *types = layouts->types;
	for (uint32_t i = 0; types != NULL && i < types->count; i++)
		if (types->items[i].kind == GH_KIND_STRUCT &&
		    gh_rtype_text_is(types->items[i].text, name) &&
		    gh_rtype_text_is(gh_rtype_package(types, &types->items[i]), package))
			return i;
	return GH_NO_LAYOUT;
}

/* The runtime's structs; GH_NO_LAYOUT where the program has none. */
struct runtime {
	struct gh_layouts *layouts;
	uint32_t chan;
	uint32_t hash;   /* the header of a map of buckets */
	uint32_t map;    /* of a Swiss map */
	uint32_t table;  /* of a Swiss map */
	uint32_t groups; /* what a table refers to its groups by */
	uint32_t table_pointer;
};

/* Adds LAYOUT, called PREFIX and NAME, which is freed. */
static uint32_t add_called(struct gh_layouts *layouts, struct gh_layout layout, const char *prefix,
			   struct gh_buffer *name)
{
	uint32_t number = gh_layouts_add_named(layouts, layout, prefix, name->data, name->size);
	layouts->items.failed |= name->failed;
	gh_buffer_free(name);
	return number;
}

uint32_t gh_layouts_add_pointer(struct gh_layouts *layouts, enum gh_layout_kind kind, uint32_t elem,
				uint32_t group)
{
	struct gh_layout pointer = {.size = layouts->word,
				    .kind = (uint8_t)kind,
				    .elem = elem,
				    .group = group,
				    .refines = GH_NO_LAYOUT,
				    .has_pointers = true,
				    .of_runtime = true};
	struct gh_buffer name = {0};
	gh_layouts_name(layouts, elem, &name);
	return add_called(layouts, pointer, "*", &name);
}

uint32_t gh_layouts_copy_struct(struct gh_layouts *layouts, uint32_t prototype, const char *prefix,
				uint32_t named, const char *const fields[2], uint32_t type)
{
	struct gh_layout copy = *gh_layout(layouts, prototype);
	struct gh_layout_field field;
	struct gh_buffer name = {0};
	uint32_t count = gh_layouts_nfields(layouts, prototype);
	copy.refines = prototype;
	copy.of_runtime = true;
	copy.first = (uint32_t)layouts->fields.count;
	copy.nfields = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (!gh_layouts_field(layouts, prototype, i, &field))
			continue;
		if (gh_rtype_text_is(field.name, fields[0]) ||
		    gh_rtype_text_is(field.name, fields[1]))
			field.layout = type;
		gh_layouts_add_field(layouts, &field);
		copy.nfields++;
	}
	gh_rtype_name(&name, layouts->types, named);
	return add_called(layouts, copy, prefix, &name);
}

static uint32_t add_chan(const struct runtime *runtime, uint32_t number)
{
	static const char *const buffer[2] = {"buf", ""};
	struct gh_layouts *layouts = runtime->layouts;
	uint32_t elem = gh_rtype_elem(layouts->types, &layouts->types->items[number]);
	if (runtime->chan == GH_NO_LAYOUT || elem == GH_NO_LAYOUT)
		return GH_NO_LAYOUT;
	uint32_t elements = gh_layouts_add_pointer(layouts, GH_LAYOUT_ELEMENTS, elem, GH_NO_LAYOUT);
	if (elements == GH_NO_LAYOUT)
		return GH_NO_LAYOUT;
	uint32_t chan =
	    gh_layouts_copy_struct(layouts, runtime->chan, "", number, buffer, elements);
	if (chan != GH_NO_LAYOUT)
		gh_layout(layouts, chan)->open = true;
	return chan;
}

/* A bucket leads to more of its kind by a field whose type does not say so. */
static uint32_t add_hash(const struct runtime *runtime, uint32_t number, uint32_t bucket)
{
	static const char *const fields[2] = {"buckets", "oldbuckets"};
	struct gh_layouts *layouts = runtime->layouts;
	/* In Go 1.3 the runtime's own was C's. */
	uint32_t hash = runtime->hash;
	if (hash == GH_NO_LAYOUT)
		hash = gh_rtype_map_header(layouts->types, &layouts->types->items[number]);
	if (hash == GH_NO_LAYOUT)
		return GH_NO_LAYOUT;
	uint32_t more = gh_layouts_add_pointer(layouts, GH_LAYOUT_POINTER, bucket, GH_NO_LAYOUT);
	uint32_t buckets =
	    gh_layouts_add_pointer(layouts, GH_LAYOUT_ELEMENTS, bucket, GH_NO_LAYOUT);
	if (more == GH_NO_LAYOUT || buckets == GH_NO_LAYOUT)
		return GH_NO_LAYOUT;
	gh_layout(layouts, bucket)->elem = more;
	gh_layout(layouts, bucket)->of_runtime = true;
	return gh_layouts_copy_struct(layouts, hash, "", number, fields, buckets);
}

/* A group's entries are the elements of an array, its last field; but with the experiment
 * mapsplitgroup, which has arrays of keys and of values, nothing else is in them. */
static void mark_entries(struct gh_layouts *layouts, uint32_t group)
{
	struct gh_layout_field field;
	uint32_t count = gh_layouts_nfields(layouts, group);
	if (count == 0 || !gh_layouts_field(layouts, group, count - 1, &field))
		return;
	const struct gh_layout *slots = gh_layout(layouts, field.layout);
	gh_layout(layouts, group)->of_runtime = true;
	if (slots->kind != GH_LAYOUT_ARRAY || slots->elem == GH_NO_LAYOUT ||
	    !gh_rtype_text_is(field.name, "slots"))
		return;
	gh_layout(layouts, slots->elem)->only_in_group = true;
	gh_layout(layouts, slots->elem)->of_runtime = true;
}

static uint32_t add_swiss(const struct runtime *runtime, uint32_t number, uint32_t group)
{
	static const char *const data[2] = {"data", ""};
	static const char *const groups[2] = {"groups", ""};
	static const char *const directory[2] = {"dirPtr", ""};
	struct gh_layouts *layouts = runtime->layouts;
	if (runtime->map == GH_NO_LAYOUT || runtime->table == GH_NO_LAYOUT ||
	    runtime->groups == GH_NO_LAYOUT)
		return GH_NO_LAYOUT;
	mark_entries(layouts, group);
	uint32_t type = gh_layouts_add_pointer(layouts, GH_LAYOUT_ELEMENTS, group, GH_NO_LAYOUT);
	if (type != GH_NO_LAYOUT)
		type = gh_layouts_copy_struct(layouts, runtime->groups, "groups of ", number, data,
					      type);
	if (type != GH_NO_LAYOUT)
		type = gh_layouts_copy_struct(layouts, runtime->table, "table of ", number, groups,
					      type);
	if (type != GH_NO_LAYOUT)
		type = gh_layouts_add_pointer(layouts, GH_LAYOUT_OBJECT, type, GH_NO_LAYOUT);
	if (type != GH_NO_LAYOUT) {
		gh_layout(layouts, type)->refines = runtime->table_pointer;
		type = gh_layouts_add_pointer(layouts, GH_LAYOUT_DIRECTORY, type, group);
	}
	if (type == GH_NO_LAYOUT)
		return GH_NO_LAYOUT;
	return gh_layouts_copy_struct(layouts, runtime->map, "", number, directory, type);
}

static uint32_t add_map(const struct runtime *runtime, uint32_t number)
{
	const struct gh_rtypes *types = runtime->layouts->types;
	uint32_t group = gh_rtype_group(types, &types->items[number]);
	if (group == GH_NO_RTYPE)
		return GH_NO_LAYOUT;
	return types->swiss_maps ? add_swiss(runtime, number, group)
				 : add_hash(runtime, number, group);
}

/* What struct sync/atomic.Pointer[T] holds, its first field says: an array of no *T. */
static void find_atomic_pointer(struct gh_layouts *layouts, uint32_t number)
{
	const struct gh_rtype *type = &layouts->types->items[number];
	struct gh_layout_field field;
	if (!gh_rtype_text_starts(type->text, "atomic.Pointer[") ||
	    !gh_rtype_text_is(gh_rtype_package(layouts->types, type), "sync/atomic") ||
	    !gh_layouts_field(layouts, number, 0, &field))
		return;
	const struct gh_layout *array = gh_layout(layouts, field.layout);
	if (array->kind == GH_LAYOUT_ARRAY && array->count == 0 && array->elem != GH_NO_LAYOUT &&
	    gh_layout(layouts, array->elem)->kind == GH_LAYOUT_POINTER)
		gh_layout(layouts, number)->elem = array->elem;
}

/* The number of the type that points to type ELEM; GH_NO_LAYOUT if there is none. */
static uint32_t find_pointer(const struct gh_layouts *layouts, uint32_t elem)
{
	for (uint32_t i = 0; elem != GH_NO_LAYOUT && i < layouts->types->count; i++) {
		const struct gh_layout *layout = gh_layout(layouts, i);
		if (layout->kind == GH_LAYOUT_POINTER && layout->elem == elem)
			return i;
	}
	return GH_NO_LAYOUT;
}

/* A channel was made both to send and to receive, though a pointer to it may be of a type that only
 * does one of them. */
static void find_directed(struct gh_layouts *layouts, uint32_t number)
{
	const struct gh_rtypes *types = layouts->types;
	const struct gh_rtype *type = &types->items[number];
	uint32_t elem = gh_rtype_elem(types, type);
	if (type->kind != GH_KIND_CHAN || elem == GH_NO_RTYPE ||
	    gh_rtype_direction(types, type) == (GH_CHAN_RECV | GH_CHAN_SEND))
		return;
	for (uint32_t i = 0; i < types->count; i++)
		if (types->items[i].kind == GH_KIND_CHAN && !types->items[i].named &&
		    gh_rtype_elem(types, &types->items[i]) == elem &&
		    gh_rtype_direction(types, &types->items[i]) == (GH_CHAN_RECV | GH_CHAN_SEND))
			gh_layout(layouts, number)->elem = gh_layout(layouts, i)->elem;
}

bool gh_layouts_add_runtime(struct gh_layouts *layouts)
{
	static const char maps[] = "internal/runtime/maps";
	const struct gh_rtypes *types = layouts->types;
	struct runtime runtime = {
	    .layouts = layouts,
	    .chan = gh_layouts_find(layouts, "runtime", "runtime.hchan"),
	    .hash = gh_layouts_find(layouts, "runtime", "runtime.hmap"),
	    .map = gh_layouts_find(layouts, maps, "maps.Map"),
	    .table = gh_layouts_find(layouts, maps, "maps.table"),
	    .groups = gh_layouts_find(layouts, maps, "maps.groupsReference"),
	};
	runtime.table_pointer = find_pointer(layouts, runtime.table);
	uint32_t extra = gh_layouts_find(layouts, "runtime", "runtime.mapextra");
	if (extra != GH_NO_LAYOUT)
		gh_layout(layouts, extra)->of_runtime = true;
	for (uint32_t i = 0; i < types->count; i++) {
		uint32_t elem = GH_NO_LAYOUT;
		if (types->items[i].kind == GH_KIND_CHAN)
			elem = add_chan(&runtime, i);
		else if (types->items[i].kind == GH_KIND_MAP)
			elem = add_map(&runtime, i);
		else if (types->items[i].kind == GH_KIND_STRUCT && types->items[i].nparts > 0)
			find_atomic_pointer(layouts, i);
		if (elem == GH_NO_LAYOUT)
			continue;
		gh_layout(layouts, i)->elem = elem;
		gh_layout(layouts, i)->kind = GH_LAYOUT_OBJECT;
	}
	for (uint32_t i = 0; i < types->count; i++)
		find_directed(layouts, i);
	gh_layouts_add_library(layouts);
	return !layouts->items.failed && !layouts->fields.failed && !layouts->names.failed;
}
