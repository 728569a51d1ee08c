/* Allocation profiles of crafted heap dumps, for pprof: whatever the dump says, what is written is
 * a profile; and stacks become places in a program. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/profile/internal.h"
#include "tests/unit/dumpmaker.h"
#include "tests/unit/profilewalk.h"
#include "tests/unit/suites.h"
#include "tests/unit/synthetic.h"

static struct maker maker;
static struct walked_profile profile;

/* Starts a profile record of NFRAMES frames, of objects of SIZE bytes. */
static void start_record(uint64_t size, uint64_t nframes)
{
	maker_number(&maker, 16);
	maker_number(&maker, 0x1000);
	maker_number(&maker, size);
	maker_number(&maker, nframes);
}

static void add_frame(const char *function, const char *file, uint64_t line)
{
	maker_text(&maker, function);
	maker_text(&maker, file);
	maker_number(&maker, line);
}

static void end_record(uint64_t allocations, uint64_t frees)
{
	maker_number(&maker, allocations);
	maker_number(&maker, frees);
}

static void start_dump(void)
{
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
}

/* Ends the dump, and reads the profile that is written of it. */
static void walk(const struct gh_pclntab *tab, uint64_t rate)
{
	struct gh_dump dump;
	struct gh_error err;
	char path[] = "/tmp/goheap-test-XXXXXX";
	close(mkstemp(path));
	maker_end(&maker);
	ck_assert(gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err));
	ck_assert_str_eq(dump.warning.text, "");
	profile_walk(&dump, tab, rate, path, &profile);
	unlink(path);
	gh_dump_close(&dump);
	free(maker.data);
}

static void check_values(size_t sample, uint64_t objects, uint64_t bytes, uint64_t inuse_objects,
			 uint64_t inuse_bytes)
{
	const uint64_t expected[4] = {objects, bytes, inuse_objects, inuse_bytes};
	for (int i = 0; i < 4; i++)
		ck_assert_uint_eq(profile.values[sample][i], expected[i]);
}

/* 1 in 1 - exp(-s / rate) is sampled: worked out by hand. */
START_TEST(samples_are_scaled)
{
	start_dump();
	start_record(524288, 1);
	add_frame("main.f", "/f.go", 1);
	end_record(3, 1);
	start_record(16, 1);
	add_frame("main.f", "/f.go", 2);
	end_record(2, 0);
	/* Nothing of this is published yet. */
	start_record(16, 1);
	add_frame("main.f", "/f.go", 3);
	end_record(0, 0);
	walk(NULL, 524288);
	ck_assert_uint_eq(profile.period, 524288);
	ck_assert_uint_eq(profile.nsamples, 3);
	check_values(2, 0, 0, 0, 0);
	ck_assert_uint_eq(profile.label[2], 0);
	check_values(0, 4, 2488234, 3, 1658822);
	check_values(1, 65537, 1048592, 65537, 1048592);
	ck_assert_uint_eq(profile.label[1], 16);
	ck_assert_str_eq(profile.stacks[0], " main.f:1");
}
END_TEST

START_TEST(all_that_is_sampled_is_not_scaled)
{
	start_dump();
	start_record(48, 1);
	add_frame("main.f", "/f.go", 1);
	end_record(9, 4);
	walk(NULL, (uint64_t)_i);
	check_values(0, 9, 432, 5, 240);
}
END_TEST

/* Counts and sizes that cannot be. */
START_TEST(figures_do_not_overflow)
{
	static const uint64_t numbers[] = {0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
	static const uint64_t rates[] = {0, 1, 2, 524288, INT64_MAX};
	enum { COUNT = sizeof(numbers) / sizeof(numbers[0]) };
	for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
		start_dump();
		for (size_t i = 0; i < COUNT * COUNT * COUNT; i++) {
			start_record(numbers[i % COUNT], 0);
			end_record(numbers[i / COUNT % COUNT], numbers[i / COUNT / COUNT]);
		}
		walk(NULL, rates[r]);
		ck_assert_uint_eq(profile.nsamples, COUNT * COUNT * COUNT);
	}
	/* More was freed than allocated: nothing is in use; sizes of 0 are of nothing. */
	start_dump();
	start_record(8, 0);
	end_record(2, 3);
	start_record(0, 0);
	end_record(2, 0);
	walk(NULL, 1);
	check_values(0, 2, 16, 0, 0);
	check_values(1, 0, 0, 0, 0);
}
END_TEST

/* Thirty-two bytes in each test. */
START_TEST(names_are_any_bytes)
{
	char name[16];
	start_dump();
	for (int byte = 32 * _i; byte < 32 * (_i + 1); byte++) {
		const char alone[2] = {(char)byte};
		snprintf(name, sizeof(name), "main.\xe2\x82%c\xf0\x90", byte);
		start_record(8, 3);
		add_frame(alone, alone, (uint64_t)byte);
		add_frame(name, "", UINT64_MAX);
		add_frame("", "\xc3\xa9", 0);
		end_record(1, 0);
	}
	walk(NULL, 1);
	ck_assert_uint_eq(profile.nsamples, 32);
	if (_i == 0)
		ck_assert_str_eq(
		    profile.stacks[0x1b],
		    " \xef\xbf\xbd:27 main.\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
		    "\xef\xbf\xbd:18446744073709551615 :0");
}
END_TEST

START_TEST(leading_frames_of_the_runtime_are_left_out)
{
	start_dump();
	start_record(8, 4);
	add_frame("runtime.mallocgc", "/m.go", 1);
	add_frame("internal/runtime/maps.New", "/m.go", 2);
	add_frame("runtimes.f", "/m.go", 3);
	add_frame("runtime.goexit", "/m.go", 4);
	end_record(1, 0);
	/* Where nothing would be left, all is shown. */
	start_record(8, 3);
	add_frame("runtime.malg", "/m.go", 1);
	add_frame("runtime.systemstack", "/m.go", 2);
	add_frame("runtime.goexit", "/m.go", 4);
	end_record(1, 0);
	start_record(8, 1);
	add_frame("runtime.goexit", "/m.go", 4);
	end_record(1, 0);
	walk(NULL, 1);
	ck_assert_str_eq(profile.stacks[0], " runtimes.f:3");
	ck_assert_str_eq(profile.stacks[1], " runtime.malg:1 runtime.systemstack:2");
	ck_assert_str_eq(profile.stacks[2], "");
}
END_TEST

/* The program of synthetic.h: main.small is inlined into main.main. */
static void open_program(struct gh_image *image, struct gh_pclntab *tab, uint8_t **data)
{
	const struct synthetic what = {.format = SYNTHETIC_1_20, .word = 8, .sections = true};
	struct gh_error err;
	size_t size;
	*data = synthetic_make(&what, &size, NULL);
	ck_assert(gh_image_open_memory(image, *data, size, "program", &err));
	ck_assert(gh_pclntab_open(tab, image, &err));
}

START_TEST(lines_tell_inlined_calls)
{
	struct gh_image image;
	struct gh_pclntab tab;
	uint8_t *data;
	open_program(&image, &tab, &data);
	start_dump();
	/* Two calls, and one by itself, of a function that called itself. */
	start_record(8, 5);
	add_frame("runtime.mallocgc", "/m.go", 1);
	add_frame("main.main", "/src/leaf.go", 3);
	add_frame("main.main", "/src/main.go", 11);
	add_frame("main.main", "/src/main.go", 12);
	add_frame("runtime.goexit", "/go/asm.s", 5);
	end_record(1, 0);
	/* Of the innermost the line after: the call is before it. */
	start_record(8, 2);
	add_frame("main.main", "/src/main.go", 12);
	add_frame("main.main", "/src/main.go", 11);
	end_record(1, 0);
	/* The stack ends before the function that the call is inlined into. */
	start_record(8, 2);
	add_frame("main.leaf", "/src/leaf.go", 21);
	add_frame("main.main", "/src/leaf.go", 3);
	end_record(1, 0);
	/* Lines that are not there. */
	start_record(8, 3);
	add_frame("main.main", "/src/leaf.go", 4);
	add_frame("main.none", "/src/main.go", 10);
	add_frame("main.main", "/src/main.go", 99);
	end_record(1, 0);
	walk(&tab, 1);
	ck_assert_str_eq(profile.stacks[0], " main.small:3<main.main:11 main.main:12");
	ck_assert_str_eq(profile.stacks[1], " main.small:3<main.main:11");
	ck_assert_str_eq(profile.stacks[2], " main.leaf:21 main.small:3<main.main:11");
	ck_assert_str_eq(profile.stacks[3], " main.main:4 main.none:10 main.main:99");
	gh_image_close(&image);
	free(data);
}
END_TEST

/* The mapping is the segment with the code, wherever its header is: linkers may put one with
 * headers or data before it. */
START_TEST(the_mapping_is_that_of_the_code)
{
	struct gh_image image;
	struct gh_pclntab tab;
	uint8_t *data;
	open_program(&image, &tab, &data);
	GElf_Phdr code = image.segments[0];
	ck_assert(image.nsegments == 3 && code.p_flags == (PF_R | PF_X));
	code.p_memsz += 0x1000;
	image.segments[0] = image.segments[2];
	image.segments[2] = code;
	start_dump();
	walk(&tab, 1);
	ck_assert_uint_eq(profile.mapping[0], SYNTHETIC_TEXT);
	ck_assert_uint_eq(profile.mapping[1], SYNTHETIC_TEXT + 0x1080);
	ck_assert_uint_eq(profile.mapping[2], 0x1000);
	gh_image_close(&image);
	free(data);
}
END_TEST

/* What memory was too short for. */
enum failure { FIELD, MESSAGE, NESTED, NOTHING };

static void write_failing(struct gh_pprof_out *out, const void *context)
{
	const enum failure *failure = context;
	out->field.failed = *failure == FIELD;
	out->message.failed = *failure == MESSAGE;
	out->nested.failed = *failure == NESTED;
	gh_pprof_write_int(out, GH_PPROF_PROFILE_PERIOD, 1);
}

/* There is no profile that memory was too short for, whichever part of it that was. */
START_TEST(what_memory_is_too_short_for_is_not_written)
{
	struct gh_error err;
	enum failure failure = (enum failure)_i;
	char path[] = "/tmp/goheap-test-XXXXXX";
	close(mkstemp(path));
	unlink(path);
	errno = 0;
	ck_assert_int_eq(gh_pprof_write_file(path, write_failing, &failure, &err),
			 failure == NOTHING);
	ck_assert_int_eq(access(path, F_OK) == 0, failure == NOTHING);
	if (failure != NOTHING)
		ck_assert_ptr_nonnull(strstr(err.text, strerror(ENOMEM)));
	unlink(path);
}
END_TEST

/* A field that zlib is given in several parts. */
enum { LONG_NAME = (3 << 20) + 5 };

static void write_long(struct gh_pprof_out *out, const void *context)
{
	gh_pprof_write_string(out, context, LONG_NAME);
}

START_TEST(a_field_has_any_length)
{
	/* The number of the field, of a type that has its length before it, and that in 7 bits
	 * each. */
	static const uint8_t start[] = {6 << 3 | 2, 0x85, 0x80, 0xc0, 0x01};
	struct gh_error err;
	char path[] = "/tmp/goheap-test-XXXXXX";
	char *name = malloc(LONG_NAME);
	uint8_t *read = malloc(LONG_NAME + 10);
	ck_assert(name != NULL && read != NULL);
	for (size_t i = 0; i < LONG_NAME; i++)
		name[i] = (char)('a' + i % 23);
	close(mkstemp(path));
	ck_assert(gh_pprof_write_file(path, write_long, name, &err));
	gzFile in = gzopen(path, "rb");
	ck_assert_int_eq(gzread(in, read, LONG_NAME + 10), LONG_NAME + sizeof(start));
	gzclose(in);
	ck_assert_mem_eq(read, start, sizeof(start));
	ck_assert_mem_eq(read + sizeof(start), name, LONG_NAME);
	unlink(path);
	free(name);
	free(read);
}
END_TEST

/* Every dump that can be made, of every format. */
START_TEST(any_format)
{
	struct gh_dump dump;
	struct gh_error err;
	char path[] = "/tmp/goheap-test-XXXXXX";
	close(mkstemp(path));
	maker_everything(&maker, _i);
	ck_assert(gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err));
	profile_walk(&dump, NULL, GH_PPROF_RATE, path, &profile);
	if (dump.format != GH_DUMP_PROTOTYPE)
		ck_assert_uint_eq(profile.label[0], 48);
	unlink(path);
	gh_dump_close(&dump);
	free(maker.data);
}
END_TEST

void pprof_tests(TCase *tcase)
{
	tcase_add_test(tcase, samples_are_scaled);
	tcase_add_loop_test(tcase, all_that_is_sampled_is_not_scaled, 0, 2);
	tcase_add_test(tcase, figures_do_not_overflow);
	tcase_add_loop_test(tcase, names_are_any_bytes, 0, 8);
	tcase_add_test(tcase, leading_frames_of_the_runtime_are_left_out);
	tcase_add_test(tcase, lines_tell_inlined_calls);
	tcase_add_test(tcase, the_mapping_is_that_of_the_code);
	tcase_add_loop_test(tcase, what_memory_is_too_short_for_is_not_written, FIELD, NOTHING + 1);
	tcase_add_test(tcase, a_field_has_any_length);
	tcase_add_loop_test(tcase, any_format, 0, MAKER_VARIANTS);
}
