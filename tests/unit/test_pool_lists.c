/* The roots that are lists of all pools. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fixture.h"
#include "tests/unit/heapfixture.h"
#include "tests/unit/suites.h"

/* Where the program's last function, sync.poolCleanup, is, and in its file. */
enum { CODE = SYNTHETIC_TEXT + 0x70, CODE_OFFSET = 0x1070 };

/* The variable that it refers to, in the program and in the process. */
#define LIST UINT64_C(0x404010)
#define BIAS UINT64_C(0x10000)

#define OBJECT UINT64_C(0x20000)

/* A segment of five words, of which the third is at ADDRESS; each points to the object. */
static void put_segment(struct maker *maker, unsigned tag, uint64_t address)
{
	maker_numbers(maker, 2, (const uint64_t[]){tag, address - 16});
	maker_words(maker, 5, (const uint64_t[]){OBJECT, OBJECT, OBJECT, OBJECT, OBJECT});
	for (unsigned i = 0; i < 5; i++)
		maker_numbers(maker, 2, (const uint64_t[]){1, 8 * i});
	maker_number(maker, 0);
}

/* Of the object's roots those in segment KIND at OFFSET are passing, and no others. */
static void check_roots(struct fixture *program, uint64_t bias, int kind, uint64_t offset)
{
	struct maker maker;
	struct gh_dump dump;
	struct gh_heap heap;
	struct gh_error err;
	const struct gh_root *roots;
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
	maker_object(&maker, OBJECT, 64);
	put_segment(&maker, 12, LIST - BIAS);
	put_segment(&maker, 13, LIST + BIAS);
	maker_root(&maker, OBJECT);
	maker_end(&maker);
	heap_open(&maker, &dump, &heap);
	ck_assert(gh_pool_lists_find(&heap, &program->tab, bias, &err));
	size_t count = gh_heap_roots(&heap, 0, &roots), passing = 0;
	ck_assert_uint_eq(count, 11);
	for (size_t i = 0; i < count; i++) {
		bool expected = (int)roots[i].kind == kind && roots[i].offset == offset;
		ck_assert(roots[i].passing == expected);
		passing += roots[i].passing;
	}
	/* They count for less than the others. */
	ck_assert_uint_eq(passing, kind >= 0);
	ck_assert(roots[count - 1].passing == (kind >= 0));
	heap_close(&maker, &dump, &heap);
}

static void open_program(struct fixture *program, const char *name, uint64_t list)
{
	struct synthetic what = {.format = SYNTHETIC_1_20, .word = 8, .last = name};
	fixture_open_as(program, &what);
	uint64_t distance = list - (CODE + 7);
	memcpy(program->data + CODE_OFFSET, "\x48\x8b\x05", 3); /* MOV list, RAX */
	for (unsigned i = 0; i < 4; i++)
		program->data[CODE_OFFSET + 3 + i] = (uint8_t)(distance >> 8 * i);
	program->data[CODE_OFFSET + 7] = 0xc3;
}

START_TEST(what_the_cleanup_refers_to_is_passing)
{
	struct fixture program;
	open_program(&program, "sync.poolCleanup", LIST);
	check_roots(&program, BIAS, GH_ROOT_BSS, 16);
	check_roots(&program, BIAS - 8, GH_ROOT_BSS, 8);
	check_roots(&program, BIAS + 16, GH_ROOT_BSS, 32);
	check_roots(&program, BIAS + 24, -1, 0);
	check_roots(&program, -BIAS, GH_ROOT_DATA, 16);
	fixture_close(&program);
	/* Before all of the segments. */
	open_program(&program, "sync.poolCleanup", CODE);
	check_roots(&program, BIAS, -1, 0);
	fixture_close(&program);
	open_program(&program, "sync.poolCleaned", LIST);
	check_roots(&program, BIAS, -1, 0);
	fixture_close(&program);
}
END_TEST

void pool_lists_tests(TCase *tests)
{
	tcase_add_test(tests, what_the_cleanup_refers_to_is_passing);
}
