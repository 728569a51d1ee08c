#include "lib/write/strings.h"

#include <string.h>

static const char header[] = "\0"
			     "goheap\0"
			     "runtime.sigreturn__sigaction";

bool gh_strings_find(struct gh_strings *strings, const struct gh_pclntab *tab, struct gh_error *err)
{
	*strings =
	    (struct gh_strings){.names = "", .header = header, .header_size = sizeof(header)};
	const char *start = NULL;
	const char *end = NULL;
	for (size_t i = 0; i < tab->nfunc; i++) {
		struct gh_func func;
		if (!gh_pclntab_func(tab, i, &func, err))
			return false;
		const char *name = gh_pclntab_name(tab, func.name);
		if (*name == '\0')
			continue;
		if (start == NULL || name < start)
			start = name;
		if (end == NULL || name >= end)
			end = name + strlen(name) + 1;
	}
	if (start == NULL)
		return true;
	strings->names = start;
	strings->names_size = (size_t)(end - start);
	if (strings->names_size > UINT32_MAX - strings->header_size)
		return gh_fail(err, tab->image->path, GH_NO_OFFSET, "less than 4 GiB of names",
			       "%zu bytes", strings->names_size);
	return true;
}

uint32_t gh_strings_offset(const struct gh_strings *strings, const char *name)
{
	if (*name == '\0')
		return 0;
	return (uint32_t)(strings->header_size + (size_t)(name - strings->names));
}
