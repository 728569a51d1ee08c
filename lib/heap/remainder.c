#include "lib/heap/remainder.h"

#include <stdlib.h>

struct sums {
	const struct gh_heap *heap;
	const struct gh_dominators *dominators;
	const struct gh_largest *largest;
	const uint32_t *classes;
	uint32_t *places;  /* by object: its place among the largest, or GH_HEAP_NONE */
	uint32_t *starts;  /* by parent: where its objects begin in the list below; one more */
	uint32_t *objects; /* those that are looked for, by parent */
	size_t *rows;      /* by class: one more than the place of its row for the parent at hand */
	struct gh_buffer *out;
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
static void sort(struct sums *sums)
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
		return (struct gh_remainder *)(void *)sums->out->data + *place - 1;
	struct gh_remainder *row = gh_buffer_extend(sums->out, sizeof(*row));
	if (row == NULL)
		return NULL;
	*row = (struct gh_remainder){.parent = parent, .class = class};
	*place = sums->out->size / sizeof(*row);
	return row;
}

static bool add_parent(struct sums *sums, uint32_t parent)
{
	size_t first = sums->out->size / sizeof(struct gh_remainder);
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

bool gh_remainder_find(struct gh_buffer *out, const struct gh_heap *heap,
		       const struct gh_dominators *dominators, const struct gh_largest *largest,
		       const uint32_t *classes, size_t nclasses, struct gh_error *err)
{
	struct sums sums = {.heap = heap,
			    .dominators = dominators,
			    .largest = largest,
			    .classes = classes,
			    .out = out};
	bool ok = allocate(&sums, nclasses);
	if (ok)
		sort(&sums);
	for (uint32_t i = 0; ok && i <= largest->count; i++)
		ok = add_parent(&sums, i);
	free(sums.places);
	free(sums.objects);
	free(sums.starts);
	free(sums.rows);
	return ok || gh_fail(err, heap->dump->path, GH_NO_OFFSET,
			     "memory for what is not among the largest objects", "none");
}
