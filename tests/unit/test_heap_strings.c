/* The texts of a heap, and the ways by which an object is held. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/heap/heap.h"
#include "tests/unit/heapfixture.h"
#include "tests/unit/suites.h"

static struct maker maker;
static struct gh_dump dump;
static struct gh_heap heap;
static struct gh_error err;

#define OBJECT(number) (UINT64_C(0x10000) + 0x100 * (number))

/* Variant NUMBER has words of 4 bytes if bit 0 is set, and is big-endian if bit 1 is. */
static void start(int number)
{
	maker_start(&maker, MAKER_1_7, number & 1 ? 4 : 8, number & 2);
	maker_params(&maker);
}

/* An object, or segment, of COUNT words, the even of which are pointers. */
static void put_pairs(unsigned tag, uint64_t address, unsigned count, const uint64_t *words)
{
	maker.nlengths = 0;
	maker_numbers(&maker, 2, (const uint64_t[]){tag, address});
	maker_words(&maker, count, words);
	for (unsigned i = 0; i < count; i += 2)
		maker_numbers(&maker, 2, (const uint64_t[]){1, i * maker.word});
	maker_number(&maker, 0);
}

/* An object of SIZE bytes without pointers. */
static void put_text(uint64_t address, const char *text, size_t size)
{
	maker.nlengths = 0;
	maker_numbers(&maker, 2, (const uint64_t[]){1, address});
	maker_bytes(&maker, text, size);
	maker_number(&maker, 0);
}

static void check_text(const struct gh_heap_string *found, const char *text, uint64_t address,
		       uint32_t copies, uint64_t bytes)
{
	ck_assert_uint_eq(found->length, strlen(text));
	ck_assert_mem_eq(found->data, text, found->length);
	ck_assert_uint_eq(gh_heap_object(&heap, found->object).address, address);
	ck_assert_uint_eq(found->copies, copies);
	ck_assert_uint_eq(found->bytes, bytes);
}

START_TEST(an_object_is_the_longest_text_that_is_pointed_to)
{
	const uint64_t words[] = {
	    OBJECT(1),     5,                          /* less than the next one has */
	    OBJECT(1),     12,                         /* "hello, world" */
	    OBJECT(1),     7,          OBJECT(3),  12, /* the same text */
	    OBJECT(4),     3,                          /* too short */
	    OBJECT(5),     9,                          /* longer than the object */
	    OBJECT(6) + 4, 4,                          /* its end */
	    OBJECT(7),     5,                          /* a control character */
	    OBJECT(8),     4,                          /* has a pointer */
	    OBJECT(9),     UINT32_MAX, OBJECT(11), 4,
	};
	const uint64_t data[] = {OBJECT(10), 8};
	const uint64_t bss[] = {OBJECT(2), 16};
	const uint64_t pointer[] = {OBJECT(1)};
	struct gh_heap_strings texts;
	start(_i);
	put_pairs(1, OBJECT(0), sizeof(words) / sizeof(words[0]), words);
	put_text(OBJECT(1), "hello, world...!", 16);
	put_text(OBJECT(2), "of the last one!", 16);
	put_text(OBJECT(3), "hello, world****................", 32);
	put_text(OBJECT(4), "shrt", 4);
	put_text(OBJECT(5), "too long", 8);
	put_text(OBJECT(6), "not this", 8);
	put_text(OBJECT(7), "ab\1cd...", 8);
	put_pairs(1, OBJECT(8), 1, pointer);
	put_text(OBJECT(9), "endless!", 8);
	put_text(OBJECT(10), "variable", 8);
	put_text(OBJECT(11), "four", 4);
	put_pairs(12, 0x8000, 2, data);
	put_pairs(13, 0x9000, 2, bss);
	maker_root(&maker, OBJECT(0));
	maker_end(&maker);
	heap_open(&maker, &dump, &heap);
	ck_assert_msg(gh_heap_strings_find(&texts, &heap, &err), "%s", err.text);
	ck_assert_uint_eq(texts.count, 5);
	check_text(&texts.items[0], "hello, world", OBJECT(1), 2, 16 + 32);
	check_text(&texts.items[1], "of the last one!", OBJECT(2), 1, 16);
	check_text(&texts.items[2], "this", OBJECT(6), 1, 8);
	check_text(&texts.items[3], "variable", OBJECT(10), 1, 8);
	check_text(&texts.items[4], "four", OBJECT(11), 1, 4);
	gh_vector_free(&texts);
	heap_close(&maker, &dump, &heap);
}
END_TEST

START_TEST(a_heap_without_lengths_has_no_texts)
{
	const uint64_t words[] = {OBJECT(1)};
	struct gh_heap_strings texts;
	start(_i);
	put_pairs(1, OBJECT(0), 1, words);
	put_text(OBJECT(1), "no text.", 8);
	maker_root(&maker, OBJECT(0));
	maker_end(&maker);
	heap_open(&maker, &dump, &heap);
	ck_assert(gh_heap_strings_find(&texts, &heap, &err));
	ck_assert_uint_eq(texts.count, 0);
	gh_vector_free(&texts);
	heap_close(&maker, &dump, &heap);
}
END_TEST

/* Many objects, of several blocks: all texts, in the order of their objects. */
START_TEST(texts_are_in_the_order_of_their_objects)
{
	enum { COUNT = 20000 };
	static uint64_t words[2 * COUNT];
	struct gh_heap_strings texts;
	char text[9];
	start(0);
	for (unsigned i = 0; i < COUNT; i++) {
		words[2 * i] = OBJECT(1 + COUNT) + 16 * (COUNT - 1 - i);
		words[2 * i + 1] = 8;
	}
	put_pairs(12, 0x8000, 2 * COUNT, words);
	for (unsigned i = 0; i < COUNT; i++) {
		snprintf(text, sizeof(text), "%08u", i * 7919 % COUNT);
		put_text(OBJECT(1 + COUNT) + 16 * i, text, 8);
	}
	maker_end(&maker);
	heap_open(&maker, &dump, &heap);
	ck_assert(gh_heap_strings_find(&texts, &heap, &err));
	ck_assert_uint_eq(texts.count, COUNT);
	for (unsigned i = 0; i < COUNT; i++) {
		snprintf(text, sizeof(text), "%08u", i * 7919 % COUNT);
		check_text(&texts.items[i], text, OBJECT(1 + COUNT) + 16 * i, 1, 8);
	}
	gh_vector_free(&texts);
	heap_close(&maker, &dump, &heap);
}
END_TEST

static void put_pointer(unsigned object, uint64_t first, uint64_t second)
{
	const uint64_t words[] = {first, 0, second, 0};
	put_pairs(1, OBJECT(object), 4, words);
}

static void check_ways(unsigned object, size_t count, const unsigned *roots)
{
	const struct gh_root *ways[GH_WAYS];
	uint32_t number = gh_heap_find(&heap, OBJECT(object));
	ck_assert_uint_eq(gh_ways_find(&heap, number, ways), count);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(gh_heap_object(&heap, ways[i]->object).address, OBJECT(roots[i]));
}

/* Of the one object that all others hold: 1 and 2 are roots, 3 is held by the root 5, which is
 * farther, 4 by 1 alone, 6 by the root 7 and by 6 itself, 8 by nothing. */
START_TEST(each_that_points_to_an_object_is_a_way_of_its_own)
{
	start(_i);
	put_pointer(0, 0, 0);
	put_pointer(1, OBJECT(0), OBJECT(4));
	put_pointer(2, OBJECT(0), 0);
	put_pointer(3, OBJECT(0), 0);
	put_pointer(4, OBJECT(9), 0);
	put_pointer(5, OBJECT(3), 0);
	put_pointer(6, OBJECT(9), OBJECT(6));
	put_pointer(7, OBJECT(6), 0);
	put_pointer(8, OBJECT(9), 0);
	put_pointer(9, 0, 0);
	put_pointer(10, OBJECT(11), OBJECT(12));
	put_pointer(11, OBJECT(13), 0);
	put_pointer(12, OBJECT(13), 0);
	put_pointer(13, OBJECT(14), 0);
	put_pointer(14, OBJECT(10), 0);
	put_pointer(15, OBJECT(16), 0);
	put_pointer(16, 0, 0);
	for (unsigned i = 17; i < 21; i++)
		put_pointer(i, OBJECT(16), 0);
	maker_root(&maker, OBJECT(1));
	maker_root(&maker, OBJECT(2));
	maker_root(&maker, OBJECT(5));
	maker_root(&maker, OBJECT(7));
	maker_root(&maker, OBJECT(10));
	for (unsigned i = 17; i < 21; i++)
		maker_root(&maker, OBJECT(i));
	maker_end(&maker);
	heap_open(&maker, &dump, &heap);
	check_ways(0, 3, (const unsigned[]){1, 2, 5});
	check_ways(9, 2, (const unsigned[]){1, 7});
	/* By two ways from one root: that is seen once. */
	check_ways(13, 1, (const unsigned[]){10});
	/* Nothing but itself, or its root. */
	check_ways(10, 0, NULL);
	check_ways(1, 0, NULL);
	check_ways(8, 0, NULL);
	/* No more than three. */
	check_ways(16, 3, (const unsigned[]){17, 18, 19});
	heap_close(&maker, &dump, &heap);
}
END_TEST

void heap_strings_tests(TCase *tests)
{
	tcase_add_loop_test(tests, an_object_is_the_longest_text_that_is_pointed_to, 0, 4);
	tcase_add_loop_test(tests, a_heap_without_lengths_has_no_texts, 0, 4);
	tcase_add_test(tests, texts_are_in_the_order_of_their_objects);
	tcase_add_loop_test(tests, each_that_points_to_an_object_is_a_way_of_its_own, 0, 4);
}
