/* The structs that closures are, by the code that makes them, and what the words in frames are. */
#include <stdlib.h>
#include <string.h>

#include "lib/code/code_types.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"
#include "tests/unit/typemaker.h"

/* The program's functions: two that may make closures, and the one that allocates; of the first the
 * closures of these tests are. */
enum { FIRST = 0, SECOND = 0x50, ALLOCATES = 0x70, TEXT_OFFSET = 0x1000 };

struct scene {
	struct synthetic what;
	uint8_t *data; /* the program; owned */
	size_t size;   /* in bytes */
	struct typemaker_places places;
	uint8_t *code; /* where the next code goes */
};

static void start(struct scene *scene, enum synthetic_format format)
{
	*scene = (struct scene){
	    .what = {.format = format, .word = 8, .sections = true, .last = "runtime.newobject"}};
	scene->data = typemaker_make(&scene->what, &scene->size, &scene->places);
	scene->code = scene->data + TEXT_OFFSET;
}

/* Gives the function that is called FROM the name TO, which is no longer. */
static void rename_function(struct scene *scene, const char *from, const char *to)
{
	char *found = memmem(scene->data, scene->size, from, strlen(from) + 1);
	ck_assert_ptr_nonnull(found);
	strcpy(found, to);
}

/* An instruction of which the last four bytes are the distance of ADDRESS. */
static void put_relative(struct scene *scene, const char *bytes, size_t size, uint64_t address)
{
	memcpy(scene->code, bytes, size);
	scene->code += size + 4;
	uint64_t at = SYNTHETIC_TEXT + (uint64_t)(scene->code - scene->data) - TEXT_OFFSET;
	for (unsigned i = 0; i < 4; i++)
		scene->code[(int)i - 4] = (uint8_t)((address - at) >> 8 * i);
}

static void put(struct scene *scene, const char *bytes, size_t size)
{
	memcpy(scene->code, bytes, size);
	scene->code += size;
}

/* What the code that makes a closure does. */
struct making {
	int type;         /* of which it allocates one */
	uint64_t entry;   /* what it stores, relative to the text */
	bool loads_entry; /* from there */
	bool loads_made;  /* the pointer, from what was allocated */
	uint8_t offset;   /* where it stores it, in that */
	unsigned spills;  /* how often in the frame before, which it then loads it from */
};

static void put_making(struct scene *scene, const struct making *making)
{
	uint64_t type = TYPES_ADDRESS + scene->places.types[making->type] - TYPES_OFFSET;
	put_relative(scene, "\x48\x8d\x05", 3, type); /* LEA type, RAX */
	put_relative(scene, "\xe8", 1, SYNTHETIC_TEXT + ALLOCATES);
	if (making->loads_made)
		put(scene, "\x48\x8b", 2), put(scene, "\0", 1); /* MOV (RAX), RAX */
	put_relative(scene, making->loads_entry ? "\x48\x8b\x0d" : "\x48\x8d\x0d", 3,
		     SYNTHETIC_TEXT + making->entry); /* LEA entry, RCX; or MOV */
	for (unsigned i = 0; i < making->spills; i++)
		put(scene, "\x48\x89\x4c\x24\x10", 5); /* MOV RCX, 16(RSP) */
	if (making->spills > 0)
		put(scene, "\x48\x8b\x4c\x24\x10", 5); /* MOV 16(RSP), RCX */
	put(scene, "\x48\x89\x48", 3);                 /* MOV RCX, offset(RAX) */
	put(scene, (const char *)&making->offset, 1);
}

/* The scene's program, opened. */
struct program {
	struct gh_image image;
	struct gh_pclntab tab;
	struct gh_rtypes types;
};

static void open_program(struct program *program, struct scene *scene)
{
	struct gh_error err;
	if (!gh_image_open_memory(&program->image, scene->data, scene->size, "closures", &err) ||
	    !gh_pclntab_open(&program->tab, &program->image, &err) ||
	    !gh_rtypes_find(&program->types, &program->tab, &err))
		ck_abort_msg("%s", err.text);
}

static void close_program(struct program *program, struct scene *scene)
{
	gh_rtypes_free(&program->types);
	gh_pclntab_close(&program->tab);
	gh_image_close(&program->image);
	free(scene->data);
}

/* The struct of the closures of the first function's code that are called NAME, main.small by the
 * program. */
static uint32_t find_struct(struct scene *scene, const char *name)
{
	struct program program;
	struct gh_func func;
	if (strcmp(name, "main.small") != 0)
		rename_function(scene, "main.small", name);
	open_program(&program, scene);
	ck_assert(gh_pclntab_record(&program.tab, 2, &func, NULL));
	const char *last = gh_pclntab_name(&program.tab, func.name);
	ck_assert_str_eq(last, "runtime.newobject");
	/* The name after that. */
	func.name += (uint32_t)strlen(last) + 1;
	ck_assert_str_eq(gh_pclntab_name(&program.tab, func.name), name);
	func.entry = SYNTHETIC_TEXT + FIRST;
	uint32_t found = gh_closure_struct(&program.types, &func);
	close_program(&program, scene);
	return found;
}

static const enum synthetic_format formats[] = {SYNTHETIC_1_18, SYNTHETIC_1_20, SYNTHETIC_1_26};

/* The closure main.small is declared in main. */
START_TEST(the_first_word_of_what_is_allocated_is_the_code)
{
	static const struct {
		struct making making;
		uint32_t type;
	} cases[] = {
	    {{.type = TYPE_NODE, .entry = FIRST}, TYPE_NODE},
	    {{.type = TYPE_ATOMIC, .entry = FIRST}, TYPE_ATOMIC},
	    {{.type = TYPE_NODE, .entry = FIRST, .offset = 8}, GH_NO_RTYPE}, /* another word */
	    {{.type = TYPE_NODE, .entry = FIRST, .loads_entry = true},
	     GH_NO_RTYPE}, /* what is there */
	    {{.type = TYPE_NODE, .entry = FIRST, .loads_made = true},
	     GH_NO_RTYPE},                                          /* of what is pointed to */
	    {{.type = TYPE_NODE, .entry = SECOND}, GH_NO_RTYPE},    /* of another function */
	    {{.type = TYPE_NODE, .entry = FIRST + 1}, GH_NO_RTYPE}, /* of none */
	    {{.type = TYPE_INT, .entry = FIRST}, GH_NO_RTYPE},      /* no struct */
	    {{.type = TYPE_NODE, .entry = FIRST, .spills = 1}, TYPE_NODE},
	    {{.type = TYPE_NODE, .entry = FIRST, .spills = 2},
	     GH_NO_RTYPE}, /* what the word holds is not known */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene scene;
		start(&scene, formats[_i]);
		rename_function(&scene, "main.main", "main");
		put_making(&scene, &cases[i].making);
		uint32_t found = find_struct(&scene, "main.small");
		ck_assert_msg(found == cases[i].type, "%zu", i);
	}
}
END_TEST

/* Two that are made are of one struct, or of two. */
START_TEST(closures_of_two_structs_are_not_known)
{
	static const int types[] = {TYPE_NODE, TYPE_ATOMIC};
	for (unsigned i = 0; i < 4; i++) {
		struct scene scene;
		start(&scene, formats[_i]);
		rename_function(&scene, "main.main", "main");
		put_making(&scene, &(struct making){.type = types[i % 2]});
		put_making(&scene, &(struct making){.type = types[i / 2]});
		uint32_t found = find_struct(&scene, "main.small");
		ck_assert_uint_eq(found, i % 2 == i / 2 ? (uint32_t)types[i % 2] : GH_NO_RTYPE);
	}
}
END_TEST

/* Of two functions, whose closures are of two structs. */
START_TEST(the_function_of_the_longest_name_makes_it)
{
	static const struct {
		const char *first, *second, *closure;
		uint32_t type;
	} cases[] = {
	    {"main", "main.a", "main.a.b", TYPE_ATOMIC},
	    {"main.a", "main", "main.a.b", TYPE_NODE},
	    {"main", "main.a", "main.b", TYPE_NODE},
	    {"main.a", "main.b", "main.b.c", TYPE_ATOMIC},
	    {"main", "main.a", "main.ab", TYPE_NODE},  /* not in main.a */
	    {"main.a", "main", "main.a", TYPE_ATOMIC}, /* it is that itself */
	    {"other", "main.a", "main.b", GH_NO_RTYPE},
	    {"main.a", "main.b", "main", GH_NO_RTYPE},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene scene;
		start(&scene, formats[_i]);
		rename_function(&scene, "main.main", cases[i].first);
		rename_function(&scene, "main.leaf", cases[i].second);
		put_making(&scene, &(struct making){.type = TYPE_NODE});
		scene.code = scene.data + TEXT_OFFSET + SECOND;
		put_making(&scene, &(struct making){.type = TYPE_ATOMIC});
		uint32_t found = find_struct(&scene, cases[i].closure);
		ck_assert_msg(found == cases[i].type, "%zu", i);
	}
}
END_TEST

/* Those of all functions, which are found in one walk over the code. */
START_TEST(each_entry_has_the_struct_of_its_closures)
{
	struct scene scene;
	struct program program;
	struct gh_code_types found = {0};
	struct gh_error err;
	start(&scene, formats[_i]);
	put_making(&scene, &(struct making){.type = TYPE_NODE, .entry = SECOND});
	put_making(&scene, &(struct making){.type = TYPE_ATOMIC, .entry = FIRST});
	open_program(&program, &scene);
	ck_assert(gh_code_types_find(&found, &program.types, 0, 0, &err));
	ck_assert_uint_eq(gh_code_types_closure(&found, SYNTHETIC_TEXT + FIRST), TYPE_ATOMIC);
	ck_assert_uint_eq(gh_code_types_closure(&found, SYNTHETIC_TEXT + SECOND), TYPE_NODE);
	ck_assert_uint_eq(gh_code_types_closure(&found, SYNTHETIC_TEXT + SECOND + 1), GH_NO_RTYPE);
	ck_assert_uint_eq(gh_code_types_closure(&found, SYNTHETIC_TEXT + ALLOCATES), GH_NO_RTYPE);
	gh_code_types_free(&found);
	close_program(&program, &scene);
}
END_TEST

/* Arguments were on the stack before Go 1.17. */
START_TEST(older_code_tells_nothing)
{
	struct scene scene;
	start(&scene, SYNTHETIC_1_16);
	rename_function(&scene, "main.main", "main");
	put_making(&scene, &(struct making){.type = TYPE_NODE});
	ck_assert_uint_eq(find_struct(&scene, "main.small"), GH_NO_RTYPE);
}
END_TEST

/* Code of the first function: it allocates one of a type and keeps it in its frame, or what a call
 * of the second function gives. */
static void put_kept(struct scene *scene, int type)
{
	uint64_t descriptor = TYPES_ADDRESS + scene->places.types[type] - TYPES_OFFSET;
	put_relative(scene, "\x48\x8d\x05", 3, descriptor); /* LEA type, RAX */
	put_relative(scene, "\xe8", 1, SYNTHETIC_TEXT + ALLOCATES);
	put(scene, "\x48\x89\x44\x24\x10", 5); /* MOV RAX, 16(RSP) */
}

static void put_called(struct scene *scene)
{
	put_relative(scene, "\xe8", 1, SYNTHETIC_TEXT + SECOND);
	put(scene, "\x48\x89\x44\x24\x10", 5);
}

/* Finds the words of the first function of SCENE's program. */
static void find_words(struct scene *scene, struct gh_word_origins *words)
{
	struct program program;
	struct gh_func func;
	struct gh_signatures none = {0};
	put(scene, "\xc3", 1);
	memset(scene->code, 0xcc, (size_t)(scene->data + TEXT_OFFSET + SECOND - scene->code));
	open_program(&program, scene);
	ck_assert(gh_pclntab_record(&program.tab, 0, &func, NULL));
	ck_assert(gh_word_origins_find(words, &program.types, &none, &func));
	close_program(&program, scene);
}

/* WORD, which may be NULL for none, is of TYPE, or of none. */
static void check_word(const struct gh_word_origin *word, enum gh_origin_from from, uint32_t type)
{
	ck_assert(word != NULL || type == GH_NO_RTYPE);
	if (word == NULL)
		return;
	ck_assert_uint_eq(word->from, from);
	ck_assert_uint_eq(word->number, type);
	ck_assert_uint_eq(word->nloads, 0);
}

START_TEST(words_are_what_is_made_for_them)
{
	static const struct {
		int made[2]; /* types; -1: the word is set to 0 */
		uint32_t type;
	} cases[] = {
	    {{TYPE_NODE, -1}, TYPE_NODE},
	    {{-1, TYPE_NODE}, TYPE_NODE},
	    {{TYPE_NODE, TYPE_NODE}, TYPE_NODE},
	    {{TYPE_NODE, TYPE_ATOMIC}, GH_NO_RTYPE},
	    {{-1, -1}, GH_NO_RTYPE},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene scene;
		struct gh_word_origins words;
		start(&scene, formats[_i]);
		for (unsigned k = 0; k < 2; k++) {
			if (cases[i].made[k] >= 0)
				put_kept(&scene, cases[i].made[k]);
			else /* MOV 0, 16(RSP) */
				put(&scene, "\x48\xc7\x44\x24\x10\0\0\0\0", 9);
		}
		find_words(&scene, &words);
		check_word(gh_word_origins_kept(&words, 16), GH_ORIGIN_MADE, cases[i].type);
		ck_assert_ptr_null(gh_word_origins_kept(&words, 8));
		gh_word_origins_free(&words);
	}
}
END_TEST

START_TEST(functions_return_what_they_make)
{
	struct scene scene;
	struct gh_word_origins words;
	start(&scene, formats[_i]);
	put_kept(&scene, TYPE_NODE);
	find_words(&scene, &words);
	ck_assert(words.returns);
	check_word(&words.returned, GH_ORIGIN_MADE, TYPE_NODE);
	gh_word_origins_free(&words);
	/* There are two ways: JE to the second */
	start(&scene, formats[_i]);
	put(&scene, "\x74\x12", 2);
	put_kept(&scene, TYPE_NODE);
	put(&scene, "\xc3", 1);
	put_kept(&scene, TYPE_ATOMIC);
	find_words(&scene, &words);
	ck_assert(!words.returns);
	gh_word_origins_free(&words);
	start(&scene, formats[_i]);
	put_called(&scene);
	find_words(&scene, &words);
	ck_assert(words.returns);
	ck_assert_uint_eq(words.returned.from, GH_ORIGIN_CALLED);
	ck_assert_uint_eq(words.returned.callee, SYNTHETIC_TEXT + SECOND);
	gh_word_origins_free(&words);
}
END_TEST

/* A byte that begins no instruction may be followed by any. */
START_TEST(half_a_function_tells_nothing)
{
	struct scene scene;
	struct gh_word_origins words;
	start(&scene, formats[_i]);
	put_kept(&scene, TYPE_NODE);
	put(&scene, "\x06", 1);
	find_words(&scene, &words);
	ck_assert_uint_eq(words.kept.count, 0);
	ck_assert(!words.returns);
	gh_word_origins_free(&words);
}
END_TEST

/* A map is passed to a function of the runtime's: the result of a call, one in the frame, and a
 * second argument, which may be in an interface. */
START_TEST(words_are_what_they_are_used_as)
{
	for (unsigned i = 0; i < 3; i++) {
		struct scene scene;
		struct gh_word_origins words;
		scene = (struct scene){.what = {.format = formats[_i],
						.word = 8,
						.sections = true,
						.last = "runtime.mapassign"}};
		scene.data = typemaker_make(&scene.what, &scene.size, &scene.places);
		scene.code = scene.data + TEXT_OFFSET;
		if (i == 0) {
			put_called(&scene);
			put(&scene, "\x48\x89\xc3", 3); /* MOV RAX, RBX */
		} else if (i == 1) {
			put(&scene, "\x48\x8d\x5c\x24\x10", 5); /* LEA 16(RSP), RBX */
		} else {
			put(&scene, "\x48\x89\x5c\x24\x10", 5); /* MOV RBX, 16(RSP) */
		}
		uint64_t map = TYPES_ADDRESS + scene.places.types[TYPE_MAP] - TYPES_OFFSET;
		put_relative(&scene, "\x48\x8d\x05", 3, map);
		put_relative(&scene, "\xe8", 1, SYNTHETIC_TEXT + ALLOCATES);
		find_words(&scene, &words);
		const struct gh_word_origin *kept = gh_word_origins_kept(&words, 16);
		if (i == 0)
			check_word(kept, GH_ORIGIN_USED, TYPE_MAP);
		else if (i == 2)
			check_word(kept, GH_ORIGIN_ARGUMENT, 1);
		ck_assert_uint_eq(words.placed.count, i == 1);
		ck_assert(i != 1 || (words.placed.items[0].offset == 16 &&
				     words.placed.items[0].type == TYPE_MAP));
		gh_word_origins_free(&words);
	}
}
END_TEST

void closure_tests(TCase *tests)
{
	tcase_add_loop_test(tests, words_are_what_is_made_for_them, 0, 3);
	tcase_add_loop_test(tests, functions_return_what_they_make, 0, 3);
	tcase_add_loop_test(tests, half_a_function_tells_nothing, 0, 3);
	tcase_add_loop_test(tests, words_are_what_they_are_used_as, 0, 3);
	tcase_add_loop_test(tests, the_first_word_of_what_is_allocated_is_the_code, 0, 3);
	tcase_add_loop_test(tests, closures_of_two_structs_are_not_known, 0, 3);
	tcase_add_loop_test(tests, the_function_of_the_longest_name_makes_it, 0, 3);
	tcase_add_loop_test(tests, each_entry_has_the_struct_of_its_closures, 0, 3);
	tcase_add_test(tests, older_code_tells_nothing);
}
