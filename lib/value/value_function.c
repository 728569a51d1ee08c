#include "lib/value/internal.h"

#include <inttypes.h>
#include <string.h>

#include "lib/util/escape.h"

static void add_name(struct gh_values *values, const char *name)
{
	size_t length = gh_escape_name_length(name);
	if (values->json)
		gh_escape_json_bytes(&values->out, name, length);
	else
		gh_escape_utf8(&values->out, name, length);
}

/* Appends what the closure at ADDRESS has captured: the fields of the struct TYPE, which it is, but
 * for the code's address. */
static void add_captured(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	struct gh_rtype_part part;
	for (uint32_t i = 1; i < type->nparts; i++) {
		gh_value_add(values, "%s", i > 1 ? ", " : "");
		if (!gh_rtype_part(values->types, type, i, &part))
			return;
		gh_value_add_key(values, part.name.start, part.name.length);
		gh_value_add_any(values, part.type, address + part.offset, true);
	}
}

/* Appends the receiver of TYPE that the closure at ADDRESS has captured. */
static void add_receiver(struct gh_values *values, uint32_t type, uint64_t address)
{
	uint8_t align = values->types->items[type].align;
	uint64_t offset = values->process->tab->pointer_size;
	if (align > offset)
		offset = align;
	gh_value_add_key(values, "R", 1);
	gh_value_add_any(values, type, address + offset, true);
}

/* Appends the closure at ADDRESS, of the function FUNC of the module that has TAB. */
static void add_closure(struct gh_values *values, const struct gh_pclntab *tab,
			const struct gh_func *func, uint64_t address)
{
	const char *name = gh_pclntab_name(tab, func->name);
	uint32_t receiver = gh_method_value_receiver(values->types, name);
	uint32_t captured = GH_NO_RTYPE;
	gh_value_json(values, "{", "function");
	add_name(values, name);
	/* Code of other modules gets the addresses of types from the dynamic linker. */
	if (receiver == GH_NO_RTYPE && tab == values->types->tab)
		captured = gh_closure_struct(values->types, func);
	if ((receiver != GH_NO_RTYPE || captured != GH_NO_RTYPE) &&
	    gh_value_enter(values, address)) {
		gh_value_json(values, ",", "captured");
		gh_value_add_either(values, " {", "{");
		if (receiver != GH_NO_RTYPE)
			add_receiver(values, receiver, address);
		else
			add_captured(values, &values->types->items[captured], address);
		gh_value_add(values, "}");
		gh_value_leave(values);
	}
	gh_value_add_either(values, "", "}");
}

void gh_value_add_function(struct gh_values *values, uint64_t word)
{
	struct gh_func func;
	uint64_t pc;
	size_t index;
	if (word == 0) {
		gh_value_add_either(values, "nil", "null");
		return;
	}
	/* A closure begins with the address of its function. */
	if (!gh_value_word(values, word, &pc)) {
		gh_value_add_unreadable(values, word);
		return;
	}
	struct gh_module module = gh_process_module_at(values->process, pc, &index);
	if (index != SIZE_MAX && gh_pclntab_func(module.tab, index, &func, NULL)) {
		add_closure(values, module.tab, &func, word);
		return;
	}
	gh_value_json(values, "{", "function");
	gh_value_add(values, values->json ? "\"0x%" PRIx64 "\"}" : "func(0x%" PRIx64 ")", pc);
}
