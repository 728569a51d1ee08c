#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/util/intern.h"
#include "tests/unit/resources.h"
#include "tests/unit/suites.h"

static uint32_t add(struct gh_intern *set, const char *text)
{
	return gh_intern_add(set, text, strlen(text));
}

static uint32_t find(const struct gh_intern *set, const char *text)
{
	return gh_intern_find(set, text, strlen(text));
}

START_TEST(strings_are_numbered_as_they_come)
{
	struct gh_intern set = {0};
	ck_assert_uint_eq(add(&set, "main.go"), 0);
	ck_assert_uint_eq(add(&set, "a.go"), 1);
	ck_assert_uint_eq(add(&set, "main.go"), 0);
	ck_assert_uint_eq(add(&set, "z.go"), 2);
	ck_assert_uint_eq(add(&set, "a.go"), 1);
	ck_assert_uint_eq(set.count, 3);
	ck_assert_str_eq(set.items[1]->text, "a.go");
	ck_assert_uint_eq(set.items[1]->length, 4);
	ck_assert_uint_eq(set.items[1]->number, 1);
	gh_intern_free(&set);
}
END_TEST

START_TEST(only_what_was_added_is_found)
{
	struct gh_intern set = {0};
	ck_assert_uint_eq(find(&set, "a"), GH_INTERN_NONE);
	add(&set, "a");
	add(&set, "bc");
	ck_assert_uint_eq(find(&set, "a"), 0);
	ck_assert_uint_eq(find(&set, "bc"), 1);
	ck_assert_uint_eq(find(&set, "b"), GH_INTERN_NONE);
	ck_assert_uint_eq(find(&set, "bcd"), GH_INTERN_NONE);
	ck_assert_uint_eq(set.count, 2);
	gh_intern_free(&set);
}
END_TEST

/* Lengths count, and so do NULs: the strings come from tables in which they are not ended. */
START_TEST(strings_are_their_bytes)
{
	struct gh_intern set = {0};
	ck_assert_uint_eq(gh_intern_add(&set, "ab", 1), 0);
	ck_assert_uint_eq(gh_intern_add(&set, "ac", 1), 0);
	ck_assert_uint_eq(gh_intern_add(&set, "ab", 2), 1);
	ck_assert_uint_eq(gh_intern_add(&set, "a\0b", 3), 2);
	ck_assert_uint_eq(gh_intern_add(&set, "a\0c", 3), 3);
	ck_assert_uint_eq(gh_intern_add(&set, "\xff", 1), 4);
	ck_assert_uint_eq(gh_intern_add(&set, "", 0), 5);
	ck_assert_uint_eq(gh_intern_add(&set, NULL, 0), 5);
	gh_intern_free(&set);
}
END_TEST

START_TEST(many_strings)
{
	enum { COUNT = 5000 };
	static char texts[COUNT][8];
	struct gh_intern set = {0};
	for (uint32_t i = 0; i < COUNT; i++) {
		snprintf(texts[i], sizeof(texts[i]), "%u", i * 7 % COUNT);
		ck_assert_uint_eq(add(&set, texts[i]), i);
	}
	ck_assert_uint_eq(set.count, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		char copy[8];
		strcpy(copy, texts[i]);
		ck_assert_uint_eq(add(&set, copy), i);
		ck_assert_ptr_eq(set.items[i]->text, texts[i]);
	}
	gh_intern_free(&set);
	ck_assert_uint_eq(set.count, 0);
	ck_assert_uint_eq(find(&set, texts[0]), GH_INTERN_NONE);
	ck_assert_uint_eq(add(&set, "again"), 0);
	gh_intern_free(&set);
}
END_TEST

/* Each allocation fails in turn: the string that comes next has the next number. */
START_TEST(a_string_that_finds_no_memory_takes_no_number)
{
	static char texts[40][4];
	struct gh_intern set = {0};
	unsigned lost = 0;
	for (uint32_t i = 0; i < 40; i++) {
		snprintf(texts[i], sizeof(texts[i]), "%u", i);
		for (unsigned long number = 1;; number++) {
			resources_fail_at(number);
			uint32_t got = add(&set, texts[i]);
			bool all = resources_fail_no_more() < number;
			ck_assert_uint_eq(got, got == GH_INTERN_NONE ? GH_INTERN_NONE : i);
			ck_assert_uint_eq(set.count, got == GH_INTERN_NONE ? i : i + 1);
			ck_assert_uint_eq(find(&set, texts[i]), got);
			lost += got == GH_INTERN_NONE;
			if (got != GH_INTERN_NONE)
				break;
			ck_assert(!all);
		}
	}
	/* The string's own and its place in the tree, or room for more. */
	ck_assert_uint_eq(lost, 2 * 40);
	gh_intern_free(&set);
}
END_TEST

void intern_tests(TCase *tests)
{
	tcase_add_test(tests, strings_are_numbered_as_they_come);
	tcase_add_test(tests, only_what_was_added_is_found);
	tcase_add_test(tests, strings_are_their_bytes);
	tcase_add_test(tests, many_strings);
	tcase_add_test(tests, a_string_that_finds_no_memory_takes_no_number);
}
