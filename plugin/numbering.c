#include "plugin/numbering.h"

#include <search.h>
#include <stdlib.h>

struct gh_numbered {
	uint64_t key;
	uint32_t number;
};

static int compare(const void *a, const void *b)
{
	const struct gh_numbered *first = a;
	const struct gh_numbered *second = b;
	return (first->key > second->key) - (first->key < second->key);
}

/* The entry of KEY; NULL if memory ran out. */
static const struct gh_numbered *find(struct gh_numbering *numbering, uint64_t key)
{
	struct gh_numbered wanted = {.key = key, .number = numbering->count};
	struct gh_numbered **node = tfind(&wanted, &numbering->tree, compare);
	if (node != NULL)
		return *node;
	struct gh_numbered *entry = malloc(sizeof(*entry));
	if (entry == NULL)
		return NULL;
	*entry = wanted;
	if (tsearch(entry, &numbering->tree, compare) == NULL) {
		free(entry);
		return NULL;
	}
	numbering->count++;
	return entry;
}

uint32_t gh_numbering_add(struct gh_numbering *numbering, uint64_t key)
{
	/* Like keys come one after the other. */
	if (numbering->last == NULL || numbering->last->key != key)
		numbering->last = find(numbering, key);
	return numbering->last != NULL ? numbering->last->number : GH_NUMBERING_NONE;
}

void gh_numbering_free(struct gh_numbering *numbering)
{
	tdestroy(numbering->tree, free);
	*numbering = (struct gh_numbering){0};
}
