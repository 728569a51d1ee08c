/* Damaged heap dumps: each is refused with an error, or read as far as it goes, with a warning or
 * with what is wrong counted. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/corewalk.h"
#include "tests/unit/dumpmaker.h"
#include "tests/unit/dumpwalk.h"
#include "tests/unit/suites.h"

static struct maker maker;
static struct gh_dump dump;
static struct gh_error err;

static void check_message(const char *text)
{
	if (strncmp(text, "damaged: ", 9) != 0 || strstr(text, "expected ") == NULL ||
	    strstr(text, ", found ") == NULL || strchr(text, '\n') != NULL ||
	    strstr(text, "(null)") != NULL) /* a kind of record without a name */
		ck_abort_msg("no error as it should be: %s", text);
}

/* Makes a core file of the open dump. False if it is refused. */
static bool make_core(void)
{
	static const struct gh_core_program program = {.name = "damaged"};
	char path[] = "/tmp/goheap-test-XXXXXX";
	close(mkstemp(path));
	bool made = core_walk(&dump, &program, path);
	unlink(path);
	return made;
}

/* Opens a copy of SIZE bytes at DATA and reads all of it, and makes a core file of it if CORE. The
 * number of records, or -1 if it was refused. */
static long read_all(const uint8_t *data, size_t size, bool core)
{
	/* In memory of its own size, so that a read past the end is seen. */
	uint8_t *copy = malloc(size > 0 ? size : 1);
	memcpy(copy, data, size);
	long records = -1;
	if (gh_dump_open_memory(&dump, copy, size, "damaged", &err)) {
		records = 0;
		for (int kind = 0; kind < GH_DUMP_KINDS; kind++)
			records += (long)gh_dump_count(&dump, (enum gh_dump_kind)kind);
		if (dump.warning.text[0] != '\0')
			check_message(dump.warning.text);
		dump_walk(&dump);
		if (core)
			make_core();
		gh_dump_close(&dump);
	} else {
		check_message(err.text);
	}
	free(copy);
	return records;
}

START_TEST(truncated_at_every_byte)
{
	maker_everything(&maker, _i);
	long last = -1;
	for (size_t size = 0; size < maker.size; size++) {
		long records = read_all(maker.data, size, false);
		if (records < last)
			ck_abort_msg("%zu bytes: fewer records than before", size);
		/* The core files of a dump that ends within a record are all the same. */
		if (records > last)
			read_all(maker.data, size, true);
		last = records;
	}
	/* But for the mark at the end, all was there. */
	ck_assert_int_eq(last, read_all(maker.data, maker.size, true));
	free(maker.data);
}
END_TEST

START_TEST(truncation_is_told)
{
	maker_everything(&maker, _i);
	char expected[160];
	ck_assert(gh_dump_open_memory(&dump, maker.data, maker.size - 1, "damaged", &err));
	snprintf(expected, sizeof(expected),
		 "damaged: offset 0x%zx: expected a record, found the end of the file",
		 maker.size - 1);
	ck_assert_str_eq(dump.warning.text, expected);
	gh_dump_close(&dump);
	/* Within the last record: a tag and two numbers, of 3 bytes each. */
	bool prototype = maker.format == MAKER_PROTOTYPE;
	ck_assert(gh_dump_open_memory(&dump, maker.data, maker.size - 3, "damaged", &err));
	snprintf(expected, sizeof(expected),
		 "damaged: offset 0x%zx: expected a whole record, found the end of the file, at "
		 "0x%zx, within it (%s); only what comes before is used",
		 maker.size - 8, maker.size - 3, prototype ? "data root" : "allocation sample");
	ck_assert_str_eq(dump.warning.text, expected);
	gh_dump_close(&dump);
	free(maker.data);
}
END_TEST

START_TEST(every_byte_wrong)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	maker_everything(&maker, _i);
	for (size_t offset = 0; offset < maker.size; offset++) {
		uint8_t saved = maker.data[offset];
		for (size_t v = 0; v < sizeof(values); v++) {
			maker.data[offset] = values[v];
			read_all(maker.data, maker.size, false);
		}
		maker.data[offset] = saved;
	}
	free(maker.data);
}
END_TEST

/* The dump with the number at OFFSET replaced by VALUE. */
static uint8_t *replace_number(size_t offset, uint64_t value, size_t *size)
{
	struct maker number = {0};
	maker_number(&number, value);
	size_t end = offset;
	while (maker.data[end] >= 0x80)
		end++;
	end++;
	*size = maker.size - (end - offset) + number.size;
	uint8_t *data = malloc(*size);
	memcpy(data, maker.data, offset);
	memcpy(data + offset, number.data, number.size);
	memcpy(data + offset + number.size, maker.data + end, maker.size - end);
	free(number.data);
	return data;
}

/* The variants of a format, which are four, share the values between them. */
START_TEST(huge_lengths)
{
	static const uint64_t values[] = {UINT64_MAX, 1ULL << 63, (1ULL << 63) - 1, 1ULL << 32,
					  UINT32_MAX, 1ULL << 31, 1000000};
	maker_everything(&maker, _i);
	ck_assert_uint_gt(maker.nlengths, 10);
	for (size_t i = 0; i < maker.nlengths; i++) {
		for (size_t v = (i + (size_t)_i) % 3; v < sizeof(values) / sizeof(values[0]);
		     v += 3) {
			size_t size;
			uint8_t *data = replace_number(maker.lengths[i], values[v], &size);
			read_all(data, size, true);
			free(data);
		}
	}
	free(maker.data);
}
END_TEST

/* Starts a dump of the newest format, or opens what was made since. */
static void start(void)
{
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
}

static void open_made(void)
{
	if (!gh_dump_open_memory(&dump, maker.data, maker.size, "damaged", &err))
		ck_abort_msg("%s", err.text);
	dump_walk(&dump);
	make_core();
}

static void close_made(void)
{
	gh_dump_close(&dump);
	free(maker.data);
}

/* Opens the SIZE bytes at DATA, of which is told TEXT. */
static void check_refused(const void *data, size_t size, const char *text)
{
	char expected[160];
	ck_assert_int_eq(read_all(data, size, false), -1);
	snprintf(expected, sizeof(expected), "damaged: %s", text);
	ck_assert_str_eq(err.text, expected);
}

START_TEST(no_dump)
{
	static const char other[] = "expected a Go heap dump, found another format";
	static const char cut[] = "offset 0x10: expected the parameters of a heap dump, found the "
				  "end of the data";
	static const struct {
		const char *bytes;
		size_t size;
		const char *text;
	} cases[] = {
	    {"", 0, "expected a Go heap dump, found an empty file"},
	    {"go1.7 heap dump", 15, other},
	    {"go1.2 heap dump\n", 16, other},
	    {"go1.8 heap dump\n", 16, other},
	    {"go1.7 heap dumps", 16, other},
	    {"\177ELF", 4, "expected a Go heap dump, found the start of an ELF file"},
	    {"go1.7 heap dump\n", 16, cut},
	    {"go1.7 heap dump\n\005", 17, cut},
	    {"go1.7 heap dump\n\006", 17, cut},
	    {"go1.7 heap dump\n\0", 17,
	     "offset 0x10: expected the parameters of a heap dump, found another record"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_refused(cases[i].bytes, cases[i].size, cases[i].text);
}
END_TEST

START_TEST(pointer_size_is_checked)
{
	maker_start(&maker, MAKER_1_7, 3, false);
	maker_params(&maker);
	check_refused(maker.data, maker.size,
		      "offset 0x10: expected a pointer size of 4 or 8, found 3");
	free(maker.data);
}
END_TEST

/* A dump of Go 1.7 that says it is of this machine. */
static void check_machine(const char *goarch, unsigned word, bool big_endian, const char *found)
{
	char expected[160];
	maker_start(&maker, MAKER_1_7, word, big_endian);
	maker_numbers(&maker, 5, (const uint64_t[]){6, big_endian, word, 0x10000, 0x20000});
	maker_text(&maker, goarch);
	maker_text(&maker, "go1.99.1");
	maker_number(&maker, 4);
	open_made();
	ck_assert_ptr_null(gh_dump_arch(&dump, &err));
	snprintf(expected, sizeof(expected),
		 "damaged: expected a dump of a machine that Go runs on, found %s", found);
	ck_assert_str_eq(err.text, expected);
	close_made();
}

START_TEST(unknown_machine)
{
	check_machine("s390x", 8, false, "\"s390x\" with little-endian pointers of 8 bytes");
	check_machine("mips", 8, true, "\"mips\" with big-endian pointers of 8 bytes");
	check_machine("vax", 4, false, "\"vax\" with little-endian pointers of 4 bytes");
}
END_TEST

/* Opens what was made, of which a warning tells TEXT of what is at OFFSET. */
static void check_warning(size_t offset, const char *text)
{
	char expected[160];
	open_made();
	ck_assert_uint_eq(gh_dump_count(&dump, GH_DUMP_OBJECT), 1);
	snprintf(expected, sizeof(expected),
		 "damaged: offset 0x%zx: expected %s; only what comes before is used", offset,
		 text);
	ck_assert_str_eq(dump.warning.text, expected);
	close_made();
}

START_TEST(unknown_tag)
{
	start();
	maker_object(&maker, 0x10000, 16);
	size_t offset = maker.size;
	maker_number(&maker, 99);
	maker_object(&maker, 0x20000, 16);
	check_warning(offset, "a record, found tag 99");
}
END_TEST

/* A number whose last byte has a bit too many, with the rest of its record and without. */
START_TEST(number_of_more_than_64_bits)
{
	for (int whole = 0; whole < 2; whole++) {
		start();
		maker_object(&maker, 0x10000, 16);
		maker_number(&maker, 1);
		size_t offset = maker.size;
		maker_number(&maker, UINT64_MAX);
		maker.data[maker.size - 1] = 2;
		if (whole) {
			maker_text(&maker, "contents");
			maker_number(&maker, 0);
			maker_end(&maker);
		}
		check_warning(offset, "a number of at most 64 bits, found a longer one in a record "
				      "(object)");
	}
}
END_TEST

START_TEST(bytes_after_the_end)
{
	start();
	maker_end(&maker);
	maker_object(&maker, 0x10000, 16);
	open_made();
	ck_assert_uint_eq(gh_dump_count(&dump, GH_DUMP_OBJECT), 0);
	ck_assert_uint_eq(dump.damage.trailing, 16 + 6);
	close_made();
}
END_TEST

START_TEST(no_goroutine)
{
	start();
	maker_object(&maker, 0x10000, 16);
	maker_end(&maker);
	open_made();
	ck_assert(make_core());
	close_made();
}
END_TEST

START_TEST(goroutines_with_one_id)
{
	start();
	for (unsigned i = 0; i < 3; i++)
		maker_goroutine(&maker, 0x9000 + i, 5, 4, "select", 0);
	maker_end(&maker);
	open_made();
	ck_assert_uint_eq(gh_dump_count(&dump, GH_DUMP_GOROUTINE), 3);
	ck_assert_uint_eq(dump.damage.duplicate_ids, 2);
	close_made();
}
END_TEST

START_TEST(frames_without_a_goroutine)
{
	start();
	maker_frame(&maker, 0x30000, 0, 0, "main.lost");
	maker_goroutine(&maker, 0x9000, 5, 4, "select", 0);
	maker_frame(&maker, 0x31000, 0, 0, "main.f");
	maker_end(&maker);
	open_made();
	ck_assert_uint_eq(dump.damage.orphan_frames, 1);
	ck_assert_uint_eq(gh_dump_stack(&dump, 0)->first_frame, 1);
	ck_assert_uint_eq(gh_dump_stack(&dump, 0)->nframes, 1);
	close_made();
}
END_TEST

START_TEST(depths_out_of_order)
{
	static const uint64_t depths[] = {2, 0, 1, 1};
	static const unsigned places[] = {1, 2, 3, 0};
	start();
	maker_goroutine(&maker, 0x9000, 5, 4, "select", 0);
	for (unsigned i = 0; i < 4; i++)
		maker_frame(&maker, 0x30000 + 16 * i, depths[i], 0, "main.f");
	maker_goroutine(&maker, 0x9100, 6, 4, "select", 0);
	maker_frame(&maker, 0x31000, 0, 0, "main.g");
	maker_end(&maker);
	open_made();
	ck_assert_uint_gt(dump.damage.misplaced_frames, 0);
	for (unsigned i = 0; i < 4; i++) {
		struct gh_dump_record record;
		gh_dump_get(&dump, GH_DUMP_FRAME, i, &record);
		ck_assert_uint_eq(record.frame.sp, 0x30000 + 16 * places[i]);
		ck_assert_uint_eq(record.frame.depth, depths[places[i]]);
	}
	close_made();
}
END_TEST

START_TEST(child_that_is_its_parent)
{
	start();
	maker_goroutine(&maker, 0x9000, 5, 4, "select", 0);
	maker_frame(&maker, 0x30000, 0, 0x30000, "main.f");
	maker_frame(&maker, 0x30010, 1, 0x30010, "main.g");
	maker_end(&maker);
	open_made();
	ck_assert_uint_eq(dump.damage.misplaced_frames, 2);
	ck_assert_uint_eq(gh_dump_stack(&dump, 0)->nframes, 2);
	close_made();
}
END_TEST

START_TEST(overlapping_objects)
{
	start();
	maker_object(&maker, 0x10000, 64);
	maker_object(&maker, 0x10020, 64);
	maker_object(&maker, 0x10000, 16);
	maker_object(&maker, UINT64_MAX - 15, 64);
	maker_end(&maker);
	open_made();
	ck_assert_uint_eq(gh_dump_count(&dump, GH_DUMP_OBJECT), 4);
	ck_assert_uint_eq(dump.damage.overlapping_objects, 2);
	ck_assert_uint_eq(gh_dump_find_object(&dump, 0x10030), 1);
	ck_assert_uint_eq(gh_dump_find_object(&dump, 0x10008), 2);
	ck_assert_uint_eq(gh_dump_find_object(&dump, UINT64_MAX), 3);
	close_made();
}
END_TEST

/* Many in every order: descending, interleaved, with gaps. */
START_TEST(objects_in_any_order)
{
	enum { COUNT = 3000 };
	start();
	for (unsigned i = 0; i < COUNT; i++) {
		maker.nlengths = 0;
		maker_object(&maker, 0x100000 + 32 * (i * 1237 % COUNT), 16);
	}
	maker_end(&maker);
	open_made();
	ck_assert_uint_eq(gh_dump_count(&dump, GH_DUMP_OBJECT), COUNT);
	ck_assert_uint_eq(dump.damage.overlapping_objects, 0);
	for (unsigned i = 0; i < COUNT; i++) {
		uint64_t address = 0x100000 + 32 * (i * 1237 % COUNT);
		ck_assert_uint_eq(gh_dump_find_object(&dump, address + 15), i);
		ck_assert_uint_eq(gh_dump_find_object(&dump, address + 16), GH_DUMP_NONE);
	}
	close_made();
}
END_TEST

/* A large file is not read as a small one is: objects of all sizes, in one that is cut off
 * anywhere. */
START_TEST(large_file)
{
	enum { COUNT = 40000, CUTS = 40 };
	static const size_t sizes[] = {16, 48, 8, 112, 80, 1000, 24, 64};
	static size_t ends[COUNT];
	char path[] = "/tmp/goheap-test-XXXXXX";
	int fd = mkstemp(path);
	start();
	for (unsigned i = 0; i < COUNT; i++) {
		size_t size = i % 5000 == 4999 ? 3 << 20 : i % 400 == 399 ? 70000 : sizes[i % 8];
		maker.nlengths = 0;
		maker_object(&maker, UINT64_C(0xc000000000) + i * UINT64_C(0x400000), size);
		ends[i] = maker.size;
		if (i % 9000 == 8999)
			maker_goroutine(&maker, 0x9000, i, 4, "select", 0);
	}
	ck_assert_int_eq(write(fd, maker.data, maker.size), (ssize_t)maker.size);
	size_t whole = COUNT;
	for (size_t cut = CUTS; cut > 0; cut--) {
		size_t size = maker.size / CUTS * cut + cut;
		if (size < maker.size)
			ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
		while (whole > 0 && ends[whole - 1] > size)
			whole--;
		ck_assert(gh_dump_open(&dump, path, &err));
		ck_assert_uint_eq(gh_dump_count(&dump, GH_DUMP_OBJECT), whole);
		for (size_t i = 0; i < whole; i++) {
			struct gh_dump_record record;
			gh_dump_get(&dump, GH_DUMP_OBJECT, i, &record);
			ck_assert_uint_eq(record.object.address,
					  UINT64_C(0xc000000000) + i * UINT64_C(0x400000));
			ck_assert_uint_eq(record.object.contents.offset +
					      record.object.contents.size + 1,
					  ends[i]);
		}
		gh_dump_close(&dump);
	}
	close(fd);
	unlink(path);
	free(maker.data);
}
END_TEST

START_TEST(no_file)
{
	ck_assert(!gh_dump_open(&dump, "/proc/nonexistent", &err));
	ck_assert_str_eq(err.text, "/proc/nonexistent: cannot open: No such file or directory");
	ck_assert(!gh_dump_open(&dump, "/dev/null", &err));
	ck_assert(!gh_dump_open(&dump, "/", &err));
}
END_TEST

void dump_damage_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, truncated_at_every_byte, 0, MAKER_VARIANTS);
	tcase_add_loop_test(tcase, truncation_is_told, 0, MAKER_VARIANTS);
	tcase_add_loop_test(tcase, every_byte_wrong, 0, MAKER_VARIANTS);
	tcase_add_loop_test(tcase, huge_lengths, 0, MAKER_VARIANTS);
	tcase_add_test(tcase, no_dump);
	tcase_add_test(tcase, pointer_size_is_checked);
	tcase_add_test(tcase, unknown_machine);
	tcase_add_test(tcase, unknown_tag);
	tcase_add_test(tcase, number_of_more_than_64_bits);
	tcase_add_test(tcase, bytes_after_the_end);
	tcase_add_test(tcase, no_goroutine);
	tcase_add_test(tcase, goroutines_with_one_id);
	tcase_add_test(tcase, frames_without_a_goroutine);
	tcase_add_test(tcase, depths_out_of_order);
	tcase_add_test(tcase, child_that_is_its_parent);
	tcase_add_test(tcase, overlapping_objects);
	tcase_add_test(tcase, objects_in_any_order);
	tcase_add_test(tcase, large_file);
	tcase_add_test(tcase, no_file);
}
