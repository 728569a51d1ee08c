#include "lib/heap/edges.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/dump/memory.h"
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
	struct gh_buffer list; /* uint32_t: what its objects point to */
	struct gh_heap_damage damage;
	uint64_t start, end; /* offsets in the file, before and after what was read */
};

/* POINTER should point to an object, but does not. */
static bool is_dangling(const struct gh_dump *dump, const struct gh_pointer *pointer)
{
	struct gh_cursor memory;
	return pointer->value >= dump->params.heap_start &&
	       pointer->value < dump->params.heap_end &&
	       !gh_dump_memory(dump, pointer->value, &memory);
}

/* Adds what OBJECT points to to BLOCK. */
static void add_targets(struct block *block, uint32_t object)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_pointers_start(block->heap, object, &walk);
	block->damage.empty += gh_cursor_size(&walk.contents) == 0;
	while (gh_pointers_next(&walk, &pointer)) {
		if (pointer.target != GH_HEAP_NONE)
			gh_buffer_bytes(&block->list, &pointer.target, sizeof(pointer.target));
		else if (pointer.value != 0)
			block->damage.dangling += is_dangling(block->heap->dump, &pointer);
	}
	block->damage.outside += walk.fields.beyond;
	block->damage.unknown += walk.unknown;
	if (walk.contents.offset < block->start)
		block->start = walk.contents.offset;
	if (gh_cursor_offset(&walk.fields.cur) > block->end)
		block->end = gh_cursor_offset(&walk.fields.cur);
}

/* Puts BLOCK, which is NUMBER, into the heap. */
static void finish(struct making *making, struct block *block, uint32_t number)
{
	struct gh_lists *targets = &making->heap->targets;
	struct gh_heap_damage *damage = &making->heap->damage;
	uint64_t count = block->list.size / sizeof(uint32_t);
	targets->blocks[number] = malloc(block->list.size + 1);
	pthread_mutex_lock(&making->lock);
	if (targets->blocks[number] == NULL || block->list.failed || count > UINT32_MAX)
		making->failed = true;
	else if (count > 0)
		memcpy(targets->blocks[number], block->list.data, block->list.size);
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
	struct block block = {.heap = heap, .start = UINT64_MAX};
	uint64_t first = (uint64_t)number * GH_LISTS_BLOCK;
	for (uint64_t i = first; i < first + GH_LISTS_BLOCK && i < heap->count; i++) {
		add_targets(&block, (uint32_t)i);
		heap->targets.ends[i] = (uint32_t)(block.list.size / sizeof(uint32_t));
	}
	finish(making, &block, number);
	gh_buffer_free(&block.list);
	gh_dump_input_release(&heap->dump->input, block.start, block.end);
}

bool gh_edges_make(struct gh_heap *heap)
{
	struct making making = {.heap = heap, .lock = PTHREAD_MUTEX_INITIALIZER};
	if (!gh_lists_make(&heap->targets, heap->count))
		return false;
	gh_parallel(gh_lists_nblocks(&heap->targets), make_block, &making);
	pthread_mutex_destroy(&making.lock);
	return !making.failed;
}
