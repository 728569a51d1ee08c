#include "lib/typing/internal.h"

#include <string.h>

#include "lib/util/hash.h"

/* The longest chain of names for a type. */
#define MAX_TYPEDEFS 16

/* Notes the types by their names. */
static void note_names(struct gh_dwarf_layouts *layouts)
{
	const struct gh_rtypes *types = layouts->layouts->types;
	struct gh_buffer name = {0};
	for (uint32_t i = 0; i < types->count; i++) {
		name.size = 0;
		gh_rtype_name(&name, types, i);
		uint64_t key = gh_hash_bytes(GH_HASH_START, name.data, name.size);
		if (gh_numbermap_get(&layouts->names, key) == GH_NOT_MAPPED)
			layouts->failed |= !gh_numbermap_put(&layouts->names, key, i);
	}
	layouts->failed |= name.failed;
	gh_buffer_free(&name);
}

/* The number of the type called NAME. */
static uint32_t find_named(struct gh_dwarf_layouts *layouts, const char *name)
{
	size_t length = strlen(name);
	struct gh_buffer found = {0};
	if (layouts->names.size == 0)
		note_names(layouts);
	uint32_t number =
	    gh_numbermap_get(&layouts->names, gh_hash_bytes(GH_HASH_START, name, length));
	if (number == GH_NOT_MAPPED)
		return GH_NO_RTYPE;
	gh_rtype_name(&found, layouts->layouts->types, number);
	if (found.size != length || memcmp(found.data, name, length) != 0)
		number = GH_NO_RTYPE;
	gh_buffer_free(&found);
	return number;
}

/* The number of the descriptor that DIE says is its: given as an address, or from where they begin;
 * or, before Go 1.9, by the name alone.
 */
static uint32_t find_descriptor(struct gh_dwarf_layouts *layouts, Dwarf_Die die)
{
	const struct gh_rtypes *types = layouts->layouts->types;
	uint64_t value;
	uint64_t size;
	uint32_t number = GH_NO_RTYPE;
	if (types == NULL || types->count == 0)
		return GH_NO_LAYOUT;
	if (gh_dwarf_number(die, DW_AT_go_runtime_type, &value)) {
		number = gh_rtypes_at(types, value);
		if (number == GH_NO_RTYPE && value != 0)
			number = gh_rtypes_at(types, types->start + value);
	} else if (gh_rtypes_before_1_9(types)) {
		number = find_named(layouts, gh_dwarf_name(die));
	}
	if (number == GH_NO_RTYPE ||
	    (gh_dwarf_number(die, DW_AT_byte_size, &size) && size != types->items[number].size))
		return GH_NO_LAYOUT;
	return number;
}

static bool is_interface(Dwarf_Die die)
{
	uint64_t kind;
	const char *name = gh_dwarf_name(die);
	return (gh_dwarf_number(die, DW_AT_go_kind, &kind) && kind == GH_KIND_INTERFACE) ||
	       strcmp(name, "runtime.eface") == 0 || strcmp(name, "runtime.iface") == 0;
}

static enum gh_layout_kind kind_of(Dwarf_Die die)
{
	uint64_t kind = 0;
	if (is_interface(die))
		return GH_LAYOUT_INTERFACE;
	gh_dwarf_number(die, DW_AT_go_kind, &kind);
	switch (gh_dwarf_tag(die)) {
	case DW_TAG_pointer_type:
		return kind == GH_KIND_POINTER ? GH_LAYOUT_POINTER : GH_LAYOUT_UNKNOWN;
	case DW_TAG_subroutine_type:
		return GH_LAYOUT_FUNC;
	case DW_TAG_array_type:
		return GH_LAYOUT_ARRAY;
	case DW_TAG_structure_type:
		return kind == GH_KIND_SLICE    ? GH_LAYOUT_SLICE
		       : kind == GH_KIND_STRING ? GH_LAYOUT_STRING
						: GH_LAYOUT_STRUCT;
	default:
		return GH_LAYOUT_DATA;
	}
}

static uint64_t size_of(const struct gh_dwarf_layouts *layouts, Dwarf_Die die,
			enum gh_layout_kind kind)
{
	uint64_t size = 0;
	unsigned words = kind == GH_LAYOUT_INTERFACE ? 2 : 1;
	if (kind == GH_LAYOUT_POINTER || kind == GH_LAYOUT_UNKNOWN || kind == GH_LAYOUT_FUNC ||
	    kind == GH_LAYOUT_INTERFACE)
		return (uint64_t)words * layouts->layouts->word;
	gh_dwarf_number(die, DW_AT_byte_size, &size);
	return size;
}

static uint32_t add(struct gh_dwarf_layouts *layouts, const struct gh_layout *layout,
		    const char *name)
{
	uint32_t number = gh_layouts_add_named(layouts->layouts, *layout, "", name, strlen(name));
	layouts->failed |= number == GH_NO_LAYOUT;
	return number;
}

/* Adds the layout of the type DIE, at OFFSET, that has no descriptor. */
static uint32_t add_type(struct gh_dwarf_layouts *layouts, Dwarf_Die die, uint64_t offset)
{
	enum gh_layout_kind kind = kind_of(die);
	struct gh_layout layout = {.size = size_of(layouts, die, kind),
				   .kind = (uint8_t)kind,
				   .elem = GH_NO_LAYOUT,
				   .group = GH_NO_LAYOUT,
				   .refines = GH_NO_LAYOUT,
				   .has_pointers = kind != GH_LAYOUT_DATA};
	uint32_t number = add(layouts, &layout, gh_dwarf_name(die));
	if (number != GH_NO_LAYOUT)
		gh_vector_push(&layouts->queue, (struct gh_dwarf_pending){offset, number});
	return number;
}

uint32_t gh_dwarf_layout(struct gh_dwarf_layouts *layouts, uint64_t offset)
{
	uint64_t start = offset;
	uint32_t number = gh_numbermap_get(&layouts->known, offset);
	if (number != GH_NOT_MAPPED)
		return number;
	number = GH_NO_LAYOUT;
	for (int i = 0; i < MAX_TYPEDEFS && number == GH_NO_LAYOUT; i++) {
		Dwarf_Die die = gh_dwarf_at(layouts->dwarf, offset);
		if (die == NULL)
			return GH_NO_LAYOUT;
		uint64_t target;
		bool named = gh_dwarf_tag(die) == DW_TAG_typedef && !is_interface(die) &&
			     gh_dwarf_reference(die, DW_AT_type, &target);
		number = find_descriptor(layouts, die);
		if (number == GH_NO_LAYOUT && !named)
			number = add_type(layouts, die, offset);
		else if (named)
			offset = target;
		gh_dwarf_free(layouts->dwarf, die);
	}
	if (number != GH_NO_LAYOUT)
		layouts->failed |= !gh_numbermap_put(&layouts->known, start, number);
	return number;
}

uint32_t gh_dwarf_layout_pointer(struct gh_dwarf_layouts *layouts, uint64_t offset)
{
	struct gh_layout layout = {.size = layouts->layouts->word,
				   .kind = GH_LAYOUT_POINTER,
				   .elem = gh_dwarf_layout(layouts, offset),
				   .group = GH_NO_LAYOUT,
				   .refines = GH_NO_LAYOUT,
				   .has_pointers = true};
	return layout.elem == GH_NO_LAYOUT ? GH_NO_LAYOUT : add(layouts, &layout, "");
}

/* The layout of the type that attribute NAME of DIE refers to. */
static uint32_t referred(struct gh_dwarf_layouts *layouts, Dwarf_Die die, Dwarf_Half name)
{
	uint64_t offset;
	return gh_dwarf_reference(die, name, &offset) ? gh_dwarf_layout(layouts, offset)
						      : GH_NO_LAYOUT;
}

/* Adds the fields of the struct DIE, whose layout is NUMBER. */
static void add_fields(struct gh_dwarf_layouts *layouts, Dwarf_Die die, uint32_t number)
{
	uint32_t count = 0;
	uint32_t first = (uint32_t)layouts->layouts->fields.count;
	uint64_t size = gh_layout(layouts->layouts, number)->size;
	Dwarf_Die child = gh_dwarf_child(die);
	for (; child != NULL; child = gh_dwarf_sibling(layouts->dwarf, child)) {
		struct gh_layout_field field = {.layout = GH_NO_LAYOUT};
		if (gh_dwarf_tag(child) != DW_TAG_member ||
		    !gh_dwarf_number(child, DW_AT_data_member_location, &field.offset))
			continue;
		field.layout = referred(layouts, child, DW_AT_type);
		if (field.layout == GH_NO_LAYOUT || field.offset > size ||
		    gh_layout(layouts->layouts, field.layout)->size > size - field.offset)
			continue;
		field.name.start = gh_dwarf_name(child);
		field.name.length = (uint32_t)strlen(field.name.start);
		gh_layouts_add_field(layouts->layouts, &field);
		count++;
	}
	gh_layout(layouts->layouts, number)->first = first;
	gh_layout(layouts->layouts, number)->nfields = count;
}

/* Fills in what the layout of the type DIE is made of. */
static void fill_in(struct gh_dwarf_layouts *layouts, Dwarf_Die die, uint32_t number)
{
	uint32_t elem = GH_NO_LAYOUT;
	switch (gh_layout(layouts->layouts, number)->kind) {
	case GH_LAYOUT_STRUCT:
		add_fields(layouts, die, number);
		return;
	case GH_LAYOUT_SLICE:
		elem = referred(layouts, die, DW_AT_go_elem);
		break;
	case GH_LAYOUT_POINTER:
	case GH_LAYOUT_ARRAY:
		elem = referred(layouts, die, DW_AT_type);
		break;
	default:
		return;
	}
	struct gh_layout *layout = gh_layout(layouts->layouts, number);
	layout->elem = elem;
	if (layout->kind != GH_LAYOUT_ARRAY || elem == GH_NO_LAYOUT)
		return;
	uint64_t size = gh_layout(layouts->layouts, elem)->size;
	layout->count = size == 0 ? 0 : layout->size / size;
}

void gh_dwarf_layouts_finish(struct gh_dwarf_layouts *layouts)
{
	while (layouts->queue.count > 0) {
		struct gh_dwarf_pending pending = layouts->queue.items[--layouts->queue.count];
		Dwarf_Die die = gh_dwarf_at(layouts->dwarf, pending.offset);
		if (die == NULL)
			continue;
		fill_in(layouts, die, pending.layout);
		gh_dwarf_free(layouts->dwarf, die);
	}
	layouts->failed |= layouts->queue.failed;
}

void gh_dwarf_layouts_free(struct gh_dwarf_layouts *layouts)
{
	gh_numbermap_free(&layouts->known);
	gh_numbermap_free(&layouts->names);
	gh_vector_free(&layouts->queue);
}
