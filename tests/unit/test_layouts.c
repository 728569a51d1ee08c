/* What values are made of: the types of a made program, and what the runtime and the standard
 * library keep behind them. Types get the names of the runtime's here. */
#include <stdlib.h>
#include <string.h>

#include "lib/typing/internal.h"
#include "tests/unit/fixture.h"
#include "tests/unit/resources.h"
#include "tests/unit/suites.h"
#include "tests/unit/typeprogram.h"

/* Room for names in the range of types. */
enum { NAMES = TYPES_OFFSET + 0xe00 };

/* Calls field INDEX of struct Node NAME. */
static void call_field(struct typeprogram *program, unsigned index, const char *name)
{
	size_t at = NAMES + index * 32;
	program->data[at] = 0;
	program->data[at + 1] = (uint8_t)strlen(name);
	memcpy(program->data + at + 2, name, strlen(name));
	typeprogram_set(program, program->places.fields + index * 3 * program->what.word,
			typeprogram_address(at), program->what.word);
}

/* Has the package of Node, or that of atomic.Pointer, the import path PATH, which is no longer. */
static void call_package(struct typeprogram *program, int type, const char *path)
{
	uint8_t *place = type == TYPE_NODE
			     ? memmem(program->data, program->size, "example.org/x/main", 18)
			     : program->data + program->places.atomic;
	place[-1] = (uint8_t)strlen(path);
	memcpy(place, path, strlen(path));
}

/* Makes type NUMBER another of the same fields as type FROM, called TEXT. */
static void call_type(struct typeprogram *program, int number, int from, const char *text)
{
	struct gh_rtype *items = program->types.items;
	items[number] = items[from];
	items[number].text = (struct gh_rtype_text){text, (uint32_t)strlen(text)};
}

static struct gh_layouts layouts_of(struct typeprogram *program)
{
	struct gh_layouts layouts;
	ck_assert(gh_layouts_make(&layouts, &program->types, (uint8_t)program->what.word));
	return layouts;
}

static void check_name(const struct gh_layouts *layouts, uint32_t number, const char *expected)
{
	struct gh_buffer name = {0};
	gh_layouts_name(layouts, number, &name);
	gh_buffer_u8(&name, 0);
	ck_assert_str_eq((const char *)name.data, expected);
	gh_buffer_free(&name);
}

static void done(struct typeprogram *program, struct gh_layouts *layouts)
{
	gh_layouts_free(layouts);
	typeprogram_close(program);
}

START_TEST(layouts_are_those_of_the_types)
{
	static const struct {
		enum gh_layout_kind kind;
		uint32_t elem, count;
		bool has_pointers, direct, in_struct;
	} expected[TYPES] = {
	    [TYPE_INT] = {GH_LAYOUT_DATA, GH_NO_LAYOUT, 0, false, false, false},
	    [TYPE_STRING] = {GH_LAYOUT_STRING, GH_NO_LAYOUT, 0, true, false, false},
	    [TYPE_NODE] = {GH_LAYOUT_STRUCT, GH_NO_LAYOUT, 0, true, false, false},
	    [TYPE_POINTER] = {GH_LAYOUT_POINTER, TYPE_NODE, 0, true, true, true},
	    [TYPE_SLICE] = {GH_LAYOUT_SLICE, TYPE_STRING, 0, true, false, false},
	    [TYPE_ARRAY] = {GH_LAYOUT_ARRAY, TYPE_INT, 3, false, false, false},
	    [TYPE_FUNC] = {GH_LAYOUT_FUNC, GH_NO_LAYOUT, 0, true, true, false},
	    [TYPE_IFACE] = {GH_LAYOUT_INTERFACE, GH_NO_LAYOUT, 0, true, false, false},
	    [TYPE_MAP] = {GH_LAYOUT_UNKNOWN, GH_NO_LAYOUT, 0, true, true, false},
	    [TYPE_CHAN] = {GH_LAYOUT_UNKNOWN, GH_NO_LAYOUT, 0, true, true, false},
	    [TYPE_UNSAFE] = {GH_LAYOUT_UNKNOWN, GH_NO_LAYOUT, 0, true, true, false},
	    [TYPE_NONE] = {GH_LAYOUT_ARRAY, TYPE_POINTER, 0, false, false, false},
	    [TYPE_ATOMIC] = {GH_LAYOUT_STRUCT, TYPE_POINTER, 0, true, false, false},
	};
	struct typeprogram program;
	typeprogram_make(&program, _i, NULL);
	typeprogram_open(&program);
	struct gh_layouts layouts = layouts_of(&program);
	ck_assert_uint_eq(layouts.count, TYPES);
	for (uint32_t i = 0; i < TYPES; i++) {
		const struct gh_layout *layout = gh_layout(&layouts, i);
		ck_assert_msg(layout->kind == expected[i].kind, "%u", i);
		ck_assert_msg(layout->elem == expected[i].elem, "%u", i);
		ck_assert_uint_eq(layout->count, expected[i].count);
		ck_assert_uint_eq(layout->size, program.types.items[i].size);
		ck_assert_msg(layout->has_pointers == expected[i].has_pointers, "%u", i);
		ck_assert_msg(layout->direct == expected[i].direct, "%u", i);
		ck_assert_msg(layout->in_struct == expected[i].in_struct, "%u", i);
		ck_assert_uint_eq(layout->refines, GH_NO_LAYOUT);
		ck_assert_uint_eq(layout->group, GH_NO_LAYOUT);
		ck_assert(!layout->of_runtime && !layout->open && !layout->gc_shape);
	}
	done(&program, &layouts);
}
END_TEST

/* The program of the tests below: of Go 1.20 for amd64. */
static void make(struct typeprogram *program)
{
	typeprogram_make(program, SYNTHETIC_1_20 * 8, NULL);
}

START_TEST(channels_lead_to_what_the_runtime_has)
{
	struct typeprogram program;
	struct gh_layout_field field;
	make(&program);
	call_package(&program, TYPE_NODE, "runtime");
	call_field(&program, 1, "buf");
	typeprogram_open(&program);
	call_type(&program, TYPE_NODE, TYPE_NODE, "runtime.hchan");
	struct gh_layouts layouts = layouts_of(&program);
	ck_assert_uint_eq(layouts.count, TYPES + 2);
	const struct gh_layout *chan = gh_layout(&layouts, TYPE_CHAN);
	ck_assert_uint_eq(chan->kind, GH_LAYOUT_OBJECT);
	const struct gh_layout *made = gh_layout(&layouts, chan->elem);
	check_name(&layouts, chan->elem, "chan int");
	ck_assert(made->kind == GH_LAYOUT_STRUCT && made->open && made->of_runtime);
	ck_assert_uint_eq(made->refines, TYPE_NODE);
	ck_assert_uint_eq(gh_layouts_nfields(&layouts, chan->elem), 3);
	static const uint32_t types[] = {TYPE_INT, TYPES, TYPE_SLICE};
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert(gh_layouts_field(&layouts, chan->elem, i, &field));
		ck_assert_uint_eq(field.layout, types[i]);
		ck_assert_uint_eq(field.offset, i * 8);
	}
	const struct gh_layout *buffer = gh_layout(&layouts, TYPES);
	check_name(&layouts, TYPES, "*int");
	ck_assert(buffer->kind == GH_LAYOUT_ELEMENTS && buffer->elem == TYPE_INT &&
		  buffer->size == 8 && buffer->has_pointers && buffer->of_runtime);
	done(&program, &layouts);
}
END_TEST

/* The bucket of the map of this program is Node, too. */
START_TEST(maps_lead_to_buckets)
{
	for (int swiss = 0; swiss < 2; swiss++) {
		struct typeprogram program;
		struct gh_layout_field field;
		make(&program);
		call_package(&program, TYPE_NODE, "runtime");
		call_field(&program, 1, "buckets");
		call_field(&program, 0, "oldbuckets");
		typeprogram_open(&program);
		call_type(&program, TYPE_NODE, TYPE_NODE, "runtime.hmap");
		program.types.swiss_maps = swiss;
		struct gh_layouts layouts = layouts_of(&program);
		const struct gh_layout *map = gh_layout(&layouts, TYPE_MAP);
		ck_assert_uint_eq(map->kind, swiss ? GH_LAYOUT_UNKNOWN : GH_LAYOUT_OBJECT);
		if (!swiss) {
			check_name(&layouts, map->elem, "map[string]int");
			ck_assert(gh_layout(&layouts, map->elem)->of_runtime);
			ck_assert_uint_eq(gh_layout(&layouts, map->elem)->refines, TYPE_NODE);
			for (uint32_t i = 0; i < 2; i++) {
				ck_assert(gh_layouts_field(&layouts, map->elem, i, &field));
				const struct gh_layout *buckets = gh_layout(&layouts, field.layout);
				ck_assert_uint_eq(buckets->kind, GH_LAYOUT_ELEMENTS);
				ck_assert_uint_eq(buckets->elem, TYPE_NODE);
			}
			const struct gh_layout *bucket = gh_layout(&layouts, TYPE_NODE);
			const struct gh_layout *more = gh_layout(&layouts, bucket->elem);
			ck_assert(bucket->of_runtime && more->kind == GH_LAYOUT_POINTER &&
				  more->elem == TYPE_NODE);
		}
		done(&program, &layouts);
	}
}
END_TEST

/* Each is of another package, or missing, in one case. */
START_TEST(pools_lead_to_arrays_of_their_locals)
{
	static const char *const names[][3] = {
	    {"sync.Pool", "sync.poolLocal", "sync.eface"},
	    {"sync.Poll", "sync.poolLocal", "sync.eface"},
	    {"sync.Pool", "sync.poolLocale", "sync.eface"},
	    {"sync.Pool", "sync.poolLocal", "sync.efac"},
	    {"sync.Pool", "sync.poolLocal", "sync.eface"},
	};
	for (int i = 0; i < 5; i++) {
		struct typeprogram program;
		make(&program);
		call_package(&program, TYPE_ATOMIC, i < 4 ? "sync" : "x/sync");
		typeprogram_open(&program);
		for (int k = 0; k < 3; k++)
			call_type(&program, TYPE_UNSAFE + k, TYPE_ATOMIC, names[i][k]);
		struct gh_layouts layouts = layouts_of(&program);
		uint32_t local = gh_layout(&layouts, TYPE_UNSAFE)->elem;
		uint32_t word = gh_layout(&layouts, TYPE_ATOMIC)->elem;
		ck_assert_int_eq(local != GH_NO_LAYOUT, i == 0 || i == 3);
		ck_assert_int_eq(word != GH_NO_LAYOUT, i < 3);
		if (i == 0) {
			ck_assert_uint_eq(gh_layout(&layouts, local)->kind, GH_LAYOUT_ELEMENTS);
			ck_assert_uint_eq(gh_layout(&layouts, local)->elem, TYPE_UNSAFE + 1);
			ck_assert_uint_eq(gh_layout(&layouts, word)->kind, GH_LAYOUT_DATA_WORD);
			ck_assert_uint_eq(gh_layout(&layouts, word)->size, 8);
			ck_assert(gh_layout(&layouts, word)->has_pointers);
			check_name(&layouts, word, "unsafe.Pointer");
		}
		done(&program, &layouts);
	}
}
END_TEST

START_TEST(reflected_values_are_told_by_their_flag)
{
	for (int i = 0; i < 3; i++) {
		struct typeprogram program;
		make(&program);
		call_package(&program, TYPE_ATOMIC, "reflect");
		typeprogram_open(&program);
		call_type(&program, TYPE_ATOMIC, TYPE_ATOMIC, "reflect.Value");
		program.types.minor = i == 0 ? 5 : i == 1 ? 6 : 22;
		struct gh_layouts layouts = layouts_of(&program);
		uint32_t word = gh_layout(&layouts, TYPE_ATOMIC)->elem;
		ck_assert_int_eq(word != GH_NO_LAYOUT, i != 0);
		if (i != 0)
			ck_assert_uint_eq(gh_layout(&layouts, word)->kind, GH_LAYOUT_REFLECTED);
		done(&program, &layouts);
	}
}
END_TEST

/* The pointer's type is the first of that descriptor. */
START_TEST(nodes_of_tries_are_entries_or_lead_to_others)
{
	static const struct {
		const char *path, *node, *entry, *indirect;
	} cases[] = {
	    {"internal/sync", "sync.node[int]", "sync.entry[int]", "sync.indirect[int]"},
	    {"internal/sync", "sync.node[int]", "sync.entry[uint]", "sync.indirect[int]"},
	    {"internal/sync", "sync.node[int]", "sync.entry[int]", "sync.indirect[i]"},
	    {"internal/sync", "sync.nodes[int]", "sync.entry[int]", "sync.indirect[int]"},
	    {"internal/cync", "sync.node[int]", "sync.entry[int]", "sync.indirect[int]"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct typeprogram program;
		make(&program);
		call_package(&program, TYPE_NODE, cases[i].path);
		typeprogram_open(&program);
		call_type(&program, TYPE_INT, TYPE_NODE, cases[i].node);
		call_type(&program, TYPE_STRING, TYPE_NODE, cases[i].entry);
		call_type(&program, TYPE_NODE, TYPE_NODE, cases[i].indirect);
		struct gh_layouts layouts = layouts_of(&program);
		const struct gh_layout *pointer = gh_layout(&layouts, TYPE_POINTER);
		ck_assert_uint_eq(pointer->kind, i == 0 ? GH_LAYOUT_TRIE_NODE : GH_LAYOUT_POINTER);
		ck_assert_uint_eq(pointer->elem, i == 0 ? TYPE_STRING : TYPE_INT);
		ck_assert_uint_eq(pointer->group, i == 0 ? TYPE_NODE : GH_NO_LAYOUT);
		done(&program, &layouts);
	}
}
END_TEST

START_TEST(timers_are_the_beginning_of_the_runtimes)
{
	static const char *const names[][2] = {{"time.Timer", "runtime.timeTimer"},
					       {"time.Ticker", "runtime.timeTimer"},
					       {"time.Timers", "runtime.timeTimer"},
					       {"time.Timer", "runtime.timer"}};
	for (int i = 0; i < 4; i++) {
		struct typeprogram program;
		make(&program);
		call_package(&program, TYPE_NODE, "time");
		call_package(&program, TYPE_ATOMIC, "runtime");
		typeprogram_open(&program);
		call_type(&program, TYPE_NODE, TYPE_NODE, names[i][0]);
		call_type(&program, TYPE_ATOMIC, TYPE_ATOMIC, names[i][1]);
		struct gh_layouts layouts = layouts_of(&program);
		uint32_t elem = gh_layout(&layouts, TYPE_POINTER)->elem;
		ck_assert_int_eq(elem == TYPE_NODE, i >= 2);
		if (i < 2) {
			ck_assert_uint_eq(gh_layout(&layouts, elem)->refines, TYPE_ATOMIC);
			ck_assert_uint_eq(gh_layouts_nfields(&layouts, elem), 2);
			ck_assert_uint_eq(gh_layout(&layouts, elem)->size, 8);
			check_name(&layouts, elem, names[i][0]);
		}
		done(&program, &layouts);
	}
}
END_TEST

/* Generic code allocates what has the fields of several types. */
START_TEST(types_refine_the_shape_that_has_their_fields)
{
	for (int i = 0; i < 3; i++) {
		struct typeprogram program;
		make(&program);
		typeprogram_open(&program);
		call_type(&program, TYPE_STRING, TYPE_NODE, "main.First");
		program.types.items[TYPE_STRING].named = i != 2;
		call_type(&program, TYPE_NODE, TYPE_NODE, "go.shape.struct { value int }");
		struct gh_layouts layouts = layouts_of(&program);
		ck_assert(gh_layout(&layouts, TYPE_NODE)->gc_shape);
		ck_assert(!gh_layout(&layouts, TYPE_STRING)->gc_shape);
		ck_assert_uint_eq(gh_layout(&layouts, TYPE_STRING)->refines,
				  i == 2 ? GH_NO_LAYOUT : TYPE_NODE);
		ck_assert_uint_eq(gh_layout(&layouts, TYPE_NODE)->refines, GH_NO_LAYOUT);
		ck_assert_uint_eq(gh_layout(&layouts, TYPE_ATOMIC)->refines, GH_NO_LAYOUT);
		/* Another that does, too. */
		if (i == 1)
			gh_layout(&layouts, TYPE_INT)->refines = TYPE_NODE;
		ck_assert_uint_eq(gh_layouts_shaped(&layouts, TYPE_NODE),
				  i == 0 ? TYPE_STRING : GH_NO_LAYOUT);
		ck_assert_uint_eq(gh_layouts_shaped(&layouts, TYPE_STRING), GH_NO_LAYOUT);
		done(&program, &layouts);
	}
}
END_TEST

static void check_prefix(const struct gh_prefix_types *found, uint32_t part, uint32_t whole,
			 uint64_t count, bool is_array)
{
	const struct gh_prefix_type *items;
	ck_assert_uint_eq(gh_prefix_types_of(found, part, &items), 1);
	ck_assert_uint_eq(items[0].part, part);
	ck_assert_uint_eq(items[0].whole, whole);
	ck_assert_uint_eq(items[0].count, count);
	ck_assert_int_eq(items[0].is_array, is_array);
}

/* It would have fewer than its number says. */
START_TEST(a_struct_whose_fields_find_no_memory_is_not_added)
{
	struct gh_layouts layouts;
	struct gh_layout layout = {.kind = GH_LAYOUT_STRUCT, .nfields = 1};
	ck_assert(gh_layouts_make(&layouts, NULL, 8));
	resources_fail_at(1);
	gh_layouts_add_field(&layouts, &(struct gh_layout_field){0});
	ck_assert_uint_eq(resources_fail_no_more(), 1);
	ck_assert_uint_eq(gh_layouts_add_named(&layouts, layout, "closure ", "main.f", 6),
			  GH_NO_LAYOUT);
	ck_assert_uint_eq(layouts.count, 0);
	gh_layouts_free(&layouts);
}
END_TEST

/* The first field of atomic.Pointer has no size; the second stands for the pointer that it says. */
START_TEST(structs_begin_with_their_first_fields)
{
	struct typeprogram program;
	struct gh_prefix_types found = {0};
	const struct gh_prefix_type *items;
	make(&program);
	/* The first field of Node, an int, becomes an array of three. */
	typeprogram_set(&program, program.places.fields + 8, typeprogram_type(&program, TYPE_ARRAY),
			8);
	typeprogram_open(&program);
	struct gh_layouts layouts = layouts_of(&program);
	ck_assert(gh_prefix_types_find(&found, &layouts));
	ck_assert_uint_eq(found.count, 3);
	check_prefix(&found, TYPE_INT, TYPE_NODE, 3, true);
	check_prefix(&found, TYPE_ARRAY, TYPE_NODE, 1, false);
	check_prefix(&found, TYPE_POINTER, TYPE_ATOMIC, 1, false);
	ck_assert(gh_layouts_begins_with(&layouts, TYPE_NODE, TYPE_NODE, 1));
	ck_assert(!gh_layouts_begins_with(&layouts, TYPE_NODE, TYPE_NODE, 2));
	ck_assert(gh_layouts_begins_with(&layouts, TYPE_NODE, TYPE_ARRAY, 1));
	ck_assert(gh_layouts_begins_with(&layouts, TYPE_NODE, TYPE_INT, 3));
	ck_assert(!gh_layouts_begins_with(&layouts, TYPE_NODE, TYPE_INT, 4));
	ck_assert(!gh_layouts_begins_with(&layouts, TYPE_NODE, TYPE_POINTER, 1));
	ck_assert_uint_eq(gh_prefix_types_of(&found, TYPE_NODE, &items), 0);
	ck_assert_uint_eq(gh_prefix_types_of(&found, UINT32_MAX, &items), 0);
	gh_vector_free(&found);
	gh_layout(&layouts, TYPE_NODE)->only_in_group = true;
	found = (struct gh_prefix_types){0};
	ck_assert(gh_prefix_types_find(&found, &layouts));
	ck_assert_uint_eq(found.count, 1);
	gh_vector_free(&found);
	done(&program, &layouts);
}
END_TEST

void layouts_tests(TCase *tests)
{
	tcase_add_loop_test(tests, layouts_are_those_of_the_types, SYNTHETIC_1_16 * 8,
			    FIXTURE_VARIANTS);
	tcase_add_test(tests, channels_lead_to_what_the_runtime_has);
	tcase_add_test(tests, maps_lead_to_buckets);
	tcase_add_test(tests, pools_lead_to_arrays_of_their_locals);
	tcase_add_test(tests, reflected_values_are_told_by_their_flag);
	tcase_add_test(tests, nodes_of_tries_are_entries_or_lead_to_others);
	tcase_add_test(tests, timers_are_the_beginning_of_the_runtimes);
	tcase_add_test(tests, types_refine_the_shape_that_has_their_fields);
	tcase_add_test(tests, structs_begin_with_their_first_fields);
	tcase_add_test(tests, a_struct_whose_fields_find_no_memory_is_not_added);
}
