#include "lib/debugfile/internal.h"

#include <dwarf.h>
#include <stdbool.h>

/* Of a crafted file's abbreviations no more is read, in all units, than so many times what it has.
 */
#define MAX_READ 64

static bool read_attributes(struct gh_info_reader *reader, struct gh_cursor *cur)
{
	while (!cur->failed) {
		struct gh_info_attribute attribute = {.name = gh_cursor_uvarint(cur)};
		attribute.form = gh_cursor_uvarint(cur);
		if (attribute.form == DW_FORM_implicit_const)
			gh_cursor_skip_uvarint(cur);
		if (attribute.form == 0)
			return true;
		gh_vector_push(&reader->attributes, attribute);
	}
	return false;
}

/* Reads the abbreviations at OFFSET. Compilers count their codes up; others are not read. */
static bool read_abbreviations(struct gh_info_reader *reader, uint64_t offset)
{
	struct gh_cursor cur = reader->abbrev;
	if (offset == reader->table)
		return true;
	reader->abbreviations.count = reader->attributes.count = 0;
	reader->table = offset;
	gh_cursor_seek(&cur, offset);
	for (uint64_t code = 1; !cur.failed; code++) {
		uint64_t found = gh_cursor_uvarint(&cur);
		if (found == 0)
			break;
		struct gh_info_abbreviation abbreviation = {.tag = gh_cursor_uvarint(&cur),
							    .first = reader->attributes.count};
		gh_cursor_u8(&cur); /* has children */
		if (found != code || !read_attributes(reader, &cur))
			break;
		abbreviation.count = reader->attributes.count - abbreviation.first;
		gh_vector_push(&reader->abbreviations, abbreviation);
	}
	uint64_t size = gh_cursor_offset(&cur) - offset;
	if (size > reader->left)
		return false;
	reader->left -= size;
	return !reader->abbreviations.failed && !reader->attributes.failed;
}

/* Passes over the value of an attribute. DWARF 5, section 7.5.6. */
static bool skip_value(struct gh_info_reader *reader, uint64_t form)
{
	struct gh_cursor *cur = &reader->info;
	uint64_t size;
	switch (form) {
	case DW_FORM_string:
		return gh_cursor_string(cur) != NULL;
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
		gh_cursor_skip_uvarint(cur);
		return !cur->failed;
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return true;
	case DW_FORM_addr:
		size = reader->word;
		break;
	case DW_FORM_ref_addr:
		size = reader->version == 2 ? reader->word : 4;
		break;
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_ref1:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		size = 1;
		break;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		size = 2;
		break;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
		size = 4;
		break;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
		size = 8;
		break;
	case DW_FORM_data16:
		size = 16;
		break;
	case DW_FORM_block1:
		size = gh_cursor_u8(cur);
		break;
	case DW_FORM_block2:
		size = gh_cursor_u16(cur);
		break;
	case DW_FORM_block4:
		size = gh_cursor_u32(cur);
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		size = gh_cursor_uvarint(cur);
		break;
	default:
		return false;
	}
	return gh_cursor_bytes(cur, size) != NULL;
}

/* Reads the next entry of the unit. False if it cannot be. */
static bool read_entry(struct gh_info_reader *reader, struct gh_info_entry *entry)
{
	*entry = (struct gh_info_entry){.offset = gh_cursor_offset(&reader->info)};
	uint64_t code = gh_cursor_uvarint(&reader->info);
	if (code == 0)
		return !reader->info.failed;
	if (code > reader->abbreviations.count)
		return false;
	const struct gh_info_abbreviation *abbreviation = &reader->abbreviations.items[code - 1];
	struct gh_info_attribute *attributes = &reader->attributes.items[abbreviation->first];
	entry->tag = abbreviation->tag;
	entry->attributes = attributes;
	entry->count = abbreviation->count;
	for (size_t i = 0; i < abbreviation->count; i++) {
		attributes[i].at = reader->info.pos;
		if (!skip_value(reader, attributes[i].form))
			return false;
	}
	return true;
}

/* Reads the header of the next unit, in the 32-bit format. False if there is none. */
static bool begin_unit(struct gh_info_reader *reader)
{
	struct gh_cursor *cur = &reader->info;
	uint64_t abbreviations;
	uint32_t length = gh_cursor_u32(cur);
	if (cur->failed || length > gh_cursor_left(cur))
		return false;
	reader->unit_end = gh_cursor_offset(cur) + length;
	reader->version = gh_cursor_u16(cur);
	uint8_t kind = reader->version >= 5 ? gh_cursor_u8(cur) : DW_UT_compile;
	if (reader->version >= 5) {
		reader->word = gh_cursor_u8(cur);
		abbreviations = gh_cursor_u32(cur);
	} else {
		abbreviations = gh_cursor_u32(cur);
		reader->word = gh_cursor_u8(cur);
	}
	reader->readable = kind == DW_UT_compile && reader->version >= 2 && reader->version <= 5 &&
			   !cur->failed && read_abbreviations(reader, abbreviations);
	return true;
}

bool gh_info_read(const struct gh_image *image, struct gh_buffer *info, struct gh_buffer *abbrev)
{
	const struct gh_section *entries = gh_debug_section(image, "debug_info");
	const struct gh_section *forms = gh_debug_section(image, "debug_abbrev");
	return entries != NULL && forms != NULL && gh_debug_section_read(image, entries, info) &&
	       gh_debug_section_read(image, forms, abbrev);
}

struct gh_info_reader gh_info_reader_start(struct gh_cursor info, struct gh_cursor abbrev)
{
	return (struct gh_info_reader){.info = info,
				       .abbrev = abbrev,
				       .table = UINT64_MAX,
				       .left = MAX_READ * (uint64_t)gh_cursor_size(&abbrev)};
}

bool gh_info_reader_next(struct gh_info_reader *reader, struct gh_info_entry *entry)
{
	for (;;) {
		if (reader->readable && gh_cursor_offset(&reader->info) < reader->unit_end) {
			reader->readable = read_entry(reader, entry);
			if (reader->readable)
				return true;
		}
		reader->info.failed = false;
		gh_cursor_seek(&reader->info, reader->unit_end);
		if (!begin_unit(reader))
			return false;
	}
}

void gh_info_reader_free(struct gh_info_reader *reader)
{
	gh_vector_free(&reader->abbreviations);
	gh_vector_free(&reader->attributes);
}
