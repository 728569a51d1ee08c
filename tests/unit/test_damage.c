/* Damaged programs: each is refused with an error that names the file, or read as far as it goes;
 * none crashes, and none makes a walk longer than the file is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

/* As ck_assert, which writes to a log each time it holds: too slow for so many. */
static void must(bool condition, const char *what)
{
	if (!condition)
		ck_abort_msg("%s", what);
}

/* Reads everything there is to read of the SIZE bytes at DATA. True if they opened. */
static bool read_all(uint8_t *data, size_t size, struct gh_error *err)
{
	struct gh_image image;
	struct gh_pclntab tab;
	struct gh_sourcemap map = {0};
	if (!gh_image_open_memory(&image, data, size, "damaged", err))
		return false;
	bool ok = gh_pclntab_open(&tab, &image, err);
	size_t ranges = 0;
	for (size_t i = 0; ok && i < tab.nfunc; i++) {
		struct gh_func func;
		struct gh_range range;
		if (!gh_pclntab_func(&tab, i, &func, NULL))
			continue;
		gh_pclntab_name(&tab, func.name);
		must(func.end <= tab.end, "a function ends in the text");
		must(gh_sourcemap_start(&map, &tab, &func), "memory suffices");
		uint64_t pc = func.entry;
		while (gh_sourcemap_next(&map, &range)) {
			must(range.start == pc && range.end > pc, "ranges are adjacent");
			pc = range.end;
			for (unsigned f = 0; f < range.nframes; f++) {
				gh_pclntab_name(&tab, range.frames[f].name);
				gh_pclntab_file(&tab, range.frames[f].file);
			}
			ranges++;
		}
		must(pc == func.end, "ranges cover their function");
	}
	must(ranges <= size, "there are no more ranges than bytes");
	gh_sourcemap_free(&map);
	gh_pclntab_close(&tab);
	gh_image_close(&image);
	return ok;
}

static void check_error(const struct gh_error *err)
{
	must(strncmp(err->text, "damaged: ", 9) == 0 && strstr(err->text, "expected ") != NULL &&
		 strstr(err->text, ", found ") != NULL && strchr(err->text, '\n') == NULL,
	     "an error is one line with file, expectation and finding");
}

/* Reads a copy of the file with the SIZE bytes at OFFSET replaced by those of VALUE. */
static bool read_changed(const struct fixture *fixture, size_t offset, uint64_t value, size_t size,
			 struct gh_error *err)
{
	uint8_t *copy = malloc(fixture->size);
	memcpy(copy, fixture->data, fixture->size);
	memcpy(copy + offset, &value, size);
	*err = (struct gh_error){{0}};
	bool ok = read_all(copy, fixture->size, err);
	free(copy);
	return ok;
}

static bool read_damaged(const struct fixture *fixture, size_t offset, uint64_t value, size_t size)
{
	struct gh_error err;
	bool ok = read_changed(fixture, offset, value, size, &err);
	if (!ok)
		check_error(&err);
	return ok;
}

START_TEST(truncated_at_every_byte)
{
	if (_i >= FIXTURE_FIRST_PLAN9 && !fixture_is_plan9(_i))
		return;
	struct fixture fixture;
	fixture_open(&fixture, _i);
	for (size_t size = 0; size < fixture.size; size++) {
		/* In memory of its own size, so that a read past the end is seen. */
		uint8_t *copy = malloc(size + 1);
		memcpy(copy, fixture.data, size);
		struct gh_error err = {{0}};
		if (!read_all(copy, size, &err) && size > 0)
			check_error(&err);
		free(copy);
	}
	fixture_close(&fixture);
}
END_TEST

/* The variants of a format share the values between them: it would take a minute for each to try
 * all. */
START_TEST(every_field_wrong)
{
	if (_i >= FIXTURE_FIRST_PLAN9 && !fixture_is_plan9(_i))
		return;
	static const uint64_t values[] = {
	    0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 1ULL << 63, UINT64_MAX, 0x1000, 0x401000};
	struct fixture fixture;
	fixture_open(&fixture, _i);
	size_t word = fixture_variant(_i).word;
	for (size_t offset = 0; offset + word <= fixture.size; offset++) {
		/* Between the headers, the tables and the moduledata there are only zeros. */
		if (offset == 0x100)
			offset = fixture.places.pclntab;
		if (offset == 0x1760)
			offset = fixture.places.moduledata;
		read_damaged(&fixture, offset, 0xff, 1);
		if (offset % 4 != 0)
			continue;
		for (size_t v = (offset / 4 + (size_t)_i) % 3;
		     v < sizeof(values) / sizeof(values[0]); v += 3) {
			read_damaged(&fixture, offset, values[v], 4);
			if (word != 4)
				read_damaged(&fixture, offset, values[v], word);
		}
	}
	fixture_close(&fixture);
}
END_TEST

START_TEST(functions_out_of_order_are_refused)
{
	struct fixture fixture;
	fixture_open(&fixture, _i);
	struct synthetic what = fixture_variant(_i);
	size_t half = what.format >= SYNTHETIC_1_18 ? 4 : what.word;
	size_t second = fixture.places.functab + 2 * half;
	char expected[128];
	struct gh_error err;
	/* The first function's address becomes the third's. */
	uint64_t third = 0;
	memcpy(&third, fixture.data + fixture.places.functab + 4 * half, half);
	ck_assert(!read_changed(&fixture, fixture.places.functab, third, half, &err));
	snprintf(expected, sizeof(expected),
		 "damaged: offset 0x%zx: expected functions in ascending order, found 0x401050 "
		 "after 0x401070",
		 second);
	ck_assert_str_eq(err.text, expected);
	fixture_close(&fixture);
}
END_TEST

START_TEST(of_functions_at_one_address_the_last_has_the_code)
{
	struct fixture fixture;
	fixture_open(&fixture, _i);
	struct synthetic what = fixture_variant(_i);
	size_t pair = 2 * (what.format >= SYNTHETIC_1_18 ? 4 : what.word);
	uint8_t *functab = fixture.data + fixture.places.functab;
	/* main.main is there twice. */
	memcpy(functab + pair, functab, pair);
	struct gh_error err;
	ck_assert(read_all(fixture.data, fixture.size, &err));
	struct gh_func func;
	ck_assert(gh_pclntab_func(&fixture.tab, 0, &func, NULL));
	ck_assert_uint_eq(func.end, func.entry);
	ck_assert(gh_pclntab_func(&fixture.tab, 1, &func, NULL));
	ck_assert_uint_eq(func.entry, SYNTHETIC_TEXT);
	ck_assert_uint_gt(func.end, func.entry);
	ck_assert_uint_eq(gh_pclntab_find(&fixture.tab, SYNTHETIC_TEXT), 1);
	fixture_close(&fixture);
}
END_TEST

START_TEST(functions_past_their_segment_are_refused)
{
	struct fixture fixture;
	fixture_open(&fixture, _i);
	struct synthetic what = fixture_variant(_i);
	size_t half = what.format >= SYNTHETIC_1_18 ? 4 : what.word;
	size_t end = fixture.places.functab + 6 * half + (what.big_endian ? half - 1 : 0);
	char expected[128];
	struct gh_error err;
	/* The segment has 0x80 bytes. */
	ck_assert_uint_eq(fixture.data[end], 0x78);
	ck_assert(read_damaged(&fixture, end, 0x80, 1));
	ck_assert(!read_changed(&fixture, end, 0x81, 1, &err));
	snprintf(expected, sizeof(expected),
		 "damaged: offset 0x%zx: expected functions inside one loadable segment, found "
		 "0x401000 to 0x401081",
		 fixture.places.functab);
	ck_assert_str_eq(err.text, expected);
	fixture_close(&fixture);
}
END_TEST

START_TEST(header_fields_are_checked)
{
	struct fixture fixture;
	fixture_open(&fixture, _i);
	size_t start = fixture.places.pclntab;
	ck_assert(!read_damaged(&fixture, start, 0x12345678, 4));
	ck_assert(!read_damaged(&fixture, start + 4, 1, 1));
	ck_assert(!read_damaged(&fixture, start + 6, 3, 1));
	ck_assert(!read_damaged(&fixture, start + 7, 2, 1));
	ck_assert(!read_damaged(&fixture, start + 8, UINT64_MAX, fixture_variant(_i).word));
	ck_assert(!read_damaged(&fixture, start + 8, 0, fixture_variant(_i).word));
	fixture_close(&fixture);
}
END_TEST

/* Programs with sections, for amd64. */
enum {
	GO_1_2 = SYNTHETIC_1_2 * 8 + 4,
	GO_1_16 = SYNTHETIC_1_16 * 8 + 4,
	GO_1_20 = SYNTHETIC_1_20 * 8 + 4,
	GO_1_26 = SYNTHETIC_1_26 * 8 + 4,
};

/* The field of the size of section .gopclntab, whose contents begin at 0x1100. */
#define PCLNTAB_SIZE 0x1ca0

/* A program whose pclntab is 0x100 bytes long, with up to two more fields changed. The header of a
 * table has nfunc at 0x1108. In Go 1.2 three pairs of words and one word follow, and then, at
 * 0x1148, the offset of the files. In Go 1.16 nfiles is at 0x1110, then, from Go 1.18 on, the
 * text's address; then there are the offsets of the tables. */
static const struct refused {
	int program;
	struct {
		size_t offset;
		unsigned size;
		uint64_t value;
	} fields[2];
	const char *text; /* of the error */
} refused[] = {
    {GO_1_2,
     {{PCLNTAB_SIZE, 8, 7}},
     "offset 0x1107: expected a pclntab header, found the end of the data"},
    {GO_1_2,
     {{PCLNTAB_SIZE, 8, 15}},
     "offset 0x110f: expected a number of functions, found the end of the data"},
    {GO_1_2,
     {{PCLNTAB_SIZE, 8, 0xf01}},
     "offset 0x1100: expected the contents of a section, found the end of the data"},
    {GO_1_2,
     {{0x1100, 4, 0x12345678}},
     "offset 0x1100: expected a pclntab magic number, found 0x12345678"},
    {GO_1_2, {{0x1104, 1, 1}}, "offset 0x1104: expected two zero bytes, found 0x0001"},
    {GO_1_2, {{0x1106, 1, 3}}, "offset 0x1106: expected a pc quantum of 1, 2 or 4, found 3"},
    {GO_1_2, {{0x1107, 1, 4}}, "offset 0x1107: expected the machine's pointer size, found 4"},
    {GO_1_2,
     {{0x1108, 8, 17}},
     "offset 0x1108: expected a number of functions, found 17, too many for 256 bytes"},
    /* 0x10 + 33 * 8 bytes. */
    {GO_1_2,
     {{0x1108, 8, 16}},
     "offset 0x1200: expected the function table, found the end of the data"},
    {GO_1_2,
     {{0x1108, 8, 0}, {0x1118, 4, 8}},
     "offset 0x1110: expected at least one function, found none"},
    {GO_1_2,
     {{0x1148, 4, 0x101}},
     "offset 0x1148: expected a file table inside the pclntab, found offset 0x101"},
    {GO_1_2,
     {{0x1148, 4, 0xfd}},
     "offset 0x1200: expected a number of files, found the end of the data"},
    {GO_1_2,
     {{0x1148, 4, 0xf0}, {0x11f0, 4, 65}},
     "offset 0x11f0: expected a number of files, found 65, too many for 256 bytes"},
    {GO_1_2,
     {{0x1148, 4, 0xf0}, {0x11f0, 4, 5}},
     "offset 0x11f0: expected the file table, found the end of the data"},
    {GO_1_16,
     {{0x1108, 8, 17}},
     "offset 0x1108: expected a number of functions, found 17, too many for 256 bytes"},
    {GO_1_16,
     {{0x1110, 8, 257}},
     "offset 0x1110: expected a number of files, found 257, too many for 256 bytes"},
    {GO_1_16,
     {{0x1118, 8, 0x101}},
     "offset 0x1118: expected the function names inside the pclntab, found offset 0x101"},
    {GO_1_16,
     {{PCLNTAB_SIZE, 8, 0x1f}, {0x1108, 8, 0}},
     "offset 0x111f: expected a pclntab header, found the end of the data"},
    {GO_1_20,
     {{0x1108, 8, 33}},
     "offset 0x1108: expected a number of functions, found 33, too many for 256 bytes"},
    {GO_1_20,
     {{0x1128, 8, 0x101}},
     "offset 0x1128: expected the cutab inside the pclntab, found offset 0x101"},
    {GO_1_20,
     {{0x1130, 8, 0x101}},
     "offset 0x1130: expected the file names inside the pclntab, found offset 0x101"},
    {GO_1_20,
     {{0x1138, 8, 0x101}},
     "offset 0x1138: expected the pctab inside the pclntab, found offset 0x101"},
    {GO_1_20,
     {{0x1140, 8, UINT64_MAX}},
     "offset 0x1140: expected the functab inside the pclntab, found offset "
     "0xffffffffffffffff"},
    /* 7 * 4 bytes. */
    {GO_1_20,
     {{0x1140, 8, 0xe5}},
     "offset 0x1200: expected the function table, found the end of the data"},
    {GO_1_20,
     {{0x1108, 8, 0}, {0x1140, 8, 0xfc}},
     "offset 0x11fc: expected at least one function, found none"},
    {GO_1_26,
     {{0x1800, 8, 0x402108}},
     "offset 0x1100: expected a moduledata that points to the pclntab, found none"},
};

START_TEST(a_damaged_table_is_told)
{
	const struct refused *item = &refused[_i];
	static const uint64_t size = 0x100;
	struct fixture fixture;
	char expected[160];
	struct gh_error err = {{0}};
	fixture_open(&fixture, item->program);
	memcpy(fixture.data + PCLNTAB_SIZE, &size, sizeof(size));
	for (unsigned i = 0; i < 2; i++)
		memcpy(fixture.data + item->fields[i].offset, &item->fields[i].value,
		       item->fields[i].size);
	ck_assert(!read_all(fixture.data, fixture.size, &err));
	snprintf(expected, sizeof(expected), "damaged: %s", item->text);
	ck_assert_str_eq(err.text, expected);
	fixture_close(&fixture);
}
END_TEST

void damage_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, truncated_at_every_byte, 0, FIXTURE_END_PLAN9);
	tcase_add_loop_test(tcase, every_field_wrong, 0, FIXTURE_END_PLAN9);
	tcase_add_loop_test(tcase, functions_out_of_order_are_refused, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, of_functions_at_one_address_the_last_has_the_code, 0,
			    FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, functions_past_their_segment_are_refused, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, header_fields_are_checked, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, a_damaged_table_is_told, 0,
			    (int)(sizeof(refused) / sizeof(refused[0])));
}
