#include "lib/util/numbermap.h"

#include <stdlib.h>
#include <sys/random.h>

#define FIRST_SIZE 64

/* Mixes all bits of KEY into the low ones: the finalizer of MurmurHash3. */
static size_t place_of(const struct gh_numbermap *map, uint64_t key)
{
	key ^= map->salt;
	key ^= key >> 33;
	key *= 0xff51afd7ed558ccd;
	key ^= key >> 33;
	key *= 0xc4ceb9fe1a85ec53;
	key ^= key >> 33;
	return (size_t)key & (map->size - 1);
}

/* The place of KEY, or the free one where it would go. */
static size_t find(const struct gh_numbermap *map, uint64_t key)
{
	size_t place = place_of(map, key);
	while (map->values[place] != GH_NOT_MAPPED && map->keys[place] != key)
		place = (place + 1) & (map->size - 1);
	return place;
}

uint32_t gh_numbermap_get(const struct gh_numbermap *map, uint64_t key)
{
	return map->size == 0 ? GH_NOT_MAPPED : map->values[find(map, key)];
}

static bool grow(struct gh_numbermap *map)
{
	struct gh_numbermap larger = {.size = map->size == 0 ? FIRST_SIZE : 2 * map->size,
				      .used = map->used,
				      .salt = map->salt};
	if (map->size == 0 && getrandom(&larger.salt, sizeof(larger.salt), 0) < 0)
		larger.salt = 0;
	larger.keys = calloc(larger.size, sizeof(*larger.keys));
	larger.values = malloc(larger.size * sizeof(*larger.values));
	if (larger.keys == NULL || larger.values == NULL) {
		gh_numbermap_free(&larger);
		return false;
	}
	for (size_t i = 0; i < larger.size; i++)
		larger.values[i] = GH_NOT_MAPPED;
	for (size_t i = 0; i < map->size; i++) {
		if (map->values[i] == GH_NOT_MAPPED)
			continue;
		size_t place = find(&larger, map->keys[i]);
		larger.keys[place] = map->keys[i];
		larger.values[place] = map->values[i];
	}
	gh_numbermap_free(map);
	*map = larger;
	return true;
}

bool gh_numbermap_put(struct gh_numbermap *map, uint64_t key, uint32_t value)
{
	if (map->used >= map->size / 4 * 3 && !grow(map))
		return false;
	size_t place = find(map, key);
	map->keys[place] = key;
	map->values[place] = value;
	map->used++;
	return true;
}

void gh_numbermap_free(struct gh_numbermap *map)
{
	free(map->keys);
	free(map->values);
	*map = (struct gh_numbermap){0};
}
