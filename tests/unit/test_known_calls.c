/* What registers hold, as far as the instructions of a function tell: at calls, stores and locked
 * instructions, and of 386. */
#include "tests/unit/codewalk.h"
#include "tests/unit/suites.h"

static struct gh_reading of_one_way(struct last_call *last)
{
	struct gh_reading reading = codewalk_reading(last);
	reading.follows = false;
	return reading;
}

/* Where arguments, results and words written once are not followed. */
START_TEST(without_following_only_words_of_memory_are_known)
{
	static const struct code_value rows[] = {
	    {CODE(""), 0, UNKNOWN},
	    {CODE("\x48\x8b\x4c\x24\x08"), 1, FRAME(1, 8, 0)}, /* mov rcx,[rsp+8] */
	    {CODE("\x48\x8b\x0d\x00\x01\x00\x00"), 1,
	     GLOBAL(1, AT(7) + 0x100, 0)}, /* mov rcx,[rip+0x100] */
	    /* mov rcx,[rsp+8]; mov [rsp+16],rcx; mov rdx,[rsp+16] */
	    {CODE("\x48\x8b\x4c\x24\x08\x48\x89\x4c\x24\x10\x48\x8b\x54\x24\x10"), 2,
	     FRAME(1, 16, 0)},
	    /* xor ecx,ecx; mov [rsp+8],rcx */
	    {CODE("\x31\xc9\x48\x89\x4c\x24\x08"), 1, FRAME(1, 8, 0)},
	    /* mov rcx,[rip+0x100]; sub rsp,64 */
	    {CODE("\x48\x8b\x0d\x00\x01\x00\x00\x48\x83\xec\x40"), 1, UNKNOWN},
	};
	CHECK(of_one_way, rows);
}
END_TEST

static struct gh_reading of_386(struct last_call *last)
{
	struct gh_reading reading = codewalk_reading(last);
	reading.is_64_bit = reading.in_registers = reading.follows = false;
	return reading;
}

START_TEST(words_of_386_have_four_bytes)
{
	static const struct code_value rows[] = {
	    {CODE(""), 0, UNKNOWN},
	    {CODE("\x8b\x0d\x00\x10\x00\x00"), 1, GLOBAL(1, 0x1000, 0)}, /* mov ecx,[0x1000] */
	    {CODE("\x8d\x0d\x00\x10\x00\x00"), 1, GLOBAL(0, 0x1000)},    /* lea ecx,[0x1000] */
	    {CODE("\x8b\x4c\x24\x08"), 1, FRAME(1, 8, 0)},               /* mov ecx,[esp+8] */
	    {CODE("\x66\x8b\x4c\x24\x08"), 1, UNKNOWN},                  /* mov cx,[esp+8] */
	    {CODE("\x8b\x4c\x24\x08\x83\xc1\x10"), 1, FRAME(1, 8, 16)},  /* and add ecx,16 */
	    {CODE("\x8b\x4c\x24\x08\x66\x83\xc1\x10"), 1, UNKNOWN},      /* and add cx,16 */
	    {CODE("\x55\x83\xec\x40\x8b\x4c\x24\x20"), 1,
	     UNKNOWN}, /* push ebp; sub esp,64; mov ecx,[esp+32] */
	    {CODE("\x55\x83\xec\x40\x8b\x4c\x24\x24"), 1, FRAME(1, 36, 0)}, /* mov ecx,[esp+36] */
	    /* mov ecx,[esp+8]; xor eax,eax; mov [esp+16],eax: it is not looked for there */
	    {CODE("\x8b\x4c\x24\x08\x31\xc0\x89\x44\x24\x10"), 0, UNKNOWN},
	    {CODE("\x8b\x4c\x24\x08\x31\xc0\x89\x44\x24\x10"), 1, FRAME(1, 8, 0)},
	};
	CHECK(of_386, rows);
}
END_TEST

/* The word at SP, which is the first argument of a call on 386. */
START_TEST(the_argument_at_sp_is_what_is_stored_there)
{
	static const struct code_value rows[] = {
	    {CODE(""), 0, UNKNOWN},
	    /* mov ecx,[0x1000], and mov [esp],ecx, to [esp+4], mov [esp],cx */
	    {CODE("\x8b\x0d\x00\x10\x00\x00\x89\x0c\x24"), 0, GLOBAL(1, 0x1000, 0)},
	    {CODE("\x8b\x0d\x00\x10\x00\x00\x89\x4c\x24\x04"), 0, UNKNOWN},
	    {CODE("\x8b\x0d\x00\x10\x00\x00\x66\x89\x0c\x24"), 0, UNKNOWN},
	    /* and mov [esp],cl; and [esp+4] is stored to; and a byte there */
	    {CODE("\x8b\x0d\x00\x10\x00\x00\x89\x0c\x24\x89\x44\x24\x04"), 0, GLOBAL(1, 0x1000, 0)},
	    {CODE("\x8b\x0d\x00\x10\x00\x00\x89\x0c\x24\x88\x0c\x24"), 0, UNKNOWN},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct last_call last = {.count = 0};
		struct gh_reading reading = of_386(&last);
		codewalk_read(&reading, rows[i].code, rows[i].size);
		ck_assert_msg(codewalk_holds(&last.known.argument, &rows[i].value), "%zu", i);
	}
}
END_TEST

START_TEST(the_argument_is_known_where_all_ways_agree)
{
	/* mov ecx,[0x1000]; mov [esp],ecx; je .+3 and mov [esp],ecx; or mov [esp],eax */
	static const char *const codes[] = {
	    "\x8b\x0d\x00\x10\x00\x00\x89\x0c\x24\x74\x03\x89\x0c\x24",
	    "\x8b\x0d\x00\x10\x00\x00\x89\x0c\x24\x74\x03\x89\x04\x24",
	};
	for (size_t i = 0; i < 2; i++) {
		struct last_call last = {.count = 0};
		struct gh_reading reading = of_386(&last);
		codewalk_read(&reading, codes[i], 14);
		ck_assert_int_eq(last.known.argument.from,
				 i == 0 ? GH_VALUE_GLOBAL : GH_VALUE_UNKNOWN);
	}
}
END_TEST

/* After a call only its result is known, unless it keeps all registers. */
START_TEST(calls_leave_their_results)
{
	/* call .+5; call rax; call [rax+8]; mov rcx,rax */
	static const char code[] = "\xe8\x20\x00\x00\x00\xff\xd0\xff\x50\x08\x48\x89\xc1";
	static const struct gh_value result = {.from = GH_VALUE_RESULT, .number = 2};
	static const struct gh_value argument = {.from = GH_VALUE_ARGUMENT};
	for (int keeps = 0; keeps < 2; keeps++) {
		struct last_call last = {.keeps = keeps};
		struct gh_reading reading = codewalk_reading(&last);
		codewalk_read(&reading, code, sizeof(code) - 1);
		ck_assert_uint_eq(last.count, 4);
		ck_assert_uint_eq(last.at, sizeof(code) - 1);
		ck_assert_uint_eq(last.callee, AT(sizeof(code) - 1 + 5));
		ck_assert_uint_eq(reading.ncalls, keeps ? 0 : 4);
		const struct gh_value *expected = keeps ? &argument : &result;
		ck_assert(codewalk_holds(&last.known.registers[0], expected));
		ck_assert(codewalk_holds(&last.known.registers[1], expected));
		ck_assert_int_eq(last.known.registers[2].from,
				 keeps ? GH_VALUE_ARGUMENT : GH_VALUE_UNKNOWN);
	}
	struct last_call last = {.count = 0};
	struct gh_reading reading = of_one_way(&last);
	codewalk_read(&reading, code, sizeof(code) - 1);
	ck_assert_int_eq(last.known.registers[0].from, GH_VALUE_UNKNOWN);
}
END_TEST

/* The callee of a call through a register is not told; a jump through one is no call. */
START_TEST(callees_are_told_by_the_instruction)
{
	struct last_call last = {.count = 0};
	struct gh_reading reading = codewalk_reading(&last);
	codewalk_read(&reading, "\xff\xd0\xeb\x05", 4); /* call rax; jmp past the call */
	ck_assert_uint_eq(last.count, 2);
	last = (struct last_call){.count = 0};
	reading = codewalk_reading(&last);
	/* jmp rax, and what is not decoded: the code is read up to there */
	codewalk_read(&reading, "\xff\xe0\xff\xd0\x06", 5);
	ck_assert_uint_eq(last.count, 1);
	ck_assert_uint_eq(last.at, 2);
	ck_assert_uint_eq(last.callee, 0);
}
END_TEST

/* The address that the last locked instruction worked on, or that was stored at, and what. */
static struct gh_value address_seen, value_seen;
static size_t times_seen;

static void note_locked(struct gh_reading *reading, size_t at, const struct gh_value *address)
{
	(void)reading;
	ck_assert_uint_eq(at, 4);
	address_seen = *address;
	times_seen++;
}

static void note_store(struct gh_reading *reading, const struct gh_value *address,
		       const struct gh_value *value)
{
	(void)reading;
	address_seen = *address;
	value_seen = *value;
	times_seen++;
}

START_TEST(locked_instructions_tell_their_address)
{
	static const struct code_value rows[] = {
	    /* mov rcx,[rax+8], and lock cmpxchg [rcx+16],rbx; lock xadd [rcx],rbx */
	    {CODE("\x48\x8b\x48\x08\xf0\x48\x0f\xb1\x59\x10"), 1, ARG(0, 1, 8, 16)},
	    {CODE("\x48\x8b\x48\x08\xf0\x48\x0f\xc1\x19"), 1, ARG(0, 1, 8, 0)},
	    /* lock inc qword ptr [rcx]; cmpxchg [rcx],rbx */
	    {CODE("\x48\x8b\x48\x08\xf0\x48\xff\x01"), 0, UNKNOWN},
	    {CODE("\x48\x8b\x48\x08\x48\x0f\xb1\x19"), 0, UNKNOWN},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct last_call last = {.count = 0};
		struct gh_reading reading = codewalk_reading(&last);
		times_seen = 0;
		reading.on_locked = note_locked;
		codewalk_read(&reading, rows[i].code, rows[i].size);
		ck_assert_uint_eq(times_seen, rows[i].number);
		if (times_seen > 0)
			ck_assert_msg(codewalk_holds(&address_seen, &rows[i].value), "%zu", i);
	}
}
END_TEST

/* Rows as of the others, but with the number of stores that are told of: of RBX. */
START_TEST(stores_elsewhere_are_told)
{
	static const struct code_value rows[] = {
	    {CODE("\x48\x89\x58\x08"), 1, ARG(0, 0, 8)},                /* mov [rax+8],rbx */
	    {CODE("\x48\x8b\x00\x48\x89\x58\x08"), 1, ARG(0, 1, 0, 8)}, /* after mov rax,[rax] */
	    {CODE("\x48\x89\x1d\x00\x01\x00\x00"), 1,
	     GLOBAL(0, AT(7) + 0x100)},                     /* mov [rip+0x100],rbx */
	    {CODE("\x89\x58\x08"), 0, UNKNOWN},             /* mov [rax+8],ebx */
	    {CODE("\x48\x89\xd8"), 0, UNKNOWN},             /* mov rax,rbx */
	    {CODE("\x48\x8b\x58\x08"), 0, UNKNOWN},         /* mov rbx,[rax+8] */
	    {CODE("\x48\x89\x5c\x24\x08"), 0, UNKNOWN},     /* mov [rsp+8],rbx */
	    {CODE("\x31\xdb\x48\x89\x58\x08"), 0, UNKNOWN}, /* xor ebx,ebx; mov [rax+8],rbx */
	    {CODE("\x31\xc0\x48\x89\x58\x08"), 0, UNKNOWN}, /* xor eax,eax; mov [rax+8],rbx */
	};
	static const struct gh_value rbx = ARG(3, 0, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct last_call last = {.count = 0};
		struct gh_reading reading = codewalk_reading(&last);
		times_seen = 0;
		reading.on_store = note_store;
		codewalk_read(&reading, rows[i].code, rows[i].size);
		ck_assert_msg(times_seen == rows[i].number, "%zu", i);
		if (times_seen > 0)
			ck_assert_msg(codewalk_holds(&address_seen, &rows[i].value) &&
					  codewalk_holds(&value_seen, &rbx),
				      "%zu", i);
	}
}
END_TEST

void known_calls_tests(TCase *tests)
{
	tcase_add_test(tests, without_following_only_words_of_memory_are_known);
	tcase_add_test(tests, words_of_386_have_four_bytes);
	tcase_add_test(tests, the_argument_at_sp_is_what_is_stored_there);
	tcase_add_test(tests, the_argument_is_known_where_all_ways_agree);
	tcase_add_test(tests, calls_leave_their_results);
	tcase_add_test(tests, callees_are_told_by_the_instruction);
	tcase_add_test(tests, locked_instructions_tell_their_address);
	tcase_add_test(tests, stores_elsewhere_are_told);
}
