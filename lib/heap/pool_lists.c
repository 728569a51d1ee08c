/* The lists that package sync has of all pools. Each collection empties one, and has it follow the
 * other (poolCleanup in src/sync/pool.go): what a pool is in passes with two of them. */
#include <stdlib.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/heap/internal.h"

static bool find_function(const struct gh_pclntab *tab, const char *name, struct gh_func *func)
{
	for (size_t i = 0; i < tab->nfunc; i++)
		if (gh_pclntab_record(tab, i, func, NULL) &&
		    strcmp(gh_pclntab_name(tab, func->name), name) == 0)
			return true;
	return false;
}

/* The address of the word of ROOT, which is in a segment; 0 if it is in none. */
static uint64_t address_of(const struct gh_heap *heap, const struct gh_root *root)
{
	struct gh_dump_record record;
	enum gh_dump_kind kind = gh_root_record(heap->dump, root->kind);
	if (kind != GH_DUMP_DATA && kind != GH_DUMP_BSS)
		return 0;
	gh_dump_get(heap->dump, kind, root->number, &record);
	return record.segment.address + root->offset;
}

bool gh_pool_lists_find(struct gh_heap *heap, const struct gh_pclntab *tab, uint64_t bias,
			struct gh_error *err)
{
	struct gh_global_refs refs;
	struct gh_func func;
	size_t count, passing = 0;
	if (!find_function(tab, "sync.poolCleanup", &func))
		return true;
	bool ok = gh_global_refs_of(&refs, tab, &func);
	for (size_t i = 0; ok && i < heap->nroots; i++) {
		uint64_t address = address_of(heap, &heap->roots[i]);
		const struct gh_global_ref *ref =
		    address != 0 ? gh_global_refs_before(&refs, address - bias, &count) : NULL;
		heap->roots[i].passing |= ref != NULL && ref->address == address - bias;
		passing += heap->roots[i].passing;
	}
	gh_global_refs_free(&refs);
	if (passing > 0)
		gh_roots_sort(&(struct gh_roots){.items = heap->roots, .count = heap->nroots});
	return ok || gh_fail_memory(err, heap->dump->path);
}
