/* What goheap print makes of GDB's answers. They are as GDB prints them; what is said is written
 * out by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/dispatch/dispatch.h"
#include "tests/unit/suites.h"

START_TEST(each_question_has_an_answer)
{
	char text[] = "type = main.User **\n@\n"
		      "No symbol \"x\"\nin current context.\n\n\n@\n"
		      "@\n"
		      "type = struct main.T\n@\n"
		      "<optimized out>\n@\n"
		      "Symbol arg0 is a variable.\n";
	struct gh_print_answers answers;
	gh_print_answers_read(&answers, text);
	ck_assert_str_eq(answers.types[0], "**main.User");
	ck_assert_ptr_null(answers.errors[0]);
	ck_assert_ptr_null(answers.types[1]);
	ck_assert_str_eq(answers.errors[1], "No symbol \"x\"\nin current context.");
	ck_assert_ptr_null(answers.types[2]);
	ck_assert_ptr_null(answers.errors[2]);
	ck_assert_str_eq(answers.types[3], "main.T");
	ck_assert_ptr_null(answers.errors[3]);
	ck_assert(answers.lost);
	ck_assert_str_eq(answers.scope, "Symbol arg0 is a variable.\n");
}
END_TEST

START_TEST(types_are_as_go_writes_them)
{
	static const struct {
		const char *gdb;
		const char *go;
	} cases[] = {
	    {"type = int", "int"},
	    {"type = main.T *", "*main.T"},
	    {"type = struct main.T", "main.T"},
	    {"type = struct main.T *", "*main.T"},
	    {"type = struct {...}", GH_NO_GO_TYPE},
	    {"type = *", "*"},
	    {"type = x*", "x*"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gh_print_answers answers;
		char *text = strdup(cases[i].gdb);
		gh_print_answers_read(&answers, text);
		ck_assert_str_eq(answers.types[0], cases[i].go);
		free(text);
	}
}
END_TEST

/* Only a line of its own is between two answers; where GDB was interrupted there are fewer. */
START_TEST(answers_may_be_cut_short)
{
	struct gh_print_answers answers;
	char text[] = "a@\n@b\n@\n\n@\n@\n@\n{void (void)} 0x1 <f>\n";
	gh_print_answers_read(&answers, text);
	ck_assert_str_eq(answers.errors[0], "a@\n@b");
	ck_assert_ptr_null(answers.errors[1]);
	ck_assert(!answers.lost);
	ck_assert_str_eq(answers.scope, "");
	gh_print_answers_read(&answers, NULL);
	ck_assert_ptr_null(answers.types[0]);
	ck_assert_ptr_null(answers.errors[0]);
	ck_assert(!answers.lost);
	ck_assert_str_eq(answers.scope, "");
}
END_TEST

START_TEST(values_that_are_lost)
{
	static const struct {
		const char *value;
		bool lost;
	} cases[] = {
	    {"<optimized out>", true},
	    {"{void (void)} 0x401000 <main.main>", true},
	    {"0", false},
	    {"", false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gh_print_answers answers;
		char text[128];
		snprintf(text, sizeof(text), "type = int\n@\n@\n@\n@\n%s\n@\n", cases[i].value);
		gh_print_answers_read(&answers, text);
		ck_assert_int_eq(answers.lost, cases[i].lost);
	}
}
END_TEST

/* What is said of EXPRESSION, with ANSWERS. */
static void check_refused(const struct gh_print_answers *answers, char *expression,
			  const char *expected)
{
	struct gh_print_words print = {.expression = expression};
	char *said;
	size_t length;
	FILE *terminal = stderr;
	stderr = open_memstream(&said, &length);
	ck_assert_ptr_nonnull(stderr);
	bool refused = gh_print_answers_refuse(answers, &print);
	fclose(stderr);
	stderr = terminal;
	ck_assert_int_eq(refused, expected[0] != '\0');
	ck_assert_str_eq(said, expected);
	free(said);
}

#define NO_VARIABLES "variables of packages have no names in a stripped program"

/* FIRST and SECOND are of the expression and of the operand that it is a part of. */
static void check_error(char *expression, char *first, char *second, char *scope,
			const char *expected)
{
	struct gh_print_answers answers = {.errors = {first, second}, .scope = scope};
	check_refused(&answers, expression, expected);
}

START_TEST(errors_say_what_is_missing)
{
	check_error("x", NULL, NULL, "", "goheap: x: GDB tells no type of it\n");
	check_error("x", "Some error", NULL, "", "goheap: x: Some error\n");
	/* That of the shortest operand. */
	check_error("x.f", "Some error", "Another", "", "goheap: x.f: Another\n");
	check_error("x", "No symbol \"x\" in current context.", NULL, "",
		    "goheap: x: there is no x; goheap frame shows what is known here\n");
	check_error("x", "No symbol \"x\" in current context.", NULL,
		    "Symbol arg0 is a variable\nSymbol  is none\nSymbol arg1 is\tone\nSymbol arg2 "
		    "is a variable\n",
		    "goheap: x: there is no x; here are arg0, arg2 (goheap frame shows them)\n");
	/* The scope is of the function that the frame is inlined into. */
	check_error("arg1", "No symbol \"arg1\" in current context.", NULL,
		    "Symbol arg10 is a variable\nSymbol arg1 is a variable\n",
		    "goheap: arg1: this frame is of an inlined function and has no arg1; the frame "
		    "that it is inlined into has one (up)\n");
	check_error(
	    "main.x", "No symbol \"main\" in current context.", NULL, "",
	    "goheap: main.x: there is no main; goheap frame shows what is known here; " NO_VARIABLES
	    "\n");
	check_error(
	    "a/b.x", "No symbol \"a\" in current context.", NULL, "",
	    "goheap: a/b.x: there is no a; goheap frame shows what is known here; " NO_VARIABLES
	    "\n");
	check_error(
	    "main.x", "Attempt to extract a component of a value that is not a structure.", NULL,
	    "",
	    "goheap: main.x: no value: functions are for break, list and info line; " NO_VARIABLES
	    "\n");
	check_error("a)", "A syntax error in expression, near `)'.", NULL, "",
		    "goheap: a): not understood from ) on: what has a value is NAME, NAME.FIELD, "
		    "NAME[INDEX], NAME[KEY], NAME[LOW:HIGH], NAME.(TYPE), *NAME, and numbers\n");
	check_error(
	    "a+", "A syntax error in expression, near `'.", NULL, "",
	    "goheap: a+: not understood from its end on: what has a value is NAME, NAME.FIELD, "
	    "NAME[INDEX], NAME[KEY], NAME[LOW:HIGH], NAME.(TYPE), *NAME, and numbers\n");
}
END_TEST

/* Longer ones are cut. */
START_TEST(names_in_errors_have_any_length)
{
	char name[200];
	char error[256];
	char expected[256];
	memset(name, 'x', sizeof(name) - 1);
	for (size_t length = 126; length <= 129; length++) {
		snprintf(error, sizeof(error), "No symbol \"%.*s\" in current context.",
			 (int)length, name);
		snprintf(expected, sizeof(expected),
			 "goheap: y: there is no %.*s; goheap frame shows what is known here\n",
			 length < 127 ? (int)length : 127, name);
		check_error("y", error, NULL, "", expected);
	}
}
END_TEST

START_TEST(types_say_what_else_to_ask)
{
	static const struct {
		char *type;
		bool lost;
		const char *said;
	} cases[] = {
	    {"int", true,
	     "goheap: it is not known here: the function was called with it in registers; goheap "
	     "frame shows what it is likely to be\n"},
	    {GH_NO_GO_TYPE, false, "Its type is not known: goheap print TYPE EXPRESSION\n"},
	    {"x", false, "That is a type: goheap print TYPE EXPRESSION\n"},
	    {"void", false, "It has no value.\n"},
	    {"void (void)", false,
	     "goheap: x: a function, which has no value: break, list and info line take it\n"},
	    {"int", false, ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gh_print_answers answers = {
		    .types = {cases[i].type}, .lost = cases[i].lost, .scope = ""};
		check_refused(&answers, "x", cases[i].said);
	}
}
END_TEST

START_TEST(expressions_are_taken_apart)
{
	static const struct {
		const char *expression;
		size_t count;
		struct {
			const char *operand;
			const char *part;
		} parts[GH_PRINT_PARTS];
	} cases[] = {
	    {"a", 0, {{0}}},
	    {"a.b", 1, {{"a", ".b"}}},
	    {"*a.b[0]", 2, {{"a", ".b[0].*"}, {"a.b", "[0].*"}}},
	    {"**a.b", 2, {{"a", ".b.*.*"}, {"a.b", ".*.*"}}},
	    {"***a", 1, {{"a", ".*.*.*"}}},
	    {"a.b.c.d.e[1]", 3, {{"a", ".b.c.d.e[1]"}, {"a.b", ".c.d.e[1]"}, {"a.b.c.d.e", "[1]"}}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gh_print_part parts[GH_PRINT_PARTS];
		size_t count = gh_print_parts(parts, cases[i].expression);
		ck_assert_uint_eq(count, cases[i].count);
		for (size_t j = 0; j < count; j++) {
			ck_assert_str_eq(parts[j].operand, cases[i].parts[j].operand);
			ck_assert_str_eq(parts[j].part, cases[i].parts[j].part);
		}
		gh_print_parts_free(parts, count);
	}
}
END_TEST

void print_answers_tests(TCase *tests)
{
	tcase_add_test(tests, each_question_has_an_answer);
	tcase_add_test(tests, types_are_as_go_writes_them);
	tcase_add_test(tests, answers_may_be_cut_short);
	tcase_add_test(tests, values_that_are_lost);
	tcase_add_test(tests, errors_say_what_is_missing);
	tcase_add_test(tests, names_in_errors_have_any_length);
	tcase_add_test(tests, types_say_what_else_to_ask);
	tcase_add_test(tests, expressions_are_taken_apart);
}
