/* Values of the standard library's types that are printed by what they mean. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/suites.h"
#include "tests/unit/valuemaker.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct valuemaker maker;

/* The basic types that the others are made of. */
static struct {
	uint64_t boolean;
	uint64_t uint8;
	uint64_t int32;
	uint64_t uint32;
	uint64_t int64;
	uint64_t uint64;
	uint64_t integer;
	uint64_t string;
	uint64_t bytes;
	uint64_t words; /* a slice of uint */
} types;

static void start(int variant)
{
	valuemaker_start(&maker, variant, NULL);
	types.boolean = valuemaker_basic(&maker, GH_KIND_BOOL, "bool", NULL);
	types.uint8 = valuemaker_basic(&maker, GH_KIND_UINT8, "uint8", NULL);
	types.int32 = valuemaker_basic(&maker, GH_KIND_INT32, "int32", NULL);
	types.uint32 = valuemaker_basic(&maker, GH_KIND_UINT32, "uint32", NULL);
	types.int64 = valuemaker_basic(&maker, GH_KIND_INT64, "int64", NULL);
	types.uint64 = valuemaker_basic(&maker, GH_KIND_UINT64, "uint64", NULL);
	types.integer = valuemaker_made(&maker, TYPE_INT);
	types.string = valuemaker_made(&maker, TYPE_STRING);
	types.bytes = valuemaker_slice(&maker, types.uint8, "[]uint8", NULL);
	uint64_t word = valuemaker_basic(&maker, GH_KIND_UINT, "big.Word", "math/big");
	types.words = valuemaker_slice(&maker, word, "big.nat", "math/big");
}

/* A type of one or two fields. */
static uint64_t of_two(const char *text, const char *package, const char *first,
		       uint64_t first_type, const char *second, uint64_t second_type)
{
	const struct valuemaker_field fields[] = {
	    {first, first_type, false}, {second, second_type, false}, {0}};
	return valuemaker_struct(&maker, text, package, fields);
}

/* Seconds since the year 1 in ext; since 1885 above the nanoseconds, if bit 63 of wall is set. */
START_TEST(times_are_in_utc)
{
	static const struct {
		uint64_t wall;
		uint64_t ext;
		const char *text;
		int64_t seconds;
		unsigned nanoseconds;
	} cases[] = {
	    {0, 0, "0001-01-01T00:00:00Z", -62135596800, 0},
	    {0, 62135596800, "1970-01-01T00:00:00Z", 0, 0},
	    {500000000, 62135596800 + 951782400, "2000-02-29T00:00:00.5Z", 951782400, 500000000},
	    {1, 62135596799, "1969-12-31T23:59:59.000000001Z", -1, 1},
	    {UINT64_C(1) << 63 | UINT64_C(2682288000) << 30 | 999999999, 77,
	     "1970-01-01T00:00:00.999999999Z", 0, 999999999},
	};
	start(_i);
	uint64_t type = of_two("time.Time", "time", "wall", types.uint64, "ext", types.int64);
	uint64_t other = of_two("time.Time", "main", "wall", types.uint64, "ext", types.int64);
	valuemaker_open(&maker);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gh_scalar scalar;
		uint64_t at = valuemaker_begin(&maker);
		valuemaker_put(&maker, cases[i].wall, 8);
		valuemaker_put(&maker, cases[i].ext, 8);
		valuemaker_check_text(&maker, type, at, "time.Time", cases[i].text);
		gh_value_read_field(&maker.values, valuemaker_number(&maker, type), at, "",
				    &scalar);
		ck_assert_int_eq(scalar.kind, GH_SCALAR_REAL);
		ck_assert(fabs(scalar.real - (double)cases[i].seconds -
			       cases[i].nanoseconds / 1e9) < 1e-5);
	}
	valuemaker_check(&maker, other, VALUEMAKER_ADDRESS, "time.Time {wall: 0, ext: 0}");
	valuemaker_check(&maker, type, VALUEMAKER_NOWHERE,
			 "time.Time {wall: (unreadable 0x50000000), ext: (unreadable 0x50000008)}");
	valuemaker_free(&maker);
}
END_TEST

START_TEST(locks_say_who_waits)
{
	static const struct {
		uint32_t state;
		const char *text;
	} mutexes[] = {{0, "unlocked"},
		       {1, "locked"},
		       {2, "unlocked"},
		       {4, "unlocked"},
		       {8 | 1, "locked, 1 waiting"},
		       {16, "unlocked, 2 waiting"}};
	static const struct {
		int32_t count;
		uint32_t leaving;
		const char *text;
	} rwmutexes[] = {{0, 0, "unlocked"},
			 {3, 0, "3 reading"},
			 {-(1 << 30), 0, "locked, 0 waiting to read"},
			 {2 - (1 << 30), 0, "locked, 2 waiting to read"},
			 {2 - (1 << 30), 1, "1 reading, one waiting to write"}};
	start(_i);
	uint64_t mutex = of_two("sync.Mutex", "sync", "state", types.int32, "sema", types.uint32);
	uint64_t rwmutex =
	    of_two("sync.RWMutex", "sync", "readerCount", types.int32, "readerWait", types.int32);
	valuemaker_open(&maker);
	for (size_t i = 0; i < COUNT(mutexes); i++) {
		uint64_t at = valuemaker_begin(&maker);
		valuemaker_put(&maker, mutexes[i].state, 4);
		valuemaker_put(&maker, 0, 4);
		valuemaker_check_text(&maker, mutex, at, "sync.Mutex", mutexes[i].text);
	}
	for (size_t i = 0; i < COUNT(rwmutexes); i++) {
		uint64_t at = valuemaker_begin(&maker);
		valuemaker_put(&maker, (uint32_t)rwmutexes[i].count, 4);
		valuemaker_put(&maker, rwmutexes[i].leaving, 4);
		valuemaker_check_text(&maker, rwmutex, at, "sync.RWMutex", rwmutexes[i].text);
	}
	valuemaker_check(
	    &maker, mutex, VALUEMAKER_NOWHERE,
	    "sync.Mutex {state: (unreadable 0x50000000), sema: (unreadable 0x50000004)}");
	valuemaker_check_json(&maker, mutex, VALUEMAKER_NOWHERE,
			      "{\"state\":{\"unreadable\":\"0x50000000\"}, "
			      "\"sema\":{\"unreadable\":\"0x50000004\"}}");
	valuemaker_free(&maker);
}
END_TEST

/* The counter is the high half; before Go 1.20 the state is at the next multiple of 8. */
START_TEST(groups_and_onces_are_counted)
{
	start(_i);
	uint64_t array = valuemaker_array(&maker, types.uint32, 3, "[3]uint32");
	uint64_t group =
	    of_two("sync.WaitGroup", "sync", "state", types.uint64, "sema", types.uint32);
	uint64_t old = of_two("sync.WaitGroup", "sync", "state1", array, NULL, 0);
	uint64_t once = of_two("sync.Once", "sync", "done", types.uint32, NULL, 0);
	valuemaker_open(&maker);
	uint64_t at = valuemaker_begin(&maker);
	valuemaker_put(&maker, UINT64_C(5) << 32 | 2, 8);
	valuemaker_put(&maker, UINT64_C(0xffffffff) << 32 | 3, 8);
	valuemaker_put(&maker, 1, 4);
	valuemaker_put(&maker, 0, 4);
	valuemaker_check_text(&maker, group, at, "sync.WaitGroup", "5, 2 waiting");
	valuemaker_check_text(&maker, group, at + 8, "sync.WaitGroup", "-1, 3 waiting");
	valuemaker_check_text(&maker, old, at, "sync.WaitGroup", "5, 2 waiting");
	valuemaker_check_text(&maker, old, at + 4, "sync.WaitGroup", "-1, 3 waiting");
	valuemaker_check_text(&maker, once, at + 16, "sync.Once", "done");
	valuemaker_check_text(&maker, once, at + 20, "sync.Once", "not done");
	valuemaker_free(&maker);
}
END_TEST

START_TEST(atomics_are_what_they_hold)
{
	start(_i);
	uint64_t none = valuemaker_array(&maker, types.integer, 0, "[0]int");
	uint64_t boolean = of_two("atomic.Bool", "sync/atomic", "_", none, "v", types.uint32);
	uint64_t number = of_two("atomic.Int32", "sync/atomic", "_", none, "v", types.int32);
	valuemaker_open(&maker);
	uint64_t pointer = valuemaker_made(&maker, TYPE_ATOMIC);
	uint64_t at = valuemaker_begin(&maker);
	valuemaker_put(&maker, 0, 8);
	valuemaker_put(&maker, 1, 4);
	valuemaker_put(&maker, UINT32_MAX, 4);
	valuemaker_check(&maker, boolean, at, "atomic.Bool(false)");
	valuemaker_check(&maker, boolean, at + 8, "atomic.Bool(true)");
	valuemaker_check_json(&maker, boolean, at + 8, "true");
	valuemaker_check(&maker, number, at + 12, "atomic.Int32(-1)");
	valuemaker_check_json(&maker, number, at + 12, "-1");
	valuemaker_check(&maker, pointer, at, "atomic.Pointer[example.org/x/main.Node](nil)");
	uint64_t node = valuemaker_begin(&maker);
	valuemaker_words(&maker, 5, (const uint64_t[]){4, 0, 0, 0, 0});
	at = valuemaker_integer(&maker, node, maker.what.word);
	valuemaker_check(&maker, pointer, at,
			 "atomic.Pointer[example.org/x/main.Node](*{value: 4, Node: nil, words: "
			 "[]string len: 0, cap: 0, nil})");
	valuemaker_free(&maker);
}
END_TEST

/* What was read of a buffer is before off. */
START_TEST(buffers_are_texts)
{
	start(_i);
	uint64_t builder =
	    of_two("strings.Builder", "strings", "addr", types.integer, "buf", types.bytes);
	uint64_t buffer = of_two("bytes.Buffer", "bytes", "buf", types.bytes, "off", types.integer);
	valuemaker_open(&maker);
	uint64_t text = valuemaker_bytes(&maker, "abcdef", 6);
	uint64_t at = valuemaker_begin(&maker);
	valuemaker_words(&maker, 1, (const uint64_t[]){0});
	valuemaker_slice_of(&maker, text, 6, 8);
	valuemaker_check(&maker, builder, at, "strings.Builder(\"abcdef\")");
	valuemaker_check_json(&maker, builder, at, "\"abcdef\"");
	static const char *const rests[] = {"abcdef", "bcdef", "cdef", "def", "ef", "f", ""};
	char expected[64];
	for (unsigned off = 0; off <= 6; off++) {
		at = valuemaker_begin(&maker);
		valuemaker_slice_of(&maker, text, 6, 8);
		valuemaker_words(&maker, 1, (const uint64_t[]){off});
		snprintf(expected, sizeof(expected), "bytes.Buffer(\"%s\")", rests[off]);
		valuemaker_check(&maker, buffer, at, expected);
	}
	/* More is read than there is: the fields tell. */
	at = valuemaker_begin(&maker);
	valuemaker_slice_of(&maker, text, 6, 8);
	valuemaker_words(&maker, 1, (const uint64_t[]){7});
	valuemaker_check(&maker, buffer, at,
			 "bytes.Buffer {buf: []uint8 len: 6, cap: 8, \"abcdef\", off: 7}");
	valuemaker_free(&maker);
}
END_TEST

/* flag: indirect is bit 7, a method bit 9. */
START_TEST(reflected_values_have_dynamic_types)
{
	char expected[160];
	start(_i);
	uint64_t unsafe = valuemaker_made(&maker, TYPE_UNSAFE);
	uint64_t word = valuemaker_basic(&maker, GH_KIND_UINTPTR, "reflect.flag", "reflect");
	static const char *const names[] = {"typ_", "typ"};
	uint64_t reflected[2];
	for (unsigned i = 0; i < 2; i++) {
		const struct valuemaker_field fields[] = {
		    {names[i], unsafe, false}, {"ptr", unsafe, false}, {"flag", word, false}, {0}};
		reflected[i] = valuemaker_struct(&maker, "reflect.Value", "reflect", fields);
	}
	valuemaker_open(&maker);
	uint64_t integer = valuemaker_made(&maker, TYPE_INT);
	uint64_t pointer = valuemaker_made(&maker, TYPE_POINTER);
	uint64_t nine = valuemaker_integer(&maker, 9, maker.what.word);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t at = valuemaker_begin(&maker);
		valuemaker_words(&maker, 3, (const uint64_t[]){integer, nine, 2 | 1 << 7});
		valuemaker_check(&maker, reflected[i], at, "reflect.Value(int) 9");
		valuemaker_check_json(&maker, reflected[i], at, "{\"type\":\"int\",\"value\":9}");
		at = valuemaker_begin(&maker);
		valuemaker_words(&maker, 3, (const uint64_t[]){pointer, 0, 22});
		valuemaker_check(&maker, reflected[i], at, "reflect.Value(*main.Node) nil");
		at = valuemaker_begin(&maker);
		valuemaker_words(&maker, 3, (const uint64_t[]){0, 0, 0});
		valuemaker_check(&maker, reflected[i], at, "reflect.Value(nil)");
		valuemaker_check_json(&maker, reflected[i], at, "null");
		at = valuemaker_begin(&maker);
		valuemaker_words(&maker, 3, (const uint64_t[]){integer, 1, 1 << 9});
		snprintf(expected, sizeof(expected),
			 "reflect.Value {%s: unsafe.Pointer(0x%llx), ptr: unsafe.Pointer(0x1), "
			 "flag: 512}",
			 names[i], (unsigned long long)integer);
		valuemaker_check(&maker, reflected[i], at, expected);
	}
	valuemaker_free(&maker);
}
END_TEST

/* The least word first. */
START_TEST(large_integers_are_decimal)
{
	start(_i);
	uint64_t type = of_two("big.Int", "math/big", "neg", types.boolean, "abs", types.words);
	const struct valuemaker_field fields[] = {{"a", type, false}, {"b", type, false}, {0}};
	uint64_t rat = valuemaker_struct(&maker, "big.Rat", "math/big", fields);
	valuemaker_open(&maker);
	static const struct {
		uint32_t digits[4]; /* of 32 bits */
		bool negative;
		const char *text;
	} cases[] = {
	    {{0}, false, "0"},
	    {{1}, true, "-1"},
	    {{999999999}, false, "999999999"},
	    {{1000000000}, false, "1000000000"},
	    {{0, 1}, false, "4294967296"},
	    {{0, 0, 1}, false, "18446744073709551616"},
	    {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
	     true,
	     "-340282366920938463463374607431768211455"},
	};
	char expected[64];
	for (size_t i = 0; i < COUNT(cases); i++) {
		const uint32_t *digits = cases[i].digits;
		unsigned count = 16 / maker.what.word;
		uint64_t words = valuemaker_begin(&maker);
		for (unsigned j = 0; j < count; j++)
			valuemaker_put(&maker,
				       maker.what.word == 4
					   ? digits[j]
					   : (uint64_t)digits[2 * j + 1] << 32 | digits[2 * j],
				       maker.what.word);
		uint64_t at = valuemaker_begin(&maker);
		valuemaker_put(&maker, cases[i].negative, 1);
		valuemaker_slice_of(&maker, words, count, count);
		snprintf(expected, sizeof(expected), "big.Int(%s)", cases[i].text);
		valuemaker_check(&maker, type, at, expected);
		valuemaker_check_json(&maker, type, at, cases[i].text);
	}
	/* A quotient's divisor, if it has no words, is 1. */
	uint64_t words = valuemaker_begin(&maker);
	valuemaker_words(&maker, 2, (const uint64_t[]){3, 7});
	uint64_t at = valuemaker_begin(&maker);
	valuemaker_put(&maker, 1, 1);
	valuemaker_slice_of(&maker, words, 1, 1);
	valuemaker_put(&maker, 0, 1);
	valuemaker_slice_of(&maker, words + maker.what.word, 1, 1);
	valuemaker_check_text(&maker, rat, at, "big.Rat", "-3/7");
	valuemaker_set(&maker, at + 6 * (uint64_t)maker.what.word, 0, maker.what.word);
	valuemaker_check_text(&maker, rat, at, "big.Rat", "-3/1");
	valuemaker_free(&maker);
}
END_TEST

/* A number of 1024 words is printed, a larger one by its fields. */
START_TEST(larger_integers_are_left_as_they_are)
{
	start(_i);
	uint64_t type = of_two("big.Int", "math/big", "neg", types.boolean, "abs", types.words);
	valuemaker_open(&maker);
	for (unsigned more = 0; more < 2; more++) {
		uint64_t words = valuemaker_begin(&maker);
		maker.used += (size_t)(more == 0 ? 1024 : 512) * maker.what.word;
		uint64_t at = valuemaker_begin(&maker);
		valuemaker_put(&maker, 0, 1);
		valuemaker_slice_of(&maker, words, 1024 + more, 1025);
		maker.values.limit = 1;
		valuemaker_check(&maker, type, at,
				 more == 0 ? "big.Int(0)"
					   : "big.Int {neg: false, abs: big.nat len: 1025, cap: "
					     "1025, [0,...+1024 more]}");
	}
	valuemaker_free(&maker);
}
END_TEST

/* mant is of 0.5 to 1, as many words as prec asks for; the highest word is last. */
START_TEST(large_floats_are_rounded)
{
	static const struct {
		unsigned precision;
		unsigned form; /* zero, finite, infinite */
		bool negative;
		int32_t exponent;
		uint32_t high; /* half of 64 bits of mant */
		const char *text;
	} cases[] = {
	    {53, 0, false, 0, 0, "0"},
	    {53, 0, true, 0, 0, "-0"},
	    {53, 1, false, 1, 0x80000000, "1"},
	    {53, 1, true, 2, 0xc0000000, "-3"},
	    {53, 1, false, -1, 0x80000000, "0.25"},
	    {54, 1, false, 1, 0x80000000, "1?"},
	    {53, 2, false, 0, 0, "+Inf"},
	    {64, 2, true, 0, 0, "-Inf?"},
	};
	start(_i);
	const struct valuemaker_field fields[] = {
	    {"prec", types.uint32, false}, {"mode", types.uint8, false},
	    {"acc", types.uint8, false},   {"form", types.uint8, false},
	    {"neg", types.boolean, false}, {"mant", types.words, false},
	    {"exp", types.int32, false},   {0}};
	uint64_t type = valuemaker_struct(&maker, "big.Float", "math/big", fields);
	valuemaker_open(&maker);
	for (size_t i = 0; i < COUNT(cases) + 2; i++) {
		size_t number = i < COUNT(cases) ? i : 2;
		unsigned count = 8 / maker.what.word;
		uint64_t words = valuemaker_begin(&maker);
		for (unsigned j = 1; j < count; j++)
			valuemaker_put(&maker, 0, maker.what.word);
		valuemaker_put(&maker, (uint64_t)cases[number].high << (8 * maker.what.word - 32),
			       maker.what.word);
		uint64_t at = valuemaker_begin(&maker);
		valuemaker_put(&maker, cases[number].precision, 4);
		valuemaker_put(&maker, 0, 1);
		valuemaker_put(&maker, 0, 1);
		valuemaker_put(&maker, cases[number].form, 1);
		valuemaker_put(&maker, cases[number].negative, 1);
		valuemaker_slice_of(&maker, words, count, count);
		/* More than a float64 has. */
		int32_t exponent = i < COUNT(cases)    ? cases[number].exponent
				   : i == COUNT(cases) ? 1025
						       : -2000;
		valuemaker_put(&maker, (uint32_t)exponent, 4);
		if (i < COUNT(cases)) {
			valuemaker_check_text(&maker, type, at, "big.Float", cases[number].text);
			continue;
		}
		gh_value_print(&maker.values, valuemaker_number(&maker, type), at);
		ck_assert_mem_eq(maker.values.out.data, "big.Float {prec: 53, mode: 0", 28);
		maker.values.out.size = 0;
	}
	valuemaker_free(&maker);
}
END_TEST

void value_known_tests(TCase *tests)
{
	tcase_add_loop_test(tests, times_are_in_utc, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, locks_say_who_waits, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, groups_and_onces_are_counted, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, atomics_are_what_they_hold, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, buffers_are_texts, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, reflected_values_have_dynamic_types, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, large_integers_are_decimal, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, larger_integers_are_left_as_they_are, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, large_floats_are_rounded, 0, VALUEMAKER_VARIANTS);
}
