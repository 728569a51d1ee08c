#include "lib/debugfile/dwarf_entries.h"

#include <dwarf.h>
#include <string.h>

/* Adds the variable NAME of TYPE at ADDRESS. GDB 13 takes the unit of a variable for that of the
 * code at its address, unless the expression is more than it looks into. */
static void add_global(struct gh_type_unit *unit, const char *name, gh_entry type, uint64_t address)
{
	gh_type_begin_entry(unit, GH_ENTRY_VARIABLE, GH_NO_ENTRY);
	gh_buffer_u32(unit->out, gh_type_string(unit, name));
	gh_type_refer(unit, type);
	gh_buffer_uleb128(unit->out, 3U + unit->word);
	gh_buffer_u8(unit->out, DW_OP_addr);
	gh_buffer_uint(unit->out, address, unit->word);
	gh_buffer_u8(unit->out, DW_OP_lit0);
	gh_buffer_u8(unit->out, DW_OP_or);
}

static void add_field(struct gh_type_unit *unit, const char *name, unsigned word, gh_entry type)
{
	gh_type_add_member(unit, name, strlen(name), (uint64_t)word * unit->word, type, false);
}

/* The type []*runtime.g. */
static gh_entry goroutines_type(struct gh_type_unit *unit)
{
	gh_entry elem = gh_type_pointer_to(unit, gh_rtypes_struct(unit->types, "runtime.g", 0));
	gh_entry array = gh_type_pointer(unit, elem, gh_type_string(unit, "**runtime.g"));
	gh_entry number = gh_type_new(unit);
	const struct gh_rtype slice = {.address = unit->types->start, .kind = GH_KIND_SLICE};
	gh_type_begin(unit, GH_ENTRY_SLICE, number, gh_type_string(unit, "[]*runtime.g"), &slice);
	gh_buffer_uleb128(unit->out, 3U * unit->word);
	gh_type_refer(unit, elem);
	add_field(unit, "array", 0, array);
	add_field(unit, "len", 1, gh_type_basic(unit, GH_KIND_INT));
	add_field(unit, "cap", 2, gh_type_basic(unit, GH_KIND_INT));
	gh_type_end_children(unit);
	return number;
}

/* The type runtime.moduledata, of which there are only the fields that a debugger needs.
 * src/runtime/symtab.go of each release. */
static gh_entry module_type(struct gh_type_unit *unit, const struct gh_moduledata *module)
{
	/* Between ptab and typemap: pluginpath, pkghashes, inittasks (Go 1.21), modulename,
	   modulehashes, hasmain and the two bitmasks. bad had a word of its own before Go 1.23. */
	unsigned typemap = module->ptab_word + (unit->release < 21 ? 18U : 21U);
	unsigned next = typemap + (unit->release < 23 ? 2U : 1U);
	gh_entry uintptr = gh_type_basic(unit, GH_KIND_UINTPTR);
	gh_entry number = gh_type_new(unit);
	gh_entry pointer =
	    gh_type_pointer(unit, number, gh_type_string(unit, "*runtime.moduledata"));
	gh_type_begin(unit, GH_ENTRY_STRUCT, number, gh_type_string(unit, "runtime.moduledata"),
		      NULL);
	gh_buffer_uleb128(unit->out, (next + 1ULL) * unit->word);
	add_field(unit, "text", module->text_word, uintptr);
	add_field(unit, "etext", module->text_word + 1U, uintptr);
	add_field(unit, "types", module->types_word, uintptr);
	add_field(unit, "etypes", module->etypes_word, uintptr);
	add_field(unit, "typemap", typemap, gh_type_basic(unit, GH_KIND_UNSAFE_POINTER));
	add_field(unit, "next", next, pointer);
	gh_type_end_children(unit);
	return number;
}

void gh_dwarf_globals_add(struct gh_type_unit *unit, const struct gh_runtime *runtime)
{
	enum { FIRST_RELEASE = 15 }; /* of which the places of all fields are known */
	const struct gh_moduledata *module = &unit->types->tab->module;
	uint64_t version = gh_build_version(unit->types->tab->image);
	uint32_t string = gh_rtypes_named(unit->types, "string", NULL);
	if (version != 0 && string != GH_NO_RTYPE)
		add_global(unit, "runtime.buildVersion", gh_type_of(unit, string), version);
	if (runtime->allgs != 0 && runtime->allglen != 0) {
		add_global(unit, "runtime.allgs", goroutines_type(unit), runtime->allgs);
		add_global(unit, "runtime.allglen", gh_type_basic(unit, GH_KIND_UINTPTR),
			   runtime->allglen);
	}
	if (module->address != 0 && module->ptab_word != 0 && unit->release >= FIRST_RELEASE)
		add_global(unit, "runtime.firstmoduledata", module_type(unit, module),
			   module->address);
}
