/* A set of strings that numbers them in the order they came. */
#ifndef GH_UTIL_INTERN_H
#define GH_UTIL_INTERN_H

#include <stddef.h>
#include <stdint.h>

/* No number: memory ran out. */
#define GH_INTERN_NONE UINT32_MAX

/* A string of the set. */
struct gh_interned {
	const char *text; /* not ended by a NUL; not owned, outlives the set */
	size_t length;    /* in bytes */
	uint32_t number;  /* 0 is the first that came */
};

struct gh_intern {
	struct gh_interned **items; /* by number; owned */
	uint32_t count;             /* strings in the set */
	uint32_t capacity;          /* of items */
	void *tree;                 /* the same items, for tsearch */
};

/* The number of the LENGTH bytes at TEXT, which join the set if they are not yet in it. A balanced
 * tree and no hash: no input makes it slow. */
uint32_t gh_intern_add(struct gh_intern *set, const char *text, size_t length);

/* The number of the LENGTH bytes at TEXT; GH_INTERN_NONE if they are not in the set. */
uint32_t gh_intern_find(const struct gh_intern *set, const char *text, size_t length);

/* Frees everything; the set is empty then, and may be used again. */
void gh_intern_free(struct gh_intern *set);

#endif
