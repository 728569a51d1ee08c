#include <stdlib.h>

#include "lib/util/escape.h"
#include "tests/unit/suites.h"

/* What FUNCTION prints for TEXT; in a buffer that the next call uses again. */
static const char *printed(void (*function)(FILE *, const char *), const char *text)
{
	static char buf[256];
	FILE *out = fmemopen(buf, sizeof(buf), "w");
	function(out, text);
	fclose(out);
	return buf;
}

START_TEST(nothing_that_a_terminal_acts_on_gets_through)
{
	ck_assert_str_eq(printed(gh_escape_print, "main.f"), "main.f");
	ck_assert_str_eq(printed(gh_escape_print, "a\nb\tc\\d"), "a\\nb\\tc\\\\d");
	ck_assert_str_eq(printed(gh_escape_print, "\x1b[2J\x7f"), "\\x1b[2J\\x7f");
	ck_assert_str_eq(printed(gh_escape_print, "caf\xc3\xa9"), "caf\xc3\xa9");
	ck_assert_str_eq(printed(gh_escape_print, "\xff\xc3"), "\\xff\\xc3");
	/* U+009B, the C1 control sequence introducer, is valid UTF-8 */
	ck_assert_ptr_null(strstr(printed(gh_escape_print, "\xc2\x9b"
							   "2J"),
				  "\xc2\x9b"));
}
END_TEST

START_TEST(text_is_cut_to_fit)
{
	char buf[8];
	ck_assert_str_eq(gh_escape_text(buf, sizeof(buf), "abcdefghij"), "abcdefg");
	ck_assert_str_eq(gh_escape_text(buf, sizeof(buf), "a\n"), "a\\n");
	ck_assert_uint_lt(strlen(gh_escape_text(buf, sizeof(buf), "\x1b\x1b\x1b\x1b")),
			  sizeof(buf));
}
END_TEST

START_TEST(json_strings_are_json)
{
	ck_assert_str_eq(printed(gh_escape_json, "a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\n\\u0001\"");
	ck_assert_str_eq(printed(gh_escape_json, "\xff"), "\"\xef\xbf\xbd\"");
}
END_TEST

START_TEST(gdb_arguments_are_one_word)
{
	ck_assert_str_eq(printed(gh_escape_gdb, "/tmp/a.b-c_d+e"), "/tmp/a.b-c_d+e");
	ck_assert_str_eq(printed(gh_escape_gdb, "/a b'c\"d\\e$f"), "/a\\ b\\'c\\\"d\\\\e\\$f");
}
END_TEST

START_TEST(control_characters_are_overwritten)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {{"main.f", "main.f"},
		     {"a\x1b[31mb\n", "a?[31mb?"},
		     {"\x7f", "?"},
		     {"caf\xc3\xa9", "caf\xc3\xa9"},
		     {"", ""}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[32];
		strcpy(text, cases[i].text);
		gh_escape_overwrite(text, strlen(text));
		ck_assert_str_eq(text, cases[i].expected);
	}
	char c1[] = "\xc2\x9b"
		    "2J";
	gh_escape_overwrite(c1, strlen(c1));
	ck_assert_uint_eq(gh_escape_find_control(c1, strlen(c1)), strlen(c1));
	ck_assert_uint_eq(strlen(c1), 4);
}
END_TEST

START_TEST(strings_of_other_formats_are_utf8)
{
	struct gh_buffer out = {0};
	/* What comes after the text would make its last byte a character. */
	static const char text[] = "caf\xc3\xa9\x1b\xff\0\xc2\x9b\xe2\x82\xac\xc3\xa9";
	static const char expected[] = "caf\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
				       "\xef\xbf\xbd\xe2\x82\xac\xef\xbf\xbd";
	gh_escape_utf8(&out, text, sizeof(text) - 2);
	ck_assert_uint_eq(out.size, strlen(expected));
	ck_assert_mem_eq(out.data, expected, out.size);
	gh_buffer_free(&out);
}
END_TEST

/* As many bytes as are said are looked at, and no more. */
START_TEST(texts)
{
	ck_assert(gh_escape_is_text("", 0));
	ck_assert(gh_escape_is_text("a\tb\r\n", 5));
	ck_assert(gh_escape_is_text("\xc3\xa9\xf0\x9f\x98\x80", 6));
	ck_assert(!gh_escape_is_text("a\0b", 3));
	ck_assert(!gh_escape_is_text("\x1b[31m", 5));
	ck_assert(!gh_escape_is_text("a\xff", 2));
	ck_assert(!gh_escape_is_text("a\xc3\xa9", 2));
	ck_assert(!gh_escape_is_text("\xc2\x9b", 2));
	ck_assert(!gh_escape_is_text("\xe2\x80\xae", 3));
}
END_TEST

Suite *escape_suite(void)
{
	Suite *suite = suite_create("escape");
	TCase *tcase = tcase_create("escape");
	tcase_add_test(tcase, nothing_that_a_terminal_acts_on_gets_through);
	tcase_add_test(tcase, text_is_cut_to_fit);
	tcase_add_test(tcase, control_characters_are_overwritten);
	tcase_add_test(tcase, json_strings_are_json);
	tcase_add_test(tcase, strings_of_other_formats_are_utf8);
	tcase_add_test(tcase, gdb_arguments_are_one_word);
	tcase_add_test(tcase, texts);
	suite_add_tcase(suite, tcase);
	return suite;
}
