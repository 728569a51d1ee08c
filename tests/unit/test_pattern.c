#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/pattern.h"
#include "tests/unit/random.h"
#include "tests/unit/suites.h"

static bool matches(const char *expression, const char *text)
{
	struct gh_pattern pattern;
	ck_assert(gh_pattern_compile(&pattern, expression));
	enum gh_match found = gh_pattern_matches(&pattern, text, strlen(text));
	gh_pattern_free(&pattern);
	ck_assert_int_ne(found, GH_MATCH_TOO_LONG);
	return found == GH_MATCH_YES;
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
	ck_assert(matches("(?i)visitor \\d+$", "Visitor 77"));
	ck_assert(matches("^.{3}$", "\u00e4\u00f6\u00fc"));
	ck_assert(matches("b", "a\xff\xfe"
			       "b"));
	ck_assert(!matches("a.b", "a\xff"
				  "b"));
}
END_TEST

START_TEST(only_a_part_of_memory_is_looked_at)
{
	struct gh_pattern pattern;
	ck_assert(gh_pattern_compile(&pattern, "d"));
	ck_assert_int_eq(gh_pattern_matches(&pattern, "abcd", 3), GH_MATCH_NO);
	ck_assert_int_eq(gh_pattern_matches(&pattern, "abcd", 4), GH_MATCH_YES);
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

/* What it cannot tell in time it does not tell. */
START_TEST(what_takes_too_long_is_said)
{
	struct gh_pattern pattern;
	char text[100];
	memset(text, 'a', sizeof(text));
	ck_assert(gh_pattern_compile(&pattern, "^(a|aa)+[bc]$"));
	ck_assert_int_eq(gh_pattern_matches(&pattern, text, sizeof(text)), GH_MATCH_TOO_LONG);
	ck_assert_int_eq(gh_pattern_matches(&pattern, "aab", 3), GH_MATCH_YES);
	gh_pattern_free(&pattern);
}
END_TEST

/* More than there is stack for. */
START_TEST(long_texts_are_matched)
{
	enum { LENGTH = 1 << 20 };
	struct gh_pattern pattern;
	char *text = malloc(LENGTH);
	ck_assert_ptr_nonnull(text);
	memset(text, 'a', LENGTH);
	ck_assert(gh_pattern_compile(&pattern, "^(a|b)*$"));
	ck_assert_int_eq(gh_pattern_matches(&pattern, text, LENGTH), GH_MATCH_YES);
	text[LENGTH - 1] = 'c';
	ck_assert_int_eq(gh_pattern_matches(&pattern, text, LENGTH), GH_MATCH_NO);
	gh_pattern_free(&pattern);
	free(text);
}
END_TEST

static void fill(char *text, size_t limit, const char *letters)
{
	size_t length = next_random() % limit;
	for (size_t i = 0; i < length; i++)
		text[i] = letters[next_random() % strlen(letters)];
	text[length] = '\0';
}

/* EXPRESSION means the same to POSIX and to Perl. */
static bool is_common(const char *expression)
{
	static const char repeats[] = "*+?", begins[] = "(|^";
	for (const char *at = expression; *at != '\0'; at++) {
		bool is_first = at == expression || strchr(begins, at[-1]) != NULL ||
				strchr(repeats, at[-1]) != NULL;
		if (strchr(repeats, *at) != NULL && is_first)
			return false;
	}
	return true;
}

/* Against the C library's. */
START_TEST(random_expressions_match_the_same)
{
	enum { EXPRESSIONS = 40000, TEXTS = 20 };
	char expression[10], text[10];
	unsigned found = 0, others = 0;
	for (unsigned i = 0; i < EXPRESSIONS; i++) {
		struct gh_pattern pattern;
		regex_t other;
		fill(expression, sizeof(expression), "abab.*+?|()[]^$-12:");
		if (!is_common(expression) || !gh_pattern_compile(&pattern, expression))
			continue;
		bool both =
		    regcomp(&other, expression, REG_EXTENDED | REG_NEWLINE | REG_NOSUB) == 0;
		for (unsigned j = 0; both && j < TEXTS; j++) {
			fill(text, sizeof(text), "ab12-]:");
			bool matches_other = regexec(&other, text, 0, NULL, 0) == 0;
			ck_assert_msg((gh_pattern_matches(&pattern, text, strlen(text)) ==
				       GH_MATCH_YES) == matches_other,
				      "%s of %s", expression, text);
			found += matches_other;
			others += !matches_other;
		}
		if (both)
			regfree(&other);
		gh_pattern_free(&pattern);
	}
	ck_assert_uint_gt(found, EXPRESSIONS / 4);
	ck_assert_uint_gt(others, EXPRESSIONS / 4);
}
END_TEST

void pattern_tests(TCase *tests)
{
	tcase_add_test(tests, what_is_written_is_found);
	tcase_add_test(tests, only_a_part_of_memory_is_looked_at);
	tcase_add_test(tests, what_is_none_is_refused);
	tcase_add_test(tests, what_takes_too_long_is_said);
	tcase_add_test(tests, long_texts_are_matched);
	tcase_add_test(tests, random_expressions_match_the_same);
}
