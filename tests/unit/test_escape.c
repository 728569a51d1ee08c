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

/* The first and the last of what UTF-8 is, by RFC 3629, and what is right before and after. */
START_TEST(what_is_utf_8)
{
	static const char *const good[] = {
	    "\xc2\xa0",     "\xdf\xbf",     "\xe0\xa0\x80",     "\xed\x9f\xbf",
	    "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",
	};
	static const char *const bad[] = {
	    "\xc1\xbf",         "\xe0\x9f\xbf",     "\xed\xa0\x80",     "\xed\xbf\xbf",
	    "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
	};
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_str_eq(printed(gh_escape_print, good[i]), good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_uint_eq(strlen(printed(gh_escape_print, bad[i])), 4 * strlen(bad[i]));
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

START_TEST(names_are_cut_between_characters)
{
	static char name[GH_MAX_NAME + 8];
	memset(name, 'a', GH_MAX_NAME + 1);
	ck_assert_uint_eq(gh_escape_name_length(""), 0);
	ck_assert_uint_eq(gh_escape_name_length(name), GH_MAX_NAME);
	name[GH_MAX_NAME] = '\0';
	ck_assert_uint_eq(gh_escape_name_length(name), GH_MAX_NAME);
	for (int before = 0; before < 6; before++) {
		memset(name, 'a', GH_MAX_NAME + 1);
		strcpy(name + GH_MAX_NAME - before, "\xf0\x9f\x98\x80z");
		size_t whole = before == 0 || before == 4 || before == 5
				   ? GH_MAX_NAME
				   : GH_MAX_NAME - (size_t)before;
		ck_assert_uint_eq(gh_escape_name_length(name), whole);
	}
	/* not UTF-8 */
	memset(name, '\x80', GH_MAX_NAME + 1);
	ck_assert_uint_eq(gh_escape_name_length(name), GH_MAX_NAME);
}
END_TEST

START_TEST(json_strings_are_json)
{
	ck_assert_str_eq(printed(gh_escape_json, "a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\n\\u0001\"");
	ck_assert_str_eq(printed(gh_escape_json, "\xff"), "\"\xef\xbf\xbd\"");
	struct gh_buffer out = {0};
	gh_escape_json_bytes(&out, "a\0\"\xff\xc3\xa9", 6);
	gh_escape_json_bytes(&out, "", 0);
	gh_buffer_u8(&out, 0);
	ck_assert_str_eq((const char *)out.data, "\"a\\u0000\\\"\xef\xbf\xbd\xc3\xa9\"\"\"");
	gh_buffer_free(&out);
}
END_TEST

START_TEST(gdb_arguments_are_one_word)
{
	ck_assert_str_eq(printed(gh_escape_gdb, "/tmp/a.b-c_d+e"), "/tmp/a.b-c_d+e");
	ck_assert_str_eq(printed(gh_escape_gdb, "/a b'c\"d\\e$f"), "/a' 'b\\'c'\"'d\\\\''e'$'f");
}
END_TEST

START_TEST(control_characters_are_overwritten)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
	    {"main.f", "main.f"},
	    {"a\x1b[31mb\n", "a?[31mb?"},
	    {"\x7f", "?"},
	    {"caf\xc3\xa9", "caf\xc3\xa9"},
	    /* a letter of two bytes, the second of which alone would be a control character */
	    {"\xc3\x80", "\xc3\x80"},
	    {"\xc3", "\xc3"},
	    {"a\x9b"
	     "31m\x80\x9f",
	     "a?31m??"},
	    {"\xe2\x80", "\xe2?"},
	    {"caf\xe9", "caf\xe9"},
	    {"", ""}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[32];
		strcpy(text, cases[i].text);
		gh_escape_overwrite(text, strlen(text));
		ck_assert_str_eq(text, cases[i].expected);
	}
}
END_TEST

/* The code point in UTF-8, which Check's compiler need not know how to write. */
static const char *utf8(uint32_t code)
{
	static char text[5];
	size_t n = 0;
	if (code >= 0x10000)
		text[n++] = (char)(0xf0 | code >> 18);
	if (code >= 0x800)
		text[n++] = (char)((code >= 0x10000 ? 0x80 : 0xe0) |
				   (code >> 12 & (code >= 0x10000 ? 0x3f : 0x0f)));
	if (code >= 0x80)
		text[n++] = (char)((code >= 0x800 ? 0x80 : 0xc0) |
				   (code >> 6 & (code >= 0x800 ? 0x3f : 0x1f)));
	text[n++] = (char)(code >= 0x80 ? 0x80 | (code & 0x3f) : code);
	text[n] = '\0';
	return text;
}

/* CODE gets through none of the functions, or if LETTER through all. */
static void check_character(uint32_t code, bool letter)
{
	char text[8], json[16];
	struct gh_buffer out = {0};
	strcpy(text, utf8(code));
	size_t size = strlen(text);
	snprintf(json, sizeof(json), "\"%s\"", text);
	ck_assert_int_eq(strcmp(printed(gh_escape_print, text), text) == 0, letter);
	ck_assert_int_eq(strcmp(printed(gh_escape_message, text), text) == 0, letter);
	ck_assert_int_eq(strcmp(printed(gh_escape_json, text), json) == 0, letter);
	ck_assert_int_eq(gh_escape_is_text(text, size), letter);
	ck_assert_uint_eq(gh_escape_find_control(text, size), letter ? size : 0);
	gh_escape_utf8(&out, text, size);
	ck_assert_int_eq(out.size == size && memcmp(out.data, text, size) == 0, letter);
	gh_buffer_free(&out);
	gh_escape_overwrite(text, size);
	ck_assert_int_eq(strcmp(text, utf8(code)) == 0, letter);
	ck_assert_uint_eq(strlen(text), size);
	ck_assert(letter || strspn(text, "?") == size);
}

/* Unicode 15: the categories Cc, Zl and Zp in UnicodeData.txt, Bidi_Control in PropList.txt. */
START_TEST(the_same_characters_are_controls_everywhere)
{
	static const struct {
		uint32_t first, last;
	} controls[] = {{0x01, 0x08},     {0x0b, 0x0c},        {0x0e, 0x1f},     {0x7f, 0x9f},
			{0x61c, 0x61c},   {0x200e, 0x200f},    {0x2028, 0x2029}, {0x202a, 0x202e},
			{0x2066, 0x2069}, {0x110000, 0x110000}};
	size_t next = 0;
	static const uint32_t others[] = {0xfeff, 0xfffd, 0x1f600};
	for (uint32_t code = 0x01; code < 0x2100; code++) {
		if (code > controls[next].last)
			next++;
		bool between = code == '\t' || code == '\n' || code == '\r';
		if (!between && code != '"' && code != '\\')
			check_character(code, code < controls[next].first);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		check_character(others[i], true);
}
END_TEST

START_TEST(messages_keep_their_lines)
{
	ck_assert_str_eq(printed(gh_escape_message, "a: b\\c\n\td\n"), "a: b\\c\n\td\n");
	ck_assert_str_eq(printed(gh_escape_message, "\x1b[2J'\x9b'\xff\r"),
			 "\\x1b[2J'\\x9b'\\xff\\x0d");
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

/* As strconv.Quote of Go's library quotes them, but for what it takes for not printable. */
START_TEST(quoted_strings_are_gos)
{
	static const char text[] =
	    "a\"b\\\a\b\t\n\v\f\r\x06\x0e\x1b\0\x7f\xff\xc2\x9b\xc3\xa9\xe2\x80\xae~";
	struct gh_buffer out = {0};
	gh_escape_quote(&out, text, sizeof(text) - 1);
	gh_escape_quote(&out, "", 0);
	gh_buffer_u8(&out, 0);
	ck_assert_str_eq((const char *)out.data,
			 "\"a\\\"b\\\\\\a\\b\\t\\n\\v\\f\\r\\x06\\x0e\\x1b\\x00\\x7f\\xff\\u009b"
			 "\xc3\xa9\\u202e~\"\"\"");
	gh_buffer_free(&out);
}
END_TEST

START_TEST(gdbs_echo_prints_any_text)
{
	ck_assert_str_eq(printed(gh_escape_echo, " a b!~\\$\t\x7f\xc3\xa9"),
			 "echo \\040a b!~\\134\\044\\011\\177\\303\\251\\n\n");
	ck_assert_str_eq(printed(gh_escape_echo, ""), "echo \\n\n");
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

void escape_tests(TCase *tcase)
{
	tcase_add_test(tcase, nothing_that_a_terminal_acts_on_gets_through);
	tcase_add_test(tcase, what_is_utf_8);
	tcase_add_test(tcase, text_is_cut_to_fit);
	tcase_add_test(tcase, control_characters_are_overwritten);
	tcase_add_test(tcase, the_same_characters_are_controls_everywhere);
	tcase_add_test(tcase, messages_keep_their_lines);
	tcase_add_test(tcase, names_are_cut_between_characters);
	tcase_add_test(tcase, json_strings_are_json);
	tcase_add_test(tcase, strings_of_other_formats_are_utf8);
	tcase_add_test(tcase, gdb_arguments_are_one_word);
	tcase_add_test(tcase, quoted_strings_are_gos);
	tcase_add_test(tcase, gdbs_echo_prints_any_text);
	tcase_add_test(tcase, texts);
}
