/* The arguments of functions, by what the compiler tells for tracebacks, and where they are. */
#include <string.h>

#include "lib/code/code.h"
#include "tests/unit/bytes.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

/* The records of functions in the format of Go 1.20, and what of them is where; the last one has
 * room behind it. The list of arguments is FUNCDATA 5, src/internal/abi/symtab.go. */
enum {
	RECORD = 72,
	FLAG = 41,
	NFUNCDATA = 43,
	MAPS = 56,
	LIST = MAPS + 5 * 4,
	RODATA = 0x1100, /* what FUNCDATA counts from, in the file */
	LIST_AT = 0x680, /* behind all else there */
	POINTERS = 0x402740 + 16 - 0x402100,
};

/* In a list of arguments. */
#define FAR          "\xfb"
#define DOTS         "\xfc"
#define CLOSE        "\xfd"
#define OPEN         "\xfe"
#define END          "\xff"
#define LISTED(text) text, sizeof(text) - 1

static void put(struct fixture *fixture, size_t at, uint32_t value)
{
	bytes_store(fixture->data + at, value, 4, false);
}

/* Opens a program for amd64 whose last function takes what the SIZE bytes at LIST tell, of which
 * the first word is a pointer at some calls, and has these FLAGS and the code CODE, of at most
 * eight bytes. */
static void open_function(struct fixture *fixture, struct gh_func *func, const char *list,
			  size_t size, uint8_t flags, const char *code)
{
	struct gh_cursor text;
	fixture_open_as(fixture,
			&(struct synthetic){.format = SYNTHETIC_1_20, .word = 8, .last = "main.f"});
	size_t record = fixture->places.records + 2 * RECORD;
	fixture->data[record + NFUNCDATA] = 6;
	fixture->data[record + FLAG] = flags;
	put(fixture, record + MAPS, POINTERS);
	put(fixture, record + LIST - 4, UINT32_MAX);
	put(fixture, record + LIST, LIST_AT);
	memcpy(fixture->data + RODATA + LIST_AT, list, size);
	ck_assert(gh_image_at(&fixture->image, SYNTHETIC_TEXT + 0x70, &text));
	memcpy(fixture->data + text.offset, code, strlen(code));
	ck_assert(gh_pclntab_func(&fixture->tab, 2, func, NULL));
}

START_TEST(lists_tell_the_words_of_arguments)
{
	static const struct {
		const char *list;
		size_t size;
		size_t count;
		struct gh_arg args[3];
		uint64_t extent;
	} cases[] = {
	    {LISTED(END), 0, {{0}}, 0},
	    {LISTED("\0\x8" END), 1, {{0, GH_ARG_WHOLE, 0, 8, true}}, 8},
	    {LISTED("\0\x8\x8\4" END),
	     2,
	     {{0, GH_ARG_WHOLE, 0, 8, true}, {1, GH_ARG_WHOLE, 8, 4, false}},
	     12},
	    {LISTED("\0\4\x8\x8" END),
	     2,
	     {{0, GH_ARG_WHOLE, 0, 4, false}, {1, GH_ARG_WHOLE, 8, 8, false}},
	     16},
	    {LISTED(OPEN "\0\x8\x8\x8" CLOSE "\x10\1" END),
	     3,
	     {{0, 0, 0, 8, true}, {0, 1, 8, 8, false}, {1, GH_ARG_WHOLE, 16, 1, false}},
	     17},
	    {LISTED(OPEN OPEN "\x8\1\x9\1" CLOSE "\xa\2" CLOSE END),
	     3,
	     {{0, 0, 8, 1, false}, {0, 1, 9, 1, false}, {0, 2, 10, 2, false}},
	     12},
	    {LISTED(OPEN CLOSE "\x8\1" END), 1, {{1, GH_ARG_WHOLE, 8, 1, false}}, 9},
	    {LISTED(FAR "\x8\1" END), 1, {{1, GH_ARG_WHOLE, 8, 1, false}}, 9},
	    {LISTED(OPEN FAR "\x8\1" CLOSE END), 1, {{0, 1, 8, 1, false}}, 9},
	    /* What comes behind is not numbered: parts are left out, or end before they begin. */
	    {LISTED("\0\x8" DOTS "\x8\x8" END), 1, {{0, GH_ARG_WHOLE, 0, 8, true}}, 16},
	    {LISTED(OPEN "\0\x8" DOTS CLOSE "\x8\x8" END), 1, {{0, 0, 0, 8, true}}, 16},
	    {LISTED(CLOSE "\0\x8" END), 0, {{0}}, 8},
	    {LISTED("\0\3" END), 0, {{0}}, 3}, /* no word has three bytes */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture fixture;
		struct gh_func func;
		struct gh_args args;
		open_function(&fixture, &func, cases[i].list, cases[i].size, 0, "");
		gh_args_read(&args, &fixture.tab, &func);
		ck_assert_msg(args.count == cases[i].count, "%zu: %zu", i, args.count);
		for (size_t k = 0; k < args.count; k++) {
			const struct gh_arg *expected = &cases[i].args[k];
			ck_assert_msg(args.items[k].number == expected->number, "%zu", i);
			ck_assert_msg(args.items[k].part == expected->part, "%zu", i);
			ck_assert_msg(args.items[k].offset == expected->offset, "%zu", i);
			ck_assert_msg(args.items[k].size == expected->size, "%zu", i);
			ck_assert_msg(args.items[k].is_pointer == expected->is_pointer, "%zu", i);
		}
		ck_assert_msg(gh_args_extent(&fixture.tab, &func) == cases[i].extent, "%zu", i);
		fixture_close(&fixture);
	}
}
END_TEST

/* What code that never asks for a larger stack reads first is in registers: RAX, RBX, in DWARF's
 * numbers 0 and 3. */
START_TEST(code_tells_the_registers_that_it_reads)
{
	enum { ROOM = 8 };
	static const char one[ROOM] = "\0\x8" END, two[ROOM] = "\0\x8\x8\x8" END,
			  small[ROOM] = "\0\2" END, more[ROOM] = "\0\x8" DOTS END;
	static const struct {
		const char *list;
		const char *code;
		uint8_t flags;
		bool any;
		enum gh_arg_where where[2];
	} cases[] = {
	    {one, "\x48\x8b\x08", 0, true, {GH_ARG_IN_REGISTER}}, /* mov rcx,[rax] */
	    {one, "\x48\x8b\x0b", 0, true, {GH_ARG_IN_REGISTER}}, /* mov rcx,[rbx] */
	    {one, "\x48\x8b\x08", GH_FUNC_ASM, false, {GH_ARG_UNKNOWN}},
	    {one, "\xb9\1\1\1\1", 0, false, {GH_ARG_UNKNOWN}},             /* mov ecx,imm */
	    {one, "\xb8\1\1\1\1\x48\x8b\x08", 0, false, {GH_ARG_UNKNOWN}}, /* and mov eax,imm */
	    {more, "\x48\x8b\x08", 0, false, {GH_ARG_UNKNOWN}},
	    {small, "\x48\x01\xc1", 0, true, {GH_ARG_IN_REGISTER}}, /* add rcx,rax */
	    {two, "\x48\x8b\x08", 0, true, {GH_ARG_IN_REGISTER, GH_ARG_UNKNOWN}},
	    {two, "\x48\x8b\x0b", 0, true, {GH_ARG_IN_REGISTER, GH_ARG_IN_REGISTER}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture fixture;
		struct gh_func func;
		struct gh_arg_places places;
		size_t count = cases[i].list == two ? 2 : 1;
		open_function(&fixture, &func, cases[i].list, ROOM, cases[i].flags, cases[i].code);
		gh_arg_places_find(&places, &fixture.tab, &func);
		ck_assert_uint_eq(places.count, count);
		ck_assert_msg(places.any == cases[i].any, "%zu", i);
		ck_assert_uint_eq(places.end, func.entry);
		for (size_t k = 0; k < count; k++) {
			ck_assert_msg(places.items[k].where == cases[i].where[k], "%zu", i);
			if (places.items[k].where == GH_ARG_IN_REGISTER)
				ck_assert_uint_eq(places.items[k].number, k == 0 ? 0 : 3);
			ck_assert(!places.items[k].is_float);
		}
		fixture_close(&fixture);
	}
}
END_TEST

void arguments_tests(TCase *tests)
{
	tcase_add_test(tests, lists_tell_the_words_of_arguments);
	tcase_add_test(tests, code_tells_the_registers_that_it_reads);
}
