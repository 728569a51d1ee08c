/* A number for each of some numbers. */
#ifndef GH_WRITE_NUMBERS_H
#define GH_WRITE_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

struct gh_numbers {
	void *tree; /* for tsearch; NULL if there are none. A balanced tree and no hash: no input
		       makes it slow. */
};

/* The number kept for KEY; NULL if there is none. It stays where it is until gh_numbers_free. */
const uint32_t *gh_numbers_get(const struct gh_numbers *numbers, uint32_t key);

/* Keeps VALUE for KEY, which has none. False if memory ran out. */
bool gh_numbers_put(struct gh_numbers *numbers, uint32_t key, uint32_t value);

/* Frees everything; there are none then, and it may be used again. */
void gh_numbers_free(struct gh_numbers *numbers);

#endif
