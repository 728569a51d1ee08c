#include "lib/util/cursor.h"
#include "lib/util/error.h"
#include "tests/unit/suites.h"

#define CURSOR(bytes, big) gh_cursor_make((bytes), sizeof(bytes), "test", 0x100, (big))

START_TEST(integers_follow_the_byte_order)
{
	static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	struct gh_cursor little = CURSOR(bytes, false);
	ck_assert_uint_eq(gh_cursor_u8(&little), 1);
	ck_assert_uint_eq(gh_cursor_u16(&little), 0x0302);
	ck_assert_uint_eq(gh_cursor_u32(&little), 0x07060504);
	ck_assert_uint_eq(gh_cursor_u64(&little), 0x0f0e0d0c0b0a0908);
	ck_assert(!little.failed);
	struct gh_cursor big = CURSOR(bytes, true);
	ck_assert_uint_eq(gh_cursor_u8(&big), 1);
	ck_assert_uint_eq(gh_cursor_u16(&big), 0x0203);
	ck_assert_uint_eq(gh_cursor_u32(&big), 0x04050607);
	ck_assert_uint_eq(gh_cursor_u64(&big), 0x08090a0b0c0d0e0f);
	ck_assert_uint_eq(gh_cursor_offset(&big), 0x10f);
}
END_TEST

START_TEST(a_read_past_the_end_gives_zero_for_good)
{
	static const uint8_t bytes[] = {1, 2, 3};
	struct gh_cursor cur = CURSOR(bytes, false);
	ck_assert_uint_eq(gh_cursor_u32(&cur), 0);
	ck_assert(cur.failed);
	ck_assert_uint_eq(gh_cursor_u8(&cur), 0);
	ck_assert_uint_eq(gh_cursor_left(&cur), 0);
	struct gh_error err;
	ck_assert(!gh_cursor_fail(&cur, &err, "a number"));
	ck_assert_str_eq(err.text,
			 "test: offset 0x103: expected a number, found the end of the data");
}
END_TEST

START_TEST(uvarints_are_at_most_64_bits)
{
	static const uint8_t bytes[] = {0x7f, 0xac, 0x02, 0xff, 0xff, 0xff, 0xff,
					0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
	struct gh_cursor cur = CURSOR(bytes, false);
	ck_assert_uint_eq(gh_cursor_uvarint(&cur), 127);
	ck_assert_uint_eq(gh_cursor_uvarint(&cur), 300);
	ck_assert_uint_eq(gh_cursor_uvarint(&cur), UINT64_MAX);
	ck_assert(!cur.failed);
	static const uint8_t too_large[] = {1,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					    0xff, 0xff, 0xff, 0x02, 1,    1};
	cur = CURSOR(too_large, false);
	ck_assert_uint_eq(gh_cursor_uvarint(&cur), 1);
	gh_cursor_uvarint(&cur);
	ck_assert(cur.failed);
	ck_assert_uint_eq(gh_cursor_uvarint(&cur), 0);
	ck_assert_uint_eq(gh_cursor_offset(&cur), 0x101);
	static const uint8_t endless[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
					  0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
	cur = CURSOR(endless, false);
	gh_cursor_uvarint(&cur);
	ck_assert(cur.failed);
	ck_assert_uint_eq(gh_cursor_offset(&cur), 0x100);
	static const uint8_t cut[] = {0x80};
	cur = CURSOR(cut, false);
	gh_cursor_uvarint(&cur);
	ck_assert(cur.failed);
}
END_TEST

START_TEST(strings_need_their_nul)
{
	static const uint8_t bytes[] = {'a', 'b', 0, 'c'};
	struct gh_cursor cur = CURSOR(bytes, false);
	ck_assert_str_eq(gh_cursor_string(&cur), "ab");
	ck_assert_ptr_null(gh_cursor_string(&cur));
	ck_assert(cur.failed);
}
END_TEST

START_TEST(slices_and_seeks_stay_inside)
{
	static const uint8_t bytes[] = {1, 2, 3, 4};
	struct gh_cursor cur = CURSOR(bytes, false);
	struct gh_cursor slice = gh_cursor_slice(&cur, 1, 2);
	ck_assert(!slice.failed);
	ck_assert_uint_eq(gh_cursor_size(&slice), 2);
	ck_assert_uint_eq(slice.offset, 0x101);
	ck_assert_uint_eq(gh_cursor_u8(&slice), 2);
	ck_assert(gh_cursor_slice(&cur, 3, 2).failed);
	ck_assert(gh_cursor_slice(&cur, 5, 0).failed);
	ck_assert(gh_cursor_slice(&cur, 1, UINT64_MAX).failed);
	gh_cursor_seek(&cur, 4);
	ck_assert(!cur.failed);
	gh_cursor_seek(&cur, 5);
	ck_assert(cur.failed);
}
END_TEST

void cursor_tests(TCase *tcase)
{
	tcase_add_test(tcase, integers_follow_the_byte_order);
	tcase_add_test(tcase, a_read_past_the_end_gives_zero_for_good);
	tcase_add_test(tcase, uvarints_are_at_most_64_bits);
	tcase_add_test(tcase, strings_need_their_nul);
	tcase_add_test(tcase, slices_and_seeks_stay_inside);
}
