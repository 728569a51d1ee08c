#include "lib/heap/internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/dump/dump.h"
#include "lib/util/bsearch.h"
#include "lib/util/parallel.h"

/* What several threads make, a block of objects at a time. */
struct making {
	struct gh_heap *heap;
	pthread_mutex_t lock; /* of the heap's damage and count of entries, and of: */
	bool failed;          /* memory ran out */
};

/* A block that is being made. */
struct block {
	const struct gh_heap *heap;
	uint8_t *with_fields;            /* the heap's */
	struct GH_VECTOR(uint32_t) list; /* what its objects point to */
	struct gh_heap_damage damage;
	uint64_t start, end; /* offsets in the file, before and after what was read */
};

/* Places in a runtime.g of Go 1.5 to 1.8, in words (src/runtime/runtime2.go). Its first two are
 * stack.lo and stack.hi. */
enum {
	G_STACK_ALLOC = 7, /* stackAlloc, the size of what was allocated from stack.lo on */
	G_STKBAR = 17,     /* stkbar, a slice of stack barriers, which lies there above stack.hi */
};

/* POINTER is the stkbar of a runtime.g, which WALK is over: a dump has stacks up to stack.hi. */
static bool is_stack_barriers(const struct gh_dump *dump, const struct gh_pointers *walk,
			      const struct gh_pointer *pointer)
{
	struct gh_cursor g = walk->contents;
	if (dump->format < GH_DUMP_1_5 || pointer->offset != (uint64_t)G_STKBAR * dump->word)
		return false;
	uint64_t low = gh_cursor_uint(&g, dump->word);
	uint64_t high = gh_cursor_uint(&g, dump->word);
	gh_cursor_seek(&g, (uint64_t)G_STACK_ALLOC * dump->word);
	uint64_t size = gh_cursor_uint(&g, dump->word);
	return high <= pointer->value && pointer->value - low < size;
}

/* POINTER, which WALK is at, should point to an object, but does not. Go 1.7 on 386 says that the
 * heap starts at 0: then nothing can be said. */
static bool is_dangling(const struct gh_dump *dump, const struct gh_pointers *walk,
			const struct gh_pointer *pointer)
{
	struct gh_cursor memory;
	return dump->params.heap_start != 0 && pointer->value >= dump->params.heap_start &&
	       pointer->value < dump->params.heap_end &&
	       !gh_dump_memory(dump, pointer->value, &memory) &&
	       !is_stack_barriers(dump, walk, pointer);
}

/* Adds what OBJECT points to to BLOCK. */
static void add_targets(struct block *block, uint32_t object)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_pointers_start(block->heap, object, &walk);
	block->damage.empty += gh_cursor_size(&walk.contents) == 0;
	struct gh_cursor list = walk.fields.cur;
	block->with_fields[object / 8] |= (uint8_t)((gh_cursor_u8(&list) != 0) << object % 8);
	while (gh_pointers_next(&walk, &pointer)) {
		if (pointer.target != GH_HEAP_NONE)
			gh_vector_push(&block->list, pointer.target);
		else if (pointer.value != 0)
			block->damage.dangling += is_dangling(block->heap->dump, &walk, &pointer);
	}
	block->damage.outside += walk.fields.beyond;
	block->damage.unknown += walk.unknown;
	if (walk.contents.offset < block->start)
		block->start = walk.contents.offset;
	if (gh_cursor_offset(&walk.fields.cur) > block->end)
		block->end = gh_cursor_offset(&walk.fields.cur);
}

/* Puts BLOCK, which is NUMBER, into the heap. */
static void finish_block(struct making *making, struct block *block, uint32_t number)
{
	struct gh_adjacency *targets = &making->heap->targets;
	struct gh_heap_damage *damage = &making->heap->damage;
	size_t count = block->list.count, size = count * sizeof(uint32_t);
	targets->blocks[number] = malloc(size + 1);
	pthread_mutex_lock(&making->lock);
	if (targets->blocks[number] == NULL || block->list.failed || count > UINT32_MAX)
		making->failed = true;
	else if (count > 0)
		memcpy(targets->blocks[number], block->list.items, size);
	targets->entries += count;
	damage->dangling += block->damage.dangling;
	damage->outside += block->damage.outside;
	damage->unknown += block->damage.unknown;
	damage->empty += block->damage.empty;
	pthread_mutex_unlock(&making->lock);
}

static void make_block(void *context, uint32_t number)
{
	struct making *making = context;
	struct gh_heap *heap = making->heap;
	struct block block = {.heap = heap, .with_fields = heap->with_fields, .start = UINT64_MAX};
	uint64_t first = (uint64_t)number * GH_ADJACENCY_BLOCK;
	for (uint64_t i = first; i < first + GH_ADJACENCY_BLOCK && i < heap->count; i++) {
		add_targets(&block, (uint32_t)i);
		heap->targets.ends[i] = (uint32_t)block.list.count;
	}
	finish_block(making, &block, number);
	gh_vector_free(&block.list);
	gh_dump_input_release(&heap->dump->input, block.start, block.end);
}

/* Fills the targets of HEAP, whose objects are known, and counts in its damage. False if memory ran
 * out. */
static bool make_targets(struct gh_heap *heap)
{
	struct making making = {.heap = heap, .lock = PTHREAD_MUTEX_INITIALIZER};
	heap->with_fields = calloc((size_t)heap->count / 8 + 1, 1);
	if (heap->with_fields == NULL || !gh_adjacency_make(&heap->targets, heap->count))
		return false;
	gh_parallel(gh_adjacency_nblocks(&heap->targets), make_block, &making);
	pthread_mutex_destroy(&making.lock);
	return !making.failed;
}

static bool find_roots(struct gh_heap *heap)
{
	struct gh_roots roots = {0};
	if (!gh_roots_find(heap->dump, &heap->table, &roots, &heap->damage.roots)) {
		gh_vector_free(&roots);
		return false;
	}
	heap->roots = roots.items;
	heap->nroots = roots.count;
	return true;
}

bool gh_heap_build(struct gh_heap *heap, const struct gh_dump *dump, struct gh_error *err)
{
	*heap = (struct gh_heap){.dump = dump};
	bool ok = gh_object_table_make(&heap->table, dump, err);
	heap->count = heap->table.count;
	heap->bytes = heap->table.bytes;
	if (ok && (!make_targets(heap) || !gh_adjacency_reverse(&heap->referrers, &heap->targets) ||
		   !find_roots(heap)))
		ok = gh_fail_memory(err, dump->path);
	if (!ok)
		gh_heap_free(heap);
	return ok;
}

void gh_heap_free(struct gh_heap *heap)
{
	gh_object_table_free(&heap->table);
	gh_adjacency_free(&heap->targets);
	gh_adjacency_free(&heap->referrers);
	free(heap->with_fields);
	free(heap->roots);
	*heap = (struct gh_heap){0};
}

uint64_t gh_heap_go_bytes(const struct gh_heap *heap)
{
	uint64_t bytes = heap->bytes;
	for (uint32_t i = 0; i < heap->count && heap->dump->c_memory.count > 0; i++) {
		struct gh_heap_object object = gh_heap_object(heap, i);
		bytes -= gh_dump_is_c(heap->dump, object.address) ? object.size : 0;
	}
	return bytes;
}

uint32_t gh_heap_find(const struct gh_heap *heap, uint64_t address)
{
	return gh_object_table_find(&heap->table, address);
}

struct gh_heap_object gh_heap_object(const struct gh_heap *heap, uint32_t object)
{
	return gh_object_table_get(&heap->table, object);
}

size_t gh_heap_targets(const struct gh_heap *heap, uint32_t object, const uint32_t **targets)
{
	return gh_adjacency_get(&heap->targets, object, targets);
}

size_t gh_heap_referrers(const struct gh_heap *heap, uint32_t object, const uint32_t **referrers)
{
	return gh_adjacency_get(&heap->referrers, object, referrers);
}

/* The place of the first root that points to OBJECT or a later one. */
static size_t first_root(const struct gh_heap *heap, uint64_t object)
{
	return gh_lower_bound(heap->nroots, i, heap->roots[i].object < object);
}

size_t gh_heap_roots(const struct gh_heap *heap, uint32_t object, const struct gh_root **roots)
{
	size_t first = first_root(heap, object);
	*roots = heap->roots != NULL ? heap->roots + first : NULL;
	return first_root(heap, (uint64_t)object + 1) - first;
}

void gh_heap_passed(const struct gh_heap *heap, uint32_t object)
{
	if (object % GH_ADJACENCY_BLOCK == 0)
		gh_dump_input_release(&heap->dump->input, 0, UINT64_MAX);
}

void gh_pointers_start(const struct gh_heap *heap, uint32_t object, struct gh_pointers *walk)
{
	struct gh_dump_record record;
	struct gh_cursor cur = heap->dump->file;
	gh_cursor_seek(&cur, gh_object_table_get(&heap->table, object).offset);
	gh_dump_record_read_again(&cur, heap->dump->format, &record);
	gh_pointers_of(heap->dump, &heap->table, &record, walk);
}

uint64_t gh_heap_offset(const struct gh_heap *heap, uint32_t object, uint32_t target)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_pointers_start(heap, object, &walk);
	return gh_pointers_next_to(&walk, target, &pointer) ? pointer.offset : 0;
}
