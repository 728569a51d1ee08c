#include "tests/unit/resources.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <search.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The linker has each call of these, in the tests and the library, be one of __wrap_ here; what is
 * called __real_ is the C library's (ld's --wrap). Allocations that the C library makes for itself
 * are not among them. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t length);
void __real_free(void *memory);
void *__real_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *address, size_t size);
void *__real_tsearch(const void *key, void **root, int (*compare)(const void *, const void *));

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t length);
int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap___asprintf_chk(char **text, int flag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void __wrap_free(void *memory);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *address, size_t size);
void *__wrap_tsearch(const void *key, void **root, int (*compare)(const void *, const void *));

/* What there is, by address: a table with open addressing. */
#define CAPACITY ((size_t)1 << 22)

static const void *table[CAPACITY];
static size_t count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t hash(const void *memory)
{
	return (size_t)(((uintptr_t)memory >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 42);
}

/* Where MEMORY is in the table, or the free place where it would be. */
static size_t find(const void *memory)
{
	size_t at = hash(memory);
	while (table[at] != NULL && table[at] != memory)
		at = (at + 1) % CAPACITY;
	return at;
}

static void *add(void *memory)
{
	if (memory == NULL)
		return NULL;
	pthread_mutex_lock(&lock);
	size_t at = find(memory);
	if (table[at] == NULL && ++count > CAPACITY / 2)
		abort();
	table[at] = memory;
	pthread_mutex_unlock(&lock);
	return memory;
}

/* Others' memory, as getline's, is in no table. */
static void take_out(const void *memory)
{
	pthread_mutex_lock(&lock);
	size_t at = find(memory);
	if (memory != NULL && table[at] != NULL) {
		table[at] = NULL;
		count--;
		/* Those behind it are to be found still. */
		for (at = (at + 1) % CAPACITY; table[at] != NULL; at = (at + 1) % CAPACITY) {
			const void *moved = table[at];
			table[at] = NULL;
			table[find(moved)] = moved;
		}
	}
	pthread_mutex_unlock(&lock);
}

static unsigned long allocations;
static unsigned long fail_at;

void resources_fail_at(unsigned long number)
{
	allocations = 0;
	fail_at = number;
}

unsigned long resources_fail_no_more(void)
{
	fail_at = 0;
	return allocations;
}

static bool fails(void)
{
	if (__atomic_load_n(&fail_at, __ATOMIC_SEQ_CST) == 0 ||
	    __atomic_add_fetch(&allocations, 1, __ATOMIC_SEQ_CST) != fail_at)
		return false;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : add(__real_malloc(size));
}

void *__wrap_calloc(size_t number, size_t size)
{
	return fails() ? NULL : add(__real_calloc(number, size));
}

void *__wrap_realloc(void *old, size_t size)
{
	if (fails())
		return NULL;
	take_out(old);
	void *memory = __real_realloc(old, size);
	add(memory != NULL ? memory : old);
	return memory;
}

void *__wrap_reallocarray(void *old, size_t number, size_t size)
{
	if (fails())
		return NULL;
	take_out(old);
	void *memory = __real_reallocarray(old, number, size);
	add(memory != NULL ? memory : old);
	return memory;
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : add(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t length)
{
	return fails() ? NULL : add(__real_strndup(text, length));
}

/* TEXT becomes what is printed, and is added. */
__attribute__((format(printf, 2, 0))) static int print(char **text, const char *format,
						       va_list args)
{
	int length = vasprintf(text, format, args);
	if (length >= 0)
		add(*text);
	return length;
}

int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list args;
	if (fails())
		return -1;
	va_start(args, format);
	int length = print(text, format, args);
	va_end(args);
	return length;
}

/* What it is called where calls are checked (_FORTIFY_SOURCE). */
int __wrap___asprintf_chk(char **text, int flag, const char *format, ...)
{
	va_list args;
	(void)flag;
	if (fails())
		return -1;
	va_start(args, format);
	int length = print(text, format, args);
	va_end(args);
	return length;
}

void __wrap_free(void *memory)
{
	take_out(memory);
	__real_free(memory);
}

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *memory = __real_mmap(address, size, protection, flags, fd, offset);
	return memory != MAP_FAILED ? add(memory) : memory;
}

int __wrap_munmap(void *address, size_t size)
{
	take_out(address);
	return __real_munmap(address, size);
}

/* What a tree has of memory is the C library's. */
void *__wrap_tsearch(const void *key, void **root, int (*compare)(const void *, const void *))
{
	return fails() ? NULL : __real_tsearch(key, root, compare);
}

static size_t count_files(void)
{
	size_t number = 0;
	DIR *entries = opendir("/proc/self/fd");
	while (entries != NULL && readdir(entries) != NULL)
		number++;
	if (entries != NULL)
		closedir(entries);
	return number;
}

static size_t count_before, files_before;

void resources_begin(void)
{
	count_before = count;
	files_before = count_files();
}

void resources_check(void)
{
	fail_at = 0;
	ck_assert_msg(count <= count_before, "%zu pieces of memory are not freed",
		      count - count_before);
	ck_assert_msg(count_files() <= files_before, "%zu files are not closed",
		      count_files() - files_before);
}
