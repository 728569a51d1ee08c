#include "lib/pclntab/pclntab.h"
#include "tests/unit/suites.h"

/* A table of the bytes in BYTES at offset 1, with QUANTUM, and a function at 0x1000. */
#define TABLE(bytes, unit)                                                                         \
	{                                                                                          \
		.pctab = gh_cursor_make((bytes), sizeof(bytes), "test", 0, false),                 \
		.quantum = (unit)                                                                  \
	}

static const struct gh_func func = {.entry = 0x1000, .end = 0x2000};

START_TEST(runs_start_from_minus_one)
{
	/* +1 (0) for 4, -3 (-3) for 2, +200 (197) for 1 */
	static const uint8_t bytes[] = {0xff, 2, 4, 5, 2, 0x90, 3, 1, 0};
	struct gh_pclntab tab = TABLE(bytes, 4);
	struct gh_pcvalue walk;
	gh_pcvalue_start(&walk, &tab, &func, 1);
	ck_assert(gh_pcvalue_next(&walk));
	ck_assert_int_eq(walk.value, 0);
	ck_assert_uint_eq(walk.start, 0x1000);
	ck_assert_uint_eq(walk.end, 0x1010);
	ck_assert(gh_pcvalue_next(&walk));
	ck_assert_int_eq(walk.value, -3);
	ck_assert_uint_eq(walk.end, 0x1018);
	ck_assert(gh_pcvalue_next(&walk));
	ck_assert_int_eq(walk.value, 197);
	ck_assert_uint_eq(walk.end, 0x101c);
	ck_assert(!gh_pcvalue_next(&walk));
	ck_assert(!gh_pcvalue_next(&walk));
	ck_assert_int_eq(gh_pcvalue_at(&tab, &func, 1, 0x0fff), -1);
	ck_assert_int_eq(gh_pcvalue_at(&tab, &func, 1, 0x1000), 0);
	ck_assert_int_eq(gh_pcvalue_at(&tab, &func, 1, 0x1017), -3);
	ck_assert_int_eq(gh_pcvalue_at(&tab, &func, 1, 0x101b), 197);
	ck_assert_int_eq(gh_pcvalue_at(&tab, &func, 1, 0x101c), -1);
	ck_assert_int_eq(gh_pcvalue_at(&tab, &func, 0, 0x1000), -1);
}
END_TEST

START_TEST(a_first_delta_of_zero_is_a_value)
{
	static const uint8_t bytes[] = {0xff, 0, 8, 2, 8, 0};
	struct gh_pclntab tab = TABLE(bytes, 1);
	ck_assert_int_eq(gh_pcvalue_at(&tab, &func, 1, 0x1000), -1);
	ck_assert_int_eq(gh_pcvalue_at(&tab, &func, 1, 0x1008), 0);
}
END_TEST

START_TEST(tables_that_never_end_do)
{
	static const uint8_t no_end[] = {0xff, 2, 1, 2, 1, 2, 1};
	struct gh_pclntab tab = TABLE(no_end, 1);
	struct gh_pcvalue walk;
	gh_pcvalue_start(&walk, &tab, &func, 1);
	unsigned runs = 0;
	while (gh_pcvalue_next(&walk))
		runs++;
	ck_assert_uint_eq(runs, 3);
	/* Runs of no length are passed over, but not for ever. */
	static const uint8_t empty[] = {0xff, 2, 1, 2, 0, 2, 1, 0};
	tab = (struct gh_pclntab)TABLE(empty, 1);
	gh_pcvalue_start(&walk, &tab, &func, 1);
	ck_assert(gh_pcvalue_next(&walk));
	ck_assert(gh_pcvalue_next(&walk));
	ck_assert_int_eq(walk.value, 2);
	ck_assert(!gh_pcvalue_next(&walk));
	uint8_t many[1000];
	for (size_t i = 0; i < sizeof(many); i++)
		many[i] = i % 2 ? 2 : 0;
	tab = (struct gh_pclntab)TABLE(many, 1);
	gh_pcvalue_start(&walk, &tab, &func, 1);
	ck_assert(!gh_pcvalue_next(&walk));
	ck_assert_uint_gt(gh_cursor_left(&walk.cur), 900);
	/* An offset outside the table is no table. */
	gh_pcvalue_start(&walk, &tab, &func, 1000);
	ck_assert(!gh_pcvalue_next(&walk));
}
END_TEST

START_TEST(the_address_space_has_an_end)
{
	static const uint8_t bytes[] = {0xff, 2, 0xff, 0xff, 0xff, 0xff, 0x0f, 0};
	struct gh_pclntab tab = TABLE(bytes, 4);
	struct gh_func last = {.entry = UINT64_MAX - 8, .end = UINT64_MAX};
	struct gh_pcvalue walk;
	gh_pcvalue_start(&walk, &tab, &last, 1);
	ck_assert(!gh_pcvalue_next(&walk));
}
END_TEST

void pcvalue_tests(TCase *tcase)
{
	tcase_add_test(tcase, runs_start_from_minus_one);
	tcase_add_test(tcase, a_first_delta_of_zero_is_a_value);
	tcase_add_test(tcase, tables_that_never_end_do);
	tcase_add_test(tcase, the_address_space_has_an_end);
}
