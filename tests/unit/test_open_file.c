/* Files that are opened, copied, and read for a number. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/util/number_file.h"
#include "lib/util/open_file.h"
#include "tests/unit/suites.h"

static char path[64];

static void setup(void)
{
	strcpy(path, "/tmp/goheap-open-XXXXXX");
	close(mkstemp(path));
}

static void teardown(void)
{
	unlink(path);
}

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
}

/* Where the file FD was made. */
static void check_place(int fd, const char *start)
{
	char link[32], name[256];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t size = readlink(link, name, sizeof(name) - 1);
	ck_assert_int_gt(size, 0);
	name[size] = '\0';
	ck_assert_msg(strncmp(name, start, strlen(start)) == 0, "%s", name);
}

START_TEST(a_temporary_file_has_no_name)
{
	char byte = 0;
	struct stat st;
	char folder[] = "/tmp/goheap-folder-XXXXXX";
	char start[64];
	ck_assert_ptr_nonnull(mkdtemp(folder));
	setenv("TMPDIR", folder, 1);
	int fd = gh_open_temporary();
	ck_assert_int_ge(fd, 0);
	snprintf(start, sizeof(start), "%s/goheap-", folder);
	check_place(fd, start);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_nlink, 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	ck_assert_int_eq(pwrite(fd, "x", 1, 0), 1);
	ck_assert_int_eq(pread(fd, &byte, 1, 0), 1);
	ck_assert_int_eq(byte, 'x');
	close(fd);
	ck_assert_int_eq(rmdir(folder), 0);
	/* It is gone now. */
	ck_assert_int_eq(gh_open_temporary(), -1);
	setenv("TMPDIR", "", 1);
	fd = gh_open_temporary();
	check_place(fd, "/tmp/goheap-");
	close(fd);
	unsetenv("TMPDIR");
	fd = gh_open_temporary();
	check_place(fd, "/tmp/goheap-");
	close(fd);
}
END_TEST

START_TEST(a_socket_is_no_file_to_read)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct gh_error err;
	struct stat st;
	char expected[128];
	unlink(path);
	strcpy(address.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(gh_open_file(path, &st, &err), -1);
	snprintf(expected, sizeof(expected), "%s: expected a regular file, found a socket", path);
	ck_assert_str_eq(err.text, expected);
	close(fd);
}
END_TEST

START_TEST(an_opened_file_is_not_inherited)
{
	struct gh_error err;
	struct stat st;
	write_file("text");
	int fd = gh_open_file(path, &st, &err);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	close(fd);
}
END_TEST

START_TEST(a_file_is_the_same_if_nothing_of_it_has_changed)
{
	const struct stat file = {
	    .st_dev = 1, .st_ino = 2, .st_size = 3, .st_mtim = {.tv_sec = 4, .tv_nsec = 5}};
	struct stat others[5] = {file, file, file, file, file};
	others[0].st_dev++;
	others[1].st_ino++;
	others[2].st_size++;
	others[3].st_mtim.tv_sec++;
	others[4].st_mtim.tv_nsec++;
	struct stat same = file;
	same.st_mode = 0644;
	ck_assert(gh_is_same_file(&file, &same));
	for (unsigned i = 0; i < 5; i++)
		ck_assert(!gh_is_same_file(&file, &others[i]));
}
END_TEST

START_TEST(the_start_of_a_file_is_copied_to_where_another_is)
{
	char text[16] = {0};
	write_file("0123456789");
	int from = open(path, O_RDONLY);
	int to = gh_open_temporary();
	ck_assert_int_eq(lseek(from, 5, SEEK_SET), 5);
	ck_assert_int_eq(write(to, "ab", 2), 2);
	ck_assert(gh_copy_file(to, from, 4));
	ck_assert(gh_copy_file(to, from, 0));
	ck_assert_int_eq(pread(to, text, sizeof(text), 0), 6);
	ck_assert_str_eq(text, "ab0123");
	ck_assert(gh_copy_file(to, from, 10));
	ck_assert_int_eq(lseek(to, 0, SEEK_CUR), 16);
	/* There is no more of it, or no place for it. */
	ck_assert(!gh_copy_file(to, from, 11));
	ck_assert(!gh_copy_file(from, from, 1));
	close(from);
	close(to);
}
END_TEST

/* As the kernel has /proc/PID/status. */
START_TEST(a_number_is_behind_its_key)
{
	uint64_t number = 7;
	write_file("Name:\tx\nVmRSS:\t  34 kB\nVmRSS:\t35 kB\nVmSwap:\tnone\nVmSwap:\t36\nThreads: "
		   "18446744073709551615\nLast: 5");
	ck_assert(gh_number_file_read(path, "VmRSS:", &number));
	ck_assert_uint_eq(number, 34);
	/* A line without a number is none of it. */
	ck_assert(gh_number_file_read(path, "VmSwap:", &number));
	ck_assert_uint_eq(number, 36);
	ck_assert(gh_number_file_read(path, "Threads:", &number));
	ck_assert_uint_eq(number, UINT64_MAX);
	ck_assert(gh_number_file_read(path, "Last:", &number));
	ck_assert_uint_eq(number, 5);
	ck_assert(!gh_number_file_read(path, "RSS:", &number));
	ck_assert(!gh_number_file_read(path, "Name:", &number));
	unlink(path);
	ck_assert(!gh_number_file_read(path, "VmRSS:", &number));
}
END_TEST

void open_file_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_temporary_file_has_no_name);
	tcase_add_test(tests, a_socket_is_no_file_to_read);
	tcase_add_test(tests, an_opened_file_is_not_inherited);
	tcase_add_test(tests, a_file_is_the_same_if_nothing_of_it_has_changed);
	tcase_add_test(tests, the_start_of_a_file_is_copied_to_where_another_is);
	tcase_add_test(tests, a_number_is_behind_its_key);
}
