#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/util/free_memory.h"
#include "tests/unit/directory.h"
#include "tests/unit/suites.h"

/* Stands for the system's root directory. */
static const char *root;

static void setup(void)
{
	root = directory_make();
}

/* Writes TEXT to the file PATH below the root, and makes the directories that it is in. */
static void put(const char *path, const char *text)
{
	char name[PATH_MAX];
	snprintf(name, sizeof(name), "%s/%s", root, path);
	for (char *slash = name + strlen(root); (slash = strchr(slash + 1, '/')) != NULL;) {
		*slash = '\0';
		mkdir(name, 0700);
		*slash = '/';
	}
	FILE *file = fopen(name, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void expect(uint64_t bytes, bool in_container)
{
	struct gh_free_memory found = gh_free_memory_find(root);
	ck_assert_uint_eq(found.bytes, bytes);
	ck_assert_int_eq(found.in_container, in_container);
}

START_TEST(nothing_is_known)
{
	expect(UINT64_MAX, false);
	put("proc/self/cgroup", "no line of its kind\n0::\n:\n");
	expect(UINT64_MAX, false);
}
END_TEST

START_TEST(the_system_has_what_is_available)
{
	put("proc/meminfo", "MemTotal:  8000000 kB\nMemFree: 10 kB\nMemAvailable:    2000 kB\n");
	put("proc/self/cgroup", "0::/user.slice\n");
	put("sys/fs/cgroup/user.slice/memory.max", "max\n");
	put("sys/fs/cgroup/user.slice/memory.current", "3000000\n");
	expect(2000 * 1024, false);
}
END_TEST

START_TEST(the_least_of_all_groups_counts)
{
	put("proc/meminfo", "MemAvailable: 9000000 kB\n");
	put("proc/self/cgroup", "1:cpu:/other\n0::/pod/app\n");
	put("sys/fs/cgroup/pod/memory.max", "1000000\n");
	put("sys/fs/cgroup/pod/memory.current", "900000\n");
	put("sys/fs/cgroup/pod/app/memory.max", "500000\n");
	put("sys/fs/cgroup/pod/app/memory.current", "100000\n");
	expect(100000, true);
	/* Pages of files go when memory is needed. */
	put("sys/fs/cgroup/pod/memory.stat", "anon 600000\ninactive_file 200000\n");
	expect(300000, true);
	put("sys/fs/cgroup/pod/app/memory.current", "600000\n");
	expect(0, true);
	/* They are counted at another moment than what is used. */
	put("sys/fs/cgroup/pod/app/memory.stat", "inactive_file 600001\n");
	expect(300000, true);
	put("sys/fs/cgroup/pod/memory.stat", "inactive_file 900001\n");
	expect(500000, true);
}
END_TEST

START_TEST(a_container_may_have_another_name_inside)
{
	put("proc/meminfo", "MemAvailable: 9000000 kB\n");
	put("proc/self/cgroup", "4:memory:/kubepods/pod1/abc\n0::/\n");
	put("sys/fs/cgroup/memory/memory.limit_in_bytes", "700000\n");
	put("sys/fs/cgroup/memory/memory.usage_in_bytes", "500000\n");
	put("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 100000\n");
	expect(300000, true);
	/* As the kernel says that there is no limit. */
	put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	expect(9000000ULL * 1024, false);
}
END_TEST

void free_memory_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, directory_remove);
	tcase_add_test(tests, nothing_is_known);
	tcase_add_test(tests, the_system_has_what_is_available);
	tcase_add_test(tests, the_least_of_all_groups_counts);
	tcase_add_test(tests, a_container_may_have_another_name_inside);
}
