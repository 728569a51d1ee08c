/* A set of 64-bit keys that numbers them in the order they came. */
#ifndef GH_PLUGIN_NUMBERING_H
#define GH_PLUGIN_NUMBERING_H

#include <stddef.h>
#include <stdint.h>

/* No number: memory ran out. */
#define GH_NUMBERING_NONE UINT32_MAX

struct gh_numbered;

struct gh_numbering {
	uint32_t count;                 /* of keys */
	void *tree;                     /* private: struct gh_numbered, by key */
	const struct gh_numbered *last; /* private: that was asked for last */
};

/* The number of KEY, which joins the set if it is not yet in it: then its number is the count
 * before. A balanced tree and no hash: no input makes it slow. */
uint32_t gh_numbering_add(struct gh_numbering *numbering, uint64_t key);

void gh_numbering_free(struct gh_numbering *numbering);

#endif
