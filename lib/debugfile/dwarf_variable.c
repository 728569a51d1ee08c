#include "lib/debugfile/internal.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>

#include "lib/rtype/rtype.h"

/* Codes of .debug_abbrev. */
enum {
	UNIT = 1,
	BASE,
	POINTER,
	STRUCT,
	MEMBER,
	TYPEDEF,
	BLOCK,
	VARIABLE = GH_VARIABLE_ABBREVS,
};

/* Go's own attributes of types and fields, from 0x2900 on, in two bytes each. What no type of the
 * program's is has no place of a descriptor. */
#define GO_TYPE                                                                                    \
	DW_AT_go_kind % 128 + 128, DW_AT_go_kind / 128, DW_FORM_data1,                             \
	    DW_AT_go_runtime_type % 128 + 128, DW_AT_go_runtime_type / 128, DW_FORM_data1
#define GO_EMBEDDED                                                                                \
	DW_AT_go_embedded_field % 128 + 128, DW_AT_go_embedded_field / 128, DW_FORM_data1

void gh_variable_abbrevs(struct gh_buffer *abbrev)
{
	static const uint8_t abbrevs[] = {
	    /* clang-format off */
	    UNIT, DW_TAG_compile_unit, 1,
	    DW_AT_language, DW_FORM_data1, DW_AT_name, DW_FORM_string,
	    DW_AT_producer, DW_FORM_string, DW_AT_comp_dir, DW_FORM_string, 0, 0,
	    BASE, DW_TAG_base_type, 0, GO_TYPE,
	    DW_AT_encoding, DW_FORM_data1, DW_AT_byte_size, DW_FORM_data1,
	    DW_AT_name, DW_FORM_string, 0, 0,
	    POINTER, DW_TAG_pointer_type, 0, GO_TYPE,
	    DW_AT_byte_size, DW_FORM_data1, DW_AT_type, DW_FORM_ref_addr,
	    DW_AT_name, DW_FORM_string, 0, 0,
	    STRUCT, DW_TAG_structure_type, 1, GO_TYPE,
	    DW_AT_byte_size, DW_FORM_udata, DW_AT_name, DW_FORM_string, 0, 0,
	    MEMBER, DW_TAG_member, 0, GO_EMBEDDED,
	    DW_AT_name, DW_FORM_string, DW_AT_data_member_location, DW_FORM_udata,
	    DW_AT_type, DW_FORM_ref_addr, 0, 0,
	    TYPEDEF, DW_TAG_typedef, 0,
	    DW_AT_type, DW_FORM_ref_addr, DW_AT_name, DW_FORM_string, 0, 0,
	    BLOCK, DW_TAG_lexical_block, 1,
	    DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_udata, 0, 0,
	    VARIABLE, DW_TAG_variable, 0,
	    DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref_addr,
	    DW_AT_location, DW_FORM_exprloc, 0, 0,
	    /* clang-format on */
	};
	gh_buffer_bytes(abbrev, abbrevs, sizeof(abbrevs));
}

size_t gh_variable_unit_begin(struct gh_buffer *info, enum gh_debugger debugger, const char *name,
			      const char *producer, uint8_t word)
{
	size_t start = gh_unit_begin(info, 0, word);
	gh_buffer_u8(info, UNIT);
	gh_buffer_u8(info, gh_unit_language(debugger));
	gh_buffer_string(info, name);
	gh_buffer_string(info, producer);
	gh_buffer_string(info, "."); /* directory of the compilation */
	return start;
}

/* Begins an entry. Returns its offset. */
static uint32_t begin(struct gh_buffer *info, uint8_t code)
{
	uint32_t offset = (uint32_t)info->size;
	gh_buffer_u8(info, code);
	return offset;
}

/* The same of a type of KIND. */
static uint32_t begin_type(struct gh_buffer *info, uint8_t code, enum gh_kind kind)
{
	uint32_t offset = begin(info, code);
	gh_buffer_u8(info, (uint8_t)kind);
	gh_buffer_u8(info, 0); /* the descriptor's place */
	return offset;
}

uint32_t gh_variable_base(struct gh_buffer *info, const char *name, uint8_t encoding, uint8_t size)
{
	uint32_t offset = begin_type(info, BASE, gh_kind_named(name));
	gh_buffer_u8(info, encoding);
	gh_buffer_u8(info, size);
	gh_buffer_string(info, name);
	return offset;
}

uint32_t gh_variable_pointer_begin(struct gh_buffer *info, uint8_t size, uint32_t to)
{
	uint32_t offset = begin_type(info, POINTER, GH_KIND_POINTER);
	gh_buffer_u8(info, size);
	gh_buffer_u32(info, to);
	return offset;
}

uint32_t gh_variable_struct_begin(struct gh_buffer *info, uint64_t size)
{
	uint32_t offset = begin_type(info, STRUCT, GH_KIND_STRUCT);
	gh_buffer_uleb128(info, size);
	return offset;
}

void gh_variable_member(struct gh_buffer *info, const char *name, uint64_t offset, uint32_t type)
{
	begin(info, MEMBER);
	gh_buffer_u8(info, 0); /* not embedded */
	gh_buffer_string(info, name);
	gh_buffer_uleb128(info, offset);
	gh_buffer_u32(info, type);
}

uint32_t gh_variable_typedef_begin(struct gh_buffer *info, uint32_t type)
{
	uint32_t offset = begin(info, TYPEDEF);
	gh_buffer_u32(info, type);
	return offset;
}

void gh_variable_block_begin(struct gh_buffer *info, uint64_t address, uint64_t size, uint8_t word)
{
	begin(info, BLOCK);
	gh_buffer_uint(info, address, word);
	gh_buffer_uleb128(info, size);
}

void gh_variable_at_sp(struct gh_buffer *info, uint64_t offset, uint32_t type, uint8_t sp)
{
	char name[32];
	snprintf(name, sizeof(name), "sp_0x%" PRIx64, offset);
	begin(info, VARIABLE);
	gh_buffer_string(info, name);
	gh_buffer_u32(info, type);
	gh_buffer_u8(info, 0); /* length of the expression, from here */
	size_t start = info->size;
	gh_buffer_u8(info, (uint8_t)(DW_OP_breg0 + sp));
	gh_buffer_sleb128(info, (int64_t)offset);
	gh_buffer_patch(info, start - 1, info->size - start, 1);
}
