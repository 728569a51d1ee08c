#include <stdlib.h>

#include "lib/util/bsearch.h"
#include "tests/unit/random.h"
#include "tests/unit/suites.h"

START_TEST(lower_bound_is_before_equal_items)
{
	static const int items[] = {10, 20, 20, 20, 30};
	size_t count = sizeof(items) / sizeof(items[0]);
	ck_assert_uint_eq(gh_lower_bound(count, i, items[i] < 5), 0);
	ck_assert_uint_eq(gh_lower_bound(count, i, items[i] < 10), 0);
	ck_assert_uint_eq(gh_lower_bound(count, i, items[i] < 20), 1);
	ck_assert_uint_eq(gh_lower_bound(count, i, items[i] <= 20), 4);
	ck_assert_uint_eq(gh_lower_bound(count, i, items[i] < 25), 4);
	ck_assert_uint_eq(gh_lower_bound(count, i, items[i] < 31), 5);
}
END_TEST

START_TEST(no_items_are_not_looked_at)
{
	size_t count = 0;
	ck_assert_uint_eq(gh_lower_bound(count, i, (abort(), i == 0)), 0);
}
END_TEST

/* Against a count of the numbers before each place, one by one. */
START_TEST(every_place_of_every_small_count_is_found)
{
	for (uint32_t count = 0; count < 70; count++)
		for (uint32_t place = 0; place <= count; place++) {
			unsigned steps = 0;
			uint32_t found = gh_lower_bound(
			    count, i, (steps++, i >= count ? abort() : (void)0, i < place));
			ck_assert_uint_eq(found, place);
			ck_assert_uint_le(steps, 7);
		}
}
END_TEST

START_TEST(random_items_are_found_as_by_counting)
{
	uint32_t items[200];
	uint32_t count = sizeof(items) / sizeof(items[0]);
	items[0] = next_random() % 5;
	for (uint32_t i = 1; i < count; i++)
		items[i] = items[i - 1] + next_random() % 5;
	for (uint32_t value = 0; value <= items[count - 1] + 1; value++) {
		uint32_t less = 0;
		while (less < count && items[less] < value)
			less++;
		ck_assert_uint_eq(gh_lower_bound(count, i, items[i] < value), less);
	}
}
END_TEST

/* The middle of two large numbers is not half of their sum, which would wrap. */
START_TEST(large_counts_do_not_overflow)
{
	ck_assert_uint_eq(gh_lower_bound(UINT32_MAX, i, i < UINT32_MAX - 1), UINT32_MAX - 1);
	ck_assert_uint_eq(gh_lower_bound(UINT64_MAX, i, i < UINT64_MAX), UINT64_MAX);
}
END_TEST

START_TEST(the_count_is_evaluated_once)
{
	size_t counted = 0;
	ck_assert_uint_eq(gh_lower_bound((counted++, (size_t)100), i, i < 50), 50);
	ck_assert_uint_eq(counted, 1);
}
END_TEST

void bsearch_tests(TCase *tests)
{
	tcase_add_test(tests, lower_bound_is_before_equal_items);
	tcase_add_test(tests, no_items_are_not_looked_at);
	tcase_add_test(tests, every_place_of_every_small_count_is_found);
	tcase_add_test(tests, random_items_are_found_as_by_counting);
	tcase_add_test(tests, large_counts_do_not_overflow);
	tcase_add_test(tests, the_count_is_evaluated_once);
}
