/* Values that are made of others, and what is behind pointers, printed as Delve does. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/suites.h"
#include "tests/unit/valuemaker.h"

static struct valuemaker maker;

/* A main.Node that points to NEXT, its words being COUNT strings at WORDS. */
static uint64_t put_node(uint64_t value, uint64_t next, uint64_t words, uint64_t count)
{
	uint64_t at = valuemaker_begin(&maker);
	valuemaker_words(&maker, 2, (const uint64_t[]){value, next});
	valuemaker_slice_of(&maker, words, count, 2 * count);
	return at;
}

static void set_next(uint64_t node, uint64_t next)
{
	valuemaker_set(&maker, node + maker.what.word, next, maker.what.word);
}

/* The pointer's address. */
static uint64_t put_pointer(uint64_t to)
{
	return valuemaker_integer(&maker, to, maker.what.word);
}

static void start(int variant, const char *last)
{
	valuemaker_start(&maker, variant, last);
	valuemaker_open(&maker);
}

START_TEST(structs_have_their_fields)
{
	start(_i, NULL);
	uint64_t node = valuemaker_made(&maker, TYPE_NODE);
	uint64_t pointer = valuemaker_made(&maker, TYPE_POINTER);
	uint64_t last = put_node(2, 0, 0, 0);
	uint64_t first = put_node(1, last, valuemaker_text(&maker, "x"), 1);
	valuemaker_check(&maker, node, first,
			 "main.Node {value: 1, Node: *main.Node {value: 2, Node: nil, "
			 "words: []string len: 0, cap: 0, nil}, "
			 "words: []string len: 1, cap: 2, [\"x\"]}");
	valuemaker_check(&maker, pointer, put_pointer(last),
			 "*main.Node {value: 2, Node: nil, words: []string len: 0, cap: 0, nil}");
	valuemaker_check(&maker, pointer, put_pointer(0), "nil");
	valuemaker_check(&maker, pointer, VALUEMAKER_NOWHERE, "(unreadable 0x50000000)");
	valuemaker_check_json(
	    &maker, node, first,
	    "{\"value\":1, \"Node\":{\"value\":2, \"Node\":null, \"words\":null}, "
	    "\"words\":[\"x\"]}");
	valuemaker_free(&maker);
}
END_TEST

START_TEST(what_leads_back_is_a_cycle)
{
	char expected[256];
	start(_i, NULL);
	uint64_t pointer = valuemaker_made(&maker, TYPE_POINTER);
	uint64_t last = put_node(2, 0, 0, 0);
	uint64_t first = put_node(1, last, 0, 0);
	set_next(last, first);
	snprintf(expected, sizeof(expected),
		 "*main.Node {value: 1, Node: *main.Node {value: 2, Node: (*main.Node)(0x%llx) "
		 "(cycle), words: []string len: 0, cap: 0, nil}, words: []string len: 0, cap: 0, "
		 "nil}",
		 (unsigned long long)first);
	valuemaker_check(&maker, pointer, put_pointer(first), expected);
	snprintf(expected, sizeof(expected),
		 "{\"value\":1, \"Node\":{\"value\":2, \"Node\":{\"type\":\"*main.Node\","
		 "\"address\":\"0x%llx\",\"cycle\":true}, \"words\":null}, \"words\":null}",
		 (unsigned long long)first);
	valuemaker_check_json(&maker, pointer, put_pointer(first), expected);
	/* The struct itself is not behind a pointer. */
	snprintf(expected, sizeof(expected),
		 "main.Node {value: 1, Node: (*main.Node)(0x%llx), words: []string len: 0, cap: 0, "
		 "nil}",
		 (unsigned long long)last);
	maker.values.depth = 0;
	valuemaker_check(&maker, valuemaker_made(&maker, TYPE_NODE), first, expected);
	valuemaker_free(&maker);
}
END_TEST

START_TEST(pointers_are_followed_to_a_depth)
{
	char expected[256];
	start(_i, NULL);
	uint64_t pointer = valuemaker_made(&maker, TYPE_POINTER);
	uint64_t last = put_node(2, 0, 0, 0);
	uint64_t at = put_pointer(put_node(1, last, valuemaker_text(&maker, "x"), 1));
	maker.values.depth = 1;
	snprintf(expected, sizeof(expected),
		 "*main.Node {value: 1, Node: (*main.Node)(0x%llx), "
		 "words: []string len: 1, cap: 2, [...+1 more]}",
		 (unsigned long long)last);
	valuemaker_check(&maker, pointer, at, expected);
	snprintf(expected, sizeof(expected),
		 "{\"value\":1, \"Node\":{\"type\":\"*main.Node\",\"address\":\"0x%llx\"}, "
		 "\"words\":[{\"more\":1}]}",
		 (unsigned long long)last);
	valuemaker_check_json(&maker, pointer, at, expected);
	valuemaker_free(&maker);
}
END_TEST

/* Of a list of 70 nodes 64 are behind pointers that are followed, however deep one may go. */
START_TEST(no_more_pointers_are_followed_than_there_is_room_for)
{
	unsigned stars = 0;
	uint64_t next = 0;
	start(_i, NULL);
	for (unsigned i = 0; i < 70; i++)
		next = put_node(i, next, 0, 0);
	maker.values.depth = UINT32_MAX;
	gh_value_print(&maker.values,
		       valuemaker_number(&maker, valuemaker_made(&maker, TYPE_POINTER)),
		       put_pointer(next));
	for (size_t i = 0; i + 1 < maker.values.out.size; i++)
		stars += memcmp(maker.values.out.data + i, "*m", 2) == 0;
	ck_assert_uint_eq(stars, GH_VALUE_DEPTH_MAX + 1);
	valuemaker_free(&maker);
}
END_TEST

START_TEST(elements_are_limited)
{
	static const struct {
		size_t limit;
		const char *text;
		const char *json;
	} cases[] = {
	    {SIZE_MAX, "[3]int [1,2,3]", "[1,2,3]"},
	    {3, "[3]int [1,2,3]", "[1,2,3]"},
	    {2, "[3]int [1,2,...+1 more]", "[1,2,{\"more\":1}]"},
	    {0, "[3]int [...+3 more]", "[{\"more\":3}]"},
	};
	start(_i, NULL);
	uint64_t array = valuemaker_made(&maker, TYPE_ARRAY);
	uint64_t at = valuemaker_begin(&maker);
	valuemaker_words(&maker, 3, (const uint64_t[]){1, 2, 3});
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		maker.values.limit = cases[i].limit;
		valuemaker_check(&maker, array, at, cases[i].text);
		valuemaker_check_json(&maker, array, at, cases[i].json);
		gh_value_print_elements(
		    &maker.values, valuemaker_number(&maker, valuemaker_made(&maker, TYPE_INT)), at,
		    3);
		valuemaker_check_out(&maker, cases[i].text);
	}
	valuemaker_free(&maker);
}
END_TEST

START_TEST(slices_say_whether_they_are_nil)
{
	start(_i, NULL);
	uint64_t slice = valuemaker_made(&maker, TYPE_SLICE);
	uint64_t at = valuemaker_begin(&maker);
	valuemaker_slice_of(&maker, 0, 0, 0);
	valuemaker_check(&maker, slice, at, "[]string len: 0, cap: 0, nil");
	valuemaker_check_json(&maker, slice, at, "null");
	at = valuemaker_begin(&maker);
	valuemaker_slice_of(&maker, VALUEMAKER_NOWHERE, 0, 4);
	valuemaker_check(&maker, slice, at, "[]string len: 0, cap: 4, []");
	/* What is not there is told of once. */
	at = valuemaker_begin(&maker);
	valuemaker_slice_of(&maker, VALUEMAKER_NOWHERE, 3, 4);
	valuemaker_check(&maker, slice, at,
			 "[]string len: 3, cap: 4, [(unreadable 0x50000000),...+2 more]");
	valuemaker_check_json(&maker, slice, at, "[{\"unreadable\":\"0x50000000\"},{\"more\":2}]");
	valuemaker_check(&maker, slice, VALUEMAKER_NOWHERE, "[]string (unreadable 0x50000000)");
	/* Its capacity is beyond the memory. */
	at = VALUEMAKER_ADDRESS + VALUEMAKER_SIZE - 2 * maker.what.word;
	ck_assert_uint_eq(at % 8, 0);
	valuemaker_check(&maker, slice, at,
			 maker.what.word == 8 ? "[]string (unreadable 0x10003ff0)"
					      : "[]string (unreadable 0x10003ff8)");
	valuemaker_free(&maker);
}
END_TEST

/* An interface of these two words. */
static uint64_t put_pair(uint64_t first, uint64_t second)
{
	uint64_t at = valuemaker_begin(&maker);
	valuemaker_words(&maker, 2, (const uint64_t[]){first, second});
	return at;
}

START_TEST(interfaces_have_dynamic_types)
{
	valuemaker_start(&maker, _i, NULL);
	uint64_t empty = valuemaker_interface(&maker, false, "interface {}");
	valuemaker_open(&maker);
	uint64_t integer = valuemaker_made(&maker, TYPE_INT);
	uint64_t pointer = valuemaker_made(&maker, TYPE_POINTER);
	uint64_t number = valuemaker_integer(&maker, 5, maker.what.word);
	uint64_t node = put_node(2, 0, 0, 0);
	uint64_t at = put_pair(0, 0);
	valuemaker_check(&maker, empty, at, "interface {} nil");
	valuemaker_check_json(&maker, empty, at, "null");
	at = put_pair(integer, number);
	valuemaker_check(&maker, empty, at, "interface {}(int) 5");
	valuemaker_check_json(&maker, empty, at, "{\"type\":\"int\",\"value\":5}");
	at = put_pair(pointer, node);
	valuemaker_check(&maker, empty, at,
			 "interface {}(*main.Node) *{value: 2, Node: nil, "
			 "words: []string len: 0, cap: 0, nil}");
	at = put_pair(0x1234, number);
	valuemaker_check(&maker, empty, at, "interface {} (type 0x1234) ...");
	valuemaker_check_json(&maker, empty, at, "{\"type\":\"0x1234\"}");
	valuemaker_check(&maker, empty, VALUEMAKER_NOWHERE, "(unreadable 0x50000000)");
	valuemaker_free(&maker);
}
END_TEST

/* Their first word is a table's address, whose second word is the type. */
START_TEST(interfaces_with_methods_have_tables)
{
	start(_i, NULL);
	uint64_t iface = valuemaker_made(&maker, TYPE_IFACE);
	uint64_t number = valuemaker_integer(&maker, 5, maker.what.word);
	uint64_t table = put_pair(iface, valuemaker_made(&maker, TYPE_INT));
	valuemaker_check(&maker, iface, put_pair(table, number),
			 "interface { Do(int, ...string) *main.Node }(int) 5");
	valuemaker_check(&maker, iface, put_pair(0, 0),
			 "interface { Do(int, ...string) *main.Node } nil");
	valuemaker_check(&maker, iface, put_pair(put_pair(iface, 0), number),
			 "interface { Do(int, ...string) *main.Node } nil");
	uint64_t lost = put_pair(VALUEMAKER_NOWHERE, number);
	char expected[64];
	snprintf(expected, sizeof(expected), "(unreadable 0x%llx)", (unsigned long long)lost);
	valuemaker_check(&maker, iface, lost, expected);
	valuemaker_free(&maker);
}
END_TEST

/* One that holds itself is printed 256 times. */
START_TEST(interfaces_in_themselves_end)
{
	static char expected[16384];
	valuemaker_start(&maker, _i, NULL);
	uint64_t empty = valuemaker_interface(&maker, false, "interface {}");
	valuemaker_open(&maker);
	uint64_t at = valuemaker_begin(&maker);
	put_pair(empty, at);
	expected[0] = '\0';
	for (unsigned i = 0; i < 256; i++)
		strcat(expected, "interface {}(interface {}) ");
	strcat(expected, "...");
	valuemaker_check(&maker, empty, at, expected);
	/* Nothing is left of them. */
	valuemaker_check(&maker, empty, at, expected);
	ck_assert_uint_eq(maker.values.nested, 0);
	expected[0] = '\0';
	for (unsigned i = 0; i < 256; i++)
		strcat(expected, "{\"type\":\"interface {}\",\"value\":");
	strcat(expected, "{\"more\":null}");
	memset(expected + strlen(expected), '}', 256);
	valuemaker_check_json(&maker, empty, at, expected);
	valuemaker_free(&maker);
}
END_TEST

START_TEST(functions_have_names)
{
	start(_i, NULL);
	uint64_t type = valuemaker_made(&maker, TYPE_FUNC);
	uint64_t at = put_pointer(0);
	valuemaker_check(&maker, type, at, "nil");
	valuemaker_check_json(&maker, type, at, "null");
	at = put_pointer(put_pointer(VALUEMAKER_LEAF));
	valuemaker_check(&maker, type, at, "main.leaf");
	valuemaker_check_json(&maker, type, at, "{\"function\":\"main.leaf\"}");
	at = put_pointer(put_pointer(0x1234));
	valuemaker_check(&maker, type, at, "func(0x1234)");
	valuemaker_check_json(&maker, type, at, "{\"function\":\"0x1234\"}");
	at = put_pointer(VALUEMAKER_NOWHERE);
	valuemaker_check(&maker, type, at, "(unreadable 0x50000000)");
	valuemaker_free(&maker);
}
END_TEST

/* The receiver follows the code's address. */
START_TEST(method_values_have_their_receivers)
{
	start(_i, "example.org/x/main.Node.Do-fm");
	uint64_t type = valuemaker_made(&maker, TYPE_FUNC);
	uint64_t closure = valuemaker_begin(&maker);
	valuemaker_words(&maker, 6, (const uint64_t[]){VALUEMAKER_LAST, 3, 0, 0, 0, 0});
	uint64_t at = put_pointer(closure);
	valuemaker_check(&maker, type, at,
			 "example.org/x/main.Node.Do-fm {R: main.Node {value: 3, Node: nil, words: "
			 "[]string len: 0, cap: 0, nil}}");
	valuemaker_check_json(&maker, type, at,
			      "{\"function\":\"example.org/x/main.Node.Do-fm\",\"captured\":{\"R\":"
			      "{\"value\":3, \"Node\":null, \"words\":null}}}");
	maker.values.depth = 0;
	valuemaker_check(&maker, type, at, "example.org/x/main.Node.Do-fm");
	valuemaker_check_json(&maker, type, at, "{\"function\":\"example.org/x/main.Node.Do-fm\"}");
	valuemaker_free(&maker);
}
END_TEST

/* What VALUE of the type called NAME is. */
static void check_named(const char *name, uint64_t value, const char *expected)
{
	struct gh_error err;
	ck_assert_msg(gh_value_print_named(&maker.values, name, value, &err), "%s", err.text);
	valuemaker_check_out(&maker, expected);
}

START_TEST(types_by_name_need_not_be_described)
{
	char expected[128];
	struct gh_error err;
	start(_i, NULL);
	uint64_t seven = valuemaker_integer(&maker, 7, maker.what.word);
	uint64_t pointer = put_pointer(seven);
	uint64_t list = valuemaker_begin(&maker);
	valuemaker_words(&maker, 2, (const uint64_t[]){seven, 0});
	uint64_t slice = valuemaker_begin(&maker);
	valuemaker_slice_of(&maker, list, 2, 3);
	check_named("int", seven, "7");
	check_named("*int", seven, "*7");
	check_named("*int", 0, "nil");
	check_named("**int", pointer, "**7");
	check_named("[2]*int", list, "[2]*int [*7,nil]");
	check_named("[]*int", slice, "[]*int len: 2, cap: 3, [*7,nil]");
	check_named("*[1]int", seven, "*[1]int [7]");
	check_named("*main.Node", 0, "nil");
	maker.values.depth = 0;
	snprintf(expected, sizeof(expected), "(...)(0x%llx)", (unsigned long long)seven);
	check_named("*int", seven, expected);
	maker.values.depth = 1;
	check_named("**int", VALUEMAKER_NOWHERE, "*(unreadable 0x50000000)");
	maker.values.json = true;
	check_named("[]*int", slice, "[{\"type\":\"...\",\"address\":\"0x10000000\"},null]");
	check_named("*int", 0, "null");
	check_named("*int", seven, "7");
	maker.values.json = false;
	ck_assert(!gh_value_print_named(&maker.values, "[2]none", list, &err));
	ck_assert_str_eq(
	    err.text, "types: expected a type that the program describes, found none called none");
	valuemaker_free(&maker);
}
END_TEST

/* Sixteen stars and no more are taken off a name. */
START_TEST(names_nest_to_a_depth)
{
	char name[] = "*****************int";
	uint64_t size;
	struct gh_error err;
	start(_i, NULL);
	ck_assert(gh_value_named_size(&maker.values, name + 1, &size, &err));
	ck_assert_uint_eq(size, maker.what.word);
	ck_assert(!gh_value_named_size(&maker.values, name, &size, &err));
	valuemaker_free(&maker);
}
END_TEST

/* A value that is in no memory: its pointers lead into it. */
START_TEST(values_of_bytes_are_in_no_memory)
{
	uint8_t bytes[16] = {0};
	struct gh_error err;
	start(_i, NULL);
	unsigned word = maker.what.word;
	uint64_t text = valuemaker_text(&maker, "abc");
	memcpy(bytes, maker.memory + (text - VALUEMAKER_ADDRESS), 2 * word);
	ck_assert(gh_value_print_bytes(&maker.values, "string", bytes, 2 * word, &err));
	valuemaker_check_out(&maker, "\"abc\"");
	gh_value_print_own(&maker.values,
			   valuemaker_number(&maker, valuemaker_made(&maker, TYPE_STRING)), bytes);
	valuemaker_check_out(&maker, "\"abc\"");
	ck_assert_ptr_eq(maker.process.memory.source, &maker.source);
	valuemaker_free(&maker);
}
END_TEST

void value_nested_tests(TCase *tests)
{
	tcase_add_loop_test(tests, structs_have_their_fields, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, what_leads_back_is_a_cycle, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, pointers_are_followed_to_a_depth, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, no_more_pointers_are_followed_than_there_is_room_for, 0,
			    VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, elements_are_limited, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, slices_say_whether_they_are_nil, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, interfaces_have_dynamic_types, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, interfaces_with_methods_have_tables, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, interfaces_in_themselves_end, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, functions_have_names, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, method_values_have_their_receivers, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, types_by_name_need_not_be_described, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, names_nest_to_a_depth, 0, VALUEMAKER_VARIANTS);
	tcase_add_loop_test(tests, values_of_bytes_are_in_no_memory, 0, VALUEMAKER_VARIANTS);
}
