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
	gh_buffer_patch(info, start, info->size - start - LENGTH_SIZE, LENGTH_SIZE);
}

uint8_t gh_unit_language(enum gh_debugger debugger)
{
	return debugger == GH_FOR_LLDB ? DW_LANG_C99 : DW_LANG_Go;
}

/* What entries of one kind have in common. */
#define END        0, 0
#define FUNCTION   DW_AT_external, DW_FORM_flag_present, DW_AT_name, DW_FORM_strp, PCS, FRAME_BASE
#define PCS        DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_udata
#define FRAME_BASE DW_AT_frame_base, DW_FORM_exprloc
#define SIBLING    DW_AT_sibling, DW_FORM_ref4
#define DECLARED   DW_AT_decl_file, DW_FORM_udata, DW_AT_decl_line, DW_FORM_udata
#define ORIGIN     DW_AT_abstract_origin, DW_FORM_ref_udata
#define CALL       ORIGIN, DW_AT_call_file, DW_FORM_udata, DW_AT_call_line, DW_FORM_udata
#define RANGES     DW_AT_ranges, DW_FORM_sec_offset
#define ARGUMENT                                                                                   \
	DW_AT_name, DW_FORM_string, DW_AT_variable_parameter, DW_FORM_flag, DW_AT_type,            \
	    DW_FORM_ref_addr

void gh_abbrevs_make(struct gh_buffer *abbrev)
{
	static const uint8_t abbrevs[] = {
	    /* clang-format off */
	    GH_ABBREV_UNIT, DW_TAG_compile_unit, 1,
	    DW_AT_producer, DW_FORM_strp, DW_AT_language, DW_FORM_data1,
	    DW_AT_stmt_list, DW_FORM_sec_offset, DW_AT_low_pc, DW_FORM_addr, RANGES,
	    DW_AT_name, DW_FORM_string, DW_AT_comp_dir, DW_FORM_string, END,
	    GH_ABBREV_FUNCTION, DW_TAG_subprogram, 0, FUNCTION, DECLARED, END,
	    GH_ABBREV_FUNCTION_NO_FILE, DW_TAG_subprogram, 0, FUNCTION, END,
	    GH_ABBREV_FUNCTION_CHILDREN, DW_TAG_subprogram, 1, SIBLING, FUNCTION, DECLARED, END,
	    GH_ABBREV_FUNCTION_CHILDREN_NO_FILE, DW_TAG_subprogram, 1, SIBLING, FUNCTION, END,
	    /* Without a linkage name binutils call what is inlined as .symtab has it: by the function
	       around it. */
	    GH_ABBREV_ABSTRACT, DW_TAG_subprogram, 0,
	    DW_AT_external, DW_FORM_flag_present, DW_AT_name, DW_FORM_strp,
	    DW_AT_linkage_name, DW_FORM_strp,
	    DW_AT_inline, DW_FORM_data1, DECLARED, END,
	    GH_ABBREV_CALL, DW_TAG_inlined_subroutine, 0, CALL, PCS, END,
	    GH_ABBREV_CALL_RANGES, DW_TAG_inlined_subroutine, 0, CALL, RANGES, END,
	    GH_ABBREV_CALL_CHILDREN, DW_TAG_inlined_subroutine, 1, CALL, PCS, END,
	    GH_ABBREV_CALL_CHILDREN_RANGES, DW_TAG_inlined_subroutine, 1, CALL, RANGES, END,
	    GH_ABBREV_ARGUMENT, DW_TAG_formal_parameter, 0,
	    ARGUMENT, DW_AT_location, DW_FORM_sec_offset, END,
	    GH_ABBREV_UNKNOWN_ARGUMENT, DW_TAG_formal_parameter, 0, ARGUMENT, END,
	    GH_ABBREV_BLOCK_RANGES, DW_TAG_lexical_block, 1, RANGES, END,
	    GH_ABBREV_WORDS, DW_TAG_subprogram, 1,
	    DW_AT_external, DW_FORM_flag_present, DW_AT_name, DW_FORM_strp, END,
	    GH_ABBREV_WORD, DW_TAG_variable, 0, ORIGIN, END,
	    0,
	    /* clang-format on */
	};
	gh_buffer_bytes(abbrev, abbrevs, sizeof(abbrevs));
}
