/* Which words of a process's objects are pointers, as spans and types have it from Go 1.22 on. */
#include <string.h>

#include "tests/unit/spanmaker.h"
#include "tests/unit/suites.h"

#define TYPE UINT64_C(0x700000)
#define MASK UINT64_C(0x700100)

/* Bits at the end of SPAN for each word, in words of the machine; after them, with inline MARKS,
 * 128 bytes. */
static void put_heap_bits(struct spanmaker *maker, bool marks)
{
	unsigned word = maker->word, width = 8 * word;
	uint64_t size = maker->span.size / word / 8;
	uint64_t bits = maker->span.start + maker->span.size - (marks ? 128 : 0) - size;
	for (uint64_t item = 0; item < size / word; item++) {
		uint64_t value = 0;
		/* Of each element the last word, and of the odd ones the second, is a pointer. */
		for (unsigned i = 0; i < width; i++) {
			uint64_t number = item * width + i;
			bool pointer = number % 6 == 5 || number % 12 == 7;
			value |= (uint64_t)pointer << i;
		}
		spanmaker_put_word(maker, bits + item * word, value);
	}
}

START_TEST(small_objects_have_bits_in_their_span)
{
	for (int marks = 0; marks < 2; marks++) {
		struct spanmaker maker;
		spanmaker_start(&maker, _i, marks ? 26 : 22);
		maker.span.elemsize = 6 * maker.word;
		maker.spans.inline_marks = marks;
		put_heap_bits(&maker, marks);
		for (uint64_t i = 0; i < 24; i++)
			spanmaker_check(&maker, i, 0, i % 2 == 0 ? "000001" : "010001");
		/* What the span has no bits for, it has no elements of. */
		spanmaker_check(&maker, maker.span.size / maker.span.elemsize + 1, 0, NULL);
		/* Another span, whose bits are not there; the first once more. */
		uint64_t start = maker.span.start;
		maker.span.start += maker.span.size;
		spanmaker_check(&maker, 0, 0, NULL);
		spanmaker_check(&maker, 0, 0, NULL);
		maker.span.start = start;
		spanmaker_check(&maker, 1, 0, "010001");
		spanmaker_free(&maker);
	}
}
END_TEST

/* Without pointers, or larger than all memory. */
START_TEST(some_objects_have_no_bits)
{
	struct spanmaker maker;
	spanmaker_start(&maker, _i, 22);
	maker.span.elemsize = 6 * maker.word;
	put_heap_bits(&maker, false);
	maker.memory.size = maker.span.size / maker.word / 8;
	spanmaker_check(&maker, 1, 0, "010001");
	maker.span.class |= GH_SPAN_NOSCAN;
	ck_assert_ptr_null(gh_span_pointers_of(&maker.pointers, &maker.span, 0, 0));
	ck_assert_uint_eq(maker.pointers.unknown, 0);
	maker.span.class &= (uint8_t)~GH_SPAN_NOSCAN;
	maker.memory.size = 5 * maker.word;
	spanmaker_check(&maker, 1, 0, NULL);
	spanmaker_free(&maker);
}
END_TEST

/* A type of SIZE bytes, with pointers in its first WORDS words as the mask has it. */
static void put_type(struct spanmaker *maker, uint64_t size, unsigned words, const char *mask)
{
	spanmaker_put_word(maker, TYPE, size);
	spanmaker_put_word(maker, TYPE + maker->word, words * maker->word);
	spanmaker_put(maker, TYPE + 2 * maker->word + 7, 25, 1);
	spanmaker_put_word(maker, TYPE + 3 * maker->word + 8, MASK - 1);
	for (unsigned i = 0; i < words; i++)
		*spanmaker_byte(maker, MASK - 1 + i / 8) |= (uint8_t)((mask[i] == '1') << i % 8);
}

/* Values one after the other, after a header of 8 bytes. */
START_TEST(larger_objects_have_types)
{
	struct spanmaker maker;
	spanmaker_start(&maker, _i, 22);
	uint64_t most = 8 * maker.word * maker.word, words = most / maker.word + 1;
	char expected[256];
	put_type(&maker, 4 * maker.word, 3, "101");
	for (uint64_t i = 0; i < words; i++)
		expected[i] = i >= 8 / maker.word && (i - 8 / maker.word) % 2 == 0 ? '1' : '0';
	expected[words] = '\0';
	maker.span.elemsize = most + maker.word;
	spanmaker_check(&maker, 0, TYPE, expected);
	spanmaker_check(&maker, 1, TYPE, expected);
	/* One that is being allocated. */
	spanmaker_check(&maker, 1, 0, "");
	/* At its end there is room for a part of a value. */
	maker.span.elemsize += maker.word;
	expected[words] = expected[words - 2];
	expected[words + 1] = '\0';
	spanmaker_check(&maker, 0, TYPE, expected);
	/* A smaller one has bits: here, none. */
	maker.span.elemsize = most;
	spanmaker_check(&maker, 0, TYPE, NULL);
	/* A large one's type is the span's. */
	maker.span.elemsize = maker.span.size;
	maker.span.class = 0;
	for (uint64_t i = 0; i < maker.span.size / maker.word; i++)
		if (i < sizeof(expected))
			expected[i] = '0';
	spanmaker_check(&maker, 0, TYPE, "");
	maker.span.large_type = TYPE;
	const uint64_t *found = gh_span_pointers_of(&maker.pointers, &maker.span, 0, 0);
	ck_assert_ptr_nonnull(found);
	for (uint64_t i = 0; i < maker.span.size / maker.word / 64; i++)
		ck_assert_uint_eq(found[i], UINT64_C(0x5555555555555555));
	spanmaker_free(&maker);
}
END_TEST

/* Larger than the object, of no whole words, or without pointers. */
START_TEST(types_that_do_not_fit)
{
	static const struct {
		unsigned size, words;
		bool known;
	} cases[] = {{127, 126, true}, {128, 128, false}, {127, 127, false}, {3, 0, true}};
	for (size_t i = 0; i < 4; i++) {
		struct spanmaker maker;
		char mask[129] = "";
		spanmaker_start(&maker, _i, 22);
		maker.span.elemsize = 126 * maker.word + 8;
		memset(mask, '0', 128);
		mask[125] = '1';
		put_type(&maker, cases[i].size * maker.word, cases[i].words, mask);
		const uint64_t *words = gh_span_pointers_of(&maker.pointers, &maker.span, 0, TYPE);
		ck_assert_msg((words != NULL) == cases[i].known, "%zu", i);
		if (words != NULL && cases[i].words > 0)
			ck_assert_uint_eq(words[1], UINT64_C(1) << (125 + 8 / maker.word) % 64);
		spanmaker_free(&maker);
		spanmaker_start(&maker, _i, 22);
		maker.span.elemsize = 126 * maker.word + 8;
		put_type(&maker, 126 * maker.word + 1, 126, mask);
		spanmaker_check(&maker, 0, TYPE, NULL);
		spanmaker_free(&maker);
	}
}
END_TEST

/* A type of more words than are looked at at once. */
START_TEST(types_of_many_words)
{
	enum { WORDS = 5000, FIRST = 4095, SECOND = 4096, LAST = WORDS - 1 };
	struct spanmaker maker;
	static char mask[WORDS + 1];
	spanmaker_start(&maker, _i, 22);
	memset(mask, '0', WORDS);
	mask[FIRST] = mask[SECOND] = mask[LAST] = '1';
	put_type(&maker, WORDS * maker.word, WORDS, mask);
	maker.span.class = 0;
	maker.span.large_type = TYPE;
	maker.span.size = maker.span.elemsize = WORDS * maker.word;
	spanmaker_check(&maker, 0, 0, mask);
	spanmaker_free(&maker);
}
END_TEST

void span_pointers_tests(TCase *tests)
{
	enum { VARIANTS = 4 }; /* word sizes and byte orders */
	tcase_add_loop_test(tests, small_objects_have_bits_in_their_span, 0, VARIANTS);
	tcase_add_loop_test(tests, some_objects_have_no_bits, 0, VARIANTS);
	tcase_add_loop_test(tests, larger_objects_have_types, 0, VARIANTS);
	tcase_add_loop_test(tests, types_that_do_not_fit, 0, VARIANTS);
	tcase_add_loop_test(tests, types_of_many_words, 0, VARIANTS);
}
