/* Nests of inlined calls that no compiler makes. */
#include <string.h>

#include "lib/debugfile/internal.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

/* What the nests are written into. */
struct nests {
	struct fixture fixture;
	struct gh_strings strings;
	struct gh_line_table lines;
	struct gh_inlines inlines;
	struct gh_words live; /* none */
	struct gh_info info;
	struct gh_func func; /* whose name and file the frames have */
	uint32_t file;
};

static void open_nests(struct nests *nests)
{
	struct gh_error err;
	*nests = (struct nests){0};
	fixture_open(&nests->fixture, 0);
	const struct gh_pclntab *tab = &nests->fixture.tab;
	ck_assert(gh_strings_find(&nests->strings, tab, &err));
	gh_line_init(&nests->lines, tab, tab->image->size);
	gh_inlines_init(&nests->inlines, tab, &nests->strings, &nests->lines, &nests->info,
			tab->image->size);
	gh_buffer_string(&nests->info.info, "a unit's header");
	ck_assert(gh_pclntab_func(tab, 1, &nests->func, &err));
	nests->file = gh_pclntab_cu_file(tab, &nests->func, 1);
	gh_inlines_begin_unit(&nests->inlines, 0);
	gh_inlines_begin(&nests->inlines);
}

static void close_nests(struct nests *nests)
{
	ck_assert(!gh_inlines_failed(&nests->inlines));
	ck_assert(!gh_line_failed(&nests->lines));
	gh_inlines_free(&nests->inlines);
	gh_line_free(&nests->lines);
	gh_strings_free(&nests->strings);
	gh_info_free(&nests->info);
	fixture_close(&nests->fixture);
}

/* A range at START whose stack is the N records at TREE, innermost first, in the function. */
static struct gh_range make_range(const struct nests *nests, uint64_t start, const int32_t *tree,
				  unsigned n)
{
	struct gh_range range = {.start = start, .end = start + 1, .nframes = n + 1};
	for (unsigned i = 0; i <= n; i++)
		range.frames[i] = (struct gh_frame){.name = nests->func.name,
						    .file = nests->file,
						    .line = 7,
						    .tree_index = i < n ? tree[i] : -1};
	return range;
}

static void add(struct nests *nests, uint64_t start, const int32_t *tree, unsigned n)
{
	struct gh_range range = make_range(nests, start, tree, n);
	gh_inlines_range(&nests->inlines, &range);
}

static unsigned count_calls(const struct nests *nests)
{
	return (unsigned)nests->inlines.calls.count;
}

START_TEST(a_call_in_pieces_is_one)
{
	struct nests nests;
	open_nests(&nests);
	add(&nests, 0x1000, (int32_t[]){5}, 1);
	add(&nests, 0x1001, (int32_t[]){6}, 1);
	add(&nests, 0x1002, (int32_t[]){5}, 1);
	ck_assert_uint_eq(count_calls(&nests), 2);
	gh_inlines_write(&nests.inlines, &nests.live);
	/* Two spans and the end of the list. */
	ck_assert_uint_eq(nests.info.ranges.size, 3 * 2 * nests.fixture.tab.pointer_size);
	gh_inlines_begin(&nests.inlines);
	ck_assert(!gh_inlines_any(&nests.inlines));
	close_nests(&nests);
}
END_TEST

START_TEST(a_circle_of_calls_ends)
{
	struct nests nests;
	open_nests(&nests);
	int32_t circle[GH_MAX_INLINE_DEPTH - 1];
	for (int i = 0; i < GH_MAX_INLINE_DEPTH - 1; i++)
		circle[i] = i % 2;
	add(&nests, 0x1000, circle, GH_MAX_INLINE_DEPTH - 1);
	add(&nests, 0x1001, circle + 1, GH_MAX_INLINE_DEPTH - 2);
	ck_assert_uint_eq(count_calls(&nests), 2);
	gh_inlines_write(&nests.inlines, &nests.live);
	close_nests(&nests);
}
END_TEST

START_TEST(calls_take_no_more_than_the_image)
{
	struct nests nests;
	open_nests(&nests);
	int32_t deep[GH_MAX_INLINE_DEPTH - 1];
	for (int i = 0; i < GH_MAX_INLINE_DEPTH - 1; i++)
		deep[i] = i;
	for (uint64_t i = 0; i < 100000; i++) {
		deep[0] = (int32_t)(GH_MAX_INLINE_DEPTH + i);
		add(&nests, 0x1000 + 2 * i, deep, GH_MAX_INLINE_DEPTH - 1);
	}
	ck_assert(gh_inlines_any(&nests.inlines));
	gh_inlines_write(&nests.inlines, &nests.live);
	ck_assert_uint_le(nests.info.info.size + nests.info.ranges.size, nests.fixture.size);
	close_nests(&nests);
}
END_TEST

START_TEST(unknown_places_are_left_out)
{
	struct nests nests;
	open_nests(&nests);
	struct gh_range range = make_range(&nests, 0x1000, (int32_t[]){2, 1}, 2);
	range.frames[1].line = 0;
	gh_inlines_range(&nests.inlines, &range);
	ck_assert_uint_eq(count_calls(&nests), 1);
	range = make_range(&nests, 0x1001, (int32_t[]){3}, 1);
	range.frames[1].file = GH_NO_FILE;
	gh_inlines_range(&nests.inlines, &range);
	ck_assert_uint_eq(count_calls(&nests), 1);
	close_nests(&nests);
}
END_TEST

void inline_tests(TCase *tcase)
{
	tcase_add_test(tcase, a_call_in_pieces_is_one);
	tcase_add_test(tcase, a_circle_of_calls_ends);
	tcase_add_test(tcase, calls_take_no_more_than_the_image);
	tcase_add_test(tcase, unknown_places_are_left_out);
}
