#include "lib/unwind/internal.h"

#include "lib/util/bsearch.h"

static int compare(const void *left, const void *right)
{
	const struct gh_c_variable *a = left, *b = right;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* Lists the variables of MODULE, of its symbol table or, where it has none, its debug file's, and
 * of what it shares with others. */
static void list(struct gh_c_variables *variables, Dwfl_Module *module)
{
	int count = gh_libdw.dwfl_module_getsymtab(module);
	variables->module = module;
	variables->list.count = 0;
	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Word section;
		struct gh_c_variable variable = {0};
		variable.name = gh_libdw.dwfl_module_getsym_info(
		    module, i, &symbol, &variable.address, &section, NULL, NULL);
		unsigned type = GELF_ST_TYPE(symbol.st_info);
		variable.size = symbol.st_size;
		if (variable.name != NULL && variable.name[0] != '\0' && section != SHN_UNDEF &&
		    variable.size > 0 && (type == STT_OBJECT || type == STT_COMMON))
			gh_vector_push(&variables->list, variable);
	}
	if (variables->list.count > 0)
		qsort(variables->list.items, variables->list.count, sizeof(*variables->list.items),
		      compare);
}

const struct gh_c_variable *gh_c_code_variable(struct gh_c_code *code, uint64_t address,
					       const char **object)
{
	struct gh_c_variables *variables = &code->variables;
	Dwfl_Module *module = gh_c_code_make_ready(code) ? gh_c_code_module(code, address) : NULL;
	if (module == NULL)
		return NULL;
	if (module != variables->module)
		list(variables, module);
	const struct gh_c_variable *items = variables->list.items;
	size_t after = gh_lower_bound(variables->list.count, i, items[i].address <= address);
	if (after == 0 || address - items[after - 1].address >= items[after - 1].size)
		return NULL;
	*object = gh_libdw.dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	return &items[after - 1];
}
