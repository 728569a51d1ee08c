/* Numbers, texts and what is made of them, printed as package fmt and Delve do. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/suites.h"
#include "tests/unit/valuemaker.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct valuemaker maker;

/* The bits of a float of SIZE bytes. */
static uint64_t bits_of(double number, unsigned size)
{
	float narrow = (float)number;
	uint32_t narrow_bits;
	uint64_t bits;
	memcpy(&narrow_bits, &narrow, sizeof(narrow_bits));
	memcpy(&bits, &number, sizeof(bits));
	return size == 4 ? narrow_bits : bits;
}

START_TEST(integers_have_their_sizes_and_signs)
{
	static const struct {
		enum gh_kind kind;
		const char *type;
		unsigned size; /* 0: a word */
		uint64_t bits;
		const char *text;
	} cases[] = {
	    {GH_KIND_BOOL, "bool", 1, 0, "false"},
	    {GH_KIND_BOOL, "bool", 1, 1, "true"},
	    {GH_KIND_INT8, "int8", 1, 0x80, "-128"},
	    {GH_KIND_INT8, "int8", 1, 0x7f, "127"},
	    {GH_KIND_INT16, "int16", 2, 0x8000, "-32768"},
	    {GH_KIND_INT32, "int32", 4, 0x80000000, "-2147483648"},
	    {GH_KIND_INT64, "int64", 8, UINT64_C(1) << 63, "-9223372036854775808"},
	    {GH_KIND_INT64, "int64", 8, INT64_MAX, "9223372036854775807"},
	    {GH_KIND_UINT, "uint", 0, 7, "7"},
	    {GH_KIND_UINT8, "uint8", 1, 0x80, "128"},
	    {GH_KIND_UINT16, "uint16", 2, 0xffff, "65535"},
	    {GH_KIND_UINT32, "uint32", 4, UINT32_MAX, "4294967295"},
	    {GH_KIND_UINT64, "uint64", 8, UINT64_MAX, "18446744073709551615"},
	    {GH_KIND_UINTPTR, "uintptr", 0, 4096, "4096"},
	};
	uint64_t types[COUNT(cases)];
	valuemaker_start(&maker, _i, NULL);
	for (size_t i = 0; i < COUNT(cases); i++)
		types[i] = valuemaker_basic(&maker, cases[i].kind, cases[i].type, NULL);
	valuemaker_open(&maker);
	for (size_t i = 0; i < COUNT(cases); i++) {
		unsigned size = cases[i].size != 0 ? cases[i].size : maker.what.word;
		uint64_t at = valuemaker_integer(&maker, cases[i].bits, size);
		valuemaker_check(&maker, types[i], at, cases[i].text);
		valuemaker_check_json(&maker, types[i], at, cases[i].text);
		valuemaker_check(&maker, types[i], VALUEMAKER_NOWHERE, "(unreadable 0x50000000)");
		valuemaker_check_json(&maker, types[i], VALUEMAKER_NOWHERE,
				      "{\"unreadable\":\"0x50000000\"}");
	}
	valuemaker_free(&maker);
}
END_TEST

/* What fmt.Println prints of them. */
START_TEST(floats_have_the_fewest_digits)
{
	static const struct {
		double number;
		unsigned size;
		const char *text;
	} cases[] = {
	    {0, 8, "0"},
	    {-0.0, 8, "-0"},
	    {1.5, 8, "1.5"},
	    {0.1, 8, "0.1"},
	    {0.3333333333333333, 8, "0.3333333333333333"},
	    {100000, 8, "100000"},
	    {999999.5, 8, "999999.5"},
	    {1000000, 8, "1e+06"},
	    {1234567, 8, "1.234567e+06"},
	    {0.0001, 8, "0.0001"},
	    {0.00001, 8, "1e-05"},
	    {-2.5e-5, 8, "-2.5e-05"},
	    {1e100, 8, "1e+100"},
	    {1.7976931348623157e308, 8, "1.7976931348623157e+308"},
	    {5e-324, 8, "5e-324"},
	    {0.1, 4, "0.1"},
	    {16777216, 4, "1.6777216e+07"},
	    {3.4028234663852886e38, 4, "3.4028235e+38"},
	};
	valuemaker_start(&maker, _i, NULL);
	uint64_t wide = valuemaker_basic(&maker, GH_KIND_FLOAT64, "float64", NULL);
	uint64_t narrow = valuemaker_basic(&maker, GH_KIND_FLOAT32, "float32", NULL);
	valuemaker_open(&maker);
	for (size_t i = 0; i < COUNT(cases); i++) {
		unsigned size = cases[i].size;
		uint64_t at = valuemaker_integer(&maker, bits_of(cases[i].number, size), size);
		valuemaker_check(&maker, size == 4 ? narrow : wide, at, cases[i].text);
		valuemaker_check_json(&maker, size == 4 ? narrow : wide, at, cases[i].text);
	}
	static const double infinite[] = {INFINITY, -INFINITY, (double)NAN};
	static const char *const texts[] = {"+Inf", "-Inf", "NaN"};
	static const char *const json[] = {"\"+Inf\"", "\"-Inf\"", "\"NaN\""};
	for (size_t i = 0; i < COUNT(infinite); i++) {
		uint64_t at = valuemaker_integer(&maker, bits_of(infinite[i], 8), 8);
		valuemaker_check(&maker, wide, at, texts[i]);
		valuemaker_check_json(&maker, wide, at, json[i]);
	}
	valuemaker_free(&maker);
}
END_TEST

START_TEST(complex_numbers_have_two_signs)
{
	static const struct {
		double real;
		double imaginary;
		const char *text;
		const char *json;
	} cases[] = {
	    {1.5, -2, "(1.5-2i)", "\"(1.5-2i)\""},
	    {0, 0, "(0+0i)", "\"(0+0i)\""},
	    {-1, -0.0, "(-1-0i)", "\"(-1-0i)\""},
	    {INFINITY, INFINITY, "(+Inf+Infi)", "\"(+Inf+Infi)\""},
	    {(double)NAN, (double)NAN, "(NaN+NaNi)", "\"(NaN+NaNi)\""},
	};
	valuemaker_start(&maker, _i, NULL);
	uint64_t wide = valuemaker_basic(&maker, GH_KIND_COMPLEX128, "complex128", NULL);
	uint64_t narrow = valuemaker_basic(&maker, GH_KIND_COMPLEX64, "complex64", NULL);
	valuemaker_open(&maker);
	for (size_t i = 0; i < 2 * COUNT(cases); i++) {
		unsigned size = i % 2 == 0 ? 8 : 4;
		uint64_t at = valuemaker_begin(&maker);
		valuemaker_put(&maker, bits_of(cases[i / 2].real, size), size);
		valuemaker_put(&maker, bits_of(cases[i / 2].imaginary, size), size);
		valuemaker_check(&maker, size == 4 ? narrow : wide, at, cases[i / 2].text);
		valuemaker_check_json(&maker, size == 4 ? narrow : wide, at, cases[i / 2].json);
	}
	/* Of one at the end only the first part can be read. */
	valuemaker_check(&maker, wide, VALUEMAKER_ADDRESS + VALUEMAKER_SIZE - 8,
			 "(unreadable 0x10003ff8)");
	valuemaker_check(&maker, wide, VALUEMAKER_NOWHERE, "(unreadable 0x50000000)");
	valuemaker_free(&maker);
}
END_TEST

/* As Duration.String of package time has them. */
START_TEST(durations_have_their_units)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
	    {0, "0s"},
	    {1, "1ns"},
	    {-1, "-1ns"},
	    {999, "999ns"},
	    {1000, "1\302\265s"},
	    {1500, "1.5\302\265s"},
	    {999999, "999.999\302\265s"},
	    {1000000, "1ms"},
	    {1000001, "1.000001ms"},
	    {999999999, "999.999999ms"},
	    {1000000000, "1s"},
	    {-1500000000, "-1.5s"},
	    {59999999999, "59.999999999s"},
	    {60000000000, "1m0s"},
	    {3599999999999, "59m59.999999999s"},
	    {3600000000000, "1h0m0s"},
	    {3723500000000, "1h2m3.5s"},
	    {-3723500000000, "-1h2m3.5s"},
	    {INT64_MIN, "-2562047h47m16.854775808s"},
	    {INT64_MAX, "2562047h47m16.854775807s"},
	};
	char number[32];
	valuemaker_start(&maker, _i, NULL);
	uint64_t type = valuemaker_basic(&maker, GH_KIND_INT64, "time.Duration", "time");
	valuemaker_open(&maker);
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t at = valuemaker_integer(&maker, (uint64_t)cases[i].ns, 8);
		valuemaker_check(&maker, type, at, cases[i].text);
		snprintf(number, sizeof(number), "%lld", (long long)cases[i].ns);
		valuemaker_check_json(&maker, type, at, number);
	}
	valuemaker_free(&maker);
}
END_TEST

START_TEST(constants_have_names)
{
	static const char *const months[] = {"0",
					     "January (1)",
					     "February (2)",
					     "March (3)",
					     "April (4)",
					     "May (5)",
					     "June (6)",
					     "July (7)",
					     "August (8)",
					     "September (9)",
					     "October (10)",
					     "November (11)",
					     "December (12)",
					     "13"};
	static const char *const days[] = {
	    "Sunday (0)",   "Monday (1)", "Tuesday (2)",  "Wednesday (3)",
	    "Thursday (4)", "Friday (5)", "Saturday (6)", "7"};
	static const char *const errors[] = {"0", "EPERM (1)", "ENOENT (2)", "ESRCH (3)"};
	valuemaker_start(&maker, _i, NULL);
	uint64_t month = valuemaker_basic(&maker, GH_KIND_INT, "time.Month", "time");
	uint64_t day = valuemaker_basic(&maker, GH_KIND_INT, "time.Weekday", "time");
	uint64_t error = valuemaker_basic(&maker, GH_KIND_UINTPTR, "syscall.Errno", "syscall");
	valuemaker_open(&maker);
	for (unsigned i = 0; i < COUNT(months); i++) {
		uint64_t at = valuemaker_integer(&maker, i, maker.what.word);
		valuemaker_check(&maker, month, at, months[i]);
		if (i < COUNT(days))
			valuemaker_check(&maker, day, at, days[i]);
		if (i < COUNT(errors))
			valuemaker_check(&maker, error, at, errors[i]);
	}
	uint64_t at = valuemaker_integer(&maker, 1, maker.what.word);
	valuemaker_check_json(&maker, month, at, "1");
	valuemaker_set(&maker, at, UINT64_MAX, maker.what.word);
	valuemaker_check(&maker, month, at, "-1");
	valuemaker_check(&maker, day, at, "-1");
	valuemaker_free(&maker);
}
END_TEST

START_TEST(pointers_without_a_type_are_addresses)
{
	valuemaker_start(&maker, _i, NULL);
	uint64_t type = valuemaker_made(&maker, TYPE_UNSAFE);
	valuemaker_open(&maker);
	uint64_t at = valuemaker_integer(&maker, 0, maker.what.word);
	valuemaker_check(&maker, type, at, "unsafe.Pointer(nil)");
	valuemaker_check_json(&maker, type, at, "null");
	valuemaker_set(&maker, at, 0xabc, maker.what.word);
	valuemaker_check(&maker, type, at, "unsafe.Pointer(0xabc)");
	valuemaker_check_json(&maker, type, at, "\"0xabc\"");
	valuemaker_check(&maker, type, VALUEMAKER_NOWHERE, "(unreadable 0x50000000)");
	valuemaker_free(&maker);
}
END_TEST

/* A string of SIZE bytes, each an x. */
static uint64_t put_long(size_t size)
{
	static char text[VALUEMAKER_SIZE];
	memset(text, 'x', size);
	text[size] = '\0';
	return valuemaker_text(&maker, text);
}

START_TEST(strings_are_quoted_and_cut)
{
	char expected[1100];
	valuemaker_start(&maker, _i, NULL);
	uint64_t type = valuemaker_made(&maker, TYPE_STRING);
	valuemaker_open(&maker);
	valuemaker_check(&maker, type, valuemaker_text(&maker, "a\"b\n\x01"), "\"a\\\"b\\n\\x01\"");
	valuemaker_check_json(&maker, type, valuemaker_text(&maker, "a\"b\n\x01"),
			      "\"a\\\"b\\n\\u0001\"");
	valuemaker_check(&maker, type, valuemaker_text(&maker, ""), "\"\"");
	valuemaker_check(&maker, type, VALUEMAKER_NOWHERE, "(unreadable 0x50000000)");
	uint64_t lost = valuemaker_begin(&maker);
	valuemaker_words(&maker, 2, (const uint64_t[]){VALUEMAKER_NOWHERE, 3});
	valuemaker_check(&maker, type, lost, "(unreadable 0x50000000)");
	uint64_t at = put_long(1024);
	uint64_t longer = put_long(1025);
	/* Even one element is a limit to what a text has. */
	maker.values.limit = 1;
	expected[0] = expected[1025] = '"';
	memset(expected + 1, 'x', 1024);
	expected[1026] = '\0';
	valuemaker_check(&maker, type, at, expected);
	strcat(expected, "...+1 more");
	valuemaker_check(&maker, type, longer, expected);
	expected[1026] = '\0';
	char json[1200];
	snprintf(json, sizeof(json), "{\"start\":%s,\"more\":1}", expected);
	valuemaker_check_json(&maker, type, longer, json);
	valuemaker_free(&maker);
}
END_TEST

/* Bytes are text if they are readable; a character may be cut only where the text is. */
START_TEST(bytes_that_are_text_are_quoted)
{
	static char text[1027];
	valuemaker_start(&maker, _i, NULL);
	uint64_t byte = valuemaker_basic(&maker, GH_KIND_UINT8, "uint8", NULL);
	uint64_t type = valuemaker_slice(&maker, byte, "[]uint8", NULL);
	valuemaker_open(&maker);
	static const struct {
		const char *bytes;
		size_t size;
		const char *text;
	} cases[] = {
	    {"abc", 3, "[]uint8 len: 3, cap: 9, \"abc\""},
	    {"\xc3\xa9", 2, "[]uint8 len: 2, cap: 9, \"\xc3\xa9\""},
	    {"a\xc3", 2, "[]uint8 len: 2, cap: 9, [97,195]"},
	    {"a\x01", 2, "[]uint8 len: 2, cap: 9, [97,1]"},
	    {"", 0, "[]uint8 len: 0, cap: 9, []"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t data = valuemaker_bytes(&maker, cases[i].bytes, cases[i].size);
		uint64_t at = valuemaker_begin(&maker);
		valuemaker_slice_of(&maker, data, cases[i].size, 9);
		valuemaker_check(&maker, type, at, cases[i].text);
	}
	uint64_t data = valuemaker_bytes(&maker, "abc", 3);
	uint64_t at = valuemaker_begin(&maker);
	valuemaker_slice_of(&maker, data, 3, 3);
	valuemaker_check_json(&maker, type, at, "[97,98,99]");
	/* The euro sign, three bytes, goes over the 1024th. */
	memset(text, 'x', sizeof(text));
	memcpy(text + 1022, "\xe2\x82\xac", 3);
	data = valuemaker_bytes(&maker, text, 1027);
	at = valuemaker_begin(&maker);
	valuemaker_slice_of(&maker, data, 1027, 1027);
	maker.values.limit = 2;
	gh_value_print(&maker.values, valuemaker_number(&maker, type), at);
	ck_assert_uint_gt(maker.values.out.size, 1024);
	ck_assert_mem_eq(maker.values.out.data, "[]uint8 len: 1027, cap: 1027, \"xxx", 34);
	ck_assert_mem_eq(maker.values.out.data + maker.values.out.size - 10, "...+3 more", 10);
	maker.values.out.size = 0;
	/* With one byte that is none of a character's, it is none. */
	maker.memory[data - VALUEMAKER_ADDRESS + 500] = 0xff;
	gh_process_memory_free(&maker.process.memory);
	valuemaker_check(&maker, type, at, "[]uint8 len: 1027, cap: 1027, [120,120,...+1025 more]");
	valuemaker_free(&maker);
}
END_TEST

void value_tests(TCase *tests)
{
	tcase_add_loop_test(tests, integers_have_their_sizes_and_signs, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, floats_have_the_fewest_digits, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, complex_numbers_have_two_signs, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, durations_have_their_units, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, constants_have_names, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, pointers_without_a_type_are_addresses, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, strings_are_quoted_and_cut, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, bytes_that_are_text_are_quoted, 0, VALUEMAKER_VARIANTS);
}
