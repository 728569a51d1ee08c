#include <stdint.h>
#include <string.h>

#include "lib/util/vector.h"
#include "tests/unit/suites.h"

struct pair {
	uint64_t key;
	uint8_t value;
};

struct pairs GH_VECTOR(struct pair);

/* The growing moves the items many times. */
START_TEST(items_stay_in_order)
{
	struct pairs pairs = {0};
	for (size_t i = 0; i < 10000; i++)
		ck_assert(gh_vector_push(&pairs, (struct pair){.key = i * i, .value = (uint8_t)i}));
	ck_assert_uint_eq(pairs.count, 10000);
	ck_assert_uint_ge(pairs.capacity, 10000);
	ck_assert(!pairs.failed);
	for (size_t i = 0; i < 10000; i++) {
		ck_assert_uint_eq(pairs.items[i].key, i * i);
		ck_assert_uint_eq(pairs.items[i].value, i & 0xff);
	}
	gh_vector_free(&pairs);
}
END_TEST

/* Not more than twice what is needed, and few moves. */
START_TEST(growing_doubles)
{
	struct GH_VECTOR(uint64_t) numbers = {0};
	size_t moves = 0;
	for (uint64_t i = 0; i < 100000; i++) {
		size_t capacity = numbers.capacity;
		gh_vector_push(&numbers, i);
		moves += numbers.capacity != capacity;
	}
	ck_assert_uint_lt(numbers.capacity, 200000);
	ck_assert_uint_le(moves, 17);
	gh_vector_free(&numbers);
}
END_TEST

START_TEST(several_items_are_added_at_once)
{
	struct GH_VECTOR(uint16_t) numbers = {0};
	static const uint16_t first[] = {1, 2, 3};
	gh_vector_push(&numbers, 7);
	uint16_t *added = gh_vector_extend(&numbers, 3);
	ck_assert_ptr_eq(added, numbers.items + 1);
	memcpy(added, first, sizeof(first));
	added = gh_vector_extend(&numbers, 1000);
	ck_assert_ptr_eq(added, numbers.items + 4);
	memset(added, 0, 1000 * sizeof(*added));
	ck_assert_uint_eq(numbers.count, 1004);
	ck_assert_uint_eq(numbers.items[0], 7);
	ck_assert_mem_eq(numbers.items + 1, first, sizeof(first));
	gh_vector_free(&numbers);
}
END_TEST

START_TEST(room_that_is_reserved_is_not_moved)
{
	struct GH_VECTOR(uint32_t) numbers = {0};
	ck_assert(gh_vector_reserve(&numbers, 5000));
	ck_assert_uint_eq(numbers.count, 0);
	const uint32_t *items = numbers.items;
	for (uint32_t i = 0; i < 5000; i++)
		gh_vector_push(&numbers, i);
	ck_assert_ptr_eq(numbers.items, items);
	gh_vector_free(&numbers);
}
END_TEST

/* An item of the vector may be added to it, though the memory that it is in goes away. */
START_TEST(own_items_can_be_added)
{
	struct pairs pairs = {0};
	gh_vector_push(&pairs, (struct pair){.key = 42, .value = 1});
	for (size_t i = 0; i < 1000; i++)
		gh_vector_push(&pairs, pairs.items[i]);
	for (size_t i = 0; i < pairs.count; i++)
		ck_assert_uint_eq(pairs.items[i].key, 42);
	gh_vector_free(&pairs);
}
END_TEST

START_TEST(too_many_items_fail_for_good)
{
	struct GH_VECTOR(uint64_t) numbers = {0};
	ck_assert(gh_vector_push(&numbers, 1));
	size_t capacity = numbers.capacity;
	ck_assert(!gh_vector_reserve(&numbers, SIZE_MAX));
	ck_assert(numbers.failed);
	ck_assert_ptr_null(gh_vector_extend(&numbers, capacity));
	ck_assert(!gh_vector_reserve(&numbers, SIZE_MAX / 2));
	/* What was there is there still. */
	ck_assert_uint_eq(numbers.count, 1);
	ck_assert_uint_eq(numbers.capacity, capacity);
	ck_assert_uint_eq(numbers.items[0], 1);
	gh_vector_free(&numbers);

	ck_assert(!gh_vector_reserve(&numbers, SIZE_MAX / 8 - 1));
	ck_assert_ptr_null(numbers.items);
	gh_vector_free(&numbers);
}
END_TEST

START_TEST(a_freed_vector_is_an_empty_one)
{
	struct GH_VECTOR(char) text = {0};
	gh_vector_free(&text);
	gh_vector_push(&text, 'a');
	text.failed = true;
	gh_vector_free(&text);
	ck_assert_ptr_null(text.items);
	ck_assert_uint_eq(text.count, 0);
	ck_assert_uint_eq(text.capacity, 0);
	ck_assert(gh_vector_push(&text, 'b'));
	ck_assert_int_eq(text.items[0], 'b');
	gh_vector_free(&text);
}
END_TEST

void vector_tests(TCase *tests)
{
	tcase_add_test(tests, items_stay_in_order);
	tcase_add_test(tests, growing_doubles);
	tcase_add_test(tests, several_items_are_added_at_once);
	tcase_add_test(tests, room_that_is_reserved_is_not_moved);
	tcase_add_test(tests, own_items_can_be_added);
	tcase_add_test(tests, too_many_items_fail_for_good);
	tcase_add_test(tests, a_freed_vector_is_an_empty_one);
}
