#include "lib/heap/object_table.h"

#include <stdlib.h>

#include "lib/heap/span_tail.h"
#include "lib/util/bsearch.h"

static struct gh_object_block *blocks(const struct gh_object_table *places)
{
	return (struct gh_object_block *)(void *)places->blocks.data;
}

static const struct gh_object_run *run_at(const struct gh_object_table *places, uint32_t run)
{
	return (const struct gh_object_run *)(const void *)places->runs.data + run;
}

static struct gh_object_segment *segments(const struct gh_object_table *places)
{
	return (struct gh_object_segment *)(void *)places->segments.data;
}

/* Starts a run of objects, the first of which is record NUMBER; they are part of OF. */
static bool add_run(struct gh_object_table *places, const struct gh_extent_run *of, size_t number)
{
	struct gh_object_run *run = gh_buffer_extend(&places->runs, sizeof(*run));
	if (run != NULL)
		*run = (struct gh_object_run){of->address, of->size, of->offset, number,
					      places->count};
	return run != NULL;
}

static void add_objects(struct gh_object_table *places, const struct gh_extent_run *of,
			size_t count)
{
	places->count += (uint32_t)count;
	places->bytes += count * of->size;
}

/* Adds the COUNT objects of OF that are no span_tails. */
static bool add_real(struct gh_object_table *places, const struct gh_extent_run *of, size_t count,
		     struct gh_span_tails *span_tails)
{
	bool ended = true;
	for (size_t number = of->first; number < of->first + count; number++) {
		const struct gh_extent_item *item = &places->items[number];
		const struct gh_extent object = {
		    .address = of->address + item->address * (uint64_t)GH_EXTENT_UNIT,
		    .size = of->size,
		    .offset = of->offset + item->offset,
		};
		if (gh_span_tails_is(span_tails, &object)) {
			places->span_tails++;
			ended = true;
			continue;
		}
		if (ended && !add_run(places, of, number))
			return false;
		ended = false;
		add_objects(places, of, 1);
	}
	return true;
}

/* Numbers the objects, in runs by address. */
static bool number_objects(struct gh_object_table *places, const struct gh_dump *dump)
{
	const struct gh_extents *extents = &dump->objects;
	const struct gh_extent_run *runs = (const struct gh_extent_run *)(void *)extents->runs.data;
	struct gh_span_tails span_tails = gh_span_tails_start(dump);
	places->items = (const struct gh_extent_item *)(void *)extents->items.data;
	for (size_t i = 0; i < extents->nruns; i++) {
		const struct gh_extent_run *run = &runs[extents->order[i]];
		size_t count = gh_extents_run_length(extents, extents->order[i]);
		if (run->size <= span_tails.max_size) {
			if (!add_real(places, run, count, &span_tails))
				return false;
			continue;
		}
		if (!add_run(places, run, run->first))
			return false;
		add_objects(places, run, count);
	}
	return add_run(places, &(struct gh_extent_run){0}, 0);
}

/* Notes which run every so many objects are in. */
static bool make_hints(struct gh_object_table *places)
{
	places->hints = calloc(places->count / GH_OBJECT_TABLE_HINT + 1, sizeof(*places->hints));
	if (places->hints == NULL)
		return false;
	uint32_t run = 0;
	for (uint64_t first = 0; first < places->count; first += GH_OBJECT_TABLE_HINT) {
		while (run_at(places, run + 1)->first <= first)
			run++;
		places->hints[first / GH_OBJECT_TABLE_HINT] = run;
	}
	return true;
}

/* Object NUMBER, which is in RUN or a later one. */
static struct gh_heap_object get_from(const struct gh_object_table *places, uint32_t number,
				      const struct gh_object_run *run)
{
	while (run[1].first <= number)
		run++;
	size_t record = run->number + (number - run->first);
	const struct gh_extent_item *item = &places->items[record];
	return (struct gh_heap_object){
	    .address = run->address + item->address * (uint64_t)GH_EXTENT_UNIT,
	    .size = run->size,
	    .offset = run->offset + item->offset,
	    .number = record,
	};
}

struct gh_heap_object gh_object_table_get(const struct gh_object_table *places, uint32_t number)
{
	return get_from(places, number,
			run_at(places, places->hints[number / GH_OBJECT_TABLE_HINT]));
}

/* What is known when the blocks up to some object have been made. */
struct making {
	struct gh_object_table *places;
	uint32_t number; /* of the next object */
	uint32_t run;    /* that the object before is in */
	uint64_t used;   /* blocks that objects lie in */
};

/* Adds COUNT blocks to the last segment. */
static bool add_blocks(const struct making *making, uint64_t count)
{
	struct gh_object_table *places = making->places;
	if (count > SIZE_MAX / sizeof(struct gh_object_block))
		return false;
	struct gh_object_block *block =
	    gh_buffer_extend(&places->blocks, (size_t)count * sizeof(*block));
	if (block == NULL)
		return false;
	for (uint64_t i = 0; i < count; i++)
		block[i] = (struct gh_object_block){.before = making->number, .run = making->run};
	segments(places)[places->nsegments - 1].count += count;
	return true;
}

static bool add_segment(struct gh_object_table *places, uint64_t first)
{
	struct gh_object_segment *segment = gh_buffer_extend(&places->segments, sizeof(*segment));
	if (segment == NULL)
		return false;
	size_t at = places->blocks.size / sizeof(struct gh_object_block);
	*segment = (struct gh_object_segment){.first = first, .at = at};
	places->nsegments++;
	return true;
}

/* Makes the blocks from the end of those there are up to number BLOCK. A gap is filled as long as
 * the gaps together are small against what is between them. */
static bool reach(const struct making *making, uint64_t block)
{
	struct gh_object_table *places = making->places;
	uint64_t have = places->blocks.size / sizeof(struct gh_object_block);
	if (places->nsegments > 0) {
		const struct gh_object_segment *last = &segments(places)[places->nsegments - 1];
		uint64_t end = last->first + last->count;
		if (block < end)
			return true;
		if (have + (block - end) <= making->used + making->used / 4 + 1)
			return add_blocks(making, block - end + 1);
	}
	return add_segment(places, block) && add_blocks(making, 1);
}

/* Makes the blocks that OBJECT, which is in RUN, lies in, and marks where it begins. False if
 * memory ran out. */
static bool mark(struct making *making, const struct gh_heap_object *object, uint32_t run)
{
	struct gh_object_table *places = making->places;
	uint64_t first = object->address / GH_OBJECT_TABLE_BLOCK;
	uint64_t length = object->size > 0 ? object->size - 1 : 0, end;
	if (__builtin_add_overflow(object->address, length, &end))
		end = UINT64_MAX;
	uint64_t last = end / GH_OBJECT_TABLE_BLOCK;
	if (!reach(making, first))
		return false;
	const struct gh_object_segment *segment = &segments(places)[places->nsegments - 1];
	uint64_t bit = UINT64_C(1) << object->address % GH_OBJECT_TABLE_BLOCK / GH_EXTENT_UNIT;
	struct gh_object_block *block = &blocks(places)[segment->at + (first - segment->first)];
	if (object->address % GH_EXTENT_UNIT != 0 || (block->starts & bit) != 0)
		places->irregular = true;
	block->starts |= bit;
	making->number++;
	making->run = run;
	making->used += last - first + 1;
	uint64_t blocks_end = segment->first + segment->count;
	return last < blocks_end || add_blocks(making, last - blocks_end + 1);
}

static bool make_blocks(struct gh_object_table *places)
{
	struct making making = {.places = places};
	uint32_t run = 0;
	while (making.number < places->count && !places->irregular) {
		while (run_at(places, run + 1)->first <= making.number)
			run++;
		struct gh_heap_object object = get_from(places, making.number, run_at(places, run));
		if (!mark(&making, &object, run))
			return false;
	}
	if (places->irregular) {
		gh_buffer_free(&places->blocks);
		gh_buffer_free(&places->segments);
		places->nsegments = 0;
	}
	return true;
}

bool gh_object_table_make(struct gh_object_table *places, const struct gh_dump *dump,
			  struct gh_error *err)
{
	const struct gh_extents *objects = &dump->objects;
	*places = (struct gh_object_table){.irregular = objects->overlapping > 0};
	if (objects->count >= GH_HEAP_NONE)
		return gh_fail(err, dump->path, GH_NO_OFFSET, "fewer than 2^32-1 objects", "%zu",
			       objects->count);
	return (number_objects(places, dump) && make_hints(places) && make_blocks(places)) ||
	       gh_fail_memory(err, dump->path);
}

void gh_object_table_free(struct gh_object_table *places)
{
	gh_buffer_free(&places->runs);
	free(places->hints);
	gh_buffer_free(&places->blocks);
	gh_buffer_free(&places->segments);
	*places = (struct gh_object_table){0};
}

/* The block that ADDRESS is in; NULL if there is none. */
static const struct gh_object_block *find_block(const struct gh_object_table *places,
						uint64_t address)
{
	uint64_t block = address / GH_OBJECT_TABLE_BLOCK;
	const struct gh_object_segment *all = segments(places);
	size_t after = gh_lower_bound(places->nsegments, i, all[i].first <= block);
	if (after == 0)
		return NULL;
	const struct gh_object_segment *segment = &all[after - 1];
	if (block - segment->first >= segment->count)
		return NULL;
	return &blocks(places)[segment->at + (block - segment->first)];
}

/* The object that holds ADDRESS, which is in BLOCK. */
static uint32_t find_in(const struct gh_object_table *places, const struct gh_object_block *block,
			uint64_t address)
{
	unsigned bit = address % GH_OBJECT_TABLE_BLOCK / GH_EXTENT_UNIT;
	uint64_t starts = block->starts & (UINT64_MAX >> (63 - bit));
	uint32_t number = block->before + (uint32_t)__builtin_popcountll(starts) - 1;
	if (number == GH_HEAP_NONE)
		return GH_HEAP_NONE;
	const struct gh_object_run *run = run_at(places, block->run);
	while (run[1].first <= number)
		run++;
	/* Most begin in the block: then nothing else has to be looked at. */
	uint64_t start = address - address % GH_OBJECT_TABLE_BLOCK;
	if (starts != 0)
		start += (63 - (uint64_t)__builtin_clzll(starts)) * GH_EXTENT_UNIT;
	else
		start = get_from(places, number, run).address;
	return address - start < run->size ? number : GH_HEAP_NONE;
}

/* The object that holds ADDRESS, by the objects themselves. */
static uint32_t search(const struct gh_object_table *places, uint64_t address)
{
	uint32_t after =
	    gh_lower_bound(places->count, i, gh_object_table_get(places, i).address <= address);
	if (after == 0)
		return GH_HEAP_NONE;
	struct gh_heap_object object = gh_object_table_get(places, after - 1);
	return address - object.address < object.size ? after - 1 : GH_HEAP_NONE;
}

uint32_t gh_object_table_find(const struct gh_object_table *places, uint64_t address)
{
	if (places->irregular)
		return search(places, address);
	const struct gh_object_block *block = find_block(places, address);
	return block != NULL ? find_in(places, block, address) : GH_HEAP_NONE;
}
