/* A twin: another build of a program's source, which has the DWARF that the program lacks. What
 * both have of the code is found function by function, before anything is said by it. */
#include <stdlib.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/debugfile/internal.h"
#include "lib/util/bsearch.h"

/* What begins the text of a program whose linker is Go's: its build id, which no two builds share.
 */
static const char id_mark[] = "\xff Go build ID: \"";

/* A function of the twin. */
struct known {
	const char *name;
	uint64_t entry;
	uint64_t size;
	bool is_shared; /* the program has one of its name */
};

struct comparison {
	struct gh_twin *twin;
	struct known *functions; /* the twin's, by name; owned */
	size_t count;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct known *)a)->name, ((const struct known *)b)->name);
}

static bool read_functions(struct comparison *comparison, const struct gh_pclntab *tab,
			   struct gh_error *err)
{
	struct gh_func func;
	comparison->functions = calloc(tab->nfunc, sizeof(*comparison->functions));
	if (comparison->functions == NULL)
		return gh_fail_memory(err, tab->image->path);
	for (size_t i = 0; i < tab->nfunc; i++) {
		if (!gh_pclntab_record(tab, i, &func, err))
			return false;
		comparison->functions[i] = (struct known){.name = gh_pclntab_name(tab, func.name),
							  .entry = func.entry,
							  .size = func.end - func.entry};
	}
	comparison->count = tab->nfunc;
	qsort(comparison->functions, comparison->count, sizeof(*comparison->functions),
	      compare_names);
	return true;
}

/* Function NUMBER of the program and those of its name in the twin. */
static void compare_function(struct comparison *comparison, uint32_t number, size_t *differing)
{
	struct gh_func func;
	if (!gh_pclntab_record(comparison->twin->program, number, &func, NULL)) {
		(*differing)++;
		return;
	}
	const char *name = gh_pclntab_name(comparison->twin->program, func.name);
	uint64_t size = func.end - func.entry;
	bool elsewhere = false;
	size_t i =
	    gh_lower_bound(comparison->count, j, strcmp(comparison->functions[j].name, name) < 0);
	for (; i < comparison->count && strcmp(comparison->functions[i].name, name) == 0; i++) {
		struct known *known = &comparison->functions[i];
		known->is_shared = true;
		if (known->entry == func.entry && known->size == size &&
		    gh_code_is_same(&comparison->twin->builds, func.entry, size)) {
			comparison->twin->same++;
			return;
		}
		/* It calls others by other distances: nothing is said of its code. */
		elsewhere |= known->entry != func.entry && known->size == size;
	}
	if (elsewhere)
		comparison->twin->elsewhere++;
	else
		(*differing)++;
}

/* Counts COUNT functions of the package PATH. */
static void count_package(struct gh_twin *twin, struct gh_name_part path, size_t count)
{
	for (size_t i = 0; i < twin->packages.count; i++) {
		struct gh_twin_package *package = &twin->packages.items[i];
		if (package->path.size == path.size &&
		    memcmp(package->path.text, path.text, path.size) == 0) {
			package->functions += count;
			return;
		}
	}
	struct gh_twin_package package = {path, count};
	gh_vector_push(&twin->packages, package);
}

/* Counts those of the twin's that the program lacks. */
static void count_others(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->count; i++) {
		const struct known *known = &comparison->functions[i];
		struct gh_name_part path = {known->name, gh_package_length(known->name)};
		if (!known->is_shared)
			count_package(comparison->twin, path, 1);
	}
}

static int by_functions(const void *a, const void *b)
{
	const struct gh_twin_package *x = a, *y = b;
	if (x->functions != y->functions)
		return x->functions > y->functions ? -1 : 1;
	size_t size = x->path.size < y->path.size ? x->path.size : y->path.size;
	return memcmp(x->path.text, y->path.text, size);
}

static bool compare_functions(struct comparison *comparison, struct gh_error *err)
{
	struct gh_twin *twin = comparison->twin;
	struct gh_packages packages = {0};
	bool found = gh_packages_find(&packages, comparison->twin->program, err);
	for (uint32_t i = 0; found && i < packages.count; i++) {
		size_t differing = 0;
		for (uint32_t j = packages.first[i]; j < packages.first[i + 1]; j++)
			compare_function(comparison, packages.functions[j], &differing);
		struct gh_name_part path = {"", 0};
		if (i < packages.names.count)
			path = (struct gh_name_part){packages.names.items[i]->text,
						     packages.names.items[i]->length};
		if (differing > 0)
			count_package(twin, path, differing);
	}
	gh_packages_free(&packages);
	count_others(comparison);
	if (twin->packages.count > 0)
		qsort(twin->packages.items, twin->packages.count, sizeof(*twin->packages.items),
		      by_functions);
	return found && (!twin->packages.failed ||
			 gh_fail_memory(err, comparison->twin->program->image->path));
}

/* The code from START to before END, which is no function of Go's. */
static bool is_same_gap(struct gh_builds *builds, uint64_t start, uint64_t end)
{
	struct gh_cursor cur;
	if (start >= end)
		return true;
	if (gh_image_at(builds->first, start, &cur) && gh_cursor_left(&cur) >= sizeof(id_mark) &&
	    memcmp(cur.pos, id_mark, sizeof(id_mark) - 1) == 0)
		return true;
	return gh_code_is_same(builds, start, end - start);
}

/* The code of SECTION that is no function of Go's. */
static bool is_same_between(struct comparison *comparison, const GElf_Shdr *section)
{
	uint64_t at = section->sh_addr;
	uint64_t end = section->sh_addr + section->sh_size;
	struct gh_func func;
	for (size_t i = 0; i < comparison->twin->program->nfunc; i++) {
		if (!gh_pclntab_record(comparison->twin->program, i, &func, NULL))
			return false;
		if (func.entry < at || func.entry >= end)
			continue;
		if (!is_same_gap(&comparison->twin->builds, at, func.entry))
			return false;
		at = func.end;
	}
	return is_same_gap(&comparison->twin->builds, at, end);
}

/* Code that is no function of Go's is the same in both. */
static bool is_same_c(struct comparison *comparison)
{
	const struct gh_builds *builds = &comparison->twin->builds;
	for (size_t i = 1; i < builds->second->nsections; i++) {
		const struct gh_section *section = &builds->second->sections[i];
		const GElf_Shdr *header = &section->header;
		if ((header->sh_flags & SHF_EXECINSTR) == 0)
			continue;
		const struct gh_section *other = gh_image_section(builds->first, section->name);
		if (other == NULL || other->header.sh_addr != header->sh_addr ||
		    other->header.sh_size != header->sh_size ||
		    !is_same_between(comparison, header))
			return false;
	}
	return true;
}

bool gh_twin_compare(struct gh_twin *twin, const struct gh_pclntab *build,
		     const struct gh_pclntab *program, struct gh_error *err)
{
	*twin = (struct gh_twin){.build = build, .program = program, .functions = program->nfunc};
	struct comparison comparison = {.twin = twin};
	if (!gh_builds_make(&twin->builds, build->image, program->image))
		return gh_fail_memory(err, program->image->path);
	if (program->image->nsections == 0)
		return gh_fail(err, program->image->path, GH_NO_OFFSET, "section headers", "none");
	if (build->image->arch != program->image->arch)
		return gh_fail(err, build->image->path, GH_NO_OFFSET, program->image->arch->goarch,
			       "%s", build->image->arch->goarch);
	bool compared =
	    read_functions(&comparison, build, err) && compare_functions(&comparison, err);
	if (compared)
		twin->same_c = is_same_c(&comparison);
	gh_builds_settle(&twin->builds);
	free(comparison.functions);
	return compared;
}

bool gh_twin_is_proved(const struct gh_twin *twin)
{
	return twin->same == twin->functions;
}

void gh_twin_free(struct gh_twin *twin)
{
	gh_vector_free(&twin->packages);
	gh_builds_free(&twin->builds);
}
