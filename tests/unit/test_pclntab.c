#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pclntab/pclntab.h"
#include "tests/unit/bytes.h"
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

/* LAST_FLAG is the flag of runtime.goexit. */
static void check_functions(const struct gh_pclntab *tab, unsigned last_flag)
{
	const struct {
		const char *name;
		uint64_t entry, end;
		unsigned flag;
	} expected[] = {{"main.main", 0, 0x40, 0},
			{"main.leaf", 0x50, 0x68, 0},
			{"runtime.goexit", 0x70, 0x78, last_flag}};
	ck_assert_uint_eq(tab->nfunc, 3);
	for (size_t i = 0; i < 3; i++) {
		struct gh_func func;
		ck_assert(gh_pclntab_func(tab, i, &func, NULL));
		ck_assert_str_eq(gh_pclntab_name(tab, func.name), expected[i].name);
		ck_assert_uint_eq(func.entry, SYNTHETIC_TEXT + expected[i].entry);
		ck_assert_uint_eq(func.end, SYNTHETIC_TEXT + expected[i].end);
		ck_assert_uint_eq(func.flag, expected[i].flag);
		ck_assert_int_eq(func.start_line, tab->format >= GH_PCLNTAB_1_20 ? 9 : 0);
	}
	struct gh_func func;
	ck_assert(!gh_pclntab_func(tab, 3, &func, NULL));
}

START_TEST(functions_are_those_that_were_written)
{
	struct fixture fixture;
	fixture_open(&fixture, _i);
	check_functions(&fixture.tab, GH_FUNC_TOP_FRAME);
	fixture_close(&fixture);
}
END_TEST

/* Before Go 1.12 nfuncdata is an integer of 4 bytes, and no function has an id or flags. */
START_TEST(functions_before_go_1_12)
{
	struct fixture fixture;
	struct synthetic what = fixture_variant(_i);
	what.no_func_id = true;
	fixture_open_as(&fixture, &what);
	check_functions(&fixture.tab, 0);
	ck_assert(!fixture.tab.has_func_id);
	for (size_t i = 0; i < 3; i++) {
		struct gh_func func;
		ck_assert(gh_pclntab_func(&fixture.tab, i, &func, NULL));
		ck_assert_uint_eq(func.nfuncdata, 5);
	}
	fixture_close(&fixture);
}
END_TEST

/* A program that is made, to be changed before it is opened. */
struct program {
	struct synthetic what;
	struct fixture fixture;
};

static void make_program(struct program *program, int number)
{
	struct fixture *fixture = &program->fixture;
	program->what = fixture_variant(number);
	fixture->data = synthetic_make(&program->what, &fixture->size, &fixture->places);
}

static void open_program(struct program *program)
{
	struct fixture *fixture = &program->fixture;
	struct gh_error err;
	ck_assert_msg(gh_image_open_memory(&fixture->image, fixture->data, fixture->size,
					   "synthetic", &err) &&
			  gh_pclntab_open(&fixture->tab, &fixture->image, &err),
		      "%s", err.text);
}

/* Writes VALUE, of SIZE bytes, at OFFSET in the file. */
static void put(struct program *program, size_t offset, uint64_t value, unsigned size)
{
	bytes_store(program->fixture.data + offset, value, size, program->what.big_endian);
}

static uint32_t get_u32(const struct program *program, size_t offset)
{
	return (uint32_t)bytes_load(program->fixture.data + offset, 4, program->what.big_endian);
}

/* Writes word NUMBER of the moduledata. */
static void put_field(struct program *program, unsigned number, uint64_t value)
{
	unsigned word = program->what.word;
	put(program, program->fixture.places.moduledata + number * word, value, word);
}

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

/* The linkers of Go 1.2 to 1.6 counted one file too few. */
START_TEST(the_last_file_before_go_1_7)
{
	struct program program;
	make_program(&program, _i);
	struct fixture *fixture = &program.fixture;
	size_t functab_end = fixture->places.functab + (size_t)7 * program.what.word;
	size_t filetab = fixture->places.pclntab + get_u32(&program, functab_end);
	ck_assert_uint_eq(get_u32(&program, filetab), 4);
	put(&program, filetab, 3, 4);
	open_program(&program);
	struct gh_func func;
	ck_assert(gh_pclntab_func(&fixture->tab, 2, &func, NULL));
	int32_t number = gh_pcvalue_at(&fixture->tab, &func, func.pcfile, func.entry);
	uint32_t file = gh_pclntab_cu_file(&fixture->tab, &func, number);
	ck_assert_str_eq(gh_pclntab_file(&fixture->tab, file), "/go/asm.s");
	ck_assert_str_eq(
	    gh_pclntab_file(&fixture->tab, gh_pclntab_cu_file(&fixture->tab, &func, number + 1)),
	    "");
	fixture_close(fixture);
}
END_TEST

/* A call whose place is past its function's end is in no line of it, rather than in its last. */
START_TEST(an_inlined_call_from_past_the_function)
{
	static const struct expected_range ranges[] = {
	    {0x14, 0x24, 2, {{"main.small", "/src/leaf.go", 3}, {"main.main", "/src/main.go", 12}}},
	    {0x14, 0x24, 2, {{"main.small", "/src/leaf.go", 3}, {"main.main", "", 0}}},
	};
	for (unsigned i = 0; i < 2; i++) {
		struct program program;
		make_program(&program, _i);
		struct fixture *fixture = &program.fixture;
		size_t parent_pc =
		    fixture->places.tree + (program.what.format >= SYNTHETIC_1_20 ? 8 : 16);
		put(&program, parent_pc, 0x3f + i, 4);
		open_program(&program);
		struct gh_func func;
		struct gh_sourcemap map = {0};
		struct gh_range range;
		ck_assert(gh_pclntab_func(&fixture->tab, 0, &func, NULL));
		ck_assert(gh_sourcemap_start(&map, &fixture->tab, &func));
		ck_assert(gh_sourcemap_seek(&map, SYNTHETIC_TEXT + 0x14, &range));
		check_range(&fixture->tab, &range, &ranges[i]);
		gh_sourcemap_free(&map);
		fixture_close(fixture);
	}
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

/* Where moduledata in src/runtime/symtab.go has its fields, in words, in the releases that the
 * formats begin with; the last is that of Go 1.26. */
static const struct {
	unsigned noptrdata; /* then data, bss and noptrbss, each with its end */
	unsigned textsectmap;
	unsigned itablinks;
} fields[] = {{14, 0, 33}, {24, 0, 43}, {24, 39, 45}, {24, 41, 47}, {24, 42, 48}};

START_TEST(the_fields_of_the_moduledata)
{
	struct program program;
	make_program(&program, _i);
	for (unsigned i = 0; i < 8; i++)
		put_field(&program, fields[program.what.format].noptrdata + i,
			  SYNTHETIC_DATA + 8 * i);
	put_field(&program, fields[program.what.format].itablinks, SYNTHETIC_DATA + 0x70);
	put_field(&program, fields[program.what.format].itablinks + 1, 3);
	open_program(&program);
	const struct gh_moduledata *module = &program.fixture.tab.module;
	ck_assert_uint_eq(module->address, SYNTHETIC_DATA);
	ck_assert_uint_eq(module->noptrdata, SYNTHETIC_DATA);
	ck_assert_uint_eq(module->enoptrdata, SYNTHETIC_DATA + 8);
	ck_assert_uint_eq(module->data, SYNTHETIC_DATA + 0x10);
	ck_assert_uint_eq(module->edata, SYNTHETIC_DATA + 0x18);
	ck_assert_uint_eq(module->bss, SYNTHETIC_DATA + 0x20);
	ck_assert_uint_eq(module->ebss, SYNTHETIC_DATA + 0x28);
	ck_assert_uint_eq(module->noptrbss, SYNTHETIC_DATA + 0x30);
	ck_assert_uint_eq(module->enoptrbss, SYNTHETIC_DATA + 0x38);
	ck_assert_uint_eq(module->itablinks, SYNTHETIC_DATA + 0x70);
	ck_assert_uint_eq(module->nitablinks, 3);
	fixture_close(&program.fixture);
}
END_TEST

/* Other flags of the linker leave the functions where they are, and move the variables. */
START_TEST(a_twin_has_the_same_functions_and_variables)
{
	struct fixture fixture;
	struct gh_error err;
	fixture_open(&fixture, _i);
	struct gh_pclntab twin = fixture.tab;
	ck_assert(gh_pclntab_check_twin(&twin, &fixture.tab, &err));
	twin.module.bss += 0x20;
	ck_assert(!gh_pclntab_check_twin(&twin, &fixture.tab, &err));
	ck_assert_str_eq(err.text,
			 "synthetic: expected the program before it was stripped, with its "
			 "variables, found another build: in synthetic they are elsewhere");
	twin.module.address = 0;
	ck_assert(gh_pclntab_check_twin(&twin, &fixture.tab, &err));
	twin.nfunc--;
	ck_assert(!gh_pclntab_check_twin(&twin, &fixture.tab, &err));
	fixture_close(&fixture);
}
END_TEST

/* The linker puts the text of large programs for some machines into several sections, and the last
 * two functions are in the second one, which is placed right after the first, but is counted from
 * 0x1000 on. */
START_TEST(text_in_several_sections)
{
	enum { MAP = 0x280 }; /* past the moduledata */
	static const uint64_t map[] = {0,      0x50,   SYNTHETIC_TEXT,
				       0x1000, 0x1028, SYNTHETIC_TEXT + 0x50};
	struct program program;
	make_program(&program, _i);
	const struct synthetic_places *places = &program.fixture.places;
	unsigned word = program.what.word;
	for (unsigned i = 0; i < 6; i++)
		put(&program, places->moduledata + MAP + i * word, map[i], word);
	put_field(&program, fields[program.what.format].textsectmap, SYNTHETIC_DATA + MAP);
	put_field(&program, fields[program.what.format].textsectmap + 1, 2);
	for (unsigned i = 1; i <= 3; i++) {
		static const uint32_t offsets[] = {0, 0x1000, 0x1020, 0x1028};
		size_t pair = places->functab + (size_t)i * 8;
		put(&program, pair, offsets[i], 4);
		if (i < 3)
			put(&program, places->functab + get_u32(&program, pair + 4), offsets[i], 4);
	}
	open_program(&program);
	check_functions(&program.fixture.tab, GH_FUNC_TOP_FRAME);
	fixture_close(&program.fixture);
}
END_TEST

/* What is asked for is function NUMBER of the open program. */
static void check_refused(const struct program *program, size_t number, const char *expected)
{
	struct gh_func func;
	struct gh_error err;
	ck_assert(!gh_pclntab_func(&program->fixture.tab, number, &func, &err));
	ck_assert_str_eq(err.text, expected);
}

START_TEST(a_function_that_is_not_in_the_table)
{
	struct program program;
	make_program(&program, _i);
	open_program(&program);
	check_refused(&program, 3, "synthetic: expected a function's number, found 3 of 3");
	fixture_close(&program.fixture);
}
END_TEST

/* The functab has the function at 0x401000, its record one byte further on. */
START_TEST(the_record_of_another_function)
{
	struct program program;
	char expected[160];
	make_program(&program, _i);
	size_t record = program.fixture.places.records;
	bool relative = program.what.format >= SYNTHETIC_1_18;
	put(&program, record, relative ? 1 : SYNTHETIC_TEXT + 1, relative ? 4 : program.what.word);
	open_program(&program);
	snprintf(expected, sizeof(expected),
		 "synthetic: offset 0x%zx: expected the record of the function in the functab, "
		 "found entry 0x401001 instead of 0x401000",
		 record);
	check_refused(&program, 0, expected);
	fixture_close(&program.fixture);
}
END_TEST

/* Without sections, the bytes of a table end with its segment, at 0x1800. */
START_TEST(a_record_past_the_end_of_the_table)
{
	struct program program;
	make_program(&program, _i);
	const struct synthetic_places *places = &program.fixture.places;
	unsigned half = program.what.format >= SYNTHETIC_1_18 ? 4 : program.what.word;
	size_t start = program.what.format == SYNTHETIC_1_2 ? places->pclntab : places->functab;
	put(&program, places->functab + half, 0x17f0 - start, half);
	open_program(&program);
	check_refused(&program, 0,
		      "synthetic: offset 0x17f0: expected a function's record, found the end of "
		      "the data");
	fixture_close(&program.fixture);
}
END_TEST

void pclntab_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, functions_are_those_that_were_written, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, a_pc_finds_its_function, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, the_source_map_has_inlined_calls, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, the_stack_delta_of_each_pc, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, an_inlined_call_from_past_the_function, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, the_moduledata_is_found, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, the_fields_of_the_moduledata, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, a_twin_has_the_same_functions_and_variables, 0,
			    FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, functions_before_go_1_12, 0, SYNTHETIC_1_16 * 8);
	tcase_add_loop_test(tcase, the_last_file_before_go_1_7, 0, SYNTHETIC_1_16 * 8);
	tcase_add_loop_test(tcase, text_in_several_sections, SYNTHETIC_1_18 * 8, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, a_function_that_is_not_in_the_table, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, the_record_of_another_function, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, a_record_past_the_end_of_the_table, 0, 4);
	tcase_add_loop_test(tcase, a_record_past_the_end_of_the_table, SYNTHETIC_1_20 * 8,
			    SYNTHETIC_1_20 * 8 + 4);
}
