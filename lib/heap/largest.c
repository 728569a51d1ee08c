#include "lib/heap/largest.h"

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

bool gh_largest_find(struct gh_largest *largest, const struct gh_heap *heap,
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
	return ok || gh_fail(err, heap->dump->path, GH_NO_OFFSET, "memory for the largest objects",
			     "none");
}

void gh_largest_free(struct gh_largest *largest)
{
	free(largest->objects);
	*largest = (struct gh_largest){0};
}
