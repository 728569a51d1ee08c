/* While there are more than are kept, they are a heap with the smallest at its root. */
#include "lib/util/top.h"

#include <stdlib.h>

static bool is_smaller(const struct gh_top_item *a, const struct gh_top_item *b)
{
	return a->key != b->key ? a->key < b->key : a->number > b->number;
}

static void swap(struct gh_top_item *a, struct gh_top_item *b)
{
	struct gh_top_item item = *a;
	*a = *b;
	*b = item;
}

static void sift_up(struct gh_top_item *items, size_t i)
{
	for (; i > 0 && is_smaller(&items[i], &items[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&items[i], &items[(i - 1) / 2]);
}

static void sift_down(struct gh_top_item *items, size_t count)
{
	size_t child;
	for (size_t i = 0; (child = 2 * i + 1) < count; i = child) {
		if (child + 1 < count && is_smaller(&items[child + 1], &items[child]))
			child++;
		if (!is_smaller(&items[child], &items[i]))
			return;
		swap(&items[child], &items[i]);
	}
}

void gh_top_add(struct gh_top *top, uint64_t key, uint32_t number)
{
	struct gh_top_item item = {.key = key, .number = number};
	top->seen++;
	top->total += key;
	if (top->items.count < top->limit) {
		if (gh_vector_push(&top->items, item) && top->limit != SIZE_MAX)
			sift_up(top->items.items, top->items.count - 1);
	} else if (top->limit > 0 && is_smaller(&top->items.items[0], &item)) {
		top->items.items[0] = item;
		sift_down(top->items.items, top->items.count);
	}
}

static int compare(const void *a, const void *b)
{
	return is_smaller(a, b) ? 1 : -1;
}

const struct gh_top_item *gh_top_finish(struct gh_top *top, size_t *count)
{
	*count = top->items.count;
	if (*count > 0)
		qsort(top->items.items, *count, sizeof(struct gh_top_item), compare);
	return top->items.items;
}

void gh_top_free(struct gh_top *top)
{
	gh_vector_free(&top->items);
}
