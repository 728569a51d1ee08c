/* Methods of types, itabs, and what they tell of functions; and types by their names. */
#include <string.h>

#include "lib/rtype/internal.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"
#include "tests/unit/typeprogram.h"

/* Room in the range of types, behind the names. */
enum { METHODS = TYPES_OFFSET + 0xd00, NAME = TYPES_OFFSET + 0xe00, ITABS = TYPES_OFFSET + 0xe80 };

/* Where the record of type NUMBER's package and methods is, which comes after WORDS words of its
 * kind. */
static size_t uncommon(const struct typeprogram *program, int number, unsigned words)
{
	return program->places.types[number] + (4 + words) * program->what.word + 16;
}

/* A method called Do: of the type NUMBER, or none, with its code for words and for values. */
struct method {
	int type;
	uint32_t of_word;
	uint32_t of_value;
};

/* Gives the type whose record is at RECORD the COUNT methods at LIST, which go to PLACE. */
static void put_methods(struct typeprogram *program, size_t record, size_t place,
			const struct method *list, unsigned count)
{
	static const char name[] = "\1\0\2Do"; /* of two bytes' length before Go 1.17 */
	bool short_length = program->what.format >= SYNTHETIC_1_18;
	memcpy(program->data + NAME, "\1\2Do", 4);
	if (!short_length)
		memcpy(program->data + NAME, name, sizeof(name) - 1);
	typeprogram_set(program, record + 4, count, 2);
	typeprogram_set(program, record + 8, place - record, 4);
	for (unsigned i = 0; i < count; i++) {
		size_t at = place + i * 16;
		typeprogram_set(program, at, NAME - TYPES_OFFSET, 4);
		typeprogram_set(
		    program, at + 4,
		    list[i].type < TYPES ? program->places.types[list[i].type] - TYPES_OFFSET : 0,
		    4);
		typeprogram_set(program, at + 8, list[i].of_word, 4);
		typeprogram_set(program, at + 12, list[i].of_value, 4);
	}
}

/* Checks what is known of the code at OFFSET in the text. */
static void check(const struct gh_signatures *signatures, uint64_t offset, uint32_t receiver,
		  uint32_t function)
{
	const struct gh_signature *found = gh_signature_at(signatures, SYNTHETIC_TEXT + offset);
	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->receiver, receiver);
	ck_assert_uint_eq(found->function, function);
}

static void find(struct gh_signatures *signatures, const struct typeprogram *program)
{
	struct gh_error err;
	ck_assert(gh_signatures_find(signatures, &program->types, &err));
}

START_TEST(methods_tell_their_receivers_and_types)
{
	static const struct method of_node[] = {{TYPE_FUNC, 0x08, 0x10}, {TYPES, 0, 0x18},
						{TYPE_FUNC, 0x20, 0},    {TYPE_IFACE, 0, 0x20},
						{TYPE_FUNC, 0x30, 0x30}, {TYPES, 0x38, 0},
						{TYPES, 0, 0x78},        {TYPE_FUNC, 0x28, 0x77}};
	struct typeprogram program;
	struct gh_signatures signatures;
	typeprogram_make(&program, _i, "example.org/x/main.Node.Do");
	put_methods(&program, uncommon(&program, TYPE_NODE, 4), METHODS, of_node, 8);
	typeprogram_open(&program);
	ck_assert_uint_eq(gh_rtype_methods(&program.types, &program.types.items[TYPE_NODE]), 8);
	find(&signatures, &program);
	ck_assert_uint_eq(signatures.count, 8);
	check(&signatures, 0x08, GH_NO_RTYPE, TYPE_FUNC);
	check(&signatures, 0x10, TYPE_NODE, TYPE_FUNC);
	check(&signatures, 0x18, TYPE_NODE, GH_NO_RTYPE);
	check(&signatures, 0x20, TYPE_NODE, GH_NO_RTYPE); /* of two types */
	check(&signatures, 0x28, GH_NO_RTYPE, TYPE_FUNC);
	check(&signatures, 0x30, TYPE_NODE, TYPE_FUNC);
	check(&signatures, 0x70, TYPE_NODE, GH_NO_RTYPE); /* by the function's name */
	check(&signatures, 0x77, TYPE_NODE, TYPE_FUNC);
	/* Nothing is told of this one, and the text ends before that. */
	ck_assert_ptr_null(gh_signature_at(&signatures, SYNTHETIC_TEXT + 0x38));
	ck_assert_ptr_null(gh_signature_at(&signatures, SYNTHETIC_TEXT + 0x78));
	ck_assert_ptr_null(gh_signature_at(&signatures, SYNTHETIC_TEXT));
	ck_assert_ptr_null(gh_signature_at(&signatures, UINT64_MAX));
	gh_signatures_free(&signatures);
	typeprogram_close(&program);
}
END_TEST

/* A pointer's methods have names of their own. */
START_TEST(methods_of_two_types_have_no_receiver)
{
	static const struct method of_node[] = {{TYPE_FUNC, 0, 0x10}};
	static const struct method of_pointer[] = {{TYPE_FUNC, 0, 0x10}, {TYPE_FUNC, 0, 0x18}};
	struct typeprogram program;
	struct gh_signatures signatures;
	typeprogram_make(&program, _i, "example.org/x/main.(*Node).Do");
	put_methods(&program, uncommon(&program, TYPE_NODE, 4), METHODS, of_node, 1);
	program.data[program.places.types[TYPE_POINTER] + 2 * program.what.word + 4] |= 1;
	put_methods(&program, uncommon(&program, TYPE_POINTER, 1), METHODS + 0x40, of_pointer, 2);
	typeprogram_open(&program);
	find(&signatures, &program);
	ck_assert_uint_eq(signatures.count, 3);
	check(&signatures, 0x10, GH_NO_RTYPE, TYPE_FUNC);
	check(&signatures, 0x18, TYPE_POINTER, TYPE_FUNC);
	check(&signatures, 0x70, TYPE_POINTER, GH_NO_RTYPE);
	gh_signatures_free(&signatures);
	typeprogram_close(&program);
}
END_TEST

/* As objabi.PathToPrefix escapes them: dots after the last slash only. */
START_TEST(names_of_functions_have_escaped_paths)
{
	static const struct {
		const char *path; /* as long as Node's */
		const char *function;
		bool is_node;
	} cases[] = {
	    {"example.org/x/main", "example.org/x/main.Node.Do", true},
	    {"example.org/x/m.in", "example.org/x/m%2ein.Node.Do", true},
	    {"example.org/x/m.in", "example.org/x/m.in.Node.Do", false},
	    {"exampleXorgXxXm.in", "exampleXorgXxXm%2ein.Node.Do", true},
	    {"example.org/x%main", "example%2eorg/x%25main.Node.Do", false},
	    {"example.org/x%main", "example.org/x%25main.Node.Do", true},
	    {"example.org/x\"ma!n", "example.org/x%22ma!n.Node.Do", true},
	    {"example.org/x mai~", "example.org/x%20mai~.Node.Do", true},
	    {"example.org/x/ma\xc3\xb6", "example.org/x/ma%c3%b6.Node.Do", true},
	    {"example.org/x/main", "example.org/x/main.Node.Dont", false},
	    {"example.org/x/main", "example.org/x/main.(*Node).Do", false},
	    {"example.org/x/main", "example.org/x/main.Mode.Do", false},
	};
	static const struct method of_node[] = {{TYPE_FUNC, 0, 0x10}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct typeprogram program;
		struct gh_signatures signatures;
		typeprogram_make(&program, SYNTHETIC_1_20 * 8, cases[i].function);
		uint8_t *path = memmem(program.data + TYPES_OFFSET, TYPES_SIZE, cases[0].path,
				       strlen(cases[0].path));
		memcpy(path, cases[i].path, strlen(cases[i].path));
		put_methods(&program, uncommon(&program, TYPE_NODE, 4), METHODS, of_node, 1);
		typeprogram_open(&program);
		find(&signatures, &program);
		ck_assert_msg(signatures.count == (cases[i].is_node ? 2 : 1), "%zu", i);
		if (cases[i].is_node)
			check(&signatures, 0x70, TYPE_NODE, GH_NO_RTYPE);
		gh_signatures_free(&signatures);
		typeprogram_close(&program);
	}
}
END_TEST

START_TEST(more_methods_than_the_file_has_are_none)
{
	static const struct method of_node[] = {{TYPE_FUNC, 0, 0x10}};
	struct typeprogram program;
	struct gh_signatures signatures;
	typeprogram_make(&program, _i, NULL);
	size_t record = uncommon(&program, TYPE_NODE, 4);
	/* The last sixteen bytes of the file are of one method. */
	put_methods(&program, record, program.size - 16, of_node, 1);
	typeprogram_open(&program);
	const struct gh_rtype *node = &program.types.items[TYPE_NODE];
	ck_assert_uint_eq(gh_rtype_methods(&program.types, node), 1);
	typeprogram_set(&program, record + 4, 2, 2);
	ck_assert_uint_eq(gh_rtype_methods(&program.types, node), 0);
	find(&signatures, &program);
	ck_assert_uint_eq(signatures.count, 0);
	gh_signatures_free(&signatures);
	typeprogram_close(&program);
}
END_TEST

/* An itab at OFFSET of types, and the code of its one method. */
static void put_itab(struct typeprogram *program, size_t offset, int interface, int type,
		     uint64_t code, unsigned pointers)
{
	unsigned word = program->what.word;
	typeprogram_set(program, offset, typeprogram_type(program, interface), word);
	typeprogram_set(program, offset + word, typeprogram_type(program, type), word);
	typeprogram_set(program, offset + pointers * word + 8, SYNTHETIC_TEXT + code, word);
}

static void check_itab(const struct typeprogram *program, struct gh_itab_walk *walk, size_t offset,
		       uint64_t code)
{
	struct gh_itab itab;
	ck_assert(gh_itabs_next(walk, &program->types, &itab));
	ck_assert_uint_eq(itab.address, typeprogram_address(offset));
	ck_assert_uint_eq(itab.interface, TYPE_IFACE);
	ck_assert_uint_eq(itab.type, TYPE_NODE);
	unsigned pointers = gh_rtypes_before_1_9(&program->types) ? 3 : 2;
	ck_assert_uint_eq(itab.size, (pointers + 1) * program->what.word + 8);
	/* Where code is, is not told on 32-bit machines. */
	ck_assert_uint_eq(gh_itab_function(&program->types, &itab, 0),
			  program->what.word == 8 ? SYNTHETIC_TEXT + code : 0);
}

/* To Go 1.26 the module has a list of pointers to them. */
START_TEST(itabs_are_those_that_the_module_points_to)
{
	struct typeprogram program;
	struct gh_itab_walk walk = {0};
	struct gh_itab itab;
	struct gh_signatures signatures;
	typeprogram_make(&program, _i, NULL);
	unsigned word = program.what.word;
	put_itab(&program, ITABS, TYPE_IFACE, TYPE_NODE, 0x10, 2);
	put_itab(&program, ITABS + 0x30, TYPE_INT, TYPE_NODE, 0x18, 2); /* no interface */
	put_itab(&program, ITABS + 0x60, TYPE_IFACE, TYPE_NODE, 0x20, 2);
	const uint64_t links[] = {typeprogram_address(ITABS), typeprogram_address(ITABS + 0x30), 1,
				  typeprogram_address(ITABS + 1),
				  typeprogram_address(ITABS + 0x60)};
	for (unsigned i = 0; i < 5; i++)
		typeprogram_set(&program, program.size - (5 - i) * word, links[i], word);
	typeprogram_open(&program);
	program.tab.module.itablinks = typeprogram_address(program.size - 5 * word);
	program.tab.module.nitablinks = 7; /* the file ends before */
	check_itab(&program, &walk, ITABS, 0x10);
	check_itab(&program, &walk, ITABS + 0x60, 0x20);
	ck_assert(!gh_itabs_next(&walk, &program.types, &itab));
	find(&signatures, &program);
	ck_assert_uint_eq(signatures.count, word == 8 ? 2 : 0);
	if (word == 8) {
		check(&signatures, 0x10, GH_NO_RTYPE, TYPE_FUNC);
		check(&signatures, 0x20, GH_NO_RTYPE, TYPE_FUNC);
	}
	gh_signatures_free(&signatures);
	program.tab.module.nitablinks = 1;
	walk = (struct gh_itab_walk){0};
	check_itab(&program, &walk, ITABS, 0x10);
	ck_assert(!gh_itabs_next(&walk, &program.types, &itab));
	typeprogram_close(&program);
}
END_TEST

/* So they are from Go 1.27 on. */
START_TEST(itabs_are_in_the_range_of_the_module)
{
	struct gh_itab_walk walk = {0};
	struct gh_itab itab;
	struct typeprogram program;
	typeprogram_make(&program, _i, NULL);
	unsigned word = program.what.word;
	size_t size = 3 * word + 8;
	put_itab(&program, ITABS, TYPE_IFACE, TYPE_NODE, 0x10, 2);
	put_itab(&program, ITABS + size + word, TYPE_IFACE, TYPE_NODE, 0x20, 2);
	typeprogram_open(&program);
	program.tab.module.itabs = typeprogram_address(ITABS);
	program.tab.module.itabs_size = size + word + 1;
	check_itab(&program, &walk, ITABS, 0x10);
	check_itab(&program, &walk, ITABS + size + word, 0x20);
	ck_assert(!gh_itabs_next(&walk, &program.types, &itab));
	program.tab.module.itabs_size = size + word;
	walk = (struct gh_itab_walk){0};
	check_itab(&program, &walk, ITABS, 0x10);
	ck_assert(!gh_itabs_next(&walk, &program.types, &itab));
	typeprogram_close(&program);
}
END_TEST

/* Finds the types of both; OTHER is BIAS bytes from the program in the process. */
static void find_with_module(struct typeprogram *program, struct typeprogram *other, uint64_t bias,
			     bool linked)
{
	struct gh_error err;
	const struct gh_module own = {&program->tab, 0x10000, false};
	const struct gh_module module = {&other->tab, 0x10000 + bias, linked};
	ck_assert(gh_rtypes_find_all(&program->types, &own, &module, 1, &err));
}

/* Of the program, whose addresses are less in the process, or more. */
static const uint64_t biases[] = {0x100000, (uint64_t)-0x100000};

START_TEST(types_of_all_modules_are_one)
{
	for (size_t i = 0; i < 2; i++) {
		struct typeprogram program, other;
		typeprogram_make(&program, _i, NULL);
		typeprogram_make(&other, _i, NULL);
		typeprogram_open_tab(&program);
		typeprogram_open_tab(&other);
		find_with_module(&program, &other, biases[i], true);
		const struct gh_rtypes *types = &program.types;
		ck_assert_uint_eq(types->count, TYPES);
		ck_assert_uint_eq(types->ncopies, TYPES);
		for (int t = 0; t < TYPES; t++) {
			uint64_t address = typeprogram_type(&program, t);
			ck_assert_uint_eq(types->items[t].address, address);
			ck_assert_uint_eq(types->items[t].module, 0);
			ck_assert_uint_eq(gh_rtypes_at(types, address), (uint32_t)t);
			ck_assert_uint_eq(gh_rtypes_at(types, address + biases[i]), (uint32_t)t);
		}
		typeprogram_close(&program);
		typeprogram_close(&other);
	}
}
END_TEST

START_TEST(types_of_one_module_are_there_too)
{
	for (size_t i = 0; i < 2; i++) {
		struct typeprogram program, other;
		typeprogram_make(&program, _i, NULL);
		typeprogram_make(&other, _i, NULL);
		uint8_t *text = memmem(other.data, other.size, "unsafe.Pointer", 14);
		memcpy(text, "unsafe.Printer", 14);
		typeprogram_open_tab(&program);
		typeprogram_open_tab(&other);
		find_with_module(&program, &other, biases[i], true);
		const struct gh_rtypes *types = &program.types;
		uint64_t address = typeprogram_type(&program, TYPE_UNSAFE) + biases[i];
		uint32_t found = gh_rtypes_at(types, address);
		ck_assert_uint_eq(types->count, TYPES + 1);
		ck_assert_uint_eq(types->ncopies, TYPES - 1);
		ck_assert_uint_eq(found, i == 0 ? TYPES : 0);
		ck_assert_uint_eq(types->items[found].module, 1);
		ck_assert(gh_rtype_text_is(types->items[found].text, "unsafe.Printer"));
		for (uint32_t t = 1; t < types->count; t++)
			ck_assert_uint_lt(types->items[t - 1].address, types->items[t].address);
		typeprogram_close(&program);
		typeprogram_close(&other);
	}
}
END_TEST

START_TEST(modules_of_other_runtimes_are_left_out)
{
	for (int i = 0; i < 3; i++) {
		struct typeprogram program, other;
		typeprogram_make(&program, SYNTHETIC_1_20 * 8, NULL);
		typeprogram_make(&other,
				 i == 0   ? SYNTHETIC_1_20 * 8
				 : i == 1 ? SYNTHETIC_1_18 * 8
					  : SYNTHETIC_1_20 * 8 + 1,
				 NULL);
		typeprogram_open_tab(&program);
		typeprogram_open_tab(&other);
		find_with_module(&program, &other, 0x100000, i != 0);
		ck_assert_uint_eq(program.types.nmodules, 1);
		ck_assert_uint_eq(program.types.ncopies, 0);
		typeprogram_close(&program);
		typeprogram_close(&other);
	}
}
END_TEST

START_TEST(types_have_the_names_that_code_gives_them)
{
	static const struct {
		const char *text; /* of a type */
		const char *name;
		bool same;
	} cases[] = {
	    {"map[string]int", "map[string]int", true},
	    {"map[string]int", " map [ string]int ", true},
	    {"map[string]int", "map[string]", false},
	    {"map[string]int", "map[string]int8", false},
	    {"interface {}", "any", true},
	    {"interface {}", "interface{}", true},
	    {"[]interface {}", "[]any", true},
	    {"map[uint8]int32", "map[byte]rune", true},
	    {"uint8", "byte", true},
	    {"[]uint8", "[]bytes", false},
	    {"[]uint8", "[]_byte", false},
	    {"[]uint8", "[]byte1", false},
	    {"x.uint8", "x.byte", false}, /* of a package */
	    {"x.byte", "x.byte", true},
	    {"[]x.any", "[]x.any", true},
	    {"func(x.any, interface {})", "func(x.any, any)", true},
	};
	struct typeprogram program;
	struct gh_error err;
	typeprogram_make(&program, _i, NULL);
	typeprogram_open(&program);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		program.types.items[TYPE_SLICE].text = (struct gh_rtype_text){
		    .start = cases[i].text, .length = (uint32_t)strlen(cases[i].text)};
		uint32_t found = gh_rtypes_named(&program.types, cases[i].name, &err);
		if (found == TYPE_MAP)
			found = TYPE_SLICE;
		ck_assert_msg(found == (cases[i].same ? TYPE_SLICE : GH_NO_RTYPE), "%zu", i);
	}
	static const struct {
		const char *name;
		uint32_t type;
	} paths[] = {{"example.org/x/main.Node", TYPE_NODE},
		     {"*example.org/x/main.Node", TYPE_POINTER},
		     {"example.org/y/main.Node", GH_NO_RTYPE},
		     {"sync/atomic.Pointer[example.org/x/main.Node]", TYPE_ATOMIC}};
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		ck_assert_uint_eq(gh_rtypes_named(&program.types, paths[i].name, &err),
				  paths[i].type);
	static char name[5000];
	memset(name, 'x', sizeof(name) - 1);
	ck_assert_uint_eq(gh_rtypes_named(&program.types, name, NULL), GH_NO_RTYPE);
	typeprogram_close(&program);
}
END_TEST

/* Of types of one name, that is meant whose package's path is its name. */
START_TEST(a_package_is_called_by_its_path)
{
	for (int i = 0; i < 2; i++) {
		struct typeprogram program;
		struct gh_error err;
		typeprogram_make(&program, _i, NULL);
		uint8_t *path = i == 0
				    ? memmem(program.data, program.size, "example.org/x/main", 18)
				    : program.data + program.places.atomic;
		path[-1] = 4;
		memcpy(path, "main", 4);
		typeprogram_open(&program);
		program.types.items[TYPE_ATOMIC].text = program.types.items[TYPE_NODE].text;
		ck_assert_uint_eq(gh_rtypes_named(&program.types, "main.Node", &err),
				  i == 0 ? TYPE_NODE : TYPE_ATOMIC);
		typeprogram_close(&program);
	}
}
END_TEST

void signature_tests(TCase *tests)
{
	tcase_add_loop_test(tests, methods_tell_their_receivers_and_types, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tests, methods_of_two_types_have_no_receiver, 0, FIXTURE_VARIANTS);
	tcase_add_test(tests, names_of_functions_have_escaped_paths);
	tcase_add_loop_test(tests, more_methods_than_the_file_has_are_none, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tests, itabs_are_those_that_the_module_points_to, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tests, itabs_are_in_the_range_of_the_module, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tests, types_of_all_modules_are_one, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tests, types_of_one_module_are_there_too, 0, FIXTURE_VARIANTS);
	tcase_add_test(tests, modules_of_other_runtimes_are_left_out);
	tcase_add_loop_test(tests, types_have_the_names_that_code_gives_them, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tests, a_package_is_called_by_its_path, 0, FIXTURE_VARIANTS);
}
