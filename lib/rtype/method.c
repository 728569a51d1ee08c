#include "lib/rtype/internal.h"

/* A record of a type's package and methods, struct UncommonType: the package's name, how many
 * methods there are, how many of them are exported, and how far from the record the first one is.
 */
#define COUNT_OFFSET 4

/* A method: its name, its type, and where its code is: four offsets. */
#define METHOD_SIZE 16

static struct gh_cursor find_methods(const struct gh_rtypes *types, const struct gh_rtype *type,
				     uint16_t *count)
{
	unsigned offset = gh_rtype_uncommon_offset(types, type);
	struct gh_cursor cur = gh_rtype_inside(types, type, offset + COUNT_OFFSET);
	*count = gh_cursor_u16(&cur);
	gh_cursor_u16(&cur);
	return gh_rtype_inside(types, type, offset + gh_cursor_u32(&cur));
}

uint32_t gh_rtype_methods(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	uint16_t count;
	if (!type->uncommon || types->old != NULL)
		return 0;
	struct gh_cursor cur = find_methods(types, type, &count);
	return !cur.failed && count <= gh_cursor_left(&cur) / METHOD_SIZE ? count : 0;
}

/* The address of code at OFFSET in MODULE, 0 for that of a method that the linker left out, and
 * where the text is in several sections. */
static uint64_t code_address(const struct gh_rtypes *types, unsigned module, uint32_t offset)
{
	const struct gh_moduledata *data = &types->modules[module].tab->module;
	return offset == 0 || data->ntextsectmap > 1 || offset >= data->etext - data->text
		   ? 0
		   : gh_rtypes_address(types, module, data->text + offset);
}

bool gh_rtype_method(const struct gh_rtypes *types, const struct gh_rtype *type, uint32_t index,
		     struct gh_rtype_method *method)
{
	uint16_t count;
	struct gh_cursor cur = find_methods(types, type, &count);
	gh_cursor_bytes(&cur, (uint64_t)index * METHOD_SIZE);
	struct gh_rtype_part part;
	bool read = gh_rtype_read_method(types, type, &cur, &part);
	*method = (struct gh_rtype_method){.name = part.name, .type = part.type};
	method->of_word = code_address(types, type->module, gh_cursor_u32(&cur));
	method->of_value = code_address(types, type->module, gh_cursor_u32(&cur));
	return read && !cur.failed;
}
