/* What closures hold. */
#include <string.h>

#include "lib/typing/internal.h"

bool gh_infer_is_closure_struct(const struct gh_infer *infer, uint32_t number)
{
	struct gh_layout_field field;
	const struct gh_rtypes *types = infer->layouts->types;
	const struct gh_rtype *type = &types->items[number];
	return type->kind == GH_KIND_STRUCT && !type->named && type->nparts > 0 &&
	       gh_layouts_field(infer->layouts, number, 0, &field) && field.offset == 0 &&
	       types->items[field.layout].kind == GH_KIND_UINTPTR &&
	       (gh_rtype_text_is(field.name, "F") || gh_rtype_text_is(field.name, ".F"));
}

/* Collects the structs that closures may be. */
static void find_types(struct gh_infer *infer)
{
	const struct gh_rtypes *types = infer->layouts->types;
	for (uint32_t i = 0; types != NULL && i < types->count; i++)
		if (gh_infer_is_closure_struct(infer, i))
			gh_vector_push(&infer->closure_types, i);
}

/* The one of those that VIEW can be; GH_NO_LAYOUT if there is none, or another as well. */
static uint32_t find_struct(struct gh_infer *infer, const struct gh_view *view)
{
	uint32_t found = GH_NO_LAYOUT;
	if (infer->closure_types.count == 0)
		find_types(infer);
	const uint32_t *types = infer->closure_types.items;
	for (size_t i = 0; i < infer->closure_types.count; i++) {
		uint64_t size = gh_layout(infer->layouts, types[i])->size;
		if (gh_allocator_size(&infer->allocator, size, !view->no_pointers) != view->size ||
		    !gh_infer_matches(infer, view, types[i], false))
			continue;
		if (found != GH_NO_LAYOUT)
			return GH_NO_LAYOUT;
		found = types[i];
	}
	return found;
}

/* Adds the layout of the closures of the function NAME, one of which is VIEW. */
static uint32_t add_layout(struct gh_infer *infer, const struct gh_view *view, uint64_t entry,
			   const char *name)
{
	struct gh_layouts *layouts = infer->layouts;
	struct gh_layout layout = {.size = view->size - view->header,
				   .kind = GH_LAYOUT_DATA,
				   .elem = GH_NO_LAYOUT,
				   .group = GH_NO_LAYOUT,
				   .refines = GH_NO_LAYOUT,
				   .opaque = true};
	/* Those that package reflect makes are structs of its own. */
	uint32_t type = gh_code_types_closure(&infer->code, entry);
	if (type == GH_NO_LAYOUT && strncmp(name, "reflect.", 8) != 0)
		type = find_struct(infer, view);
	if (type != GH_NO_LAYOUT) {
		struct gh_layout_field field;
		uint32_t count = gh_layouts_nfields(layouts, type);
		layout = *gh_layout(layouts, type);
		layout.linked = false;
		layout.first = (uint32_t)layouts->fields.count;
		layout.nfields = 0;
		for (uint32_t i = 0; i < count; i++) {
			if (!gh_layouts_field(layouts, type, i, &field))
				continue;
			gh_layouts_add_field(layouts, &field);
			layout.nfields++;
		}
	}
	return gh_layouts_add_named(layouts, layout, "closure ", name, strlen(name));
}

/* The name of the function that begins at ENTRY, one of the program's addresses; NULL if none does.
 */
static const char *function_at(const struct gh_rtypes *types, uint64_t entry)
{
	for (size_t i = 0; i < types->nmodules; i++) {
		const struct gh_module *module = &types->modules[i];
		struct gh_func func;
		if (gh_pclntab_at(module->tab, entry - module->bias, &func))
			return gh_pclntab_name(module->tab, func.name);
	}
	return NULL;
}

/* The layout of the closures whose code begins at ENTRY; GH_NO_LAYOUT if no function does. */
static uint32_t layout_of(struct gh_infer *infer, const struct gh_view *view, uint64_t entry)
{
	uint32_t known = gh_numbermap_get(&infer->closures, entry);
	if (known != GH_NOT_MAPPED)
		return known;
	const char *name = function_at(infer->layouts->types, entry - infer->bias);
	if (name == NULL)
		return GH_NO_LAYOUT;
	uint32_t added = add_layout(infer, view, entry - infer->bias, name);
	infer->failed |= added == GH_NO_LAYOUT || !gh_numbermap_put(&infer->closures, entry, added);
	return added;
}

void gh_infer_claim_closure(struct gh_infer *infer, uint64_t address)
{
	struct gh_view view;
	uint32_t object = gh_infer_find(infer, address);
	if (object == GH_HEAP_NONE || infer->program == NULL ||
	    infer->evidence[object].trust >= GH_TRUST_ALLOCATED)
		return;
	gh_infer_view(infer, object, &view);
	if (address != view.address)
		return;
	struct gh_cursor contents = gh_dump_bytes(infer->heap->dump, view.record.object.contents);
	gh_cursor_seek(&contents, view.header);
	uint64_t entry = gh_cursor_uint(&contents, infer->heap->dump->word);
	uint32_t number = layout_of(infer, &view, entry);
	if (number != GH_NO_LAYOUT && gh_infer_matches(infer, &view, number, false))
		gh_infer_set(infer, &view, number, false, GH_TRUST_ALLOCATED);
}
