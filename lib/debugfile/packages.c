#include "lib/debugfile/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/pclntab/pclntab.h"

/* FUNC is written in assembly: its file is a ".s". */
static bool is_assembly(const struct gh_pclntab *tab, const struct gh_func *func)
{
	int32_t n = gh_pcvalue_at(tab, func, func->pcfile, func->entry);
	const char *file = gh_pclntab_file(tab, gh_pclntab_cu_file(tab, func, n));
	size_t length = strlen(file);
	return length >= 2 && strcmp(file + length - 2, ".s") == 0;
}

/* What a function is sorted by. */
struct place {
	uint32_t package;
	bool assembly;
};

/* Sets PLACES[i] to that of function I. */
static bool find_places(struct gh_packages *packages, const struct gh_pclntab *tab,
			struct place *places, struct gh_error *err)
{
	uint32_t package = 0;
	for (size_t i = 0; i < tab->nfunc; i++) {
		struct gh_func func;
		if (!gh_pclntab_func(tab, i, &func, err))
			return false;
		const char *name = gh_pclntab_name(tab, func.name);
		size_t length = gh_package_length(name);
		if (length > 0)
			package = gh_intern_add(&packages->names, name, length);
		if (package == GH_INTERN_NONE)
			return gh_fail_memory(err, tab->image->path);
		places[i] = (struct place){package, is_assembly(tab, &func)};
	}
	packages->count = packages->names.count > 0 ? packages->names.count : 1;
	return true;
}

/* A counting sort: stable, so that functions stay in address order. Those in assembly come last in
 * their package: debuggers of the GDB family take a file of unknown language for one in the
 * language of the file before it, and skip no prologues in assembly. */
static bool sort_functions(struct gh_packages *packages, const struct gh_pclntab *tab,
			   const struct place *places, struct gh_error *err)
{
	uint32_t count = packages->count;
	packages->functions = calloc(tab->nfunc, sizeof(uint32_t));
	packages->first = calloc((size_t)count + 1, sizeof(uint32_t));
	uint32_t *next = calloc(count, sizeof(uint32_t));
	if (packages->functions == NULL || packages->first == NULL || next == NULL) {
		free(next);
		return gh_fail_memory(err, tab->image->path);
	}
	for (size_t i = 0; i < tab->nfunc; i++)
		packages->first[places[i].package + 1]++;
	for (uint32_t i = 0; i < count; i++) {
		packages->first[i + 1] += packages->first[i];
		next[i] = packages->first[i];
	}
	for (int assembly = 0; assembly <= 1; assembly++)
		for (size_t i = 0; i < tab->nfunc; i++)
			if (places[i].assembly == assembly)
				packages->functions[next[places[i].package]++] = (uint32_t)i;
	free(next);
	return true;
}

bool gh_packages_find(struct gh_packages *packages, const struct gh_pclntab *tab,
		      struct gh_error *err)
{
	*packages = (struct gh_packages){0};
	if (tab->nfunc >= UINT32_MAX)
		return gh_fail(err, tab->image->path, GH_NO_OFFSET, "fewer than 2^32 - 1 functions",
			       "%zu", tab->nfunc);
	struct place *places = calloc(tab->nfunc, sizeof(*places));
	if (places == NULL)
		return gh_fail_memory(err, tab->image->path);
	bool found =
	    find_places(packages, tab, places, err) && sort_functions(packages, tab, places, err);
	free(places);
	if (!found)
		gh_packages_free(packages);
	return found;
}

void gh_packages_free(struct gh_packages *packages)
{
	gh_intern_free(&packages->names);
	free(packages->functions);
	free(packages->first);
	*packages = (struct gh_packages){0};
}
