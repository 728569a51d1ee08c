/* To be preloaded: the allocation whose number, from 1 on, is FAIL_AT in the environment finds no
 * memory. Without it the number of allocations is written to the file ALLOCATIONS as the program
 * ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static atomic_ulong count;
static unsigned long fail_at;

__attribute__((constructor)) static void find_next(void)
{
	const char *text = getenv("FAIL_AT");
	if (next_malloc != NULL)
		return;
	next_malloc = dlsym(RTLD_NEXT, "malloc");
	next_calloc = dlsym(RTLD_NEXT, "calloc");
	next_realloc = dlsym(RTLD_NEXT, "realloc");
	fail_at = text != NULL ? strtoul(text, NULL, 10) : 0;
}

static bool fails(void)
{
	find_next();
	if (atomic_fetch_add(&count, 1) + 1 != fail_at)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : next_malloc(size);
}

void *calloc(size_t number, size_t size)
{
	return fails() ? NULL : next_calloc(number, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : next_realloc(old, size);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("ALLOCATIONS");
	FILE *file = path != NULL ? fopen(path, "w") : NULL;
	if (file != NULL) {
		fprintf(file, "%lu\n", atomic_load(&count));
		fclose(file);
	}
}
