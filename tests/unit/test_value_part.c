/* Parts of values by expressions, fields by paths, and words that have no type. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/suites.h"
#include "tests/unit/valuemaker.h"

static struct valuemaker maker;

/* What the tests look into: three nodes, each main.Node embedding the next, and a map. */
static struct {
	uint64_t empty; /* the type interface {} */
	uint64_t outer; /* type Outer struct { Node (embedded); any interface {}; list [3]int } */
	uint64_t map;   /* type map[string]int, described whole */
	uint64_t value; /* an Outer */
	uint64_t first; /* the Node in it */
	uint64_t second;
	uint64_t header; /* the map's */
} scene;

static void put_map(void)
{
	static const char *const keys[] = {"one", "a]b", "a\"b"};
	uint64_t texts[16] = {0};
	uint64_t word = maker.what.word;
	for (unsigned i = 0; i < 3; i++) {
		texts[2 * i] = valuemaker_bytes(&maker, keys[i], 3);
		texts[2 * i + 1] = 3;
	}
	uint64_t at = scene.header = valuemaker_begin(&maker);
	uint64_t size = (8 + 5 * word + 7) / 8 * 8;
	valuemaker_words(&maker, 1, (const uint64_t[]){3});
	valuemaker_put(&maker, 0, 4);
	valuemaker_put(&maker, 0, 4);
	valuemaker_words(&maker, 4, (const uint64_t[]){at + size, 0, 0, 0});
	valuemaker_begin(&maker);
	for (unsigned i = 0; i < 8; i++)
		valuemaker_put(&maker, i < 3 ? 100 : 0, 1);
	valuemaker_words(&maker, 16, texts);
	valuemaker_words(&maker, 9, (const uint64_t[]){10, 11, 12, 0, 0, 0, 0, 0, 0});
}

static void start(int variant)
{
	valuemaker_start(&maker, variant, NULL);
	uint64_t integer = valuemaker_made(&maker, TYPE_INT);
	valuemaker_basic(&maker, GH_KIND_UINT8, "uint8", NULL);
	scene.empty = valuemaker_interface(&maker, false, "interface {}");
	scene.map =
	    valuemaker_map(&maker, valuemaker_made(&maker, TYPE_STRING), integer, "map[string]int");
	const struct valuemaker_field fields[] = {
	    {"Node", valuemaker_made(&maker, TYPE_NODE), true},
	    {"any", scene.empty, false},
	    {"list", valuemaker_made(&maker, TYPE_ARRAY), false},
	    {"m", scene.map, false},
	    {"nothing", scene.empty, false},
	    {0}};
	scene.outer = valuemaker_struct(&maker, "main.Outer", "main", fields);
	valuemaker_open(&maker);
	put_map();
	uint64_t words = valuemaker_text(&maker, "x");
	valuemaker_words(&maker, 2, (const uint64_t[]){words, 0});
	scene.second = valuemaker_begin(&maker);
	valuemaker_words(&maker, 2, (const uint64_t[]){2, 0});
	valuemaker_slice_of(&maker, words, 1, 2);
	scene.value = scene.first = valuemaker_begin(&maker);
	valuemaker_words(&maker, 2, (const uint64_t[]){1, scene.second});
	valuemaker_slice_of(&maker, words, 1, 2);
	valuemaker_words(&maker, 2,
			 (const uint64_t[]){valuemaker_made(&maker, TYPE_POINTER), scene.second});
	valuemaker_words(&maker, 6, (const uint64_t[]){21, 22, 23, scene.header, 0, 0});
}

/* Checks the part that PART tells of the Outer. */
static void check_part(const char *part, const char *expected)
{
	struct gh_error err;
	maker.values.part = part;
	ck_assert_msg(gh_value_print_named(&maker.values, "main.Outer", scene.value, &err), "%s",
		      err.text);
	valuemaker_check_out(&maker, expected);
}

START_TEST(parts_are_found)
{
	static const char second[] =
	    "main.Node {value: 2, Node: nil, words: []string len: 1, cap: 2, [\"x\"]}";
	char expected[160];
	start(_i);
	check_part(".list[0]", "21");
	check_part(".list[2]", "23");
	check_part(".list[0x1]", "22");
	check_part(".list", "[3]int [21,22,23]");
	check_part(".any.(*main.Node).value", "2");
	check_part(".any.(data).value", "2");
	check_part(".any.value", "2");
	check_part(".m[\"one\"]", "10");
	check_part(".m[\"a]b\"]", "11");
	check_part(".m[\"a\\\"b\"]", "12");
	check_part(".words[0]", "\"x\"");
	check_part(".words[0][0]", "120");
	/* The field of that name is in the embedded struct; so deep only the outermost is. */
	check_part(".value", "1");
	check_part(".Node.Node.value", "2");
	snprintf(expected, sizeof(expected), "*%s", second);
	check_part(".Node.Node", expected);
	check_part(".Node.Node.*", second);
	check_part(".nothing", "interface {} nil");
	maker.values.json = true;
	check_part(".m[\"one\"]", "10");
	check_part(".list[1:]", "[22,23]");
	maker.values.json = false;
	valuemaker_free(&maker);
}
END_TEST

START_TEST(ranges_are_as_in_go)
{
	start(_i);
	check_part(".list[:]", "[]int len: 3, cap: 3, [21,22,23]");
	check_part(".list[1:]", "[]int len: 2, cap: 2, [22,23]");
	check_part(".list[:2]", "[]int len: 2, cap: 3, [21,22]");
	check_part(".list[1:2]", "[]int len: 1, cap: 2, [22]");
	check_part(".list[3:3]", "[]int len: 0, cap: 0, []");
	check_part(".words[:1]", "[]string len: 1, cap: 2, [\"x\"]");
	check_part(".words[1:]", "[]string len: 0, cap: 1, []");
	valuemaker_free(&maker);
}
END_TEST

/* What is said of the part PART of the Outer. */
static void check_refused(const char *part, const char *expected)
{
	struct gh_error err;
	maker.values.part = part;
	ck_assert_msg(!gh_value_print_named(&maker.values, "main.Outer", scene.value, &err), "%s",
		      part);
	ck_assert_str_eq(err.text, expected);
	ck_assert_uint_eq(maker.values.out.size, 0);
}

START_TEST(parts_that_are_none_are_told)
{
	start(_i);
	check_refused(
	    ".none",
	    ".none: expected a field of main.Outer: Node, any, list, m, nothing, found none "
	    "of that name");
	check_refused(".list.x", ".x: expected a struct, found [3]int");
	check_refused(".list[3]", "[3]: expected an index that is in it, found 3, its length is 3");
	check_refused(".list[4:]", "[4:]: expected an index that is in it, found 4");
	check_refused(".list[:4]", "[:4]: expected an index that is in it, found 4");
	check_refused(".list[2:1]", "[2:1]: expected an index that is in it, found 2");
	check_refused(".list[-1]", "[-1]: expected a number as index, found -1");
	check_refused(".list[1x]", "[1x]: expected a number as index, found 1x");
	check_refused(".list[1", "[1: expected a ], found the end");
	check_refused(".list[]", "[]: expected a field, [index] or .(type), found none");
	check_refused(".list[1:].x", "[1:].x: expected the end, found .x");
	check_refused(".words[0][1:]", "[1:]: expected an array or slice, found string");
	check_refused(".value[0]", "[0]: expected an array, slice, string or map, found int");
	check_refused(".value.*", ".*: expected a pointer, found int");
	check_refused(".any.(int)", ".(int): expected a value of that type, found *main.Node");
	check_refused(".any.(int", ".(int: expected a ), found the end");
	check_refused(".list.(int)", ".(int): expected an interface, found [3]int");
	check_refused(".nothing.(int)", ".(int): expected a value that is not nil, found nil");
	check_refused(".nothing.x", ".x: expected a value that is not nil, found nil");
	check_refused(".Node.Node.Node.value",
		      ".value: expected a value that is not nil, found nil");
	check_refused(".Node.Node.Node.*", ".*: expected a value that is not nil, found nil");
	check_refused(
	    ".m[\"two\"]",
	    "[\"two\"]: expected a key that is in the map, as goheap print writes it, found "
	    "\"two\", which none of the 3 entries has");
	check_refused("x", "x: expected a field, [index] or .(type), found x");
	check_refused(".list[0]x", "x: expected a field, [index] or .(type), found x");
	valuemaker_free(&maker);
}
END_TEST

/* A name or an index of 255 bytes is the longest. */
START_TEST(names_of_parts_have_a_length)
{
	char part[300] = ".";
	struct gh_error err;
	start(_i);
	maker.values.part = part;
	memset(part + 1, 'x', 255);
	ck_assert(!gh_value_print_named(&maker.values, "main.Outer", scene.value, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "none of that name"));
	part[256] = 'x';
	ck_assert(!gh_value_print_named(&maker.values, "main.Outer", scene.value, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "found a longer one"));
	valuemaker_free(&maker);
}
END_TEST

START_TEST(brackets_are_closed_outside_of_quotes)
{
	static const struct {
		const char *text;
		int length; /* -1: nothing closes it */
	} cases[] = {
	    {"[1]", 3},      {"[1][2]", 3},      {"[a[1]]x", 6},   {"[(x)]", 5},   {"[{]}]", 4},
	    {"[\"]\"]x", 5}, {"[\"\\\"]\"]", 7}, {"[']']", 5},     {"[\"'\"]", 5}, {"[1", -1},
	    {"[\"]", -1},    {"[\"\\", -1},      {"[\"\\\"]", -1},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *end = gh_value_index_end(cases[i].text);
		if (cases[i].length < 0)
			ck_assert_msg(end == NULL, "%s", cases[i].text);
		else
			ck_assert_msg(end == cases[i].text + cases[i].length, "%s", cases[i].text);
	}
}
END_TEST

/* Pointers by their values, of types that the program need not describe. */
START_TEST(parts_of_pointers_are_found)
{
	struct gh_error err;
	start(_i);
	uint64_t pointer = valuemaker_integer(&maker, scene.first, maker.what.word);
	maker.values.part = ".value";
	ck_assert(gh_value_print_named(&maker.values, "*main.Node", scene.second, &err));
	valuemaker_check_out(&maker, "2");
	ck_assert(gh_value_print_named(&maker.values, "*main.Outer", scene.value, &err));
	valuemaker_check_out(&maker, "1");
	ck_assert(gh_value_print_named(&maker.values, "**main.Outer", pointer, &err));
	valuemaker_check_out(&maker, "1");
	ck_assert(!gh_value_print_named(&maker.values, "**main.Outer", VALUEMAKER_NOWHERE, &err));
	ck_assert_str_eq(err.text, ".value: expected memory, found none at 0x50000000");
	ck_assert(!gh_value_print_named(&maker.values, "*none", scene.value, &err));
	ck_assert_str_eq(
	    err.text, "types: expected a type that the program describes, found none called none");
	maker.values.part = "";
	ck_assert(gh_value_print_named(&maker.values, "map[string]int", scene.header, &err));
	valuemaker_check_out(&maker, "map[string]int [\"a\\\"b\": 12, \"a]b\": 11, \"one\": 10]");
	valuemaker_free(&maker);
}
END_TEST

/* What PATH has of the Outer. */
static struct gh_scalar read_field(const char *path)
{
	struct gh_scalar scalar;
	gh_process_memory_free(&maker.process.memory);
	maker.values.out.size = 0;
	gh_value_read_field(&maker.values, valuemaker_number(&maker, scene.outer), scene.value,
			    path, &scalar);
	return scalar;
}

static void check_integer(const char *path, int64_t expected)
{
	struct gh_scalar scalar = read_field(path);
	ck_assert_msg(scalar.kind == GH_SCALAR_INTEGER, "%s", path);
	ck_assert_int_eq(scalar.integer, expected);
}

static void check_field_text(const char *path, const char *expected)
{
	struct gh_scalar scalar = read_field(path);
	ck_assert_msg(scalar.kind == GH_SCALAR_TEXT, "%s", path);
	valuemaker_check_out(&maker, expected);
}

START_TEST(fields_are_scalars)
{
	static const char *const none[] = {
	    "none",     "list.x",      "Node.Node.Node",  "Node.Node.Node.value",
	    "nothing",  "nothing.len", "Node.words.lens", "Node.words.cap.x",
	    "list.len", ".list",       "Node..value",     "Node.value.len"};
	start(_i);
	check_integer("Node.value", 1);
	check_integer("Node.Node.value", 2);
	check_integer("any.value", 2);
	check_integer("any", (int64_t)scene.second);
	check_integer("m", (int64_t)scene.header);
	check_integer("Node.words.len", 1);
	check_integer("Node.words.cap", 2);
	check_field_text("list", "[3]int [21,22,23]");
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ck_assert_msg(read_field(none[i]).kind == GH_SCALAR_NONE, "%s", none[i]);
	/* A dot at the end says nothing. */
	check_integer("Node.value.", 1);
	uint64_t text = valuemaker_text(&maker, "a\n");
	struct gh_scalar scalar;
	uint32_t string = valuemaker_number(&maker, valuemaker_made(&maker, TYPE_STRING));
	gh_value_read_field(&maker.values, string, text, "", &scalar);
	ck_assert_int_eq(scalar.kind, GH_SCALAR_TEXT);
	valuemaker_check_out(&maker, "a\n");
	gh_value_read_field(&maker.values, string, text, "len", &scalar);
	ck_assert_int_eq(scalar.kind, GH_SCALAR_INTEGER);
	ck_assert_int_eq(scalar.integer, 2);
	/* A string has none. */
	gh_value_read_field(&maker.values, string, text, "cap", &scalar);
	ck_assert_int_eq(scalar.kind, GH_SCALAR_NONE);
	gh_value_read_field(&maker.values, string, VALUEMAKER_NOWHERE, "", &scalar);
	ck_assert_int_eq(scalar.kind, GH_SCALAR_NONE);
	gh_value_read_field(&maker.values, string, VALUEMAKER_NOWHERE, "len", &scalar);
	ck_assert_int_eq(scalar.kind, GH_SCALAR_NONE);
	valuemaker_free(&maker);
}
END_TEST

START_TEST(fields_that_are_numbers_have_their_signs)
{
	static const struct {
		enum gh_kind kind;
		const char *name;
		unsigned size;
		uint64_t bits;
		int64_t integer;
		double real;
	} cases[] = {
	    {GH_KIND_BOOL, "bool", 1, 1, 1, 0},
	    {GH_KIND_INT8, "int8", 1, 0x80, -128, 0},
	    {GH_KIND_UINT8, "uint8", 1, 0x80, 128, 0},
	    {GH_KIND_INT32, "int32", 4, UINT32_MAX, -1, 0},
	    {GH_KIND_UINT32, "uint32", 4, UINT32_MAX, UINT32_MAX, 0},
	    {GH_KIND_INT64, "int64", 8, UINT64_C(1) << 63, INT64_MIN, 0},
	    {GH_KIND_FLOAT32, "float32", 4, 0x3fc00000, 0, 1.5},
	    {GH_KIND_FLOAT64, "float64", 8, UINT64_C(0xc000000000000000), 0, -2},
	};
	enum { CASES = sizeof(cases) / sizeof(cases[0]) };
	uint64_t types[CASES];
	valuemaker_start(&maker, _i, NULL);
	for (size_t i = 0; i < CASES; i++)
		types[i] = valuemaker_basic(&maker, cases[i].kind, cases[i].name, NULL);
	valuemaker_open(&maker);
	for (size_t i = 0; i < CASES; i++) {
		struct gh_scalar scalar;
		uint64_t at = valuemaker_integer(&maker, cases[i].bits, cases[i].size);
		gh_value_read_field(&maker.values, valuemaker_number(&maker, types[i]), at, "",
				    &scalar);
		bool is_float = cases[i].real != 0;
		ck_assert_int_eq(scalar.kind, is_float ? GH_SCALAR_REAL : GH_SCALAR_INTEGER);
		if (is_float)
			ck_assert(scalar.real == cases[i].real);
		else
			ck_assert_int_eq(scalar.integer, cases[i].integer);
	}
	valuemaker_free(&maker);
}
END_TEST

/* What the COUNT words look like. */
static void check_likely(unsigned count, const uint64_t *words, const char *expected)
{
	gh_process_memory_free(&maker.process.memory);
	gh_value_print_words(&maker.values, words, count);
	valuemaker_check_out(&maker, expected);
}

START_TEST(words_are_what_they_look_like)
{
	start(_i);
	uint64_t abc = valuemaker_bytes(&maker, "abc", 3);
	uint64_t bad = valuemaker_bytes(&maker, "a\x01", 2);
	uint64_t integer = valuemaker_made(&maker, TYPE_INT);
	uint64_t five = valuemaker_integer(&maker, 5, maker.what.word);
	char expected[80];
	check_likely(2, (const uint64_t[]){abc, 3}, "\"abc\"?");
	check_likely(3, (const uint64_t[]){7, abc, 3}, "7?, \"abc\"?");
	check_likely(4, (const uint64_t[]){abc, 1, abc, 2}, "\"a\"?, \"ab\"?");
	snprintf(expected, sizeof(expected), "%llu?, 0?", (unsigned long long)abc);
	check_likely(2, (const uint64_t[]){abc, 0}, expected);
	snprintf(expected, sizeof(expected), "%llu?, 2?", (unsigned long long)bad);
	check_likely(2, (const uint64_t[]){bad, 2}, expected);
	check_likely(2, (const uint64_t[]){0, 3}, "0?, 3?");
	check_likely(2, (const uint64_t[]){integer, five}, "interface {}(int) 5?");
	/* It cannot be there. */
	snprintf(expected, sizeof(expected), "%llu?, 1?", (unsigned long long)integer);
	check_likely(2, (const uint64_t[]){integer, 1}, expected);
	snprintf(expected, sizeof(expected), "%llu?", (unsigned long long)abc);
	check_likely(1, &abc, expected);
	check_likely(4,
		     (const uint64_t[]){(UINT64_C(1) << 32) - 1, UINT64_C(1) << 32,
					1 - (UINT64_C(1) << 32), 0 - (UINT64_C(1) << 32)},
		     "4294967295?, 0x100000000?, -4294967295?, 0xffffffff00000000?");
	/* An itab. */
	uint64_t iface = valuemaker_made(&maker, TYPE_IFACE);
	uint64_t table = valuemaker_begin(&maker);
	valuemaker_words(&maker, 2, (const uint64_t[]){iface, integer});
	check_likely(2, (const uint64_t[]){table, five},
		     "interface { Do(int, ...string) *main.Node }(int) 5?");
	check_likely(0, NULL, "");
	valuemaker_free(&maker);
}
END_TEST

/* Longer texts are none: of 2^16 bytes at most, which are not here. */
START_TEST(a_likely_text_has_a_length)
{
	start(_i);
	char expected[80];
	uint64_t rest = VALUEMAKER_ADDRESS + VALUEMAKER_SIZE - 8;
	memset(maker.memory + VALUEMAKER_SIZE - 8, 'x', 8);
	check_likely(2, (const uint64_t[]){rest, 8}, "\"xxxxxxxx\"?");
	snprintf(expected, sizeof(expected), "%llu?, 9?", (unsigned long long)rest);
	check_likely(2, (const uint64_t[]){rest, 9}, expected);
	snprintf(expected, sizeof(expected), "%llu?, 65537?", (unsigned long long)rest);
	check_likely(2, (const uint64_t[]){rest, 65537}, expected);
	valuemaker_free(&maker);
}
END_TEST

void value_part_tests(TCase *tests)
{
	tcase_add_loop_test(tests, parts_are_found, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, ranges_are_as_in_go, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, parts_that_are_none_are_told, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, names_of_parts_have_a_length, 0, VALUEMAKER_VARIANTS);
	tcase_add_test(tests, brackets_are_closed_outside_of_quotes);
	tcase_add_loop_test(tests, parts_of_pointers_are_found, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, fields_are_scalars, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, fields_that_are_numbers_have_their_signs, 0,
			    VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, words_are_what_they_look_like, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, a_likely_text_has_a_length, 0, VALUEMAKER_VARIANTS);
}
