#include "lib/unwind/internal.h"

#include <dwarf.h>
#include <string.h>

/* A symbol's name that is a mangled one, of C++ or Rust: DWARF has but the last part. */
static bool is_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0;
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	Dwarf_Word value = 0;
	if (gh_libdw.dwarf_attr_integrate(die, attribute, &found) != NULL)
		gh_libdw.dwarf_formudata(&found, &value);
	return value;
}

/* Sets where in the source INLINED was called. */
static void set_call(struct gh_c_place *place, Dwarf_Die *unit, Dwarf_Die *inlined)
{
	Dwarf_Files *files;
	size_t count;
	Dwarf_Word number = number_of(inlined, DW_AT_call_file);
	place->line = (int)number_of(inlined, DW_AT_call_line);
	place->file = NULL;
	if (gh_libdw.dwarf_getsrcfiles(unit, &files, &count) == 0 && number < count)
		place->file = gh_libdw.dwarf_filesrc(files, number, NULL, NULL);
}

/* The innermost scope at ADDRESS, and those that it is in, as the code has them: those that
 * dwarf_getscopes gives are the source's. To be freed. */
static int find_scopes(Dwarf_Die *unit, uint64_t address, Dwarf_Die **scopes)
{
	Dwarf_Die *innermost = NULL;
	int count = gh_libdw.dwarf_getscopes(unit, address, &innermost);
	if (count > 0)
		count = gh_libdw.dwarf_getscopes_die(&innermost[0], scopes);
	gh_libdw.free(innermost);
	return count;
}

/* The name of the function that DIE is: that of its symbol, if that is a plain name; else the
 * source's. */
static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute found;
	const char *name = NULL;
	if (gh_libdw.dwarf_attr_integrate(die, DW_AT_linkage_name, &found) != NULL)
		name = gh_libdw.dwarf_formstring(&found);
	return name != NULL && !is_mangled(name) ? name : gh_libdw.dwarf_diename(die);
}

/* Adds to PLACES, which has one, those that DWARF tells of ADDRESS. Gives how many there are. */
static size_t find_inlined(Dwfl_Module *module, uint64_t address,
			   struct gh_c_place places[GH_C_PLACES])
{
	Dwarf_Addr bias;
	Dwarf_Die *scopes = NULL;
	Dwarf_Die *unit = gh_libdw.dwfl_module_addrdie(module, address, &bias);
	int nscopes = unit != NULL ? find_scopes(unit, address - bias, &scopes) : 0;
	size_t last = 0;
	for (int i = 0; i < nscopes && last < GH_C_PLACES - 1; i++) {
		struct gh_c_place *place = &places[last];
		int tag = gh_libdw.dwarf_tag(&scopes[i]);
		const char *name = name_of(&scopes[i]);
		if (tag == DW_TAG_inlined_subroutine) {
			place[1] = *place;
			place->inlined = true;
			place->function = name;
			set_call(&place[1], unit, &scopes[i]);
			last++;
		} else if (tag == DW_TAG_subprogram) {
			if (name != NULL &&
			    (place->function == NULL || !is_mangled(place->function)))
				place->function = name;
			break;
		}
	}
	gh_libdw.free(scopes);
	return last + 1;
}

/* Names the function at ADDRESS by the symbol that has it. Not by one that ends before: it is what
 * precedes a function that has none. */
static void find_symbol(Dwfl_Module *module, uint64_t pc, uint64_t address,
			struct gh_c_place *place)
{
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name =
	    gh_libdw.dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
	if (name == NULL || *name == '\0' || offset >= symbol.st_size)
		return;
	place->function = name;
	place->offset = offset + (pc - address);
}

size_t gh_c_code_places(struct gh_c_code *code, const struct gh_c_frame *frame,
			struct gh_c_place places[GH_C_PLACES])
{
	uint64_t address = gh_c_frame_address(frame);
	Dwfl_Module *module = gh_c_code_module(code, address);
	Dwarf_Addr bias = 0;
	places[0] = (struct gh_c_place){.offset = frame->pc};
	if (module == NULL)
		return 1;
	places[0].object =
	    gh_libdw.dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	gh_libdw.dwfl_module_getelf(module, &bias);
	places[0].offset = frame->pc - bias;
	find_symbol(module, frame->pc, address, &places[0]);
	Dwfl_Line *line = gh_libdw.dwfl_module_getsrc(module, address);
	if (line != NULL)
		places[0].file =
		    gh_libdw.dwfl_lineinfo(line, NULL, &places[0].line, NULL, NULL, NULL);
	return find_inlined(module, address, places);
}
