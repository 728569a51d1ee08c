#include <stdlib.h>
#include <string.h>

#include "lib/process/internal.h"
#include "tests/unit/suites.h"

/* Ten objects of 24 bytes and 16 bytes that are none; a part that was copied whole; two objects of
 * a page each. */
static struct gh_live_part parts[] = {
    {.start = 0x1000, .size = 0x100, .elemsize = 24, .words = 0},
    {.start = 0x1100, .size = 0x100, .elemsize = 32, .whole = true},
    {.start = 0x1400, .size = 0x2000, .elemsize = 0x1000, .words = 10},
};
static uint64_t words[12];
static struct gh_live_copy live;

static void setup(void)
{
	for (unsigned i = 0; i < 12; i++)
		words[i] = 0x0102030405060708 + i;
	live = (struct gh_live_copy){.bare = true};
	live.parts.list.items = parts;
	live.parts.list.count = 3;
	live.parts.words = words;
}

/* SIZE bytes at ADDRESS are EXPECTED many of a part's, or MOST are of none. */
static void fill(uint8_t *to, uint64_t address, size_t size, size_t expected, size_t most)
{
	size_t left = 0;
	memset(to, 0xff, size);
	ck_assert_uint_eq(gh_first_words_fill(&live, address, to, size, &left), expected);
	if (expected == 0)
		ck_assert_uint_eq(left, most);
}

/* The 8 bytes at TO are word NUMBER. */
static void is_word(const uint8_t *to, unsigned number)
{
	ck_assert_mem_eq(to, &words[number], 8);
}

static void is_zero(const uint8_t *to, size_t size)
{
	for (size_t i = 0; i < size; i++)
		ck_assert_uint_eq(to[i], 0);
}

START_TEST(each_object_has_its_first_word)
{
	uint8_t bytes[0x100];
	fill(bytes, 0x1000, 64, 64, 0);
	for (unsigned i = 0; i < 2; i++) {
		is_word(bytes + 24 * i, i);
		is_zero(bytes + 24 * i + 8, 16);
	}
	is_word(bytes + 48, 2);
	is_zero(bytes + 56, 8);
}
END_TEST

START_TEST(words_are_cut_where_what_is_read_is)
{
	uint8_t bytes[0x100];
	fill(bytes, 0x1003, 16, 16, 0);
	ck_assert_mem_eq(bytes, (uint8_t *)&words[0] + 3, 5);
	is_zero(bytes + 5, 11);
	fill(bytes, 0x1010, 12, 12, 0);
	is_zero(bytes, 8);
	ck_assert_mem_eq(bytes + 8, &words[1], 4);
}
END_TEST

START_TEST(a_part_ends_what_is_filled)
{
	uint8_t bytes[0x100];
	fill(bytes, 0x10d8, 0x100, 0x28, 0);
	is_word(bytes, 9);
	is_zero(bytes + 8, 0x20);
}
END_TEST

START_TEST(what_was_copied_whole_or_is_no_part_is_left)
{
	uint8_t bytes[0x1000];
	fill(bytes, 0x1100, 0x1000, 0, 0x300);
	fill(bytes, 0x1180, 0x80, 0, 0x80);
	fill(bytes, 0x1300, 0x200, 0, 0x100);
	fill(bytes, 0x1300, 0x20, 0, 0x20);
	fill(bytes, 0x3400, 8, 0, 8);
	fill(bytes, 0xfff, 8, 0, 1);
}
END_TEST

START_TEST(large_objects_have_one_word_each)
{
	uint8_t bytes[0x1000];
	fill(bytes, 0x1400, 0x1000, 0x1000, 0);
	is_word(bytes, 10);
	is_zero(bytes + 8, 0xff8);
	fill(bytes, 0x2400, 16, 16, 0);
	is_word(bytes, 11);
	is_zero(bytes + 8, 8);
}
END_TEST

void first_words_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, each_object_has_its_first_word);
	tcase_add_test(tests, words_are_cut_where_what_is_read_is);
	tcase_add_test(tests, a_part_ends_what_is_filled);
	tcase_add_test(tests, what_was_copied_whole_or_is_no_part_is_left);
	tcase_add_test(tests, large_objects_have_one_word_each);
}
