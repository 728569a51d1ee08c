#include "lib/dump/internal.h"

#include <stdlib.h>

#include "lib/util/bsearch.h"

size_t gh_extents_run_length(const struct gh_extents *extents, size_t run)
{
	size_t end = run + 1 < extents->runs.count ? extents->runs.items[run + 1].first
						   : extents->items.count;
	return end - extents->runs.items[run].first;
}

static uint64_t address_of(const struct gh_extent_run *run, const struct gh_extent_item *item)
{
	return run->address + item->address * (uint64_t)GH_EXTENT_UNIT;
}

/* The extent at PLACE in run number RUN. */
static struct gh_extent get(const struct gh_extents *extents, size_t run, size_t place)
{
	const struct gh_extent_run *in = &extents->runs.items[run];
	const struct gh_extent_item *item = &extents->items.items[in->first + place];
	return (struct gh_extent){
	    .address = address_of(in, item),
	    .size = in->size,
	    .offset = in->offset + item->offset,
	};
}

/* One past EXTENT, or the last address. */
static uint64_t end_of(const struct gh_extent *extent)
{
	uint64_t end;
	return __builtin_add_overflow(extent->address, extent->size, &end) ? UINT64_MAX : end;
}

static bool add_run(struct gh_extents *extents, const struct gh_extent *extent, size_t first)
{
	struct gh_extent_run run = {extent->address, extent->offset, extent->size, first};
	extents->last = run;
	return gh_vector_push(&extents->runs, run);
}

bool gh_extents_add_slowly(struct gh_extents *extents, const struct gh_extent *extent)
{
	if (!add_run(extents, extent, extents->items.count))
		return false;
	return gh_extents_add_to_run(extents, extent);
}

/* By address, then in the order they came. */
static bool before(const struct gh_extent_run *run, size_t a, size_t b)
{
	return run[a].address != run[b].address ? run[a].address < run[b].address : a < b;
}

/* Moves what is at PLACE down to where it belongs in the heap of COUNT runs. */
static void sift(const struct gh_extent_run *run, size_t *heap, size_t place, size_t count)
{
	size_t moved = heap[place];
	for (;;) {
		size_t child = 2 * place + 1;
		if (child >= count)
			break;
		if (child + 1 < count && before(run, heap[child], heap[child + 1]))
			child++;
		if (!before(run, moved, heap[child]))
			break;
		heap[place] = heap[child];
		place = child;
	}
	heap[place] = moved;
}

/* Heap sort: qsort would want as much memory again. */
static void sort(const struct gh_extent_run *run, size_t *order, size_t count)
{
	for (size_t i = count / 2; i > 0; i--)
		sift(run, order, i - 1, count);
	for (size_t i = count; i > 1; i--) {
		size_t last = order[i - 1];
		order[i - 1] = order[0];
		order[0] = last;
		sift(run, order, 0, i - 1);
	}
}

static bool sort_runs(struct gh_extents *extents)
{
	const struct gh_extent_run *run = extents->runs.items;
	free(extents->order);
	extents->order = calloc(extents->runs.count + 1, sizeof(*extents->order));
	if (extents->order == NULL)
		return false;
	bool sorted = true;
	for (size_t i = 0; i < extents->runs.count; i++) {
		extents->order[i] = i;
		sorted = sorted && (i == 0 || before(run, i - 1, i));
	}
	if (!sorted)
		sort(run, extents->order, extents->runs.count);
	return true;
}

/* The extents that begin within what came before them by address. */
static size_t count_overlapping(const struct gh_extents *extents)
{
	struct gh_extent_walk walk = {0};
	struct gh_extent extent;
	uint64_t end = 0;
	size_t overlapping = 0;
	while (gh_extents_next(extents, &walk, &extent)) {
		overlapping += extent.address < end;
		if (end_of(&extent) > end)
			end = end_of(&extent);
	}
	return overlapping;
}

/* Some run begins before the one before it ends. */
static bool interleaved(const struct gh_extents *extents)
{
	for (size_t i = 1; i < extents->runs.count; i++) {
		size_t run = extents->order[i - 1];
		struct gh_extent last = get(extents, run, gh_extents_run_length(extents, run) - 1);
		if (extents->runs.items[extents->order[i]].address < end_of(&last))
			return true;
	}
	return false;
}

/* Makes each extent a run. */
static bool split_runs(struct gh_extents *extents)
{
	struct gh_extents split = {0};
	bool ok = true;
	for (size_t i = 0; ok && i < extents->items.count; i++) {
		struct gh_extent extent = gh_extents_get(extents, i);
		ok = add_run(&split, &extent, i);
	}
	gh_vector_free(&extents->runs);
	extents->runs.items = split.runs.items;
	extents->runs.count = split.runs.count;
	extents->runs.capacity = split.runs.capacity;
	for (size_t i = 0; i < extents->items.count; i++)
		extents->items.items[i] = (struct gh_extent_item){0};
	return ok;
}

bool gh_extents_finish(struct gh_extents *extents)
{
	if (!sort_runs(extents))
		return false;
	if (!interleaved(extents))
		return true;
	/* Not as a heap is. */
	if (!split_runs(extents) || !sort_runs(extents))
		return false;
	extents->overlapping = count_overlapping(extents);
	return true;
}

struct gh_extent gh_extents_get(const struct gh_extents *extents, size_t number)
{
	const struct gh_extent_run *run = extents->runs.items;
	/* The first run has number 0. */
	size_t found = gh_lower_bound(extents->runs.count, i, run[i].first <= number) - 1;
	return get(extents, found, number - run[found].first);
}

/* The place in the order of the last run that begins at ADDRESS or before; SIZE_MAX if there is
 * none. */
static size_t find_run(const struct gh_extents *extents, uint64_t address)
{
	const struct gh_extent_run *run = extents->runs.items;
	return gh_lower_bound(extents->runs.count, i, run[extents->order[i]].address <= address) -
	       1;
}

size_t gh_extents_find(const struct gh_extents *extents, uint64_t address)
{
	size_t place = find_run(extents, address);
	if (place == SIZE_MAX)
		return GH_NO_EXTENT;
	const struct gh_extent_run *run = &extents->runs.items[extents->order[place]];
	const struct gh_extent_item *item = extents->items.items + run->first;
	size_t count = gh_extents_run_length(extents, extents->order[place]);
	size_t after = gh_lower_bound(count, i, address_of(run, &item[i]) <= address);
	if (after == 0 || address - address_of(run, &item[after - 1]) >= run->size)
		return GH_NO_EXTENT;
	return run->first + after - 1;
}

bool gh_extents_next(const struct gh_extents *extents, struct gh_extent_walk *walk,
		     struct gh_extent *extent)
{
	if (walk->run == extents->runs.count)
		return false;
	size_t run = extents->order[walk->run];
	*extent = get(extents, run, walk->place);
	if (++walk->place == gh_extents_run_length(extents, run)) {
		walk->run++;
		walk->place = 0;
	}
	return true;
}

void gh_extents_free(struct gh_extents *extents)
{
	gh_vector_free(&extents->items);
	gh_vector_free(&extents->runs);
	free(extents->order);
	*extents = (struct gh_extents){0};
}
