/*
 * Twintypes prints what libdwarf reads of a Go program's types, one a line:
 *
 *	twintypes [-a] FILE
 *
 * Columns, separated by tabs: the offset of the type's descriptor from runtime.types, the name, the
 * size in bytes (none for a function, to which DWARF gives none), the type that an array, a
 *pointer, or a typedef is of, and then an array's length; a function's parameters, and its results
 *with a "=" before them; a struct's fields as "offset name type", an embedded one with a "*" before
 *it. Only types with a descriptor are printed; with -a all structs, for linkers that did not say
 *which have one (to Go 1.7).
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libdwarf.h"

enum { GO_EMBEDDED = 0x2903, GO_RUNTIME_TYPE = 0x2904 };

static Dwarf_Debug dbg;
static Dwarf_Error error;
static bool all_structs;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "twintypes: %s\n", what);
	exit(1);
}

/* The number in an expression as those linkers wrote for a field's offset: DW_OP_consts or
 * DW_OP_plus_uconst and the number; nothing for 0. */
static Dwarf_Unsigned added(const Dwarf_Block *block)
{
	const uint8_t *bytes = block->bl_data;
	Dwarf_Unsigned value = 0;

	if (block->bl_len == 0)
		return 0;
	if (bytes[0] != DW_OP_consts && bytes[0] != DW_OP_plus_uconst)
		die("an offset of an unknown form");
	for (Dwarf_Unsigned i = 1; i < block->bl_len; i++) {
		value |= (Dwarf_Unsigned)(bytes[i] & 127) << (7 * (i - 1));
		if (bytes[i] < 128)
			return value;
	}
	die("an offset that does not end");
}

static Dwarf_Unsigned number(Dwarf_Die entry, Dwarf_Half name)
{
	Dwarf_Attribute attribute;
	Dwarf_Unsigned value = 0;
	Dwarf_Signed negative = 0;
	Dwarf_Addr address = 0;
	Dwarf_Bool flag = 0;
	Dwarf_Block *block;

	if (dwarf_attr(entry, name, &attribute, &error) != DW_DLV_OK)
		return 0;
	if (dwarf_formudata(attribute, &value, &error) == DW_DLV_OK)
		return value;
	if (dwarf_formsdata(attribute, &negative, &error) == DW_DLV_OK)
		return (Dwarf_Unsigned)negative;
	if (dwarf_formaddr(attribute, &address, &error) == DW_DLV_OK)
		return address;
	if (dwarf_formflag(attribute, &flag, &error) == DW_DLV_OK)
		return (Dwarf_Unsigned)flag;
	if (dwarf_formblock(attribute, &block, &error) == DW_DLV_OK)
		return added(block);
	die("an attribute of an unknown form");
}

static const char *name_of(Dwarf_Die entry)
{
	char *name;

	return dwarf_diename(entry, &name, &error) == DW_DLV_OK ? name : "";
}

/* The type of ENTRY, by name. */
static const char *type_of(Dwarf_Die entry)
{
	Dwarf_Attribute attribute;
	Dwarf_Off offset;
	Dwarf_Die type;

	if (dwarf_attr(entry, DW_AT_type, &attribute, &error) != DW_DLV_OK)
		return "";
	if (dwarf_global_formref(attribute, &offset, &error) != DW_DLV_OK ||
	    dwarf_offdie_b(dbg, offset, 1, &type, &error) != DW_DLV_OK)
		die("a type that leads nowhere");
	return name_of(type);
}

static void print_child(Dwarf_Die child)
{
	Dwarf_Half tag;

	if (dwarf_tag(child, &tag, &error) != DW_DLV_OK)
		die("an entry without a tag");
	switch (tag) {
	case DW_TAG_member:
		printf("\t%s%" PRIu64 " %s %s", number(child, GO_EMBEDDED) ? "*" : "",
		       (uint64_t)number(child, DW_AT_data_member_location), name_of(child),
		       type_of(child));
		break;
	case DW_TAG_subrange_type:
		printf("\t%" PRIu64, (uint64_t)number(child, DW_AT_count));
		break;
	case DW_TAG_formal_parameter:
		printf("\t%s%s", number(child, DW_AT_variable_parameter) ? "=" : "",
		       type_of(child));
		break;
	case DW_TAG_unspecified_parameters:
		printf("\t...");
		break;
	default:
		printf("\t?%x", tag);
	}
}

static void print_type(Dwarf_Die entry)
{
	Dwarf_Die child, next;

	Dwarf_Half tag;

	if (dwarf_tag(entry, &tag, &error) != DW_DLV_OK)
		die("an entry without a tag");
	printf("%" PRIu64 "\t%s\t", (uint64_t)number(entry, GO_RUNTIME_TYPE), name_of(entry));
	if (tag != DW_TAG_subroutine_type)
		printf("%" PRIu64, (uint64_t)number(entry, DW_AT_byte_size));
	printf("\t%s", type_of(entry));
	for (int result = dwarf_child(entry, &child, &error); result == DW_DLV_OK; child = next) {
		print_child(child);
		result = dwarf_siblingof_b(dbg, child, 1, &next, &error);
	}
	putchar('\n');
}

static bool is_struct(Dwarf_Die entry)
{
	Dwarf_Half tag;

	return dwarf_tag(entry, &tag, &error) == DW_DLV_OK && tag == DW_TAG_structure_type;
}

static void print_unit(Dwarf_Die unit)
{
	Dwarf_Die child, next;

	for (int result = dwarf_child(unit, &child, &error); result == DW_DLV_OK; child = next) {
		if (all_structs ? is_struct(child) : number(child, GO_RUNTIME_TYPE) != 0)
			print_type(child);
		result = dwarf_siblingof_b(dbg, child, 1, &next, &error);
		dwarf_dealloc(dbg, child, DW_DLA_DIE);
	}
}

int main(int argc, char **argv)
{
	all_structs = argc == 3 && strcmp(argv[1], "-a") == 0;
	if (argc != 2 && !all_structs) {
		fprintf(stderr, "usage: twintypes [-a] FILE\n");
		return 2;
	}
	if (open_dwarf(argv[argc - 1], &dbg, &error) != DW_DLV_OK)
		die("no DWARF");
	for (;;) {
		Dwarf_Unsigned length, type_offset, next;
		Dwarf_Off abbreviations;
		Dwarf_Half version, address_size, length_size, extension, type;
		Dwarf_Sig8 signature;
		Dwarf_Die unit;
		int result = dwarf_next_cu_header_d(dbg, 1, &length, &version, &abbreviations,
						    &address_size, &length_size, &extension,
						    &signature, &type_offset, &next, &type, &error);

		if (result == DW_DLV_NO_ENTRY)
			break;
		if (result != DW_DLV_OK ||
		    dwarf_siblingof_b(dbg, NULL, 1, &unit, &error) != DW_DLV_OK)
			die("a bad unit");
		print_unit(unit);
		dwarf_dealloc(dbg, unit, DW_DLA_DIE);
	}
	close_dwarf(dbg);
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
