#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pclntab/internal.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

/* A function, and its ranges, relative to SYNTHETIC_TEXT. */
struct expected {
	const char *name;
	uint64_t entry, end;
	int32_t args;
	struct {
		uint64_t start;
		const char *file;
		int32_t line;
	} ranges[5];
};

static const struct expected functions[] = {
    {"main.main",
     0x00,
     0x50,
     8,
     {{0x00, "/src/main.go", 10},
      {0x0c, "/src/main.go", 11},
      {0x14, "/src/leaf.go", 3},
      {0x24, "/src/main.go", 12}}},
    {"main.leaf", 0x50, 0x70, INT32_MIN, {{0x50, "/src/leaf.go", 20}, {0x58, "/src/leaf.go", 21}}},
    {"runtime.goexit", 0x70, 0x78, INT32_MIN, {{0x70, "/go/asm.s", 5}}},
    {"main.made", 0x78, 0x80, INT32_MIN, {{0x78, "/src/leaf.go", 401}}},
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

START_TEST(functions_are_those_of_the_symbols)
{
	struct fixture fixture;
	if (!fixture_is_plan9(_i))
		return;
	fixture_open(&fixture, _i);
	const struct gh_pclntab *tab = &fixture.tab;
	bool is_1_1 = fixture_variant(_i).format == SYNTHETIC_1_1;
	ck_assert_int_eq(tab->format, is_1_1 ? GH_PCLNTAB_1_1 : GH_PCLNTAB_1_0);
	ck_assert_uint_eq(tab->nfunc, FUNCTIONS);
	for (size_t i = 0; i < FUNCTIONS; i++) {
		const struct expected *expected = &functions[i];
		struct gh_func func;
		ck_assert(gh_pclntab_func(tab, i, &func, NULL));
		ck_assert_str_eq(gh_pclntab_name(tab, func.name), expected->name);
		ck_assert_uint_eq(func.entry, SYNTHETIC_TEXT + expected->entry);
		ck_assert_uint_eq(func.end, SYNTHETIC_TEXT + expected->end);
		ck_assert_int_eq(func.args, is_1_1 ? expected->args : INT32_MIN);
		ck_assert_uint_eq(gh_pclntab_find(tab, func.end - 1), i);
	}
	fixture_close(&fixture);
}
END_TEST

START_TEST(lines_are_those_of_the_history)
{
	struct fixture fixture;
	if (!fixture_is_plan9(_i))
		return;
	fixture_open(&fixture, _i);
	const struct gh_pclntab *tab = &fixture.tab;
	struct gh_sourcemap map = {0};
	for (size_t i = 0; i < FUNCTIONS; i++) {
		struct gh_func func;
		struct gh_range range;
		ck_assert(gh_pclntab_func(tab, i, &func, NULL));
		ck_assert(gh_sourcemap_start(&map, tab, &func));
		for (size_t r = 0; functions[i].ranges[r].line != 0; r++) {
			ck_assert(gh_sourcemap_next(&map, &range));
			ck_assert_uint_eq(range.start,
					  SYNTHETIC_TEXT + functions[i].ranges[r].start);
			ck_assert_uint_eq(range.nframes, 1);
			ck_assert_str_eq(gh_pclntab_file(tab, range.frames[0].file),
					 functions[i].ranges[r].file);
			ck_assert_int_eq(range.frames[0].line, functions[i].ranges[r].line);
		}
		ck_assert(!gh_sourcemap_next(&map, &range));
	}
	gh_sourcemap_free(&map);
	fixture_close(&fixture);
}
END_TEST

/* From START on, relative to SYNTHETIC_TEXT, the stack delta is BYTES, and so many WORDS. */
struct delta {
	uint64_t start;
	int32_t bytes;
	int32_t words;
};

static void check_deltas(const struct gh_pclntab *tab, size_t index, const struct delta *deltas)
{
	struct gh_func func;
	ck_assert(gh_pclntab_func(tab, index, &func, NULL));
	size_t now = 0;
	for (uint64_t pc = func.entry; pc < func.end; pc += tab->quantum) {
		if (deltas[now + 1].start != 0 && pc - SYNTHETIC_TEXT >= deltas[now + 1].start)
			now++;
		ck_assert_int_eq(gh_pcvalue_at(tab, &func, func.pcsp, pc),
				 deltas[now].bytes + deltas[now].words * tab->pointer_size);
	}
}

START_TEST(the_stack_delta_is_read_off_the_code)
{
	static const struct delta main_main[] = {{0, 0, 0},     {0x08, 24, 0}, {0x25, 24, 1},
						 {0x27, 24, 2}, {0x32, 24, 1}, {0x33, 24, 0},
						 {0x3c, 0, 0},  {0x3d, 24, 0}, {0}};
	static const struct delta main_leaf[] = {{0x50, 0, 0}, {0x51, 16, 0}, {0}};
	static const struct delta goexit[] = {{0x70, 0, 0}, {0}};
	struct fixture fixture;
	if (!fixture_is_plan9(_i) || fixture_variant(_i).big_endian)
		return;
	fixture_open(&fixture, _i);
	check_deltas(&fixture.tab, 0, main_main);
	check_deltas(&fixture.tab, 1, main_leaf);
	check_deltas(&fixture.tab, 2, goexit);
	fixture_close(&fixture);
}
END_TEST

START_TEST(without_known_code_there_is_a_frame_after_the_entry)
{
	struct fixture fixture;
	if (!fixture_is_plan9(_i) || !fixture_variant(_i).big_endian)
		return;
	fixture_open(&fixture, _i);
	const struct delta main_main[] = {{0, 0, 0}, {fixture.tab.quantum, 24, 0}, {0}};
	check_deltas(&fixture.tab, 0, main_main);
	fixture_close(&fixture);
}
END_TEST

/* As of a program that was linked without what its objects tell of their files. */
START_TEST(without_files_there_are_no_lines)
{
	if (!fixture_is_plan9(_i))
		return;
	struct synthetic what = fixture_variant(_i);
	what.no_files = true;
	struct fixture fixture;
	fixture_open_as(&fixture, &what);
	const struct gh_pclntab *tab = &fixture.tab;
	struct gh_sourcemap map = {0};
	ck_assert_uint_eq(tab->nfunc, FUNCTIONS);
	for (size_t i = 0; i < FUNCTIONS; i++) {
		struct gh_func func;
		struct gh_range range;
		ck_assert(gh_pclntab_func(tab, i, &func, NULL));
		ck_assert_str_eq(gh_pclntab_name(tab, func.name), functions[i].name);
		ck_assert(gh_sourcemap_start(&map, tab, &func));
		while (gh_sourcemap_next(&map, &range))
			ck_assert_int_eq(range.frames[0].line, 0);
	}
	gh_sourcemap_free(&map);
	fixture_close(&fixture);
}
END_TEST

/* Up to 64 a code adds itself to the line, up to 128 it subtracts what it is above 64; 0 comes
 * before what is added in four bytes. See a.out(6) of Plan 9. */
START_TEST(the_last_codes_of_their_kinds)
{
	static const uint8_t codes[] = {64, 65, 128, 0, 0, 0, 1, 0, 1};
	static const int32_t lines[] = {64, 63, -1, 255, 256};
	struct gh_plan9_lines walk;
	struct gh_cursor cur = gh_cursor_make(codes, sizeof(codes), "codes", 0, true);
	gh_plan9_lines_start(&walk, cur, 0x1000, 1);
	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		gh_plan9_lines_seek(&walk, 0x1000 + i);
		ck_assert_uint_eq(walk.start, 0x1000 + i);
		ck_assert_int_eq(walk.line, lines[i]);
	}
}
END_TEST

/* Symbols of Go 1.0 begin with the address, of 4 bytes, big-endian; then there are the type, the
 * name and a NUL, and 4 bytes more. Those of the program, without files, are etext at 0x1200,
 * main.data at 0x120f, main.main at 0x1222, its .frame at 0x1235 and n at 0x1245, and main.leaf at
 * 0x1250. The fields of their type and size are at 0x1d44 and 0x1d60. */
START_TEST(damaged_symbols_are_told)
{
	static const struct {
		size_t offset;
		uint8_t value;
		const char *text;
	} cases[] = {
	    {0x1d44, SHT_NOBITS,
	     "offset 0x1200: expected a section with contents, found section .gosymtab without"},
	    {0x1d60, 0x22, "offset 0x1200: expected functions in the symbol table, found none"},
	    {0x1252, 0x0f,
	     "offset 0x1250: expected functions in ascending order, found 0x400f50 after "
	     "0x401000"},
	    {0x1203, 0x81,
	     "offset 0x1200: expected functions inside one loadable segment, found 0x401000 to "
	     "0x401081"},
	};
	const struct synthetic what = {
	    .format = SYNTHETIC_1_0, .word = 8, .sections = true, .no_files = true};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t size;
		uint8_t *data = synthetic_make(&what, &size, NULL);
		struct gh_image image;
		struct gh_pclntab tab;
		struct gh_error err;
		char expected[128];
		data[cases[i].offset] = cases[i].value;
		if (cases[i].offset == 0x1d60)
			data[0x1d61] = 0;
		ck_assert(gh_image_open_memory(&image, data, size, "synthetic", &err));
		ck_assert(!gh_pclntab_open(&tab, &image, &err));
		snprintf(expected, sizeof(expected), "synthetic: %s", cases[i].text);
		ck_assert_str_eq(err.text, expected);
		gh_image_close(&image);
		free(data);
	}
}
END_TEST

void plan9_tests(TCase *tcase)
{
	int first = FIXTURE_FIRST_PLAN9;
	int end = FIXTURE_END_PLAN9;
	tcase_add_loop_test(tcase, functions_are_those_of_the_symbols, first, end);
	tcase_add_loop_test(tcase, lines_are_those_of_the_history, first, end);
	tcase_add_loop_test(tcase, without_files_there_are_no_lines, first, end);
	tcase_add_loop_test(tcase, the_stack_delta_is_read_off_the_code, first, end);
	tcase_add_loop_test(tcase, without_known_code_there_is_a_frame_after_the_entry, first, end);
	tcase_add_test(tcase, the_last_codes_of_their_kinds);
	tcase_add_test(tcase, damaged_symbols_are_told);
}
