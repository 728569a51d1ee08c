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

/* What the manual of the processors says of each, and of the opcodes beside those that a row has.
 */
START_TEST(what_instructions_do)
{
	enum {
		ALL = GH_X86_READS_REG | GH_X86_READS_RM | GH_X86_WRITES_REG,
		TO_RM = GH_X86_READS_REG | GH_X86_READS_RM | GH_X86_WRITES_RM,
		MOVED = GH_X86_READS_RM | GH_X86_WRITES_REG,
		CHANGED = GH_X86_READS_RM | GH_X86_WRITES_RM,
	};
	static const struct {
		uint16_t first;
		uint16_t last;
		uint8_t modrm;
		unsigned effects;
	} known[] = {
	    {0x00, 0x01, 0xc8, TO_RM},                               /* ADD */
	    {0x02, 0x03, 0xc8, ALL},                                 /* the same, the other way */
	    {0x04, 0x07, 0xc8, 0},                                   /* ADD of an immediate */
	    {0x31, 0x31, 0xc0, GH_X86_WRITES_RM},                    /* XOR of a register */
	    {0x33, 0x33, 0xc0, GH_X86_WRITES_REG},                   /* with itself */
	    {0x31, 0x31, 0xc8, TO_RM},                               /* XOR */
	    {0x31, 0x31, 0x00, TO_RM},                               /* of memory */
	    {0x38, 0x3b, 0xc8, GH_X86_READS_REG | GH_X86_READS_RM},  /* CMP */
	    {0x3c, 0x3f, 0xc8, 0},                                   /* of an immediate */
	    {0x40, 0x4f, 0xc8, 0},                                   /* prefixes */
	    {0x50, 0x57, 0xc8, GH_X86_PASSES},                       /* PUSH */
	    {0x58, 0x5f, 0xc8, 0},                                   /* POP */
	    {0x63, 0x63, 0xc8, MOVED},                               /* MOVSXD */
	    {0x6f, 0x6f, 0xc8, 0},                                   /* OUTS */
	    {0x70, 0x7f, 0xc8, GH_X86_PASSES},                       /* Jcc */
	    {0x80, 0x81, 0xc8, CHANGED},                             /* OR of an immediate */
	    {0x83, 0x83, 0xf0, CHANGED},                             /* XOR of an immediate */
	    {0x83, 0x83, 0xf8, GH_X86_READS_RM},                     /* CMP of an immediate */
	    {0x84, 0x85, 0xc8, GH_X86_READS_REG | GH_X86_READS_RM},  /* TEST */
	    {0x84, 0x85, 0x08, GH_X86_HAS_ADDRESS},                  /* of memory */
	    {0x86, 0x87, 0xc8, 0},                                   /* XCHG */
	    {0x88, 0x89, 0xc8, GH_X86_READS_REG | GH_X86_WRITES_RM}, /* MOV */
	    {0x8a, 0x8b, 0xc8, MOVED},                               /* MOV */
	    {0x8d, 0x8d, 0x08, GH_X86_WRITES_REG},                   /* LEA */
	    {0x90, 0x90, 0xc8, GH_X86_PASSES},                       /* NOP */
	    {0x91, 0x9f, 0xc8, 0},                                   /* XCHG and others */
	    {0xb0, 0xb7, 0xc8, 0},                                   /* MOV to a part */
	    {0xb8, 0xbf, 0xc8, GH_X86_WRITES_OPCODE},                /* MOV of an immediate */
	    {0xc0, 0xc0, 0xe0, 0},                                   /* SHL of a byte */
	    {0xc1, 0xc1, 0xe0, CHANGED},                             /* SHL */
	    {0xc2, 0xc5, 0xc8, 0},                                   /* RET and others */
	    {0xc6, 0xc7, 0xc0, GH_X86_WRITES_RM},                    /* MOV of an immediate */
	    {0xc8, 0xd0, 0xc8, 0},                                   /* ENTER and others */
	    {0xd1, 0xd1, 0xe0, CHANGED},                             /* SHL by one */
	    {0xd2, 0xfe, 0xc8, 0},                                   /* CALL and others */
	    {0xff, 0xff, 0xc0, CHANGED},                             /* INC */
	    {0xff, 0xff, 0xc8, CHANGED},                             /* DEC */
	    {0xff, 0xff, 0xd0, 0},                                   /* CALL of a register */
	    {0x0f10, 0x0f1e, 0xc8, 0},                               /* MOVUPS and others */
	    {0x0f1f, 0x0f1f, 0xc8, GH_X86_PASSES},                   /* NOP */
	    {0x0f20, 0x0f3f, 0xc8, 0},                               /* and others */
	    {0x0f40, 0x0f4f, 0xc8, ALL},                             /* CMOV */
	    {0x0f50, 0x0f7f, 0xc8, 0},                               /* MOVMSKPS and others */
	    {0x0f80, 0x0f8f, 0xc8, GH_X86_PASSES},                   /* Jcc */
	    {0x0f90, 0x0f9f, 0xc8, GH_X86_WRITES_RM},                /* SETcc */
	    {0x0fa0, 0x0fae, 0xc8, 0},                               /* CPUID and others */
	    {0x0faf, 0x0faf, 0xc8, ALL},                             /* IMUL */
	    {0x0fb0, 0x0fb5, 0xc8, 0},                               /* CMPXCHG and others */
	    {0x0fb6, 0x0fb7, 0xc8, MOVED},                           /* MOVZX */
	    {0x0fb8, 0x0fbd, 0xc8, 0},                               /* POPCNT and others */
	    {0x0fbe, 0x0fbf, 0xc8, MOVED},                           /* MOVSX */
	    {0x0fc0, 0x0fff, 0xc8, 0},                               /* XADD and others */
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		for (unsigned opcode = known[i].first; opcode <= known[i].last; opcode++) {
			struct gh_x86 ins = {.opcode = (uint16_t)opcode, .modrm = known[i].modrm};
			ck_assert_msg(gh_x86_effects(&ins) == known[i].effects, "opcode %#x: %#x",
				      opcode, gh_x86_effects(&ins));
		}
}
END_TEST

void x86_decode_tests(TCase *tcase)
{
	tcase_add_test(tcase, lengths);
	tcase_add_test(tcase, parts_of_instructions);
	tcase_add_test(tcase, what_instructions_do);
}
