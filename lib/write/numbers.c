#include "lib/write/numbers.h"

#include <search.h>
#include <stdlib.h>

struct number {
	uint32_t key;
	uint32_t value;
};

static int compare(const void *a, const void *b)
{
	const struct number *first = a;
	const struct number *second = b;
	return (first->key > second->key) - (first->key < second->key);
}

const uint32_t *gh_numbers_get(const struct gh_numbers *numbers, uint32_t key)
{
	struct number wanted = {.key = key};
	struct number **node = tfind(&wanted, &numbers->tree, compare);
	return node != NULL ? &(*node)->value : NULL;
}

bool gh_numbers_put(struct gh_numbers *numbers, uint32_t key, uint32_t value)
{
	struct number *added = malloc(sizeof(*added));
	if (added == NULL)
		return false;
	*added = (struct number){key, value};
	if (tsearch(added, &numbers->tree, compare) != NULL)
		return true;
	free(added);
	return false;
}

void gh_numbers_free(struct gh_numbers *numbers)
{
	tdestroy(numbers->tree, free);
	numbers->tree = NULL;
}
