/* The types of a heap's objects: made dumps of a made program. */
#include <stdlib.h>
#include <string.h>

#include "lib/typing/internal.h"
#include "lib/typing/typing.h"
#include "tests/unit/dumpmaker.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"
#include "tests/unit/typemaker.h"

/* Objects of the dumps that are made here. */
#define A     UINT64_C(0x10000)
#define B     UINT64_C(0x10100)
#define ARRAY UINT64_C(0x10200)
#define TEXT  UINT64_C(0x10300)

#define DATA UINT64_C(0x8000)

#define NODE "example.org/x/main.Node"

/* A program and a dump, what is found in them. */
struct scene {
	struct synthetic what;
	uint8_t *data; /* the program; owned */
	struct typemaker_places places;
	struct gh_image image;
	struct gh_pclntab tab;
	struct maker maker;
	struct gh_dump dump;
	struct gh_heap heap;
	struct gh_typing typing;
};

/* Numbers of programs whose descriptors are found: of Go 1.16 and later. */
#define FIRST_VARIANT (SYNTHETIC_1_16 * 8)

static void start(struct scene *scene, int variant)
{
	size_t size;
	struct gh_error err;
	*scene = (struct scene){.what = fixture_variant(variant)};
	scene->data = typemaker_make(&scene->what, &size, &scene->places);
	if (!gh_image_open_memory(&scene->image, scene->data, size, "types", &err) ||
	    !gh_pclntab_open(&scene->tab, &scene->image, &err))
		ck_abort_msg("%s", err.text);
	maker_start(&scene->maker, MAKER_1_7, scene->what.word, scene->what.big_endian);
	maker_params(&scene->maker);
}

static uint64_t descriptor(const struct scene *scene, int type)
{
	return TYPES_ADDRESS + scene->places.types[type] - TYPES_OFFSET;
}

/* The fieldlist of the COUNT pointers at these words. */
static void put_fields(struct maker *maker, unsigned count, const unsigned *words)
{
	for (unsigned i = 0; i < count; i++)
		maker_numbers(maker, 2, (const uint64_t[]){1, words[i] * maker->word});
	maker_number(maker, 0);
}

static void put_object(struct scene *scene, uint64_t address, unsigned size, const uint64_t *words,
		       unsigned count, const unsigned *pointers)
{
	maker_numbers(&scene->maker, 2, (const uint64_t[]){1, address});
	maker_words(&scene->maker, size, words);
	put_fields(&scene->maker, count, pointers);
}

/* A node of its size class, that points to NEXT and has COUNT strings. */
static void put_node(struct scene *scene, uint64_t address, uint64_t next, uint64_t count)
{
	put_object(scene, address, 6,
		   (const uint64_t[6]){1, next, count > 0 ? ARRAY : 0, count, count}, 2,
		   (const unsigned[]){1, 2});
}

/* The data segment: interfaces with these words, COUNT in all. */
static void put_data(struct scene *scene, unsigned count, const uint64_t *words)
{
	static const unsigned pointers[] = {1, 3, 5};
	maker_numbers(&scene->maker, 2, (const uint64_t[]){12, DATA});
	maker_words(&scene->maker, count, words);
	put_fields(&scene->maker, count / 2, pointers);
}

/* Two nodes that point to each other; strings of the first's; what those point to. */
static void put_nodes(struct scene *scene)
{
	put_node(scene, A, B, 2);
	put_node(scene, B, A, 0);
	put_object(scene, ARRAY, 4, (const uint64_t[]){TEXT, 5, TEXT + 10, 6}, 2,
		   (const unsigned[]){0, 2});
	maker_object(&scene->maker, TEXT, 32);
}

static void put_type(struct scene *scene, uint64_t address, uint64_t size, const char *name)
{
	maker_numbers(&scene->maker, 3, (const uint64_t[]){3, address, size});
	maker_text(&scene->maker, name);
	maker_number(&scene->maker, 1);
}

/* Finds the types; the program is known or not. */
static void finish(struct scene *scene, bool known)
{
	struct gh_error err;
	struct gh_typing_program program = {.own.tab = known ? &scene->tab : NULL};
	maker_end(&scene->maker);
	if (!gh_dump_open_memory(&scene->dump, scene->maker.data, scene->maker.size, "made",
				 &err) ||
	    !gh_heap_build(&scene->heap, &scene->dump, &err) ||
	    !gh_typing_build(&scene->typing, &scene->heap, &program, &err))
		ck_abort_msg("%s", err.text);
}

static void clean_up(struct scene *scene)
{
	gh_typing_free(&scene->typing);
	gh_heap_free(&scene->heap);
	gh_dump_close(&scene->dump);
	free(scene->maker.data);
	gh_image_close(&scene->image);
	free(scene->data);
}

static const struct gh_class *class_at(const struct scene *scene, uint64_t address)
{
	uint32_t object = gh_heap_find(&scene->heap, address);
	ck_assert_uint_ne(object, GH_HEAP_NONE);
	return gh_typing_class(&scene->typing, gh_typing_of(&scene->typing, object));
}

static void check_class(const struct scene *scene, uint64_t address, const char *expected)
{
	ck_assert_str_eq(class_at(scene, address)->name, expected);
}

static void check_field(const struct scene *scene, uint64_t address, unsigned word,
			const char *expected)
{
	struct gh_buffer name = {0};
	bool found = gh_typing_field(&scene->typing, gh_heap_find(&scene->heap, address),
				     (uint64_t)word * scene->what.word, &name);
	gh_buffer_u8(&name, 0);
	ck_assert(found == (*expected != '\0'));
	ck_assert_str_eq((const char *)name.data, expected);
	gh_buffer_free(&name);
}

START_TEST(types_spread_along_pointers)
{
	struct scene scene;
	start(&scene, FIRST_VARIANT + _i);
	put_nodes(&scene);
	put_data(&scene, 2, (const uint64_t[]){descriptor(&scene, TYPE_POINTER), A});
	finish(&scene, true);
	check_class(&scene, A, NODE);
	check_class(&scene, B, NODE);
	check_class(&scene, ARRAY, "[]string");
	check_class(&scene, TEXT, "string data");
	check_field(&scene, A, 1, "Node");
	check_field(&scene, A, 2, "words");
	check_field(&scene, ARRAY, 2, "[1]");
	check_field(&scene, TEXT, 0, "");
	ck_assert_uint_eq(scene.typing.typed_objects, 4);
	ck_assert_uint_eq(scene.typing.typed_bytes, scene.typing.bytes);
	ck_assert_uint_eq(scene.typing.conflicts, 0);
	clean_up(&scene);
}
END_TEST

START_TEST(interfaces_hold_values_too)
{
	struct scene scene;
	start(&scene, FIRST_VARIANT + _i);
	put_nodes(&scene);
	put_data(&scene, 2, (const uint64_t[]){descriptor(&scene, TYPE_NODE), A});
	finish(&scene, true);
	check_class(&scene, A, NODE);
	check_class(&scene, B, NODE);
	clean_up(&scene);
}
END_TEST

START_TEST(itabs_lead_to_types)
{
	struct scene scene;
	start(&scene, FIRST_VARIANT + _i);
	put_nodes(&scene);
	maker_numbers(&scene.maker, 3,
		      (const uint64_t[]){8, 0x6000, descriptor(&scene, TYPE_POINTER)});
	put_data(&scene, 2, (const uint64_t[]){0x6000, A});
	finish(&scene, true);
	check_class(&scene, A, NODE);
	clean_up(&scene);
}
END_TEST

/* What follows from a type that is known not to be the whole object's is true nonetheless. */
START_TEST(what_does_not_fit_is_not_believed)
{
	struct scene scene;
	unsigned pointers[] = {1, 2, 5};
	start(&scene, FIRST_VARIANT + _i / 2);
	/* A pointer too many, or an object too large. */
	put_object(&scene, A, _i % 2 == 0 ? 6 : 8, (const uint64_t[8]){1, B}, _i % 2 == 0 ? 3 : 2,
		   pointers);
	put_node(&scene, B, A, 0);
	put_data(&scene, 2, (const uint64_t[]){descriptor(&scene, TYPE_POINTER), A});
	finish(&scene, true);
	ck_assert(!class_at(&scene, A)->typed);
	check_class(&scene, B, NODE);
	check_field(&scene, A, 1, "");
	clean_up(&scene);
}
END_TEST

/* A pointer before another is no type, even if it points to one. */
START_TEST(type_words_are_not_pointers)
{
	struct scene scene;
	start(&scene, FIRST_VARIANT + _i);
	put_nodes(&scene);
	put_object(&scene, 0x10400, 2, (const uint64_t[]){descriptor(&scene, TYPE_POINTER), A}, 2,
		   (const unsigned[]){0, 1});
	finish(&scene, true);
	ck_assert_uint_eq(scene.typing.typed_objects, 0);
	clean_up(&scene);
}
END_TEST

START_TEST(larger_of_two_types_is_taken)
{
	struct scene scene;
	unsigned word;
	start(&scene, FIRST_VARIANT + _i);
	word = scene.what.word;
	put_type(&scene, 0x7000, 5 * word, "main.First");
	put_type(&scene, 0x7100, 6 * word, "main.Second");
	maker_object(&scene.maker, A, 6 * word);
	put_data(&scene, 4, (const uint64_t[]){0x7100, A, 0x7000, A});
	finish(&scene, _i % 2);
	check_class(&scene, A, "main.Second");
	ck_assert_uint_eq(scene.typing.conflicts, 1);
	clean_up(&scene);
}
END_TEST

START_TEST(impossible_types_are_harmless)
{
	struct scene scene;
	start(&scene, FIRST_VARIANT + _i);
	put_nodes(&scene);
	put_type(&scene, 0x7000, 0, "main.Empty");
	put_type(&scene, 0x7100, UINT64_C(1) << 63, "main.Huge");
	put_type(&scene, 0x7100, UINT64_MAX, "main.Again");
	maker_numbers(&scene.maker, 3, (const uint64_t[]){8, 0x6000, 0x9999});
	put_data(&scene, 6, (const uint64_t[]){0x7000, A, 0x7100, B, 0x6000, ARRAY});
	finish(&scene, _i % 2);
	ck_assert_uint_eq(scene.typing.typed_objects, 0);
	if (scene.what.word == 8)
		check_class(&scene, A, "48 bytes, pointers at 8 16");
	clean_up(&scene);
}
END_TEST

/* Objects of no known type are told by their size and where their pointers are. */
START_TEST(many_pointers_are_counted)
{
	static const unsigned pointers[] = {0, 1, 2, 3, 4, 5, 6, 7};
	static const uint64_t words[8] = {0};
	struct scene scene;
	start(&scene, FIRST_VARIANT + _i);
	put_object(&scene, A, 6, words, 6, pointers);
	put_object(&scene, B, 8, words, 8, pointers);
	finish(&scene, _i % 2);
	if (scene.what.word == 8) {
		check_class(&scene, A, "48 bytes, pointers at 0 8 16 24 32 40");
		check_class(&scene, B, "64 bytes, pointers at 0 8 16 24 32 40 and 2 more");
	}
	clean_up(&scene);
}
END_TEST

/* A name that would be told of each of many objects. */
START_TEST(long_names_are_cut)
{
	struct scene scene;
	static char name[100000];
	memset(name, 'x', sizeof(name) - 1);
	start(&scene, FIRST_VARIANT + _i);
	put_nodes(&scene);
	put_type(&scene, 0x7000, 6 * scene.what.word, name);
	put_data(&scene, 2, (const uint64_t[]){0x7000, A});
	finish(&scene, _i % 2);
	const char *found = class_at(&scene, A)->name;
	ck_assert(class_at(&scene, A)->typed);
	ck_assert_uint_lt(strlen(found), 5000);
	ck_assert_str_eq(found + strspn(found, "x"), "...");
	clean_up(&scene);
}
END_TEST

/* What append leaves room for is of the array, too. */
START_TEST(arrays_are_as_long_as_the_capacity)
{
	struct scene scene;
	start(&scene, FIRST_VARIANT + _i);
	put_object(&scene, A, 6, (const uint64_t[6]){1, 0, ARRAY, 1, 2}, 2,
		   (const unsigned[]){1, 2});
	put_object(&scene, ARRAY, 4, (const uint64_t[4]){TEXT, 5}, 2, (const unsigned[]){0, 2});
	maker_object(&scene.maker, TEXT, 32);
	put_data(&scene, 2, (const uint64_t[]){descriptor(&scene, TYPE_POINTER), A});
	finish(&scene, true);
	check_class(&scene, ARRAY, "[]string");
	check_field(&scene, ARRAY, 2, "[1]");
	clean_up(&scene);
}
END_TEST

/* Slices that claim more than there is, strings that end past their bytes. */
START_TEST(lengths_are_not_believed)
{
	struct scene scene;
	start(&scene, FIRST_VARIANT + _i);
	put_object(&scene, A, 6, (const uint64_t[]){1, A, ARRAY, UINT32_MAX, UINT32_MAX, 0}, 2,
		   (const unsigned[]){1, 2});
	put_object(&scene, ARRAY, 4, (const uint64_t[]){TEXT, UINT32_MAX, TEXT + 31, 2}, 2,
		   (const unsigned[]){0, 2});
	maker_object(&scene.maker, TEXT, 32);
	put_data(&scene, 2, (const uint64_t[]){descriptor(&scene, TYPE_POINTER), A});
	finish(&scene, true);
	check_class(&scene, A, NODE);
	ck_assert(!class_at(&scene, ARRAY)->typed);
	ck_assert(!class_at(&scene, TEXT)->typed);
	clean_up(&scene);
}
END_TEST

/* Where object NUMBER of a long chain is: not at the end of a page, where Go has none. */
static uint64_t link_at(unsigned number)
{
	return A + 8192 * (number / 160) + 48 * (number % 160);
}

START_TEST(long_chains_need_no_stack)
{
	enum { LENGTH = 200000 };
	struct scene scene;
	start(&scene, FIRST_VARIANT + 8 * (SYNTHETIC_1_20 - SYNTHETIC_1_16));
	for (unsigned i = 0; i < LENGTH; i++) {
		put_node(&scene, link_at(i), i + 1 < LENGTH ? link_at(i + 1) : 0, 0);
		scene.maker.nlengths = 0;
	}
	put_data(&scene, 2, (const uint64_t[]){descriptor(&scene, TYPE_POINTER), A});
	finish(&scene, true);
	ck_assert_uint_eq(scene.typing.typed_objects, LENGTH);
	clean_up(&scene);
}
END_TEST

START_TEST(every_format_has_classes)
{
	struct scene scene;
	int variant = _i % MAKER_VARIANTS;
	start(&scene, FIRST_VARIANT);
	free(scene.maker.data);
	scene.maker = (struct maker){0};
	maker_everything(&scene.maker, variant);
	finish(&scene, _i >= MAKER_VARIANTS && scene.maker.word == scene.what.word);
	for (uint32_t i = 0; i < scene.heap.count; i++) {
		uint32_t number = gh_typing_of(&scene.typing, i);
		ck_assert_uint_lt(number, scene.typing.nclasses);
		ck_assert(*gh_typing_class(&scene.typing, number)->name != '\0');
	}
	if (scene.maker.format <= MAKER_1_3) {
		check_class(&scene, 0x10000, "main.T");
		check_class(&scene, 0x10100, "[]main.E");
		check_class(&scene, 0x10200, "chan main.E");
	}
	clean_up(&scene);
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

void typing_tests(TCase *tests)
{
	enum { VARIANTS = FIXTURE_VARIANTS - FIRST_VARIANT };
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, types_spread_along_pointers, 0, VARIANTS);
	tcase_add_loop_test(tests, interfaces_hold_values_too, 0, VARIANTS);
	tcase_add_loop_test(tests, itabs_lead_to_types, 0, VARIANTS);
	tcase_add_loop_test(tests, what_does_not_fit_is_not_believed, 0, 2 * VARIANTS);
	tcase_add_loop_test(tests, type_words_are_not_pointers, 0, VARIANTS);
	tcase_add_loop_test(tests, larger_of_two_types_is_taken, 0, VARIANTS);
	tcase_add_loop_test(tests, impossible_types_are_harmless, 0, VARIANTS);
	tcase_add_loop_test(tests, many_pointers_are_counted, 0, VARIANTS);
	tcase_add_loop_test(tests, long_names_are_cut, 0, VARIANTS);
	tcase_add_loop_test(tests, arrays_are_as_long_as_the_capacity, 0, VARIANTS);
	tcase_add_loop_test(tests, lengths_are_not_believed, 0, VARIANTS);
	tcase_add_test(tests, long_chains_need_no_stack);
	tcase_add_loop_test(tests, every_format_has_classes, 0, 2 * MAKER_VARIANTS);
	tcase_add_test(tests, sizes_are_the_allocators);
}
