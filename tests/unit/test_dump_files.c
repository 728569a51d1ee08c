/* Heap dumps in files larger than what is read of them at once, and what is asked of a dump as a
 * whole. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/dump/dump.h"
#include "tests/unit/dumpmaker.h"
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

static void put_text(uint8_t *bytes, size_t *size, const char *text)
{
	uint32_t length = (uint32_t)strlen(text);
	memcpy(bytes + *size, &length, sizeof(length));
	memcpy(bytes + *size + sizeof(length), text, length);
	*size += sizeof(length) + length;
}

/* In the order of their keys, whatever the process's was. */
START_TEST(labels_are_sorted_by_their_keys)
{
	static const char *const expected[][2] = {{"a", "first"}, {"ab", ""}, {"b", "third"}};
	uint8_t bytes[128];
	size_t size = 3;
	uint32_t count = 3;
	struct gh_dump dump;
	struct gh_dump_label labels[GH_DUMP_LABELS_MAX];
	/* Of the second goroutine; the first has none. */
	const struct gh_dump_extras extras[] = {{.creator = 7, .labels = 64},
						{.locked = true, .labels = 3}};
	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes + size, &count, sizeof(count));
	size += sizeof(count);
	put_text(bytes, &size, "b");
	put_text(bytes, &size, "third");
	put_text(bytes, &size, "ab");
	put_text(bytes, &size, "");
	put_text(bytes, &size, "a");
	put_text(bytes, &size, "first");
	ck_assert_uint_le(size, 64);
	open_program(&dump, &programs[0]);
	ck_assert_uint_eq(gh_dump_labels(&dump, 0, labels), 0);
	ck_assert_uint_eq(gh_dump_extras(&dump, 0).creator, 0);
	dump.extras = extras;
	dump.nextras = 2;
	ck_assert_uint_eq(gh_dump_labels(&dump, 1, labels), 0);
	dump.labels = bytes;
	ck_assert_uint_eq(gh_dump_labels(&dump, 0, labels), 0);
	ck_assert_uint_eq(gh_dump_labels(&dump, 1, labels), 3);
	ck_assert_uint_eq(gh_dump_labels(&dump, 2, labels), 0);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(labels[i].key_size, strlen(expected[i][0]));
		ck_assert_mem_eq(labels[i].key, expected[i][0], labels[i].key_size);
		ck_assert_uint_eq(labels[i].value_size, strlen(expected[i][1]));
		ck_assert_mem_eq(labels[i].value, expected[i][1], labels[i].value_size);
	}
	ck_assert_uint_eq(gh_dump_extras(&dump, 0).creator, 7);
	ck_assert(gh_dump_extras(&dump, 1).locked);
	ck_assert_uint_eq(gh_dump_extras(&dump, 2).labels, 0);
	gh_dump_close(&dump);
	free(maker.data);
}
END_TEST

void dump_files_tests(TCase *tests)
{
	tcase_add_loop_test(tests, a_large_file_is_read_as_the_same_bytes_in_memory, 0, 2);
	tcase_add_test(tests, programs_are_the_same_if_their_functions_are_as_far_apart);
	tcase_add_test(tests, labels_are_sorted_by_their_keys);
}
