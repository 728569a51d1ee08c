#include "lib/util/blake2b.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/parallel.h"

#define BLOCK  128 /* bytes */
#define ROUNDS 12

/* RFC 7693, section 2.6: the fractional parts of the square roots of the first eight primes. */
static const uint64_t initial[8] = {
    UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b), UINT64_C(0x3c6ef372fe94f82b),
    UINT64_C(0xa54ff53a5f1d36f1), UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
    UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179),
};

/* RFC 7693, section 2.7: in which order a round takes the words of the block. */
static const uint8_t schedule[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline uint64_t rotate_right(uint64_t value, unsigned bits)
{
	return value >> bits | value << (64 - bits);
}

/* RFC 7693, section 3.1. A macro would be no faster: compilers inline it. */
static inline __attribute__((always_inline)) void mix(uint64_t *a, uint64_t *b, uint64_t *c,
						      uint64_t *d, uint64_t x, uint64_t y)
{
	*a += *b + x;
	*d = rotate_right(*d ^ *a, 32);
	*c += *d;
	*b = rotate_right(*b ^ *c, 24);
	*a += *b + y;
	*d = rotate_right(*d ^ *a, 16);
	*c += *d;
	*b = rotate_right(*b ^ *c, 63);
}

static uint64_t load_little_endian(const uint8_t *bytes)
{
	uint64_t word;
	memcpy(&word, bytes, sizeof(word));
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : __builtin_bswap64(word);
}

/* RFC 7693, section 3.2. COUNT is the bytes up to the end of the block. */
static void compress(uint64_t state[8], const uint8_t *block, uint64_t count, bool last)
{
	uint64_t words[16];
	uint64_t v[16];
	for (unsigned i = 0; i < 16; i++)
		words[i] = load_little_endian(block + i * sizeof(words[i]));
	memcpy(v, state, sizeof(initial));
	memcpy(v + 8, initial, sizeof(initial));
	v[12] ^= count;
	if (last)
		v[14] = ~v[14];
#pragma GCC unroll 12
	for (unsigned round = 0; round < ROUNDS; round++) {
		const uint8_t *s = schedule[round % 10];
		mix(&v[0], &v[4], &v[8], &v[12], words[s[0]], words[s[1]]);
		mix(&v[1], &v[5], &v[9], &v[13], words[s[2]], words[s[3]]);
		mix(&v[2], &v[6], &v[10], &v[14], words[s[4]], words[s[5]]);
		mix(&v[3], &v[7], &v[11], &v[15], words[s[6]], words[s[7]]);
		mix(&v[0], &v[5], &v[10], &v[15], words[s[8]], words[s[9]]);
		mix(&v[1], &v[6], &v[11], &v[12], words[s[10]], words[s[11]]);
		mix(&v[2], &v[7], &v[8], &v[13], words[s[12]], words[s[13]]);
		mix(&v[3], &v[4], &v[9], &v[14], words[s[14]], words[s[15]]);
	}
	for (unsigned i = 0; i < 8; i++)
		state[i] ^= v[i] ^ v[i + 8];
}

void gh_blake2b(const void *data, size_t size, uint8_t hash[GH_BLAKE2B_SIZE])
{
	const uint8_t *bytes = data;
	uint64_t state[8];
	uint8_t block[BLOCK] = {0};
	uint64_t count = 0;
	memcpy(state, initial, sizeof(state));
	/* The parameter block: a fan-out and a depth of 1, no key, the size of the hash. */
	state[0] ^= 0x01010000 ^ GH_BLAKE2B_SIZE;
	/* The last block is the one that is marked so, even if it is full. */
	for (; size - count > BLOCK; count += BLOCK)
		compress(state, bytes + count, count + BLOCK, false);
	if (size > count)
		memcpy(block, bytes + count, size - count);
	compress(state, block, size, true);
	for (unsigned i = 0; i < GH_BLAKE2B_SIZE; i++)
		hash[i] = (uint8_t)(state[i / 8] >> i % 8 * 8);
}

struct tree {
	const uint8_t *data;
	size_t size;                        /* in bytes */
	uint8_t (*hashes)[GH_BLAKE2B_SIZE]; /* of the pieces; owned */
};

static void hash_piece(void *context, uint32_t number)
{
	const struct tree *tree = context;
	size_t start = (size_t)number * GH_BLAKE2B_PIECE;
	size_t left = tree->size - start;
	gh_blake2b(tree->data + start, left < GH_BLAKE2B_PIECE ? left : GH_BLAKE2B_PIECE,
		   tree->hashes[number]);
}

bool gh_blake2b_tree(const void *data, size_t size, uint8_t hash[GH_BLAKE2B_SIZE])
{
	size_t count = size / GH_BLAKE2B_PIECE + (size % GH_BLAKE2B_PIECE != 0);
	struct tree tree = {.data = data, .size = size};
	if (count > UINT32_MAX) {
		errno = EFBIG;
		return false;
	}
	tree.hashes = calloc(count > 0 ? count : 1, sizeof(*tree.hashes));
	if (tree.hashes == NULL)
		return false;
	gh_parallel((uint32_t)count, hash_piece, &tree);
	gh_blake2b(tree.hashes, count * sizeof(*tree.hashes), hash);
	free(tree.hashes);
	return true;
}
