/* Instructions of x86 processors, and their parts. */
#include "lib/code/internal.h"
#include "tests/unit/suites.h"

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

void x86_decode_tests(TCase *tcase)
{
	tcase_add_test(tcase, lengths);
	tcase_add_test(tcase, parts_of_instructions);
}
