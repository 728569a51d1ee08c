/* What closures have captured: the structs that they are. The function that makes one allocates a
 * struct of a type that it names, and stores the code's address first.
 *
 * Source: walkClosure and walkMethodValue in src/cmd/compile/internal/walk/closure.go. */
#include <stdio.h>
#include <string.h>

#include "lib/code/code_types.h"
#include "lib/code/internal.h"

/* The end of the name of a method's closure. */
#define METHOD_VALUE "-fm"

/* What the calls of a function have made, while it is read for the closures of another. */
struct maker {
	const struct gh_rtypes *types;
	uint64_t entry;              /* of the closures' function */
	struct gh_made_list results; /* of its calls */
	uint32_t found;              /* the struct's number, or GH_NO_RTYPE */
	bool differ;                 /* there are several */
};

const struct gh_made *gh_made_by_call(const struct gh_made_list *results,
				      const struct gh_value *value)
{
	if (value->from != GH_VALUE_RESULT || value->nloads > 0 || value->offsets[0] != 0 ||
	    value->number >= results->count || results->items[value->number].type == GH_NO_RTYPE)
		return NULL;
	return &results->items[value->number];
}

bool gh_closure_stored(const struct gh_rtypes *types, const struct gh_made_list *results,
		       const struct gh_value *address, const struct gh_value *value,
		       struct gh_entry_type *closure)
{
	const struct gh_made *result = gh_made_by_call(results, address);
	struct gh_func func;
	if (result == NULL || result->kind != GH_CODE_POINTER || value->from != GH_VALUE_GLOBAL ||
	    value->nloads > 0 || types->items[result->type].kind != GH_KIND_STRUCT)
		return false;
	*closure = (struct gh_entry_type){(uint64_t)value->offsets[0], result->type};
	return gh_pclntab_at(types->tab, closure->entry, &func);
}

static bool take_call(struct gh_reading *reading, size_t at, uint64_t callee)
{
	struct maker *maker = reading->context;
	struct gh_made made;
	struct gh_used used;
	(void)at;
	if (gh_code_call(maker->types, callee, &reading->known, &made, &used))
		return true;
	gh_vector_push(&maker->results, made);
	return false;
}

static void take_store(struct gh_reading *reading, const struct gh_value *address,
		       const struct gh_value *value)
{
	struct maker *maker = reading->context;
	struct gh_entry_type closure;
	if (!gh_closure_stored(maker->types, &maker->results, address, value, &closure) ||
	    closure.entry != maker->entry)
		return;
	maker->differ |= maker->found != GH_NO_RTYPE && maker->found != closure.type;
	maker->found = closure.type;
}

/* Finds the function that NAME, a closure's, says it is declared in: the one with the longest name
 * that begins it. False if there is none. */
static bool find_maker(const struct gh_pclntab *tab, const char *name, struct gh_func *maker)
{
	size_t longest = 0;
	for (size_t i = 0; i < tab->nfunc; i++) {
		struct gh_func func;
		if (!gh_pclntab_record(tab, i, &func, NULL))
			continue;
		const char *other = gh_pclntab_name(tab, func.name);
		size_t length = strlen(other);
		if (length <= longest || strncmp(name, other, length) != 0 || name[length] != '.')
			continue;
		longest = length;
		*maker = func;
	}
	return longest > 0;
}

uint32_t gh_closure_struct(const struct gh_rtypes *types, const struct gh_func *func)
{
	struct maker maker = {.types = types, .entry = func->entry, .found = GH_NO_RTYPE};
	struct gh_reading reading = {
	    .follows = true, .context = &maker, .on_call = take_call, .on_store = take_store};
	struct gh_func outer;
	if (types->tab->image->arch->isa != GH_ISA_AMD64 || types->tab->format < GH_PCLNTAB_1_18 ||
	    !find_maker(types->tab, gh_pclntab_name(types->tab, func->name), &outer))
		return GH_NO_RTYPE;
	if (gh_reading_start(&reading, types->tab, &outer))
		gh_reading_run(&reading);
	bool ok = !gh_reading_failed(&reading) && !maker.results.failed && !maker.differ;
	gh_reading_free(&reading);
	gh_vector_free(&maker.results);
	return ok ? maker.found : GH_NO_RTYPE;
}

static bool has_path(const struct gh_rtypes *types, uint32_t type, struct gh_rtype_text path)
{
	struct gh_rtype_text own = gh_rtype_package(types, &types->items[type]);
	return own.length == path.length && memcmp(own.start, path.start, path.length) == 0;
}

uint32_t gh_method_value_receiver(const struct gh_rtypes *types, const char *name)
{
	char type[1024];
	size_t length = strlen(name);
	size_t ends = strlen(METHOD_VALUE);
	if (length < ends || strcmp(name + length - ends, METHOD_VALUE) != 0)
		return GH_NO_RTYPE;
	const char *slash = memrchr(name, '/', length);
	const char *dot = strchr(slash != NULL ? slash : name, '.');
	const char *last = memrchr(name, '.', length);
	if (dot == NULL || last == dot || strchr(name, '[') != NULL || length >= sizeof(type))
		return GH_NO_RTYPE;
	bool is_pointer = strncmp(dot, ".(*", 3) == 0 && last[-1] == ')';
	const char *start = dot + (is_pointer ? 3 : 1);
	snprintf(type, sizeof(type), "%s%.*s.%.*s", is_pointer ? "*" : "", (int)(dot - name), name,
		 (int)(last - start) - is_pointer, start);
	uint32_t number = gh_rtypes_named(types, type, NULL);
	uint32_t declared = number;
	if (number != GH_NO_RTYPE && is_pointer)
		declared = gh_rtype_elem(types, &types->items[number]);
	/* A package of another path may have the name. */
	struct gh_rtype_text path = {name, (uint32_t)(dot - name)};
	if (declared == GH_NO_RTYPE || (slash == NULL && !has_path(types, declared, path)))
		return GH_NO_RTYPE;
	return number;
}
