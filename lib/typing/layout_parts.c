#include "lib/typing/typing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/typing/internal.h"

/* The deepest nesting that is followed; lib/rtype believes less. */
#define MAX_DEPTH 256

/* The field of struct NUMBER that the byte at OFFSET is in. */
static bool find_field(const struct gh_layouts *layouts, uint32_t number, uint64_t offset,
		       struct gh_layout_field *field)
{
	uint32_t count = gh_layouts_nfields(layouts, number);
	for (uint32_t i = 0; i < count; i++)
		if (gh_layouts_field(layouts, number, i, field) && field->offset <= offset &&
		    offset - field->offset < gh_layout(layouts, field->layout)->size)
			return true;
	return false;
}

void gh_layouts_part_name(const struct gh_layouts *layouts, uint32_t number, uint64_t offset,
			  struct gh_buffer *out)
{
	for (int depth = 0; depth < MAX_DEPTH && number != GH_NO_LAYOUT; depth++) {
		const struct gh_layout *layout = gh_layout(layouts, number);
		struct gh_layout_field field;
		if (layout->kind == GH_LAYOUT_STRUCT) {
			if (!find_field(layouts, number, offset, &field))
				return;
			gh_buffer_u8(out, '.');
			gh_buffer_bytes(out, field.name.start, field.name.length);
			offset -= field.offset;
			number = field.layout;
		} else if (layout->kind == GH_LAYOUT_ARRAY && layout->elem != GH_NO_LAYOUT &&
			   gh_layout(layouts, layout->elem)->size > 0) {
			char index[32];
			uint64_t size = gh_layout(layouts, layout->elem)->size;
			int length = snprintf(index, sizeof(index), "[%" PRIu64 "]", offset / size);
			gh_buffer_bytes(out, index, (size_t)length);
			offset %= size;
			number = layout->elem;
		} else {
			return;
		}
	}
}

static const struct gh_rtype_text any_element = {"[]", 2};
static const struct gh_rtype_text key_of_map = {"[key]", 5};
static const struct gh_rtype_text value_of_map = {"[val]", 5};

/* What FIELD of a struct of the runtime's is: a key or value of a map's, or nothing that the
 * program knows of. Buckets have arrays of both (reflect.bucketOf in src/reflect/map.go), the slots
 * of groups one of each (src/internal/runtime/maps/group.go), or, with the experiment
 * mapsplitgroup, groups arrays of both. */
static struct gh_rtype_text name_entry(const struct gh_layout_field *field)
{
	if (gh_rtype_text_is(field->name, "keys") || gh_rtype_text_is(field->name, "key"))
		return key_of_map;
	if (gh_rtype_text_is(field->name, "elems") || gh_rtype_text_is(field->name, "elem") ||
	    gh_rtype_text_is(field->name, "values"))
		return value_of_map;
	return (struct gh_rtype_text){0};
}

/* Adds a part. */
static void add(struct gh_parts *parts, struct gh_rtype_text name, uint32_t layout)
{
	gh_vector_push(parts, (struct gh_part){name, layout});
}

/* NUMBER is an array of what has a size: goes on to the element that *OFFSET is in. */
static bool enter_array(const struct gh_layouts *layouts, uint32_t *number, uint64_t *offset)
{
	const struct gh_layout *layout = gh_layout(layouts, *number);
	if (layout->kind != GH_LAYOUT_ARRAY || layout->elem == GH_NO_LAYOUT ||
	    gh_layout(layouts, layout->elem)->size == 0)
		return false;
	*number = layout->elem;
	*offset %= gh_layout(layouts, layout->elem)->size;
	return true;
}

/* Goes on to the field of a struct of the runtime's. */
static void enter_entry(const struct gh_layouts *layouts, const struct gh_layout_field *field,
			uint32_t *number, uint64_t *offset, struct gh_parts *parts)
{
	struct gh_rtype_text name = name_entry(field);
	if (name.length == 0)
		return;
	/* A bucket has as many as there are entries. */
	if (field->name.start[field->name.length - 1] == 's')
		enter_array(layouts, number, offset);
	add(parts, name, *number);
}

uint32_t gh_layouts_parts(const struct gh_layouts *layouts, uint32_t number, uint64_t offset,
			  struct gh_parts *parts)
{
	bool hidden = false;
	for (int depth = 0; depth < MAX_DEPTH && number != GH_NO_LAYOUT; depth++) {
		const struct gh_layout *layout = gh_layout(layouts, number);
		struct gh_layout_field field;
		if (layout->kind == GH_LAYOUT_STRUCT) {
			size_t before = parts->count;
			bool of_runtime = layout->of_runtime;
			if (!find_field(layouts, number, offset, &field))
				return GH_NO_LAYOUT;
			offset -= field.offset;
			number = field.layout;
			if (of_runtime)
				enter_entry(layouts, &field, &number, &offset, parts);
			else
				add(parts, field.name, number);
			hidden = parts->count == before;
		} else if (!enter_array(layouts, &number, &offset)) {
			return number;
		} else if (!hidden) {
			add(parts, any_element, number);
		}
	}
	return number;
}
