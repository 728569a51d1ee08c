#include "lib/debugfile/dwarf_entries.h"

#include <string.h>

gh_entry gh_type_runtime(struct gh_type_unit *unit, uint32_t number)
{
	if (gh_runtime_structs[number].name == NULL)
		return GH_NO_ENTRY;
	if (unit->runtime[number] == GH_NO_ENTRY)
		unit->runtime[number] = gh_type_new(unit);
	return unit->runtime[number];
}

static gh_entry runtime_pointer(struct gh_type_unit *unit, const char *name)
{
	uint32_t number = gh_runtime_struct(name + 1);
	gh_entry target = gh_type_runtime(unit, number);
	if (target == GH_NO_ENTRY)
		return gh_type_basic(unit, GH_KIND_UNSAFE_POINTER);
	gh_entry *pointer = &unit->runtime_pointers[number];
	if (*pointer == GH_NO_ENTRY)
		*pointer = gh_type_pointer(unit, target, gh_type_string(unit, name));
	return *pointer;
}

/* The entry of a field's TYPE, as gh_runtime_structs spells it, and of SIZE bytes. */
static gh_entry field_entry(struct gh_type_unit *unit, const char *type, uint32_t size,
			    gh_entry argument)
{
	if (*type == '$')
		return argument;
	if (*type == '*')
		return runtime_pointer(unit, type);
	if (*type == '[') {
		uint64_t count = (uint64_t)(type[1] - '0');
		struct gh_type_late array = {.target = field_entry(unit, type + 3, 0, GH_NO_ENTRY),
					     .name = gh_type_string(unit, type),
					     .array = true,
					     .count = count,
					     .size = size};
		return gh_type_later(unit, &array);
	}
	enum gh_kind kind = gh_kind_named(type);
	return kind != 0 ? gh_type_basic(unit, kind)
			 : gh_type_runtime(unit, gh_runtime_struct(type));
}

gh_entry gh_type_add_runtime(struct gh_type_unit *unit, gh_entry entry, uint32_t number,
			     uint32_t name, gh_entry argument)
{
	struct gh_runtime_walk walk = gh_runtime_walk(number, unit->word, unit->release);
	struct gh_runtime_field field;
	gh_type_begin(unit, GH_ENTRY_STRUCT, entry, name, NULL);
	gh_buffer_uleb128(unit->out, gh_runtime_size(number, unit->word, unit->release));
	while (gh_runtime_next(&walk, &field))
		gh_type_add_member(unit, field.name, strlen(field.name), field.offset,
				   field_entry(unit, field.type, field.size, argument), false);
	gh_type_end_children(unit);
	return entry;
}

void gh_type_add_runtimes(struct gh_type_unit *unit)
{
	bool written[GH_MAX_RUNTIME_STRUCTS] = {false};
	bool more = true;
	while (more) {
		more = false;
		for (uint32_t i = 0; gh_runtime_structs[i].name != NULL; i++) {
			const struct gh_runtime_struct *type = &gh_runtime_structs[i];
			if (written[i] || unit->runtime[i] == GH_NO_ENTRY ||
			    unit->runtime[i] < unit->types->count)
				continue;
			more = written[i] = true;
			uint32_t name = gh_type_string(unit, type->name);
			if (type->members[0].name != NULL) {
				gh_type_add_runtime(unit, unit->runtime[i], i, name, GH_NO_ENTRY);
				continue;
			}
			gh_type_begin_entry(unit, GH_ENTRY_DECLARED, unit->runtime[i]);
			gh_buffer_u32(unit->out, name);
		}
	}
}

void gh_type_add_basics(struct gh_type_unit *unit)
{
	for (unsigned kind = 1; kind < GH_KINDS; kind++) {
		gh_entry entry = unit->basics[kind];
		if (entry == GH_NO_ENTRY || entry < unit->types->count)
			continue;
		struct gh_rtype type = {.address = unit->types->start,
					.size = gh_kind_size(kind, unit->word),
					.kind = (uint8_t)kind};
		uint32_t name = gh_type_string(unit, gh_kind_name(kind));
		if (kind == GH_KIND_UNSAFE_POINTER)
			gh_type_begin(unit, GH_ENTRY_BARE_POINTER, entry, name, &type);
		else
			gh_type_add_base(unit, entry, name, &type);
	}
}
