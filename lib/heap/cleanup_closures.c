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

/* ROOT, whose record is read, is of a cleanup that waits for its object to die: the dump was made
 * of a process. */
static bool is_recorded(const struct gh_heap *heap, const struct gh_root *root,
			struct gh_dump_record *record)
{
	if (root->kind != GH_ROOT_OTHER)
		return false;
	gh_dump_get(heap->dump, GH_DUMP_OTHER_ROOT, root->number, record);
	return gh_dump_is_cleanup(heap->dump, &record->other_root);
}

/* Adds the root that OBJECT, the closure of a cleanup, has by that to FOUND, unless something else
 * points to it; or has the one that was recorded be of that kind. */
static void add_closure(struct gh_heap *heap, uint32_t object, struct gh_roots *found)
{
	const struct gh_root *roots;
	struct gh_dump_record record;
	size_t number = gh_heap_object(heap, object).number;
	size_t nroots = gh_heap_roots(heap, object, &roots);
	if (number > UINT32_MAX)
		return;
	struct gh_root root = {.object = object,
			       .number = (uint32_t)number,
			       .kind = GH_ROOT_CLEANUP_CLOSURE,
			       .conservative = nroots == 0};
	if (nroots == 0)
		gh_vector_push(found, root);
	else if (nroots == 1 && is_recorded(heap, roots, &record) &&
		 record.other_root.description.size == strlen(GH_DUMP_CLEANUP))
		heap->roots[roots - heap->roots] = root;
}

bool gh_cleanups_add(struct gh_heap *heap, const struct gh_pclntab *tab, uint64_t bias,
		     struct gh_error *err)
{
	struct entries entries = {0};
	struct gh_roots found = {0};
	const uint32_t *referrers;
	find_entries(&entries, tab);
	for (uint32_t i = 0; entries.count > 0 && i < heap->count; i++) {
		gh_heap_passed(heap, i);
		if (gh_heap_referrers(heap, i, &referrers) == 0 &&
		    has_entry(&entries, first_word(heap, i) - bias))
			add_closure(heap, i, &found);
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

/* The word at ADDRESS, of the dump or the program; 0 if neither has it. */
static uint64_t word_at(const struct gh_heap *heap, const struct gh_pclntab *tab, uint64_t bias,
			uint64_t address)
{
	struct gh_cursor cur;
	if (!gh_dump_memory(heap->dump, address, &cur) &&
	    !gh_image_at(tab->image, address - bias, &cur))
		return 0;
	return gh_cursor_uint(&cur, heap->dump->word);
}

/* Where the function begins whose closure is at ADDRESS; 0 if none is. */
static uint64_t entry_of(const struct gh_heap *heap, const struct gh_pclntab *tab, uint64_t bias,
			 uint64_t address)
{
	struct gh_func func;
	uint64_t entry = word_at(heap, tab, bias, address);
	return entry != 0 && gh_pclntab_at(tab, entry - bias, &func) ? entry : 0;
}

bool gh_cleanup_of(struct gh_cleanup *cleanup, const struct gh_heap *heap,
		   const struct gh_pclntab *tab, uint64_t bias, const struct gh_root *root)
{
	struct gh_dump_record record;
	struct gh_heap_object object = gh_heap_object(heap, root->object);
	unsigned word = heap->dump->word;
	*cleanup = (struct gh_cleanup){.argument = object.address};
	if (is_recorded(heap, root, &record) && root->number > 0) {
		gh_dump_get(heap->dump, GH_DUMP_OTHER_ROOT, root->number - 1, &record);
		cleanup->entry = entry_of(heap, tab, bias, record.other_root.pointer);
	}
	/* The function and where its argument is follow the closure's own code. */
	for (uint64_t at = word; root->kind == GH_ROOT_CLEANUP_CLOSURE && cleanup->entry == 0 &&
				 at + word < object.size;
	     at += word) {
		uint64_t closure = word_at(heap, tab, bias, object.address + at);
		cleanup->entry = entry_of(heap, tab, bias, closure);
		cleanup->argument = word_at(heap, tab, bias, object.address + at + word);
	}
	return cleanup->entry != 0;
}
