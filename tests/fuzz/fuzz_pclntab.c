/* Fuzz target: everything that reads a program. */
#include "lib/code/code.h"
#include "lib/elf/elf.h"
#include "lib/pclntab/pclntab.h"
#include "lib/process/internal.h"
#include "lib/wait/internal.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

static void walk(const struct gh_pclntab *tab)
{
	struct gh_sourcemap map = {0};
	struct gh_func func;
	struct gh_range range;
	for (size_t i = 0; i < tab->nfunc; i++) {
		if (!gh_pclntab_func(tab, i, &func, NULL))
			continue;
		gh_pclntab_name(tab, func.name);
		gh_pcvalue_at(tab, &func, func.pcsp, func.end - 1);
		/* An empty function begins where the next one does. */
		if (func.entry < func.end && gh_pclntab_find(tab, func.entry) != i)
			abort();
		gh_sourcemap_start(&map, tab, &func);
		while (gh_sourcemap_next(&map, &range))
			for (unsigned f = 0; f < range.nframes; f++)
				gh_pclntab_file(tab, range.frames[f].file);
	}
	gh_sourcemap_free(&map);
}

/* Each form that stack objects have had. */
static void walk_stack_objects(const struct gh_pclntab *tab)
{
	static const int minors[] = {16, 17, 27};
	struct gh_func func;
	for (size_t i = 0; i < 3 * tab->nfunc; i++) {
		struct gh_stack_objects walk;
		struct gh_stack_object object;
		if (!gh_pclntab_record(tab, i / 3, &func, NULL))
			continue;
		gh_stack_objects_start(&walk, tab, minors[i % 3], &func);
		while (gh_stack_objects_next(&walk, &object))
			if (object.size == 0 || object.pointers > object.size)
				abort();
	}
}

/* What refers to an address is found by it. */
static void walk_globals(const struct gh_pclntab *tab)
{
	struct gh_global_refs refs;
	size_t count;
	if (!gh_global_refs_find(&refs, tab, 0, UINT64_MAX))
		abort();
	for (size_t i = 0; i < refs.count; i++) {
		const struct gh_global_ref *found =
		    gh_global_refs_before(&refs, refs.items[i].address, &count);
		if (refs.items[i].function >= tab->nfunc ||
		    found->address != refs.items[i].address || found + count <= &refs.items[i])
			abort();
	}
	gh_global_refs_free(&refs);
}

static void walk_receivers(const struct gh_pclntab *tab)
{
	struct gh_receivers receivers;
	struct gh_func func;
	for (size_t i = 0; i < tab->nfunc; i++) {
		if (!gh_pclntab_record(tab, i, &func, NULL))
			continue;
		if (!gh_receivers_find(&receivers, tab, &func))
			abort();
		for (size_t k = 0; k < receivers.list.count; k++)
			if (receivers.list.items[k].at >= func.end - func.entry ||
			    receivers.list.items[k].nloads > GH_RECEIVER_LOADS)
				abort();
		gh_receivers_free(&receivers);
	}
}

/* Which locks are open at the last instruction of each function. */
static void walk_locks(const struct gh_pclntab *tab)
{
	struct gh_lock_place place;
	struct gh_lock_code code = {0};
	struct gh_func func;
	for (size_t i = 0; i < tab->nfunc; i++) {
		if (!gh_pclntab_record(tab, i, &func, NULL) || func.end <= func.entry)
			continue;
		if (!gh_lock_place_find(&place, tab, &code, func.end - 1, NULL))
			abort();
		if (!gh_lock_place_find_released(&place, tab, &code, func.end - 1))
			abort();
		gh_lock_place_free(&place);
	}
	gh_lock_code_free(&code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	if (copy == NULL)
		return 0;
	memcpy(copy, data, size);
	struct gh_image image;
	struct gh_pclntab tab;
	struct gh_error err;
	if (gh_image_open_memory(&image, copy, size, "input", &err)) {
		struct gh_buildinfo info;
		gh_buildinfo_read(&info, &image);
		gh_go_minor(info.go_version);
		gh_buildinfo_free(&info);
		if (gh_pclntab_open(&tab, &image, &err)) {
			walk(&tab);
			walk_stack_objects(&tab);
			walk_receivers(&tab);
			walk_locks(&tab);
			walk_globals(&tab);
		}
		gh_pclntab_close(&tab);
		gh_image_close(&image);
	}
	free(copy);
	return 0;
}
