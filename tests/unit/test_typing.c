/* The types of a heap's objects: made dumps of a made program. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/typing/internal.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"
#include "tests/unit/typescene.h"

START_TEST(types_spread_along_pointers)
{
	struct typescene scene;
	typescene_start(&scene, TYPESCENE_FIRST + _i);
	typescene_nodes(&scene);
	typescene_data(&scene, 2,
		       (const uint64_t[]){typescene_descriptor(&scene, TYPE_POINTER), SCENE_A});
	typescene_finish(&scene, true);
	typescene_check(&scene, SCENE_A, SCENE_NODE);
	typescene_check(&scene, SCENE_B, SCENE_NODE);
	typescene_check(&scene, SCENE_ARRAY, "[]string");
	typescene_check(&scene, SCENE_TEXT, "string data");
	typescene_check_field(&scene, SCENE_A, 1, "Node");
	typescene_check_field(&scene, SCENE_A, 2, "words");
	typescene_check_field(&scene, SCENE_ARRAY, 2, "[1]");
	typescene_check_field(&scene, SCENE_TEXT, 0, "");
	ck_assert_uint_eq(scene.typing.typed_objects, 4);
	ck_assert_uint_eq(scene.typing.typed_bytes, scene.typing.bytes);
	ck_assert_uint_eq(scene.typing.conflicts, 0);
	typescene_free(&scene);
}
END_TEST

START_TEST(interfaces_hold_values_too)
{
	struct typescene scene;
	typescene_start(&scene, TYPESCENE_FIRST + _i);
	typescene_nodes(&scene);
	typescene_data(&scene, 2,
		       (const uint64_t[]){typescene_descriptor(&scene, TYPE_NODE), SCENE_A});
	typescene_finish(&scene, true);
	typescene_check(&scene, SCENE_A, SCENE_NODE);
	typescene_check(&scene, SCENE_B, SCENE_NODE);
	typescene_free(&scene);
}
END_TEST

START_TEST(itabs_lead_to_types)
{
	struct typescene scene;
	typescene_start(&scene, TYPESCENE_FIRST + _i);
	typescene_nodes(&scene);
	maker_numbers(&scene.maker, 3,
		      (const uint64_t[]){8, 0x6000, typescene_descriptor(&scene, TYPE_POINTER)});
	typescene_data(&scene, 2, (const uint64_t[]){0x6000, SCENE_A});
	typescene_finish(&scene, true);
	typescene_check(&scene, SCENE_A, SCENE_NODE);
	typescene_free(&scene);
}
END_TEST

START_TEST(notes_of_large_objects_tell_types)
{
	static const struct {
		const char *before; /* of the object's address */
		uint64_t address;
		uint64_t pointer; /* that is not nil: no note */
		int type;
		bool believed;
	} notes[] = {
	    {"object at 0x", SCENE_ARRAY, 0, TYPE_STRING, true},
	    {"object at 0x", SCENE_ARRAY + 8, 0, TYPE_STRING, false},
	    {"object at 0x", 0x20000, 0, TYPE_STRING, false},
	    {"object at 0x", SCENE_ARRAY, 0, TYPE_NODE, false},
	    {"object at 0x", SCENE_ARRAY, SCENE_A, TYPE_STRING, false},
	    {"object at 0x-", SCENE_ARRAY, 0, TYPE_STRING, false},
	    {"object at 0x000000000000000000000000000000000000", SCENE_ARRAY, 0, TYPE_STRING,
	     false},
	    {"", SCENE_ARRAY, 0, TYPE_STRING, false},
	};
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		struct typescene scene;
		char note[128];
		typescene_start(&scene, TYPESCENE_FIRST + _i);
		typescene_nodes(&scene);
		snprintf(note, sizeof(note), "%s%016" PRIx64 " of the type at 0x%016" PRIx64,
			 notes[i].before, notes[i].address,
			 typescene_descriptor(&scene, notes[i].type));
		maker_number(&scene.maker, 2);
		maker_text(&scene.maker, note);
		maker_number(&scene.maker, notes[i].pointer);
		typescene_finish(&scene, true);
		ck_assert(typescene_class(&scene, SCENE_ARRAY)->typed == notes[i].believed);
		if (notes[i].believed)
			typescene_check(&scene, SCENE_ARRAY, "[]string");
		typescene_free(&scene);
	}
}
END_TEST

/* What follows from a type that is known not to be the whole object's is true nonetheless. */
START_TEST(what_does_not_fit_is_not_believed)
{
	struct typescene scene;
	unsigned pointers[] = {1, 2, 5};
	typescene_start(&scene, TYPESCENE_FIRST + _i / 2);
	/* A pointer too many, or an object too large. */
	typescene_object(&scene, SCENE_A, _i % 2 == 0 ? 6 : 8, (const uint64_t[8]){1, SCENE_B},
			 _i % 2 == 0 ? 3 : 2, pointers);
	typescene_node(&scene, SCENE_B, SCENE_A, 0);
	typescene_data(&scene, 2,
		       (const uint64_t[]){typescene_descriptor(&scene, TYPE_POINTER), SCENE_A});
	typescene_finish(&scene, true);
	ck_assert(!typescene_class(&scene, SCENE_A)->typed);
	typescene_check(&scene, SCENE_B, SCENE_NODE);
	typescene_check_field(&scene, SCENE_A, 1, "");
	typescene_free(&scene);
}
END_TEST

/* A pointer before another is no type, even if it points to one. */
START_TEST(type_words_are_not_pointers)
{
	struct typescene scene;
	typescene_start(&scene, TYPESCENE_FIRST + _i);
	typescene_nodes(&scene);
	typescene_object(&scene, 0x10400, 2,
			 (const uint64_t[]){typescene_descriptor(&scene, TYPE_POINTER), SCENE_A}, 2,
			 (const unsigned[]){0, 1});
	typescene_finish(&scene, true);
	ck_assert_uint_eq(scene.typing.typed_objects, 0);
	typescene_free(&scene);
}
END_TEST

START_TEST(larger_of_two_types_is_taken)
{
	struct typescene scene;
	unsigned word;
	typescene_start(&scene, TYPESCENE_FIRST + _i);
	word = scene.what.word;
	typescene_type(&scene, 0x7000, 5 * word, "main.First");
	typescene_type(&scene, 0x7100, 6 * word, "main.Second");
	maker_object(&scene.maker, SCENE_A, 6 * word);
	typescene_data(&scene, 4, (const uint64_t[]){0x7100, SCENE_A, 0x7000, SCENE_A});
	typescene_finish(&scene, _i % 2);
	typescene_check(&scene, SCENE_A, "main.Second");
	ck_assert_uint_eq(scene.typing.conflicts, 1);
	typescene_free(&scene);
}
END_TEST

START_TEST(impossible_types_are_harmless)
{
	struct typescene scene;
	typescene_start(&scene, TYPESCENE_FIRST + _i);
	typescene_nodes(&scene);
	typescene_type(&scene, 0x7000, 0, "main.Empty");
	typescene_type(&scene, 0x7100, UINT64_C(1) << 63, "main.Huge");
	typescene_type(&scene, 0x7100, UINT64_MAX, "main.Again");
	maker_numbers(&scene.maker, 3, (const uint64_t[]){8, 0x6000, 0x9999});
	typescene_data(&scene, 6,
		       (const uint64_t[]){0x7000, SCENE_A, 0x7100, SCENE_B, 0x6000, SCENE_ARRAY});
	typescene_finish(&scene, _i % 2);
	ck_assert_uint_eq(scene.typing.typed_objects, 0);
	if (scene.what.word == 8)
		typescene_check(&scene, SCENE_A, "48 bytes, pointers at 8 16");
	typescene_free(&scene);
}
END_TEST

/* Objects of no known type are told by their size and where their pointers are. */
START_TEST(many_pointers_are_counted)
{
	static const unsigned pointers[] = {0, 1, 2, 3, 4, 5, 6, 7};
	static const uint64_t words[8] = {0};
	struct typescene scene;
	typescene_start(&scene, TYPESCENE_FIRST + _i);
	typescene_object(&scene, SCENE_A, 6, words, 6, pointers);
	typescene_object(&scene, SCENE_B, 8, words, 8, pointers);
	typescene_finish(&scene, _i % 2);
	if (scene.what.word == 8) {
		typescene_check(&scene, SCENE_A, "48 bytes, pointers at 0 8 16 24 32 40");
		typescene_check(&scene, SCENE_B,
				"64 bytes, pointers at 0 8 16 24 32 40 and 2 more");
	}
	typescene_free(&scene);
}
END_TEST

/* A name that would be told of each of many objects. */
START_TEST(long_names_are_cut)
{
	struct typescene scene;
	static char name[100000];
	memset(name, 'x', sizeof(name) - 1);
	typescene_start(&scene, TYPESCENE_FIRST + _i);
	typescene_nodes(&scene);
	typescene_type(&scene, 0x7000, 6 * scene.what.word, name);
	typescene_data(&scene, 2, (const uint64_t[]){0x7000, SCENE_A});
	typescene_finish(&scene, _i % 2);
	const char *found = typescene_class(&scene, SCENE_A)->name;
	ck_assert(typescene_class(&scene, SCENE_A)->typed);
	ck_assert_uint_lt(strlen(found), 5000);
	ck_assert_str_eq(found + strspn(found, "x"), "...");
	typescene_free(&scene);
}
END_TEST

/* What append leaves room for is of the array, too. */
START_TEST(arrays_are_as_long_as_the_capacity)
{
	struct typescene scene;
	typescene_start(&scene, TYPESCENE_FIRST + _i);
	typescene_object(&scene, SCENE_A, 6, (const uint64_t[6]){1, 0, SCENE_ARRAY, 1, 2}, 2,
			 (const unsigned[]){1, 2});
	typescene_object(&scene, SCENE_ARRAY, 4, (const uint64_t[4]){SCENE_TEXT, 5}, 2,
			 (const unsigned[]){0, 2});
	maker_object(&scene.maker, SCENE_TEXT, 32);
	typescene_data(&scene, 2,
		       (const uint64_t[]){typescene_descriptor(&scene, TYPE_POINTER), SCENE_A});
	typescene_finish(&scene, true);
	typescene_check(&scene, SCENE_ARRAY, "[]string");
	typescene_check_field(&scene, SCENE_ARRAY, 2, "[1]");
	typescene_free(&scene);
}
END_TEST

/* Slices that claim more than there is, strings that end past their bytes. */
START_TEST(lengths_are_not_believed)
{
	struct typescene scene;
	typescene_start(&scene, TYPESCENE_FIRST + _i);
	typescene_object(&scene, SCENE_A, 6,
			 (const uint64_t[]){1, SCENE_A, SCENE_ARRAY, UINT32_MAX, UINT32_MAX, 0}, 2,
			 (const unsigned[]){1, 2});
	typescene_object(&scene, SCENE_ARRAY, 4,
			 (const uint64_t[]){SCENE_TEXT, UINT32_MAX, SCENE_TEXT + 31, 2}, 2,
			 (const unsigned[]){0, 2});
	maker_object(&scene.maker, SCENE_TEXT, 32);
	typescene_data(&scene, 2,
		       (const uint64_t[]){typescene_descriptor(&scene, TYPE_POINTER), SCENE_A});
	typescene_finish(&scene, true);
	typescene_check(&scene, SCENE_A, SCENE_NODE);
	ck_assert(!typescene_class(&scene, SCENE_ARRAY)->typed);
	ck_assert(!typescene_class(&scene, SCENE_TEXT)->typed);
	typescene_free(&scene);
}
END_TEST

/* Where object NUMBER of a long chain is: not at the end of a page, where Go has none. */
static uint64_t link_at(unsigned number)
{
	return SCENE_A + 8192 * (number / 160) + 48 * (number % 160);
}

START_TEST(long_chains_need_no_stack)
{
	enum { LENGTH = 200000 };
	struct typescene scene;
	typescene_start(&scene, TYPESCENE_FIRST + 8 * (SYNTHETIC_1_20 - SYNTHETIC_1_16));
	for (unsigned i = 0; i < LENGTH; i++) {
		typescene_node(&scene, link_at(i), i + 1 < LENGTH ? link_at(i + 1) : 0, 0);
		scene.maker.nlengths = 0;
	}
	typescene_data(&scene, 2,
		       (const uint64_t[]){typescene_descriptor(&scene, TYPE_POINTER), SCENE_A});
	typescene_finish(&scene, true);
	ck_assert_uint_eq(scene.typing.typed_objects, LENGTH);
	typescene_free(&scene);
}
END_TEST

START_TEST(every_format_has_classes)
{
	struct typescene scene;
	int variant = _i % MAKER_VARIANTS;
	typescene_start(&scene, TYPESCENE_FIRST);
	free(scene.maker.data);
	scene.maker = (struct maker){0};
	maker_everything(&scene.maker, variant);
	typescene_finish(&scene, _i >= MAKER_VARIANTS && scene.maker.word == scene.what.word);
	for (uint32_t i = 0; i < scene.heap.count; i++) {
		uint32_t number = gh_typing_of(&scene.typing, i);
		ck_assert_uint_lt(number, scene.typing.nclasses);
		ck_assert(*gh_typing_class(&scene.typing, number)->name != '\0');
	}
	if (scene.maker.format <= MAKER_1_3) {
		typescene_check(&scene, 0x10000, "main.T");
		typescene_check(&scene, 0x10100, "[]main.E");
		typescene_check(&scene, 0x10200, "chan main.E");
	}
	typescene_free(&scene);
}
END_TEST

/* From Go 1.5 to 1.10 the first word of an interface is a pointer, too: here the third word. */
START_TEST(interfaces_are_one_pointer_or_two)
{
	static const struct {
		unsigned count, pointers[4];
		bool fits[2]; /* in those releases; in others */
	} cases[] = {{3, {1, 2, 3}, {true, false}},
		     {2, {1, 3}, {true, true}},
		     {2, {1, 2}, {false, false}},
		     {3, {0, 1, 3}, {false, false}},
		     {3, {1, 3, 4}, {false, false}}};
	static const struct {
		enum maker_format format;
		const char *version; /* NULL: as the format has it */
		bool others;
	} releases[] = {{MAKER_1_4, NULL, true},
			{MAKER_1_5, NULL, false},
			{MAKER_1_6, NULL, false},
			{MAKER_1_7, "go1.10.1", false},
			{MAKER_1_7, "go1.11.1", true}};
	for (size_t i = 0; i < 25; i++) {
		struct typescene scene;
		typescene_start(&scene, TYPESCENE_FIRST + _i);
		struct maker *maker = &scene.maker;
		unsigned word = scene.what.word, size = word == 8 ? 6 : 8;
		free(maker->data);
		maker_start(maker, releases[i / 5].format, word, scene.what.big_endian);
		maker_params(maker);
		if (releases[i / 5].version != NULL)
			memcpy(memmem(maker->data, maker->size, "go1.99.1", 8),
			       releases[i / 5].version, 8);
		typescene_set_type(&scene, scene.places.fields + 7 * word, TYPE_IFACE);
		typescene_object(&scene, SCENE_A, size, (const uint64_t[8]){1}, cases[i % 5].count,
				 cases[i % 5].pointers);
		typescene_data(
		    &scene, 2,
		    (const uint64_t[]){typescene_descriptor(&scene, TYPE_POINTER), SCENE_A});
		typescene_finish(&scene, true);
		ck_assert_msg(typescene_class(&scene, SCENE_A)->typed ==
				  cases[i % 5].fits[releases[i / 5].others],
			      "%zu", i);
		typescene_free(&scene);
	}
}
END_TEST

/* A node that the linker put into the data segment, and a pointer to what is nowhere. */
START_TEST(values_in_segments_lead_on)
{
	struct typescene scene;
	typescene_start(&scene, TYPESCENE_FIRST + _i);
	unsigned word = scene.what.word;
	uint64_t type = typescene_descriptor(&scene, TYPE_POINTER), node = SCENE_DATA + 4 * word;
	typescene_nodes(&scene);
	maker_numbers(&scene.maker, 2, (const uint64_t[]){12, SCENE_DATA});
	maker_words(&scene.maker, 10, (const uint64_t[10]){type, node, type, 0x9000, 1, SCENE_A});
	typescene_fields(&scene.maker, 3, (const unsigned[]){1, 3, 5});
	typescene_finish(&scene, true);
	typescene_check(&scene, SCENE_A, SCENE_NODE);
	const struct gh_statics *statics = &scene.typing.statics;
	ck_assert_uint_eq(statics->values.count, 1);
	ck_assert_uint_eq(statics->values.items[0].layout, TYPE_NODE);
	ck_assert_ptr_null(gh_statics_find(statics, node - 1));
	ck_assert_ptr_eq(gh_statics_find(statics, node), statics->values.items);
	ck_assert_ptr_eq(gh_statics_find(statics, node + 5 * word - 1), statics->values.items);
	ck_assert_ptr_null(gh_statics_find(statics, node + 5 * word));
	typescene_free(&scene);
}
END_TEST

/* Only sync/atomic's, and of a pointer type that its first field names. */
START_TEST(atomic_pointers_lead_to_their_type)
{
	for (int other = 0; other < 4; other++) {
		struct typescene scene;
		typescene_start(&scene, TYPESCENE_FIRST + _i);
		unsigned word = scene.what.word;
		typescene_nodes(&scene);
		typescene_object(&scene, 0x10400, 8 / word, (const uint64_t[2]){SCENE_A}, 1,
				 (const unsigned[]){0});
		typescene_data(
		    &scene, 2,
		    (const uint64_t[]){typescene_descriptor(&scene, TYPE_ATOMIC), 0x10400});
		if (other == 1)
			scene.data[scene.places.atomic] = 'm';
		else if (other == 2)
			memcpy(memmem(scene.data, TYPES_OFFSET + TYPES_SIZE, "Pointer[", 8),
			       "pointer[", 8);
		else if (other == 3)
			typescene_set_type(&scene, scene.places.types[TYPE_NONE] + 4 * word + 16,
					   TYPE_INT);
		typescene_finish(&scene, true);
		ck_assert(typescene_class(&scene, 0x10400)->typed);
		ck_assert_msg(typescene_class(&scene, SCENE_A)->typed == (other == 0), "%d", other);
		typescene_free(&scene);
	}
}
END_TEST

/* As sizeclasses.go and malloc.go have them. */
START_TEST(sizes_are_the_allocators)
{
	struct gh_allocator allocator = {.has_24 = true, .headers = true, .word = 8};
	struct gh_allocator old = {.word = 8};
	ck_assert_uint_eq(gh_allocator_size(&allocator, 0, true), UINT64_MAX);
	ck_assert_uint_eq(gh_allocator_size(&allocator, UINT64_C(1) << 63, true), UINT64_MAX);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 1, true), 8);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 1, false), GH_TINY_BLOCK);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 17, true), 24);
	ck_assert_uint_eq(gh_allocator_size(&old, 17, true), 32);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 512, true), 512);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 570, true), 640);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 570, false), 576);
	ck_assert_uint_eq(gh_allocator_size(&old, 570, true), 576);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 32761, true), 32768);
	ck_assert_uint_eq(gh_allocator_size(&allocator, 32769, true), 40960);
	ck_assert(gh_allocator_has_header(&allocator, 576));
	ck_assert(!gh_allocator_has_header(&allocator, 512));
	ck_assert(!gh_allocator_has_header(&old, 576));
}
END_TEST

START_TEST(a_twin_that_cannot_be_read_is_told)
{
	struct gh_variables variables;
	struct gh_layouts layouts = {0};
	struct gh_error err;
	ck_assert(!gh_variables_find(&variables, &layouts, "/dev/null", NULL, 0, &err));
	ck_assert_str_eq(err.text, "/dev/null: expected DWARF, found none that can be read");
}
END_TEST

void typing_tests(TCase *tests)
{
	enum { VARIANTS = FIXTURE_VARIANTS - TYPESCENE_FIRST };
	tcase_add_loop_test(tests, types_spread_along_pointers, 0, VARIANTS);
	tcase_add_loop_test(tests, interfaces_hold_values_too, 0, VARIANTS);
	tcase_add_loop_test(tests, interfaces_are_one_pointer_or_two, 0, VARIANTS);
	tcase_add_loop_test(tests, values_in_segments_lead_on, 0, VARIANTS);
	tcase_add_loop_test(tests, atomic_pointers_lead_to_their_type, 0, VARIANTS);
	tcase_add_loop_test(tests, itabs_lead_to_types, 0, VARIANTS);
	tcase_add_loop_test(tests, notes_of_large_objects_tell_types, 0, VARIANTS);
	tcase_add_loop_test(tests, what_does_not_fit_is_not_believed, 0, 2 * VARIANTS);
	tcase_add_loop_test(tests, type_words_are_not_pointers, 0, VARIANTS);
	tcase_add_loop_test(tests, larger_of_two_types_is_taken, 0, VARIANTS);
	tcase_add_loop_test(tests, impossible_types_are_harmless, 0, VARIANTS);
	tcase_add_loop_test(tests, many_pointers_are_counted, 0, VARIANTS);
	tcase_add_loop_test(tests, long_names_are_cut, 0, VARIANTS);
	tcase_add_loop_test(tests, arrays_are_as_long_as_the_capacity, 0, VARIANTS);
	tcase_add_loop_test(tests, lengths_are_not_believed, 0, VARIANTS);
	tcase_add_test(tests, a_twin_that_cannot_be_read_is_told);
	tcase_add_test(tests, long_chains_need_no_stack);
	tcase_add_loop_test(tests, every_format_has_classes, 0, 2 * MAKER_VARIANTS);
	tcase_add_test(tests, sizes_are_the_allocators);
}
