/* Which words of frames hold pointers, and where calls are. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/code/internal.h"
#include "lib/pclntab/pclntab.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

/* The offsets of the words, in hexadecimal. */
static const char *words(const struct gh_stackmaps *maps, int32_t index, int32_t delta)
{
	static char text[128];
	struct gh_live_words walk;
	uint32_t offset;
	text[0] = '\0';
	gh_live_words_start(&walk, maps, index, delta);
	while (gh_live_words_next(&walk, &offset))
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%x ", offset);
	return text;
}

START_TEST(every_variant)
{
	struct fixture fixture;
	struct gh_func func;
	struct gh_error err;
	struct gh_stackmaps maps;
	fixture_open(&fixture, _i);
	const struct gh_pclntab *tab = &fixture.tab;
	/* A table of the first format that does not say what wrote it is of Go 1.12. */
	ck_assert_int_eq(gh_stackmaps_told(tab), tab->format != GH_PCLNTAB_1_2);
	ck_assert(gh_pclntab_func(tab, 1, &func, &err));
	ck_assert(!gh_stackmaps_find(&maps, tab, &func));
	ck_assert(gh_pclntab_func(tab, 0, &func, &err));
	ck_assert(gh_stackmaps_find(&maps, tab, &func));
	uint32_t table = gh_stackmaps_table(tab, &func);
	ck_assert_int_eq(gh_pcvalue_at(tab, &func, table, func.entry + 0x0f), -1);
	ck_assert_int_eq(gh_pcvalue_at(tab, &func, table, func.entry + 0x10), 1);
	ck_assert_int_eq(gh_pcvalue_at(tab, &func, table, func.entry + 0x3c), 0);

	bool frame_pointer = maps.above_locals != 0;
	ck_assert_int_eq(frame_pointer, tab->image->arch->machine == EM_X86_64);
	/* At a call whose number is -1 map 0 holds, as in getStackMap of src/runtime/stkframe.go.
	 */
	if (tab->pointer_size == 8) {
		ck_assert_str_eq(words(&maps, 0, 24), frame_pointer ? "0 20 " : "8 20 ");
		ck_assert_str_eq(words(&maps, -1, 24), frame_pointer ? "0 20 " : "8 20 ");
		ck_assert_str_eq(words(&maps, 1, 24), frame_pointer ? "8 " : "10 ");
		/* There is no frame yet, or none that the locals fit in. */
		ck_assert_str_eq(words(&maps, 0, 0), "8 ");
		ck_assert_str_eq(words(&maps, 1, 8), "");
	} else {
		ck_assert_str_eq(words(&maps, 0, 24), "10 1c ");
		ck_assert_str_eq(words(&maps, -1, 24), "10 1c ");
		ck_assert_str_eq(words(&maps, 1, 24), "14 ");
		ck_assert_str_eq(words(&maps, 0, 4), "8 ");
	}
	ck_assert_str_eq(words(&maps, 2, 24), "");
	ck_assert_str_eq(words(&maps, -2, 24), "");
	ck_assert_str_eq(words(&maps, INT32_MIN, 24), "");
	ck_assert_str_eq(words(&maps, 0, -8), "");

	/* The bits of more maps than there are bytes for. */
	func.args = 0;
	ck_assert(gh_stackmaps_find(&maps, tab, &func));
	ck_assert_uint_eq(maps.args.nbits, 0);
	memset(fixture.data + (maps.locals.bytes.start - (const uint8_t *)fixture.data), 0x7f, 4);
	ck_assert(!gh_stackmaps_find(&maps, tab, &func));
	fixture_close(&fixture);
}
END_TEST

/* Whether the first call in CODE, at 0x10000, ends at END and leads to TARGET, 0 for none. */
static bool calls(const char *goarch, const char *code, size_t size, size_t end, uint64_t target)
{
	struct gh_callsites walk;
	struct gh_callsite site;
	gh_callsites_start(&walk, gh_arch_by_name(goarch), (const uint8_t *)code, size, 0x10000);
	return gh_callsites_next(&walk, &site) && gh_callsites_check(&walk, &site, 0) &&
	       site.end == end && site.direct == (target != 0) && site.target == target;
}
#define CALLS(goarch, code, end, target) calls(goarch, code, sizeof(code) - 1, end, target)

START_TEST(calls_of_each_machine)
{
	ck_assert(CALLS("amd64", "\x90\xe8\x0a\x00\x00\x00", 6, 0x10010));
	ck_assert(CALLS("amd64", "\x48\x89\xc8\xff\xd1", 5, 0));             /* CALL RCX */
	ck_assert(CALLS("amd64", "\x41\xff\xd0", 3, 0));                     /* CALL R8 */
	ck_assert(CALLS("amd64", "\xff\x94\x24\x01\x02\x03\x04\x90", 7, 0)); /* through memory */
	ck_assert(CALLS("386", "\xe8\xfb\xff\xff\xff", 5, 0x10000));
	ck_assert(CALLS("386", "\x40\xff\xd1", 3, 0));
	ck_assert(CALLS("arm64", "\xff\xff\xff\x97", 4, 0xfffc));
	ck_assert(CALLS("arm64", "\x1f\x20\x03\xd5\x20\x00\x3f\xd6", 8, 0));
	ck_assert(CALLS("arm", "\xfe\xff\xff\xeb", 4, 0x10000));
	ck_assert(CALLS("arm", "\x32\xff\x2f\xe1", 4, 0));
	ck_assert(CALLS("loong64", "\x00\x10\x00\x54", 4, 0x10010));
	ck_assert(CALLS("loong64", "\x81\x00\x00\x4c", 4, 0));
	ck_assert(CALLS("mips64", "\x0c\x00\x40\x04\0\0\0\0", 8, 0x10010));
	ck_assert(CALLS("mipsle", "\x09\xf8\x20\x00\0\0\0\0", 8, 0));
	ck_assert(CALLS("ppc64le", "\x11\x00\x00\x48", 4, 0x10010));
	ck_assert(CALLS("ppc64", "\x4e\x80\x04\x21", 4, 0));
	ck_assert(CALLS("riscv64", "\x01\x00\xef\x00\x00\x01", 6, 0x10012)); /* after C.NOP */
	ck_assert(CALLS("riscv64", "\xe7\x80\x02\x00", 4, 0));
	ck_assert(CALLS("riscv64", "\x82\x92", 2, 0));
	ck_assert(CALLS("s390x", "\x18\x12\xc0\xe5\x00\x00\x00\x08", 8, 0x10012));
	ck_assert(CALLS("s390x", "\x0d\xe1", 2, 0));
}
END_TEST

START_TEST(no_calls)
{
	/* Jumps, and calls that are cut off. */
	ck_assert(!CALLS("amd64", "\xe9\x0a\x00\x00\x00\xff\xe0", 5, 0x1000f));
	ck_assert(!CALLS("amd64", "\xe8\x0a\x00\x00", 4, 0x1000f));
	ck_assert(!CALLS("amd64", "\xff", 1, 0));
	ck_assert(!CALLS("amd64", "\xff\x14", 2, 0));
	ck_assert(!CALLS("arm64", "\x00\x00\x00\x14\x00\x00", 4, 0x10000));
	ck_assert(!CALLS("arm64", "\x00\x00\x00", 4, 0x10000));
	ck_assert(!CALLS("mips64", "\x0c\x00\x40\x04\0\0\0", 8, 0x10010));
	ck_assert(!CALLS("riscv64", "\x02\x90", 2, 0)); /* EBREAK */
	ck_assert(!CALLS("s390x", "\x0d\xe0", 2, 0));
	ck_assert(!CALLS("s390x", "\xc0\xe5\x00\x00", 4, 0x10000));
	/* In the middle of other instructions: a constant, and after one that is unknown. */
	ck_assert(!CALLS("amd64", "\xb8\xff\xd1\x90\x90", 3, 0));
	ck_assert(!CALLS("amd64", "\x06\xff\xd1", 3, 0));
}
END_TEST

/* Many candidates in instructions that are never known take no longer than few. */
START_TEST(hostile_code)
{
	enum { SIZE = 1 << 22 };
	static uint8_t code[SIZE];
	struct gh_callsites walk;
	struct gh_callsite site;
	for (size_t i = 0; i < SIZE; i++)
		code[i] = i % 2 == 0 ? 0xff : 0xd0;
	code[0] = _i == 0 ? 0x06 : 0xb0;
	gh_callsites_start(&walk, gh_arch_by_name("amd64"), code, SIZE, 0x10000);
	size_t found = 0;
	while (gh_callsites_next(&walk, &site))
		found += gh_callsites_check(&walk, &site, 0);
	ck_assert_uint_eq(found, _i == 0 ? 0 : SIZE / 2 - 1);
}
END_TEST

START_TEST(lengths)
{
	static const struct {
		const char *code;
		size_t size;
		bool only_32_bit;
	} known[] = {
	    {"\x90", 1, false},
	    {"\x48\x8b\x84\x24\x01\x02\x03\x04", 8, false},
	    {"\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 10, false},
	    {"\x66\xb8\x01\x02", 4, false},
	    {"\x66\x48\xc7\xc0\x01\x02\x03\x04", 8, false},
	    {"\x64\x4c\x8b\x34\x25\xf8\xff\xff\xff", 9, false},
	    {"\xf6\xc1\x01", 3, false},
	    {"\xf7\x05\x01\x02\x03\x04\x05\x06\x07\x08", 10, false},
	    {"\xf7\xd8", 2, false},
	    {"\x0f\x84\x01\x02\x03\x04", 6, false},
	    {"\x66\x0f\x38\xdc\xc1", 5, false},
	    {"\x66\x0f\x3a\x0f\xc1\x08", 6, false},
	    {"\xc5\xf8\x77", 3, false},
	    {"\xc4\xe3\x7d\x39\xc1\x01", 6, false},
	    {"\x62\xf1\x7c\x48\x28\x44\x24\x01", 8, false},
	    {"\xf3\x48\xa5", 3, false},
	    {"\x48", 1, true},
	    {"\xa1\x01\x02\x03\x04", 5, true},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const uint8_t *code = (const uint8_t *)known[i].code;
		bool is_64_bit = !known[i].only_32_bit;
		struct gh_x86 ins;
		ck_assert(gh_x86_decode(&ins, code, known[i].size, is_64_bit));
		ck_assert_uint_eq(ins.length, known[i].size);
		for (size_t size = 0; size < known[i].size; size++)
			ck_assert(!gh_x86_decode(&ins, code, size, is_64_bit));
	}
	static const uint8_t prefixes[40] = {[0 ... 39] = 0x66};
	struct gh_x86 ins;
	ck_assert(!gh_x86_decode(&ins, prefixes, sizeof(prefixes), true));
	ck_assert(!gh_x86_decode(&ins, prefixes, 3, true));
}
END_TEST

/* The parts of an instruction, as an assembler lists them. */
START_TEST(parts_of_instructions)
{
	struct gh_x86 ins;
	/* MOVQ BP, 0x104(SP) */
	ck_assert(gh_x86_decode(&ins, (const uint8_t *)"\x48\x89\xac\x24\x04\x01\0\0", 8, true));
	ck_assert_uint_eq(ins.opcode, GH_X86_MOV_FROM_REGISTER);
	ck_assert_uint_eq(ins.opcode_at, 1);
	ck_assert_uint_eq(ins.rex, 0x48);
	ck_assert_int_eq(ins.displacement, 0x104);
	ck_assert(gh_x86_is_at_sp(&ins) && gh_x86_is_move(&ins));
	/* MOVSS X1, -8(SP) */
	ck_assert(gh_x86_decode(&ins, (const uint8_t *)"\xf3\x0f\x11\x4c\x24\xf8", 6, true));
	ck_assert_uint_eq(ins.opcode, GH_X86_MOV_FROM_XMM);
	ck_assert_uint_eq(ins.repeat, 0xf3);
	ck_assert_int_eq(ins.displacement, -8);
	ck_assert(gh_x86_is_at_sp(&ins) && gh_x86_is_move(&ins));
	/* MOVQ AX, 8(SP)(CX*8): an array's element */
	ck_assert(gh_x86_decode(&ins, (const uint8_t *)"\x48\x89\x44\xcc\x08", 5, true));
	ck_assert(!gh_x86_is_at_sp(&ins) && !gh_x86_is_move(&ins));
	/* MOVL AX, CX; ADDL AX, CX; LOCK XADDL AX, (SP) */
	ck_assert(gh_x86_decode(&ins, (const uint8_t *)"\x89\xc1", 2, true));
	ck_assert(gh_x86_is_move(&ins) && !gh_x86_is_at_sp(&ins));
	ck_assert(gh_x86_decode(&ins, (const uint8_t *)"\x01\xc1", 2, true));
	ck_assert(!gh_x86_is_move(&ins));
	ck_assert(gh_x86_decode(&ins, (const uint8_t *)"\xf0\x0f\xc1\x04\x24", 5, true));
	ck_assert(ins.other_prefix && !gh_x86_is_move(&ins));
	/* MOVQ FS:(SP), AX is no move from the frame; JMP .-2; JBE .-256; NOP */
	ck_assert(gh_x86_decode(&ins, (const uint8_t *)"\x64\x48\x8b\x04\x24", 5, true));
	ck_assert(!gh_x86_is_move(&ins));
	ck_assert(gh_x86_decode(&ins, (const uint8_t *)"\xeb\xfc", 2, true));
	ck_assert(gh_x86_is_move(&ins));
	ck_assert_int_eq(ins.immediate, -4);
	ck_assert(gh_x86_decode(&ins, (const uint8_t *)"\x0f\x86\xfa\xfe\xff\xff", 6, true));
	ck_assert_uint_eq(ins.opcode, GH_X86_JBE);
	ck_assert_int_eq(ins.immediate, -262);
	ck_assert(gh_x86_decode(&ins, (const uint8_t *)"\x90", 1, true) && !gh_x86_is_move(&ins));
	ck_assert(gh_x86_decode(&ins, (const uint8_t *)"\x0f\x1f\x00", 3, true) &&
		  gh_x86_is_move(&ins) && ins.length == 3);
}
END_TEST

Suite *stackmap_suite(void)
{
	Suite *suite = suite_create("stackmap");
	TCase *tcase = tcase_create("stackmap");
	tcase_add_loop_test(tcase, every_variant, 0, FIXTURE_VARIANTS);
	tcase_add_test(tcase, calls_of_each_machine);
	tcase_add_test(tcase, no_calls);
	tcase_add_loop_test(tcase, hostile_code, 0, 2);
	tcase_add_test(tcase, lengths);
	tcase_add_test(tcase, parts_of_instructions);
	suite_add_tcase(suite, tcase);
	return suite;
}
