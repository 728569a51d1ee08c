/* What is emitted can be followed by what is printed without: it is all written by then. */
#include <stdio.h>
#include <stdlib.h>

#include "plugin/view/emit.h"
#include "tests/unit/suites.h"

struct row {
	uint64_t number;
};

static const struct gh_column columns[] = {{"n", GH_COL_NUMBER(struct row, number)}, {0}};
static const struct row row = {7};

/* Emits each way, with a mark printed after it. */
static void emit_all(struct gh_emit *emit)
{
	FILE *out = emit->out;
	gh_emit_open(emit);
	putc('|', out);
	gh_emit_values(emit, columns, &row);
	putc('|', out);
	gh_emit_next(emit);
	putc('|', out);
	gh_emit_object(emit, columns, &row);
	putc('|', out);
	gh_emit_item(emit, columns, &row);
	putc('|', out);
	gh_emit_item_number(emit, 8);
	putc('|', out);
	gh_emit_close(emit);
	putc('|', out);
	gh_emit_row(emit, columns, &row);
	putc('|', out);
	gh_emit_end(emit);
	putc('|', out);
}

static void check_emitted(enum gh_emit_layout layout, bool json, const char *expected)
{
	char *text;
	size_t length;
	struct gh_dump dump = {.objects.bytes = 1000};
	FILE *out = open_memstream(&text, &length);
	struct gh_emit emit = gh_emit_start(out, layout, &dump, json);
	emit_all(&emit);
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(what_is_emitted_is_written)
{
	check_emitted(GH_EMIT_ROWS, true,
		      "{|\"n\":7|,|{\"n\":7}|,{\"n\":7}|,8|}|,\"n\":7}\n|{}\n|");
	check_emitted(GH_EMIT_ROWS, false, "|7||\t7|\t7|8||\t7\n|\n|");
}
END_TEST

START_TEST(sizes)
{
	static const struct {
		uint64_t size;
		const char *text;
	} cases[] = {
	    {0, "0 bytes"},
	    {1, "1 byte"},
	    {512, "512 bytes"},
	    {999, "999 bytes"},
	    {1000, "1.00 kB"},
	    {4430000, "4.43 MB"},
	    /* Three digits, and no fourth by rounding. */
	    {9994, "9.99 kB"},
	    {9995, "10.0 kB"},
	    {99949, "99.9 kB"},
	    {99950, "100 kB"},
	    {999499, "999 kB"},
	    {999500, "1.00 MB"},
	    {999499999, "999 MB"},
	    {999500000, "1.00 GB"},
	    {UINT64_MAX, "18.4 EB"},
	};
	char buf[GH_SIZE_TEXT];
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(gh_size_text(cases[i].size, buf), cases[i].text);
	gh_print_exact(true);
	ck_assert_str_eq(gh_size_text(4430000, buf), "4,430,000 bytes");
	ck_assert_str_eq(gh_size_text(1, buf), "1 byte");
	gh_print_exact(false);
}
END_TEST

START_TEST(counts)
{
	static const struct {
		uint64_t number;
		const char *text;
	} cases[] = {
	    {0, "0"},
	    {999999, "999,999"},
	    {1000000, "1.00 M"},
	    {23960000, "24.0 M"},
	    {999499999, "999 M"},
	    {999500000, "1.00 G"},
	    {UINT64_MAX, "18.4 E"},
	};
	char buf[GH_SIZE_TEXT];
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(gh_number_text(cases[i].number, buf), cases[i].text);
	gh_print_exact(true);
	ck_assert_str_eq(gh_number_text(23960000, buf), "23,960,000");
	gh_print_exact(false);
}
END_TEST

void emit_tests(TCase *tests)
{
	tcase_add_test(tests, what_is_emitted_is_written);
	tcase_add_test(tests, sizes);
	tcase_add_test(tests, counts);
}
