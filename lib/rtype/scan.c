#include "lib/rtype/internal.h"

#include <string.h>

#include "lib/util/escape.h"
#include "lib/util/vector.h"

/* Bits of a descriptor's tflag. */
enum {
	TFLAG_UNCOMMON = 1,
	TFLAG_EXTRA_STAR = 2,
	TFLAG_NAMED = 4,
	TFLAG_GC_MASK_ON_DEMAND = 16,
	TFLAG_DIRECT = 32, /* from Go 1.26; before, KIND_DIRECT */
	TFLAG_KNOWN = 63,
};

#define KIND_MASK   31
#define KIND_DIRECT 32

/* A descriptor, as it is read. */
struct descriptor {
	uint64_t size;
	uint64_t pointers; /* bytes of a value up to its last pointer */
	uint8_t tflag;
	uint8_t align;
	uint8_t field_align;
	uint8_t kind;
	bool direct;
	uint64_t equal; /* address of the closure that compares values, or 0 */
	uint64_t gcdata;
	uint32_t text; /* offset of its name */
};

static void read_descriptor(const struct gh_rtypes *types, struct gh_cursor *cur,
			    struct descriptor *found)
{
	found->size = gh_rtype_word(types, cur);
	found->pointers = gh_rtype_word(types, cur);
	gh_cursor_u32(cur); /* hash */
	found->tflag = gh_cursor_u8(cur);
	found->align = gh_cursor_u8(cur);
	found->field_align = gh_cursor_u8(cur);
	uint8_t kind = gh_cursor_u8(cur);
	found->kind = kind & KIND_MASK;
	found->direct = (kind & KIND_DIRECT) != 0 || (found->tflag & TFLAG_DIRECT) != 0;
	found->equal = gh_rtype_word(types, cur);
	found->gcdata = gh_rtype_word(types, cur);
	found->text = gh_cursor_u32(cur);
	gh_cursor_u32(cur); /* ptrToThis: its type is found by itself */
}

unsigned gh_kind_size(enum gh_kind kind, unsigned word)
{
	static const uint8_t bytes[GH_KINDS] = {
	    [GH_KIND_BOOL] = 1,       [GH_KIND_INT8] = 1,    [GH_KIND_INT16] = 2,
	    [GH_KIND_INT32] = 4,      [GH_KIND_INT64] = 8,   [GH_KIND_UINT8] = 1,
	    [GH_KIND_UINT16] = 2,     [GH_KIND_UINT32] = 4,  [GH_KIND_UINT64] = 8,
	    [GH_KIND_FLOAT32] = 4,    [GH_KIND_FLOAT64] = 8, [GH_KIND_COMPLEX64] = 8,
	    [GH_KIND_COMPLEX128] = 16};
	static const uint8_t words[GH_KINDS] = {
	    [GH_KIND_INT] = 1,    [GH_KIND_UINT] = 1,          [GH_KIND_UINTPTR] = 1,
	    [GH_KIND_CHAN] = 1,   [GH_KIND_FUNC] = 1,          [GH_KIND_INTERFACE] = 2,
	    [GH_KIND_MAP] = 1,    [GH_KIND_POINTER] = 1,       [GH_KIND_SLICE] = 3,
	    [GH_KIND_STRING] = 2, [GH_KIND_UNSAFE_POINTER] = 1};
	return bytes[kind] != 0 ? bytes[kind] : words[kind] * word;
}

static bool is_align(uint8_t align)
{
	return align != 0 && align <= 64 && (align & (align - 1)) == 0;
}

/* Zero, or what MODULE has as the address of something. */
static bool is_pointer(const struct gh_rtypes *types, unsigned module, uint64_t address)
{
	struct gh_cursor cur;
	return address == 0 ||
	       gh_rtypes_bytes(types, gh_rtypes_address(types, module, address), &cur);
}

bool gh_rtype_numbers_fit(const struct gh_rtypes *types, unsigned kind, uint64_t size,
			  uint8_t align, uint8_t field_align)
{
	if (kind == 0 || kind >= GH_KINDS || !is_align(align) || !is_align(field_align) ||
	    size % align != 0 || size > INT64_MAX)
		return false;
	uint64_t expected = gh_kind_size(kind, types->tab->pointer_size);
	return expected == 0 || size == expected;
}

/* The numbers in FOUND are those of a type of MODULE's. */
static bool plausible(const struct gh_rtypes *types, unsigned module,
		      const struct descriptor *found)
{
	if ((found->tflag & ~TFLAG_KNOWN) != 0 || found->pointers > found->size ||
	    found->pointers % types->tab->pointer_size != 0 || found->text == 0 ||
	    !gh_rtype_numbers_fit(types, found->kind, found->size, found->align,
				  found->field_align) ||
	    gh_rtypes_at_offset(types, module, found->text) == 0)
		return false;
	return is_pointer(types, module, found->equal) &&
	       ((found->tflag & TFLAG_GC_MASK_ON_DEMAND) != 0 ||
		is_pointer(types, module, found->gcdata));
}

bool gh_rtype_text_fits(const struct gh_rtype *type)
{
	struct gh_rtype_text text = type->text;
	if (text.length == 0 || gh_escape_find_control(text.start, text.length) != text.length)
		return false;
	if (type->named)
		return true;
	switch (type->kind) {
	case GH_KIND_ARRAY:
		return gh_rtype_text_starts(text, "[") && !gh_rtype_text_starts(text, "[]");
	case GH_KIND_CHAN:
		return gh_rtype_text_starts(text, "chan") || gh_rtype_text_starts(text, "<-chan ");
	case GH_KIND_FUNC:
		return gh_rtype_text_starts(text, "func(");
	case GH_KIND_INTERFACE:
		return gh_rtype_text_starts(text, "interface {");
	case GH_KIND_MAP:
		return gh_rtype_text_starts(text, "map[");
	case GH_KIND_POINTER:
		return gh_rtype_text_starts(text, "*");
	case GH_KIND_SLICE:
		return gh_rtype_text_starts(text, "[]");
	case GH_KIND_STRUCT:
		return gh_rtype_text_starts(text, "struct {") || gh_rtype_text_starts(text, "map.");
	default:
		return false;
	}
}

/* Reads the descriptor that CUR starts at into TYPE, which has its address and module. False if it
 * is none, or its text is longer than *TEXT_LEFT, which it is taken off. */
static bool read_type(const struct gh_rtypes *types, struct gh_cursor cur, struct gh_rtype *type,
		      uint64_t *text_left)
{
	struct descriptor found;
	struct gh_rtype_encoded_name name;
	read_descriptor(types, &cur, &found);
	if (cur.failed || !plausible(types, type->module, &found) ||
	    !gh_rtype_read_name(types, gh_rtypes_at_offset(types, type->module, found.text),
				&name) ||
	    name.text.length > *text_left)
		return false;
	*text_left -= name.text.length;
	*type = (struct gh_rtype){.address = type->address,
				  .module = type->module,
				  .size = found.size,
				  .pointers = found.pointers,
				  .text = name.text,
				  .kind = found.kind,
				  .align = found.align,
				  .named = (found.tflag & TFLAG_NAMED) != 0,
				  .uncommon = (found.tflag & TFLAG_UNCOMMON) != 0,
				  .direct = found.direct};
	if ((found.tflag & TFLAG_EXTRA_STAR) != 0) {
		if (!gh_rtype_text_starts(name.text, "*"))
			return false;
		type->text.start++;
		type->text.length--;
	}
	return gh_rtype_text_fits(type);
}

bool gh_rtypes_scan(struct gh_rtypes *types, unsigned module)
{
	const struct gh_pclntab *tab = types->modules[module].tab;
	const struct gh_moduledata *data = &tab->module;
	uint64_t text_left = tab->image->size;
	struct GH_VECTOR(struct gh_rtype)
	    found = {.items = types->items, .count = types->count, .capacity = types->count};
	struct gh_cursor cur;
	if (data->types >= data->etypes || !gh_image_at(tab->image, data->types, &cur))
		return true;
	uint64_t size = data->etypes - data->types;
	if (size < gh_cursor_left(&cur))
		cur.end = cur.start + size;
	uint64_t skew = data->types % tab->pointer_size;
	gh_cursor_bytes(&cur, skew == 0 ? 0 : tab->pointer_size - skew);
	while (gh_cursor_left(&cur) >= gh_rtype_base_size(types) && found.count < GH_NO_RTYPE) {
		uint64_t offset = (uint64_t)(cur.pos - cur.start);
		struct gh_rtype type = {.address =
					    gh_rtypes_address(types, module, data->types + offset),
					.module = (uint16_t)module};
		if (!read_type(types, cur, &type, &text_left)) {
			gh_cursor_bytes(&cur, tab->pointer_size);
			continue;
		}
		gh_vector_push(&found, type);
		gh_cursor_bytes(&cur, gh_rtype_base_size(types));
	}
	types->items = found.items;
	types->count = (uint32_t)found.count;
	if (found.failed)
		gh_rtypes_free_items(types);
	return !found.failed;
}
