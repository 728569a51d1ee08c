#include "lib/debugfile/internal.h"

#include <dwarf.h>
#include <stdbool.h>
#include <string.h>

/* Gives those of TYPES, COUNT, that are called NAME the place OFFSET. Returns how many had none. */
static size_t note_type(struct gh_own_type *types, size_t count, const char *name, uint64_t offset)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++) {
		if (types[i].offset != 0 || strcmp(types[i].name, name) != 0)
			continue;
		types[i].offset = (uint32_t)offset;
		found++;
	}
	return found;
}

/* The name of ENTRY if it is a type of Go's: C's have no kind of Go's. */
static const char *type_name(const struct gh_info_entry *entry)
{
	const char *name = NULL;
	bool has_kind = false;
	for (size_t i = 0; i < entry->count; i++) {
		const struct gh_info_attribute *attribute = &entry->attributes[i];
		if (attribute->name == DW_AT_name && attribute->form == DW_FORM_string)
			name = (const char *)attribute->at;
		has_kind |= attribute->name == DW_AT_go_kind;
	}
	bool is_type = entry->tag == DW_TAG_base_type || entry->tag == DW_TAG_pointer_type;
	return is_type && has_kind ? name : NULL;
}

void gh_own_types_find(struct gh_own_type *types, size_t count, struct gh_cursor info,
		       struct gh_cursor abbrev)
{
	struct gh_info_reader reader = gh_info_reader_start(info, abbrev);
	struct gh_info_entry entry;
	for (size_t found = 0; found < count && gh_info_reader_next(&reader, &entry);) {
		const char *name = type_name(&entry);
		if (name != NULL)
			found += note_type(types, count, name, entry.offset);
	}
	gh_info_reader_free(&reader);
}
