/* Heap dumps that were packed by gzip. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/unit/dumpmaker.h"
#include "tests/unit/dumpwalk.h"
#include "tests/unit/suites.h"

static struct maker maker;
static struct gh_dump dump;
static struct gh_error err;

/* The made dump, packed by gzip, in a file. */
static void pack(const char *path, size_t size)
{
	gzFile out = gzopen(path, "wb");
	ck_assert_int_eq(gzwrite(out, maker.data, (unsigned)size), (int)size);
	ck_assert_int_eq(gzclose(out), Z_OK);
}

START_TEST(compressed)
{
	char path[] = "/tmp/goheap-test-XXXXXX";
	int fd = mkstemp(path);
	maker_everything(&maker, 20);
	pack(path, maker.size);
	ck_assert(gh_dump_open(&dump, path, &err));
	ck_assert_str_eq(dump.warning.text, "");
	ck_assert_uint_eq(gh_cursor_size(&dump.file), maker.size);
	dump_walk(&dump);
	gh_dump_close(&dump);

	/* Cut within the packed data: what can be unpacked is used. */
	off_t packed = lseek(fd, 0, SEEK_END);
	ck_assert_int_eq(ftruncate(fd, packed - 20), 0);
	ck_assert(gh_dump_open(&dump, path, &err));
	ck_assert(dump.warning.text[0] != '\0');
	dump_walk(&dump);
	gh_dump_close(&dump);

	/* Cut in the check sum: all of the dump is there. */
	pack(path, maker.size);
	ck_assert_int_eq(ftruncate(fd, packed - 2), 0);
	ck_assert(gh_dump_open(&dump, path, &err));
	char expected[128];
	snprintf(expected, sizeof(expected), "%s: expected a whole gzip file, found a damaged one",
		 path);
	ck_assert_str_eq(dump.warning.text, expected);
	gh_dump_close(&dump);
	close(fd);
	unlink(path);
	free(maker.data);
}
END_TEST

/* The file at PATH, which has the first 100 bytes, is whole with the rest in a member of its own.
 */
static void check_with_rest(const char *path)
{
	gzFile out = gzopen(path, "ab");
	gzwrite(out, maker.data + 100, (unsigned)maker.size - 100);
	gzclose(out);
	ck_assert(gh_dump_open(&dump, path, &err));
	ck_assert_str_eq(dump.warning.text, "");
	ck_assert_uint_eq(gh_cursor_size(&dump.file), maker.size);
	gh_dump_close(&dump);
}

/* Memory that is mostly zeros: gzip has one byte for a thousand of them, and the file takes no room
 * when it is unpacked. */
START_TEST(compressed_a_thousand_to_one)
{
	char path[] = "/tmp/goheap-test-XXXXXX";
	struct stat packed, unpacked;
	close(mkstemp(path));
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
	maker_object(&maker, 0xc000000000, 40 << 20);
	maker_object(&maker, 0xc010000000, 64);
	maker_end(&maker);
	pack(path, maker.size);
	ck_assert_int_eq(stat(path, &packed), 0);
	ck_assert_uint_lt((uint64_t)packed.st_size * 512, maker.size);
	ck_assert(gh_dump_open(&dump, path, &err));
	ck_assert_str_eq(dump.warning.text, "");
	ck_assert_uint_eq(gh_cursor_size(&dump.file), maker.size);
	/* To read a hole of a file in memory is to have it filled. */
	ck_assert_int_eq(fstat(dump.input.fd, &unpacked), 0);
	ck_assert_uint_lt((uint64_t)unpacked.st_blocks * 512, maker.size / 4);
	ck_assert_mem_eq(dump.file.start, maker.data, maker.size);
	ck_assert_uint_eq(gh_dump_count(&dump, GH_DUMP_OBJECT), 2);
	gh_dump_close(&dump);
	unlink(path);
	free(maker.data);
}
END_TEST

/* Two members, one after the other, are one file. */
START_TEST(compressed_in_parts)
{
	char path[] = "/tmp/goheap-test-XXXXXX";
	int fd = mkstemp(path);
	maker_everything(&maker, 20);
	pack(path, 100);
	check_with_rest(path);
	close(fd);
	unlink(path);
	free(maker.data);
}
END_TEST

/* Packs SIZE bytes at DATA as a member of the length of what OUT has room for, by the name in it.
 */
static void pack_to_length(uint8_t *out, size_t length, const void *data, size_t size)
{
	static Bytef name[1 << 20];
	size_t without = 0;
	for (int i = 0; i < 2; i++) {
		z_stream stream = {.next_in = (Bytef *)data, .avail_in = (uInt)size};
		gz_header header = {.name = name};
		memset(name, 'a', length - without);
		name[i == 0 ? 1 : length - without + 1] = '\0';
		stream.next_out = out;
		stream.avail_out = (uInt)length;
		ck_assert_int_eq(
		    deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY),
		    Z_OK);
		deflateSetHeader(&stream, &header);
		ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
		without = stream.total_out;
		deflateEnd(&stream);
	}
	ck_assert_uint_eq(without, length);
}

/* A member that ends where the input is read in pieces. */
START_TEST(compressed_in_even_parts)
{
	static uint8_t member[2 << 16];
	size_t length = (size_t)_i << 16;
	char path[] = "/tmp/goheap-test-XXXXXX";
	int fd = mkstemp(path);
	maker_everything(&maker, 20);
	pack_to_length(member, length, maker.data, 100);
	ck_assert_int_eq(write(fd, member, length), (ssize_t)length);
	check_with_rest(path);
	close(fd);
	unlink(path);
	free(maker.data);
}
END_TEST

START_TEST(compressed_without_room_for_it)
{
	char path[] = "/tmp/goheap-test-XXXXXX";
	char expected[128];
	close(mkstemp(path));
	maker_everything(&maker, 20);
	pack(path, maker.size);
	const char *own = getenv("TMPDIR");
	char *saved = own != NULL ? strdup(own) : NULL;
	ck_assert_int_eq(setenv("TMPDIR", "/proc/nonexistent", 1), 0);
	ck_assert(!gh_dump_open(&dump, path, &err));
	if (saved != NULL)
		setenv("TMPDIR", saved, 1);
	else
		unsetenv("TMPDIR");
	free(saved);
	snprintf(expected, sizeof(expected),
		 "%s: cannot make a temporary file to unpack it: No such file or directory", path);
	ck_assert_str_eq(err.text, expected);
	unlink(path);
	free(maker.data);
}
END_TEST

/* What is made to fill the disk does not. */
START_TEST(compressed_bomb)
{
	struct stat unpacked;
	char path[] = "/tmp/goheap-test-XXXXXX";
	int fd = mkstemp(path);
	static const uint8_t zeros[1 << 20];
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
	gzFile out = gzopen(path, "wb");
	gzwrite(out, maker.data, (unsigned)maker.size);
	for (unsigned i = 0; i < 64; i++)
		gzwrite(out, zeros, sizeof(zeros));
	gzclose(out);
	ck_assert(gh_dump_open(&dump, path, &err));
	ck_assert_int_eq(fstat(dump.input.fd, &unpacked), 0);
	ck_assert_uint_le((uint64_t)unpacked.st_blocks * 512, 17 << 20);
	gh_dump_close(&dump);
	close(fd);
	unlink(path);
	free(maker.data);
}
END_TEST

void dump_gzip_tests(TCase *tcase)
{
	tcase_add_test(tcase, compressed);
	tcase_add_test(tcase, compressed_a_thousand_to_one);
	tcase_add_test(tcase, compressed_in_parts);
	tcase_add_loop_test(tcase, compressed_in_even_parts, 1, 3);
	tcase_add_test(tcase, compressed_without_room_for_it);
	tcase_add_test(tcase, compressed_bomb);
}
