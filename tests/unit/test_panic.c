/* Panics and deferred calls in the memory of a process, and the values of panics as Go prints them.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/process/internal.h"
#include "tests/unit/spanmaker.h"
#include "tests/unit/suites.h"

#define RECORD UINT64_C(0x10000)
#define VALUE  UINT64_C(0x20000)
#define TEXT   UINT64_C(0x30000)

/* Where runtime._panic has what in src/runtime/runtime2.go, in words; the flags in bytes after the
 * first; -1: it has none. */
START_TEST(a_panic_is_where_its_release_has_it)
{
	static const struct {
		int minor;
		unsigned arg, recovered;
		int repanicked, goexit;
	} cases[] = {
	    {11, 1, 4, -1, -1}, {13, 1, 4, -1, -1}, {14, 1, 6, -1, 2},
	    {15, 1, 6, -1, 2},  {21, 1, 6, -1, 2},  {22, 1, 12, -1, 1},
	    {24, 1, 12, -1, 1}, {26, 0, 11, 1, 2},  {27, 0, 11, 1, 2},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int set = -1; set < 3; set++) {
			struct spanmaker maker;
			struct gh_panic panic;
			spanmaker_start(&maker, _i, cases[i].minor);
			uint64_t arg = RECORD + (uint64_t)cases[i].arg * maker.word;
			uint64_t flags = RECORD + (uint64_t)cases[i].recovered * maker.word;
			ck_assert(!gh_panic_record_read(&maker.process, RECORD, &panic));
			spanmaker_put_word(&maker, arg, 0x1111);
			spanmaker_put_word(&maker, arg + maker.word, 0x2222);
			spanmaker_put_word(&maker, arg + 2 * maker.word, 0x3333);
			for (int flag = 0; flag < 3; flag++)
				spanmaker_put(&maker, flags + (unsigned)flag, flag == set, 1);
			ck_assert(gh_panic_record_read(&maker.process, RECORD, &panic));
			ck_assert_uint_eq(panic.type, 0x1111);
			ck_assert_uint_eq(panic.data, 0x2222);
			ck_assert_uint_eq(panic.next, 0x3333);
			ck_assert_int_eq(panic.recovered, set == 0);
			ck_assert_int_eq(panic.repanicked, set > 0 && set == cases[i].repanicked);
			ck_assert_int_eq(panic.goexit, set > 0 && set == cases[i].goexit);
			spanmaker_free(&maker);
		}
	}
}
END_TEST

/* The same of runtime._defer, in bytes: sp is after the flags, and before Go 1.18 their size. */
START_TEST(a_deferred_call_is_where_its_release_has_it)
{
	static const struct {
		int minor;
		unsigned sp[2];        /* with words of 8 bytes, and of 4 */
		unsigned link;         /* words after sp */
		unsigned arguments[2]; /* after the record; 0: it has none */
	} cases[] = {
	    {11, {8, 8}, 4, {48, 28}}, {13, {8, 8}, 4, {48, 28}}, {14, {8, 8}, 4, {72, 40}},
	    {17, {8, 8}, 4, {72, 40}}, {18, {8, 4}, 4, {0, 0}},   {21, {8, 4}, 4, {0, 0}},
	    {22, {8, 4}, 3, {0, 0}},   {27, {8, 4}, 3, {0, 0}},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct spanmaker maker;
		struct gh_defer defer;
		spanmaker_start(&maker, _i, cases[i].minor);
		uint64_t sp = RECORD + cases[i].sp[maker.word == 4];
		unsigned arguments = cases[i].arguments[maker.word == 4];
		ck_assert(!gh_defer_record_read(&maker.process, RECORD, &defer));
		spanmaker_put(&maker, RECORD, 24, 4);
		spanmaker_put_word(&maker, sp, 0x1111);
		spanmaker_put_word(&maker, sp + maker.word, 0x2222);
		spanmaker_put_word(&maker, sp + 2 * maker.word, 0x3333);
		spanmaker_put_word(&maker, sp + (uint64_t)cases[i].link * maker.word, 0x4444);
		ck_assert(gh_defer_record_read(&maker.process, RECORD, &defer));
		ck_assert_uint_eq(defer.sp, 0x1111);
		ck_assert_uint_eq(defer.pc, 0x2222);
		ck_assert_uint_eq(defer.closure, 0x3333);
		ck_assert_uint_eq(defer.next, 0x4444);
		ck_assert_uint_eq(defer.arguments, arguments > 0 ? RECORD + arguments : 0);
		ck_assert_uint_eq(defer.size, arguments > 0 ? 24 : 0);
		spanmaker_free(&maker);
	}
}
END_TEST

/* The types that are known, by the place of each. */
enum { BIAS = 0x1000, FIRST_TYPE = 0x100000 };

static struct gh_rtype types[40];
static struct gh_rtypes known = {.items = types};

/* The address in the process of the descriptor of a type that is known from now on. */
static uint64_t add_type(const char *text, unsigned kind, uint64_t size)
{
	types[known.count] = (struct gh_rtype){
	    .address = FIRST_TYPE + 16 * known.count,
	    .text = {text, (uint32_t)strlen(text)},
	    .kind = (uint8_t)kind,
	    .size = size,
	};
	return types[known.count++].address + BIAS;
}

static void start(struct spanmaker *maker, int variant, int minor)
{
	spanmaker_start(maker, variant, minor);
	maker->process.bias = BIAS;
	known.count = 0;
	/* Memory that is there: what is not written of it is 0. */
	spanmaker_put(maker, VALUE, 0, 1);
}

static void check(struct spanmaker *maker, uint64_t type, uint64_t data, const char *expected)
{
	struct gh_buffer out = {0};
	gh_panic_value(&out, &maker->process, &known, type, data);
	gh_buffer_u8(&out, 0);
	ck_assert_str_eq((const char *)out.data, expected);
	gh_buffer_free(&out);
}

/* Writes the header of a string of this TEXT, whose bytes are at ADDRESS, at HEADER. */
static void put_string(struct spanmaker *maker, uint64_t header, uint64_t address, const char *text)
{
	size_t size = strlen(text);
	spanmaker_put_word(maker, header, address);
	spanmaker_put_word(maker, header + maker->word, size);
	for (size_t i = 0; i < size; i++)
		*spanmaker_byte(maker, address + i) = (uint8_t)text[i];
}

static uint64_t bits_of(double number, unsigned size)
{
	float narrow = (float)number;
	uint64_t bits = 0;
	uint32_t low;
	memcpy(&low, &narrow, 4);
	memcpy(&bits, &number, 8);
	return size == 4 ? low : bits;
}

/* As runtime.printpanicval does: numbers and strings as they are, those of declared types with
 * these. */
START_TEST(numbers_are_printed_by_their_kind)
{
	static const struct {
		const char *type;
		unsigned kind, size;
		uint64_t bits;
		const char *text;
	} cases[] = {
	    {"bool", GH_KIND_BOOL, 1, 1, "true"},
	    {"bool", GH_KIND_BOOL, 1, 0, "false"},
	    {"main.B", GH_KIND_BOOL, 1, 1, "main.B(true)"},
	    {"int8", GH_KIND_INT8, 1, 0x80, "-128"},
	    {"int16", GH_KIND_INT16, 2, 0xffff, "-1"},
	    {"int32", GH_KIND_INT32, 4, 0x7fffffff, "2147483647"},
	    {"int64", GH_KIND_INT64, 8, UINT64_C(1) << 63, "-9223372036854775808"},
	    {"int", GH_KIND_INT, 8, UINT64_MAX, "-1"},
	    {"main.Code", GH_KIND_INT, 4, 0xfffffffe, "main.Code(-2)"},
	    {"uint", GH_KIND_UINT, 4, 0xffffffff, "4294967295"},
	    {"uint8", GH_KIND_UINT8, 1, 0xff, "255"},
	    {"uint16", GH_KIND_UINT16, 2, 0xffff, "65535"},
	    {"uint32", GH_KIND_UINT32, 4, 0x80000000, "2147483648"},
	    {"uint64", GH_KIND_UINT64, 8, UINT64_MAX, "18446744073709551615"},
	    {"uintptr", GH_KIND_UINTPTR, 8, 7, "7"},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct spanmaker maker;
		start(&maker, _i, 24);
		spanmaker_put(&maker, VALUE, cases[i].bits, cases[i].size);
		check(&maker, add_type(cases[i].type, cases[i].kind, cases[i].size), VALUE,
		      cases[i].text);
		spanmaker_free(&maker);
	}
}
END_TEST

/* As runtime.printfloat does to Go 1.25, and strconv's 'g' with the fewest digits later. */
START_TEST(floats_are_printed_as_the_release_does)
{
	static const struct {
		double number;
		unsigned size;
		const char *old, *fewest;
	} cases[] = {
	    {0, 8, "+0.000000e+000", "0"},
	    {1.5, 8, "+1.500000e+000", "1.5"},
	    {-2, 4, "-2.000000e+000", "-2"},
	    {36.6, 8, "+3.660000e+001", "36.6"},
	    {36.6, 4, "+3.660000e+001", "36.6"},
	    {100000, 8, "+1.000000e+005", "100000"},
	    {1000000, 8, "+1.000000e+006", "1e+06"},
	    {123456.75, 8, "+1.234568e+005", "123456.75"},
	    {0.0001, 8, "+1.000000e-004", "0.0001"},
	    {0.00001, 8, "+1.000000e-005", "1e-05"},
	    {1.0 / 3, 8, "+3.333333e-001", "0.3333333333333333"},
	    {1.0 / 3, 4, "+3.333333e-001", "0.33333334"},
	    {-1e300, 8, "-1.000000e+300", "-1e+300"},
	    {INFINITY, 8, "+Inf", "+Inf"},
	    {-INFINITY, 4, "-Inf", "-Inf"},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct spanmaker maker;
		unsigned kind = cases[i].size == 4 ? GH_KIND_FLOAT32 : GH_KIND_FLOAT64;
		start(&maker, _i, 24);
		uint64_t type = add_type("float", kind, cases[i].size);
		spanmaker_put(&maker, VALUE, bits_of(cases[i].number, cases[i].size),
			      cases[i].size);
		check(&maker, type, VALUE, cases[i].old);
		maker.process.minor = 26;
		check(&maker, type, VALUE, cases[i].fewest);
		spanmaker_free(&maker);
	}
}
END_TEST

START_TEST(complex_numbers_have_parentheses_of_their_own)
{
	static const struct {
		double real, imaginary;
		const char *old, *fewest;
	} cases[] = {
	    {1, -2.5, "(+1.000000e+000-2.500000e+000i)", "(1-2.5i)"},
	    {-0.5, 4, "(-5.000000e-001+4.000000e+000i)", "(-0.5+4i)"},
	    {NAN, NAN, "(NaNNaNi)", "(NaN+NaNi)"},
	    {INFINITY, INFINITY, "(+Inf+Infi)", "(+Inf+Infi)"},
	};
	for (unsigned i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		struct spanmaker maker;
		unsigned size = i % 2 ? 4 : 8;
		unsigned kind = i % 2 ? GH_KIND_COMPLEX64 : GH_KIND_COMPLEX128;
		char text[64] = "main.C";
		start(&maker, _i, 24);
		uint64_t type = add_type("complex", kind, 2 * size);
		uint64_t declared = add_type("main.C", kind, 2 * size);
		spanmaker_put(&maker, VALUE, bits_of(cases[i / 2].real, size), size);
		spanmaker_put(&maker, VALUE + size, bits_of(cases[i / 2].imaginary, size), size);
		check(&maker, type, VALUE, cases[i / 2].old);
		check(&maker, declared, VALUE, strcat(text, cases[i / 2].old));
		maker.process.minor = 27;
		check(&maker, type, VALUE, cases[i / 2].fewest);
		spanmaker_free(&maker);
	}
}
END_TEST

START_TEST(strings_are_printed_as_the_release_does)
{
	struct spanmaker maker;
	struct gh_buffer out = {0};
	start(&maker, _i, 22);
	uint64_t type = add_type("string", GH_KIND_STRING, 2 * maker.word);
	uint64_t declared = add_type("main.S", GH_KIND_STRING, 2 * maker.word);
	check(&maker, type, VALUE, "");
	put_string(&maker, VALUE, TEXT, "one\ntwo\n");
	check(&maker, type, VALUE, "one\ntwo\n");
	check(&maker, declared, VALUE, "main.S(\"one\ntwo\n\")");
	maker.process.minor = 23;
	check(&maker, type, VALUE, "one\n\ttwo\n\t");
	check(&maker, declared, VALUE, "main.S(\"one\n\ttwo\n\t\")");
	spanmaker_put_word(&maker, VALUE, 0x7000);
	check(&maker, type, VALUE, "(a string that cannot be read)");
	/* Of a longer one than 4096 bytes, those. */
	maker.npieces = 0;
	for (unsigned i = 0; i < 4096; i += SPANMAKER_PIECE)
		*spanmaker_byte(&maker, TEXT + i) = 'x';
	gh_process_memory_free(&maker.process.memory);
	gh_panic_string(&out, &maker.process, TEXT, 4096);
	ck_assert_uint_eq(out.size, 4096);
	gh_panic_string(&out, &maker.process, TEXT, 4097);
	ck_assert_uint_eq(out.size, 2 * 4096 + 3);
	ck_assert_mem_eq(out.data + out.size - 3, "...", 3);
	gh_buffer_free(&out);
	spanmaker_free(&maker);
}
END_TEST

/* boundsErrorFmts and boundsNegErrorFmts of src/runtime/error.go. */
START_TEST(bounds_are_told_by_their_code)
{
	static const char *const texts[] = {
	    "index out of range [5] with length 3",
	    "slice bounds out of range [:5] with length 3",
	    "slice bounds out of range [:5] with capacity 3",
	    "slice bounds out of range [5:3]",
	    "slice bounds out of range [::5] with length 3",
	    "slice bounds out of range [::5] with capacity 3",
	    "slice bounds out of range [:5:3]",
	    "slice bounds out of range [5:3:]",
	    "cannot convert slice with length 3 to array or pointer to array with length 5",
	    "out of range",
	};
	static const char *const negative[] = {
	    "index out of range [-5]",
	    "slice bounds out of range [:-5]",
	    "slice bounds out of range [:-5]",
	    "slice bounds out of range [-5:]",
	    "slice bounds out of range [::-5]",
	    "slice bounds out of range [::-5]",
	    "slice bounds out of range [:-5:]",
	    "slice bounds out of range [-5::]",
	    "out of range",
	};
	struct spanmaker maker;
	char expected[128];
	start(&maker, _i, 20);
	uint64_t type = add_type("runtime.boundsError", GH_KIND_STRUCT, 8 + 2 * maker.word);
	spanmaker_put_word(&maker, VALUE + 8, 3);
	for (unsigned code = 0; code < 10; code++) {
		gh_process_memory_free(&maker.process.memory);
		spanmaker_put(&maker, VALUE, 5, 8);
		spanmaker_put(&maker, VALUE + 8 + maker.word, 1, 1);
		spanmaker_put(&maker, VALUE + 9 + maker.word, code, 1);
		snprintf(expected, sizeof(expected), "runtime error: %s", texts[code]);
		check(&maker, type, VALUE, expected);
		if (code == 9)
			continue;
		gh_process_memory_free(&maker.process.memory);
		spanmaker_put(&maker, VALUE, (uint64_t)-5, 8);
		snprintf(expected, sizeof(expected), "runtime error: %s", negative[code]);
		check(&maker, type, VALUE, expected);
	}
	/* An index that has no sign; and a release without arrays. */
	spanmaker_put(&maker, VALUE, (uint64_t)-5, 8);
	spanmaker_put(&maker, VALUE + 8 + maker.word, 0, 2);
	gh_process_memory_free(&maker.process.memory);
	check(&maker, type, VALUE,
	      "runtime error: index out of range [18446744073709551611] with length 3");
	spanmaker_put(&maker, VALUE + 9 + maker.word, 8, 1);
	spanmaker_put(&maker, VALUE, 5, 8);
	gh_process_memory_free(&maker.process.memory);
	maker.process.minor = 19;
	check(&maker, type, VALUE,
	      "runtime error: cannot convert slice with length 3 to pointer to array with "
	      "length 5");
	spanmaker_free(&maker);
}
END_TEST

START_TEST(errors_of_the_library_are_told_by_their_text)
{
	static const struct {
		const char *type, *text;
	} cases[] = {
	    {"*errors.errorString", "no file"},
	    {"*fmt.wrapError", "no file"},
	    {"*fmt.wrapErrors", "no file"},
	    {"*fs.PathError", "no file read: it has ended"},
	    {"*os.PathError", "no file read: it has ended"},
	    {"*os.SyscallError", "no file: nil"},
	    {"runtime.errorString", "runtime error: no file"},
	    {"runtime.errorAddressString", "runtime error: no file"},
	    {"runtime.plainError", "no file"},
	    {"*main.errorString", "(*main.errorString) 0x20000"},
	    {"main.point", "(main.point) 0x20000"},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct spanmaker maker;
		start(&maker, _i, 24);
		unsigned word = maker.word;
		uint64_t type = add_type(cases[i].type, GH_KIND_POINTER, word);
		uint64_t inner = add_type("*errors.errorString", GH_KIND_POINTER, word);
		put_string(&maker, VALUE, TEXT, "no file");
		if (strstr(cases[i].type, "PathError") != NULL) {
			/* The operation, the path, and the error, of an itab and a value. */
			put_string(&maker, VALUE + 2 * word, TEXT + 16, "read");
			spanmaker_put_word(&maker, VALUE + 4 * word, TEXT + 0x100);
			spanmaker_put_word(&maker, VALUE + 5 * word, TEXT + 0x200);
			spanmaker_put_word(&maker, TEXT + 0x100 + word, inner);
			put_string(&maker, TEXT + 0x200, TEXT + 32, "it has ended");
		}
		check(&maker, type, VALUE, cases[i].text);
		spanmaker_free(&maker);
	}
}
END_TEST

START_TEST(what_is_not_known_is_told_by_its_address)
{
	struct spanmaker maker;
	start(&maker, _i, 24);
	uint64_t direct = add_type("main.p", GH_KIND_UINTPTR, maker.word);
	types[0].direct = true;
	uint64_t number = add_type("int32", GH_KIND_INT32, 4);
	uint64_t declared = add_type("main.n", GH_KIND_INT32, 4);
	uint64_t damaged = add_type("int", GH_KIND_INT, 3);
	check(&maker, 0, VALUE, "nil");
	check(&maker, 0x7777, VALUE, "(type 0x7777) 0x20000");
	check(&maker, direct, 0x1234, "(main.p) 0x1234");
	check(&maker, number, 0x7000, "a value that cannot be read");
	check(&maker, declared, 0x7000, "main.n(a value that cannot be read)");
	check(&maker, damaged, VALUE, "a value that cannot be read");
	spanmaker_free(&maker);
}
END_TEST

/* An error that wraps itself: it ends after eight. */
START_TEST(errors_that_wrap_each_other_come_to_an_end)
{
	struct spanmaker maker;
	char expected[128] = "";
	start(&maker, _i, 24);
	uint64_t type = add_type("*os.SyscallError", GH_KIND_POINTER, maker.word);
	put_string(&maker, VALUE, TEXT, "a");
	spanmaker_put_word(&maker, VALUE + 2 * maker.word, TEXT + 0x100);
	spanmaker_put_word(&maker, VALUE + 3 * maker.word, VALUE);
	spanmaker_put_word(&maker, TEXT + 0x100 + maker.word, type);
	for (unsigned i = 0; i < 9; i++)
		strcat(expected, "a: ");
	check(&maker, type, VALUE, expected);
	spanmaker_free(&maker);
}
END_TEST

void panic_tests(TCase *tests)
{
	tcase_add_loop_test(tests, a_panic_is_where_its_release_has_it, 0, 4);
	tcase_add_loop_test(tests, a_deferred_call_is_where_its_release_has_it, 0, 4);
	tcase_add_loop_test(tests, numbers_are_printed_by_their_kind, 0, 4);
	tcase_add_loop_test(tests, floats_are_printed_as_the_release_does, 0, 4);
	tcase_add_loop_test(tests, complex_numbers_have_parentheses_of_their_own, 0, 4);
	tcase_add_loop_test(tests, strings_are_printed_as_the_release_does, 0, 4);
	tcase_add_loop_test(tests, bounds_are_told_by_their_code, 0, 4);
	tcase_add_loop_test(tests, errors_of_the_library_are_told_by_their_text, 0, 4);
	tcase_add_loop_test(tests, what_is_not_known_is_told_by_its_address, 0, 4);
	tcase_add_loop_test(tests, errors_that_wrap_each_other_come_to_an_end, 0, 4);
}
