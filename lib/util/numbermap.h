/* A map from 64-bit numbers to 32-bit ones. */
#ifndef GH_UTIL_NUMBERMAP_H
#define GH_UTIL_NUMBERMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is not in the map is mapped to. */
#define GH_NOT_MAPPED UINT32_MAX

struct gh_numbermap {
	uint64_t *keys;   /* owned */
	uint32_t *values; /* by place of the key; GH_NOT_MAPPED where there is none; owned */
	size_t size;      /* places: a power of two, or 0 */
	size_t used;      /* of the places */
	uint64_t salt;    /* no input is made for it */
};

/* What KEY is mapped to. */
uint32_t gh_numbermap_get(const struct gh_numbermap *map, uint64_t key);

/* Maps KEY, which is not in the map yet, to VALUE. False if memory ran out. */
bool gh_numbermap_put(struct gh_numbermap *map, uint64_t key, uint32_t value);

void gh_numbermap_free(struct gh_numbermap *map);

#endif
