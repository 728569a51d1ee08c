/* Heap dumps in files larger than what is read of them at once, and what is asked of a dump as a
 * whole. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/dump/dump.h"
#include "tests/unit/dumpmaker.h"
#include "tests/unit/dumpwalk.h"
#include "tests/unit/suites.h"

static struct maker maker;
static struct gh_error err;

/* An object whose bytes are of its number. */
static void put_object(uint64_t number, uint64_t address, size_t size)
{
	uint8_t *bytes = malloc(size);
	maker.nlengths = 0;
	memset(bytes, (int)(number * 31 + 7), size);
	maker_numbers(&maker, 2, (const uint64_t[]){1, address});
	maker_bytes(&maker, bytes, size);
	maker_number(&maker, 0);
	free(bytes);
}

enum { SMALL = 4000, LARGE = 5 << 20 };

static size_t size_of(unsigned number)
{
	return number == SMALL / 2 ? LARGE : 1 + number * 977 % 8000;
}

/* Windows of 2 MiB are copied of it, and what is on their edges is whole in the next. */
START_TEST(a_large_file_is_read_as_the_same_bytes_in_memory)
{
	char path[] = "/tmp/goheap-large-XXXXXX";
	struct gh_dump dump;
	uint64_t address = 0x100000;
	maker_start(&maker, MAKER_1_7, 8, _i);
	maker_params(&maker);
	for (unsigned i = 0; i < SMALL; i++) {
		/* Other records are between them. */
		if (i % 1500 == 1499)
			maker_root(&maker, 0x100000);
		put_object(i, address, size_of(i));
		address += (size_of(i) + 15) / 16 * 16;
	}
	maker_end(&maker);
	int fd = mkstemp(path);
	for (size_t done = 0; done < maker.size;) {
		ssize_t written = write(fd, maker.data + done, maker.size - done);
		ck_assert_int_gt(written, 0);
		done += (size_t)written;
	}
	close(fd);
	ck_assert_msg(gh_dump_open(&dump, path, &err), "%s", err.text);
	ck_assert_str_eq(dump.warning.text, "");
	ck_assert_uint_eq(gh_dump_count(&dump, GH_DUMP_OBJECT), SMALL);
	ck_assert_uint_eq(gh_dump_count(&dump, GH_DUMP_OTHER_ROOT), SMALL / 1500);
	address = 0x100000;
	for (unsigned i = 0; i < SMALL; i++) {
		struct gh_dump_record record;
		gh_dump_get(&dump, GH_DUMP_OBJECT, i, &record);
		struct gh_cursor contents = gh_dump_bytes(&dump, record.object.contents);
		ck_assert_uint_eq(record.object.address, address);
		ck_assert_uint_eq(gh_cursor_size(&contents), size_of(i));
		ck_assert_uint_eq(contents.start[0], (uint8_t)(i * 31 + 7));
		ck_assert_uint_eq(contents.end[-1], (uint8_t)(i * 31 + 7));
		address += (size_of(i) + 15) / 16 * 16;
	}
	gh_dump_close(&dump);
	/* It is cut in the midst of an object. */
	ck_assert_int_eq(truncate(path, (off_t)maker.size / 2), 0);
	ck_assert(gh_dump_open(&dump, path, &err));
	ck_assert_str_ne(dump.warning.text, "");
	size_t count = gh_dump_count(&dump, GH_DUMP_OBJECT);
	gh_dump_close(&dump);
	struct gh_dump in_memory;
	ck_assert(gh_dump_open_memory(&in_memory, maker.data, maker.size / 2, "made", &err));
	ck_assert_uint_eq(gh_dump_count(&in_memory, GH_DUMP_OBJECT), count);
	gh_dump_close(&in_memory);
	unlink(path);
	free(maker.data);
}
END_TEST

/* A frame of this function, which begins at ENTRY. */
static void put_frame(const char *function, uint64_t entry)
{
	maker_numbers(&maker, 4, (const uint64_t[]){5, 0x30000, 0, 0});
	maker_words(&maker, 2, (const uint64_t[]){0, 0});
	maker_numbers(&maker, 3, (const uint64_t[]){entry, entry + 16, entry + 24});
	maker_text(&maker, function);
	maker_number(&maker, 0);
}

static const struct program {
	struct {
		const char *name;
		uint64_t entry;
	} functions[3];
} programs[] = {
    {{{"main.main", 0x401000}, {"main.f", 0x402000}, {"main.g", 0x403000}}},
    {{{"main.g", 0x403000}, {"main.f", 0x402000}}},
    {{{"main.f", 0x512000}, {"main.main", 0x511000}}}, /* loaded elsewhere */
    {{{"main.f", 0x402010}, {"main.main", 0x401000}}},
    {{{"main.main", 0x401000}, {"main.f", 0x401ff0}}},
    {{{"other.main", 0x401000}, {"other.f", 0x402010}}},
    {{{"main.f", 0x777777}}},
    {{{NULL, 0}}},
};

static void open_program(struct gh_dump *dump, const struct program *program)
{
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
	maker_goroutine(&maker, 0x20000, 1, 4, "", 0);
	for (unsigned i = 0; i < 3 && program->functions[i].name != NULL; i++)
		put_frame(program->functions[i].name, program->functions[i].entry);
	maker_end(&maker);
	ck_assert_msg(gh_dump_open_memory(dump, maker.data, maker.size, "made", &err), "%s",
		      err.text);
}

START_TEST(programs_are_the_same_if_their_functions_are_as_far_apart)
{
	static const bool same[] = {true, true, true, false, false, true, true, true};
	struct gh_dump first;
	open_program(&first, &programs[0]);
	uint8_t *data = maker.data;
	for (unsigned i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct gh_dump second;
		open_program(&second, &programs[i]);
		ck_assert_int_eq(gh_dump_is_same_program(&first, &second), same[i]);
		ck_assert_int_eq(gh_dump_is_same_program(&second, &first), same[i]);
		gh_dump_close(&second);
		free(maker.data);
	}
	gh_dump_close(&first);
	free(data);
}
END_TEST

/* Five goroutines could not be read, nor the stacks of seven. Goroutine 1 has labels, which are not
 * in the order of their keys; goroutine 2 was made by 7, and is locked to its thread. An unknown
 * part is between these, and another behind them. */
static const char goroutines[] = {0, 0, 1, 7, 1, 0, 9, 2};
static const char labels_part[] = "\0\3\1b\5third\2ab\0\1a\5first";

static size_t records; /* the bytes before the section */

static void make_section(void)
{
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
	maker_goroutine(&maker, 0x9000, 1, 4, "select", 0);
	maker_goroutine(&maker, 0x9100, 2, 4, "select", 0);
	maker_end(&maker);
	records = maker.size;
	maker_section(&maker);
	maker_number(&maker, 1);
	maker_bytes(&maker, goroutines, sizeof(goroutines));
	maker_number(&maker, 99);
	maker_bytes(&maker, "unknown", 7);
	maker_number(&maker, 2);
	maker_bytes(&maker, labels_part, sizeof(labels_part) - 1);
	maker_number(&maker, 3);
	maker_bytes(&maker, "\5\7", 2);
	maker_number(&maker, UINT64_C(1) << 40);
	maker_bytes(&maker, "", 0);
	maker_number(&maker, 0);
}

START_TEST(what_no_record_has_is_behind_the_end)
{
	static const char *const expected[][2] = {{"a", "first"}, {"ab", ""}, {"b", "third"}};
	struct gh_dump dump;
	struct gh_dump_label labels[GH_DUMP_LABELS_MAX];
	make_section();
	ck_assert(gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err));
	ck_assert_str_eq(dump.warning.text, "");
	ck_assert_uint_eq(dump.damage.trailing, 0);
	ck_assert_uint_eq(dump.extras.count, 2);
	ck_assert_uint_eq(gh_dump_labels(&dump, 0, labels), 3);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(labels[i].key_size, strlen(expected[i][0]));
		ck_assert_mem_eq(labels[i].key, expected[i][0], labels[i].key_size);
		ck_assert_uint_eq(labels[i].value_size, strlen(expected[i][1]));
		ck_assert_mem_eq(labels[i].value, expected[i][1], labels[i].value_size);
	}
	ck_assert_uint_eq(gh_dump_labels(&dump, 1, labels), 0);
	ck_assert_uint_eq(gh_dump_labels(&dump, 2, labels), 0);
	ck_assert_uint_eq(gh_dump_extras(&dump, 0).creator, 0);
	ck_assert(!gh_dump_extras(&dump, 0).locked);
	ck_assert_uint_eq(gh_dump_extras(&dump, 1).creator, 7);
	ck_assert(gh_dump_extras(&dump, 1).locked);
	ck_assert_uint_eq(gh_dump_extras(&dump, 2).creator, 0);
	ck_assert_uint_eq(dump.lost.goroutines, 5);
	ck_assert_uint_eq(dump.lost.stacks, 7);
	gh_dump_close(&dump);
	maker_text(&maker, "more");
	ck_assert(gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err));
	ck_assert_uint_eq(dump.damage.trailing, 5);
	gh_dump_close(&dump);
	free(maker.data);
}
END_TEST

/* Goroutine 2 waits for a mutex of C's that goroutine 1 has; its stack has two frames of C code,
 * one below its first own frame, both at the second place: f, inlined into g. */
static void make_c_section(void)
{
	static const char places[] = "\0\2\1\4\5f\0libc.so.6\0x.c\0\0\7\0g\0libc.so.6\0";
	static const char frames[] = {1, 2, 0, 16, 1, 1, 17, 1};
	static const char waits[] = {1, 1, 64, 9, 1};
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
	maker_goroutine(&maker, 0x9000, 1, 4, "select", 0);
	maker_goroutine(&maker, 0x9100, 2, 3, "", 0);
	maker_end(&maker);
	records = maker.size;
	maker_section(&maker);
	maker_number(&maker, 5);
	maker_bytes(&maker, places, sizeof(places));
	maker_number(&maker, 6);
	maker_bytes(&maker, frames, sizeof(frames));
	maker_number(&maker, 7);
	maker_bytes(&maker, waits, sizeof(waits));
	maker_number(&maker, 0);
}

START_TEST(frames_of_c_code_and_waits_there_are_goroutines)
{
	struct gh_dump dump;
	struct gh_dump_c_place found[GH_DUMP_C_PLACES];
	size_t count;
	make_c_section();
	ck_assert(gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err));
	ck_assert_str_eq(dump.warning.text, "");
	gh_dump_c_frames(&dump, 0, &count);
	ck_assert_uint_eq(count, 0);
	const struct gh_dump_c_frame *frames = gh_dump_c_frames(&dump, 1, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(frames[0].callees, 0);
	ck_assert_uint_eq(frames[1].callees, 1);
	ck_assert_uint_eq(frames[1].pc, 17);
	ck_assert_uint_eq(gh_dump_c_places(&dump, &frames[1], found), 2);
	ck_assert_str_eq(found[0].function, "f");
	ck_assert_str_eq(found[0].object, "libc.so.6");
	ck_assert_str_eq(found[0].file, "x.c");
	ck_assert_uint_eq(found[0].line, 5);
	ck_assert_uint_eq(found[0].offset, 4);
	ck_assert(found[0].inlined);
	ck_assert_str_eq(found[1].function, "g");
	ck_assert_str_eq(found[1].file, "");
	ck_assert_ptr_null(gh_dump_c_wait(&dump, 0));
	const struct gh_dump_c_wait *wait = gh_dump_c_wait(&dump, 1);
	ck_assert_int_eq(wait->kind, GH_C_WAIT_MUTEX);
	ck_assert_uint_eq(wait->object, 64);
	ck_assert_uint_eq(wait->thread, 9);
	ck_assert_uint_eq(wait->holder, 0);
	gh_dump_close(&dump);
	free(maker.data);
}
END_TEST

/* Wherever it is cut off, and whatever byte of it is another, no byte outside is read. */
START_TEST(a_section_of_c_code_that_is_damaged_is_read_as_far_as_it_goes)
{
	struct gh_dump dump;
	make_c_section();
	for (size_t size = records; size <= maker.size; size++) {
		for (size_t at = records; at < size; at += size == maker.size ? 1 : size) {
			uint8_t *data = malloc(size);
			memcpy(data, maker.data, size);
			data[at] ^= size == maker.size ? 0x7f : 0;
			ck_assert(gh_dump_open_memory(&dump, data, size, "made", &err));
			dump_walk(&dump);
			gh_dump_close(&dump);
			free(data);
		}
	}
	free(maker.data);
}
END_TEST

/* Wherever it is cut off, what is whole before that is used. */
START_TEST(a_section_that_is_cut_off_is_read_as_far_as_it_goes)
{
	struct gh_dump dump;
	struct gh_dump_label labels[GH_DUMP_LABELS_MAX];
	make_section();
	size_t whole = maker.size;
	size_t section = records + strlen("goheap section 1\n");
	size_t counts[4] = {0}, rows = 0;
	for (size_t size = section; size < whole; size++) {
		/* No byte after the end is read. */
		uint8_t *data = malloc(size);
		memcpy(data, maker.data, size);
		ck_assert(gh_dump_open_memory(&dump, data, size, "made", &err));
		ck_assert_uint_eq(gh_dump_count(&dump, GH_DUMP_GOROUTINE), 2);
		ck_assert_uint_ge(dump.extras.count, rows);
		rows = dump.extras.count;
		size_t count = gh_dump_labels(&dump, 0, labels);
		ck_assert_uint_le(count, 3);
		counts[count]++;
		gh_dump_close(&dump);
		free(data);
	}
	ck_assert_uint_eq(rows, 2);
	ck_assert_uint_gt(counts[1], 0);
	ck_assert_uint_gt(counts[2], 0);
	ck_assert_uint_gt(counts[3], 0);
	free(maker.data);
}
END_TEST

/* The value of the dump's only panic, wherever the part is cut off. */
START_TEST(values_of_panics_are_read_as_far_as_they_go)
{
	static const char values[] = {4, 'b', 'o', 'o', 'm', 4, 'm', 'o', 'r', 'e'};
	struct gh_dump dump;
	struct gh_dump_record record;
	for (size_t size = 0; size <= sizeof(values); size++) {
		maker_everything(&maker, MAKER_1_7 * 4);
		maker_section(&maker);
		maker_number(&maker, 11);
		maker_bytes(&maker, values, size);
		maker_number(&maker, 0);
		ck_assert(gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err));
		ck_assert_uint_eq(gh_dump_count(&dump, GH_DUMP_PANIC), 1);
		gh_dump_get(&dump, GH_DUMP_PANIC, 0, &record);
		ck_assert_uint_eq(record.panic.value.size, size < 5 ? 0 : 4);
		if (size >= 5)
			ck_assert_mem_eq(gh_dump_bytes(&dump, record.panic.value).pos, "boom", 4);
		gh_dump_close(&dump);
		free(maker.data);
	}
}
END_TEST

/* Sizes, places and counts that no file holds. */
START_TEST(a_section_that_lies_is_not_believed)
{
	static const struct {
		char bytes[24];
		size_t size;
	} parts[] = {
	    {"\1\x7f\0\0\1\7\1\0", 8},                            /* a size past the end */
	    {"\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 11},     /* one of 64 bits */
	    {"\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 12}, /* one of more */
	    {"\1\6\0\0\x7f\7\1\x7f\2\4\0\1\1a\0", 15},            /* places past the end */
	    {"\1\6\0\0\1\7\1\1\2\5\0\xff\x7f\1a\0", 16},          /* a number of labels */
	    {"\1\6\0\0\1\7\1\1\2\6\0\1\1a\x7f"
	     "b\0",
	     17},                                       /* the size of a value */
	    {"\1\6\0\0\1\7\1\1\1\6\5\0\1\7\1\1\0", 17}, /* a part twice */
	};
	struct gh_dump dump;
	struct gh_dump_label labels[GH_DUMP_LABELS_MAX];
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		maker_start(&maker, MAKER_1_7, 8, false);
		maker_params(&maker);
		maker_goroutine(&maker, 0x9000, 1, 4, "select", 0);
		maker_goroutine(&maker, 0x9100, 2, 4, "select", 0);
		maker_end(&maker);
		maker_section(&maker);
		size_t size = maker.size + parts[i].size;
		uint8_t *data = malloc(size);
		memcpy(data, maker.data, maker.size);
		memcpy(data + maker.size, parts[i].bytes, parts[i].size);
		ck_assert(gh_dump_open_memory(&dump, data, size, "made", &err));
		ck_assert_uint_le(dump.extras.count, 2);
		ck_assert_uint_eq(gh_dump_extras(&dump, 0).creator, 0);
		ck_assert_uint_eq(gh_dump_labels(&dump, 0, labels), 0);
		ck_assert_uint_eq(gh_dump_labels(&dump, 1, labels), 0);
		gh_dump_close(&dump);
		free(data);
		free(maker.data);
	}
}
END_TEST

void dump_files_tests(TCase *tests)
{
	tcase_add_loop_test(tests, a_large_file_is_read_as_the_same_bytes_in_memory, 0, 2);
	tcase_add_test(tests, programs_are_the_same_if_their_functions_are_as_far_apart);
	tcase_add_test(tests, what_no_record_has_is_behind_the_end);
	tcase_add_test(tests, a_section_that_is_cut_off_is_read_as_far_as_it_goes);
	tcase_add_test(tests, a_section_that_lies_is_not_believed);
	tcase_add_test(tests, values_of_panics_are_read_as_far_as_they_go);
	tcase_add_test(tests, frames_of_c_code_and_waits_there_are_goroutines);
	tcase_add_test(tests, a_section_of_c_code_that_is_damaged_is_read_as_far_as_it_goes);
}
