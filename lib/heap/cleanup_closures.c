#include "lib/heap/internal.h"

#include <string.h>

#include "lib/util/bsearch.h"

struct entries GH_VECTOR(uint64_t);

/* NAME is that of the closure in an instance of runtime.AddCleanup (src/runtime/mcleanup.go). */
static bool is_cleanup(const char *name)
{
	static const char start[] = "runtime.AddCleanup[", end[] = "].func1";
	size_t length = strlen(name);
	return length >= sizeof(start) + sizeof(end) - 2 &&
	       strncmp(name, start, sizeof(start) - 1) == 0 &&
	       strcmp(name + length - (sizeof(end) - 1), end) == 0;
}

/* Finds where such closures' code begins, ascending. */
static void find_entries(struct entries *entries, const struct gh_pclntab *tab)
{
	struct gh_func func;
	for (size_t i = 0; i < tab->nfunc; i++)
		if (gh_pclntab_record(tab, i, &func, NULL) &&
		    is_cleanup(gh_pclntab_name(tab, func.name)))
			gh_vector_push(entries, func.entry);
}

static bool has_entry(const struct entries *entries, uint64_t address)
{
	size_t at = gh_lower_bound(entries->count, i, entries->items[i] < address);
	return at < entries->count && entries->items[at] == address;
}

/* The first word of OBJECT. */
static uint64_t first_word(const struct gh_heap *heap, uint32_t object)
{
	struct gh_dump_record record;
	gh_dump_get(heap->dump, GH_DUMP_OBJECT, gh_heap_object(heap, object).number, &record);
	struct gh_cursor contents = gh_dump_bytes(heap->dump, record.object.contents);
	return gh_cursor_uint(&contents, heap->dump->word);
}

/* Nothing is known to point to OBJECT. */
static bool is_loose(const struct gh_heap *heap, uint32_t object)
{
	const uint32_t *referrers;
	const struct gh_root *roots;
	return gh_heap_referrers(heap, object, &referrers) == 0 &&
	       gh_heap_roots(heap, object, &roots) == 0;
}

bool gh_cleanups_add(struct gh_heap *heap, const struct gh_pclntab *tab, uint64_t bias,
		     struct gh_error *err)
{
	struct entries entries = {0};
	struct gh_roots found = {0};
	find_entries(&entries, tab);
	for (uint32_t i = 0; entries.count > 0 && i < heap->count; i++) {
		gh_heap_passed(heap, i);
		size_t number = gh_heap_object(heap, i).number;
		if (number > UINT32_MAX || !is_loose(heap, i) ||
		    !has_entry(&entries, first_word(heap, i) - bias))
			continue;
		struct gh_root root = {.object = i,
				       .number = (uint32_t)number,
				       .kind = GH_ROOT_CLEANUP_CLOSURE,
				       .conservative = true};
		gh_vector_push(&found, root);
	}
	for (size_t i = 0; found.count > 0 && i < heap->nroots; i++)
		gh_vector_push(&found, heap->roots[i]);
	bool failed = entries.failed || found.failed;
	gh_vector_free(&entries);
	if (failed || found.count == 0) {
		gh_vector_free(&found);
		return !failed || gh_fail_memory(err, heap->dump->path);
	}
	gh_roots_sort(&found);
	free(heap->roots);
	heap->roots = found.items;
	heap->nroots = found.count;
	return true;
}
