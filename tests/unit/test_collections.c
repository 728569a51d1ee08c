#include "lib/dump/dump.h"
#include "tests/unit/suites.h"

#define SECOND UINT64_C(1000000000)
#define START  (1700000000 * SECOND)

/* Collections that ended 0, 100, 200 and 205 seconds after START. */
static const struct gh_collections collections = {
    .nends = 4, .ends = {START, START + 100 * SECOND, START + 200 * SECOND, START + 205 * SECOND}};

/* The least wait, in seconds, at SECONDS after START, of a goroutine that is said to have waited
 * since a moment before the collection that ended SINCE seconds after START. */
static uint64_t least(uint64_t since, uint64_t seconds)
{
	uint64_t now = START + seconds * SECOND;
	uint64_t waited = (seconds - since) * SECOND + SECOND / 1000;
	return gh_collections_least_wait(&collections, waited, now) / SECOND;
}

START_TEST(the_next_collection_saw_the_goroutine_blocked)
{
	ck_assert_uint_eq(least(0, 300), 200);
	ck_assert_uint_eq(least(100, 300), 100);
	ck_assert_uint_eq(least(200, 300), 95);
}
END_TEST

START_TEST(the_latest_collection_has_not_ended)
{
	ck_assert_uint_eq(least(205, 300), 0);
}
END_TEST

START_TEST(older_collections_than_are_known)
{
	uint64_t waited = 5000 * SECOND;
	ck_assert_uint_eq(
	    gh_collections_least_wait(&collections, waited, START + 300 * SECOND) / SECOND, 200);
}
END_TEST

START_TEST(nothing_is_known)
{
	const struct gh_collections none = {0};
	ck_assert_uint_eq(gh_collections_least_wait(&none, SECOND, START), 0);
	ck_assert_uint_eq(gh_collections_least_wait(&collections, 0, START + 300 * SECOND), 0);
	/* The clock was set back. */
	ck_assert_uint_eq(gh_collections_least_wait(&collections, SECOND, START - SECOND), 0);
}
END_TEST

void collections_tests(TCase *tests)
{
	tcase_add_test(tests, the_next_collection_saw_the_goroutine_blocked);
	tcase_add_test(tests, the_latest_collection_has_not_ended);
	tcase_add_test(tests, older_collections_than_are_known);
	tcase_add_test(tests, nothing_is_known);
}
