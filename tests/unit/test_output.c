#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/util/open_file.h"
#include "lib/util/output.h"
#include "tests/unit/directory.h"
#include "tests/unit/suites.h"

static void setup(void)
{
	ck_assert_int_eq(chdir(directory_make()), 0);
}

/* How many files there are. */
static size_t count_files(void)
{
	size_t count = 0;
	DIR *entries = opendir(".");
	for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
		count += entry->d_name[0] != '.';
	closedir(entries);
	return count;
}

static void teardown(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	directory_remove();
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
}

static const char *read_file(const char *path)
{
	static char text[64];
	FILE *file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

START_TEST(a_file_is_there_when_it_is_whole)
{
	struct gh_output out;
	struct gh_error err;
	ck_assert(gh_output_open(&out, "new", GH_OUTPUT_PUBLIC, &err));
	ck_assert(gh_write_all(out.fd, "whole", 5));
	ck_assert_int_ne(access("new", F_OK), 0);
	ck_assert(gh_output_commit(&out, &err));
	ck_assert_str_eq(read_file("new"), "whole");
	ck_assert_uint_eq(count_files(), 1);
}
END_TEST

START_TEST(an_older_file_is_replaced_at_once)
{
	struct gh_output out;
	struct gh_error err;
	const char *path = directory_path("old");
	write_file("old", "old");
	ck_assert(gh_output_open(&out, path, GH_OUTPUT_PUBLIC, &err));
	FILE *stream = gh_output_stream(&out, &err);
	fputs("new", stream);
	fclose(stream);
	ck_assert_str_eq(read_file("old"), "old");
	ck_assert(gh_output_commit(&out, &err));
	ck_assert_str_eq(read_file("old"), "new");
	ck_assert_uint_eq(count_files(), 1);
}
END_TEST

START_TEST(nothing_is_left_of_what_is_given_up)
{
	struct gh_output out;
	struct gh_error err;
	write_file("old", "old");
	ck_assert(gh_output_open(&out, "old", GH_OUTPUT_PUBLIC, &err));
	ck_assert(gh_write_all(out.fd, "half", 4));
	gh_output_discard(&out);
	ck_assert(gh_output_open(&out, "new", GH_OUTPUT_PUBLIC, &err));
	gh_output_discard(&out);
	ck_assert_str_eq(read_file("old"), "old");
	ck_assert_uint_eq(count_files(), 1);
}
END_TEST

/* A killed process's temporary files have this process's name. */
START_TEST(other_temporary_files_stay)
{
	struct gh_output out;
	struct gh_error err;
	char other[64];
	snprintf(other, sizeof(other), "new.%ld-0.tmp", (long)getpid());
	write_file(other, "other");
	ck_assert(gh_output_open(&out, "new", GH_OUTPUT_PUBLIC, &err));
	ck_assert(gh_write_all(out.fd, "new", 3));
	ck_assert(gh_output_commit(&out, &err));
	ck_assert_str_eq(read_file("new"), "new");
	ck_assert_str_eq(read_file(other), "other");
	ck_assert_uint_eq(count_files(), 2);
}
END_TEST

START_TEST(permissions_are_what_the_umask_leaves)
{
	static const struct {
		mode_t mode, mask, expected;
	} cases[] = {
	    {GH_OUTPUT_PUBLIC, 027, 0640},
	    {GH_OUTPUT_PUBLIC, 077, 0600},
	    {GH_OUTPUT_PRIVATE, 0, 0600},
	    {GH_OUTPUT_PRIVATE, 0377, 0400},
	};
	struct gh_output out;
	struct gh_error err;
	struct stat st;
	mode_t before = umask(cases[_i].mask);
	ck_assert(gh_output_open(&out, "new", cases[_i].mode, &err));
	ck_assert(gh_output_commit(&out, &err));
	umask(before);
	ck_assert_int_eq(stat("new", &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, cases[_i].expected);
}
END_TEST

START_TEST(what_is_no_regular_file_stays)
{
	struct gh_output out;
	struct gh_error err;
	mkdir("folder", 0755);
	ck_assert(!gh_output_open(&out, "folder", GH_OUTPUT_PUBLIC, &err));
	ck_assert_str_eq(err.text, "folder: expected the name of a regular file, found that of "
				   "something else");
	ck_assert(!gh_output_open(&out, "/dev/null", GH_OUTPUT_PUBLIC, &err));
	ck_assert(!gh_output_open(&out, "missing/new", GH_OUTPUT_PUBLIC, &err));
	ck_assert_str_eq(err.text, "missing/new: cannot write: No such file or directory");
}
END_TEST

START_TEST(a_commit_that_fails_leaves_nothing)
{
	struct gh_output out;
	struct gh_error err;
	ck_assert(gh_output_open(&out, "new", GH_OUTPUT_PUBLIC, &err));
	/* A directory has come in its place. */
	mkdir("new", 0755);
	ck_assert(!gh_output_commit(&out, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "new: cannot write: "));
	ck_assert_uint_eq(count_files(), 1);
}
END_TEST

START_TEST(a_file_that_cannot_be_closed_is_not_there)
{
	struct gh_error err;
	write_file("temporary", "cut");
	struct gh_output out = {.fd = -1, .path = strdup("new"), .temp = strdup("temporary")};
	ck_assert(!gh_output_commit(&out, &err));
	ck_assert_str_eq(err.text, "new: cannot write: Bad file descriptor");
	ck_assert_uint_eq(count_files(), 0);
}
END_TEST

START_TEST(a_name_that_cannot_be_looked_up_is_told)
{
	struct gh_output out;
	struct gh_error err;
	char name[301] = {0};
	memset(name, 'n', sizeof(name) - 1);
	ck_assert(!gh_output_open(&out, name, GH_OUTPUT_PUBLIC, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "n: cannot write: File name too long"));
	write_file("file", "text");
	ck_assert(!gh_output_open(&out, "file/new", GH_OUTPUT_PUBLIC, &err));
	ck_assert_str_eq(err.text, "file/new: cannot write: Not a directory");
}
END_TEST

START_TEST(a_stream_has_a_file_that_can_be_written)
{
	struct gh_error err;
	char name[] = "new";
	struct gh_output out = {.fd = -1, .path = name};
	ck_assert_ptr_null(gh_output_stream(&out, &err));
	ck_assert_str_eq(err.text, "new: cannot write: Bad file descriptor");
	out.fd = open("/dev/null", O_RDONLY);
	ck_assert_ptr_null(gh_output_stream(&out, &err));
	ck_assert_str_eq(err.text, "new: cannot write: Invalid argument");
	close(out.fd);
}
END_TEST

/* Other processes see it meanwhile, under another name. */
START_TEST(a_file_may_be_named_before_it_is_whole)
{
	struct gh_output out;
	struct gh_error err;
	ck_assert(gh_output_open(&out, "new", GH_OUTPUT_PUBLIC, &err));
	ck_assert(gh_write_all(out.fd, "first", 5));
	ck_assert(gh_output_name(&out, &err));
	ck_assert_str_eq(read_file(out.temp), "first");
	ck_assert(gh_output_name(&out, &err));
	ck_assert_uint_eq(count_files(), 1);
	ck_assert(gh_write_all(out.fd, ", second", 8));
	ck_assert(gh_output_end(&out, true, &err));
	ck_assert_str_eq(read_file("new"), "first, second");
	ck_assert(gh_output_open(&out, "other", GH_OUTPUT_PUBLIC, &err));
	ck_assert(gh_output_name(&out, &err));
	ck_assert(!gh_output_end(&out, false, &err));
	ck_assert_uint_eq(count_files(), 1);
}
END_TEST

/* A hundred names are tried. */
START_TEST(a_file_gets_a_name_that_none_has)
{
	struct gh_output out;
	struct gh_error err;
	char other[64], expected[64];
	for (int taken = 0; taken < 100; taken++) {
		snprintf(other, sizeof(other), "new.%ld-%d.tmp", (long)getpid(), taken);
		if (taken == 99) {
			ck_assert(gh_output_open(&out, "new", GH_OUTPUT_PUBLIC, &err));
			ck_assert(gh_output_name(&out, &err));
			ck_assert_str_eq(out.temp, other);
			gh_output_discard(&out);
		}
		write_file(other, "other");
	}
	write_file("new", "old");
	ck_assert(gh_output_open(&out, "new", GH_OUTPUT_PUBLIC, &err));
	ck_assert(!gh_output_name(&out, &err));
	ck_assert_str_eq(err.text, "new: cannot write: File exists");
	ck_assert_ptr_null(out.temp);
	ck_assert(!gh_output_commit(&out, &err));
	ck_assert_uint_eq(count_files(), 101);
	ck_assert_str_eq(read_file("new"), "old");
	/* Where no file is to be replaced, none is needed. */
	ck_assert_int_eq(unlink("new"), 0);
	ck_assert(gh_output_open(&out, "new", GH_OUTPUT_PUBLIC, &err));
	ck_assert(gh_write_all(out.fd, "first", 5));
	ck_assert(gh_output_commit(&out, &err));
	ck_assert_str_eq(read_file("new"), "first");
	ck_assert_uint_eq(count_files(), 101);
	snprintf(expected, sizeof(expected), "new.%ld-0.tmp", (long)getpid());
	ck_assert_str_eq(read_file(expected), "other");
}
END_TEST

/* Eight are known at once. */
START_TEST(all_temporary_files_are_removed_by_a_signal)
{
	struct gh_output outs[8];
	struct gh_error err;
	for (unsigned i = 0; i < 8; i++) {
		char name[8];
		snprintf(name, sizeof(name), "new%u", i);
		ck_assert(gh_output_open(&outs[i], name, GH_OUTPUT_PUBLIC, &err));
		ck_assert(gh_output_name(&outs[i], &err));
	}
	/* Of those that are given up the places are free. */
	gh_output_discard(&outs[2]);
	ck_assert(gh_output_open(&outs[2], "more", GH_OUTPUT_PUBLIC, &err));
	ck_assert(gh_output_name(&outs[2], &err));
	ck_assert_uint_eq(count_files(), 8);
	gh_output_remove_temporary();
	ck_assert_uint_eq(count_files(), 0);
	for (unsigned i = 0; i < 8; i++)
		gh_output_discard(&outs[i]);
}
END_TEST

START_TEST(signals_come_as_before_once_a_file_is_named)
{
	struct gh_output out;
	struct gh_error err;
	sigset_t before, after;
	sigemptyset(&before);
	sigaddset(&before, SIGUSR1);
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, &before, NULL), 0);
	ck_assert(gh_output_open(&out, "new", GH_OUTPUT_PUBLIC, &err));
	ck_assert(gh_output_commit(&out, &err));
	ck_assert_int_eq(sigprocmask(SIG_UNBLOCK, &before, &after), 0);
	for (int number = 1; number < 32; number++)
		ck_assert_int_eq(sigismember(&after, number), number == SIGUSR1);
}
END_TEST

START_TEST(a_process_that_ends_early_leaves_nothing)
{
	struct gh_output out;
	struct gh_error err;
	ck_assert(gh_output_open(&out, "new", GH_OUTPUT_PUBLIC, &err));
	gh_output_remove_temporary();
	ck_assert_uint_eq(count_files(), 0);
	gh_output_discard(&out);

	/* What has become a file is none of its temporary files, whatever name that had. */
	char other[64];
	snprintf(other, sizeof(other), "new.%ld-0.tmp", (long)getpid());
	ck_assert(gh_output_open(&out, "new", GH_OUTPUT_PUBLIC, &err));
	ck_assert(gh_output_commit(&out, &err));
	write_file(other, "other");
	gh_output_remove_temporary();
	ck_assert_uint_eq(count_files(), 2);
}
END_TEST

START_TEST(an_input_is_known_by_any_name)
{
	struct gh_error err;
	write_file("in", "text");
	write_file("other", "text");
	ck_assert_int_eq(link("in", "hard"), 0);
	ck_assert_int_eq(symlink("in", "soft"), 0);
	ck_assert(!gh_output_spares("in", "in", &err));
	ck_assert(!gh_output_spares("./hard", "in", &err));
	ck_assert(!gh_output_spares("soft", "in", &err));
	ck_assert_str_eq(
	    err.text, "soft: expected another output file than the input, found the input itself");
	ck_assert(gh_output_spares("other", "in", &err));
	ck_assert(gh_output_spares("new", "in", &err));
	ck_assert(gh_output_spares("in", "missing", &err));
}
END_TEST

START_TEST(only_regular_files_are_read)
{
	struct gh_error err;
	struct stat st;
	/* Nobody writes to the FIFO: to open it for reading would wait for ever. */
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	ck_assert_int_eq(gh_open_file("fifo", &st, &err), -1);
	ck_assert_str_eq(err.text, "fifo: expected a regular file, found a FIFO");
	ck_assert_int_eq(gh_open_file(".", &st, &err), -1);
	ck_assert_str_eq(err.text, ".: expected a regular file, found a directory");
	ck_assert_int_eq(gh_open_file("/dev/null", &st, &err), -1);
	ck_assert_str_eq(err.text, "/dev/null: expected a regular file, found a device");
	ck_assert_int_eq(gh_open_file("missing", &st, &err), -1);
	ck_assert_str_eq(err.text, "missing: cannot open: No such file or directory");
	write_file("in", "text");
	int fd = gh_open_file("in", &st, &err);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(st.st_size, 4);
	close(fd);
}
END_TEST

static int full_pipe[2];
static volatile sig_atomic_t nsignals;

/* The first signal finds nobody who reads. */
static void on_signal(int number)
{
	char byte[4096];
	(void)number;
	if (nsignals++ > 0 && read(full_pipe[0], byte, sizeof(byte)) <= 0)
		abort();
}

START_TEST(a_signal_does_not_end_a_write)
{
	static const char block[4096];
	const struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART */
	const struct itimerval each = {{0, 10000}, {0, 10000}};
	const struct itimerval never = {0};
	ck_assert_int_eq(pipe(full_pipe), 0);
	int capacity = fcntl(full_pipe[1], F_GETPIPE_SZ);
	for (int written = 0; written < capacity; written += (int)sizeof(block))
		ck_assert_int_eq(write(full_pipe[1], block, sizeof(block)), sizeof(block));
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
	bool written = gh_write_all(full_pipe[1], block, sizeof(block));
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	ck_assert(written);
	ck_assert_int_gt(nsignals, 1);
	close(full_pipe[0]);
	close(full_pipe[1]);
}
END_TEST

void output_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_file_is_there_when_it_is_whole);
	tcase_add_test(tests, an_older_file_is_replaced_at_once);
	tcase_add_test(tests, nothing_is_left_of_what_is_given_up);
	tcase_add_test(tests, other_temporary_files_stay);
	tcase_add_loop_test(tests, permissions_are_what_the_umask_leaves, 0, 4);
	tcase_add_test(tests, what_is_no_regular_file_stays);
	tcase_add_test(tests, a_commit_that_fails_leaves_nothing);
	tcase_add_test(tests, a_file_that_cannot_be_closed_is_not_there);
	tcase_add_test(tests, a_name_that_cannot_be_looked_up_is_told);
	tcase_add_test(tests, a_stream_has_a_file_that_can_be_written);
	tcase_add_test(tests, a_file_may_be_named_before_it_is_whole);
	tcase_add_test(tests, a_file_gets_a_name_that_none_has);
	tcase_add_test(tests, all_temporary_files_are_removed_by_a_signal);
	tcase_add_test(tests, signals_come_as_before_once_a_file_is_named);
	tcase_add_test(tests, a_process_that_ends_early_leaves_nothing);
	tcase_add_test(tests, an_input_is_known_by_any_name);
	tcase_add_test(tests, only_regular_files_are_read);
	tcase_add_test(tests, a_signal_does_not_end_a_write);
}
