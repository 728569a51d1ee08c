#include "lib/rtype/internal.h"

/* More bits of the first byte of a name. */
enum { NAME_TAG = 2, NAME_KNOWN = 15 };

unsigned gh_rtype_base_size(const struct gh_rtypes *types)
{
	return types->old != NULL ? gh_old_rtype_base_size(types)
				  : 4U * types->tab->pointer_size + 16;
}

uint64_t gh_rtype_word(const struct gh_rtypes *types, struct gh_cursor *cur)
{
	return gh_cursor_uint(cur, types->tab->pointer_size);
}

/* Reads a length and as many bytes. */
static bool read_text(const struct gh_rtypes *types, struct gh_cursor *cur,
		      struct gh_rtype_text *text)
{
	uint64_t length;
	if (types->varint_names) {
		length = gh_cursor_uvarint(cur);
	} else {
		length = (uint64_t)gh_cursor_u8(cur) << 8;
		length |= gh_cursor_u8(cur);
	}
	if (length > GH_RTYPE_MAX_TEXT)
		return false;
	text->start = (const char *)gh_cursor_bytes(cur, length);
	text->length = (uint32_t)length;
	return !cur->failed;
}

bool gh_rtype_read_name(const struct gh_rtypes *types, uint64_t address,
			struct gh_rtype_encoded_name *name)
{
	struct gh_cursor cur;
	*name = (struct gh_rtype_encoded_name){.text.start = "", .tag.start = ""};
	if (!gh_rtypes_bytes(types, address, &cur))
		return false;
	name->flags = gh_cursor_u8(&cur);
	if ((name->flags & ~NAME_KNOWN) != 0 || !read_text(types, &cur, &name->text))
		return false;
	return (name->flags & NAME_TAG) == 0 || read_text(types, &cur, &name->tag);
}

uint64_t gh_rtypes_at_offset(const struct gh_rtypes *types, unsigned module, uint64_t offset)
{
	const struct gh_moduledata *data = &types->modules[module].tab->module;
	return offset < data->etypes - data->types
		   ? gh_rtypes_address(types, module, data->types + offset)
		   : 0;
}
