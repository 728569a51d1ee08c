/* Where a value's pointers are, and what its parts are called. */
#include "lib/typing/internal.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"
#include "tests/unit/typeprogram.h"

/* The program of these tests: of Go 1.20 for amd64. */
static void make(struct typeprogram *program)
{
	typeprogram_make(program, SYNTHETIC_1_20 * 8, NULL);
}

static struct gh_layouts layouts_of(struct typeprogram *program)
{
	struct gh_layouts layouts;
	ck_assert(gh_layouts_make(&layouts, &program->types, 8));
	return layouts;
}

static void done(struct typeprogram *program, struct gh_layouts *layouts)
{
	gh_layouts_free(layouts);
	typeprogram_close(program);
}

static void check_link(struct gh_layouts *layouts, uint32_t number, uint32_t index,
		       struct gh_link expected)
{
	const struct gh_link *links;
	struct gh_link found;
	ck_assert_uint_gt(gh_layouts_links(layouts, number, &links), index);
	ck_assert_uint_eq(links[index].offset, expected.offset);
	ck_assert_uint_eq(links[index].kind, expected.kind);
	ck_assert_uint_eq(links[index].elem, expected.elem);
	if (expected.kind == GH_LAYOUT_NESTED) {
		ck_assert_uint_eq(links[index].count, expected.count);
		return;
	}
	ck_assert(gh_layouts_link_at(layouts, number, expected.offset, &found));
	ck_assert_uint_eq(found.kind, expected.kind);
	ck_assert(!gh_layouts_link_at(layouts, number, expected.offset + 1, &found));
}

START_TEST(links_are_the_pointers_of_a_value)
{
	static const struct {
		uint32_t number, count;
		struct gh_link links[2];
	} cases[] = {
	    {TYPE_INT, 0, {{0}}},
	    {TYPE_STRING, 1, {{.elem = GH_NO_LAYOUT, .kind = GH_LAYOUT_STRING}}},
	    {TYPE_NODE,
	     2,
	     {{.offset = 8, .elem = TYPE_NODE, .kind = GH_LAYOUT_POINTER},
	      {.offset = 16, .elem = TYPE_STRING, .kind = GH_LAYOUT_SLICE}}},
	    {TYPE_POINTER, 1, {{.elem = TYPE_NODE, .kind = GH_LAYOUT_POINTER}}},
	    {TYPE_SLICE, 1, {{.elem = TYPE_STRING, .kind = GH_LAYOUT_SLICE}}},
	    {TYPE_ARRAY, 0, {{0}}},
	    {TYPE_FUNC, 1, {{.elem = GH_NO_LAYOUT, .kind = GH_LAYOUT_FUNC}}},
	    {TYPE_IFACE, 1, {{.offset = 8, .elem = GH_NO_LAYOUT, .kind = GH_LAYOUT_INTERFACE}}},
	    {TYPE_MAP, 1, {{.elem = GH_NO_LAYOUT, .kind = GH_LAYOUT_UNKNOWN}}},
	    {TYPE_NONE, 0, {{0}}},
	    {TYPE_ATOMIC, 1, {{.elem = TYPE_NODE, .kind = GH_LAYOUT_POINTER}}},
	};
	struct typeprogram program;
	const struct gh_link *links;
	make(&program);
	typeprogram_open(&program);
	struct gh_layouts layouts = layouts_of(&program);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t number = cases[i].number;
		ck_assert_msg(gh_layouts_links(&layouts, number, &links) == cases[i].count, "%zu",
			      i);
		ck_assert_uint_eq(gh_layout(&layouts, number)->npointers, cases[i].count);
		for (uint32_t k = 0; k < cases[i].count; k++)
			check_link(&layouts, number, k, cases[i].links[k]);
	}
	done(&program, &layouts);
}
END_TEST

/* An array of more than eight elements is one link. */
START_TEST(links_of_arrays_are_those_of_their_elements)
{
	for (uint64_t length = 7; length < 11; length++) {
		struct typeprogram program;
		struct gh_link link;
		const struct gh_link *links;
		make(&program);
		size_t array = program.places.types[TYPE_ARRAY];
		typeprogram_set(&program, array, 16 * length, 8);
		typeprogram_set(&program, array + 8, 16 * length - 8, 8);
		typeprogram_set(&program, array + 48, typeprogram_type(&program, TYPE_STRING), 8);
		typeprogram_set(&program, array + 64, length, 8);
		typeprogram_open(&program);
		struct gh_layouts layouts = layouts_of(&program);
		uint32_t count = gh_layouts_links(&layouts, TYPE_ARRAY, &links);
		ck_assert_uint_eq(count, length <= 8 ? length : 1);
		ck_assert_uint_eq(gh_layout(&layouts, TYPE_ARRAY)->npointers, length);
		if (length > 8)
			check_link(&layouts, TYPE_ARRAY, 0,
				   (struct gh_link){.count = length,
						    .elem = TYPE_STRING,
						    .kind = GH_LAYOUT_NESTED});
		for (uint64_t i = 0; i <= length; i++) {
			ck_assert_int_eq(gh_layouts_link_at(&layouts, TYPE_ARRAY, 16 * i, &link),
					 i < length);
			ck_assert(!gh_layouts_link_at(&layouts, TYPE_ARRAY, 16 * i + 8, &link));
		}
		done(&program, &layouts);
	}
}
END_TEST

static void check_part(const struct gh_layouts *layouts, uint32_t number, uint64_t offset,
		       const char *expected)
{
	struct gh_buffer name = {0};
	gh_layouts_part_name(layouts, number, offset, &name);
	gh_buffer_u8(&name, 0);
	ck_assert_str_eq((const char *)name.data, expected);
	gh_buffer_free(&name);
}

START_TEST(parts_have_the_names_of_their_fields)
{
	struct typeprogram program;
	struct gh_parts parts = {0};
	make(&program);
	typeprogram_set(&program, program.places.fields + 24 * 2 + 8,
			typeprogram_type(&program, TYPE_ARRAY), 8);
	typeprogram_open(&program);
	struct gh_layouts layouts = layouts_of(&program);
	check_part(&layouts, TYPE_NODE, 0, ".value");
	check_part(&layouts, TYPE_NODE, 7, ".value");
	check_part(&layouts, TYPE_NODE, 8, ".Node");
	check_part(&layouts, TYPE_NODE, 16, ".words[0]");
	check_part(&layouts, TYPE_NODE, 39, ".words[2]");
	check_part(&layouts, TYPE_NODE, 40, "");
	check_part(&layouts, TYPE_ARRAY, 8, "[1]");
	check_part(&layouts, TYPE_INT, 0, "");
	ck_assert_uint_eq(gh_layouts_parts(&layouts, TYPE_NODE, 24, &parts), TYPE_INT);
	ck_assert_uint_eq(parts.count, 2);
	ck_assert(gh_rtype_text_is(parts.items[0].name, "words"));
	ck_assert_uint_eq(parts.items[0].layout, TYPE_ARRAY);
	ck_assert(gh_rtype_text_is(parts.items[1].name, "[]"));
	ck_assert_uint_eq(parts.items[1].layout, TYPE_INT);
	ck_assert_uint_eq(gh_layouts_parts(&layouts, TYPE_NODE, 40, &parts), GH_NO_LAYOUT);
	ck_assert_uint_eq(gh_layouts_parts(&layouts, TYPE_INT, 0, &parts), TYPE_INT);
	ck_assert_uint_eq(parts.count, 2);
	gh_vector_free(&parts);
	done(&program, &layouts);
}
END_TEST

void links_tests(TCase *tests)
{
	tcase_add_test(tests, links_are_the_pointers_of_a_value);
	tcase_add_test(tests, links_of_arrays_are_those_of_their_elements);
	tcase_add_test(tests, parts_have_the_names_of_their_fields);
}
