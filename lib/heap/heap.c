#include "lib/heap/heap.h"

#include <stdlib.h>

#include "lib/heap/edges.h"

static bool find_roots(struct gh_heap *heap)
{
	struct gh_buffer roots = {0};
	if (!gh_roots_find(heap->dump, &heap->places, &roots, &heap->damage.roots)) {
		gh_buffer_free(&roots);
		return false;
	}
	heap->roots = (struct gh_root *)(void *)roots.data;
	heap->nroots = roots.size / sizeof(*heap->roots);
	return true;
}

bool gh_heap_build(struct gh_heap *heap, const struct gh_dump *dump, struct gh_error *err)
{
	*heap = (struct gh_heap){.dump = dump};
	bool ok = gh_places_make(&heap->places, dump, err);
	heap->count = heap->places.count;
	heap->bytes = heap->places.bytes;
	if (ok && (!gh_edges_make(heap) || !gh_lists_reverse(&heap->referrers, &heap->targets) ||
		   !find_roots(heap)))
		ok = gh_fail(err, dump->path, GH_NO_OFFSET, "memory for its graph", "none");
	if (!ok)
		gh_heap_free(heap);
	return ok;
}

void gh_heap_free(struct gh_heap *heap)
{
	gh_places_free(&heap->places);
	gh_lists_free(&heap->targets);
	gh_lists_free(&heap->referrers);
	free(heap->roots);
	*heap = (struct gh_heap){0};
}

uint32_t gh_heap_find(const struct gh_heap *heap, uint64_t address)
{
	return gh_places_find(&heap->places, address);
}

struct gh_heap_object gh_heap_object(const struct gh_heap *heap, uint32_t object)
{
	return gh_places_get(&heap->places, object);
}

size_t gh_heap_targets(const struct gh_heap *heap, uint32_t object, const uint32_t **targets)
{
	return gh_lists_get(&heap->targets, object, targets);
}

size_t gh_heap_referrers(const struct gh_heap *heap, uint32_t object, const uint32_t **referrers)
{
	return gh_lists_get(&heap->referrers, object, referrers);
}

/* The place of the first root that points to OBJECT or a later one. */
static size_t first_root(const struct gh_heap *heap, uint64_t object)
{
	size_t low = 0, high = heap->nroots;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (heap->roots[middle].object < object)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t gh_heap_roots(const struct gh_heap *heap, uint32_t object, const struct gh_root **roots)
{
	size_t first = first_root(heap, object);
	*roots = heap->roots != NULL ? heap->roots + first : NULL;
	return first_root(heap, (uint64_t)object + 1) - first;
}

void gh_heap_passed(const struct gh_heap *heap, uint32_t object)
{
	if (object % GH_LISTS_BLOCK == 0)
		gh_dump_input_release(&heap->dump->input, 0, UINT64_MAX);
}

void gh_pointers_start(const struct gh_heap *heap, uint32_t object, struct gh_pointers *walk)
{
	struct gh_dump_record record;
	struct gh_cursor cur = heap->dump->file;
	gh_cursor_seek(&cur, gh_places_get(&heap->places, object).offset);
	gh_dump_record_read_again(&cur, heap->dump->format, &record);
	gh_pointers_of(heap->dump, &heap->places, &record, walk);
}

uint64_t gh_heap_offset(const struct gh_heap *heap, uint32_t object, uint32_t target)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_pointers_start(heap, object, &walk);
	return gh_pointers_next_to(&walk, target, &pointer) ? pointer.offset : 0;
}
