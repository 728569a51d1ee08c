#include <string.h>

#include "lib/util/pattern.h"
#include "tests/unit/random.h"
#include "tests/unit/suites.h"

static bool matches(const char *expression, const char *text)
{
	struct gh_pattern pattern;
	ck_assert(gh_pattern_compile(&pattern, expression));
	bool found = gh_pattern_matches(&pattern, text, strlen(text));
	gh_pattern_free(&pattern);
	return found;
}

START_TEST(what_is_written_is_found)
{
	ck_assert(matches("", "x"));
	ck_assert(matches("visitor 77", "a visitor 77 came"));
	ck_assert(!matches("visitor 77", "a visitor 7 came"));
	ck_assert(matches("1\\.5", "x1.5"));
	ck_assert(!matches("1\\.5", "x1x5"));
	ck_assert(matches("^b$", "a\nb\nc"));
	ck_assert(matches("abc?d", "abd"));
	ck_assert(matches("abc{0,1}d", "abd"));
	ck_assert(matches("one|two", "two"));
	ck_assert(matches("x(one|two)y", "xtwoy"));
	ck_assert(!matches("x[[:digit:])]y", "xay"));
	ck_assert(matches("x[]()]y", "x]y"));
}
END_TEST

START_TEST(only_a_part_of_memory_is_looked_at)
{
	struct gh_pattern pattern;
	ck_assert(gh_pattern_compile(&pattern, "d"));
	ck_assert(!gh_pattern_matches(&pattern, "abcd", 3));
	ck_assert(gh_pattern_matches(&pattern, "abcd", 4));
	gh_pattern_free(&pattern);
}
END_TEST

START_TEST(what_is_none_is_refused)
{
	struct gh_pattern pattern;
	ck_assert(!gh_pattern_compile(&pattern, "("));
	ck_assert(!gh_pattern_compile(&pattern, "[a"));
	ck_assert(!gh_pattern_compile(&pattern, "a\\"));
}
END_TEST

static void fill(char *text, size_t limit, const char *letters)
{
	size_t length = next_random() % limit;
	for (size_t i = 0; i < length; i++)
		text[i] = letters[next_random() % strlen(letters)];
	text[length] = '\0';
}

/* Against regexec alone. */
START_TEST(random_expressions_match_the_same)
{
	enum { EXPRESSIONS = 20000, TEXTS = 20 };
	char expression[10], text[10];
	unsigned both = 0;
	for (unsigned i = 0; i < EXPRESSIONS; i++) {
		struct gh_pattern pattern;
		fill(expression, sizeof(expression), "abab.*+?|()[]^$-{}\\12,:w");
		if (!gh_pattern_compile(&pattern, expression))
			continue;
		for (unsigned j = 0; j < TEXTS; j++) {
			fill(text, sizeof(text), "ab12,{}]\\w\n");
			bool found = regexec(&pattern.expression, text, 0, NULL, 0) == 0;
			ck_assert_msg(gh_pattern_matches(&pattern, text, strlen(text)) == found,
				      "%s of %s", expression, text);
			both += found && pattern.length > 0;
		}
		gh_pattern_free(&pattern);
	}
	ck_assert_uint_gt(both, EXPRESSIONS / 4);
}
END_TEST

Suite *pattern_suite(void)
{
	Suite *suite = suite_create("pattern");
	TCase *tests = tcase_create("pattern");
	tcase_add_test(tests, what_is_written_is_found);
	tcase_add_test(tests, only_a_part_of_memory_is_looked_at);
	tcase_add_test(tests, what_is_none_is_refused);
	tcase_add_test(tests, random_expressions_match_the_same);
	suite_add_tcase(suite, tests);
	return suite;
}
