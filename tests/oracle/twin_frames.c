/* Call frame information: the rules of the CFA and of the return address. */
#define _GNU_SOURCE
#include "twin.h"

#include <stdio.h>
#include <string.h>

static void rule(char *to, size_t size, int cfa, Dwarf_Small type, Dwarf_Signed relevant,
		 Dwarf_Signed reg, Dwarf_Signed offset)
{
	if (type == DW_EXPR_EXPRESSION || type == DW_EXPR_VAL_EXPRESSION)
		snprintf(to, size, "expr");
	else if (reg == DW_FRAME_UNDEFINED_VAL)
		snprintf(to, size, "undef");
	else if (reg == DW_FRAME_SAME_VAL)
		snprintf(to, size, "same");
	else if (reg == DW_FRAME_CFA_COL3)
		snprintf(to, size, type == DW_EXPR_VAL_OFFSET ? "val(cfa%+lld)" : "cfa%+lld",
			 offset);
	else if (cfa || relevant)
		snprintf(to, size, "r%lld%+lld", reg, relevant ? offset : 0);
	else
		snprintf(to, size, "r%lld", reg);
}

void add_frames(Dwarf_Debug dbg)
{
	Dwarf_Cie *cies;
	Dwarf_Fde *fdes;
	Dwarf_Signed cie_count, fde_count;
	Dwarf_Error error = NULL;
	int result;

	dwarf_set_frame_cfa_value(dbg, DW_FRAME_CFA_COL3);
	dwarf_set_frame_same_value(dbg, DW_FRAME_SAME_VAL);
	dwarf_set_frame_undefined_value(dbg, DW_FRAME_UNDEFINED_VAL);
	dwarf_set_frame_rule_initial_value(dbg, DW_FRAME_SAME_VAL);
	result = dwarf_get_fde_list(dbg, &cies, &cie_count, &fdes, &fde_count, &error);
	if (result != DW_DLV_OK)
		die(".debug_frame", result, error);
	for (Dwarf_Signed i = 0; i < fde_count; i++) {
		Dwarf_Addr low, pc, from = 0;
		Dwarf_Unsigned length, size;
		dwarf_bytes bytes;
		Dwarf_Off cie_offset, fde_offset;
		Dwarf_Signed cie_index, data_alignment;
		Dwarf_Cie cie;
		Dwarf_Small version;
		Dwarf_Unsigned code_alignment;
		Dwarf_Half return_column, offset_size;
		char *augmentation, last[128] = "";

		if ((result = dwarf_get_fde_range(fdes[i], &low, &length, &bytes, &size,
						  &cie_offset, &cie_index, &fde_offset, &error)) !=
			DW_DLV_OK ||
		    (result = dwarf_get_cie_of_fde(fdes[i], &cie, &error)) != DW_DLV_OK ||
		    (result = dwarf_get_cie_info_b(
			 cie, &size, &version, &augmentation, &code_alignment, &data_alignment,
			 &return_column, &bytes, &size, &offset_size, &error)) != DW_DLV_OK)
			die("frame entry", result, error);
		for (pc = low; pc < low + length;) {
			Dwarf_Small type;
			dwarf_rule relevant, reg;
			Dwarf_Signed offset;
			dwarf_block block;
			Dwarf_Addr row, next = 0;
			Dwarf_Bool more = 0;
			char cfa[48], back[48], text[128];

			result = dwarf_get_fde_info_for_cfa_reg3_b(
			    fdes[i], pc, &type, &relevant, &reg, (dwarf_rule *)&offset, &block,
			    &row, &more, &next, &error);
			if (result != DW_DLV_OK)
				die("rule of the CFA", result, error);
			rule(cfa, sizeof(cfa), 1, type, relevant, reg, offset);
			result = dwarf_get_fde_info_for_reg3_b(
			    fdes[i], return_column, pc, &type, &relevant, &reg,
			    (dwarf_rule *)&offset, &block, &row, NULL, NULL, &error);
			if (result != DW_DLV_OK)
				die("rule of the return address", result, error);
			rule(back, sizeof(back), 0, type, relevant, reg, offset);
			snprintf(text, sizeof(text), "%s\t%s", cfa, back);
			if (strcmp(text, last) != 0) {
				if (pc > low)
					add_row(from, pc, strdup(last));
				memcpy(last, text, sizeof(last));
				from = pc;
			}
			pc = more && next > pc ? next : low + length;
		}
		if (length)
			add_row(from, low + length, strdup(last));
	}
	dwarf_dealloc_fde_cie_list(dbg, cies, cie_count, fdes, fde_count);
}
