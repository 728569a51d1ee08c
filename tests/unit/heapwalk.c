#include "tests/unit/heapwalk.h"

#include <stdlib.h>

#include "lib/heap/heap.h"

static void must(bool condition)
{
	if (!condition)
		abort();
}

/* Paths to all objects of a large heap would take long. */
#define MAX_PATHS 64

/* The pointers of OBJECT are its targets. */
static void walk_pointers(const struct gh_heap *heap, uint32_t object)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	const uint32_t *targets;
	size_t count = gh_heap_targets(heap, object, &targets), at = 0;
	uint64_t size = gh_heap_object(heap, object).size;
	gh_pointers_start(heap, object, &walk);
	while (gh_pointers_next(&walk, &pointer)) {
		must(heap->dump->word <= size && pointer.offset <= size - heap->dump->word);
		must(pointer.value != 0 || pointer.target == GH_HEAP_NONE);
		if (pointer.target != GH_HEAP_NONE) {
			must(pointer.target == gh_heap_find(heap, pointer.value));
			must(at < count && targets[at++] == pointer.target);
		}
	}
	must(at == count);
}

static void walk_objects(const struct gh_heap *heap)
{
	uint64_t before = 0, nreferrers = 0;
	for (uint32_t i = 0; i < heap->count; i++) {
		struct gh_heap_object object = gh_heap_object(heap, i);
		struct gh_dump_record record;
		must(object.address >= before);
		before = object.address;
		gh_dump_get(heap->dump, GH_DUMP_OBJECT, object.number, &record);
		must(record.offset == object.offset && record.object.address == object.address &&
		     record.object.contents.size == object.size);
		uint32_t found = gh_heap_find(heap, object.address);
		must(found != GH_HEAP_NONE || object.size == 0 || heap->table.irregular);
		must(found == i || object.size == 0 || heap->table.irregular);
		walk_pointers(heap, i);
		const uint32_t *referrers;
		size_t count = gh_heap_referrers(heap, i, &referrers);
		for (size_t j = 0; j < count; j++)
			must(referrers[j] < heap->count &&
			     (j == 0 || referrers[j - 1] < referrers[j]));
		nreferrers += count;
	}
	must(nreferrers == heap->referrers.entries && nreferrers <= heap->targets.entries);
}

/* A record's pointers are fewer than its bytes, and a frame's or an object's are added at most
 * twice.
 */
static void walk_roots(const struct gh_heap *heap)
{
	must(heap->nroots <= 3 * gh_cursor_size(&heap->dump->file));
	for (size_t i = 0; i < heap->nroots; i++) {
		const struct gh_root *root = &heap->roots[i], *roots;
		must(root->object < heap->count && root->kind < GH_ROOT_KINDS);
		must(i == 0 || root[-1].object <= root->object);
		must(root->number <
		     gh_dump_count(heap->dump, gh_root_record(heap->dump, root->kind)));
		size_t count = gh_heap_roots(heap, root->object, &roots);
		must(roots <= root && root < roots + count);
	}
}

static void walk_dominators(const struct gh_heap *heap, const struct gh_dominators *dominators)
{
	uint64_t bytes = 0, tops = 0;
	uint8_t *seen = calloc((size_t)heap->count + 1, 1);
	must(seen != NULL);
	seen[heap->count] = 1;
	for (uint32_t i = 0; i < dominators->nreachable; i++) {
		uint32_t object = dominators->order[i], idom = dominators->idom[object];
		must(object < heap->count && idom <= heap->count);
		must(!seen[object] && seen[idom]);
		seen[object] = 1;
		bytes += gh_heap_object(heap, object).size;
		tops += idom == heap->count ? dominators->retained[object] : 0;
		must(dominators->retained[object] <= dominators->retained[idom]);
	}
	must(bytes == tops && bytes == dominators->retained[heap->count]);
	for (uint32_t i = 0; i < heap->count; i++)
		must(seen[i] ||
		     (dominators->idom[i] == GH_HEAP_NONE && dominators->retained[i] == 0));
	free(seen);
}

/* The path to OBJECT goes through what dominates that. */
static void walk_path(const struct gh_heap *heap, const struct gh_dominators *dominators,
		      uint32_t object)
{
	struct gh_path path;
	struct gh_error err;
	bool reachable = dominators->idom[object] != GH_HEAP_NONE;
	must(gh_path_find(heap, object, &path, &err) == (reachable ? GH_PATH_FOUND : GH_PATH_NONE));
	if (!reachable)
		return;
	const struct gh_path_step *step = path.steps.items;
	must(path.root.object == step[0].object && step[path.steps.count - 1].object == object);
	uint32_t idom = dominators->idom[object];
	for (size_t i = path.steps.count; i > 0; i--)
		if (step[i - 1].object == idom)
			idom = dominators->idom[idom];
	must(idom == heap->count);
	gh_path_free(&path);
}

void heap_walk(const struct gh_heap *heap)
{
	struct gh_dominators dominators;
	struct gh_error err;
	walk_objects(heap);
	walk_roots(heap);
	must(gh_dominators_build(&dominators, heap, &err));
	walk_dominators(heap, &dominators);
	for (uint32_t i = 0; i < heap->count; i += heap->count / MAX_PATHS + 1)
		walk_path(heap, &dominators, i);
	gh_dominators_free(&dominators);
}
