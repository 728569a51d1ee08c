#include "lib/heap/places.h"

#include <stdlib.h>

/* Number of the run at PLACE by address. */
static size_t run_at(const struct gh_places *places, uint32_t place)
{
	return places->extents->order[place];
}

static const struct gh_extent_run *runs(const struct gh_places *places)
{
	return (const struct gh_extent_run *)(const void *)places->extents->runs.data;
}

static struct gh_place_block *blocks(const struct gh_places *places)
{
	return (struct gh_place_block *)(void *)places->blocks.data;
}

static struct gh_place_segment *segments(const struct gh_places *places)
{
	return (struct gh_place_segment *)(void *)places->segments.data;
}

/* Where each run begins, and for each object near which. */
static bool number_runs(struct gh_places *places)
{
	uint32_t nruns = (uint32_t)places->extents->nruns;
	places->firsts = calloc((size_t)nruns + 1, sizeof(*places->firsts));
	places->hints = calloc(places->count / GH_PLACES_HINT + 1, sizeof(*places->hints));
	if (places->firsts == NULL || places->hints == NULL)
		return false;
	uint32_t next = 0;
	for (uint32_t place = 0; place < nruns; place++) {
		uint32_t first = next;
		places->firsts[place] = first;
		next += (uint32_t)gh_extents_run_length(places->extents, run_at(places, place));
		uint32_t hint = (first + GH_PLACES_HINT - 1) / GH_PLACES_HINT;
		for (; (uint64_t)hint * GH_PLACES_HINT < next; hint++)
			places->hints[hint] = place;
	}
	places->firsts[nruns] = next;
	return true;
}

/* Object NUMBER, which is in the run at PLACE or a later one. */
static struct gh_heap_object get_from(const struct gh_places *places, uint32_t number,
				      uint32_t place)
{
	while (places->firsts[place + 1] <= number)
		place++;
	size_t run = run_at(places, place), at = number - places->firsts[place];
	struct gh_extent extent = gh_extents_at(places->extents, run, at);
	return (struct gh_heap_object){
	    .address = extent.address,
	    .size = extent.size,
	    .offset = extent.offset,
	    .number = runs(places)[run].first + at,
	};
}

struct gh_heap_object gh_places_get(const struct gh_places *places, uint32_t number)
{
	return get_from(places, number, places->hints[number / GH_PLACES_HINT]);
}

/* What is known when the blocks up to some object have been made. */
struct making {
	struct gh_places *places;
	uint32_t number; /* of the next object */
	uint32_t run;    /* place of the run that the object before is in */
	uint64_t used;   /* blocks that objects lie in */
};

/* Adds COUNT blocks to the last segment. */
static bool add_blocks(const struct making *making, uint64_t count)
{
	struct gh_places *places = making->places;
	if (count > SIZE_MAX / sizeof(struct gh_place_block))
		return false;
	struct gh_place_block *block =
	    gh_buffer_extend(&places->blocks, (size_t)count * sizeof(*block));
	if (block == NULL)
		return false;
	for (uint64_t i = 0; i < count; i++)
		block[i] = (struct gh_place_block){.before = making->number, .run = making->run};
	segments(places)[places->nsegments - 1].count += count;
	return true;
}

static bool add_segment(struct gh_places *places, uint64_t first)
{
	struct gh_place_segment *segment = gh_buffer_extend(&places->segments, sizeof(*segment));
	if (segment == NULL)
		return false;
	size_t at = places->blocks.size / sizeof(struct gh_place_block);
	*segment = (struct gh_place_segment){.first = first, .at = at};
	places->nsegments++;
	return true;
}

/* Makes the blocks from the end of those there are up to number BLOCK. A gap is filled as long as
 * the gaps together do not outweigh what is between them. */
static bool reach(const struct making *making, uint64_t block)
{
	struct gh_places *places = making->places;
	uint64_t have = places->blocks.size / sizeof(struct gh_place_block);
	if (places->nsegments > 0) {
		const struct gh_place_segment *last = &segments(places)[places->nsegments - 1];
		uint64_t end = last->first + last->count;
		if (block < end)
			return true;
		if (have + (block - end) <= making->used + making->used / 4 + 1)
			return add_blocks(making, block - end + 1);
	}
	return add_segment(places, block) && add_blocks(making, 1);
}

/* Marks where EXTENT begins, which is in the run at place RUN, and makes the blocks that
 * it lies in. False if memory ran out. */
static bool mark(struct making *making, const struct gh_extent *extent, uint32_t run)
{
	struct gh_places *places = making->places;
	uint64_t first = extent->address / GH_PLACES_BLOCK;
	uint64_t length = extent->size > 0 ? extent->size - 1 : 0, end;
	if (__builtin_add_overflow(extent->address, length, &end))
		end = UINT64_MAX;
	uint64_t last = end / GH_PLACES_BLOCK;
	if (!reach(making, first))
		return false;
	const struct gh_place_segment *segment = &segments(places)[places->nsegments - 1];
	uint64_t bit = UINT64_C(1) << extent->address % GH_PLACES_BLOCK / GH_EXTENT_UNIT;
	struct gh_place_block *block = &blocks(places)[segment->at + (first - segment->first)];
	if (extent->address % GH_EXTENT_UNIT != 0 || (block->starts & bit) != 0)
		places->irregular = true;
	block->starts |= bit;
	making->number++;
	making->run = run;
	uint64_t blocks_end = segment->first + segment->count;
	making->used += last - first + 1;
	return last < blocks_end || add_blocks(making, last - blocks_end + 1);
}

static bool make_blocks(struct gh_places *places)
{
	struct making making = {.places = places};
	places->irregular = places->extents->overlapping > 0;
	uint32_t nruns = (uint32_t)places->extents->nruns;
	for (uint32_t place = 0; place < nruns; place++) {
		size_t run = run_at(places, place);
		size_t length = gh_extents_run_length(places->extents, run);
		for (size_t i = 0; i < length && !places->irregular; i++) {
			struct gh_extent extent = gh_extents_at(places->extents, run, i);
			if (!mark(&making, &extent, place))
				return false;
		}
	}
	if (places->irregular) {
		gh_buffer_free(&places->blocks);
		gh_buffer_free(&places->segments);
		places->nsegments = 0;
	}
	return true;
}

bool gh_places_make(struct gh_places *places, const struct gh_dump *dump, struct gh_error *err)
{
	*places = (struct gh_places){.extents = &dump->objects};
	if (dump->objects.count >= GH_HEAP_NONE)
		return gh_fail(err, dump->path, GH_NO_OFFSET, "fewer than 2^32-1 objects", "%zu",
			       dump->objects.count);
	places->count = (uint32_t)dump->objects.count;
	return (number_runs(places) && make_blocks(places)) ||
	       gh_fail(err, dump->path, GH_NO_OFFSET, "memory for its objects", "none");
}

void gh_places_free(struct gh_places *places)
{
	free(places->firsts);
	free(places->hints);
	gh_buffer_free(&places->blocks);
	gh_buffer_free(&places->segments);
	*places = (struct gh_places){0};
}

/* The block that ADDRESS is in; NULL if there is none. */
static const struct gh_place_block *find_block(const struct gh_places *places, uint64_t address)
{
	uint64_t block = address / GH_PLACES_BLOCK;
	size_t low = 0, high = places->nsegments;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (segments(places)[middle].first <= block)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	const struct gh_place_segment *segment = &segments(places)[low - 1];
	if (block - segment->first >= segment->count)
		return NULL;
	return &blocks(places)[segment->at + (block - segment->first)];
}

/* The last object that begins at ADDRESS or before; GH_HEAP_NONE if there is none. */
static uint32_t search(const struct gh_places *places, uint64_t address)
{
	uint32_t low = 0, high = places->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (gh_places_get(places, middle).address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

uint32_t gh_places_find(const struct gh_places *places, uint64_t address)
{
	struct gh_heap_object object;
	uint32_t number;
	if (places->irregular) {
		number = search(places, address);
		if (number == GH_HEAP_NONE)
			return GH_HEAP_NONE;
		object = gh_places_get(places, number);
	} else {
		const struct gh_place_block *block = find_block(places, address);
		if (block == NULL)
			return GH_HEAP_NONE;
		unsigned bit = address % GH_PLACES_BLOCK / GH_EXTENT_UNIT;
		uint64_t upto = block->starts & (UINT64_MAX >> (63 - bit));
		number = block->before + (uint32_t)__builtin_popcountll(upto) - 1;
		if (number == GH_HEAP_NONE)
			return GH_HEAP_NONE;
		object = get_from(places, number, block->run);
	}
	return address - object.address < object.size ? number : GH_HEAP_NONE;
}
