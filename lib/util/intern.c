#include "lib/util/intern.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	const struct gh_interned *first = a;
	const struct gh_interned *second = b;
	if (first->length != second->length)
		return first->length < second->length ? -1 : 1;
	/* The empty string may be NULL. */
	return first->length > 0 ? memcmp(first->text, second->text, first->length) : 0;
}

static struct gh_interned *append(struct gh_intern *set, const struct gh_interned *key)
{
	if (set->count == set->capacity) {
		uint32_t capacity = set->capacity == 0 ? 16 : 2 * set->capacity;
		void *items = reallocarray(set->items, capacity, sizeof(struct gh_interned *));
		if (items == NULL)
			return NULL;
		set->items = items;
		set->capacity = capacity;
	}
	struct gh_interned *item = malloc(sizeof(*item));
	if (item == NULL)
		return NULL;
	*item = *key;
	item->number = set->count;
	set->items[set->count++] = item;
	return item;
}

uint32_t gh_intern_find(const struct gh_intern *set, const char *text, size_t length)
{
	struct gh_interned key = {.text = text, .length = length};
	struct gh_interned **node = tfind(&key, &set->tree, compare);
	return node != NULL ? (*node)->number : GH_INTERN_NONE;
}

uint32_t gh_intern_add(struct gh_intern *set, const char *text, size_t length)
{
	uint32_t number = gh_intern_find(set, text, length);
	if (number != GH_INTERN_NONE)
		return number;
	struct gh_interned key = {.text = text, .length = length};
	struct gh_interned *item = append(set, &key);
	if (item == NULL)
		return GH_INTERN_NONE;
	if (tsearch(item, &set->tree, compare) == NULL) {
		/* The next one has its number. */
		free(item);
		set->count--;
		return GH_INTERN_NONE;
	}
	return item->number;
}

static void keep_item(void *item)
{
	(void)item;
}

void gh_intern_free(struct gh_intern *set)
{
	tdestroy(set->tree, keep_item);
	for (uint32_t i = 0; i < set->count; i++)
		free(set->items[i]);
	free(set->items);
	*set = (struct gh_intern){0};
}
