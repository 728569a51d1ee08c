/* Directories of output files, which are there whole or not at all. */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/output_directory.h"
#include "tests/unit/directory.h"
#include "tests/unit/suites.h"

static void setup(void)
{
	ck_assert_int_eq(chdir(directory_make()), 0);
	umask(022);
}

static void teardown(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	directory_remove();
}

static unsigned count;

static int count_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)path, (void)st, (void)type;
	count += at->level > 0;
	return 0;
}

/* How many files and directories there are below PATH. */
static unsigned count_below(const char *path)
{
	count = 0;
	ck_assert_int_eq(nftw(path, count_one, 8, FTW_PHYS), 0);
	return count;
}

static void write_file(const char *top, const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", top, name);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void make_in(const char *top, const char *name)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", top, name);
	ck_assert_int_eq(mkdir(path, 0755), 0);
}

static void check_file(const char *path, const char *expected)
{
	char text[64];
	FILE *file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	ck_assert_str_eq(text, expected);
}

static void check_directory(const char *path)
{
	struct stat st;
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert(S_ISDIR(st.st_mode));
}

START_TEST(directories_are_made_with_those_they_are_in)
{
	struct gh_error err;
	ck_assert(gh_make_directories("a/b/c", &err));
	check_directory("a/b/c");
	ck_assert(gh_make_directories("a/b/c", &err));
	ck_assert(gh_make_directories("d/", &err));
	check_directory("d");
	ck_assert(gh_make_directories("e//f", &err));
	check_directory("e/f");
	ck_assert(gh_make_directories(".", &err));
	ck_assert(gh_make_directories(directory_path("g/h"), &err));
	check_directory("g/h");
	ck_assert_uint_eq(count_below("."), 8);
}
END_TEST

START_TEST(a_directory_that_cannot_be_made_is_told)
{
	struct gh_error err;
	write_file(".", "file", "text");
	ck_assert(!gh_make_directories("file/a/b", &err));
	ck_assert_str_eq(err.text, "file/a/b: cannot make: Not a directory");
	ck_assert(!gh_make_directories("missing/../file/a", &err));
	ck_assert_str_eq(err.text, "missing/../file/a: cannot make: Not a directory");
	ck_assert(!gh_make_directories("", &err));
	ck_assert_str_eq(err.text, ": cannot make: No such file or directory");
	check_file("file", "text");
}
END_TEST

START_TEST(a_directory_is_there_when_it_is_whole)
{
	static const char *const targets[] = {"top/new", "new", "top/in/it/new"};
	struct gh_output_directory out;
	struct gh_error err;
	const char *target = targets[_i];
	ck_assert_msg(gh_output_directory_open(&out, "top", &err), "%s", err.text);
	check_directory(out.path);
	ck_assert_int_eq(strncmp(out.path, "top/.", 5), 0);
	write_file(out.path, "first", "1");
	make_in(out.path, "sub");
	write_file(out.path, "sub/second", "2");
	ck_assert_int_ne(access(target, F_OK), 0);
	ck_assert_msg(gh_output_directory_commit(&out, target, &err), "%s", err.text);
	ck_assert_int_eq(chdir(target), 0);
	check_file("first", "1");
	check_file("sub/second", "2");
	ck_assert_uint_eq(count_below("."), 3);
	ck_assert_int_eq(chdir(directory_path("")), 0);
	ck_assert_uint_eq(count_below("."), _i == 2 ? 7 : 5);
}
END_TEST

START_TEST(files_take_the_places_of_those_that_are_there)
{
	struct gh_output_directory out;
	struct gh_error err;
	ck_assert_int_eq(mkdir("old", 0755), 0);
	make_in("old", "sub");
	write_file("old", "both", "old");
	write_file("old", "sub/both", "old");
	write_file("old", "stays", "old");
	ck_assert(gh_output_directory_open(&out, ".", &err));
	write_file(out.path, "both", "new");
	make_in(out.path, "sub");
	write_file(out.path, "sub/both", "new");
	make_in(out.path, "more");
	make_in(out.path, "more/of");
	write_file(out.path, "more/of/it", "new");
	ck_assert_msg(gh_output_directory_commit(&out, "old", &err), "%s", err.text);
	check_file("old/both", "new");
	check_file("old/sub/both", "new");
	check_file("old/stays", "old");
	check_file("old/more/of/it", "new");
	ck_assert_uint_eq(count_below("."), 8);
}
END_TEST

START_TEST(a_directory_that_gets_no_name_is_removed)
{
	struct gh_output_directory out;
	struct gh_error err;
	write_file(".", "file", "text");
	ck_assert(gh_output_directory_open(&out, ".", &err));
	write_file(out.path, "first", "1");
	ck_assert(!gh_output_directory_commit(&out, "file", &err));
	ck_assert_str_eq(err.text, "file: cannot write: Not a directory");
	ck_assert_uint_eq(count_below("."), 1);
	ck_assert(gh_output_directory_open(&out, ".", &err));
	write_file(out.path, "first", "1");
	ck_assert(!gh_output_directory_commit(&out, "file/new", &err));
	ck_assert_str_eq(err.text, "file/new: cannot write: Not a directory");
	ck_assert_uint_eq(count_below("."), 1);
	/* One of its files is in the place of a directory that has something. */
	ck_assert_int_eq(mkdir("old", 0755), 0);
	make_in("old", "first");
	write_file("old", "first/it", "stays");
	ck_assert(gh_output_directory_open(&out, ".", &err));
	write_file(out.path, "first", "1");
	ck_assert(!gh_output_directory_commit(&out, "old", &err));
	ck_assert_str_eq(err.text, "old: cannot write: Is a directory");
	check_file("old/first/it", "stays");
	ck_assert_uint_eq(count_below("."), 4);
	check_file("file", "text");
}
END_TEST

START_TEST(nothing_is_left_of_a_directory_that_is_given_up)
{
	struct gh_output_directory out;
	struct gh_error err;
	ck_assert(gh_output_directory_open(&out, ".", &err));
	write_file(out.path, "first", "1");
	make_in(out.path, "sub");
	make_in(out.path, "sub/sub");
	write_file(out.path, "sub/sub/second", "2");
	gh_output_directory_discard(&out);
	ck_assert_uint_eq(count_below("."), 0);
}
END_TEST

START_TEST(a_directory_for_which_there_is_no_place_is_told)
{
	struct gh_output_directory out;
	struct gh_error err;
	write_file(".", "file", "text");
	ck_assert(!gh_output_directory_open(&out, "file", &err));
	ck_assert_str_eq(err.text, "file: cannot write: Not a directory");
	ck_assert(!gh_output_directory_open(&out, "file/in", &err));
	ck_assert_str_eq(err.text, "file/in: cannot make: Not a directory");
	ck_assert(!gh_output_directory_open(&out, "/proc/self", &err));
	ck_assert_str_eq(err.text, "/proc/self: cannot write: No such file or directory");
	ck_assert_uint_eq(count_below("."), 1);
}
END_TEST

/* Whose process was killed. One that is written still is locked; others' may be anything. */
START_TEST(what_was_left_is_removed)
{
	struct gh_output_directory first, second;
	struct gh_error err;
	ck_assert_int_eq(mkdir(".goheap-part-left", 0700), 0);
	write_file(".goheap-part-left", "it", "left");
	ck_assert_int_eq(mkdir(".goheap-part-locked", 0700), 0);
	ck_assert_int_eq(mkdir(".goheap-part-open", 0750), 0);
	ck_assert_int_eq(mkdir(".goheap-parts", 0700), 0);
	ck_assert_int_eq(mkdir("goheap-part-left", 0700), 0);
	ck_assert_int_eq(symlink("goheap-part-left", ".goheap-part-link"), 0);
	write_file(".", ".goheap-part-file", "stays");
	int locked = open(".goheap-part-locked", O_RDONLY | O_DIRECTORY);
	ck_assert_int_eq(flock(locked, LOCK_EX | LOCK_NB), 0);
	ck_assert(gh_output_directory_open(&first, ".", &err));
	ck_assert_int_ne(access(".goheap-part-left", F_OK), 0);
	ck_assert_uint_eq(count_below("."), 7);
	ck_assert(gh_output_directory_open(&second, ".", &err));
	ck_assert_uint_eq(count_below("."), 8);
	check_directory(first.path);
	gh_output_directory_discard(&first);
	gh_output_directory_discard(&second);
	ck_assert_uint_eq(count_below("."), 6);
	close(locked);
}
END_TEST

void output_directory_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, directories_are_made_with_those_they_are_in);
	tcase_add_test(tests, a_directory_that_cannot_be_made_is_told);
	tcase_add_loop_test(tests, a_directory_is_there_when_it_is_whole, 0, 3);
	tcase_add_test(tests, files_take_the_places_of_those_that_are_there);
	tcase_add_test(tests, a_directory_that_gets_no_name_is_removed);
	tcase_add_test(tests, nothing_is_left_of_a_directory_that_is_given_up);
	tcase_add_test(tests, a_directory_for_which_there_is_no_place_is_told);
	tcase_add_test(tests, what_was_left_is_removed);
}
