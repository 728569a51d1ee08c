#include <stdlib.h>
#include <string.h>

#include "plugin/gdb/gdb.h"
#include "plugin/gdb/told.h"
#include "tests/unit/suites.h"

static void check_read(const char *input, const char *expected)
{
	FILE *in = tmpfile();
	ck_assert_ptr_nonnull(in);
	fputs(input, in);
	rewind(in);
	char *text = gh_piped_text_read(in);
	ck_assert_ptr_nonnull(text);
	ck_assert_str_eq(text, expected);
	free(text);
	fclose(in);
}

START_TEST(what_a_person_sees_stays)
{
	check_read("", "");
	check_read("Local exec file:\n\t`/tmp/a\\n~\"b', file type elf64-x86-64.\n",
		   "Local exec file:\n\t`/tmp/a\\n~\"b', file type elf64-x86-64.\n");
	check_read("Symbols from \"/tmp/a\n~\"b\".\n", "Symbols from \"/tmp/a\n~\"b\".\n");
}
END_TEST

/* As GDB 13.1 prints it of a program at an address that its file does not have. */
START_TEST(the_program_and_where_it_begins)
{
	struct gh_infofiles files;
	ck_assert(gh_infofiles_parse(&files,
				     "Symbols from \"/tmp/a\".\n"
				     "Local exec file:\n"
				     "\t`/tmp/a', file type elf64-x86-64.\n"
				     "\tEntry point: 0x5555555c1e60\n"
				     "\t0x0000555555554350 - 0x0000555555554370 is .interp\n"));
	ck_assert_str_eq(files.program, "/tmp/a");
	ck_assert_uint_eq(files.entry, 0x5555555c1e60);
	ck_assert(!files.unclear);
	gh_infofiles_free(&files);
}
END_TEST

/* As GDB 18.1 writes it with -i=mi. */
START_TEST(records_are_read)
{
	check_read("~\"Symbols from \\\"/tmp/x\\\".\\n\"\n~\"Local exec file:\\n\"\n"
		   "~\"\\t`/tmp/x', file type elf64-x86-64.\\n\"\n",
		   "Symbols from \"/tmp/x\".\nLocal exec file:\n\t`/tmp/x', file type "
		   "elf64-x86-64.\n");
	check_read(
	    "=cmd-param-changed,param=\"language\",value=\"c\"\n~\"a\"\n&\"log\\n\"\n~\"b\\n\"\n",
	    "ab\n");
}
END_TEST

START_TEST(escapes_are_those_of_c)
{
	check_read("~\"\\\"\\\\\\a\\b\\e\\f\\n\\r\\t\\302\\240\\177'\"\n",
		   "\"\\\a\b\033\f\n\r\t\302\240\177'");
}
END_TEST

START_TEST(what_is_cut_short_ends_there)
{
	check_read("~\"abc", "abc");
	check_read("~\"abc\\", "abc");
	check_read("~\"abc\\3", "abc3");
	check_read("~\"", "");
	check_read("~\"a\n~\"b\"\n", "ab");
}
END_TEST

/* What GDB prints in pieces are several records. */
START_TEST(other_lines_stay)
{
	char text[] =
	    "entry 4581216\nnative\n~\"pc  \"\n~\"           0x45e760\"\n~\"\\n\"\nsp 0x10\n";
	gh_piped_text_decode(text);
	ck_assert_str_eq(text, "entry 4581216\nnative\npc             0x45e760\nsp 0x10\n");
}
END_TEST

/* As GDB 18.1 writes what `thread apply all -- frame apply 1 -- info registers pc' prints. */
START_TEST(records_in_records_are_read)
{
	char text[] = "~\"~\\\"pc             0x4831bb\\\\n\\\"\\n~\\\"sp  0x10\\\\n\\\"\\n\"\n";
	gh_piped_text_decode(text);
	ck_assert_str_eq(text, "pc             0x4831bb\nsp  0x10\n");
}
END_TEST

void piped_text_tests(TCase *tests)
{
	tcase_add_test(tests, the_program_and_where_it_begins);
	tcase_add_test(tests, what_a_person_sees_stays);
	tcase_add_test(tests, records_are_read);
	tcase_add_test(tests, escapes_are_those_of_c);
	tcase_add_test(tests, what_is_cut_short_ends_there);
	tcase_add_test(tests, other_lines_stay);
	tcase_add_test(tests, records_in_records_are_read);
}
