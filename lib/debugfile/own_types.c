#include "lib/debugfile/internal.h"

#include <dwarf.h>
#include <stdbool.h>
#include <string.h>

#include "lib/util/vector.h"

/* Of a crafted file's abbreviations no more is read, in all units, than so many times what it has.
 */
#define MAX_READ 64

struct attribute {
	uint64_t name;
	uint64_t form;
};

struct abbreviation {
	uint64_t tag;
	size_t first; /* its first attribute */
	size_t count; /* how many it has */
};

struct reader {
	struct gh_own_type *types;
	size_t ntypes;
	size_t nfound;
	struct gh_cursor info;
	struct gh_cursor abbrev;
	struct GH_VECTOR(struct abbreviation) abbreviations; /* of the unit, by code less one */
	struct GH_VECTOR(struct attribute) attributes;       /* theirs */
	uint64_t table;    /* where they are in .debug_abbrev; UINT64_MAX: none are read */
	uint64_t left;     /* bytes of abbreviations that may still be read */
	uint16_t version;  /* the unit's */
	uint8_t word;      /* size of an address in it, in bytes */
	uint64_t unit_end; /* offset */
};

static bool read_attributes(struct reader *reader, struct gh_cursor *cur)
{
	while (!cur->failed) {
		struct attribute attribute = {.name = gh_cursor_uvarint(cur)};
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
static bool read_abbreviations(struct reader *reader, uint64_t offset)
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
		struct abbreviation abbreviation = {.tag = gh_cursor_uvarint(&cur),
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
static bool skip_value(struct reader *reader, uint64_t form)
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

static void note_type(struct reader *reader, const char *name, uint64_t offset)
{
	for (size_t i = 0; i < reader->ntypes; i++) {
		struct gh_own_type *type = &reader->types[i];
		if (type->offset != 0 || strcmp(type->name, name) != 0)
			continue;
		type->offset = (uint32_t)offset;
		reader->nfound++;
	}
}

/* Reads the next entry. C's types have no kind of Go's. */
static bool read_entry(struct reader *reader)
{
	uint64_t offset = gh_cursor_offset(&reader->info);
	uint64_t code = gh_cursor_uvarint(&reader->info);
	const char *name = NULL;
	bool has_kind = false;
	if (code == 0)
		return !reader->info.failed;
	if (code > reader->abbreviations.count)
		return false;
	const struct abbreviation *abbreviation = &reader->abbreviations.items[code - 1];
	for (size_t i = 0; i < abbreviation->count; i++) {
		const struct attribute *attribute =
		    &reader->attributes.items[abbreviation->first + i];
		if (attribute->name == DW_AT_name && attribute->form == DW_FORM_string)
			name = (const char *)reader->info.pos;
		has_kind |= attribute->name == DW_AT_go_kind;
		if (!skip_value(reader, attribute->form))
			return false;
	}
	bool is_type =
	    abbreviation->tag == DW_TAG_base_type || abbreviation->tag == DW_TAG_pointer_type;
	if (is_type && has_kind && name != NULL)
		note_type(reader, name, offset);
	return true;
}

/* Reads the header of the next unit, in the 32-bit format. False if there is none. READABLE tells
 * whether what it has can be read. */
static bool begin_unit(struct reader *reader, bool *readable)
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
	*readable = kind == DW_UT_compile && reader->version >= 2 && reader->version <= 5 &&
		    !cur->failed && read_abbreviations(reader, abbreviations);
	return true;
}

void gh_own_types_find(struct gh_own_type *types, size_t count, struct gh_cursor info,
		       struct gh_cursor abbrev)
{
	struct reader reader = {.types = types,
				.ntypes = count,
				.info = info,
				.abbrev = abbrev,
				.table = UINT64_MAX,
				.left = MAX_READ * (uint64_t)gh_cursor_size(&abbrev)};
	bool readable;
	while (reader.nfound < count && begin_unit(&reader, &readable)) {
		while (readable && reader.nfound < count &&
		       gh_cursor_offset(&reader.info) < reader.unit_end)
			readable = read_entry(&reader);
		reader.info.failed = false;
		gh_cursor_seek(&reader.info, reader.unit_end);
	}
	gh_vector_free(&reader.abbreviations);
	gh_vector_free(&reader.attributes);
}
