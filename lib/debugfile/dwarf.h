/* The numbers of DWARF 4 (dwarfstd.org) that goheap writes, and of forms that it reads. */
#ifndef GH_DEBUGFILE_DWARF_H
#define GH_DEBUGFILE_DWARF_H

enum {
	DW_TAG_array_type = 0x01,
	DW_TAG_formal_parameter = 0x05,
	DW_TAG_lexical_block = 0x0b,
	DW_TAG_member = 0x0d,
	DW_TAG_pointer_type = 0x0f,
	DW_TAG_compile_unit = 0x11,
	DW_TAG_structure_type = 0x13,
	DW_TAG_subroutine_type = 0x15,
	DW_TAG_typedef = 0x16,
	DW_TAG_unspecified_parameters = 0x18,
	DW_TAG_inlined_subroutine = 0x1d,
	DW_TAG_subrange_type = 0x21,
	DW_TAG_base_type = 0x24,
	DW_TAG_subprogram = 0x2e,
	DW_TAG_variable = 0x34,
	DW_TAG_unspecified_type = 0x3b,
};

enum {
	DW_AT_sibling = 0x01,
	DW_AT_location = 0x02,
	DW_AT_name = 0x03,
	DW_AT_byte_size = 0x0b,
	DW_AT_stmt_list = 0x10,
	DW_AT_low_pc = 0x11,
	DW_AT_high_pc = 0x12,
	DW_AT_language = 0x13,
	DW_AT_comp_dir = 0x1b,
	DW_AT_inline = 0x20,
	DW_AT_producer = 0x25,
	DW_AT_abstract_origin = 0x31,
	DW_AT_count = 0x37,
	DW_AT_data_member_location = 0x38,
	DW_AT_decl_file = 0x3a,
	DW_AT_decl_line = 0x3b,
	DW_AT_declaration = 0x3c,
	DW_AT_encoding = 0x3e,
	DW_AT_external = 0x3f,
	DW_AT_frame_base = 0x40,
	DW_AT_type = 0x49,
	DW_AT_variable_parameter = 0x4b,
	DW_AT_ranges = 0x55,
	DW_AT_call_file = 0x58,
	DW_AT_call_line = 0x59,
	/* Go's own: src/cmd/internal/dwarf/dwarf.go. */
	DW_AT_go_kind = 0x2900,
	DW_AT_go_key = 0x2901,
	DW_AT_go_elem = 0x2902,
	DW_AT_go_embedded_field = 0x2903,
	DW_AT_go_runtime_type = 0x2904,
};

enum {
	DW_FORM_addr = 0x01,
	DW_FORM_block2 = 0x03,
	DW_FORM_block4 = 0x04,
	DW_FORM_data2 = 0x05,
	DW_FORM_data4 = 0x06,
	DW_FORM_data8 = 0x07,
	DW_FORM_string = 0x08,
	DW_FORM_block = 0x09,
	DW_FORM_block1 = 0x0a,
	DW_FORM_data1 = 0x0b,
	DW_FORM_flag = 0x0c,
	DW_FORM_sdata = 0x0d,
	DW_FORM_strp = 0x0e,
	DW_FORM_udata = 0x0f,
	DW_FORM_ref_addr = 0x10,
	DW_FORM_ref1 = 0x11,
	DW_FORM_ref2 = 0x12,
	DW_FORM_ref4 = 0x13,
	DW_FORM_ref8 = 0x14,
	DW_FORM_ref_udata = 0x15,
	DW_FORM_sec_offset = 0x17,
	DW_FORM_exprloc = 0x18,
	DW_FORM_flag_present = 0x19,
	/* DWARF 5's, and one before it. */
	DW_FORM_strx = 0x1a,
	DW_FORM_addrx = 0x1b,
	DW_FORM_data16 = 0x1e,
	DW_FORM_line_strp = 0x1f,
	DW_FORM_ref_sig8 = 0x20,
	DW_FORM_implicit_const = 0x21,
	DW_FORM_loclistx = 0x22,
	DW_FORM_rnglistx = 0x23,
	DW_FORM_strx1 = 0x25,
	DW_FORM_strx2 = 0x26,
	DW_FORM_strx4 = 0x28,
	DW_FORM_addrx1 = 0x29,
	DW_FORM_addrx2 = 0x2a,
	DW_FORM_addrx4 = 0x2c,
};

enum {
	DW_LANG_Go = 0x16,
};

enum {
	DW_ATE_boolean = 0x02,
	DW_ATE_complex_float = 0x03,
	DW_ATE_float = 0x04,
	DW_ATE_signed = 0x05,
	DW_ATE_unsigned = 0x07,
};

enum {
	DW_INL_inlined = 1,
};

enum {
	DW_OP_addr = 0x03,
	DW_OP_deref = 0x06,
	DW_OP_const1u = 0x08,
	DW_OP_dup = 0x12,
	DW_OP_drop = 0x13,
	DW_OP_over = 0x14,
	DW_OP_swap = 0x16,
	DW_OP_rot = 0x17,
	DW_OP_and = 0x1a,
	DW_OP_minus = 0x1c,
	DW_OP_or = 0x21,
	DW_OP_plus = 0x22,
	DW_OP_plus_uconst = 0x23,
	DW_OP_bra = 0x28,
	DW_OP_eq = 0x29,
	DW_OP_gt = 0x2b,
	DW_OP_le = 0x2c,
	DW_OP_lt = 0x2d,
	DW_OP_ne = 0x2e,
	DW_OP_skip = 0x2f,
	DW_OP_lit0 = 0x30,
	DW_OP_reg0 = 0x50,  /* and a register of 5 bits */
	DW_OP_breg0 = 0x70, /* and a register of 5 bits */
	DW_OP_regx = 0x90,
	DW_OP_fbreg = 0x91,
	DW_OP_piece = 0x93,
	DW_OP_deref_size = 0x94,
	DW_OP_call_frame_cfa = 0x9c,
	DW_OP_stack_value = 0x9f,
};

enum {
	DW_LNS_advance_pc = 2,
	DW_LNS_advance_line = 3,
	DW_LNS_set_file = 4,
	DW_LNS_negate_stmt = 6,
	DW_LNS_const_add_pc = 8,
	DW_LNS_set_prologue_end = 10,
	DW_LNE_end_sequence = 1,
	DW_LNE_set_address = 2,
};

enum {
	DW_CFA_nop = 0x00,
	DW_CFA_advance_loc = 0x40, /* and a delta of 6 bits */
	DW_CFA_offset = 0x80,      /* and a register of 6 bits */
	DW_CFA_restore = 0xc0,     /* and a register of 6 bits */
	DW_CFA_advance_loc1 = 0x02,
	DW_CFA_advance_loc2 = 0x03,
	DW_CFA_advance_loc4 = 0x04,
	DW_CFA_offset_extended = 0x05,
	DW_CFA_restore_extended = 0x06,
	DW_CFA_undefined = 0x07,
	DW_CFA_same_value = 0x08,
	DW_CFA_register = 0x09,
	DW_CFA_def_cfa = 0x0c,
	DW_CFA_def_cfa_offset = 0x0e,
	DW_CFA_def_cfa_expression = 0x0f,
	DW_CFA_expression = 0x10,
	DW_CFA_val_offset = 0x14,
	DW_CFA_val_expression = 0x16,
};

#endif
