#include "lib/write/dwarf_generictype.h"

#include "lib/rtype/nesting.h"
#include "lib/write/dwarf_runtimetype.h"

gh_entry gh_type_hchan(struct gh_type_unit *unit, uint32_t elem)
{
	if (elem != GH_NO_RTYPE && unit->queues[elem] != GH_NO_ENTRY)
		return unit->queues[elem];
	struct gh_type_value argument = gh_type_pointer_value(unit, gh_type_pointer_to(unit, elem));
	uint32_t name = gh_type_generic_name(unit, "sudog", elem, GH_NO_ENTRY);
	struct gh_type_value value =
	    gh_type_add_runtime(unit, gh_type_new(unit), GH_RUNTIME_SUDOG, name, &argument);
	name = gh_type_generic_name(unit, "*sudog", elem, GH_NO_ENTRY);
	argument = gh_type_pointer_value(unit, gh_type_pointer(unit, value.type, name));
	name = gh_type_generic_name(unit, "waitq", elem, GH_NO_ENTRY);
	argument = gh_type_add_runtime(unit, gh_type_new(unit), GH_RUNTIME_WAITQ, name, &argument);
	name = gh_type_generic_name(unit, "hchan", elem, GH_NO_ENTRY);
	value = gh_type_add_runtime(unit, gh_type_new(unit), GH_RUNTIME_HCHAN, name, &argument);
	gh_entry queue = gh_type_pointer(unit, value.type,
					 gh_type_generic_name(unit, "*hchan", elem, GH_NO_ENTRY));
	if (elem != GH_NO_RTYPE)
		unit->queues[elem] = queue;
	return queue;
}

/* An array of a bucket, called BASE<ITEM>. */
static gh_entry bucket_array(struct gh_type_unit *unit, uint32_t array, const char *base,
			     uint32_t item)
{
	if (array == GH_NO_RTYPE || unit->types->items[array].kind != GH_KIND_ARRAY)
		return gh_type_of(unit, array);
	const struct gh_rtype *type = &unit->types->items[array];
	uint32_t elem = gh_rtype_shorter(unit->types, type, gh_rtype_elem(unit->types, type));
	struct gh_type_late late = {
	    .target = gh_type_of(unit, elem),
	    .name = gh_type_generic_name(unit, base, item, GH_NO_ENTRY),
	    .array = true,
	    .count = elem != GH_NO_RTYPE ? gh_rtype_length(unit->types, type) : 0,
	    .size = type->size};
	return gh_type_later(unit, &late);
}

/* Writes bucket<KEY,ELEM>, whose fields are those of the struct GROUP under other names. Returns
 * the pointer to it. */
static gh_entry add_bucket(struct gh_type_unit *unit, uint32_t key, uint32_t elem, uint32_t group)
{
	const struct gh_rtype *type = &unit->types->items[group];
	gh_entry number = gh_type_new(unit);
	gh_entry pointer =
	    gh_type_pointer(unit, number, gh_type_generic_name(unit, "*bucket", key, elem));
	gh_type_begin(unit, GH_ENTRY_STRUCT, number,
		      gh_type_generic_name(unit, "bucket", key, elem), NULL);
	gh_buffer_uleb128(unit->out, type->size);
	for (uint32_t i = 0; i < type->nparts; i++) {
		struct gh_rtype_part part;
		if (!gh_rtype_part(unit->types, type, i, &part))
			continue;
		if (gh_rtype_text_is(part.name, "topbits"))
			gh_type_add_member(unit, "tophash", 7, part.offset, part.type, false);
		else if (gh_rtype_text_is(part.name, "keys"))
			gh_type_add_member(unit, "keys", 4, part.offset,
					   bucket_array(unit, part.type, "[]key", key), false);
		else if (gh_rtype_text_is(part.name, "elems"))
			gh_type_add_member(unit, "values", 6, part.offset,
					   bucket_array(unit, part.type, "[]val", elem), false);
		else if (gh_rtype_text_is(part.name, "overflow"))
			gh_type_add_member(unit, "overflow", 8, part.offset, pointer, false);
	}
	gh_type_end_children(unit);
	return pointer;
}

/* Writes table<KEY,ELEM> of groups of the struct GROUP. Returns the pointer to the pointer to it.
 */
static gh_entry add_table(struct gh_type_unit *unit, uint32_t key, uint32_t elem, uint32_t group)
{
	struct gh_type_value argument =
	    gh_type_pointer_value(unit, gh_type_pointer_to(unit, group));
	uint32_t name = gh_type_generic_name(unit, "groupReference", key, elem);
	argument = gh_type_add_runtime(unit, gh_type_new(unit), GH_RUNTIME_GROUPS, name, &argument);
	name = gh_type_generic_name(unit, "table", key, elem);
	struct gh_type_value table =
	    gh_type_add_runtime(unit, gh_type_new(unit), GH_RUNTIME_TABLE, name, &argument);
	gh_entry pointer =
	    gh_type_pointer(unit, table.type, gh_type_generic_name(unit, "*table", key, elem));
	return gh_type_pointer(unit, pointer, gh_type_generic_name(unit, "**table", key, elem));
}

gh_entry gh_type_map(struct gh_type_unit *unit, uint32_t key, uint32_t elem, uint32_t group)
{
	if (group != GH_NO_RTYPE && unit->tables[group] != GH_NO_ENTRY)
		return unit->tables[group];
	bool swiss = unit->types->swiss_maps;
	struct gh_type_value argument = gh_type_pointer_value(
	    unit, group == GH_NO_RTYPE ? gh_type_basic(unit, GH_KIND_UNSAFE_POINTER)
		  : swiss              ? add_table(unit, key, elem, group)
				       : add_bucket(unit, key, elem, group));
	uint32_t name = gh_type_generic_name(unit, swiss ? "map" : "hash", key, elem);
	struct gh_type_value header = gh_type_add_runtime(
	    unit, gh_type_new(unit), swiss ? GH_RUNTIME_MAP : GH_RUNTIME_HASH, name, &argument);
	name = gh_type_generic_name(unit, swiss ? "*map" : "*hash", key, elem);
	gh_entry pointer = gh_type_pointer(unit, header.type, name);
	if (group != GH_NO_RTYPE)
		unit->tables[group] = pointer;
	return pointer;
}
