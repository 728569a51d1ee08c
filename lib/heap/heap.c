#include "lib/heap/heap.h"

#include <stdlib.h>
#include <string.h>

/* POINTER should point to an object, but does not. */
static bool is_dangling(const struct gh_heap *heap, const struct gh_pointer *pointer)
{
	struct gh_cursor memory;
	const struct gh_dump_params *params = &heap->dump->params;
	return pointer->value >= params->heap_start && pointer->value < params->heap_end &&
	       !gh_dump_memory(heap->dump, pointer->value, &memory);
}

/* Adds what OBJECT points to to LIST. False if memory ran out. */
static bool add_targets(struct gh_heap *heap, uint32_t object, struct gh_buffer *list)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_pointers_start(heap, object, &walk);
	heap->damage.empty += gh_cursor_size(&walk.contents) == 0;
	while (gh_pointers_next(&walk, &pointer)) {
		if (pointer.target == GH_HEAP_NONE) {
			heap->damage.dangling += is_dangling(heap, &pointer);
			continue;
		}
		uint32_t *place = gh_buffer_extend(list, sizeof(*place));
		if (place == NULL)
			return false;
		*place = pointer.target;
	}
	heap->damage.outside += walk.fields.beyond;
	heap->damage.unknown += walk.unknown;
	return true;
}

/* Makes the lists of BLOCK. */
static bool make_block(struct gh_heap *heap, uint32_t block)
{
	struct gh_buffer list = {0};
	uint32_t object = block * GH_LISTS_BLOCK;
	for (uint32_t i = 0; i < GH_LISTS_BLOCK && object < heap->count; i++, object++) {
		if (!add_targets(heap, object, &list) ||
		    list.size / sizeof(uint32_t) > UINT32_MAX) {
			gh_buffer_free(&list);
			return false;
		}
		heap->targets.ends[object] = (uint32_t)(list.size / sizeof(uint32_t));
	}
	heap->targets.entries += list.size / sizeof(uint32_t);
	heap->targets.blocks[block] = malloc(list.size + 1);
	if (heap->targets.blocks[block] != NULL && list.size > 0)
		memcpy(heap->targets.blocks[block], list.data, list.size);
	gh_buffer_free(&list);
	return heap->targets.blocks[block] != NULL;
}

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

static bool make_edges(struct gh_heap *heap)
{
	if (!gh_lists_make(&heap->targets, heap->count))
		return false;
	for (uint32_t block = 0; block < gh_lists_nblocks(&heap->targets); block++)
		if (!make_block(heap, block))
			return false;
	return gh_lists_reverse(&heap->referrers, &heap->targets);
}

bool gh_heap_build(struct gh_heap *heap, const struct gh_dump *dump, struct gh_error *err)
{
	*heap = (struct gh_heap){.dump = dump};
	bool ok = gh_places_make(&heap->places, dump, err);
	heap->count = heap->places.count;
	if (ok && (!make_edges(heap) || !find_roots(heap)))
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
	*roots = heap->roots + first;
	return first_root(heap, (uint64_t)object + 1) - first;
}

void gh_pointers_start(const struct gh_heap *heap, uint32_t object, struct gh_pointers *walk)
{
	struct gh_dump_record record;
	struct gh_cursor cur = heap->dump->file;
	gh_cursor_seek(&cur, gh_places_get(&heap->places, object).offset);
	gh_dump_record_read(&cur, heap->dump->format, &record);
	gh_pointers_of(heap->dump, &heap->places, &record, walk);
}

uint64_t gh_heap_offset(const struct gh_heap *heap, uint32_t object, uint32_t target)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_pointers_start(heap, object, &walk);
	return gh_pointers_next_to(&walk, target, &pointer) ? pointer.offset : 0;
}
