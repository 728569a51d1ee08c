#include "lib/debugfile/internal.h"

#include <dwarf.h>

#define LENGTH_SIZE 4

size_t gh_unit_begin(struct gh_buffer *info, uint32_t abbrev, uint8_t word)
{
	size_t start = info->size;
	gh_buffer_u32(info, 0); /* length, from here */
	gh_buffer_u16(info, 4); /* version */
	gh_buffer_u32(info, abbrev);
	gh_buffer_u8(info, word);
	return start;
}

void gh_unit_end(struct gh_buffer *info, size_t start)
{
	gh_buffer_u8(info, 0);
	if (!info->failed)
		gh_buffer_patch(info, start, info->size - start - LENGTH_SIZE, LENGTH_SIZE);
}

static void begin(struct gh_buffer *abbrev, unsigned code, unsigned tag, bool has_children)
{
	gh_buffer_uleb128(abbrev, code);
	gh_buffer_uleb128(abbrev, tag);
	gh_buffer_u8(abbrev, has_children);
}

static void add(struct gh_buffer *abbrev, uint64_t attribute, uint64_t form)
{
	gh_buffer_uleb128(abbrev, attribute);
	gh_buffer_uleb128(abbrev, form);
}

static void end(struct gh_buffer *abbrev)
{
	add(abbrev, 0, 0);
}

static void add_unit(struct gh_buffer *abbrev)
{
	begin(abbrev, GH_ABBREV_UNIT, DW_TAG_compile_unit, true);
	add(abbrev, DW_AT_producer, DW_FORM_strp);
	add(abbrev, DW_AT_language, DW_FORM_data1);
	add(abbrev, DW_AT_stmt_list, DW_FORM_sec_offset);
	add(abbrev, DW_AT_low_pc, DW_FORM_addr);
	add(abbrev, DW_AT_ranges, DW_FORM_sec_offset);
	add(abbrev, DW_AT_name, DW_FORM_string);
	add(abbrev, DW_AT_comp_dir, DW_FORM_string);
	end(abbrev);
}

static void add_function(struct gh_buffer *abbrev, unsigned code, bool has_children, bool has_file)
{
	begin(abbrev, code, DW_TAG_subprogram, has_children);
	if (has_children)
		add(abbrev, DW_AT_sibling, DW_FORM_ref4);
	add(abbrev, DW_AT_external, DW_FORM_flag_present);
	add(abbrev, DW_AT_name, DW_FORM_strp);
	add(abbrev, DW_AT_low_pc, DW_FORM_addr);
	add(abbrev, DW_AT_high_pc, DW_FORM_udata);
	add(abbrev, DW_AT_frame_base, DW_FORM_exprloc);
	if (has_file) {
		add(abbrev, DW_AT_decl_file, DW_FORM_udata);
		add(abbrev, DW_AT_decl_line, DW_FORM_udata);
	}
	end(abbrev);
}

static void add_abstract(struct gh_buffer *abbrev)
{
	begin(abbrev, GH_ABBREV_ABSTRACT, DW_TAG_subprogram, false);
	add(abbrev, DW_AT_external, DW_FORM_flag_present);
	add(abbrev, DW_AT_name, DW_FORM_strp);
	add(abbrev, DW_AT_inline, DW_FORM_data1);
	add(abbrev, DW_AT_decl_file, DW_FORM_udata);
	add(abbrev, DW_AT_decl_line, DW_FORM_udata);
	end(abbrev);
}

static void add_call(struct gh_buffer *abbrev, unsigned code, bool has_children, bool in_pieces)
{
	begin(abbrev, code, DW_TAG_inlined_subroutine, has_children);
	add(abbrev, DW_AT_abstract_origin, DW_FORM_ref_udata);
	add(abbrev, DW_AT_call_file, DW_FORM_udata);
	add(abbrev, DW_AT_call_line, DW_FORM_udata);
	if (in_pieces) {
		add(abbrev, DW_AT_ranges, DW_FORM_sec_offset);
	} else {
		add(abbrev, DW_AT_low_pc, DW_FORM_addr);
		add(abbrev, DW_AT_high_pc, DW_FORM_udata);
	}
	end(abbrev);
}

static void add_words(struct gh_buffer *abbrev)
{
	begin(abbrev, GH_ABBREV_BLOCK_RANGES, DW_TAG_lexical_block, true);
	add(abbrev, DW_AT_ranges, DW_FORM_sec_offset);
	end(abbrev);
	begin(abbrev, GH_ABBREV_WORDS, DW_TAG_subprogram, true);
	end(abbrev);
	begin(abbrev, GH_ABBREV_WORD, DW_TAG_variable, false);
	add(abbrev, DW_AT_abstract_origin, DW_FORM_ref_udata);
	end(abbrev);
}

static void add_argument(struct gh_buffer *abbrev, unsigned code, bool is_known)
{
	begin(abbrev, code, DW_TAG_formal_parameter, false);
	add(abbrev, DW_AT_name, DW_FORM_string);
	add(abbrev, DW_AT_type, DW_FORM_ref_addr);
	if (is_known)
		add(abbrev, DW_AT_location, DW_FORM_sec_offset);
	end(abbrev);
}

void gh_abbrevs_make(struct gh_buffer *abbrev)
{
	add_unit(abbrev);
	add_function(abbrev, GH_ABBREV_FUNCTION, false, true);
	add_function(abbrev, GH_ABBREV_FUNCTION_NO_FILE, false, false);
	add_function(abbrev, GH_ABBREV_FUNCTION_CHILDREN, true, true);
	add_function(abbrev, GH_ABBREV_FUNCTION_CHILDREN_NO_FILE, true, false);
	add_abstract(abbrev);
	add_call(abbrev, GH_ABBREV_CALL, false, false);
	add_call(abbrev, GH_ABBREV_CALL_RANGES, false, true);
	add_call(abbrev, GH_ABBREV_CALL_CHILDREN, true, false);
	add_call(abbrev, GH_ABBREV_CALL_CHILDREN_RANGES, true, true);
	add_argument(abbrev, GH_ABBREV_ARGUMENT, true);
	add_argument(abbrev, GH_ABBREV_UNKNOWN_ARGUMENT, false);
	add_words(abbrev);
	gh_buffer_u8(abbrev, 0);
}
