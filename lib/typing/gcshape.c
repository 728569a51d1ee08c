/* The compiler makes one function of a generic one for all type arguments of one GC shape, and has
 * memory allocated there by types of a package that it calls go.shape: "go.shape.struct { ... }",
 * or a hash of that where it is long. Source: shapify in src/cmd/compile/internal/noder/reader.go.
 */
#include "lib/typing/internal.h"

#include <string.h>

#include "lib/util/hash.h"

#define PREFIX "go.shape."

static bool is_shape(const struct gh_rtype *type)
{
	return type->kind == GH_KIND_STRUCT && gh_rtype_text_starts(type->text, PREFIX);
}

/* A hash of all that tells one struct from another but its name. Fields that cannot be read are
 * alike. */
static uint64_t hash_fields(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	uint64_t hash = gh_hash_bytes(GH_HASH_START, &type->size, sizeof(type->size));
	for (uint32_t i = 0; i < type->nparts; i++) {
		struct gh_rtype_part part = {0};
		gh_rtype_part(types, type, i, &part);
		hash = gh_hash_bytes(hash, part.name.start, part.name.length);
		hash = gh_hash_bytes(hash, &part.type, sizeof(part.type));
		hash = gh_hash_bytes(hash, &part.offset, sizeof(part.offset));
	}
	return hash;
}

static bool has_same_fields(const struct gh_rtypes *types, const struct gh_rtype *a,
			    const struct gh_rtype *b)
{
	bool same = a->size == b->size && a->nparts == b->nparts;
	for (uint32_t i = 0; same && i < a->nparts; i++) {
		struct gh_rtype_part first;
		struct gh_rtype_part second;
		same = gh_rtype_part(types, a, i, &first) && gh_rtype_part(types, b, i, &second) &&
		       first.type == second.type && first.offset == second.offset &&
		       first.embedded == second.embedded &&
		       first.name.length == second.name.length &&
		       memcmp(first.name.start, second.name.start, first.name.length) == 0;
	}
	return same;
}

/* Marks the shapes, and maps a hash of its fields to each. */
static bool find_shapes(struct gh_numbermap *by_fields, struct gh_layouts *layouts)
{
	const struct gh_rtypes *types = layouts->types;
	for (uint32_t i = 0; i < types->count; i++) {
		if (!is_shape(&types->items[i]))
			continue;
		gh_layout(layouts, i)->gc_shape = true;
		uint64_t hash = hash_fields(types, &types->items[i]);
		if (gh_numbermap_get(by_fields, hash) == GH_NOT_MAPPED &&
		    !gh_numbermap_put(by_fields, hash, i))
			return false;
	}
	return true;
}

bool gh_layouts_refine_shapes(struct gh_layouts *layouts)
{
	const struct gh_rtypes *types = layouts->types;
	struct gh_numbermap by_fields = {0};
	bool found = find_shapes(&by_fields, layouts);
	for (uint32_t i = 0; by_fields.used > 0 && i < types->count; i++) {
		const struct gh_rtype *type = &types->items[i];
		if (type->kind != GH_KIND_STRUCT || !type->named || gh_layout(layouts, i)->gc_shape)
			continue;
		uint32_t shape = gh_numbermap_get(&by_fields, hash_fields(types, type));
		if (shape != GH_NOT_MAPPED && has_same_fields(types, type, &types->items[shape]))
			gh_layout(layouts, i)->refines = shape;
	}
	gh_numbermap_free(&by_fields);
	return found;
}

bool gh_layouts_is_shaped(const struct gh_layouts *layouts, uint32_t number)
{
	struct gh_buffer name = {0};
	gh_layouts_name(layouts, number, &name);
	bool is = memmem(name.data, name.size, PREFIX, strlen(PREFIX)) != NULL;
	gh_buffer_free(&name);
	return is;
}

uint32_t gh_layouts_shaped(const struct gh_layouts *layouts, uint32_t shape)
{
	uint32_t shaped = GH_NO_LAYOUT;
	if (!gh_layout(layouts, shape)->gc_shape)
		return GH_NO_LAYOUT;
	for (uint32_t i = 0; i < layouts->types->count; i++) {
		if (gh_layout(layouts, i)->refines != shape)
			continue;
		if (shaped != GH_NO_LAYOUT)
			return GH_NO_LAYOUT;
		shaped = i;
	}
	return shaped;
}
