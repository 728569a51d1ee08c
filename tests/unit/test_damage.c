/* Damaged programs: each is refused with an error that names the file, or read as far as it goes;
 * none crashes, and none makes a walk longer than the file is. */
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

/* Opens a copy of the file with the SIZE bytes at OFFSET replaced by those of VALUE. */
static bool read_damaged(const struct fixture *fixture, size_t offset, uint64_t value, size_t size)
{
	uint8_t *copy = malloc(fixture->size);
	memcpy(copy, fixture->data, fixture->size);
	memcpy(copy + offset, &value, size);
	struct gh_error err = {{0}};
	bool ok = read_all(copy, fixture->size, &err);
	if (!ok)
		check_error(&err);
	free(copy);
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
	/* The second function's address becomes the first's. */
	uint64_t first = 0;
	memcpy(&first, fixture.data + fixture.places.functab, half);
	ck_assert(!read_damaged(&fixture, fixture.places.functab + 2 * half, first, half));
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

void damage_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, truncated_at_every_byte, 0, FIXTURE_END_PLAN9);
	tcase_add_loop_test(tcase, every_field_wrong, 0, FIXTURE_END_PLAN9);
	tcase_add_loop_test(tcase, functions_out_of_order_are_refused, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, header_fields_are_checked, 0, FIXTURE_VARIANTS);
}
