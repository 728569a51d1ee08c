#include "tests/unit/directory.h"

#include <check.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char directory[] = "/tmp/goheap-test-XXXXXX";

const char *directory_make(void)
{
	strcpy(directory, "/tmp/goheap-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	return directory;
}

const char *directory_path(const char *name)
{
	static char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

void directory_write(const char *name, const void *bytes, size_t size)
{
	FILE *file = fopen(directory_path(name), "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)kind;
	(void)walk;
	return remove(path);
}

void directory_remove(void)
{
	ck_assert_int_eq(nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}
