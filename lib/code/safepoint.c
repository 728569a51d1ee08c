#include "lib/code/code.h"

#include <string.h>

#include "lib/util/bsearch.h"

/* NAME is PREFIX with or without what the compiler and linkers put after it. */
static bool is_form_of(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);
	return strncmp(name, prefix, length) == 0 && (name[length] < 'a' || name[length] > 'z');
}

static bool is_unsafe(const char *name)
{
	static const char *const names[] = {"duffcopy",    "duffzero",     "gcWriteBarrier",
					    "typedmemclr", "typedmemmove", "udiv",
					    "wbMove",      "wbZero"};
	if (strncmp(name, "runtime.", 8) != 0)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_form_of(name + 8, names[i]))
			return true;
	return false;
}

bool gh_callees_find(struct gh_callees *callees, const struct gh_pclntab *tab)
{
	struct gh_func func;
	struct gh_error err;
	*callees = (struct gh_callees){0};
	for (size_t i = 0; i < tab->nfunc; i++)
		if (gh_pclntab_record(tab, i, &func, &err) &&
		    !is_unsafe(gh_pclntab_name(tab, func.name)))
			gh_vector_push(&callees->entries, func.entry);
	return !callees->entries.failed;
}

void gh_callees_free(struct gh_callees *callees)
{
	gh_vector_free(&callees->entries);
}

bool gh_callees_have(const struct gh_callees *callees, uint64_t address)
{
	const uint64_t *entries = callees->entries.items;
	size_t count = callees->entries.count;
	size_t found = gh_lower_bound(count, i, entries[i] < address);
	return found < count && entries[found] == address;
}
