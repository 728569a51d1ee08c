#include <stdlib.h>

#include "lib/util/numbermap.h"
#include "tests/unit/random.h"
#include "tests/unit/resources.h"
#include "tests/unit/suites.h"

START_TEST(what_is_not_there_is_not_mapped)
{
	struct gh_numbermap map = {0};
	ck_assert_uint_eq(gh_numbermap_get(&map, 0), GH_NOT_MAPPED);
	ck_assert_uint_eq(gh_numbermap_get(&map, 42), GH_NOT_MAPPED);
	ck_assert(gh_numbermap_put(&map, 42, 7));
	ck_assert_uint_eq(gh_numbermap_get(&map, 42), 7);
	ck_assert_uint_eq(gh_numbermap_get(&map, 0), GH_NOT_MAPPED);
	ck_assert_uint_eq(gh_numbermap_get(&map, 43), GH_NOT_MAPPED);
	gh_numbermap_free(&map);
	ck_assert_uint_eq(gh_numbermap_get(&map, 42), GH_NOT_MAPPED);
}
END_TEST

START_TEST(all_keys_and_values_can_be)
{
	static const uint64_t keys[] = {0, 1, UINT32_MAX, (uint64_t)1 << 32, UINT64_MAX};
	struct gh_numbermap map = {0};
	size_t count = sizeof(keys) / sizeof(keys[0]);
	for (uint32_t i = 0; i < count; i++)
		ck_assert(gh_numbermap_put(&map, keys[i], UINT32_MAX - 1 - i));
	for (uint32_t i = 0; i < count; i++)
		ck_assert_uint_eq(gh_numbermap_get(&map, keys[i]), UINT32_MAX - 1 - i);
	gh_numbermap_free(&map);
}
END_TEST

/* Against an array that is searched from its start. */
START_TEST(random_keys_are_found)
{
	enum { COUNT = 3000 };
	static uint64_t keys[COUNT];
	struct gh_numbermap map = {0};
	uint32_t count = 0;
	for (uint32_t i = 0; i < COUNT; i++) {
		uint64_t key = (uint64_t)(next_random() % 2000) << (next_random() % 2 * 40);
		uint32_t known = 0;
		while (known < count && keys[known] != key)
			known++;
		ck_assert_uint_eq(gh_numbermap_get(&map, key),
				  known < count ? known : GH_NOT_MAPPED);
		if (known == count) {
			keys[count] = key;
			ck_assert(gh_numbermap_put(&map, key, count++));
		}
	}
	ck_assert_uint_eq(map.used, count);
	ck_assert_uint_gt(map.size, count);
	for (uint32_t i = 0; i < count; i++)
		ck_assert_uint_eq(gh_numbermap_get(&map, keys[i]), i);
	gh_numbermap_free(&map);
}
END_TEST

/* Keys that lie regularly, as addresses do, spread: a long run of places in use would be slow. */
START_TEST(regular_keys_spread)
{
	struct gh_numbermap map = {0};
	for (uint32_t i = 0; i < 100000; i++)
		ck_assert(gh_numbermap_put(&map, 0xc000000000 + (uint64_t)i * 4096, i));
	size_t longest = 0;
	for (size_t i = 0, run = 0; i < map.size; i++) {
		run = map.values[i] == GH_NOT_MAPPED ? 0 : run + 1;
		longest = run > longest ? run : longest;
	}
	ck_assert_uint_lt(longest, 1000);
	gh_numbermap_free(&map);
}
END_TEST

/* The map stays as it is, and may be used still. */
START_TEST(a_key_that_finds_no_memory_is_not_mapped)
{
	struct gh_numbermap map = {0};
	unsigned lost = 0;
	for (uint32_t i = 0; i < 200; i++) {
		for (unsigned long number = 1;; number++) {
			resources_fail_at(number);
			bool put = gh_numbermap_put(&map, i, i);
			resources_fail_no_more();
			ck_assert_uint_eq(gh_numbermap_get(&map, i), put ? i : GH_NOT_MAPPED);
			if (put)
				break;
			lost++;
		}
		for (uint32_t before = 0; before < i; before++)
			ck_assert_uint_eq(gh_numbermap_get(&map, before), before);
	}
	/* The keys and the values, for 64, 128, 256 and 512 of them. */
	ck_assert_uint_eq(lost, 2 * 4);
	gh_numbermap_free(&map);
}
END_TEST

void numbermap_tests(TCase *tests)
{
	tcase_add_test(tests, what_is_not_there_is_not_mapped);
	tcase_add_test(tests, all_keys_and_values_can_be);
	tcase_add_test(tests, random_keys_are_found);
	tcase_add_test(tests, regular_keys_spread);
	tcase_add_test(tests, a_key_that_finds_no_memory_is_not_mapped);
}
