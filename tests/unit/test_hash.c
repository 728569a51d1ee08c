#include <string.h>

#include "lib/util/hash.h"
#include "tests/unit/suites.h"

static uint64_t hash(const char *text)
{
	return gh_hash_bytes(GH_HASH_START, text, strlen(text));
}

/* From the list of test vectors that FNV's authors publish (test_fnv.c, fnv1a_64_vector). */
START_TEST(published_vectors)
{
	ck_assert_uint_eq(hash(""), UINT64_C(0xcbf29ce484222325));
	ck_assert_uint_eq(hash("a"), UINT64_C(0xaf63dc4c8601ec8c));
	ck_assert_uint_eq(hash("foobar"), UINT64_C(0x85944171f73967e8));
	ck_assert_uint_eq(hash("chongo was here!\n"), UINT64_C(0x46810940eff5f915));
}
END_TEST

START_TEST(parts_make_the_hash_of_the_whole)
{
	uint64_t part = hash("foo");
	ck_assert_uint_eq(gh_hash_bytes(part, "bar", 3), hash("foobar"));
	ck_assert_uint_eq(gh_hash_bytes(part, "", 0), part);
}
END_TEST

START_TEST(all_bytes_count)
{
	ck_assert_uint_ne(gh_hash_bytes(GH_HASH_START, "a\0", 2), hash("a"));
	ck_assert_uint_ne(hash("\x80"), hash("\x7f"));
}
END_TEST

void hash_tests(TCase *tests)
{
	tcase_add_test(tests, published_vectors);
	tcase_add_test(tests, parts_make_the_hash_of_the_whole);
	tcase_add_test(tests, all_bytes_count);
}
