#include <stdio.h>
#include <string.h>

#include "lib/pclntab/sourcemap.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

/* One frame of an expected range. */
struct expected_frame {
	const char *function;
	const char *file;
	int line;
};

/* A range, relative to SYNTHETIC_TEXT. */
struct expected_range {
	uint64_t start, end;
	unsigned nframes;
	struct expected_frame frames[2];
};

static const struct expected_range main_main[] = {
    {0x00, 0x0c, 1, {{"main.main", "/src/main.go", 10}}},
    {0x0c, 0x14, 1, {{"main.main", "/src/main.go", 11}}},
    {0x14, 0x24, 2, {{"main.small", "/src/leaf.go", 3}, {"main.main", "/src/main.go", 11}}},
    {0x24, 0x40, 1, {{"main.main", "/src/main.go", 12}}},
};

static void check_range(const struct gh_pclntab *tab, const struct gh_range *range,
			const struct expected_range *expected)
{
	ck_assert_uint_eq(range->start, SYNTHETIC_TEXT + expected->start);
	ck_assert_uint_eq(range->end, SYNTHETIC_TEXT + expected->end);
	ck_assert_uint_eq(range->nframes, expected->nframes);
	for (unsigned i = 0; i < expected->nframes; i++) {
		const struct gh_frame *frame = &range->frames[i];
		ck_assert_str_eq(gh_pclntab_name(tab, frame->name), expected->frames[i].function);
		ck_assert_str_eq(gh_pclntab_file(tab, frame->file), expected->frames[i].file);
		ck_assert_int_eq(frame->line, expected->frames[i].line);
	}
}

START_TEST(functions_are_those_that_were_written)
{
	struct fixture fixture;
	fixture_open(&fixture, _i);
	static const struct {
		const char *name;
		uint64_t entry, end;
		unsigned flag;
	} expected[] = {{"main.main", 0, 0x40, 0},
			{"main.leaf", 0x50, 0x68, 0},
			{"runtime.goexit", 0x70, 0x78, GH_FUNC_TOP_FRAME}};
	ck_assert_uint_eq(fixture.tab.nfunc, 3);
	for (size_t i = 0; i < 3; i++) {
		struct gh_func func;
		ck_assert(gh_pclntab_func(&fixture.tab, i, &func, NULL));
		ck_assert_str_eq(gh_pclntab_name(&fixture.tab, func.name), expected[i].name);
		ck_assert_uint_eq(func.entry, SYNTHETIC_TEXT + expected[i].entry);
		ck_assert_uint_eq(func.end, SYNTHETIC_TEXT + expected[i].end);
		ck_assert_uint_eq(func.flag, expected[i].flag);
		ck_assert_int_eq(func.start_line,
				 fixture_variant(_i).format >= SYNTHETIC_1_20 ? 9 : 0);
	}
	struct gh_func func;
	ck_assert(!gh_pclntab_func(&fixture.tab, 3, &func, NULL));
	fixture_close(&fixture);
}
END_TEST

START_TEST(a_pc_finds_its_function)
{
	struct fixture fixture;
	fixture_open(&fixture, _i);
	const struct gh_pclntab *tab = &fixture.tab;
	ck_assert(gh_pclntab_find(tab, SYNTHETIC_TEXT - 1) == SIZE_MAX);
	ck_assert_uint_eq(gh_pclntab_find(tab, SYNTHETIC_TEXT), 0);
	ck_assert_uint_eq(gh_pclntab_find(tab, SYNTHETIC_TEXT + 0x4f), 0);
	ck_assert_uint_eq(gh_pclntab_find(tab, SYNTHETIC_TEXT + 0x50), 1);
	ck_assert_uint_eq(gh_pclntab_find(tab, SYNTHETIC_TEXT + 0x77), 2);
	ck_assert(gh_pclntab_find(tab, SYNTHETIC_TEXT + 0x78) == SIZE_MAX);
	fixture_close(&fixture);
}
END_TEST

START_TEST(the_source_map_has_inlined_calls)
{
	struct fixture fixture;
	fixture_open(&fixture, _i);
	struct gh_func func;
	struct gh_sourcemap map = {0};
	struct gh_range range;
	ck_assert(gh_pclntab_func(&fixture.tab, 0, &func, NULL));
	ck_assert(gh_sourcemap_start(&map, &fixture.tab, &func));
	for (size_t i = 0; i < 4; i++) {
		ck_assert(gh_sourcemap_next(&map, &range));
		check_range(&fixture.tab, &range, &main_main[i]);
	}
	ck_assert(!gh_sourcemap_next(&map, &range));
	ck_assert(gh_sourcemap_seek(&map, SYNTHETIC_TEXT + 0x20, &range));
	check_range(&fixture.tab, &range, &main_main[2]);
	ck_assert(gh_sourcemap_next(&map, &range));
	check_range(&fixture.tab, &range, &main_main[3]);
	ck_assert(!gh_sourcemap_seek(&map, SYNTHETIC_TEXT + 0x40, &range));
	gh_sourcemap_free(&map);
	fixture_close(&fixture);
}
END_TEST

START_TEST(the_stack_delta_of_each_pc)
{
	struct fixture fixture;
	fixture_open(&fixture, _i);
	struct gh_func func;
	ck_assert(gh_pclntab_func(&fixture.tab, 0, &func, NULL));
	ck_assert_int_eq(gh_pcvalue_at(&fixture.tab, &func, func.pcsp, func.entry), 0);
	ck_assert_int_eq(gh_pcvalue_at(&fixture.tab, &func, func.pcsp, func.entry + 8), 24);
	ck_assert_int_eq(gh_pcvalue_at(&fixture.tab, &func, func.pcsp, func.entry + 0x3c), 0);
	fixture_close(&fixture);
}
END_TEST

START_TEST(the_moduledata_is_found)
{
	struct fixture fixture;
	fixture_open(&fixture, _i);
	ck_assert_uint_eq(fixture.tab.module.text, SYNTHETIC_TEXT);
	ck_assert_uint_eq(fixture.tab.module.etext, SYNTHETIC_TEXT + 0x78);
	fixture_close(&fixture);
}
END_TEST

Suite *pclntab_suite(void)
{
	Suite *suite = suite_create("pclntab");
	TCase *tcase = tcase_create("every format");
	tcase_add_loop_test(tcase, functions_are_those_that_were_written, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, a_pc_finds_its_function, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, the_source_map_has_inlined_calls, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, the_stack_delta_of_each_pc, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, the_moduledata_is_found, 0, FIXTURE_VARIANTS);
	suite_add_tcase(suite, tcase);
	return suite;
}
