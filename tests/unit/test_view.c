/* Values as text, tables and JSON. What is expected is written out by hand. */
#include <stdlib.h>
#include <string.h>

#include "plugin/view/row.h"
#include "plugin/view/size.h"
#include "plugin/view/table.h"
#include "plugin/view/top.h"
#include "tests/unit/suites.h"

/* What is printed to standard output between begin and printed. */
static char *text;
static size_t length;
static FILE *terminal;

static void begin(void)
{
	terminal = stdout;
	stdout = open_memstream(&text, &length);
	ck_assert_ptr_nonnull(stdout);
}

static void check_printed(const char *expected)
{
	fclose(stdout);
	stdout = terminal;
	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(sizes)
{
	static const struct {
		uint64_t size;
		const char *text;
	} cases[] = {
	    {0, "0 bytes"},
	    {512, "512 bytes"},
	    {999, "999 bytes"},
	    {1000, "1.0 kB"},
	    {4430000, "4.4 MB"},
	    /* Three digits, and no fourth by rounding. */
	    {99949, "99.9 kB"},
	    {99950, "100 kB"},
	    {999499, "999 kB"},
	    {999500, "1.0 MB"},
	    {999499999, "999 MB"},
	    {999500000, "1.0 GB"},
	    {UINT64_MAX, "18.4 EB"},
	};
	char buf[GH_SIZE_TEXT];
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(gh_size_text(cases[i].size, buf), cases[i].text);
}
END_TEST

/* All kinds of values, in two rows. */
static void print_rows(bool json)
{
	struct gh_row row = {.json = json};
	begin();
	gh_row_number(&row, "number", UINT64_MAX);
	gh_row_address(&row, "address", 0xc000010000);
	gh_row_bool(&row, "yes", true);
	gh_row_bool(&row, "no", false);
	gh_row_text(&row, "text", "a\"b\\c\td\n\x1b[m\xff\xc3\xa9");
	gh_row_slice(&row, "unknown", (struct gh_dump_slice){0});
	gh_row_end(&row);
	gh_row_number(&row, "number", 0);
	gh_row_end(&row);
}

START_TEST(rows_of_text_are_tab_separated)
{
	print_rows(false);
	check_printed("18446744073709551615\t0xc000010000\tyes\tno\t"
		      "a\"b\\\\c\\td\\n\\x1b[m\\xff\xc3\xa9\t?\n0\n");
}
END_TEST

START_TEST(rows_of_json_are_objects)
{
	print_rows(true);
	check_printed("{\"number\":18446744073709551615,\"address\":\"0xc000010000\",\"yes\":true,"
		      "\"no\":false,\"text\":\"a\\\"b\\\\c\\td\\n\\u001b[m\xef\xbf\xbd\xc3\xa9\","
		      "\"unknown\":null}\n{\"number\":0}\n");
}
END_TEST

/* A dump whose objects have BYTES bytes. */
static struct gh_dump sized_dump(uint64_t bytes)
{
	return (struct gh_dump){.objects.bytes = bytes};
}

static void print_table(const struct gh_dump *dump, bool json)
{
	static const char *const titles[] = {"bytes", "%", "change", "@address", "type"};
	struct gh_table table = gh_table_start(dump, json);
	begin();
	gh_table_titles(&table, titles, 5, 4);
	gh_table_number(&table, "bytes", 1234567);
	gh_table_share(&table, 1, 3);
	gh_table_signed(&table, "change", -1000);
	gh_table_address(&table, "address", 0xc000010000);
	gh_table_text(&table, "type", "main.T[\"\n\"]");
	gh_table_end(&table);
	gh_table_number(&table, "bytes", 999);
	gh_table_share(&table, 1, 0);
	gh_table_signed(&table, "change", 5);
	gh_table_no_address(&table, "address");
	gh_table_text(&table, "type", NULL);
	gh_table_end(&table);
	gh_table_finish(&table, 2001);
}

START_TEST(columns_are_aligned)
{
	struct gh_dump dump = sized_dump(1234567);
	print_table(&dump, false);
	check_printed("       bytes      %      change         address  type\n"
		      "   1,234,567  33.3%      -1,000    0xc000010000  main.T[\"\\n\"]\n"
		      "         999   0.0%          +5                  ?\n"
		      "and 1,999 more: --limit 0 prints all\n");
}
END_TEST

START_TEST(columns_are_as_wide_as_the_largest_number)
{
	struct gh_dump dump = sized_dump(UINT64_C(1234567890123));
	struct gh_table table = gh_table_start(&dump, false);
	begin();
	gh_table_number(&table, "bytes", UINT64_C(1234567890123));
	gh_table_number(&table, "bytes", 0);
	gh_table_end(&table);
	gh_table_finish(&table, 1);
	check_printed("  1,234,567,890,123                  0\n");
}
END_TEST

START_TEST(a_table_in_json_has_names_for_titles)
{
	struct gh_dump dump = sized_dump(1234567);
	print_table(&dump, true);
	check_printed("{\"bytes\":1234567,\"change\":-1000,\"address\":\"0xc000010000\","
		      "\"type\":\"main.T[\\\"\\n\\\"]\"}\n"
		      "{\"bytes\":999,\"change\":5,\"address\":null,\"type\":null}\n");
}
END_TEST

START_TEST(signed_numbers_have_their_sign)
{
	struct gh_dump dump = sized_dump(UINT64_MAX);
	struct gh_table table = gh_table_start(&dump, false);
	begin();
	gh_table_signed(&table, "change", INT64_MIN);
	gh_table_signed(&table, "change", INT64_MAX);
	gh_table_signed(&table, "change", 0);
	gh_table_end(&table);
	check_printed("  -9,223,372,036,854,775,808  +9,223,372,036,854,775,807"
		      "                           0\n");
}
END_TEST

START_TEST(counts_have_their_plural)
{
	begin();
	gh_print_count(0, "object");
	gh_print_count(1, "object");
	gh_print_count(1000, "object");
	check_printed("0 objects1 object1,000 objects");
}
END_TEST

START_TEST(long_texts_are_cut_between_characters)
{
	char data[62];
	memset(data, 'x', sizeof(data));
	begin();
	gh_print_start(data, 60);
	check_printed("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	begin();
	gh_print_start(data, 61);
	check_printed("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...");
	/* The euro sign, three bytes, begins before the 60th. */
	memcpy(data + 58, "\xe2\x82\xac", 3);
	begin();
	gh_print_start(data, 62);
	check_printed("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...");
}
END_TEST

START_TEST(the_largest_come_first_and_of_equals_the_lowest_number)
{
	static const uint64_t keys[] = {5, 7, 5, 9, 1, 7, 5, 9};
	static const uint32_t expected[] = {3, 7, 1, 5, 0, 2, 6, 4};
	for (size_t limit = 1; limit <= 8; limit++) {
		struct gh_top top = {.limit = limit};
		size_t count;
		for (uint32_t i = 0; i < 8; i++)
			gh_top_add(&top, keys[i], i);
		const struct gh_top_item *items = gh_top_finish(&top, &count);
		ck_assert_uint_eq(count, limit);
		ck_assert_uint_eq(top.seen, 8);
		ck_assert_uint_eq(top.total, 48);
		for (size_t i = 0; i < count; i++)
			ck_assert_uint_eq(items[i].number, expected[i]);
		gh_top_free(&top);
	}
}
END_TEST

Suite *view_suite(void)
{
	Suite *suite = suite_create("view");
	TCase *tcase = tcase_create("view");
	tcase_add_test(tcase, sizes);
	tcase_add_test(tcase, rows_of_text_are_tab_separated);
	tcase_add_test(tcase, rows_of_json_are_objects);
	tcase_add_test(tcase, columns_are_aligned);
	tcase_add_test(tcase, columns_are_as_wide_as_the_largest_number);
	tcase_add_test(tcase, a_table_in_json_has_names_for_titles);
	tcase_add_test(tcase, signed_numbers_have_their_sign);
	tcase_add_test(tcase, counts_have_their_plural);
	tcase_add_test(tcase, long_texts_are_cut_between_characters);
	tcase_add_test(tcase, the_largest_come_first_and_of_equals_the_lowest_number);
	suite_add_tcase(suite, tcase);
	return suite;
}
