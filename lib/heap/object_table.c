#include "lib/heap/heap.h"

#include <stdlib.h>

#include "lib/heap/internal.h"
#include "lib/util/bsearch.h"

/* Starts a run of objects, the first of which is record NUMBER; they are part of OF. */
static bool add_run(struct gh_object_table *table, const struct gh_extent_run *of, size_t number)
{
	struct gh_object_run run = {of->address, of->size, of->offset, number, table->count};
	return gh_vector_push(&table->runs, run);
}

static void add_objects(struct gh_object_table *table, const struct gh_extent_run *of, size_t count)
{
	table->count += (uint32_t)count;
	table->bytes += count * of->size;
}

/* Adds the COUNT objects of OF that are no span_tails. */
static bool add_real(struct gh_object_table *table, const struct gh_extent_run *of, size_t count,
		     struct gh_span_tails *span_tails)
{
	bool ended = true;
	for (size_t number = of->first; number < of->first + count; number++) {
		const struct gh_extent_item *item = &table->items[number];
		const struct gh_extent object = {
		    .address = of->address + item->address * (uint64_t)GH_EXTENT_UNIT,
		    .size = of->size,
		    .offset = of->offset + item->offset,
		};
		if (gh_span_tails_is(span_tails, &object)) {
			table->span_tails++;
			ended = true;
			continue;
		}
		if (ended && !add_run(table, of, number))
			return false;
		ended = false;
		add_objects(table, of, 1);
	}
	return true;
}

/* Numbers the objects, in runs by address. */
static bool number_objects(struct gh_object_table *table, const struct gh_dump *dump)
{
	const struct gh_extents *extents = &dump->objects;
	struct gh_span_tails span_tails = gh_span_tails_start(dump);
	table->items = extents->items.items;
	for (size_t i = 0; i < extents->runs.count; i++) {
		const struct gh_extent_run *run = &extents->runs.items[extents->order[i]];
		size_t count = gh_extents_run_length(extents, extents->order[i]);
		if (run->size <= span_tails.max_size) {
			if (!add_real(table, run, count, &span_tails))
				return false;
			continue;
		}
		if (!add_run(table, run, run->first))
			return false;
		add_objects(table, run, count);
	}
	return add_run(table, &(struct gh_extent_run){0}, 0);
}

/* Notes which run every so many objects are in. */
static bool make_hints(struct gh_object_table *table)
{
	table->hints = calloc(table->count / GH_OBJECT_TABLE_HINT + 1, sizeof(*table->hints));
	if (table->hints == NULL)
		return false;
	uint32_t run = 0;
	for (uint64_t first = 0; first < table->count; first += GH_OBJECT_TABLE_HINT) {
		while (table->runs.items[run + 1].first <= first)
			run++;
		table->hints[first / GH_OBJECT_TABLE_HINT] = run;
	}
	return true;
}

/* Object NUMBER, which is in RUN or a later one. */
static struct gh_heap_object get_from(const struct gh_object_table *table, uint32_t number,
				      const struct gh_object_run *run)
{
	while (run[1].first <= number)
		run++;
	size_t record = run->number + (number - run->first);
	const struct gh_extent_item *item = &table->items[record];
	return (struct gh_heap_object){
	    .address = run->address + item->address * (uint64_t)GH_EXTENT_UNIT,
	    .size = run->size,
	    .offset = run->offset + item->offset,
	    .number = record,
	};
}

struct gh_heap_object gh_object_table_get(const struct gh_object_table *table, uint32_t number)
{
	return get_from(table, number,
			&table->runs.items[table->hints[number / GH_OBJECT_TABLE_HINT]]);
}

/* What is known when the blocks up to some object have been made. */
struct making {
	struct gh_object_table *table;
	uint32_t number; /* of the next object */
	uint32_t run;    /* that the object before is in */
	uint64_t used;   /* blocks that objects lie in */
};

/* Adds COUNT blocks to the last segment. */
static bool add_blocks(const struct making *making, uint64_t count)
{
	struct gh_object_table *table = making->table;
	if (count > SIZE_MAX)
		return false;
	struct gh_object_block *block = gh_vector_extend(&table->blocks, (size_t)count);
	if (block == NULL)
		return false;
	for (uint64_t i = 0; i < count; i++)
		block[i] = (struct gh_object_block){.before = making->number, .run = making->run};
	table->segments.items[table->segments.count - 1].count += count;
	return true;
}

static bool add_segment(struct gh_object_table *table, uint64_t first)
{
	struct gh_object_segment segment = {.first = first, .at = table->blocks.count};
	return gh_vector_push(&table->segments, segment);
}

/* Makes the blocks from the end of those there are up to number BLOCK. A gap is filled as long as
 * the gaps together are small against what is between them. */
static bool reach(const struct making *making, uint64_t block)
{
	struct gh_object_table *table = making->table;
	uint64_t have = table->blocks.count;
	if (table->segments.count > 0) {
		const struct gh_object_segment *last =
		    &table->segments.items[table->segments.count - 1];
		uint64_t end = last->first + last->count;
		if (block < end)
			return true;
		if (have + (block - end) <= making->used + making->used / 4 + 1)
			return add_blocks(making, block - end + 1);
	}
	return add_segment(table, block) && add_blocks(making, 1);
}

/* Makes the blocks that OBJECT, which is in RUN, lies in, and marks where it begins. False if
 * memory ran out. */
static bool mark(struct making *making, const struct gh_heap_object *object, uint32_t run)
{
	struct gh_object_table *table = making->table;
	uint64_t first = object->address / GH_OBJECT_TABLE_BLOCK;
	uint64_t length = object->size > 0 ? object->size - 1 : 0, end;
	if (__builtin_add_overflow(object->address, length, &end))
		end = UINT64_MAX;
	uint64_t last = end / GH_OBJECT_TABLE_BLOCK;
	if (!reach(making, first))
		return false;
	const struct gh_object_segment *segment = &table->segments.items[table->segments.count - 1];
	uint64_t bit = UINT64_C(1) << object->address % GH_OBJECT_TABLE_BLOCK / GH_EXTENT_UNIT;
	struct gh_object_block *block =
	    &table->blocks.items[segment->at + (first - segment->first)];
	if (object->address % GH_EXTENT_UNIT != 0 || (block->starts & bit) != 0)
		table->irregular = true;
	block->starts |= bit;
	making->number++;
	making->run = run;
	making->used += last - first + 1;
	uint64_t blocks_end = segment->first + segment->count;
	return last < blocks_end || add_blocks(making, last - blocks_end + 1);
}

static bool make_blocks(struct gh_object_table *table)
{
	struct making making = {.table = table};
	uint32_t run = 0;
	while (making.number < table->count && !table->irregular) {
		while (table->runs.items[run + 1].first <= making.number)
			run++;
		struct gh_heap_object object =
		    get_from(table, making.number, &table->runs.items[run]);
		if (!mark(&making, &object, run))
			return false;
	}
	if (table->irregular) {
		gh_vector_free(&table->blocks);
		gh_vector_free(&table->segments);
	}
	return true;
}

bool gh_object_table_make(struct gh_object_table *table, const struct gh_dump *dump,
			  struct gh_error *err)
{
	const struct gh_extents *objects = &dump->objects;
	*table = (struct gh_object_table){.irregular = objects->overlapping > 0};
	if (objects->items.count >= GH_HEAP_NONE)
		return gh_fail(err, dump->path, GH_NO_OFFSET, "fewer than 2^32-1 objects", "%zu",
			       objects->items.count);
	return (number_objects(table, dump) && make_hints(table) && make_blocks(table)) ||
	       gh_fail_memory(err, dump->path);
}

void gh_object_table_free(struct gh_object_table *table)
{
	gh_vector_free(&table->runs);
	free(table->hints);
	gh_vector_free(&table->blocks);
	gh_vector_free(&table->segments);
	*table = (struct gh_object_table){0};
}

/* The block that ADDRESS is in; NULL if there is none. */
static const struct gh_object_block *find_block(const struct gh_object_table *table,
						uint64_t address)
{
	uint64_t block = address / GH_OBJECT_TABLE_BLOCK;
	const struct gh_object_segment *all = table->segments.items;
	size_t after = gh_lower_bound(table->segments.count, i, all[i].first <= block);
	if (after == 0)
		return NULL;
	const struct gh_object_segment *segment = &all[after - 1];
	if (block - segment->first >= segment->count)
		return NULL;
	return &table->blocks.items[segment->at + (block - segment->first)];
}

/* The object that holds ADDRESS, which is in BLOCK. */
static uint32_t find_in(const struct gh_object_table *table, const struct gh_object_block *block,
			uint64_t address)
{
	unsigned bit = address % GH_OBJECT_TABLE_BLOCK / GH_EXTENT_UNIT;
	uint64_t starts = block->starts & (UINT64_MAX >> (63 - bit));
	uint32_t number = block->before + (uint32_t)__builtin_popcountll(starts) - 1;
	if (number == GH_HEAP_NONE)
		return GH_HEAP_NONE;
	const struct gh_object_run *run = &table->runs.items[block->run];
	while (run[1].first <= number)
		run++;
	/* Most begin in the block: then nothing else has to be looked at. */
	uint64_t start = address - address % GH_OBJECT_TABLE_BLOCK;
	if (starts != 0)
		start += (63 - (uint64_t)__builtin_clzll(starts)) * GH_EXTENT_UNIT;
	else
		start = get_from(table, number, run).address;
	return address - start < run->size ? number : GH_HEAP_NONE;
}

/* The object that holds ADDRESS, by the objects themselves. */
static uint32_t search(const struct gh_object_table *table, uint64_t address)
{
	uint32_t after =
	    gh_lower_bound(table->count, i, gh_object_table_get(table, i).address <= address);
	if (after == 0)
		return GH_HEAP_NONE;
	struct gh_heap_object object = gh_object_table_get(table, after - 1);
	return address - object.address < object.size ? after - 1 : GH_HEAP_NONE;
}

uint32_t gh_object_table_find(const struct gh_object_table *table, uint64_t address)
{
	if (table->irregular)
		return search(table, address);
	const struct gh_object_block *block = find_block(table, address);
	return block != NULL ? find_in(table, block, address) : GH_HEAP_NONE;
}
