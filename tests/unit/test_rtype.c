/* Type descriptors, whole and damaged. */
#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/debugfile/debugfile.h"
#include "lib/rtype/rtype.h"
#include "lib/value/internal.h"
#include "tests/unit/bytes.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"
#include "tests/unit/typemaker.h"

/* A program with types, opened. */
struct program {
	struct synthetic what;
	uint8_t *data; /* owned */
	size_t size;
	struct typemaker_places places;
	struct gh_image image;
	struct gh_pclntab tab;
	struct gh_rtypes types;
};

static void make(struct program *program, int number)
{
	program->what = fixture_variant(number);
	program->data = typemaker_make(&program->what, &program->size, &program->places);
}

/* Opens the program as it stands. */
static void open_program(struct program *program)
{
	struct gh_error err;
	if (!gh_image_open_memory(&program->image, program->data, program->size, "types", &err) ||
	    !gh_pclntab_open(&program->tab, &program->image, &err) ||
	    !gh_rtypes_find(&program->types, &program->tab, &err))
		ck_abort_msg("%s", err.text);
}

static void close_program(struct program *program)
{
	gh_rtypes_free(&program->types);
	gh_pclntab_close(&program->tab);
	gh_image_close(&program->image);
	free(program->data);
}

/* Writes VALUE as the word at OFFSET in the file. */
static void set(struct program *program, size_t offset, uint64_t value, unsigned size)
{
	bytes_store(program->data + offset, value, size, program->what.big_endian);
}

static uint64_t address(const struct program *program, int type)
{
	return TYPES_ADDRESS + program->places.types[type] - TYPES_OFFSET;
}

/* Offset in the file of word INDEX after the fields that all descriptors have. */
static size_t extra(const struct program *program, int type, unsigned index)
{
	return program->places.types[type] + (4 + index) * program->what.word + 16;
}

static void check_name(const struct program *program, uint32_t number, const char *expected)
{
	struct gh_buffer name = {0};
	gh_rtype_name(&name, &program->types, number);
	gh_buffer_u8(&name, 0);
	ck_assert_str_eq((const char *)name.data, expected);
	gh_buffer_free(&name);
}

static bool equals(struct gh_rtype_text text, const char *expected)
{
	return text.length == strlen(expected) && memcmp(text.start, expected, text.length) == 0;
}

START_TEST(types_are_read)
{
	static const char *const names[TYPES] = {
	    "int",
	    "string",
	    "example.org/x/main.Node",
	    "*example.org/x/main.Node",
	    "[]string",
	    "[3]int",
	    "func(int, ...string) *example.org/x/main.Node",
	    "interface { Do(int, ...string) *example.org/x/main.Node }",
	    "map[string]int",
	    "chan int",
	    "unsafe.Pointer",
	    "[0]*example.org/x/main.Node",
	    "sync/atomic.Pointer[example.org/x/main.Node]"};
	static const unsigned words[TYPES] = {1, 2, 5, 1, 3, 3, 1, 2, 1, 1, 1, 0, 1};
	struct program program;
	make(&program, _i);
	open_program(&program);
	ck_assert_uint_eq(program.types.count, TYPES);
	for (int i = 0; i < TYPES; i++) {
		uint32_t number = gh_rtypes_at(&program.types, address(&program, i));
		ck_assert_int_eq((int)number, i);
		ck_assert_uint_eq(program.types.items[i].size, words[i] * program.what.word);
		check_name(&program, number, names[i]);
	}
	static const struct {
		const char *name;
		uint32_t type;
		unsigned words;
		bool embedded;
	} fields[] = {{"value", TYPE_INT, 0, false},
		      {"Node", TYPE_POINTER, 1, true},
		      {"words", TYPE_SLICE, 2, false}};
	const struct gh_rtype *node = &program.types.items[TYPE_NODE];
	ck_assert_uint_eq(node->nparts, 3);
	for (uint32_t i = 0; i < 3; i++) {
		struct gh_rtype_part part;
		ck_assert(gh_rtype_part(&program.types, node, i, &part));
		ck_assert(equals(part.name, fields[i].name));
		ck_assert_uint_eq(part.type, fields[i].type);
		ck_assert_uint_eq(part.offset, fields[i].words * program.what.word);
		ck_assert(part.embedded == fields[i].embedded);
	}
	ck_assert_uint_eq(gh_rtype_length(&program.types, &program.types.items[TYPE_ARRAY]), 3);
	ck_assert_uint_eq(gh_rtype_key(&program.types, &program.types.items[TYPE_MAP]),
			  TYPE_STRING);
	ck_assert_uint_eq(gh_rtype_elem(&program.types, &program.types.items[TYPE_MAP]), TYPE_INT);
	close_program(&program);
}
END_TEST

/* The compiler names the function of a method value by the method, with -fm. */
START_TEST(method_values_have_the_types_of_their_receivers)
{
	struct program program;
	make(&program, _i);
	open_program(&program);
	const struct gh_rtypes *types = &program.types;
	uint32_t none = GH_NO_RTYPE;
	ck_assert_uint_eq(gh_method_value_receiver(types, "example.org/x/main.Node.Do-fm"),
			  TYPE_NODE);
	ck_assert_uint_eq(gh_method_value_receiver(types, "example.org/x/main.(*Node).Do-fm"),
			  TYPE_POINTER);
	ck_assert_uint_eq(gh_method_value_receiver(types, "example.org/x/main.Other.Do-fm"), none);
	ck_assert_uint_eq(gh_method_value_receiver(types, "example.org/x/main.Node.Do"), none);
	/* Packages of other paths. */
	ck_assert_uint_eq(gh_method_value_receiver(types, "main.Node.Do-fm"), none);
	ck_assert_uint_eq(gh_method_value_receiver(types, "main.(*Node).Do-fm"), none);
	ck_assert_uint_eq(gh_method_value_receiver(types, "example.org/y/main.Node.Do-fm"), none);
	close_program(&program);
}
END_TEST

/* Of a program that does not say. */
START_TEST(releases_are_told_by_tables)
{
	static const int expected[SYNTHETIC_FORMATS] = {15, 17, 19, 22, 22};
	struct program program;
	make(&program, _i);
	open_program(&program);
	struct gh_rtypes *types = &program.types;
	ck_assert_int_eq(gh_rtypes_release(types), expected[program.what.format]);
	ck_assert(types->shifted == (program.what.format <= SYNTHETIC_1_16));
	types->shifted = !types->shifted;
	bool old = program.what.format == SYNTHETIC_1_2;
	ck_assert_int_eq(gh_rtypes_release(types), old ? 8 : expected[program.what.format]);
	ck_assert(gh_rtypes_before_1_9(types) == old);
	types->shifted = true;
	types->swiss_maps = true;
	ck_assert_int_eq(gh_rtypes_release(types), program.what.format == SYNTHETIC_1_26 ? 26 : 24);
	types->minor = 21;
	ck_assert_int_eq(gh_rtypes_release(types), 21);
	close_program(&program);
}
END_TEST

/* Other modules have descriptors of the same types. */
START_TEST(copies_are_types_too)
{
	struct program program;
	make(&program, _i);
	open_program(&program);
	struct gh_rtypes *types = &program.types;
	ck_assert_uint_eq(types->ncopies, 0);
	ck_assert_uint_eq(gh_rtypes_at(types, 0x500010), GH_NO_RTYPE);
	types->copies = malloc(2 * sizeof(*types->copies));
	types->ncopies = 2;
	types->copies[0] = (struct gh_rtype_copy){.address = 0x500010, .type = TYPE_NODE};
	types->copies[1] = (struct gh_rtype_copy){.address = 0x500020, .type = TYPE_INT};
	ck_assert_uint_eq(gh_rtypes_at(types, 0x500010), TYPE_NODE);
	ck_assert_uint_eq(gh_rtypes_at(types, 0x500020), TYPE_INT);
	ck_assert_uint_eq(gh_rtypes_at(types, address(&program, TYPE_NODE)), TYPE_NODE);
	const uint64_t others[] = {0,          0x50000f,
				   0x500011,   0x50001f,
				   0x500021,   address(&program, TYPE_NODE) - 1,
				   UINT64_MAX, address(&program, TYPES - 1) + 1};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_uint_eq(gh_rtypes_at(types, others[i]), GH_NO_RTYPE);
	close_program(&program);
}
END_TEST

/* Has a program of Go 1.20 for amd64 COUNT types of arrays more, each of the next one, the last of
 * int; in memory, the first is first, or last. */
static void make_nested(struct program *program, unsigned count, bool first_is_last)
{
	enum { ROOM = 128, MODULEDATA = 0x1800, END_OF_TYPES = 38 };
	make(program, SYNTHETIC_1_20 * 8);
	size_t start = program->size, header = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
	program->size += ROOM * count;
	program->data = realloc(program->data, program->size);
	memset(program->data + start, 0, ROOM * count);
	uint64_t size = program->size - MODULEDATA;
	set(program, header + offsetof(Elf64_Phdr, p_filesz), size, 8);
	set(program, header + offsetof(Elf64_Phdr, p_memsz), size, 8);
	set(program, MODULEDATA + 8 * END_OF_TYPES, TYPES_ADDRESS + program->size - TYPES_OFFSET,
	    8);
	for (unsigned i = 0; i < count; i++) {
		size_t place = start + ROOM * (first_is_last ? count - 1 - i : i);
		size_t next = first_is_last ? place - ROOM : place + ROOM;
		uint64_t elem = i + 1 < count ? TYPES_ADDRESS + next - TYPES_OFFSET
					      : address(program, TYPE_INT);
		memcpy(program->data + place, program->data + program->places.types[TYPE_ARRAY],
		       4 * 8 + 16 + 3 * 8);
		set(program, place, 8, 8);
		set(program, place + 4 * 8 + 16, elem, 8);
		set(program, place + 4 * 8 + 16 + 2 * 8, 1, 8);
	}
}

/* Values in values, 200 at most: what would be deeper has no parts. */
START_TEST(deep_nesting_is_cut)
{
	for (unsigned i = 0; i < 4; i++) {
		struct program program;
		unsigned count = i % 2 == 0 ? 200 : 201;
		make_nested(&program, count, i / 2);
		open_program(&program);
		ck_assert_uint_eq(program.types.count, TYPES + count);
		/* The one that is looked at last, or from which the others are. */
		uint32_t cut = i == 1 ? TYPES + 199 : i == 3 ? TYPES + 200 : 0;
		for (uint32_t t = TYPES; t < program.types.count; t++)
			ck_assert_uint_eq(program.types.items[t].kind,
					  t == cut ? GH_KIND_STRUCT : GH_KIND_ARRAY);
		close_program(&program);
	}
}
END_TEST

START_TEST(a_struct_in_itself_has_no_fields)
{
	struct program program;
	make(&program, _i);
	/* The first field becomes as large as the struct, and the struct itself. */
	unsigned word = program.what.word;
	set(&program, program.places.fields + word, address(&program, TYPE_NODE), word);
	open_program(&program);
	ck_assert_uint_eq(program.types.items[TYPE_NODE].nparts, 0);
	close_program(&program);
}
END_TEST

START_TEST(an_array_of_itself_is_a_struct)
{
	struct program program;
	make(&program, _i);
	set(&program, extra(&program, TYPE_ARRAY, 0), address(&program, TYPE_ARRAY),
	    program.what.word);
	open_program(&program);
	ck_assert_uint_eq(program.types.items[TYPE_ARRAY].kind, GH_KIND_STRUCT);
	close_program(&program);
}
END_TEST

START_TEST(a_pointer_to_itself_points_to_nothing)
{
	struct program program;
	make(&program, _i);
	set(&program, extra(&program, TYPE_POINTER, 0), address(&program, TYPE_POINTER),
	    program.what.word);
	open_program(&program);
	check_name(&program, TYPE_POINTER, "*?");
	close_program(&program);
}
END_TEST

START_TEST(too_many_fields_are_none)
{
	static const uint64_t counts[] = {1ULL << 63, UINT64_MAX, UINT32_MAX, 0x100000, 0x80};
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct program program;
		make(&program, _i);
		set(&program, program.places.field_count, counts[i], program.what.word);
		open_program(&program);
		const struct gh_rtype *node = &program.types.items[TYPE_NODE];
		/* What is there is not believed to be a field of the struct either. */
		struct gh_rtype_part part;
		ck_assert_uint_le(node->nparts, 0x80);
		for (uint32_t f = 4; f < node->nparts; f++)
			if (gh_rtype_part(&program.types, node, f, &part))
				ck_assert_uint_le(part.offset, node->size);
		close_program(&program);
	}
}
END_TEST

START_TEST(a_size_that_is_not_the_kinds_is_no_type)
{
	struct program program;
	make(&program, _i);
	set(&program, program.places.types[TYPE_SLICE], 1, program.what.word);
	open_program(&program);
	ck_assert_uint_eq(program.types.count, TYPES - 1);
	ck_assert_uint_eq(gh_rtypes_at(&program.types, address(&program, TYPE_SLICE)), GH_NO_RTYPE);
	close_program(&program);
}
END_TEST

/* Makes the debug file of the program with VALUE at OFFSET. */
static void read_damaged(const struct program *program, size_t offset, uint64_t value,
			 unsigned size)
{
	struct program damaged = *program;
	damaged.data = malloc(program->size);
	memcpy(damaged.data, program->data, program->size);
	set(&damaged, offset, value, size);
	open_program(&damaged);
	uint8_t *debug;
	size_t debug_size;
	struct gh_error err;
	ck_assert_msg(gh_debugfile_make(&damaged.tab, NULL, &debug, &debug_size, &err), "%s",
		      err.text);
	ck_assert_uint_le(debug_size, 8 * program->size);
	free(debug);
	close_program(&damaged);
}

/* The programs share the values between them: it would take a minute for each to try all. */
START_TEST(every_field_wrong)
{
	struct program program;
	make(&program, _i);
	unsigned word = program.what.word;
	const uint64_t values[] = {0,
				   1,
				   0x7fffffff,
				   UINT64_MAX,
				   1ULL << 63,
				   address(&program, TYPE_NODE),
				   address(&program, TYPE_ARRAY),
				   address(&program, TYPE_FUNC)};
	for (size_t offset = TYPES_OFFSET; offset < TYPES_OFFSET + TYPES_SIZE * 5 / 8;
	     offset += 4) {
		read_damaged(&program, offset, 0xff, 1);
		for (size_t v = (offset / 4 + (size_t)_i) % 4;
		     v < sizeof(values) / sizeof(values[0]); v += 4)
			read_damaged(&program, offset, values[v], offset % word == 0 ? word : 4);
	}
	free(program.data);
}
END_TEST

/* Another package's type gets the name of Node. */
START_TEST(a_name_of_two_types_is_told)
{
	struct program program;
	struct gh_error err;
	make(&program, _i);
	open_program(&program);
	ck_assert_uint_eq(gh_rtypes_named(&program.types, "main.Node", &err), TYPE_NODE);
	program.types.items[TYPE_ATOMIC].text = program.types.items[TYPE_NODE].text;
	ck_assert_uint_eq(gh_rtypes_named(&program.types, "main.Node", &err), GH_NO_RTYPE);
	ck_assert_str_eq(err.text,
			 "main.Node: expected the name of one type, found that "
			 "example.org/x/main.Node and sync/atomic.Node are called so: give one of "
			 "these");
	ck_assert_uint_eq(gh_rtypes_named(&program.types, "main.None", &err), GH_NO_RTYPE);
	ck_assert_str_eq(err.text, "types: expected a type that the program describes, found none "
				   "called main.None");
	close_program(&program);
}
END_TEST

static void check_size(const struct gh_values *values, const char *name, uint64_t expected)
{
	struct gh_error err;
	uint64_t size;
	ck_assert_msg(gh_value_named_size(values, name, &size, &err), "%s", err.text);
	ck_assert_uint_eq(size, expected);
}

START_TEST(sizes_of_values_are_checked)
{
	static const uint8_t bytes[8] = {1};
	struct program program;
	struct gh_error err;
	uint64_t size;
	make(&program, _i);
	open_program(&program);
	unsigned word = program.what.word;
	struct gh_process process = {.tab = &program.tab};
	struct gh_values values = {.process = &process, .types = &program.types};
	check_size(&values, "*int", word);
	check_size(&values, "[]int", 3 * word);
	check_size(&values, "[2][1]int", 2 * word);
	check_size(&values, "[0][9]int", 0);
	check_size(&values, "[9]*int", 9 * word);
	/* 2^60, of 4 or 8 bytes each; four times that is 2^64 bytes and more. */
	check_size(&values, "[1152921504606846976]int", word * (UINT64_C(1) << 60));
	ck_assert(!gh_value_named_size(&values, "[4][1152921504606846976]int", &size, &err));
	ck_assert_str_eq(err.text, "[4][1152921504606846976]int: expected an array that memory can "
				   "hold, found a larger one");
	ck_assert(!gh_value_print_bytes(&values, "int", bytes, word - 1, &err));
	ck_assert_str_eq(err.text, word == 8
				       ? "int: expected a value of its size, found 7 bytes, not 8"
				       : "int: expected a value of its size, found 3 bytes, not 4");
	gh_values_free(&values);
	close_program(&program);
}
END_TEST

void rtype_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, types_are_read, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, method_values_have_the_types_of_their_receivers, 0,
			    FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, releases_are_told_by_tables, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, copies_are_types_too, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, a_name_of_two_types_is_told, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, sizes_of_values_are_checked, 0, FIXTURE_VARIANTS);
	tcase_add_test(tcase, deep_nesting_is_cut);
	tcase_add_loop_test(tcase, a_struct_in_itself_has_no_fields, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, an_array_of_itself_is_a_struct, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, a_pointer_to_itself_points_to_nothing, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, too_many_fields_are_none, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, a_size_that_is_not_the_kinds_is_no_type, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, every_field_wrong, 0, 4);
	tcase_add_loop_test(tcase, every_field_wrong, 16, 20);
}
