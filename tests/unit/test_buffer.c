#include <string.h>

#include "lib/util/buffer.h"
#include "tests/unit/suites.h"

#define HAS(buf, bytes) has(buf, bytes, sizeof(bytes) - 1)

/* Compares with the COUNT bytes at BYTES, and empties the buffer. */
static bool has(struct gh_buffer *buf, const char *bytes, size_t count)
{
	bool equal = !buf->failed && buf->size == count && memcmp(buf->data, bytes, count) == 0;
	gh_buffer_free(buf);
	return equal;
}

/* The examples of DWARF 5, tables 7.7 and 7.8, and the values where one more byte is needed. */
START_TEST(leb128)
{
	struct gh_buffer buf = {0};
	gh_buffer_uleb128(&buf, 2);
	gh_buffer_uleb128(&buf, 127);
	gh_buffer_uleb128(&buf, 128);
	gh_buffer_uleb128(&buf, 129);
	gh_buffer_uleb128(&buf, 12857);
	ck_assert(HAS(&buf, "\x02\x7f\x80\x01\x81\x01\xb9\x64"));
	gh_buffer_uleb128(&buf, UINT64_MAX);
	ck_assert(HAS(&buf, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));

	gh_buffer_sleb128(&buf, 2);
	gh_buffer_sleb128(&buf, -2);
	ck_assert(HAS(&buf, "\x02\x7e"));
	gh_buffer_sleb128(&buf, 127);
	gh_buffer_sleb128(&buf, -127);
	gh_buffer_sleb128(&buf, 128);
	gh_buffer_sleb128(&buf, -128);
	gh_buffer_sleb128(&buf, 129);
	gh_buffer_sleb128(&buf, -129);
	ck_assert(HAS(&buf, "\xff\x00\x81\x7f\x80\x01\x80\x7f\x81\x01\xff\x7e"));
	gh_buffer_sleb128(&buf, 63);
	gh_buffer_sleb128(&buf, 64);
	gh_buffer_sleb128(&buf, -64);
	gh_buffer_sleb128(&buf, -65);
	ck_assert(HAS(&buf, "\x3f\xc0\x00\x40\xbf\x7f"));
	gh_buffer_sleb128(&buf, INT64_MIN);
	ck_assert(HAS(&buf, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f"));
}
END_TEST

START_TEST(integers_in_both_byte_orders)
{
	struct gh_buffer buf = {0};
	gh_buffer_u8(&buf, 0x12);
	gh_buffer_u16(&buf, 0x1234);
	gh_buffer_u32(&buf, 0x12345678);
	gh_buffer_u64(&buf, UINT64_C(0x123456789abcdef0));
	ck_assert(HAS(&buf, "\x12\x34\x12\x78\x56\x34\x12\xf0\xde\xbc\x9a\x78\x56\x34\x12"));
	buf.big_endian = true;
	gh_buffer_u16(&buf, 0x1234);
	gh_buffer_uint(&buf, 0x12345678, 4);
	gh_buffer_uint(&buf, UINT64_C(0x123456789abcdef0), 8);
	ck_assert(HAS(&buf, "\x12\x34\x12\x34\x56\x78\x12\x34\x56\x78\x9a\xbc\xde\xf0"));
}
END_TEST

START_TEST(alignment_is_zeros)
{
	struct gh_buffer buf = {0};
	gh_buffer_align(&buf, 8);
	ck_assert_uint_eq(buf.size, 0);
	gh_buffer_string(&buf, "abcd");
	gh_buffer_align(&buf, 8);
	gh_buffer_align(&buf, 8);
	gh_buffer_string(&buf, "e");
	gh_buffer_align(&buf, 2);
	ck_assert(HAS(&buf, "abcd\0\0\0\0e\0"));
}
END_TEST

START_TEST(patches_stay_inside)
{
	struct gh_buffer buf = {0};
	gh_buffer_bytes(&buf, "abcdef", 6);
	gh_buffer_patch(&buf, 4, 0x4645, 2);
	gh_buffer_patch(&buf, 5, 0, 2);
	gh_buffer_patch(&buf, 6, 0, 1);
	gh_buffer_patch(&buf, SIZE_MAX, 0, 4);
	buf.big_endian = true;
	gh_buffer_patch(&buf, 0, 0x41424344, 4);
	ck_assert(HAS(&buf, "ABCDEF"));
}
END_TEST

START_TEST(what_is_in_it_stays_while_it_grows)
{
	struct gh_buffer buf = {0};
	for (uint32_t i = 0; i < 10000; i++)
		gh_buffer_u32(&buf, i);
	gh_buffer_bytes(&buf, NULL, 0);
	ck_assert_uint_eq(buf.size, 40000);
	for (uint32_t i = 0; i < 10000; i++)
		ck_assert_mem_eq(buf.data + 4 * (size_t)i,
				 ((uint8_t[]){(uint8_t)i, (uint8_t)(i >> 8), 0, 0}), 4);
	gh_buffer_free(&buf);
}
END_TEST

START_TEST(a_size_that_cannot_be_fails_it_for_good)
{
	struct gh_buffer buf = {0};
	gh_buffer_string(&buf, "a");
	ck_assert_ptr_null(gh_buffer_extend(&buf, SIZE_MAX));
	ck_assert(buf.failed && buf.size == 2);
	ck_assert(!gh_buffer_grow(&buf, 1 << 20));
	gh_buffer_free(&buf);
}
END_TEST

void buffer_tests(TCase *tests)
{
	tcase_add_test(tests, leb128);
	tcase_add_test(tests, integers_in_both_byte_orders);
	tcase_add_test(tests, alignment_is_zeros);
	tcase_add_test(tests, patches_stay_inside);
	tcase_add_test(tests, what_is_in_it_stays_while_it_grows);
	tcase_add_test(tests, a_size_that_cannot_be_fails_it_for_good);
}
