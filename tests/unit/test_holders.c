/* Holders of a heap that is made: which roots are one. */
#include <string.h>

#include "plugin/view/view.h"
#include "tests/unit/heapfixture.h"
#include "tests/unit/suites.h"

static struct maker maker;
static struct gh_dump dump;
static struct gh_heap heap;

/* Goroutine NUMBER executes NFRAMES frames, all at the same place in the code, that point to the
 * object. */
static void put_goroutine(unsigned number, unsigned nframes)
{
	uint64_t sp = 0x30000 + 0x100 * number;
	maker_goroutine(&maker, 0x9000 + 0x100 * number, number, 4, "select", 0);
	for (unsigned i = 0; i < nframes; i++)
		maker_frame(&maker, sp + 16 * i, i, i > 0 ? sp + 16 * (i - 1) : 0, "main.f");
}

/* The holder of the root in frame number FRAME. */
static uint32_t holder_of(const struct gh_held *held, uint32_t frame)
{
	for (size_t i = 0; i < heap.nroots; i++)
		if (heap.roots[i].kind == GH_ROOT_FRAME && heap.roots[i].number == frame)
			return held->of[i];
	ck_abort_msg("no root of frame %u", frame);
	return GH_HEAP_NONE;
}

/* Goroutines with the same stack are one holder, but for roots that are known by something else. */
START_TEST(roots_of_a_stack_and_rank_are_one)
{
	static const enum gh_root_rank ranks[] = {
	    GH_RANK_LASTING,      GH_RANK_LASTING, GH_RANK_PASSING, GH_RANK_PASSING,
	    GH_RANK_CONSERVATIVE, GH_RANK_LASTING, GH_RANK_LASTING,
	};
	static const uint32_t goroutines[] = {5, 5, 5, 5, 5, 1, 1};
	enum { FRAMES = sizeof(ranks) / sizeof(ranks[0]) };
	struct gh_held held;
	struct gh_names names = {0};
	struct gh_error err;
	maker_start(&maker, MAKER_1_6, 8, false);
	maker_params(&maker);
	maker_object(&maker, 0x10000, 32);
	for (unsigned number = 1; number <= 5; number++)
		put_goroutine(number, 1);
	put_goroutine(6, 2);
	maker_end(&maker);
	heap_open(&maker, &dump, &heap);
	ck_assert_uint_eq(heap.nroots, FRAMES);
	for (size_t i = 0; i < FRAMES; i++) {
		enum gh_root_rank rank = ranks[heap.roots[i].number];
		heap.roots[i].passing = rank == GH_RANK_PASSING;
		heap.roots[i].conservative = rank == GH_RANK_CONSERVATIVE;
	}
	ck_assert(gh_names_make(&names, &heap, NULL, &err));
	ck_assert(gh_held_make(&held, &names, &err));
	ck_assert_uint_eq(held.holders.count, 4);
	for (uint32_t i = 0; i < FRAMES; i++) {
		uint32_t holder = holder_of(&held, i);
		ck_assert_uint_eq(held.holders.items[holder].goroutines, goroutines[i]);
		ck_assert_uint_eq(gh_held_find(&held, held.holders.items[holder].key), holder);
		for (uint32_t j = 0; j < FRAMES; j++)
			ck_assert_int_eq(holder == holder_of(&held, j),
					 ranks[i] == ranks[j] && goroutines[i] == goroutines[j]);
	}
	gh_held_free(&held);
	gh_names_free(&names);
	heap_close(&maker, &dump, &heap);
}
END_TEST

void holders_tests(TCase *tcase)
{
	tcase_add_test(tcase, roots_of_a_stack_and_rank_are_one);
}
