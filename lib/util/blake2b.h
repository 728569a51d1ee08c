/* BLAKE2b, a cryptographic hash that is fast in plain C: nobody can make two inputs that collide.
 */
#ifndef GH_UTIL_BLAKE2B_H
#define GH_UTIL_BLAKE2B_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of a hash in bytes: as `b2sum --length=256` prints it. */
#define GH_BLAKE2B_SIZE 32

/* gh_blake2b_tree hashes pieces of this many bytes. */
#define GH_BLAKE2B_PIECE (1 << 20)

/* Hashes the SIZE bytes at DATA, without a key, into HASH.
 *
 * Format: RFC 7693, "The BLAKE2 Cryptographic Hash and Message Authentication Code (MAC)". */
void gh_blake2b(const void *data, size_t size, uint8_t hash[GH_BLAKE2B_SIZE]);

/* The hash of the hashes, one after the other, of the pieces of DATA: GH_BLAKE2B_PIECE bytes each,
 * but for the last. They are hashed on several processors. Returns false, and sets errno, if memory
 * runs out. */
bool gh_blake2b_tree(const void *data, size_t size, uint8_t hash[GH_BLAKE2B_SIZE]);

#endif
