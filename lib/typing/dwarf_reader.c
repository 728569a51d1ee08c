#include "lib/typing/internal.h"

#include <stddef.h>

bool gh_dwarf_number(Dwarf_Die die, Dwarf_Half name, uint64_t *number)
{
	Dwarf_Attribute attribute;
	Dwarf_Unsigned value;
	Dwarf_Signed negative;
	Dwarf_Addr address;
	if (dwarf_attr(die, name, &attribute, NULL) != DW_DLV_OK)
		return false;
	bool found = true;
	if (dwarf_formudata(attribute, &value, NULL) == DW_DLV_OK)
		*number = value;
	else if (dwarf_formsdata(attribute, &negative, NULL) == DW_DLV_OK)
		*number = (uint64_t)negative;
	else if (dwarf_formaddr(attribute, &address, NULL) == DW_DLV_OK)
		*number = address;
	else
		found = false;
	dwarf_dealloc_attribute(attribute);
	return found;
}

bool gh_dwarf_reference(Dwarf_Die die, Dwarf_Half name, uint64_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Off found;
	if (dwarf_attr(die, name, &attribute, NULL) != DW_DLV_OK)
		return false;
	bool known = dwarf_global_formref(attribute, &found, NULL) == DW_DLV_OK;
	dwarf_dealloc_attribute(attribute);
	if (known)
		*offset = found;
	return known;
}

const char *gh_dwarf_name(Dwarf_Die die)
{
	char *name;
	return dwarf_diename(die, &name, NULL) == DW_DLV_OK ? name : "";
}

Dwarf_Half gh_dwarf_tag(Dwarf_Die die)
{
	Dwarf_Half tag;
	return dwarf_tag(die, &tag, NULL) == DW_DLV_OK ? tag : 0;
}

Dwarf_Die gh_dwarf_at(Dwarf_Debug dwarf, uint64_t offset)
{
	Dwarf_Die die;
	return dwarf_offdie_b(dwarf, offset, 1, &die, NULL) == DW_DLV_OK ? die : NULL;
}

Dwarf_Die gh_dwarf_sibling(Dwarf_Debug dwarf, Dwarf_Die die)
{
	Dwarf_Die next;
	int result = dwarf_siblingof_b(dwarf, die, 1, &next, NULL);
	gh_dwarf_free(dwarf, die);
	return result == DW_DLV_OK ? next : NULL;
}

Dwarf_Die gh_dwarf_child(Dwarf_Die die)
{
	Dwarf_Die child;
	return dwarf_child(die, &child, NULL) == DW_DLV_OK ? child : NULL;
}

void gh_dwarf_free(Dwarf_Debug dwarf, Dwarf_Die die)
{
	dwarf_dealloc(dwarf, die, DW_DLA_DIE);
}
