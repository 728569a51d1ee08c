/* A hash of bytes: FNV-1a of 64 bits, the same on every machine. It is no defence against keys that
 * were chosen to collide: a map from numbers (numbermap.h) salts what it is given. */
#ifndef GH_UTIL_HASH_H
#define GH_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV's offset basis and prime for 64 bits (isthe.com/chongo/tech/comp/fnv). The first is the hash
 * of no bytes. */
#define GH_HASH_START UINT64_C(0xcbf29ce484222325)
#define GH_HASH_PRIME UINT64_C(0x100000001b3)

/* The hash of some bytes and then the SIZE bytes at DATA, where HASH is that of the former:
 * GH_HASH_START if there are none. */
static inline uint64_t gh_hash_bytes(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *bytes = data;
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * GH_HASH_PRIME;
	return hash;
}

#endif
