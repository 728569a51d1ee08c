/* The cache of debug files. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/cache_directory.h"
#include "plugin/gdb/gdb.h"
#include "plugin/gdb/internal.h"
#include "tests/unit/directory.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

/* What the tests change in the environment. */
static const char *const variables[] = {"HOME", "XDG_CACHE_HOME"};
static char *values[2];

static void save_environment(void)
{
	for (size_t i = 0; i < 2; i++)
		values[i] = getenv(variables[i]) != NULL ? strdup(getenv(variables[i])) : NULL;
}

static void restore_environment(void)
{
	for (size_t i = 0; i < 2; i++) {
		if (values[i] != NULL)
			setenv(variables[i], values[i], 1);
		else
			unsetenv(variables[i]);
		free(values[i]);
	}
}

/* The cache's directory is that at EXPECTED; NULL: there is none. */
static void check_cache(const char *expected)
{
	char *path = gh_cache_directory(true);
	ck_assert_pstr_eq(path, expected);
	free(path);
}

static void check_mode(const char *path, mode_t mode)
{
	struct stat st;
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFDIR | mode);
}

/* The XDG Base Directory Specification: $XDG_CACHE_HOME if that is an absolute path, else
 * ~/.cache. */
START_TEST(a_cache_is_where_the_user_has_theirs)
{
	char *home = strdup(directory_make());
	char expected[64];
	setenv("HOME", home, 1);
	unsetenv("XDG_CACHE_HOME");
	snprintf(expected, sizeof(expected), "%s/.cache/goheap", home);
	check_cache(expected);
	check_mode(directory_path(".cache"), 0700);
	check_mode(expected, 0700);
	setenv("XDG_CACHE_HOME", "relative", 1);
	check_cache(expected);
	setenv("HOME", "relative", 1);
	check_cache(NULL);
	unsetenv("HOME");
	check_cache(NULL);
	setenv("XDG_CACHE_HOME", directory_path("other"), 1);
	snprintf(expected, sizeof(expected), "%s/other/goheap", home);
	check_cache(expected);
	setenv("XDG_CACHE_HOME", "/proc/self/nothing", 1);
	check_cache(NULL);
	/* GDB's commands are lines. */
	setenv("XDG_CACHE_HOME", directory_path("a\nb"), 1);
	check_cache(NULL);
	free(home);
	directory_remove();
}
END_TEST

START_TEST(a_cache_that_others_can_write_to_is_none)
{
	char expected[64];
	snprintf(expected, sizeof(expected), "%s/goheap", directory_make());
	setenv("XDG_CACHE_HOME", directory_path(""), 1);
	check_cache(expected);
	static const mode_t shared[] = {0770, 0707, 0720, 0702};
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		ck_assert_int_eq(chmod(expected, shared[i]), 0);
		check_cache(NULL);
	}
	ck_assert_int_eq(chmod(expected, 0755), 0);
	check_cache(expected);
	ck_assert_int_eq(rmdir(expected), 0);
	directory_write("goheap", "", 0);
	check_cache(NULL);
	directory_remove();
}
END_TEST

/* Has the file NAME last read and written that many days ago. */
static void age(const char *name, int read, int written)
{
	struct timespec times[2];
	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[1] = times[0];
	times[0].tv_sec -= 86400 * (time_t)read;
	times[1].tv_sec -= 86400 * (time_t)written;
	ck_assert_int_eq(utimensat(AT_FDCWD, directory_path(name), times, AT_SYMLINK_NOFOLLOW), 0);
}

static bool is_there(const char *name)
{
	struct stat st;
	return lstat(directory_path(name), &st) == 0;
}

START_TEST(what_was_not_used_for_30_days_goes)
{
	static const struct {
		const char *name;
		int read, written;
		bool stays;
	} files[] = {{"a.debug", 31, 31, false},   {"b.debug", 29, 31, true},
		     {"c.debug", 31, 29, true},    {"d.debug", 29, 29, true},
		     {"e.other", 31, 31, true},    {"noname", 31, 31, true},
		     {"f.debug.old", 31, 31, true}};
	const char *directory = directory_make();
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		directory_write(files[i].name, "", 0);
		age(files[i].name, files[i].read, files[i].written);
	}
	ck_assert_int_eq(symlink("a.debug", directory_path("old.link")), 0);
	age("old.link", 31, 31);
	ck_assert_int_eq(symlink("b.debug", directory_path("new.link")), 0);
	age("new.link", 1, 1);
	gh_cache_clean(directory);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		ck_assert_int_eq(is_there(files[i].name), files[i].stays);
	ck_assert(!is_there("old.link"));
	ck_assert(is_there("new.link"));
	directory_remove();
}
END_TEST

/* GDB's manual, "Separate Debug Files": DIR/.build-id/NN/NNNNNNNN.debug. */
START_TEST(a_debug_file_is_found_by_its_build_id)
{
	const char *directory = directory_make();
	char target[PATH_MAX];
	ck_assert(!gh_cache_has_links(directory));
	directory_write("a.debug", "", 0);
	ck_assert(gh_cache_link(directory, "00abcdef", directory_path("a.debug")));
	ck_assert(gh_cache_link(directory, "ff012345", "/proc/self/nothing"));
	ck_assert(gh_cache_has_links(directory));
	ssize_t length =
	    readlink(directory_path(".build-id/00/abcdef.debug"), target, sizeof(target));
	ck_assert_int_gt(length, 0);
	target[length] = '\0';
	ck_assert_str_eq(target, directory_path("a.debug"));
	/* A link that is there is replaced; one whose file is gone goes. */
	ck_assert(gh_cache_link(directory, "00abcdef", directory_path("a.debug")));
	gh_cache_clean(directory);
	ck_assert(is_there(".build-id/00/abcdef.debug"));
	ck_assert(!is_there(".build-id/ff/012345.debug"));
	ck_assert_int_eq(unlink(directory_path("a.debug")), 0);
	gh_cache_clean(directory);
	ck_assert(!is_there(".build-id/00/abcdef.debug"));
	char id[PATH_MAX + 1];
	memset(id, 'a', PATH_MAX);
	id[PATH_MAX] = '\0';
	ck_assert(!gh_cache_link(directory, id, "/"));
	/* Where there is no directory. */
	directory_write("file", "", 0);
	char *file = strdup(directory_path("file"));
	ck_assert(!gh_cache_link(file, "00abcdef", "/"));
	free(file);
	directory_remove();
}
END_TEST

/* The bytes of the file PATH, to be freed. */
static char *contents_of(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	struct stat st;
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fstat(fileno(file), &st), 0);
	char *bytes = malloc((size_t)st.st_size);
	*size = fread(bytes, 1, (size_t)st.st_size, file);
	ck_assert_uint_eq(*size, (size_t)st.st_size);
	fclose(file);
	return bytes;
}

/* Writes BYTES over what is at OFFSET of the file PATH. */
static void overwrite(const char *path, off_t offset, const char *bytes)
{
	int fd = open(path, O_WRONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, bytes, strlen(bytes), offset), (ssize_t)strlen(bytes));
	close(fd);
}

START_TEST(a_debug_file_is_made_once_and_anew_if_it_is_damaged)
{
	struct fixture fixture, other;
	struct gh_image image;
	struct stat before, after;
	size_t size, size_now;
	char program[] = "/tmp/goheap-test-XXXXXX";
	const char *directory = directory_make();
	fixture_open(&fixture, 0);
	fixture_write(&fixture, program);
	ck_assert(gh_image_open(&image, program, NULL));
	char *path = gh_cache_get(directory, &image, GH_FOR_GDB);
	ck_assert_ptr_nonnull(path);
	ck_assert_int_eq(strncmp(path, directory, strlen(directory)), 0);
	char *bytes = contents_of(path, &size);
	ck_assert_int_eq(stat(path, &before), 0);
	char *again = gh_cache_get(directory, &image, GH_FOR_GDB);
	ck_assert_str_eq(again, path);
	ck_assert_int_eq(stat(path, &after), 0);
	ck_assert_uint_eq(after.st_ino, before.st_ino);
	free(again);
	/* Damage at either end. */
	static const int places[] = {0, -1};
	for (size_t i = 0; i < 2; i++) {
		overwrite(path, places[i] < 0 ? (off_t)size - 1 : 0, "x");
		again = gh_cache_get(directory, &image, GH_FOR_GDB);
		ck_assert_str_eq(again, path);
		char *now = contents_of(path, &size_now);
		ck_assert_uint_eq(size_now, size);
		ck_assert_mem_eq(now, bytes, size);
		free(now);
		free(again);
	}
	ck_assert_int_eq(truncate(path, 5), 0);
	again = gh_cache_get(directory, &image, GH_FOR_GDB);
	ck_assert_int_eq(stat(path, &after), 0);
	ck_assert_uint_eq((size_t)after.st_size, size);
	free(again);
	/* Any debugger's is another, and so is another program's. */
	again = gh_cache_get(directory, &image, GH_FOR_ANY);
	ck_assert_str_ne(again, path);
	ck_assert_int_eq(access(again, R_OK), 0);
	free(again);
	fixture_open(&other, 9);
	again = gh_cache_get(directory, &other.image, GH_FOR_GDB);
	ck_assert_str_ne(again, path);
	free(again);
	again = gh_cache_get("/proc/self/nothing", &image, GH_FOR_GDB);
	ck_assert_ptr_null(again);
	fixture_close(&other);
	gh_image_close(&image);
	fixture_close(&fixture);
	free(bytes);
	free(path);
	unlink(program);
	directory_remove();
}
END_TEST

void cache_tests(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, save_environment, restore_environment);
	tcase_add_test(tcase, a_cache_is_where_the_user_has_theirs);
	tcase_add_test(tcase, a_cache_that_others_can_write_to_is_none);
	tcase_add_test(tcase, what_was_not_used_for_30_days_goes);
	tcase_add_test(tcase, a_debug_file_is_found_by_its_build_id);
	tcase_add_test(tcase, a_debug_file_is_made_once_and_anew_if_it_is_damaged);
}
