#include "lib/profile/internal.h"

#include <stdlib.h>

#include "lib/heap/heap.h"

/* What is needed to count. */
struct counting {
	const struct gh_allocations *allocations;
	const struct gh_heap *heap;
	const struct gh_dominators *dominators;
	uint32_t *stacks; /* by profile record: its stack's number */
	uint32_t nstacks; /* also: the number of what was not sampled, or no root reaches */
	uint64_t *live;   /* by profile record: its objects that roots reach */
	uint32_t *of;     /* by object: its stack's number */
	struct gh_histogram_row *rows; /* by stack */
};

/* Numbers the stacks: records of one may differ in size, and in what is not shown. */
static bool number_stacks(struct counting *counting)
{
	struct gh_intern set = {0};
	bool numbered = true;
	size_t count = gh_dump_count(counting->heap->dump, GH_DUMP_PROFILE);
	for (size_t i = 0; numbered && i < count; i++) {
		size_t length;
		const uint32_t *places = gh_allocations_stack(counting->allocations, i, &length);
		counting->stacks[i] =
		    gh_intern_add(&set, (const char *)places, length * sizeof(*places));
		numbered = counting->stacks[i] != GH_INTERN_NONE;
	}
	counting->nstacks = set.count;
	gh_intern_free(&set);
	return numbered;
}

static void find_objects(struct counting *counting)
{
	gh_samples_find(counting->of, counting->heap);
	for (uint32_t i = 0; i < counting->heap->count; i++) {
		uint32_t record = counting->of[i];
		counting->of[i] = counting->nstacks;
		if (record == GH_NOT_SAMPLED || counting->dominators->idom[i] == GH_HEAP_NONE)
			continue;
		counting->of[i] = counting->stacks[record];
		counting->live[record]++;
	}
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* Fills STACKS, which has room, with those that have live objects. */
static void fill(struct gh_live_stacks *stacks, const struct counting *counting, uint64_t rate)
{
	const struct gh_dump *dump = counting->heap->dump;
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_PROFILE); i++) {
		struct gh_live_stack *stack = &stacks->items[counting->stacks[i]];
		struct gh_dump_record record;
		uint64_t objects = counting->live[i];
		uint64_t bytes;
		gh_dump_get(dump, GH_DUMP_PROFILE, i, &record);
		gh_pprof_scale(rate, record.profile.size, &objects, &bytes);
		stack->record = i;
		stack->objects = add(stack->objects, objects);
		stack->bytes = add(stack->bytes, bytes);
	}
	for (uint32_t i = 0; i < counting->nstacks; i++) {
		struct gh_live_stack stack = stacks->items[i];
		stack.retained = counting->rows[i].retained;
		if (stack.objects > 0)
			stacks->items[stacks->count++] = stack;
	}
}

static bool make(struct gh_live_stacks *stacks, struct counting *counting, uint64_t rate,
		 struct gh_error *err)
{
	const struct gh_heap *heap = counting->heap;
	size_t nrecords = gh_dump_count(heap->dump, GH_DUMP_PROFILE);
	counting->stacks = calloc(nrecords + 1, sizeof(*counting->stacks));
	counting->live = calloc(nrecords + 1, sizeof(*counting->live));
	counting->of = calloc((size_t)heap->count + 1, sizeof(*counting->of));
	stacks->items = calloc(nrecords + 1, sizeof(*stacks->items));
	counting->rows = calloc(nrecords + 1, sizeof(*counting->rows));
	if (counting->stacks == NULL || counting->live == NULL || counting->of == NULL ||
	    stacks->items == NULL || counting->rows == NULL || !number_stacks(counting)) {
		return gh_fail_memory(err, heap->dump->path);
	}
	find_objects(counting);
	if (!gh_histogram_make(counting->rows, (size_t)counting->nstacks + 1, heap, counting->of,
			       counting->dominators, err))
		return false;
	fill(stacks, counting, rate);
	return true;
}

bool gh_live_stacks_make(struct gh_live_stacks *stacks, const struct gh_allocations *allocations,
			 const struct gh_heap *heap, const struct gh_dominators *dominators,
			 uint64_t rate, struct gh_error *err)
{
	struct counting counting = {
	    .allocations = allocations,
	    .heap = heap,
	    .dominators = dominators,
	};
	*stacks = (struct gh_live_stacks){0};
	bool made = make(stacks, &counting, rate, err);
	free(counting.stacks);
	free(counting.live);
	free(counting.of);
	free(counting.rows);
	return made;
}

void gh_live_stacks_free(struct gh_live_stacks *stacks)
{
	free(stacks->items);
	*stacks = (struct gh_live_stacks){0};
}
