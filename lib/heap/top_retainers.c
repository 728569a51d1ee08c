#include "lib/heap/heap.h"

#include <stdlib.h>

/* Objects in a binary heap, that which retains least at the top. */
struct choice {
	const uint64_t *retained; /* by object */
	uint32_t *objects;
	uint32_t count;
};

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t other = *a;
	*a = *b;
	*b = other;
}

static bool is_less(const struct choice *choice, uint32_t a, uint32_t b)
{
	return choice->retained[choice->objects[a]] < choice->retained[choice->objects[b]];
}

static void sift_up(struct choice *choice, uint32_t at)
{
	while (at > 0 && is_less(choice, at, (at - 1) / 2)) {
		swap(&choice->objects[at], &choice->objects[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
}

static void sift_down(struct choice *choice)
{
	uint32_t at = 0;
	for (;;) {
		uint32_t least = at;
		for (uint32_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < choice->count && is_less(choice, child, least))
				least = child;
		if (least == at)
			return;
		swap(&choice->objects[at], &choice->objects[least]);
		at = least;
	}
}

/* Puts the objects in order, that which retains most first. */
static void sort(struct choice *choice)
{
	uint32_t count = choice->count;
	while (choice->count > 1) {
		swap(&choice->objects[0], &choice->objects[--choice->count]);
		sift_down(choice);
	}
	choice->count = count;
}

/* An object retains more than what it dominates: it is not left out before that is. */
static void choose(struct choice *choice, uint32_t object, uint32_t limit)
{
	if (choice->retained[object] == 0)
		return;
	if (choice->count < limit) {
		choice->objects[choice->count++] = object;
		sift_up(choice, choice->count - 1);
	} else if (choice->retained[object] > choice->retained[choice->objects[0]]) {
		choice->objects[0] = object;
		sift_down(choice);
	}
}

bool gh_top_retainers_find(struct gh_top_retainers *largest, const struct gh_heap *heap,
			   const struct gh_dominators *dominators, uint32_t limit, uint8_t depth,
			   struct gh_error *err)
{
	/* By object: how many dominate it; what is past DEPTH is not counted. */
	uint8_t *depths = malloc((size_t)heap->count + 1);
	largest->count = 0;
	largest->objects = malloc(((size_t)limit + 1) * sizeof(*largest->objects));
	bool ok = depths != NULL && largest->objects != NULL;
	struct choice choice = {.retained = dominators->retained, .objects = largest->objects};
	for (uint32_t i = 0; ok && limit > 0 && i < dominators->nreachable; i++) {
		uint32_t object = dominators->order[i];
		uint32_t idom = dominators->idom[object];
		depths[object] = 0;
		if (idom != heap->count)
			depths[object] = (uint8_t)(depths[idom] + (depths[idom] <= depth));
		if (depths[object] <= depth)
			choose(&choice, object, limit);
	}
	sort(&choice);
	largest->count = choice.count;
	free(depths);
	return ok || gh_fail_memory(err, heap->dump->path);
}

void gh_top_retainers_free(struct gh_top_retainers *largest)
{
	free(largest->objects);
	*largest = (struct gh_top_retainers){0};
}

struct sums {
	const struct gh_heap *heap;
	const struct gh_dominators *dominators;
	const struct gh_top_retainers *largest;
	const uint32_t *classes;
	uint32_t *places;  /* by object: its place among the largest, or GH_HEAP_NONE */
	uint32_t *starts;  /* by parent: where its objects begin in the list below; one more */
	uint32_t *objects; /* those that are looked for, by parent */
	size_t *rows;      /* by class: one more than the place of its row for the parent at hand */
	struct gh_remainders *out;
};

static bool allocate(struct sums *sums, size_t nclasses)
{
	size_t count = (size_t)sums->heap->count + 1;
	sums->places = malloc(count * sizeof(*sums->places));
	sums->objects = malloc(count * sizeof(*sums->objects));
	sums->starts = calloc((size_t)sums->largest->count + 2, sizeof(*sums->starts));
	sums->rows = calloc(nclasses + 1, sizeof(*sums->rows));
	return sums->places != NULL && sums->objects != NULL && sums->starts != NULL &&
	       sums->rows != NULL;
}

/* The parent of OBJECT, which roots reach; GH_HEAP_NONE if it is not to be counted. */
static uint32_t parent_of(const struct sums *sums, uint32_t object)
{
	uint32_t idom = sums->dominators->idom[object];
	if (sums->places[object] != GH_HEAP_NONE)
		return GH_HEAP_NONE;
	return idom == sums->heap->count ? sums->largest->count : sums->places[idom];
}

/* Lists the objects by parent: counts them, has the starts be the ends, and fills from there. */
static void sort_by_parent(struct sums *sums)
{
	const struct gh_dominators *dominators = sums->dominators;
	for (uint32_t i = 0; i < sums->heap->count; i++)
		sums->places[i] = GH_HEAP_NONE;
	for (uint32_t i = 0; i < sums->largest->count; i++)
		sums->places[sums->largest->objects[i]] = i;
	for (uint32_t i = 0; i < dominators->nreachable; i++) {
		uint32_t parent = parent_of(sums, dominators->order[i]);
		if (parent != GH_HEAP_NONE)
			sums->starts[parent]++;
	}
	for (uint32_t i = 1; i <= sums->largest->count + 1; i++)
		sums->starts[i] += sums->starts[i - 1];
	for (uint32_t i = dominators->nreachable; i-- > 0;) {
		uint32_t parent = parent_of(sums, dominators->order[i]);
		if (parent != GH_HEAP_NONE)
			sums->objects[--sums->starts[parent]] = dominators->order[i];
	}
}

/* The row of OBJECT's class, of those from FIRST on, which are PARENT's. NULL if memory ran out. */
static struct gh_remainder *row_of(struct sums *sums, size_t first, uint32_t parent,
				   uint32_t object)
{
	uint32_t class = sums->classes[object];
	size_t *place = &sums->rows[class];
	if (*place > first)
		return &sums->out->items[*place - 1];
	if (!gh_vector_push(sums->out, (struct gh_remainder){.parent = parent, .class = class}))
		return NULL;
	*place = sums->out->count;
	return &sums->out->items[*place - 1];
}

static bool add_parent(struct sums *sums, uint32_t parent)
{
	size_t first = sums->out->count;
	for (uint32_t i = sums->starts[parent]; i < sums->starts[parent + 1]; i++) {
		uint32_t object = sums->objects[i];
		struct gh_remainder *row = row_of(sums, first, parent, object);
		if (row == NULL)
			return false;
		row->objects++;
		row->bytes += gh_heap_object(sums->heap, object).size;
		row->retained += sums->dominators->retained[object];
	}
	return true;
}

bool gh_remainder_find(struct gh_remainders *out, const struct gh_heap *heap,
		       const struct gh_dominators *dominators,
		       const struct gh_top_retainers *largest, const uint32_t *classes,
		       size_t nclasses, struct gh_error *err)
{
	struct sums sums = {.heap = heap,
			    .dominators = dominators,
			    .largest = largest,
			    .classes = classes,
			    .out = out};
	bool ok = allocate(&sums, nclasses);
	if (ok)
		sort_by_parent(&sums);
	for (uint32_t i = 0; ok && i <= largest->count; i++)
		ok = add_parent(&sums, i);
	free(sums.places);
	free(sums.objects);
	free(sums.starts);
	free(sums.rows);
	return ok || gh_fail_memory(err, heap->dump->path);
}
