/* What is typed in GDB after goheap, and what GDB writes of values and frames. */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/gdb/gdb.h"
#include "plugin/gdb/session_frame.h"
#include "tests/unit/directory.h"
#include "tests/unit/suites.h"

/* The directory's file can be neither read nor written: there is none. */
static void check_nothing_there(void)
{
	struct gh_words words;
	ck_assert(!gh_words_read(&words, "/proc/self/nothing"));
	FILE *in = fmemopen((void *)"{{a}}", 5, "r");
	ck_assert_int_eq(gh_words_append("/proc/self/nothing", in), -1);
	fclose(in);
}

static void check_append(const char *directory, const char *shown, int count)
{
	FILE *in = tmpfile();
	ck_assert_ptr_nonnull(in);
	fputs(shown, in);
	rewind(in);
	ck_assert_int_eq(gh_words_append(directory, in), count);
	fclose(in);
}

START_TEST(words_are_handed_over_one_by_one)
{
	const char *directory = directory_make();
	struct gh_words words;
	check_append(directory, "The word is \"{{print}}\".\n", 1);
	check_append(directory, "The word is \"{{'a  b'}} c}}\".\n", 2);
	check_append(directory, "The word is \"{{}}\".\n", 3);
	check_append(directory, "no word\n", -1);
	check_append(directory, "{{no end\n", -1);
	check_append(directory, "no start}}\n", -1);
	ck_assert(gh_words_read(&words, directory));
	ck_assert_int_eq(words.count, 3);
	ck_assert_str_eq(words.typed[1], "'a  b'}} c");
	ck_assert_str_eq(words.args[0], "print");
	ck_assert_str_eq(words.args[1], "a  b}} c");
	ck_assert_str_eq(words.args[2], "");
	ck_assert_ptr_null(words.args[3]);
	gh_words_free(&words);
	check_append(directory, "{{'not closed}}", 4);
	ck_assert(!gh_words_read(&words, directory));
	directory_remove();
	check_nothing_there();
}
END_TEST

static void check_unquoted(const char *word, const char *expected)
{
	const char *missing;
	char *out = gh_words_unquote(word, &missing);
	ck_assert_ptr_null(missing);
	ck_assert_ptr_nonnull(out);
	ck_assert_str_eq(out, expected);
	free(out);
}

static void check_incomplete(const char *word, const char *expected)
{
	const char *missing;
	ck_assert_ptr_null(gh_words_unquote(word, &missing));
	ck_assert_str_eq(missing, expected);
}

/* As buildargv of GDB's libiberty has it. */
START_TEST(quotes_and_backslashes_are_taken_away)
{
	check_unquoted("plain", "plain");
	check_unquoted("a'b \"c'd", "ab \"cd");
	check_unquoted("a\"b 'c\"d", "ab 'cd");
	check_unquoted("''\"\"", "");
	check_unquoted("\\'\\\"\\\\\\n", "'\"\\n");
	check_unquoted("'a\\'b'", "a'b");
	check_unquoted("\"a\\\"b\"", "a\"b");
	check_incomplete("'a", "a closing quote");
	check_incomplete("\"a'", "a closing quote");
	check_incomplete("'a\\'", "a closing quote");
	check_incomplete("a\\",
			 "a character after the backslash (put a space at the end in quotes)");
}
END_TEST

START_TEST(a_tilde_is_a_home_directory)
{
	const struct passwd *root = getpwuid(0);
	char expected[PATH_MAX], word[PATH_MAX];
	ck_assert_ptr_nonnull(root);
	snprintf(word, sizeof(word), "~%s/x", root->pw_name);
	snprintf(expected, sizeof(expected), "%s/x", root->pw_dir);
	check_unquoted(word, expected);
	snprintf(word, sizeof(word), "~%s", root->pw_name);
	check_unquoted(word, root->pw_dir);
	char *home = getenv("HOME") != NULL ? strdup(getenv("HOME")) : NULL;
	setenv("HOME", "/some/home", 1);
	check_unquoted("~", "/some/home");
	check_unquoted("~/a b", "/some/home/a b");
	check_unquoted("a~/b", "a~/b");
	check_unquoted("~no.such.user/a", "~no.such.user/a");
	unsetenv("HOME");
	check_unquoted("~/a", "~/a");
	/* No user has such a long name. */
	memset(word, 'u', 300);
	word[0] = '~';
	word[300] = '\0';
	check_unquoted(word, word);
	if (home != NULL)
		setenv("HOME", home, 1);
	free(home);
}
END_TEST

START_TEST(a_value_of_gdbs_is_its_bytes_and_type)
{
	struct gh_session_value value;
	const char *directory = directory_make();
	directory_write(GH_SESSION_VALUE, "\0\x7f\xff ", 4);
	ck_assert(gh_session_type_write(directory, "map[string]int", "[\"a\"].b"));
	ck_assert(gh_session_value_read(&value, directory, NULL));
	ck_assert_str_eq(value.bytes, "=007fff20");
	ck_assert_str_eq(value.type, "map[string]int");
	ck_assert_str_eq(value.part, "[\"a\"].b");
	gh_session_value_free(&value);
	ck_assert(gh_session_value_read(&value, directory, "request"));
	ck_assert_str_eq(value.bytes, "=request");
	gh_session_value_free(&value);
	/* No part is told. */
	directory_write(GH_SESSION_TYPE, "int", 3);
	ck_assert(gh_session_value_read(&value, directory, "request"));
	ck_assert_str_eq(value.type, "int");
	ck_assert_str_eq(value.part, "");
	gh_session_value_free(&value);
	directory_remove();
	ck_assert(!gh_session_type_write(directory, "int", ""));
	ck_assert(!gh_session_value_read(&value, directory, NULL));
	gh_session_value_free(&value);
}
END_TEST

START_TEST(a_value_has_no_more_than_32_kib)
{
	static const char bytes[32769];
	struct gh_session_value value;
	const char *directory = directory_make();
	directory_write(GH_SESSION_TYPE, "int\n", 4);
	directory_write(GH_SESSION_VALUE, bytes, 32768);
	ck_assert(gh_session_value_read(&value, directory, NULL));
	ck_assert_uint_eq(strlen(value.bytes), 1 + 2 * 32768);
	gh_session_value_free(&value);
	directory_write(GH_SESSION_VALUE, bytes, 32769);
	ck_assert(!gh_session_value_read(&value, directory, NULL));
	gh_session_value_free(&value);
	directory_remove();
}
END_TEST

/* The registers that pass results in Go's ABI on amd64 and arm64, src/cmd/compile/abi-internal.md,
 * by their DWARF numbers in these machines' ABIs. */
START_TEST(registers_have_dwarfs_numbers)
{
	static const unsigned integers[] = {0, 3, 2, 5, 4, 8, 9, 10, 11};
	uint64_t words[2 + 16 + 2 * 16];
	uint64_t registers[GH_VALUE_REGISTERS];
	struct gh_value_frame frame;
	const struct gh_arch *amd64 = gh_arch_by_name("amd64");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = htole64(0x100 + i);
	const char *directory = directory_make();
	directory_write(GH_SESSION_FRAME_REGISTERS, words, (2 + 9 + 2 * 15) * 8);
	ck_assert(gh_session_value_frame(&frame, registers, directory, 0, amd64));
	ck_assert(frame.is_innermost);
	ck_assert_uint_eq(frame.pc, 0x100);
	ck_assert_uint_eq(frame.sp, 0x101);
	ck_assert_ptr_eq(frame.registers, registers);
	for (size_t i = 0; i < 9; i++)
		ck_assert_uint_eq(registers[integers[i]], 0x102 + i);
	for (size_t i = 0; i < 15; i++)
		ck_assert_uint_eq(registers[17 + i], 0x10b + 2 * i);
	directory_write(GH_SESSION_FRAME_REGISTERS, words, sizeof(words));
	ck_assert(
	    gh_session_value_frame(&frame, registers, directory, 0, gh_arch_by_name("arm64")));
	ck_assert_ptr_eq(frame.registers, registers);
	for (size_t i = 0; i < 16; i++)
		ck_assert_uint_eq(registers[i], 0x102 + i);
	for (size_t i = 0; i < 16; i++)
		ck_assert_uint_eq(registers[64 + i], 0x112 + 2 * i);
	/* Of a caller there are none, nor where GDB wrote pc and SP alone. */
	ck_assert(gh_session_value_frame(&frame, registers, directory, 1, amd64));
	ck_assert(!frame.is_innermost);
	ck_assert_ptr_null(frame.registers);
	directory_write(GH_SESSION_FRAME_REGISTERS, words, 16);
	ck_assert(gh_session_value_frame(&frame, registers, directory, 0, amd64));
	ck_assert_uint_eq(frame.sp, 0x101);
	ck_assert_ptr_null(frame.registers);
	directory_write(GH_SESSION_FRAME_REGISTERS, words, 15);
	ck_assert(!gh_session_value_frame(&frame, registers, directory, 0, amd64));
	directory_write(GH_SESSION_FRAME_REGISTERS, (const uint8_t[]){1, 2, 0, 0, 3, 4, 0, 0}, 8);
	ck_assert(gh_session_value_frame(&frame, registers, directory, 0, gh_arch_by_name("386")));
	ck_assert_uint_eq(frame.pc, 0x201);
	ck_assert_uint_eq(frame.sp, 0x403);
	directory_remove();
	ck_assert(!gh_session_value_frame(&frame, registers, directory, 0, amd64));
}
END_TEST

/* GDB says TEXT of a frame; FUNCTION or PLACE may be NULL. */
static void check_frame(const char *directory, const char *text, unsigned level, unsigned caller,
			const char *function, const char *place)
{
	struct gh_session_frame frame;
	directory_write(GH_SESSION_FRAME, text, strlen(text));
	ck_assert(gh_session_frame_read(&frame, directory));
	ck_assert_uint_eq(frame.level, level);
	ck_assert_uint_eq(frame.caller, caller);
	ck_assert_pstr_eq(frame.function, function);
	ck_assert_pstr_eq(frame.place, place);
	gh_session_frame_free(&frame);
}

/* As GDB 13.1 prints `info frame'. */
START_TEST(frames_are_what_gdb_says_of_them)
{
	struct gh_session_frame frame;
	const char *directory = directory_make();
	check_frame(directory,
		    "Stack level 0, frame at 0xc000107f50:\n"
		    " rip = 0x48 in main.(*T).f (main.go:3); saved rip = 0x47\n"
		    " called by frame at 0xc000107f80\n",
		    0, 0, "main.(*T).f", "main.go:3");
	check_frame(directory,
		    "Stack level 12, frame at 0xc000107f50:\n"
		    " rip = 0x48 in main.small (/src/a b/main.go:30); saved rip = 0x47\n"
		    " inlined into frame 13\n",
		    12, 13, "main.small", "/src/a b/main.go:30");
	check_frame(directory,
		    "Stack level 1, frame at 0x0:\n rip = 0x48 in main.f; saved rip = 0x47\n", 1, 0,
		    "main.f", NULL);
	check_frame(directory, "Stack level 1, frame at 0x0:\n rip = 0x48 in main.f (x.go:7)\n", 1,
		    0, "main.f", "x.go:7");
	check_frame(directory, "Stack level 1, frame at 0x0:\n rip = 0x48; saved rip = 0x47\n", 1,
		    0, NULL, NULL);
	check_frame(directory, "Stack level 3, frame at 0x0:", 3, 0, NULL, NULL);
	directory_write(GH_SESSION_FRAME, "No stack.\n", 10);
	ck_assert(!gh_session_frame_read(&frame, directory));
	gh_session_frame_free(&frame);
	directory_remove();
	ck_assert(!gh_session_frame_read(&frame, directory));
	gh_session_frame_free(&frame);
}
END_TEST

void words_tests(TCase *tcase)
{
	tcase_add_test(tcase, words_are_handed_over_one_by_one);
	tcase_add_test(tcase, quotes_and_backslashes_are_taken_away);
	tcase_add_test(tcase, a_tilde_is_a_home_directory);
	tcase_add_test(tcase, a_value_of_gdbs_is_its_bytes_and_type);
	tcase_add_test(tcase, a_value_has_no_more_than_32_kib);
	tcase_add_test(tcase, registers_have_dwarfs_numbers);
	tcase_add_test(tcase, frames_are_what_gdb_says_of_them);
}
