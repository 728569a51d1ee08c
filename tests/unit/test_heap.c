/* The heap of a dump: large graphs of known shapes, damage, and objects that are none. */
#include <stdlib.h>

#include "lib/heap/heap.h"
#include "tests/unit/heapfixture.h"
#include "tests/unit/heapwalk.h"
#include "tests/unit/suites.h"

#define BASE UINT64_C(0x10000)

static struct maker maker;
static struct gh_dump dump;
static struct gh_heap heap;
static struct gh_error err;

START_TEST(everything)
{
	maker_everything(&maker, _i);
	heap_open(&maker, &dump, &heap);
	heap_walk(&heap);
	heap_close(&maker, &dump, &heap);
}
END_TEST

enum { CHAIN = 1000000 };

/* An object of two words that points to what is at each of the addresses. */
static void put_pair(uint64_t address, uint64_t first, uint64_t second)
{
	maker.nlengths = 0;
	maker_numbers(&maker, 2, (const uint64_t[]){1, address});
	maker_words(&maker, 2, (const uint64_t[]){first, second});
	maker_numbers(&maker, 5, (const uint64_t[]){1, 0, 1, maker.word, 0});
}

/* Each object points to the next and to the first. */
START_TEST(chain)
{
	struct gh_dominators dominators;
	struct gh_path path;
	maker_start(&maker, MAKER_1_6, 8, false);
	maker_params(&maker);
	for (unsigned i = 0; i < CHAIN; i++)
		put_pair(BASE + 16 * i, BASE + 16 * (i + 1), BASE);
	maker_root(&maker, BASE + 1);
	maker_end(&maker);
	heap_open(&maker, &dump, &heap);
	ck_assert_uint_eq(heap.count, CHAIN);
	ck_assert(gh_dominators_build(&dominators, &heap, &err));
	unsigned wrong = 0;
	for (uint32_t i = 0; i < CHAIN; i++)
		wrong += dominators.idom[i] != (i > 0 ? i - 1 : CHAIN) ||
			 dominators.retained[i] != 16 * (CHAIN - i);
	ck_assert_int_eq(gh_path_find(&heap, CHAIN - 1, &path, &err), GH_PATH_FOUND);
	ck_assert_uint_eq(path.steps.count, CHAIN);
	for (uint32_t i = 0; i < CHAIN; i++)
		wrong += path.steps.items[i].object != i;
	ck_assert_uint_eq(wrong, 0);
	gh_path_free(&path);
	gh_dominators_free(&dominators);
	heap_close(&maker, &dump, &heap);
}
END_TEST

enum { HALF = CHAIN / 4 };

/* An object that points to the first pair after HALF others, and to those. */
static void put_array(uint64_t address)
{
	static uint64_t words[HALF + 1];
	for (unsigned i = 0; i <= HALF; i++)
		words[i] = BASE + 16 * ((i + HALF) % (HALF + 1));
	maker.nlengths = 0;
	maker_numbers(&maker, 2, (const uint64_t[]){1, address});
	maker_words(&maker, HALF + 1, words);
	for (unsigned i = 0; i <= HALF; i++)
		maker_numbers(&maker, 2, (const uint64_t[]){1, i * maker.word});
	maker_number(&maker, 0);
}

/* An array points to leaves and to a list, at whose end another one points to the same leaves. */
START_TEST(far)
{
	struct gh_dominators dominators;
	maker_start(&maker, MAKER_1_6, 8, false);
	maker_params(&maker);
	for (unsigned i = 0; i < HALF; i++)
		put_pair(BASE + 16 * i, 0, 0);
	for (unsigned i = HALF; i < 2 * HALF; i++)
		put_pair(BASE + 16 * i, BASE + 16 * (i + 1), 0);
	put_array(BASE + 16 * (2 * HALF));
	put_array(BASE + 16 * (3 * HALF));
	maker_root(&maker, BASE + 16 * (3 * HALF));
	maker_end(&maker);
	heap_open(&maker, &dump, &heap);
	ck_assert_uint_eq(heap.count, 2 * HALF + 2);
	ck_assert(gh_dominators_build(&dominators, &heap, &err));
	unsigned wrong = 0;
	for (uint32_t i = 0; i < 2 * HALF; i++)
		wrong += dominators.idom[i] != (i <= HALF ? 2 * HALF + 1 : i - 1);
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_eq(dominators.idom[2 * HALF], 2 * HALF - 1);
	ck_assert_uint_eq(dominators.idom[2 * HALF + 1], heap.count);
	gh_dominators_free(&dominators);
	heap_close(&maker, &dump, &heap);
}
END_TEST

/* A segment of many pointers, each of which is looked at by itself, as roots are. */
START_TEST(wide)
{
	struct gh_dump_record record;
	static uint64_t words[HALF];
	maker_start(&maker, MAKER_1_6, 8, false);
	maker_params(&maker);
	put_pair(BASE, 0, 0);
	for (unsigned i = 0; i < HALF; i++)
		words[i] = BASE;
	maker_numbers(&maker, 2, (const uint64_t[]){13, 0x6000});
	maker_words(&maker, HALF, words);
	for (unsigned i = 0; i < HALF; i++)
		maker_numbers(&maker, 2, (const uint64_t[]){1, i * maker.word});
	maker_number(&maker, 0);
	maker_end(&maker);
	heap_open(&maker, &dump, &heap);
	ck_assert_uint_eq(heap.nroots, HALF);
	unsigned wrong = 0;
	for (unsigned i = 0; i < HALF; i++) {
		enum gh_dump_kind kind = gh_root_record(&dump, heap.roots[i].kind);
		gh_dump_get(&dump, kind, heap.roots[i].number, &record);
		wrong += record.segment.address + heap.roots[i].offset != 0x6000 + 8 * i;
	}
	ck_assert_uint_eq(wrong, 0);
	heap_close(&maker, &dump, &heap);
}
END_TEST

/* All objects point to the last, which points to itself. */
START_TEST(hub)
{
	struct gh_dominators dominators;
	const uint32_t *referrers;
	uint64_t last = BASE + 16 * (CHAIN - 1);
	maker_start(&maker, MAKER_1_6, 4, true);
	maker_params(&maker);
	for (unsigned i = 0; i < CHAIN; i++)
		put_pair(BASE + 16 * i, last, last);
	for (unsigned i = 0; i < CHAIN; i++) {
		maker.nlengths = 0;
		maker_root(&maker, BASE + 16 * i);
	}
	maker_end(&maker);
	heap_open(&maker, &dump, &heap);
	ck_assert_uint_eq(gh_heap_referrers(&heap, CHAIN - 1, &referrers), CHAIN);
	ck_assert(gh_dominators_build(&dominators, &heap, &err));
	unsigned wrong = 0;
	for (uint32_t i = 0; i < CHAIN; i++)
		wrong +=
		    referrers[i] != i || dominators.idom[i] != CHAIN || dominators.retained[i] != 8;
	ck_assert_uint_eq(wrong, 0);
	gh_dominators_free(&dominators);
	heap_close(&maker, &dump, &heap);
}
END_TEST

/* A frame that a goroutine points to may hold pointers in all its words but the last two, which are
 * the caller's frame pointer and the return address. */
START_TEST(saved_words)
{
	enum { WORDS = 4 };
	uint64_t words[WORDS];
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
	for (unsigned i = 0; i < WORDS; i++) {
		words[i] = BASE + 16 * i;
		put_pair(words[i], 0, 0);
	}
	maker_numbers(&maker, 9, (const uint64_t[]){4, 0x9000, 0x30000, 1, 0, 4, 0, 0, 0});
	maker_text(&maker, "select");
	maker_numbers(&maker, 4, (const uint64_t[]){0x30008, 0, 0, 0});
	maker_numbers(&maker, 4, (const uint64_t[]){5, 0x30000, 0, 0});
	maker_words(&maker, WORDS, words);
	maker_numbers(&maker, 3, (const uint64_t[]){0x401000, 0x401010, 0x401010});
	maker_text(&maker, "main.f");
	maker_number(&maker, 0);
	maker_end(&maker);
	heap_open(&maker, &dump, &heap);
	ck_assert_uint_eq(heap.nroots, WORDS - 2);
	for (unsigned i = 0; i < WORDS - 2; i++) {
		ck_assert_uint_eq(heap.roots[i].object, i);
		ck_assert_uint_eq(heap.roots[i].offset, 8 * i);
		ck_assert(heap.roots[i].conservative);
	}
	heap_close(&maker, &dump, &heap);
}
END_TEST

/* An object that begins as a runtime.g of Go 1.5 to 1.8 does, with a stack and its size, and points
 * above that, where such a stack has its barriers: but not from where a runtime.g does. */
static void put_like_barriers(void)
{
	maker_numbers(&maker, 2, (const uint64_t[]){1, BASE + 0x100});
	maker_words(&maker, 9,
		    (const uint64_t[]){BASE + 0x10, BASE + 0x18, 0, 0, 0, 0, 0, 0x40, BASE + 0x20});
	maker_numbers(&maker, 3, (const uint64_t[]){1, 8 * 8, 0});
}

/* Between the first and the last object, but in none, nor on a stack, twice, and right after the
 * heap; a field beyond its object; an object without a byte; a finalizer of no object. */
START_TEST(damage)
{
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
	put_pair(BASE, BASE + 0x20, 0x30000);
	put_pair(BASE + 0x60, 0x1ffff, 0x20000);
	maker_numbers(&maker, 2, (const uint64_t[]){1, BASE + 0x40});
	maker_words(&maker, 1, (const uint64_t[]){1});
	maker_numbers(&maker, 5, (const uint64_t[]){1, 8, 1, UINT64_MAX, 0});
	maker_object(&maker, BASE + 0x80, 0);
	put_like_barriers();
	maker_numbers(&maker, 6, (const uint64_t[]){7, BASE + 0x20, 0, 0, 0, 0});
	maker_goroutine(&maker, 0x9000, 1, 4, "select", 0);
	maker_frame(&maker, 0x30000, 0, 0, "main.main");
	maker_end(&maker);
	heap_open(&maker, &dump, &heap);
	ck_assert_uint_eq(heap.damage.dangling, 3);
	ck_assert_uint_eq(heap.damage.outside, 2);
	ck_assert_uint_eq(heap.damage.empty, 1);
	ck_assert_uint_eq(heap.damage.unknown, 0);
	ck_assert_uint_eq(heap.damage.roots.lost_finalizers, 1);
	heap_walk(&heap);
	heap_close(&maker, &dump, &heap);
}
END_TEST

/* What Go VERSION lists of a page of objects of SIZE bytes, with pointers or without; all of it, as
 * dumpers do. */
static void put_page(const char *version, bool pointerful, unsigned size)
{
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_numbers(&maker, 5, (const uint64_t[]){6, 0, 8, 0x10000, 0x20000});
	maker_text(&maker, "amd64");
	maker_text(&maker, version);
	maker_number(&maker, 4);
	uint8_t zeros[1024] = {0};
	for (uint64_t i = 0; i < 8192 / size; i++) {
		maker.nlengths = 0;
		maker_numbers(&maker, 2, (const uint64_t[]){1, 0x10000 + i * size});
		maker_bytes(&maker, zeros, size);
		if (pointerful && i % 3 == 1)
			maker_numbers(&maker, 2, (const uint64_t[]){1, 0});
		maker_number(&maker, 0);
	}
	maker_end(&maker);
}

static const struct {
	const char *version;
	bool pointerful;
	unsigned size;
	unsigned nelems; /* of the span, as the runtime has it */
} pages[] = {
    {"go1.21.3", true, 16, 512},
    {"go1.22.5", true, 16, (8192 - 128) / 16},
    {"go1.22.5", false, 16, 512},
    {"go1.24", true, 8, (8192 - 128) / 8},
    {"go1.24", true, 48, (8192 - 128) / 48},
    {"go1.24", true, 512, (8192 - 128) / 512},
    {"go1.24", true, 1024, 8},
    {"devel go1.24-abcdef", true, 24, (8192 - 128) / 24},
    {"go1.25.1", false, 32, 256},
    {"go1.25.1 X:greenteagc", false, 32, (8192 - 128) / 32},
    {"go1.26.1", true, 32, (8192 - 256) / 32},
    {"go1.26.1", false, 32, (8192 - 128) / 32},
    {"go1.26.1", true, 8, (8192 - 128) / 8},
    {"go1.26.1", false, 8, 1024},
    {"go1.26.1 X:nogreenteagc", true, 32, (8192 - 128) / 32},
    {"go1.27rc1", true, 480, (8192 - 256) / 480},
};

START_TEST(span_tails)
{
	unsigned size = pages[_i].size, nelems = pages[_i].nelems;
	put_page(pages[_i].version, pages[_i].pointerful, size);
	heap_open(&maker, &dump, &heap);
	ck_assert_uint_eq(heap.count, nelems);
	ck_assert_uint_eq(heap.bytes, (uint64_t)nelems * size);
	ck_assert_uint_eq(heap.table.span_tails, 8192 / size - nelems);
	ck_assert_uint_eq(gh_heap_find(&heap, 0x10000 + nelems * size - 1), nelems - 1);
	ck_assert_uint_eq(gh_heap_find(&heap, 0x10000 + nelems * size), GH_HEAP_NONE);
	heap_walk(&heap);
	heap_close(&maker, &dump, &heap);
}
END_TEST

/* Objects are looked up by a bit for each place where one may begin, which is at multiples of 8
 * bytes, or, where they are not so, by a search. Either finds the same. */
START_TEST(objects_are_found_where_they_begin_anywhere)
{
	static const struct {
		uint64_t addresses[3];
		size_t size;
		bool irregular;
	} cases[] = {
	    {{BASE, BASE + 8, BASE + 64}, 8, false},
	    {{BASE, BASE + 16, 0x7f0000000000}, 16, false},
	    {{BASE, BASE + 12, BASE + 64}, 12, true},
	    {{BASE, BASE + 4, BASE + 64}, 4, true},
	    {{BASE + 1, BASE + 32, BASE + 64}, 16, true},
	    {{BASE, BASE + 8, BASE + 64}, 16, true}, /* one within another */
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		maker_start(&maker, MAKER_1_7, 8, _i);
		maker_params(&maker);
		for (unsigned j = 0; j < 3; j++)
			maker_object(&maker, cases[i].addresses[j], cases[i].size);
		maker_end(&maker);
		heap_open(&maker, &dump, &heap);
		ck_assert_int_eq(heap.table.irregular, cases[i].irregular);
		ck_assert_int_eq(heap.table.blocks.count > 0, !cases[i].irregular);
		for (uint32_t j = 0; j < 3; j++) {
			uint64_t address = cases[i].addresses[j];
			struct gh_heap_object object = gh_heap_object(&heap, j);
			ck_assert_uint_eq(object.address, address);
			ck_assert_uint_eq(object.size, cases[i].size);
			ck_assert_uint_eq(gh_heap_find(&heap, address), j);
			if (i != 5)
				ck_assert_uint_eq(gh_heap_find(&heap, address + cases[i].size - 1),
						  j);
		}
		ck_assert_uint_eq(gh_heap_find(&heap, cases[i].addresses[0] - 1), GH_HEAP_NONE);
		ck_assert_uint_eq(gh_heap_find(&heap, cases[i].addresses[2] + cases[i].size),
				  GH_HEAP_NONE);
		heap_close(&maker, &dump, &heap);
	}
}
END_TEST

void heap_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, everything, 0, MAKER_VARIANTS);
	tcase_add_test(tcase, chain);
	tcase_add_test(tcase, far);
	tcase_add_test(tcase, wide);
	tcase_add_test(tcase, hub);
	tcase_add_test(tcase, saved_words);
	tcase_add_test(tcase, damage);
	tcase_add_loop_test(tcase, span_tails, 0, sizeof(pages) / sizeof(pages[0]));
	tcase_add_loop_test(tcase, objects_are_found_where_they_begin_anywhere, 0, 2);
}
