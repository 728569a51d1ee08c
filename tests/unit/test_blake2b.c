/* BLAKE2b, against what b2sum of the GNU core utilities prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/blake2b.h"
#include "tests/unit/suites.h"

/* HASH as b2sum prints it; in a buffer that the next call uses again. */
static const char *hex(const uint8_t hash[GH_BLAKE2B_SIZE])
{
	static char text[2 * GH_BLAKE2B_SIZE + 1];
	for (size_t i = 0; i < GH_BLAKE2B_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", hash[i]);
	return text;
}

/* SIZE bytes 0, 1, ... 250, 0, 1, ...; to be freed. */
static uint8_t *make_bytes(size_t size)
{
	uint8_t *bytes = malloc(size > 0 ? size : 1);
	ck_assert_ptr_nonnull(bytes);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(i % 251);
	return bytes;
}

/* What b2sum --length=256 prints for so many bytes, around the size of a block. */
static const struct {
	size_t size;
	const char *hash;
} vectors[] = {
    {0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"},
    {3, "3d8c3d594928271f44aad7a04b177154806867bcf918e1549c0bc16f9da2b09b"},
    {127, "f2fe67ff342e21b8f45e8f2e0bcd1d9243245d50ee6c78042e9c491388791c72"},
    {128, "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1"},
    {129, "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9"},
    {256, "582f782226018ec33076bd8d1c42413530ac7e1126260ffc0f306ba3befc3f24"},
    {1000, "b372d0608f720c8c3dd41e9c8eecb10143b41abe520b616607e754bf79c08331"},
};

START_TEST(hashes_are_those_of_b2sum)
{
	uint8_t hash[GH_BLAKE2B_SIZE];
	uint8_t *bytes = make_bytes(vectors[_i].size);
	gh_blake2b(bytes, vectors[_i].size, hash);
	ck_assert_str_eq(hex(hash), vectors[_i].hash);
	free(bytes);
}
END_TEST

START_TEST(large_data_are_hashed_by_pieces)
{
	uint8_t hash[GH_BLAKE2B_SIZE];
	uint8_t *bytes = make_bytes(2 * GH_BLAKE2B_PIECE + 1);
	ck_assert(gh_blake2b_tree(bytes, 2 * GH_BLAKE2B_PIECE + 1, hash));
	ck_assert_str_eq(hex(hash),
			 "8505ce1e07b1fa95f306f22a3573b751da163b5fab45c9ea34f12336f55882cf");
	/* One that has no pieces, and one that is a whole one. */
	ck_assert(gh_blake2b_tree(bytes, 0, hash));
	ck_assert_str_eq(hex(hash), vectors[0].hash);
	ck_assert(gh_blake2b_tree(bytes, GH_BLAKE2B_PIECE, hash));
	ck_assert_str_eq(hex(hash),
			 "535691efbbbc7582e3b781c828f71ba7fa9bb0c22b1f67202c2b5be80cae2141");
	free(bytes);
}
END_TEST

void blake2b_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, hashes_are_those_of_b2sum, 0,
			    sizeof(vectors) / sizeof(vectors[0]));
	tcase_add_test(tcase, large_data_are_hashed_by_pieces);
}
