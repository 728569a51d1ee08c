/* Where the parameters of functions are, location lists, and their types. */
#define _GNU_SOURCE
#include "twin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Where the expression of LOCATION has a value, or "?" for one that is not of registers and places
 * in the frame. */
static char *place_of(Dwarf_Locdesc_c location, Dwarf_Unsigned operations)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	for (Dwarf_Unsigned i = 0; i < operations; i++) {
		Dwarf_Small atom;
		Dwarf_Unsigned one, two, three, branch;
		Dwarf_Error error = NULL;
		int result = dwarf_get_location_op_value_c(location, i, &atom, &one, &two, &three,
							   &branch, &error);

		if (result != DW_DLV_OK)
			die("expression", result, error);
		if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31)
			fprintf(out, "r%u", atom - DW_OP_reg0);
		else if (atom == DW_OP_regx)
			fprintf(out, "r%" PRIu64, (uint64_t)one);
		else if (atom == DW_OP_fbreg)
			fprintf(out, "cfa+%" PRId64, (int64_t)one);
		else if (atom == DW_OP_call_frame_cfa)
			fprintf(out, "cfa");
		else if (atom == DW_OP_consts || atom == DW_OP_plus_uconst)
			fprintf(out, "+%" PRId64, (int64_t)one);
		else if (atom == DW_OP_piece)
			fprintf(out, ":%" PRIu64 " ", (uint64_t)one);
		else if (atom != DW_OP_plus)
			fprintf(out, "?");
	}
	return fclose(out) == 0 ? text : NULL;
}

/* The places of PARAMETER, each as a row with TEXT. */
static void add_places(Dwarf_Die parameter, Dwarf_Addr low, Dwarf_Addr high, const char *text)
{
	Dwarf_Attribute attribute;
	Dwarf_Loc_Head_c head;
	Dwarf_Unsigned n, raw_low, raw_high, operations, unused;
	Dwarf_Error error = NULL;

	if (dwarf_attr(parameter, DW_AT_location, &attribute, &error) != DW_DLV_OK ||
	    dwarf_get_loclist_c(attribute, &head, &n, &error) != DW_DLV_OK)
		return;
	for (Dwarf_Unsigned i = 0; i < n; i++) {
		Dwarf_Small kind, source;
		Dwarf_Bool unavailable;
		Dwarf_Addr start, end;
		Dwarf_Locdesc_c location;
		int result = dwarf_get_locdesc_entry_d(
		    head, i, &kind, &raw_low, &raw_high, &unavailable, &start, &end, &operations,
		    &location, &source, &unused, &unused, &error);

		if (result != DW_DLV_OK)
			die("location list", result, error);
		if (source == 0) { /* no list: everywhere */
			start = low;
			end = high;
		}
		if (operations == 0 || start >= end)
			continue;

		char *place = place_of(location, operations), *row;

		if (!place || asprintf(&row, "%s\t%s", text, place) < 0)
			die("out of memory", DW_DLV_NO_ENTRY, NULL);
		add_row(start, end, row);
		free(place);
	}
	dwarf_dealloc_loc_head_c(head);
}

/* The name of the type of PARAMETER, a tab, and the name of the type's unit. */
static char *type_of(Dwarf_Debug dbg, Dwarf_Die parameter)
{
	Dwarf_Attribute attribute;
	Dwarf_Off offset, unit_offset;
	Dwarf_Die type, unit;
	Dwarf_Error error = NULL;
	char *text;

	if (dwarf_attr(named_entry(dbg, parameter), DW_AT_type, &attribute, &error) != DW_DLV_OK ||
	    dwarf_global_formref(attribute, &offset, &error) != DW_DLV_OK ||
	    dwarf_offdie_b(dbg, offset, 1, &type, &error) != DW_DLV_OK ||
	    dwarf_CU_dieoffset_given_die(type, &unit_offset, &error) != DW_DLV_OK ||
	    dwarf_offdie_b(dbg, unit_offset, 1, &unit, &error) != DW_DLV_OK ||
	    asprintf(&text, "%s\t%s", name_of(dbg, type), name_of(dbg, unit)) < 0)
		return NULL;
	return text;
}

/* Adds a row of the type of PARAMETER, after TEXT. */
static void add_type(Dwarf_Debug dbg, Dwarf_Die parameter, Dwarf_Addr low, Dwarf_Addr high,
		     const char *text)
{
	char *type = type_of(dbg, parameter), *row;

	if (!type || asprintf(&row, "%s\t%s", text, type) < 0)
		die("type of a parameter", DW_DLV_NO_ENTRY, NULL);
	add_row(low, high, row);
	free(type);
}

/* The parameters of FUNCTION but its results. */
void add_parameters(Dwarf_Debug dbg, Dwarf_Die function, int types)
{
	Dwarf_Addr low, high;
	Dwarf_Half form, tag;
	enum Dwarf_Form_Class class;
	Dwarf_Die child, next;
	Dwarf_Error error = NULL;
	unsigned n = 0;

	if (dwarf_lowpc(function, &low, &error) != DW_DLV_OK ||
	    dwarf_highpc_b(function, &high, &form, &class, &error) != DW_DLV_OK)
		return;
	if (class == DW_FORM_CLASS_CONSTANT)
		high += low;

	int result = dwarf_child(function, &child, &error);

	while (result == DW_DLV_OK) {
		if (dwarf_tag(child, &tag, &error) == DW_DLV_OK && tag == DW_TAG_formal_parameter &&
		    !number(named_entry(dbg, child), DW_AT_variable_parameter)) {
			char *text;

			if (asprintf(&text, "0x%" PRIx64 "\t%s\t%u\t%s", (uint64_t)low,
				     name_of(dbg, function), n++, name_of(dbg, child)) < 0)
				die("out of memory", DW_DLV_NO_ENTRY, NULL);
			if (types)
				add_type(dbg, child, low, high, text);
			else
				add_places(child, low, high, text);
			free(text);
		}
		result = dwarf_siblingof_b(dbg, child, 1, &next, &error);
		dwarf_dealloc(dbg, child, DW_DLA_DIE);
		child = next;
	}
	if (result == DW_DLV_ERROR)
		die(".debug_info", result, error);
}
