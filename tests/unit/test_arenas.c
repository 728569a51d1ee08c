/* Which words of a process's objects are pointers, as the heap's arenas have it to Go 1.21. */
#include <string.h>

#include "tests/unit/spanmaker.h"
#include "tests/unit/suites.h"

/* Where the pointers to the arenas are, and they themselves. */
#define ARENAS   UINT64_C(0x600000)
#define ARENA(n) (UINT64_C(0x10000000) + (n)*UINT64_C(0x1000000))

/* mspan of element N. */
#define DESCRIPTOR(n) (UINT64_C(0x800000) + 0x100 * (uint64_t)(n))

/* Arenas, up to Go 1.21: of 64 MiB, or 4 MiB where words are of 4 bytes. */

static uint64_t arena_size(const struct spanmaker *maker)
{
	return maker->word == 8 ? 64 << 20 : 4 << 20;
}

/* Number of words in an arena. */
static uint64_t arena_words(const struct spanmaker *maker)
{
	return arena_size(maker) / maker->word;
}

/* Where the field spans of an arena is: after bitmaps of two bits a word; from Go 1.20 on one bit,
 * and one for each word of those. */
static uint64_t spans_field(const struct spanmaker *maker)
{
	uint64_t bitmap = arena_words(maker) / (maker->process.minor < 20 ? 4 : 8);
	return maker->process.minor < 20 ? bitmap : bitmap + bitmap / maker->word / 8;
}

static void add_span(struct spanmaker *maker, uint64_t start)
{
	size_t number = maker->spans.list.count;
	uint64_t page = start % arena_size(maker) / GH_HEAP_PAGE;
	struct gh_span span = {.start = start, .descriptor = DESCRIPTOR(number)};
	gh_vector_push(&maker->spans.list, span);
	spanmaker_put_word(
	    maker, ARENA(start / arena_size(maker) % 4) + spans_field(maker) + page * maker->word,
	    DESCRIPTOR(number));
}

/* Makes COUNT arenas, the first that of the span's start; addresses are numbered from BASE. The
 * pointer to them is AFTER words after allspans. */
static void make_arenas(struct spanmaker *maker, unsigned count, uint64_t base, unsigned after)
{
	uint64_t first = maker->span.start / arena_size(maker);
	uint64_t number = (maker->span.start + base) / arena_size(maker);
	spanmaker_put_word(maker, SPANMAKER_ALLSPANS + after * maker->word,
			   ARENAS - number * maker->word);
	for (unsigned i = 0; i < count; i++) {
		spanmaker_put_word(maker, ARENAS + i * maker->word, ARENA((first + i) % 4));
		add_span(maker, (first + i) * arena_size(maker) + 5 * GH_HEAP_PAGE);
	}
}

static bool open_pointers(struct spanmaker *maker)
{
	struct gh_error err;
	return gh_span_pointers_open(&maker->pointers, &maker->spans, &maker->process, &err);
}

/* Where the bit of the first nibble, or that of the bitmap, of the word at ADDRESS is. */
static uint64_t arena_of(const struct spanmaker *maker, uint64_t address)
{
	return ARENA(address / arena_size(maker) % 4);
}

/* To Go 1.19: the word at ADDRESS is a pointer, and there are MORE in the object. */
static void set_nibble(struct spanmaker *maker, uint64_t address, bool pointer, bool more)
{
	uint64_t number = address % arena_size(maker) / maker->word;
	uint8_t *byte = spanmaker_byte(maker, arena_of(maker, address) + number / 4);
	*byte |= (uint8_t)((pointer ? 1U : 0) << number % 4 | (more ? 16U : 0) << number % 4);
}

/* Each word's two bits: p is a pointer, s a scalar, and capitals have no more after them. */
static void set_nibbles(struct spanmaker *maker, uint64_t address, const char *words)
{
	for (; *words != '\0'; words++, address += maker->word)
		set_nibble(maker, address, (*words | 32) == 'p', (*words & 32) != 0);
}

START_TEST(two_bits_a_word)
{
	static const struct {
		const char *bits;
		const char *expected[2]; /* in Go 1.15, and since */
	} cases[] = {
	    {"pspSppp", {"101", "101"}},          /* what is after the last is of others */
	    {"pSpSppp", {"101", "1"}},            /* that of the second word said something else */
	    {"PPPPPP", {"0", "0"}},               /* no pointer at all */
	    {"SppppSp", {"0", "0"}},              /* the same */
	    {"pppppppp", {"1111111", "1111111"}}, /* to the end, not beyond */
	};
	static const int minors[] = {15, 16, 19};
	for (size_t m = 0; m < 3; m++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct spanmaker maker;
			spanmaker_start(&maker, _i, minors[m]);
			maker.span.elemsize = 7 * maker.word;
			make_arenas(&maker, 1, 0, 3);
			/* Elements begin anywhere in a byte. */
			uint64_t index = i + m;
			set_nibbles(&maker, maker.span.start + index * 7 * maker.word,
				    cases[i].bits);
			ck_assert(open_pointers(&maker));
			spanmaker_check(&maker, index, 0, cases[i].expected[m > 0]);
			spanmaker_free(&maker);
		}
}
END_TEST

/* Go 1.20 and 1.21: bit I of the bits of the word at ADDRESS is BITS[I]. */
static void set_bits(struct spanmaker *maker, uint64_t address, const char *bits)
{
	unsigned width = maker->word * 8;
	for (; *bits != '\0'; bits++, address += maker->word) {
		uint64_t number = address % arena_size(maker) / maker->word, value;
		uint64_t item = arena_of(maker, address) + number / width * maker->word;
		spanmaker_byte(maker, item);
		gh_process_uint(&maker->process.memory, item, maker->word, &value);
		spanmaker_put_word(maker, item, value | (uint64_t)(*bits == '1') << number % width);
	}
}

/* After the bits of the word at ADDRESS its object has no more. */
static void set_last(struct spanmaker *maker, uint64_t address)
{
	uint64_t item = address % arena_size(maker) / maker->word / (maker->word * 8);
	*spanmaker_byte(maker, arena_of(maker, address) + arena_words(maker) / 8 + item / 8) |=
	    (uint8_t)(1U << item % 8);
}

START_TEST(one_bit_a_word)
{
	for (int minor = 20; minor <= 21; minor++)
		for (int last = 0; last < 3; last++) {
			struct spanmaker maker;
			spanmaker_start(&maker, _i, minor);
			unsigned width = maker.word * 8;
			maker.span.elemsize = (width + 9) * maker.word;
			make_arenas(&maker, 1, 0, 3);
			/* The second begins at bit 9 of a word, and ends with another's bit 17. */
			uint64_t address = maker.span.start + maker.span.elemsize;
			char expected[2 * 64] = "";
			memset(expected, '0', width + 9);
			memcpy(expected, "1101", 4);
			set_bits(&maker, address, "1101");
			set_bits(&maker, address + (width + 8) * maker.word, "11");
			spanmaker_byte(&maker,
				       ARENA(0) + arena_words(&maker) / 8 +
					   (address % arena_size(&maker)) / maker.word / width / 8);
			if (last == 0)
				expected[width + 8] = '1';
			else if (last == 1)
				set_last(&maker, address);
			else
				set_last(&maker, address + width * maker.word);
			if (last == 2)
				expected[width + 8] = '1';
			ck_assert(open_pointers(&maker));
			spanmaker_check(&maker, 1, 0, expected);
			spanmaker_free(&maker);
		}
}
END_TEST

/* An object of which the last four words are in the next arena, which may be missing. */
START_TEST(objects_reach_into_the_next_arena)
{
	static const int minors[] = {15, 19, 20, 21};
	for (size_t m = 0; m < 4; m++)
		for (unsigned arenas = 0; arenas <= 2; arenas++) {
			struct spanmaker maker;
			spanmaker_start(&maker, _i, minors[m]);
			maker.span.elemsize = 6 * maker.word;
			maker.span.start += arena_size(&maker);
			maker.span.start -= maker.span.start % arena_size(&maker);
			uint64_t boundary = maker.span.start;
			maker.span.start -= 2 * maker.word;
			make_arenas(&maker, 2, 0, 3);
			if (minors[m] < 20) {
				set_nibbles(&maker, boundary - 2 * maker.word, "sp");
				set_nibbles(&maker, boundary, "spsP");
			} else {
				set_bits(&maker, boundary - 2 * maker.word, "01");
				set_bits(&maker, boundary, "0100");
				set_last(&maker, boundary);
				spanmaker_byte(
				    &maker, arena_of(&maker, boundary - 1) +
						arena_words(&maker) / 4 - arena_words(&maker) / 8 +
						arena_words(&maker) / 8 / maker.word / 8 - 1);
			}
			ck_assert(open_pointers(&maker));
			if (arenas < 2)
				spanmaker_put_word(&maker, ARENAS + arenas * maker.word, 0);
			spanmaker_check(&maker, 0, 0, arenas < 2 ? NULL : "010100");
			spanmaker_free(&maker);
		}
}
END_TEST

/* The bitmap of the span's arena is not in memory. */
START_TEST(a_missing_bitmap_is_unknown)
{
	for (int minor = 19; minor <= 20; minor++) {
		struct spanmaker maker;
		spanmaker_start(&maker, _i, minor);
		maker.span.elemsize = 6 * maker.word;
		make_arenas(&maker, 1, 0, 3);
		ck_assert(open_pointers(&maker));
		spanmaker_check(&maker, 0, 0, NULL);
		/* Nor, with its bits, what says where an object's last ones are. */
		if (minor == 20) {
			set_bits(&maker, maker.span.start, "1");
			spanmaker_check(&maker, 0, 0, NULL);
			set_last(&maker, maker.span.start);
			spanmaker_check(&maker, 0, 0, "1");
		}
		spanmaker_free(&maker);
	}
}
END_TEST

START_TEST(arenas_are_found_beside_the_spans)
{
	static const unsigned after[] = {2, 3, 4, 319, 320};
	for (int minor = 19; minor <= 20; minor++)
		for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
			for (int high = 0; high < 2; high++) {
				struct spanmaker maker;
				spanmaker_start(&maker, _i, minor);
				uint64_t base = high ? UINT64_C(1) << 47 : 0;
				if (maker.word == 4 && high)
					base = 0;
				for (unsigned k = 0; k <= 320; k++)
					spanmaker_put_word(&maker,
							   SPANMAKER_ALLSPANS + k * maker.word, 8);
				make_arenas(&maker, 1, base, after[i]);
				ck_assert(open_pointers(&maker) ==
					  (after[i] >= 3 && after[i] < 320));
				spanmaker_free(&maker);
			}
}
END_TEST

/* More than half of the spans are to be known. */
START_TEST(arenas_know_most_spans)
{
	for (unsigned wrong = 0; wrong <= 8; wrong++) {
		struct spanmaker maker;
		spanmaker_start(&maker, _i, 19);
		make_arenas(&maker, 1, 0, 3);
		uint64_t arena = maker.span.start / arena_size(&maker) * arena_size(&maker);
		for (unsigned i = 1; i < 8; i++)
			add_span(&maker, arena + (5 + i) * GH_HEAP_PAGE);
		for (unsigned i = 0; i < wrong; i++)
			maker.spans.list.items[i].descriptor++;
		ck_assert(open_pointers(&maker) == (wrong < 4));
		spanmaker_free(&maker);
	}
}
END_TEST

START_TEST(missing_arenas_are_told)
{
	struct spanmaker maker;
	struct gh_error err;
	spanmaker_start(&maker, _i, 21);
	ck_assert(!gh_span_pointers_open(&maker.pointers, &maker.spans, &maker.process, &err));
	ck_assert_str_eq(err.text,
			 "made: expected the arenas of the heap beside the list of its spans, "
			 "found none: the process's memory is damaged or not all there");
	spanmaker_free(&maker);
	/* Go 1.22 has no bitmaps in them. */
	spanmaker_start(&maker, _i, 22);
	ck_assert(open_pointers(&maker));
	spanmaker_free(&maker);
}
END_TEST

void arenas_tests(TCase *tests)
{
	enum { VARIANTS = 4 }; /* word sizes and byte orders */
	tcase_add_loop_test(tests, missing_arenas_are_told, 0, VARIANTS);
	tcase_add_loop_test(tests, two_bits_a_word, 0, VARIANTS);
	tcase_add_loop_test(tests, one_bit_a_word, 0, VARIANTS);
	tcase_add_loop_test(tests, objects_reach_into_the_next_arena, 0, VARIANTS);
	tcase_add_loop_test(tests, a_missing_bitmap_is_unknown, 0, VARIANTS);
	tcase_add_loop_test(tests, arenas_are_found_beside_the_spans, 0, VARIANTS);
	tcase_add_loop_test(tests, arenas_know_most_spans, 0, VARIANTS);
}
