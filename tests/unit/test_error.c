#include <errno.h>
#include <string.h>

#include "lib/util/error.h"
#include "tests/unit/suites.h"

START_TEST(an_error_says_where_and_what)
{
	struct gh_error err;
	ck_assert(!gh_fail(&err, "a.out", 0x40, "a note", "%d bytes", 3));
	ck_assert_str_eq(err.text, "a.out: offset 0x40: expected a note, found 3 bytes");
	ck_assert(!gh_fail(&err, "a.out", GH_NO_OFFSET, "a note", "none"));
	ck_assert_str_eq(err.text, "a.out: expected a note, found none");
	errno = ENOENT;
	ck_assert(!gh_fail_errno(&err, "a.out", "open"));
	ck_assert_str_eq(err.text, "a.out: cannot open: No such file or directory");
	ck_assert(!gh_fail_memory(&err, "a.out"));
	ck_assert_str_eq(err.text, "a.out: " GH_OUT_OF_MEMORY);
}
END_TEST

START_TEST(nobody_has_to_ask_for_an_error)
{
	errno = ENOENT;
	ck_assert(!gh_fail(NULL, "a.out", 0, "a note", "none"));
	ck_assert(!gh_fail_errno(NULL, "a.out", "open"));
	ck_assert(!gh_fail_memory(NULL, "a.out"));
}
END_TEST

START_TEST(long_names_keep_their_end)
{
	char name[1000];
	memset(name, 'x', sizeof(name));
	strcpy(name + sizeof(name) - 6, "a.out");
	struct gh_error err;
	gh_fail(&err, name, 0x40, "a note", "none");
	ck_assert_ptr_nonnull(strstr(err.text, "xa.out: offset 0x40: expected a note, found none"));
	ck_assert_int_eq(strncmp(err.text, "...x", 4), 0);
	errno = ENOENT;
	gh_fail_errno(&err, name, "open");
	ck_assert_ptr_nonnull(strstr(err.text, "xa.out: cannot open: No such file or directory"));
	gh_fail_memory(&err, name);
	ck_assert_ptr_nonnull(strstr(err.text, "xa.out: " GH_OUT_OF_MEMORY));
	/* Of 200 bytes it is whole. */
	gh_fail_memory(&err, name + sizeof(name) - 1 - 200);
	ck_assert_int_eq(strncmp(err.text, "xxxx", 4), 0);
	gh_fail_memory(&err, name + sizeof(name) - 1 - 201);
	ck_assert_int_eq(strncmp(err.text, "...x", 4), 0);
}
END_TEST

START_TEST(text_of_an_input_is_escaped)
{
	struct gh_error err;
	gh_fail(&err, "a\x1b[2J", GH_NO_OFFSET, "a name", "%s", "b\nc\x07");
	ck_assert_str_eq(err.text, "a\\x1b[2J: expected a name, found b\\nc\\x07");
	gh_fail_memory(&err, "a\n");
	ck_assert_str_eq(err.text, "a\\n: " GH_OUT_OF_MEMORY);
}
END_TEST

void error_tests(TCase *tests)
{
	tcase_add_test(tests, an_error_says_where_and_what);
	tcase_add_test(tests, nobody_has_to_ask_for_an_error);
	tcase_add_test(tests, long_names_keep_their_end);
	tcase_add_test(tests, text_of_an_input_is_escaped);
}
