/* Maps, whose entries are in the order of package internal/fmtsort, and channels. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/process/goroutine.h"
#include "tests/unit/suites.h"
#include "tests/unit/valuemaker.h"

static struct valuemaker maker;

enum { PLACES = 8 };

/* Puts a map's header, of COUNT entries in a bucket that is put next, and returns its address. See
 * type hmap of src/runtime/map.go of Go 1.20. */
static uint64_t put_header(uint64_t count)
{
	uint64_t at = valuemaker_begin(&maker);
	uint64_t size = (8 + 5 * (uint64_t)maker.what.word + 7) / 8 * 8;
	valuemaker_words(&maker, 1, &count);
	valuemaker_put(&maker, 0, 1); /* flags */
	valuemaker_put(&maker, 0, 1); /* B */
	valuemaker_put(&maker, 0, 2); /* noverflow */
	valuemaker_put(&maker, 0, 4); /* hash0 */
	valuemaker_words(&maker, 4, (const uint64_t[]){at + size, 0, 0, 0});
	ck_assert_uint_eq(valuemaker_begin(&maker), at + size);
	return at;
}

/* Begins a map of COUNT entries. Keys follow, of 8 places, and values. */
static uint64_t begin_map(uint64_t count)
{
	uint64_t header = put_header(count);
	for (unsigned i = 0; i < PLACES; i++)
		valuemaker_put(&maker, i < count ? 100 : 0, 1);
	return header;
}

/* Ends it: each value, an int, is the place. */
static void end_map(void)
{
	for (unsigned i = 0; i < PLACES; i++)
		valuemaker_put(&maker, i, maker.what.word);
	valuemaker_put(&maker, 0, maker.what.word);
}

/* Checks a map from TYPE, of COUNT keys that are integers of SIZE bytes: their places in order. */
static void check_order(uint64_t type, unsigned size, unsigned count, const uint64_t *keys,
			const unsigned *expected)
{
	uint64_t header = begin_map(count);
	for (unsigned i = 0; i < PLACES; i++)
		valuemaker_put(&maker, i < count ? keys[i] : 0, size);
	end_map();
	gh_value_print_pointer(&maker.values, valuemaker_number(&maker, type), header);
	gh_buffer_u8(&maker.values.out, 0);
	const char *text = (const char *)maker.values.out.data;
	for (unsigned i = 0; i < count; i++) {
		char value[16];
		snprintf(value, sizeof(value), ": %u%s", expected[i], i + 1 < count ? ", " : "]");
		const char *next = strstr(text, value);
		ck_assert_msg(next != NULL, "%s in %s", value, text);
		/* One key is before it. */
		ck_assert_ptr_eq(strstr(text, ": "), next);
		text = next + 2;
	}
	maker.values.out.size = 0;
	gh_process_memory_free(&maker.process.memory);
}

static uint64_t map_of(enum gh_kind kind, const char *key, const char *text)
{
	return valuemaker_map(&maker, valuemaker_basic(&maker, kind, key, NULL),
			      valuemaker_made(&maker, TYPE_INT), text);
}

static uint64_t bits_of(double number)
{
	uint64_t bits;
	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

static uint64_t narrow_bits_of(float number)
{
	uint32_t bits;
	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

START_TEST(keys_that_are_numbers_are_in_their_order)
{
	valuemaker_start(&maker, _i, NULL);
	uint64_t boolean = map_of(GH_KIND_BOOL, "bool", "map[bool]int");
	uint64_t int8 = map_of(GH_KIND_INT8, "int8", "map[int8]int");
	uint64_t int64 = map_of(GH_KIND_INT64, "int64", "map[int64]int");
	uint64_t uint8 = map_of(GH_KIND_UINT8, "uint8", "map[uint8]int");
	uint64_t uint64 = map_of(GH_KIND_UINT64, "uint64", "map[uint64]int");
	uint64_t float64 = map_of(GH_KIND_FLOAT64, "float64", "map[float64]int");
	uint64_t float32 = map_of(GH_KIND_FLOAT32, "float32", "map[float32]int");
	valuemaker_open(&maker);
	check_order(boolean, 1, 2, (const uint64_t[]){1, 0}, (const unsigned[]){1, 0});
	check_order(int8, 1, 4, (const uint64_t[]){1, 0, 0xff, 0x80},
		    (const unsigned[]){3, 2, 1, 0});
	check_order(uint8, 1, 4, (const uint64_t[]){0xff, 0x80, 1, 0},
		    (const unsigned[]){3, 2, 1, 0});
	check_order(int64, 8, 4, (const uint64_t[]){INT64_MAX, UINT64_MAX, UINT64_C(1) << 63, 0},
		    (const unsigned[]){2, 1, 3, 0});
	check_order(uint64, 8, 3, (const uint64_t[]){UINT64_MAX, 5, UINT64_C(1) << 63},
		    (const unsigned[]){1, 2, 0});
	check_order(float64, 8, 8,
		    (const uint64_t[]){bits_of(INFINITY), bits_of(1), bits_of(0.5), bits_of(0),
				       bits_of(-0.5), bits_of(-1), bits_of(-INFINITY),
				       bits_of((double)NAN)},
		    (const unsigned[]){7, 6, 5, 4, 3, 2, 1, 0});
	check_order(float32, 4, 5,
		    (const uint64_t[]){narrow_bits_of(2), narrow_bits_of(-2), narrow_bits_of(NAN),
				       narrow_bits_of(0), narrow_bits_of(-3)},
		    (const unsigned[]){2, 4, 1, 3, 0});
	valuemaker_free(&maker);
}
END_TEST

/* A map from keys of WORDS words, of which COUNT are there. */
static void check_words(uint64_t type, unsigned words, unsigned count, const uint64_t *keys,
			const char *expected)
{
	uint64_t header = begin_map(count);
	for (unsigned i = 0; i < PLACES * words; i++)
		valuemaker_put(&maker, i < count * words ? keys[i] : 0, maker.what.word);
	end_map();
	gh_value_print_pointer(&maker.values, valuemaker_number(&maker, type), header);
	valuemaker_check_out(&maker, expected);
}

/* The words of a string. */
static void text_words(uint64_t words[2], const char *text)
{
	words[0] = valuemaker_bytes(&maker, text, strlen(text));
	words[1] = strlen(text);
}

START_TEST(keys_that_are_strings_are_in_their_order)
{
	static const char *const texts[] = {"b",         "abcdefghj", "",  "abcdefgh",
					    "abcdefghi", "a",         "aa"};
	uint64_t words[16];
	valuemaker_start(&maker, _i, NULL);
	uint64_t type = valuemaker_map(&maker, valuemaker_made(&maker, TYPE_STRING),
				       valuemaker_made(&maker, TYPE_INT), "map[string]int");
	valuemaker_open(&maker);
	for (unsigned i = 0; i < 7; i++)
		text_words(&words[2 * i], texts[i]);
	check_words(type, 2, 7, words,
		    "map[string]int [\"\": 2, \"a\": 5, \"aa\": 6, \"abcdefgh\": 3, "
		    "\"abcdefghi\": 4, \"abcdefghj\": 1, \"b\": 0]");
	/* What is behind the end of the shorter one is no part of it. */
	text_words(&words[0], "abcdefghi");
	text_words(&words[2], "abcdefghz");
	words[3] = 8;
	check_words(type, 2, 2, words, "map[string]int [\"abcdefgh\": 1, \"abcdefghi\": 0]");
	valuemaker_free(&maker);
}
END_TEST

/* They differ in the byte that is before, at or after the end of the first 256; or in length. */
START_TEST(long_keys_are_compared_to_their_ends)
{
	static const unsigned places[] = {254, 255, 256, 257, 511, 512};
	char text[600];
	uint64_t words[4];
	valuemaker_start(&maker, _i, NULL);
	uint64_t type = valuemaker_map(&maker, valuemaker_made(&maker, TYPE_STRING),
				       valuemaker_made(&maker, TYPE_INT), "map[string]int");
	valuemaker_open(&maker);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		memset(text, 'x', sizeof(text));
		text[520] = '\0';
		text[places[i]] = 'b';
		text_words(&words[0], text);
		text[places[i]] = 'a';
		text_words(&words[2], text);
		uint64_t header = begin_map(2);
		for (unsigned j = 0; j < PLACES * 2; j++)
			valuemaker_put(&maker, j < 4 ? words[j] : 0, maker.what.word);
		end_map();
		gh_value_print_pointer(&maker.values, valuemaker_number(&maker, type), header);
		/* The second key is before the first. */
		gh_buffer_u8(&maker.values.out, 0);
		const char *out = (const char *)maker.values.out.data;
		ck_assert_ptr_nonnull(strstr(out, "\": 1, "));
		ck_assert_ptr_nonnull(strstr(out, "\": 0]"));
		maker.values.out.size = 0;
		gh_process_memory_free(&maker.process.memory);
		maker.used = 0;
	}
	valuemaker_free(&maker);
}
END_TEST

START_TEST(keys_of_parts_are_compared_part_by_part)
{
	valuemaker_start(&maker, _i, NULL);
	uint64_t integer = valuemaker_made(&maker, TYPE_INT);
	const struct valuemaker_field fields[] = {
	    {"a", integer, false}, {"b", integer, false}, {0}};
	uint64_t pair = valuemaker_struct(&maker, "main.Pair", "main", fields);
	uint64_t two = valuemaker_array(&maker, integer, 2, "[2]int");
	uint64_t of_pair = valuemaker_map(&maker, pair, integer, "map[main.Pair]int");
	uint64_t of_two = valuemaker_map(&maker, two, integer, "map[[2]int]int");
	uint64_t empty = valuemaker_interface(&maker, false, "interface {}");
	uint64_t of_any = valuemaker_map(&maker, empty, integer, "map[interface {}]int");
	valuemaker_open(&maker);
	const uint64_t minus = UINT64_MAX;
	const uint64_t keys[] = {2, 0, 1, 9, 1, minus, minus, 5};
	check_words(of_pair, 2, 4, keys,
		    "map[main.Pair]int [{a: -1, b: 5}: 3, {a: 1, b: -1}: 2, {a: 1, b: 9}: 1, "
		    "{a: 2, b: 0}: 0]");
	check_words(of_two, 2, 4, keys,
		    "map[[2]int]int [[-1,5]: 3, [1,-1]: 2, [1,9]: 1, [2,0]: 0]");
	/* Of one type by value; nil before all. */
	uint64_t string = valuemaker_made(&maker, TYPE_STRING);
	uint64_t text = valuemaker_text(&maker, "s");
	uint64_t three = valuemaker_integer(&maker, 3, maker.what.word);
	uint64_t four = valuemaker_integer(&maker, 4, maker.what.word);
	ck_assert_uint_lt(integer, string);
	const uint64_t any[] = {string, text, integer, four, 0, 0, integer, three};
	maker.values.depth = 1;
	check_words(of_any, 2, 4, any,
		    "map[interface {}]int [nil: 2, interface {}(int) 3: 3, "
		    "interface {}(int) 4: 1, interface {}(string) \"s\": 0]");
	ck_assert_uint_eq(maker.values.depth, 1);
	valuemaker_free(&maker);
}
END_TEST

/* By the real part first. */
START_TEST(keys_that_are_complex_are_compared_twice)
{
	static const double keys[][2] = {{2, 0}, {1, 1}, {1, -1}, {-1, 5}};
	static const char expected[] = "[(-1+5i): 3, (1-1i): 2, (1+1i): 1, (2+0i): 0]";
	valuemaker_start(&maker, _i, NULL);
	uint64_t types[] = {map_of(GH_KIND_COMPLEX64, "complex64", "map[complex64]int"),
			    map_of(GH_KIND_COMPLEX128, "complex128", "map[complex128]int")};
	valuemaker_open(&maker);
	for (unsigned wide = 0; wide < 2; wide++) {
		uint64_t header = begin_map(4);
		for (unsigned i = 0; i < PLACES * 2; i++) {
			double number = i < 8 ? keys[i / 2][i % 2] : 0;
			valuemaker_put(&maker,
				       wide ? bits_of(number) : narrow_bits_of((float)number),
				       wide ? 8 : 4);
		}
		end_map();
		gh_value_print_pointer(&maker.values, valuemaker_number(&maker, types[wide]),
				       header);
		gh_buffer_u8(&maker.values.out, 0);
		ck_assert_str_eq(strchr((const char *)maker.values.out.data, ' ') + 1, expected);
		maker.values.out.size = 0;
		gh_process_memory_free(&maker.process.memory);
	}
	valuemaker_free(&maker);
}
END_TEST

START_TEST(maps_are_limited_and_may_be_nil)
{
	char expected[64];
	valuemaker_start(&maker, _i, NULL);
	uint64_t type = map_of(GH_KIND_UINT8, "uint8", "map[uint8]int");
	valuemaker_open(&maker);
	uint64_t at = valuemaker_integer(&maker, 0, maker.what.word);
	valuemaker_check(&maker, type, at, "map[uint8]int nil");
	valuemaker_check_json(&maker, type, at, "null");
	valuemaker_check(&maker, type, VALUEMAKER_NOWHERE, "(unreadable 0x50000000)");
	uint64_t lost = valuemaker_integer(&maker, VALUEMAKER_NOWHERE, maker.what.word);
	valuemaker_check(&maker, type, lost, "map[uint8]int (unreadable 0x50000000)");
	uint64_t none = put_header(0);
	at = valuemaker_integer(&maker, none, maker.what.word);
	valuemaker_check(&maker, type, at, "map[uint8]int []");
	uint64_t header = begin_map(2);
	for (unsigned i = 0; i < PLACES; i++)
		valuemaker_put(&maker, i + 5, 1);
	end_map();
	at = valuemaker_integer(&maker, header, maker.what.word);
	valuemaker_check(&maker, type, at, "map[uint8]int [5: 0, 6: 1]");
	valuemaker_check_json(&maker, type, at,
			      "[{\"key\":5,\"value\":0}, {\"key\":6,\"value\":1}]");
	maker.values.limit = 2;
	valuemaker_check(&maker, type, at, "map[uint8]int [5: 0, 6: 1]");
	maker.values.limit = 1;
	valuemaker_check(&maker, type, at, "map[uint8]int [5: 0,...+1 more]");
	valuemaker_check_json(&maker, type, at, "[{\"key\":5,\"value\":0},{\"more\":1}]");
	maker.values.limit = 0;
	valuemaker_check(&maker, type, at, "map[uint8]int [...+2 more]");
	maker.values.depth = 0;
	valuemaker_check(&maker, type, at, "map[uint8]int [...+2 more]");
	valuemaker_check_json(&maker, type, at, "[{\"more\":2}]");
	/* Of a bucket that is none. */
	uint64_t other = valuemaker_made(&maker, TYPE_MAP);
	snprintf(expected, sizeof(expected), "map[string]int [...] (0x%llx)",
		 (unsigned long long)header);
	valuemaker_check(&maker, other, at, expected);
	snprintf(expected, sizeof(expected), "{\"type\":\"map[string]int\",\"address\":\"0x%llx\"}",
		 (unsigned long long)header);
	valuemaker_check_json(&maker, other, at, expected);
	valuemaker_free(&maker);
}
END_TEST

/* The buckets cannot be read, or those that go on from one. */
/* By the address of the header, and of variables that point to it or are nil. */
START_TEST(maps_are_found_by_their_variables)
{
	struct gh_error err;
	valuemaker_start(&maker, _i, NULL);
	map_of(GH_KIND_UINT64, "uint64", "map[uint64]int");
	valuemaker_open(&maker);
	uint64_t header = begin_map(1);
	for (unsigned i = 0; i < PLACES; i++)
		valuemaker_put(&maker, 7, 8);
	end_map();
	uint64_t variable = valuemaker_begin(&maker);
	/* A map, a nil one, and what a struct may have after that. */
	valuemaker_words(&maker, 8, (const uint64_t[]){header, 0, 3, header, 0, header, header, 0});
	ck_assert(gh_value_print_named(&maker.values, "map[uint64]int", header, &err));
	valuemaker_check_out(&maker, "map[uint64]int [7: 0]");
	ck_assert(gh_value_print_named(&maker.values, "map[uint64]int", variable, &err));
	valuemaker_check_out(&maker, "map[uint64]int [7: 0]");
	for (unsigned i = 1; i <= 4; i += 3) {
		ck_assert(gh_value_print_named(&maker.values, "map[uint64]int",
					       variable + i * (uint64_t)maker.what.word, &err));
		valuemaker_check_out(&maker, "map[uint64]int nil");
	}
	valuemaker_free(&maker);
}
END_TEST

START_TEST(maps_say_what_they_lack)
{
	valuemaker_start(&maker, _i, NULL);
	uint64_t type = map_of(GH_KIND_UINT8, "uint8", "map[uint8]int");
	valuemaker_open(&maker);
	unsigned word = maker.what.word;
	uint64_t header = begin_map(1);
	for (unsigned i = 0; i < PLACES; i++)
		valuemaker_put(&maker, 5, 1);
	end_map();
	uint64_t at = valuemaker_integer(&maker, header, word);
	/* Where the bucket's overflow is. */
	valuemaker_set(&maker, header + (8 + 5 * word + 7) / 8 * 8 + 16 + 8 * word,
		       VALUEMAKER_NOWHERE, word);
	valuemaker_check(&maker, type, at, "map[uint8]int [5: 0 (and some that cannot be read)]");
	valuemaker_check_json(&maker, type, at, "[{\"key\":5,\"value\":0},{\"more\":null}]");
	valuemaker_set(&maker, header + word + 8, VALUEMAKER_NOWHERE, word);
	valuemaker_check(&maker, type, at, "map[uint8]int [(entries that cannot be read)]");
	valuemaker_check_json(&maker, type, at, "[{\"more\":null}]");
	valuemaker_free(&maker);
}
END_TEST

/* What runtime.hchan of Go 1.20 has. */
struct channel {
	uint64_t count;
	uint64_t size;
	uint64_t buffer;
	uint64_t closed;
	uint64_t elem;
	uint64_t next;
	uint64_t receiver;
	uint64_t sender;
};

static uint64_t put_channel(const struct channel *channel)
{
	uint64_t at = valuemaker_begin(&maker);
	valuemaker_words(&maker, 3,
			 (const uint64_t[]){channel->count, channel->size, channel->buffer});
	valuemaker_put(&maker, maker.what.word, 2);
	valuemaker_put(&maker, channel->closed, 4);
	valuemaker_words(&maker, 7,
			 (const uint64_t[]){channel->elem, 0, channel->next, channel->receiver,
					    channel->receiver, channel->sender, channel->sender});
	return at;
}

/* A goroutine's sudog, which NEXT follows. */
static uint64_t put_waiting(uint64_t id, uint64_t next)
{
	struct gh_g_layout layout = gh_g_layout_of(maker.what.word, 20);
	uint64_t g = valuemaker_begin(&maker);
	maker.used += layout.id + 8;
	valuemaker_set(&maker, g + layout.id, id, 8);
	uint64_t at = valuemaker_begin(&maker);
	valuemaker_words(&maker, 3, (const uint64_t[]){g, next, 0});
	return at;
}

static void check_channel(const struct channel *channel, const char *text, const char *json)
{
	uint64_t header = put_channel(channel);
	uint64_t at = valuemaker_integer(&maker, header, maker.what.word);
	valuemaker_check(&maker, valuemaker_made(&maker, TYPE_CHAN), at, text);
	valuemaker_check_json(&maker, valuemaker_made(&maker, TYPE_CHAN), at, json);
}

START_TEST(channels_have_elements)
{
	valuemaker_start(&maker, _i, NULL);
	valuemaker_open(&maker);
	uint64_t integer = valuemaker_made(&maker, TYPE_INT);
	uint64_t type = valuemaker_made(&maker, TYPE_CHAN);
	uint64_t buffer = valuemaker_begin(&maker);
	valuemaker_words(&maker, 3, (const uint64_t[]){7, 8, 9});
	struct channel channel = {.size = 3, .buffer = buffer, .elem = integer};
	check_channel(&channel, "chan int 0/3", "{\"count\":0,\"capacity\":3}");
	channel.count = 2;
	channel.next = 2;
	/* From the last place on. */
	check_channel(&channel, "chan int 2/3 [9,7]",
		      "{\"count\":2,\"capacity\":3,\"elements\":[9,7]}");
	channel.closed = 1;
	check_channel(&channel, "chan int 2/3 [9,7], closed",
		      "{\"count\":2,\"capacity\":3,\"elements\":[9,7],\"closed\":true}");
	maker.values.depth = 0;
	check_channel(&channel, "chan int 2/3, closed",
		      "{\"count\":2,\"capacity\":3,\"closed\":true}");
	uint64_t at = valuemaker_integer(&maker, 0, maker.what.word);
	valuemaker_check(&maker, type, at, "chan int nil");
	valuemaker_check_json(&maker, type, at, "null");
	at = valuemaker_integer(&maker, VALUEMAKER_NOWHERE, maker.what.word);
	valuemaker_check(&maker, type, at, "chan int (unreadable 0x50000000)");
	valuemaker_free(&maker);
}
END_TEST

START_TEST(channels_say_who_waits)
{
	valuemaker_start(&maker, _i, NULL);
	const struct valuemaker_field fields[] = {
	    {"qcount", valuemaker_made(&maker, TYPE_INT), false}, {0}};
	uint64_t hchan = valuemaker_struct(&maker, "runtime.hchan", "runtime", fields);
	valuemaker_open(&maker);
	uint64_t integer = valuemaker_made(&maker, TYPE_INT);
	uint64_t type = valuemaker_made(&maker, TYPE_CHAN);
	struct channel channel = {.elem = integer,
				  .receiver = put_waiting(11, put_waiting(12, 0)),
				  .sender = put_waiting(13, 0)};
	check_channel(&channel, "chan int 0/0, receiving: goroutine 11, 12, sending: goroutine 13",
		      "{\"count\":0,\"capacity\":0,\"receiving\":[11, 12],\"sending\":[13]}");
	valuemaker_check(&maker, hchan, put_channel(&channel),
			 "chan int 0/0, receiving: goroutine 11, 12, sending: goroutine 13");
	/* A sudog that leads to itself. */
	uint64_t loop = put_waiting(5, 0);
	valuemaker_set(&maker, loop + maker.what.word, loop, maker.what.word);
	channel = (struct channel){.elem = integer, .sender = loop};
	check_channel(&channel,
		      "chan int 0/0, sending: goroutine 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, "
		      "5, 5, ...",
		      "{\"count\":0,\"capacity\":0,\"sending\":[5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, "
		      "5, 5, 5, 5, 5,"
		      "{\"more\":null}]}");
	/* Its elements are of another type: no more is told. */
	channel = (struct channel){.elem = type, .count = 1, .size = 2, .closed = 1};
	check_channel(&channel, "chan int 1/2", "{\"count\":1,\"capacity\":2}");
	channel.elem = 0x1234;
	valuemaker_check(&maker, hchan, put_channel(&channel), "runtime.hchan {qcount: 1}");
	valuemaker_free(&maker);
}
END_TEST

void value_map_tests(TCase *tests)
{
	tcase_add_loop_test(tests, keys_that_are_numbers_are_in_their_order, 0,
			    VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, keys_that_are_strings_are_in_their_order, 0,
			    VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, long_keys_are_compared_to_their_ends, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, keys_of_parts_are_compared_part_by_part, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, keys_that_are_complex_are_compared_twice, 0,
			    VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, maps_are_limited_and_may_be_nil, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, maps_are_found_by_their_variables, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, maps_say_what_they_lack, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, channels_have_elements, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, channels_say_who_waits, 0, VALUEMAKER_VARIANTS);
}
