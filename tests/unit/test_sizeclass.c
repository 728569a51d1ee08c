/* How many bytes Go's allocator takes for an object, in each release. */
#include <stdlib.h>
#include <string.h>

#include "lib/typing/internal.h"
#include "tests/unit/dumpmaker.h"
#include "tests/unit/suites.h"

/* class_to_size in src/runtime/sizeclasses.go of Go 1.16 and later. */
static const uint16_t classes[] = {
    8,     16,    24,    32,    48,    64,    80,    96,    112,   128,   144,  160,   176,   192,
    208,   224,   240,   256,   288,   320,   352,   384,   416,   448,   480,  512,   576,   640,
    704,   768,   896,   1024,  1152,  1280,  1408,  1536,  1792,  2048,  2304, 2688,  3072,  3200,
    3456,  4096,  4864,  5376,  6144,  6528,  6784,  6912,  8192,  9472,  9728, 10240, 10880, 12288,
    13568, 14336, 16384, 18432, 19072, 20480, 21760, 24576, 27264, 28672, 32768};

/* Fills SIZES, as InitSizes in src/runtime/msize.c of Go 1.3 does at the start of a program: gives
 * how many. */
static size_t init_sizes(uint64_t *sizes)
{
	uint64_t pages[128] = {0}, align = 8;
	size_t count = 0;
	for (uint64_t size = align; size <= 32768; size += align) {
		if ((size & (size - 1)) == 0)
			align = size >= 2048  ? 256
				: size >= 128 ? size / 8
				: size >= 16  ? 16
					      : align;
		uint64_t allocated = 8192;
		while (allocated % size > allocated / 8)
			allocated += 8192;
		/* As many objects fit into as many pages as of the class before. */
		if (count > 0 && allocated == pages[count - 1] &&
		    allocated / size == allocated / sizes[count - 1])
			count--;
		pages[count] = allocated;
		sizes[count++] = size;
	}
	return count;
}

/* All values with pointers, from the size after BEFORE to SIZE, take SIZE bytes. */
static void check_class(const struct gh_allocator *allocator, uint64_t before, uint64_t size)
{
	ck_assert_uint_eq(gh_allocator_size(allocator, before + 1, true), size);
	ck_assert_uint_eq(gh_allocator_size(allocator, size, true), size);
	if (before >= 16)
		ck_assert_uint_eq(gh_allocator_size(allocator, before + 1, false), size);
}

START_TEST(each_size_takes_the_next_class)
{
	static const struct gh_allocator newest = {.has_24 = true, .word = 8};
	static const struct gh_allocator without_24 = {.word = 8};
	static const struct gh_allocator old = {.old = true, .word = 8};
	uint64_t sizes[128];
	uint64_t before = 0;
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		check_class(&newest, before, classes[i]);
		before = classes[i];
	}
	before = 0;
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (classes[i] == 24)
			continue;
		check_class(&without_24, before, classes[i]);
		before = classes[i];
	}
	before = 0;
	size_t count = init_sizes(sizes);
	for (size_t i = 0; i < count; i++) {
		check_class(&old, before, sizes[i]);
		before = sizes[i];
	}
	ck_assert_uint_eq(before, 32768);
}
END_TEST

START_TEST(large_sizes_take_whole_pages)
{
	static const struct gh_allocator allocator = {.has_24 = true, .headers = true, .word = 8};
	ck_assert_uint_eq(gh_allocator_size(&allocator, 32769, true), 5 * 8192);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 5 * 8192, true), 5 * 8192);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 5 * 8192 + 1, false), 6 * 8192);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 0, false), UINT64_MAX);
	ck_assert_uint_eq(gh_allocator_size(&allocator, INT64_MAX, false), UINT64_C(1) << 63);
	ck_assert_uint_eq(gh_allocator_size(&allocator, (uint64_t)INT64_MAX + 1, false),
			  UINT64_MAX);
}
END_TEST

/* heapBitsInSpan and mallocHeaderSize in src/runtime/mbitmap.go and malloc.go: up to 512 bytes of
 * 8-byte words, 128 of 4-byte words, there is no header; nor of large objects. */
START_TEST(objects_with_pointers_have_a_header)
{
	static const struct {
		uint8_t word;
		uint64_t most;    /* without a header */
		uint64_t next[2]; /* what one byte more takes, with and without */
	} words[] = {{8, 512, {576, 576}}, {4, 128, {144, 144}}};
	for (size_t i = 0; i < 2; i++) {
		const struct gh_allocator with = {
		    .has_24 = true, .headers = true, .word = words[i].word};
		const struct gh_allocator without = {.has_24 = true, .word = words[i].word};
		uint64_t most = words[i].most;
		ck_assert_uint_eq(gh_allocator_size(&with, most, true), most);
		ck_assert_uint_eq(gh_allocator_size(&with, most + 1, true), words[i].next[0]);
		ck_assert_uint_eq(gh_allocator_size(&with, words[i].next[0] - 8, true),
				  words[i].next[0]);
		ck_assert_uint_gt(gh_allocator_size(&with, words[i].next[0] - 7, true),
				  words[i].next[0]);
		ck_assert_uint_eq(gh_allocator_size(&with, words[i].next[1], false),
				  words[i].next[1]);
		ck_assert(!gh_allocator_has_header(&with, most));
		ck_assert(gh_allocator_has_header(&with, most + 1));
		ck_assert(gh_allocator_has_header(&with, 32768));
		ck_assert(!gh_allocator_has_header(&with, 32769));
		ck_assert(!gh_allocator_has_header(&without, most + 1));
		ck_assert(!gh_allocator_repeats(&with, most));
		ck_assert(gh_allocator_repeats(&with, most + 1));
		ck_assert(gh_allocator_repeats(&with, 40960));
		ck_assert(!gh_allocator_repeats(&without, most));
		ck_assert(!gh_allocator_repeats(&without, 40960));
		ck_assert_uint_eq(gh_allocator_size(&with, 32760, true), 32768);
		ck_assert_uint_eq(gh_allocator_size(&with, 32761, true), 32768);
		ck_assert_uint_eq(gh_allocator_size(&with, 32768, true), 32768);
	}
}
END_TEST

/* Values without pointers share blocks of 16 bytes. */
START_TEST(small_values_without_pointers_share_blocks)
{
	static const struct gh_allocator allocator = {.has_24 = true, .word = 8};
	ck_assert_uint_eq(gh_allocator_size(&allocator, 1, false), 16);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 15, false), 16);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 16, false), 16);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 17, false), 24);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 8, true), 8);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 9, true), 16);
}
END_TEST

START_TEST(the_allocator_is_that_of_the_release)
{
	static const struct {
		enum maker_format format;
		const char *version; /* as long as the one that is there */
		bool old, interface_types, has_24, headers;
	} releases[] = {
	    {MAKER_1_3, "go1.99.1", true, false, false, false},
	    {MAKER_1_4, "go1.99.1", true, false, false, false},
	    {MAKER_1_5, "go1.99.1", true, true, false, false},
	    {MAKER_1_6, "go1.99.1", true, true, false, false},
	    {MAKER_1_7, "go1.7.11", true, true, false, false},
	    {MAKER_1_7, "go1.8.11", false, true, false, false},
	    {MAKER_1_7, "go1.10.1", false, true, false, false},
	    {MAKER_1_7, "go1.11.1", false, false, false, false},
	    {MAKER_1_7, "go1.15.1", false, false, false, false},
	    {MAKER_1_7, "go1.16.1", false, false, true, false},
	    {MAKER_1_7, "go1.21.1", false, false, true, false},
	    {MAKER_1_7, "go1.22.1", false, false, true, true},
	};
	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		struct maker maker;
		struct gh_dump dump;
		struct gh_error err;
		maker_start(&maker, releases[i].format, 8, false);
		maker_params(&maker);
		uint8_t *version = memmem(maker.data, maker.size, "go1.99.1", 8);
		if (version != NULL)
			memcpy(version, releases[i].version, 8);
		maker_end(&maker);
		ck_assert(gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err));
		struct gh_allocator allocator = gh_allocator_of(&dump, NULL);
		ck_assert_uint_eq(allocator.word, 8);
		ck_assert_msg(allocator.old == releases[i].old, "%zu", i);
		ck_assert_msg(allocator.interface_types == releases[i].interface_types, "%zu", i);
		ck_assert_msg(allocator.has_24 == releases[i].has_24, "%zu", i);
		ck_assert_msg(allocator.headers == releases[i].headers, "%zu", i);
		gh_dump_close(&dump);
		free(maker.data);
	}
}
END_TEST

/* By what a program of Go 1.27's that was built by -asan had for values of such sizes. */
START_TEST(redzones_follow_values)
{
	static const struct gh_allocator allocator = {
	    .has_24 = true, .headers = true, .redzones = true, .word = 8};
	static const struct {
		uint64_t size, memory;
	} values[] = {
	    {8, 24},        {16, 32},       {24, 48},       {48, 64},
	    {49, 96},       {96, 128},      {97, 176},      {448, 512},
	    {449, 640},     {3968, 4864},   {3969, 4864},   {16128, 16384 + 2048},
	    {32256, 32768}, {64512, 65536}, {64513, 73728},
	};
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		ck_assert_uint_eq(gh_allocator_size(&allocator, values[i].size, true),
				  values[i].memory);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 1, false), 24);
}
END_TEST

void sizeclass_tests(TCase *tests)
{
	tcase_add_test(tests, redzones_follow_values);
	tcase_add_test(tests, each_size_takes_the_next_class);
	tcase_add_test(tests, large_sizes_take_whole_pages);
	tcase_add_test(tests, objects_with_pointers_have_a_header);
	tcase_add_test(tests, small_values_without_pointers_share_blocks);
	tcase_add_test(tests, the_allocator_is_that_of_the_release);
}
