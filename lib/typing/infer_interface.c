/* What an interface's words say of what it holds. */
#include <string.h>

#include "lib/typing/internal.h"

/* The address of the descriptor that TYPE, a descriptor's or an itab's address, leads to. */
static uint64_t descriptor_of(const struct gh_dump *dump, uint64_t type)
{
	struct gh_dump_record record;
	size_t number = gh_dump_find(dump, GH_DUMP_ITAB, type);
	if (number == GH_DUMP_NONE || dump->format < GH_DUMP_1_4)
		return type;
	gh_dump_get(dump, GH_DUMP_ITAB, number, &record);
	return record.itab.type;
}

/* A value of the type in the dump that is called NAME is an interface's data word, or may be. */
static bool may_be_direct(const struct gh_infer *infer, const struct gh_dump_type *type)
{
	static const char *const prefixes[] = {"*", "chan", "<-chan", "func(", "map["};
	struct gh_cursor name = gh_dump_bytes(infer->heap->dump, type->name);
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t length = strlen(prefixes[i]);
		if (gh_cursor_size(&name) >= length && memcmp(name.start, prefixes[i], length) == 0)
			return true;
	}
	return type->size == infer->heap->dump->word;
}

/* The type that the program's descriptor at ADDRESS, in the dump's memory, describes. */
static uint32_t described_type(const struct gh_infer *infer, uint64_t address)
{
	const struct gh_rtypes *types = infer->layouts->types;
	uint32_t number = types != NULL ? gh_rtypes_at(types, address - infer->bias) : GH_NO_RTYPE;
	return number != GH_NO_RTYPE ? number : GH_NO_LAYOUT;
}

uint32_t gh_infer_dumped_type(struct gh_infer *infer, uint64_t address, bool channel)
{
	struct gh_dump_record record;
	const struct gh_dump *dump = infer->heap->dump;
	uint64_t key = channel ? ~address : address;
	uint32_t known = gh_numbermap_get(&infer->dumped, key);
	uint32_t described = described_type(infer, address);
	if (known != GH_NOT_MAPPED)
		return known;
	if (described != GH_NO_LAYOUT && !channel)
		return described;
	size_t number = gh_dump_find(dump, GH_DUMP_TYPE, address);
	if (number == GH_DUMP_NONE)
		return GH_NO_LAYOUT;
	gh_dump_get(dump, GH_DUMP_TYPE, number, &record);
	struct gh_layout layout = {.size = record.type.size,
				   .kind = GH_LAYOUT_DATA,
				   .elem = GH_NO_LAYOUT,
				   .group = GH_NO_LAYOUT,
				   .refines = GH_NO_LAYOUT,
				   .opaque = true,
				   .direct = may_be_direct(infer, &record.type)};
	struct gh_cursor name = gh_dump_bytes(dump, record.type.name);
	uint32_t added = gh_layouts_add_named(infer->layouts, layout, channel ? "chan " : "",
					      name.start, gh_cursor_size(&name));
	infer->failed |= added == GH_NO_LAYOUT || !gh_numbermap_put(&infer->dumped, key, added);
	return added;
}

uint32_t gh_infer_dynamic_type(struct gh_infer *infer, uint64_t type)
{
	return gh_infer_dumped_type(infer, descriptor_of(infer->heap->dump, type), false);
}

bool gh_infer_claim_interface(struct gh_infer *infer, uint64_t type, uint64_t data)
{
	uint32_t number = gh_infer_dynamic_type(infer, type);
	if (number == GH_NO_LAYOUT)
		return false;
	if (!gh_layout(infer->layouts, number)->direct) {
		gh_infer_claim(infer, data, number, 1, GH_TRUST_ALLOCATED);
		return true;
	}
	struct gh_link link;
	struct gh_cursor none = {0};
	if (gh_layouts_link_at(infer->layouts, number, 0, &link))
		gh_infer_follow(infer, &link, &none, 0, data);
	return true;
}
