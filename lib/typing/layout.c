#include "lib/typing/typing.h"

#include <string.h>

#include "lib/rtype/rtype.h"
#include "lib/typing/internal.h"
#include "lib/util/bsearch.h"

/* Arrays up to this length have a link for each pointer. */
#define MAX_UNROLLED 8

/* The most steps that the links of one type may take. */
#define MAX_STEPS 65536

/* The deepest nesting that is followed; lib/rtype believes less. */
#define MAX_DEPTH 256

struct gh_layout *gh_layout(const struct gh_layouts *layouts, uint32_t number)
{
	return &layouts->items.items[number];
}

static bool is_descriptor(const struct gh_layouts *layouts, uint32_t number)
{
	return layouts->types != NULL && number < layouts->types->count;
}

static enum gh_layout_kind layout_kind(const struct gh_rtype *type)
{
	switch (type->kind) {
	case GH_KIND_ARRAY:
		return GH_LAYOUT_ARRAY;
	case GH_KIND_FUNC:
		return GH_LAYOUT_FUNC;
	case GH_KIND_INTERFACE:
		return GH_LAYOUT_INTERFACE;
	case GH_KIND_POINTER:
		return GH_LAYOUT_POINTER;
	case GH_KIND_SLICE:
		return GH_LAYOUT_SLICE;
	case GH_KIND_STRING:
		return GH_LAYOUT_STRING;
	case GH_KIND_STRUCT:
		return GH_LAYOUT_STRUCT;
	case GH_KIND_CHAN:
	case GH_KIND_MAP:
	case GH_KIND_UNSAFE_POINTER:
		return GH_LAYOUT_UNKNOWN;
	default:
		return GH_LAYOUT_DATA;
	}
}

/* What TYPE says. What its maps and channels are is found out when all are known. */
static struct gh_layout layout_of(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	struct gh_layout layout = {
	    .size = type->size,
	    .kind = (uint8_t)layout_kind(type),
	    .elem = GH_NO_LAYOUT,
	    .group = GH_NO_LAYOUT,
	    .refines = GH_NO_LAYOUT,
	    .has_pointers = type->pointers > 0,
	    .direct = type->direct,
	};
	if (layout.kind == GH_LAYOUT_ARRAY || layout.kind == GH_LAYOUT_POINTER ||
	    layout.kind == GH_LAYOUT_SLICE)
		layout.elem = gh_rtype_elem(types, type);
	if (layout.kind == GH_LAYOUT_ARRAY)
		layout.count = gh_rtype_length(types, type);
	return layout;
}

/* Marks the elements of the arrays that struct NUMBER has. */
static void mark_elements(struct gh_layouts *layouts, uint32_t number)
{
	struct gh_layout_field field;
	uint32_t count = gh_layouts_nfields(layouts, number);
	for (uint32_t i = 0; i < count; i++) {
		if (!gh_layouts_field(layouts, number, i, &field))
			continue;
		uint32_t part = field.layout;
		for (int depth = 0; depth < MAX_DEPTH && part != GH_NO_LAYOUT &&
				    gh_layout(layouts, part)->kind == GH_LAYOUT_ARRAY;
		     depth++) {
			part = gh_layout(layouts, part)->elem;
			if (part != GH_NO_LAYOUT)
				gh_layout(layouts, part)->in_struct = true;
		}
	}
}

/* Adds LAYOUT, whose fields and name are put already. Gives its number; GH_NO_LAYOUT if memory ran
 * out. */
static uint32_t add(struct gh_layouts *layouts, const struct gh_layout *layout)
{
	if (layouts->count >= GH_NO_LAYOUT / 2 || layouts->fields.failed)
		return GH_NO_LAYOUT;
	return gh_vector_push(&layouts->items, *layout) ? layouts->count++ : GH_NO_LAYOUT;
}

bool gh_layouts_make(struct gh_layouts *layouts, const struct gh_rtypes *types, uint8_t word)
{
	*layouts = (struct gh_layouts){.types = types, .word = word, .budget = 1 << 20};
	gh_buffer_u8(&layouts->names, 0);
	if (types == NULL)
		return !layouts->names.failed;
	layouts->budget += types->tab->image->size;
	for (uint32_t i = 0; i < types->count; i++) {
		struct gh_layout layout = layout_of(types, &types->items[i]);
		add(layouts, &layout);
	}
	if (layouts->items.failed)
		return false;
	for (uint32_t i = 0; i < types->count; i++)
		if (gh_layout(layouts, i)->kind == GH_LAYOUT_STRUCT)
			mark_elements(layouts, i);
	return gh_layouts_refine_shapes(layouts) && gh_layouts_add_runtime(layouts);
}

void gh_layouts_free(struct gh_layouts *layouts)
{
	gh_vector_free(&layouts->items);
	gh_vector_free(&layouts->fields);
	gh_vector_free(&layouts->links);
	gh_buffer_free(&layouts->names);
}

uint32_t gh_layouts_add_named(struct gh_layouts *layouts, struct gh_layout layout,
			      const char *prefix, const void *text, size_t size)
{
	layout.name = (uint32_t)layouts->names.size;
	gh_buffer_bytes(&layouts->names, prefix, strlen(prefix));
	gh_buffer_bytes(&layouts->names, text, size);
	gh_buffer_u8(&layouts->names, 0);
	if (layouts->names.failed || layouts->names.size > UINT32_MAX)
		return GH_NO_LAYOUT;
	return add(layouts, &layout);
}

void gh_layouts_add_field(struct gh_layouts *layouts, const struct gh_layout_field *field)
{
	gh_vector_push(&layouts->fields, *field);
}

uint32_t gh_layouts_nfields(const struct gh_layouts *layouts, uint32_t number)
{
	const struct gh_layout *layout = gh_layout(layouts, number);
	if (layout->kind != GH_LAYOUT_STRUCT)
		return 0;
	return is_descriptor(layouts, number) ? layouts->types->items[number].nparts
					      : layout->nfields;
}

bool gh_layouts_field(const struct gh_layouts *layouts, uint32_t number, uint32_t index,
		      struct gh_layout_field *field)
{
	const struct gh_layout *layout = gh_layout(layouts, number);
	if (is_descriptor(layouts, number)) {
		struct gh_rtype_part part;
		if (!gh_rtype_part(layouts->types, &layouts->types->items[number], index, &part) ||
		    part.type == GH_NO_RTYPE)
			return false;
		*field = (struct gh_layout_field){part.offset, part.type, part.name};
	} else {
		*field = layouts->fields.items[layout->first + index];
	}
	if (layout->elem != GH_NO_LAYOUT &&
	    gh_layout(layouts, field->layout)->kind == GH_LAYOUT_UNKNOWN)
		field->layout = layout->elem;
	return true;
}

/* A part of a value that is looked through for pointers. */
struct visit {
	uint64_t offset; /* in the value, in bytes */
	uint64_t weight; /* how many there are of it */
	uint32_t layout;
	bool counting; /* it has no links of its own: an array's one link stands for it */
};

/* The making of a type's links. */
struct linker {
	struct gh_layouts *layouts;
	struct GH_VECTOR(struct visit) stack;
	uint64_t npointers;
	uint64_t steps;
};

static void push(struct linker *linker, const struct visit *visit)
{
	if (gh_layout(linker->layouts, visit->layout)->has_pointers)
		gh_vector_push(&linker->stack, *visit);
}

static void add_link(struct linker *linker, const struct visit *visit,
		     const struct gh_layout *layout, enum gh_layout_kind kind)
{
	struct gh_link link = {.offset = visit->offset,
			       .count = layout->count,
			       .elem = layout->elem,
			       .group = layout->group,
			       .kind = kind};
	if (kind == GH_LAYOUT_INTERFACE)
		link.offset += linker->layouts->word;
	if ((kind == GH_LAYOUT_POINTER || kind == GH_LAYOUT_SLICE) && link.elem == GH_NO_LAYOUT)
		link.kind = GH_LAYOUT_UNKNOWN;
	if (!visit->counting)
		gh_vector_push(&linker->layouts->links, link);
}

/* Fields go onto the stack last first, so that links are made by offset. */
static void visit_struct(struct linker *linker, const struct visit *visit)
{
	struct gh_layout_field field;
	for (uint32_t i = gh_layouts_nfields(linker->layouts, visit->layout); i-- > 0;) {
		linker->steps++;
		if (!gh_layouts_field(linker->layouts, visit->layout, i, &field))
			continue;
		struct visit part = *visit;
		part.layout = field.layout;
		part.offset += field.offset;
		push(linker, &part);
	}
}

static void visit_array(struct linker *linker, const struct visit *visit,
			const struct gh_layout *layout)
{
	if (layout->elem == GH_NO_LAYOUT || layout->count == 0)
		return;
	struct visit part = *visit;
	part.layout = layout->elem;
	if (layout->count > MAX_UNROLLED) {
		add_link(linker, visit, layout, GH_LAYOUT_NESTED);
		if (__builtin_mul_overflow(visit->weight, layout->count, &part.weight))
			part.weight = UINT64_MAX;
		part.counting = true;
		push(linker, &part);
		return;
	}
	uint64_t size = gh_layout(linker->layouts, layout->elem)->size;
	for (uint64_t i = layout->count; i-- > 0;) {
		part.offset = visit->offset + i * size;
		push(linker, &part);
	}
}

static void visit_one(struct linker *linker, const struct visit *visit)
{
	const struct gh_layout *layout = gh_layout(linker->layouts, visit->layout);
	linker->steps++;
	switch (layout->kind) {
	case GH_LAYOUT_DATA:
		return;
	case GH_LAYOUT_STRUCT:
		visit_struct(linker, visit);
		return;
	case GH_LAYOUT_ARRAY:
		visit_array(linker, visit, layout);
		return;
	default:
		add_link(linker, visit, layout, layout->kind);
		if (__builtin_add_overflow(linker->npointers, visit->weight, &linker->npointers))
			linker->npointers = UINT64_MAX;
	}
}

/* Makes the links of layout NUMBER: none, and it is opaque, if that takes too long. */
static void make_links(struct gh_layouts *layouts, uint32_t number)
{
	struct linker linker = {.layouts = layouts};
	size_t start = layouts->links.count;
	push(&linker, &(struct visit){.layout = number, .weight = 1});
	while (linker.stack.count > 0 && linker.steps < MAX_STEPS &&
	       linker.steps < layouts->budget) {
		struct visit visit = linker.stack.items[--linker.stack.count];
		visit_one(&linker, &visit);
	}
	struct gh_layout *layout = gh_layout(layouts, number);
	layouts->links.failed |= linker.stack.failed;
	if (linker.stack.count > 0 || layouts->links.failed) {
		layouts->links.count = start;
		layout->opaque = true;
	}
	layout->links = (uint32_t)start;
	layout->nlinks = (uint32_t)(layouts->links.count - start);
	layout->npointers = linker.npointers;
	layout->linked = true;
	layouts->budget -= linker.steps < layouts->budget ? linker.steps : layouts->budget;
	gh_vector_free(&linker.stack);
}

uint32_t gh_layouts_links(struct gh_layouts *layouts, uint32_t number, const struct gh_link **links)
{
	if (!gh_layout(layouts, number)->linked)
		make_links(layouts, number);
	const struct gh_layout *layout = gh_layout(layouts, number);
	*links = layouts->links.items;
	if (*links != NULL)
		*links += layout->links;
	return layout->nlinks;
}

/* The last of COUNT LINKS that is not past OFFSET. NULL if there is none. */
static const struct gh_link *find_link(const struct gh_link *links, uint32_t count, uint64_t offset)
{
	uint32_t after = gh_lower_bound(count, i, links[i].offset <= offset);
	return after == 0 ? NULL : &links[after - 1];
}

bool gh_layouts_link_at(struct gh_layouts *layouts, uint32_t number, uint64_t offset,
			struct gh_link *link)
{
	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		const struct gh_link *links;
		uint32_t count = gh_layouts_links(layouts, number, &links);
		const struct gh_link *found = find_link(links, count, offset);
		if (found == NULL)
			return false;
		*link = *found;
		if (link->kind != GH_LAYOUT_NESTED)
			return link->offset == offset;
		uint64_t size = gh_layout(layouts, link->elem)->size;
		offset -= link->offset;
		if (size == 0 || offset / size >= link->count)
			return false;
		offset %= size;
		number = link->elem;
	}
	return false;
}

uint32_t gh_layouts_first_part(const struct gh_layouts *layouts, uint32_t number, uint64_t *count)
{
	const struct gh_layout *layout = gh_layout(layouts, number);
	struct gh_layout_field field;
	*count = 1;
	if (layout->kind == GH_LAYOUT_ARRAY) {
		*count = layout->count;
		return layout->count == 0 ? GH_NO_LAYOUT : layout->elem;
	}
	uint32_t nfields = gh_layouts_nfields(layouts, number);
	for (uint32_t i = 0; i < nfields; i++)
		if (gh_layouts_field(layouts, number, i, &field) &&
		    gh_layout(layouts, field.layout)->size > 0)
			return field.offset == 0 ? field.layout : GH_NO_LAYOUT;
	return GH_NO_LAYOUT;
}

bool gh_layouts_begins_with(const struct gh_layouts *layouts, uint32_t outer, uint32_t inner,
			    uint64_t count)
{
	uint64_t length = 1;
	for (int depth = 0; depth < MAX_DEPTH && outer != GH_NO_LAYOUT; depth++) {
		if (outer == inner && length >= count)
			return true;
		uint64_t parts;
		bool array = gh_layout(layouts, outer)->kind == GH_LAYOUT_ARRAY;
		outer = gh_layouts_first_part(layouts, outer, &parts);
		if (!array || __builtin_mul_overflow(length, parts, &length))
			length = parts;
	}
	return false;
}

void gh_layouts_name(const struct gh_layouts *layouts, uint32_t number, struct gh_buffer *out)
{
	uint32_t name = gh_layout(layouts, number)->name;
	if (name == 0 && is_descriptor(layouts, number)) {
		gh_rtype_name(out, layouts->types, number);
		return;
	}
	const char *text = (const char *)layouts->names.data + name;
	gh_buffer_bytes(out, text, strlen(text));
}
