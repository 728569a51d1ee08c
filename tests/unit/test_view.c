/* Values as text, tables and JSON. What is expected is written out by hand. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/escape.h"
#include "lib/util/top.h"
#include "plugin/view/emit.h"
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

/* All kinds of values. */
struct values {
	uint64_t number;
	uint64_t address;
	int64_t difference;
	int32_t line;
	bool yes;
	bool no;
	const char *text;
	const char *file;
	struct gh_bytes bytes;
	struct gh_bytes ready;
	struct gh_dump_slice slice;
	struct gh_known there;
	struct gh_known absent;
	struct gh_share share;
};

static const struct values values = {
    .number = UINT64_MAX,
    .address = 0xc000010000,
    .difference = -1000,
    .line = -1,
    .yes = true,
    .text = "a\"b\\c\td\n\x1b[m\xff\xc3\xa9",
    .file = "",
    .bytes = {"x\ny", 3},
    .ready = {"\\x", 2},
    .there = {UINT64_MAX, true},
    .share = {1, 3},
};

static const struct gh_column row_columns[] = {
    {"number", GH_COL_NUMBER(struct values, number)},
    {"address", GH_COL_ADDRESS(struct values, address)},
    {"difference", GH_COL_SIGNED(struct values, difference)},
    {"line", GH_COL_LINE(struct values, line)},
    {"yes", GH_COL_BOOL(struct values, yes)},
    {"no", GH_COL_BOOL(struct values, no)},
    {"text", GH_COL_TEXT(struct values, text)},
    {"name", GH_COL_NAME(struct values, text)},
    {"file", GH_COL_FILE(struct values, file)},
    {"bytes", GH_COL_BYTES(struct values, bytes)},
    {"ready", GH_COL_READY(struct values, ready)},
    {"unknown", GH_COL_KNOWN_SLICE(struct values, slice)},
    {"there", GH_COL_KNOWN_NUMBER(struct values, there)},
    {"absent", GH_COL_KNOWN_ADDRESS(struct values, absent)},
    {0},
};

/* In two rows, of which one has a single value. */
static void print_rows(bool json)
{
	static const struct gh_column no[] = {{"no", GH_COL_BOOL(struct values, no)}, {0}};
	begin();
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, json);
	gh_emit_values(&emit, row_columns, &values);
	gh_emit_row(&emit, no, &values);
	gh_emit_row(&emit, no, &values);
	ck_assert_uint_eq(emit.rows, 2);
}

START_TEST(rows_of_text_are_tab_separated)
{
	print_rows(false);
	check_printed("18446744073709551615\t0xc000010000\t-1000\t-1\tyes\tno\t"
		      "a\"b\\\\c\\td\\n\\x1b[m\\xff\xc3\xa9\ta\"b\\\\c\\td\\n\\x1b[m\\xff\xc3\xa9\t"
		      "?\tx\\ny\t\\x\t?\t18446744073709551615\t?\tno\nno\n");
}
END_TEST

START_TEST(rows_of_json_are_objects)
{
	print_rows(true);
	check_printed("{\"number\":18446744073709551615,\"address\":\"0xc000010000\","
		      "\"difference\":-1000,\"line\":-1,\"yes\":true,\"no\":false,"
		      "\"text\":\"a\\\"b\\\\c\\td\\n\\u001b[m\xef\xbf\xbd\xc3\xa9\","
		      "\"name\":\"a\\\"b\\\\c\\td\\n\\u001b[m\xef\xbf\xbd\xc3\xa9\","
		      "\"file\":null,\"bytes\":\"x\\ny\",\"ready\":\\x,\"unknown\":null,"
		      "\"there\":18446744073709551615,\"absent\":null,\"no\":false}\n"
		      "{\"no\":false}\n");
}
END_TEST

/* Numbers, and objects that have a list of numbers each. */
static void print_numbers(struct gh_emit *emit, const void *member)
{
	const struct values *row = member;
	gh_emit_item_number(emit, row->address);
	gh_emit_item_number(emit, row->number);
}

static void print_objects(struct gh_emit *emit, const void *member)
{
	static const struct gh_column item[] = {
	    {"line", GH_COL_LINE(struct values, line)},
	    {"numbers", GH_COL_LIST(print_numbers), .only = GH_IN_JSON},
	    {"yes", GH_COL_BOOL(struct values, yes)},
	    {0},
	};
	gh_emit_item(emit, item, member);
	gh_emit_item(emit, item, member);
}

static void print_nothing(struct gh_emit *emit, const void *member)
{
	(void)emit;
	(void)member;
}

static const struct gh_column list_columns[] = {
    {"none", GH_COL_LIST(print_nothing)},
    {"objects", GH_COL_LIST(print_objects)},
    {"no", GH_COL_BOOL(struct values, no)},
    {0},
};

START_TEST(lists_nest_in_json)
{
	begin();
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, true);
	gh_emit_row(&emit, list_columns, &values);
	check_printed("{\"none\":[],\"objects\":["
		      "{\"line\":-1,\"numbers\":[824633786368,18446744073709551615],\"yes\":true},"
		      "{\"line\":-1,\"numbers\":[824633786368,18446744073709551615],\"yes\":true}],"
		      "\"no\":false}\n");
}
END_TEST

START_TEST(a_list_is_more_values_of_a_row_of_text)
{
	begin();
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, false);
	gh_emit_row(&emit, list_columns, &values);
	check_printed("-1\tyes\t-1\tyes\tno\n");
}
END_TEST

START_TEST(what_is_optional_is_left_out_of_json)
{
	static const struct gh_column columns[] = {
	    {"yes", GH_COL_BOOL(struct values, yes), .optional = true},
	    {"no", GH_COL_BOOL(struct values, no), .optional = true},
	    {"file", GH_COL_FILE(struct values, file), .optional = true},
	    {"text", GH_COL_TEXT(struct values, ready.data), .optional = true},
	    {"unknown", GH_COL_KNOWN_SLICE(struct values, slice), .optional = true},
	    {"there", GH_COL_KNOWN_ADDRESS(struct values, there), .optional = true},
	    {"absent", GH_COL_KNOWN_NUMBER(struct values, absent), .optional = true},
	    {0},
	};
	begin();
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, true);
	gh_emit_row(&emit, columns, &values);
	check_printed("{\"yes\":true,\"text\":\"\\\\x\",\"there\":\"0xffffffffffffffff\"}\n");
}
END_TEST

static void print_report(bool json)
{
	static const struct gh_column columns[] = {
	    {"big_number", GH_COL_NUMBER(struct values, number)},
	    {"a", GH_COL_ADDRESS(struct values, address)},
	    {"seventeen_letters", GH_COL_KNOWN_SLICE(struct values, slice)},
	    {"numbers", GH_COL_LIST(print_numbers)},
	    {0},
	};
	begin();
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_REPORT, NULL, json);
	gh_emit_row(&emit, columns, &values);
}

START_TEST(a_report_has_a_line_for_each_value)
{
	print_report(false);
	check_printed("big number:       18446744073709551615\n"
		      "a:                0xc000010000\n"
		      "seventeen letters:unknown\n"
		      "numbers:          824633786368 18446744073709551615\n");
	print_report(true);
	check_printed(
	    "{\"big_number\":18446744073709551615,\"a\":\"0xc000010000\","
	    "\"seventeen_letters\":null,\"numbers\":[824633786368,18446744073709551615]}\n");
}
END_TEST

START_TEST(an_empty_report_is_an_empty_object)
{
	begin();
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_REPORT, NULL, true);
	gh_emit_end(&emit);
	emit = gh_emit_start(stdout, GH_EMIT_REPORT, NULL, false);
	gh_emit_end(&emit);
	check_printed("{}\n");
}
END_TEST

/* A dump whose objects have BYTES bytes. */
static struct gh_dump sized_dump(uint64_t bytes)
{
	return (struct gh_dump){.objects.bytes = bytes};
}

struct table_row {
	uint64_t bytes;
	struct gh_share share;
	int64_t change;
	struct gh_known address;
	const char *type;
};

static const struct gh_column table_columns[] = {
    {"bytes", GH_COL_SIZE(struct table_row, bytes)},
    {"%", GH_COL_SHARE(struct table_row, share), .only = GH_IN_TEXT},
    {"change", GH_COL_SIGNED(struct table_row, change), .title = "more"},
    {"address", GH_COL_KNOWN_ADDRESS(struct table_row, address)},
    {"type", GH_COL_TEXT(struct table_row, type)},
    {0},
};

static void print_table(const struct gh_dump *dump, bool json)
{
	static const struct table_row rows[] = {
	    {1234567, {1, 3}, -1000, {0xc000010000, true}, "main.T[\"\n\"]"},
	    {999, {1, 0}, 5, {0}, NULL},
	};
	begin();
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_TABLE, dump, json);
	gh_emit_titles(&emit, table_columns);
	gh_emit_row(&emit, table_columns, &rows[0]);
	gh_emit_row(&emit, table_columns, &rows[1]);
	gh_emit_finish(&emit, 2001);
}

START_TEST(columns_are_aligned)
{
	struct gh_dump dump = sized_dump(1234567);
	print_table(&dump, false);
	check_printed("       bytes      %        more         address  type\n"
		      "     1.23 MB  33.3%      -1,000    0xc000010000  main.T[\"\\n\"]\n"
		      "   999 bytes   0.0%          +5                  ?\n"
		      "and 1,999 more: --limit 0 prints all\n");
	gh_print_exact(true);
	print_table(&dump, false);
	check_printed("       bytes      %        more         address  type\n"
		      "   1,234,567  33.3%      -1,000    0xc000010000  main.T[\"\\n\"]\n"
		      "         999   0.0%          +5                  ?\n"
		      "and 1,999 more: --limit 0 prints all\n");
	gh_print_exact(false);
}
END_TEST

START_TEST(columns_are_as_wide_as_the_largest_number)
{
	static const struct gh_column columns[] = {
	    {"bytes", GH_COL_NUMBER(struct table_row, bytes)},
	    {"change", GH_COL_SIGNED(struct table_row, change)},
	    {0},
	};
	struct gh_dump dump = sized_dump(UINT64_C(1234567890123));
	struct table_row row = {.bytes = dump.objects.bytes};
	gh_print_exact(true);
	begin();
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_TABLE, &dump, false);
	gh_emit_row(&emit, columns, &row);
	gh_emit_finish(&emit, 1);
	check_printed("  1,234,567,890,123                  0\n");
	gh_print_exact(false);
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
	static const struct gh_column columns[] = {
	    {"change", GH_COL_SIGNED(struct table_row, change)},
	    {0},
	};
	static const int64_t numbers[] = {INT64_MIN, INT64_MAX, 0};
	struct gh_dump dump = sized_dump(UINT64_MAX);
	gh_print_exact(true);
	begin();
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_TABLE, &dump, false);
	for (size_t i = 0; i < 3; i++)
		gh_emit_values(&emit, columns, &(struct table_row){.change = numbers[i]});
	gh_emit_end(&emit);
	check_printed("  -9,223,372,036,854,775,808  +9,223,372,036,854,775,807"
		      "                           0\n");
	gh_print_exact(false);
}
END_TEST

START_TEST(counts_have_their_plural)
{
	begin();
	gh_print_count(stdout, 0, "object");
	gh_print_count(stdout, 1, "object");
	gh_print_count(stdout, 1000, "object");
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

START_TEST(long_names_are_cut)
{
	static char name[GH_MAX_NAME + 2];
	static char expected[GH_MAX_NAME + 6];
	memset(name, 'x', GH_MAX_NAME);
	begin();
	gh_print_name(stdout, name, false);
	check_printed(name);
	ck_assert_uint_eq(gh_print_names_cut(), 0);
	memcpy(expected, name, GH_MAX_NAME);
	memcpy(expected + GH_MAX_NAME, "[...]", 5);
	name[GH_MAX_NAME] = 'x';
	begin();
	gh_print_name(stdout, name, false);
	check_printed(expected);
	ck_assert_uint_eq(gh_print_names_cut(), 1);
}
END_TEST

START_TEST(the_largest_come_first_and_of_equals_the_lowest_number)
{
	static const uint64_t keys[] = {5, 7, 5, 9, 1, 7, 5, 9};
	static const uint32_t expected[] = {3, 7, 1, 5, 0, 2, 6, 4};
	for (size_t limit = 0; limit <= 8; limit++) {
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

/* The largest first: the smallest of them has come last when one larger than all makes it go. */
START_TEST(the_smallest_of_many_goes)
{
	enum { LIMIT = 100 };
	struct gh_top top = {.limit = LIMIT};
	size_t count;
	for (uint32_t i = 0; i < LIMIT; i++)
		gh_top_add(&top, LIMIT - i, i);
	gh_top_add(&top, LIMIT + 1, LIMIT);
	const struct gh_top_item *items = gh_top_finish(&top, &count);
	ck_assert_uint_eq(count, LIMIT);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(items[i].key, LIMIT + 1 - i);
	gh_top_free(&top);
}
END_TEST

START_TEST(the_line_of_progress_is_wiped)
{
	static const char shown[] = "\rgoheap: reading a\\x1bb, 1 s\x1b[K";
	static const char wiped[] = "\r\x1b[K";
	char printed[256] = "";
	int reader = posix_openpt(O_RDWR | O_NOCTTY);
	ck_assert(reader >= 0 && grantpt(reader) == 0 && unlockpt(reader) == 0);
	int writer = open(ptsname(reader), O_RDWR | O_NOCTTY);
	int before = dup(STDERR_FILENO);
	ck_assert(writer >= 0 && dup2(writer, STDERR_FILENO) >= 0);
	gh_progress_begin("goheap: reading", "/tmp/a\x1b"
					     "b");
	raise(SIGALRM);
	gh_progress_end();
	ck_assert(dup2(before, STDERR_FILENO) >= 0);
	/* It comes in parts. Should the line not be wiped, the test's time runs out. */
	for (size_t size = 0;
	     size < sizeof(shown) || strcmp(printed + size - sizeof(wiped) + 1, wiped) != 0;) {
		ssize_t more = read(reader, printed + size, sizeof(printed) - 1 - size);
		ck_assert_int_gt(more, 0);
		size += (size_t)more;
	}
	/* On a busy machine more seconds may have passed. */
	ck_assert_mem_eq(printed, shown, sizeof(shown) - 1);
	close(before);
	close(writer);
	close(reader);
}
END_TEST

void view_tests(TCase *tcase)
{
	tcase_add_test(tcase, the_line_of_progress_is_wiped);
	tcase_add_test(tcase, rows_of_text_are_tab_separated);
	tcase_add_test(tcase, rows_of_json_are_objects);
	tcase_add_test(tcase, lists_nest_in_json);
	tcase_add_test(tcase, a_list_is_more_values_of_a_row_of_text);
	tcase_add_test(tcase, what_is_optional_is_left_out_of_json);
	tcase_add_test(tcase, a_report_has_a_line_for_each_value);
	tcase_add_test(tcase, an_empty_report_is_an_empty_object);
	tcase_add_test(tcase, columns_are_aligned);
	tcase_add_test(tcase, columns_are_as_wide_as_the_largest_number);
	tcase_add_test(tcase, a_table_in_json_has_names_for_titles);
	tcase_add_test(tcase, signed_numbers_have_their_sign);
	tcase_add_test(tcase, counts_have_their_plural);
	tcase_add_test(tcase, long_texts_are_cut_between_characters);
	tcase_add_test(tcase, long_names_are_cut);
	tcase_add_test(tcase, the_largest_come_first_and_of_equals_the_lowest_number);
	tcase_add_test(tcase, the_smallest_of_many_goes);
}
