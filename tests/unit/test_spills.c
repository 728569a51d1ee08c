/* Where functions save their arguments' registers before they ask for a larger stack. */
#include <elf.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/code/internal.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

/* glibc has it since 2.36. */
#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

/* Code of main.main, 0x40 bytes, ends with the call of runtime.morestack_noctxt, 0x70 bytes after
 * its start, that the stores lead to. */
enum { CALLS_AT = 0x34 };

struct code {
	const char *bytes;
	size_t size;
};
#define CODE(text)                                                                                 \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

/* A machine, and how its functions call for a larger stack, as LLVM's assembler has it. */
struct machine {
	uint16_t number;
	bool big_endian;
	struct code call;
	struct code no_calls[4]; /* what is no such call: of another function, without the move of
				    the link register, that keeps no return address */
};

enum { AMD64, ARM64, LOONG64, PPC64, PPC64LE, RISCV64, S390X };

static const struct machine machines[] = {
    [AMD64] = {EM_X86_64,
	       false,
	       CODE("\xe8\x37\x00\x00\x00"), /* CALL .+60 */
	       {CODE("\xe8\x36\x00\x00\x00"), CODE("\xe9\x37\x00\x00\x00"),
		CODE("\x90\x90\xe8\x35\x00\x00\x00")}},
    [ARM64] = {EM_AARCH64,
	       false,
	       CODE("\xe3\x03\x1e\xaa\x0e\x00\x00\x94"), /* MOV X3, X30; BL .+56 */
	       {CODE("\xe3\x03\x1e\xaa\x08\x00\x00\x94"), CODE("\xe3\x03\x1d\xaa\x0e\x00\x00\x94"),
		CODE("\xe3\x03\x1e\xaa\x0e\x00\x00\x14")}},
    [LOONG64] = {EM_LOONGARCH,
		 false,
		 CODE("\x3f\x00\x15\x00\x00\x38\x00\x54"), /* OR R31, R1, R0; BL .+56 */
		 {CODE("\x3f\x00\x15\x00\x00\x20\x00\x54"),
		  CODE("\x5f\x00\x15\x00\x00\x38\x00\x54"),
		  CODE("\x3f\x00\x15\x00\x00\x38\x00\x50")}},
    [PPC64] = {EM_PPC64,
	       true,
	       CODE("\x7c\xa8\x02\xa6\x48\x00\x00\x39"), /* MFLR 5; BL .+56 */
	       {CODE("\x7c\xa8\x02\xa6\x48\x00\x00\x21"), CODE("\x7c\x88\x02\xa6\x48\x00\x00\x39"),
		CODE("\x7c\xa8\x02\xa6\x48\x00\x00\x38")}},
    [PPC64LE] = {EM_PPC64,
		 false,
		 CODE("\xa6\x02\xa8\x7c\x39\x00\x00\x48"),
		 {CODE("\xa6\x02\xa8\x7c\x21\x00\x00\x48")}},
    [RISCV64] = {EM_RISCV,
		 false,
		 CODE("\xef\x02\xc0\x03"), /* JAL T0, .+60 */
		 {CODE("\xef\x02\x40\x02"), CODE("\xef\x00\xc0\x03")}},
    [S390X] = {EM_S390,
	       true,
	       CODE("\xb9\x04\x00\x5e\xc0\xe5\x00\x00\x00\x1c"), /* LGR R5, R14; BRASL R14, .+56 */
	       {CODE("\xb9\x04\x00\x5e\xc0\xe5\x00\x00\x00\x10"),
		CODE("\xb9\x04\x00\x4e\xc0\xe5\x00\x00\x00\x1c"),
		CODE("\xb9\x04\x00\x5e\xc0\xd5\x00\x00\x00\x1c")}},
};
#define MACHINES (sizeof(machines) / sizeof(machines[0]))

/* The start of a function of amd64: CMPQ SP, 16(R14); JBE to before what leads to the call. */
static const char check[] = "\x49\x3b\x66\x10\x76";

static void place(uint8_t *code, const struct code *part, size_t at)
{
	memcpy(code + at, part->bytes, part->size);
}

/* Opens a program of MACHINE whose last function is called LAST; gives main.main's code, empty. */
static uint8_t *open_program(struct fixture *fixture, const struct machine *machine,
			     const char *last)
{
	const struct synthetic what = {.format = SYNTHETIC_1_20,
				       .word = 8,
				       .big_endian = machine->big_endian,
				       .machine = machine->number,
				       .last = last};
	struct gh_cursor text;
	fixture_open_as(fixture, &what);
	ck_assert(gh_image_at(&fixture->image, SYNTHETIC_TEXT, &text));
	return fixture->data + text.offset;
}

static void find(struct gh_spills *spills, const struct fixture *fixture)
{
	struct gh_func func;
	ck_assert(gh_pclntab_func(&fixture->tab, 0, &func, NULL));
	gh_spills_find(spills, &fixture->tab, &func);
}

/* What is saved by code of MACHINE that stores by STORES, and goes on with CALL, both of them in
 * main.main; a function called LAST comes at the call's target. */
static void find_in(struct gh_spills *spills, const struct machine *machine,
		    const struct code *stores, const struct code *call, const char *last)
{
	struct fixture fixture;
	uint8_t *code = open_program(&fixture, machine, last);
	size_t at = CALLS_AT - stores->size;
	if (machine == &machines[AMD64]) {
		memcpy(code, check, sizeof(check) - 1);
		code[sizeof(check) - 1] = (uint8_t)(at - sizeof(check));
	}
	place(code, stores, at);
	place(code, call, CALLS_AT);
	find(spills, &fixture);
	fixture_close(&fixture);
}

static const char morestack[] = "runtime.morestack_noctxt";

/* A store, and which registers it saves: none if it is no such store. */
struct store {
	unsigned machine;
	struct code code;
	struct gh_spill spills[2];
};

/* As LLVM's assembler has them; those of loong64 by its manual. */
static const struct store stores[] = {
    /* MOV of 8, 4, 2 and 1 bytes; of each register; MOVSD and MOVSS */
    {AMD64, CODE("\x48\x89\x44\x24\x08"), {{8, 8, 0, false}}},
    {AMD64, CODE("\x89\x4c\x24\x10"), {{16, 4, 2, false}}},
    {AMD64, CODE("\x66\x89\x5c\x24\x18"), {{24, 2, 3, false}}},
    {AMD64, CODE("\x88\x44\x24\x1a"), {{26, 1, 0, false}}},
    {AMD64, CODE("\x88\x5c\x24\x1a"), {{26, 1, 3, false}}},
    {AMD64, CODE("\x40\x88\x74\x24\x1b"), {{27, 1, 4, false}}},
    {AMD64, CODE("\x48\x89\x54\x24\x08"), {{8, 8, 1, false}}},
    {AMD64, CODE("\x48\x89\x64\x24\x08"), {{8, 8, 7, false}}},
    {AMD64, CODE("\x48\x89\x6c\x24\x08"), {{8, 8, 6, false}}},
    {AMD64, CODE("\x48\x89\x74\x24\x08"), {{8, 8, 4, false}}},
    {AMD64, CODE("\x48\x89\x7c\x24\x08"), {{8, 8, 5, false}}},
    {AMD64, CODE("\x4c\x89\x84\x24\x00\x01\x00\x00"), {{256, 8, 8, false}}},
    {AMD64, CODE("\x44\x88\x4c\x24\x00"), {{0, 1, 9, false}}},
    {AMD64, CODE("\xf2\x0f\x11\x4c\x24\x08"), {{8, 8, 18, true}}},
    {AMD64, CODE("\xf3\x0f\x11\x54\x24\x08"), {{8, 4, 19, true}}},
    {AMD64, CODE("\xf2\x44\x0f\x11\x74\x24\x08"), {{8, 8, 31, true}}},
    /* DH; MOVUPS; MOVAPD; without an offset; below SP; from R12; with an index; the other way; of
     * an immediate; locked; from and to where bits of REX say */
    {AMD64, CODE("\x88\x74\x24\x08"), {{0}}},
    {AMD64, CODE("\x0f\x11\x4c\x24\x08"), {{0}}},
    {AMD64, CODE("\x66\x0f\x29\x4c\x24\x08"), {{0}}},
    {AMD64, CODE("\xf2\x48\x89\x44\x24\x08"), {{0}}},
    {AMD64, CODE("\x48\x89\x04\x24"), {{0}}},
    {AMD64, CODE("\x48\x89\x44\x24\xf8"), {{0}}},
    {AMD64, CODE("\x49\x89\x44\x24\x08"), {{0}}},
    {AMD64, CODE("\x4a\x89\x44\x24\x08"), {{0}}},
    {AMD64, CODE("\x48\x89\x44\x04\x08"), {{0}}},
    {AMD64, CODE("\x48\x8b\x44\x24\x08"), {{0}}},
    {AMD64, CODE("\xc7\x44\x24\x08\x01\x00\x00\x00"), {{0}}},
    {AMD64, CODE("\xf0\x48\x89\x44\x24\x08"), {{0}}},
    /* STR of X, W, H and B registers, D and S */
    {ARM64, CODE("\xe1\x07\x00\xf9"), {{8, 8, 1, false}}},
    {ARM64, CODE("\xe2\x0f\x00\xb9"), {{12, 4, 2, false}}},
    {ARM64, CODE("\xe3\x0f\x00\x79"), {{6, 2, 3, false}}},
    {ARM64, CODE("\xe4\x17\x00\x39"), {{5, 1, 4, false}}},
    {ARM64, CODE("\xe5\x17\x00\xfd"), {{40, 8, 69, true}}},
    {ARM64, CODE("\xe6\xff\x0f\xbd"), {{4092, 4, 70, true}}},
    /* STP */
    {ARM64, CODE("\xe0\x07\x01\xa9"), {{16, 8, 0, false}, {24, 8, 1, false}}},
    {ARM64, CODE("\xe2\x0f\x01\x29"), {{8, 4, 2, false}, {12, 4, 3, false}}},
    {ARM64, CODE("\xe1\x8b\x1f\x6d"), {{504, 8, 65, true}, {512, 8, 66, true}}},
    {ARM64, CODE("\xe1\x8b\x3f\x2d"), {{UINT32_C(-4), 4, 65, true}, {0, 4, 66, true}}},
    /* elsewhere; LDR; STP elsewhere; of a Q register */
    {ARM64, CODE("\x41\x04\x00\xf9"), {{0}}},
    {ARM64, CODE("\xe1\x07\x40\xf9"), {{0}}},
    {ARM64, CODE("\x61\x08\x00\xa9"), {{0}}},
    {ARM64, CODE("\xe1\x07\x80\x3d"), {{0}}},
    /* ST.D, ST.W, ST.H, ST.B, FST.D, FST.S; below SP; LD.D; elsewhere */
    {LOONG64, CODE("\x64\x20\xc0\x29"), {{8, 8, 4, false}}},
    {LOONG64, CODE("\x65\x30\x80\x29"), {{12, 4, 5, false}}},
    {LOONG64, CODE("\x66\x38\x40\x29"), {{14, 2, 6, false}}},
    {LOONG64, CODE("\x67\x3c\x00\x29"), {{15, 1, 7, false}}},
    {LOONG64, CODE("\x61\xfc\xdf\x2b"), {{2047, 8, 33, true}}},
    {LOONG64, CODE("\x62\x50\x40\x2b"), {{20, 4, 34, true}}},
    {LOONG64, CODE("\x64\xe0\xff\x29"), {{UINT32_C(-8), 8, 4, false}}},
    {LOONG64, CODE("\x64\x20\xc0\x28"), {{0}}},
    {LOONG64, CODE("\x84\x20\xc0\x29"), {{0}}},
    /* STD, STW, STH, STB, STFD, STFS; below SP; STDU; elsewhere; LD */
    {PPC64, CODE("\xf8\x61\x00\x28"), {{40, 8, 3, false}}},
    {PPC64, CODE("\x90\x81\x00\x2c"), {{44, 4, 4, false}}},
    {PPC64, CODE("\xb0\xa1\x00\x2e"), {{46, 2, 5, false}}},
    {PPC64, CODE("\x98\xc1\x00\x2f"), {{47, 1, 6, false}}},
    {PPC64, CODE("\xd8\x21\x00\x30"), {{48, 8, 33, true}}},
    {PPC64, CODE("\xd0\x41\x00\x34"), {{52, 4, 34, true}}},
    {PPC64, CODE("\xfb\xe1\xff\xf8"), {{UINT32_C(-8), 8, 31, false}}},
    {PPC64, CODE("\xf8\x21\xff\xf9"), {{0}}},
    {PPC64, CODE("\xf8\x62\x00\x28"), {{0}}},
    {PPC64, CODE("\xe8\x61\x00\x28"), {{0}}},
    {PPC64LE, CODE("\x28\x00\x61\xf8"), {{40, 8, 3, false}}},
    /* SD, SW, SH, SB, FSD below SP, FSW; SD at the least offset */
    {RISCV64, CODE("\x23\x30\xa1\x06"), {{96, 8, 10, false}}},
    {RISCV64, CODE("\x23\x22\xb1\x00"), {{4, 4, 11, false}}},
    {RISCV64, CODE("\x23\x13\xc1\x00"), {{6, 2, 12, false}}},
    {RISCV64, CODE("\xa3\x03\xd1\x00"), {{7, 1, 13, false}}},
    {RISCV64, CODE("\x27\x3c\xa1\xfe"), {{UINT32_C(-8), 8, 42, true}}},
    {RISCV64, CODE("\x27\x26\xb1\x00"), {{12, 4, 43, true}}},
    {RISCV64, CODE("\x23\x30\xa1\x80"), {{UINT32_C(-2048), 8, 10, false}}},
    /* C.SDSP, C.SWSP, C.FSDSP; elsewhere; LD; C.LDSP */
    {RISCV64, CODE("\xaa\xff"), {{504, 8, 10, false}}},
    {RISCV64, CODE("\xaa\xf0"), {{96, 8, 10, false}}},
    {RISCV64, CODE("\xae\xdf"), {{252, 4, 11, false}}},
    {RISCV64, CODE("\xb2\xa4"), {{72, 8, 44, true}}},
    {RISCV64, CODE("\x23\xb4\xa5\x00"), {{0}}},
    {RISCV64, CODE("\x03\x35\x81\x00"), {{0}}},
    {RISCV64, CODE("\x22\x65"), {{0}}},
    /* STG, ST, STH, STC, STD, STE; STG with a long offset, and below SP */
    {S390X, CODE("\xe3\x20\xf0\xa8\x00\x24"), {{168, 8, 2, false}}},
    {S390X, CODE("\x50\x30\xf0\xac"), {{172, 4, 3, false}}},
    {S390X, CODE("\x40\x40\xf0\xae"), {{174, 2, 4, false}}},
    {S390X, CODE("\x42\x50\xf0\xaf"), {{175, 1, 5, false}}},
    {S390X, CODE("\x60\x00\xf0\xb0"), {{176, 8, 16, true}}},
    {S390X, CODE("\x70\x40\xf0\xb8"), {{184, 4, 18, true}}},
    {S390X, CODE("\x60\x10\xff\xff"), {{4095, 8, 20, true}}},
    {S390X, CODE("\x60\xf0\xf0\x08"), {{8, 8, 31, true}}},
    {S390X, CODE("\xe3\x20\xf0\x00\x10\x24"), {{65536, 8, 2, false}}},
    {S390X, CODE("\xe3\x20\xff\xf8\xff\x24"), {{UINT32_C(-8), 8, 2, false}}},
    /* with an index; elsewhere; LG; a move between registers */
    {S390X, CODE("\xe3\x21\xf0\xa8\x00\x24"), {{0}}},
    {S390X, CODE("\xe3\x20\xe0\xa8\x00\x24"), {{0}}},
    {S390X, CODE("\xe3\x20\xf0\xa8\x00\x04"), {{0}}},
    {S390X, CODE("\x50\x31\xf0\xac"), {{0}}},
    {S390X, CODE("\x18\x12"), {{0}}},
};
#define STORES (sizeof(stores) / sizeof(stores[0]))

static bool is_equal(const struct gh_spill *a, const struct gh_spill *b)
{
	return a->offset == b->offset && a->size == b->size && a->number == b->number &&
	       a->is_float == b->is_float;
}

START_TEST(each_store_before_the_call_is_read)
{
	for (size_t i = 0; i < STORES; i++) {
		struct gh_spills spills;
		const struct store *store = &stores[i];
		const struct machine *machine = &machines[store->machine];
		find_in(&spills, machine, &store->code, &machine->call, morestack);
		size_t expected = 0;
		while (expected < 2 && store->spills[expected].size != 0)
			expected++;
		ck_assert_msg(spills.count == expected, "%zu: %zu", i, spills.count);
		for (size_t k = 0; k < expected; k++)
			ck_assert_msg(is_equal(&spills.items[k], &store->spills[k]), "%zu", i);
	}
}
END_TEST

/* The first store of each machine in the table, which is one. */
static const struct store *first_store(size_t machine)
{
	size_t i = 0;
	while (stores[i].machine != machine)
		i++;
	return &stores[i];
}

START_TEST(stores_lead_to_the_call_for_a_larger_stack)
{
	for (size_t m = 0; m < MACHINES; m++) {
		struct gh_spills spills;
		const struct machine *machine = &machines[m];
		const struct code *code = &first_store(m)->code;
		static const struct code no_code = {"", 0};
		find_in(&spills, machine, code, &machine->call, "runtime.morestack");
		ck_assert_uint_eq(spills.count, 1);
		find_in(&spills, machine, code, &machine->call, "runtime.morestack_noctxt.abi0");
		ck_assert_uint_eq(spills.count, 1);
		find_in(&spills, machine, &no_code, &machine->call, morestack);
		ck_assert_uint_eq(spills.count, 0);
		/* What is called is another, or is not called. */
		find_in(&spills, machine, code, &machine->call, "runtime.morestackc");
		ck_assert_uint_eq(spills.count, 0);
		find_in(&spills, machine, code, &no_code, morestack);
		ck_assert_uint_eq(spills.count, 0);
		for (size_t i = 0; i < 4 && machine->no_calls[i].size > 0; i++) {
			find_in(&spills, machine, code, &machine->no_calls[i], morestack);
			ck_assert_msg(spills.count == 0, "%zu, %zu", m, i);
		}
	}
}
END_TEST

/* Code that ends with the call, of a store twice with something between, or after it. */
START_TEST(other_instructions_end_the_stores)
{
	static const struct {
		unsigned machine;
		struct code code;
		size_t count;
	} cases[] = {
	    {ARM64, CODE("\xe1\x07\x00\xf9\xe1\x07\x00\xf9"), 2},
	    {ARM64, CODE("\xe1\x07\x00\xf9\x1f\x20\x03\xd5\xe1\x07\x00\xf9"), 1}, /* NOP */
	    {ARM64, CODE("\xe1\x07\x00\xf9\x1f\x20\x03\xd5"), 0},
	    {RISCV64, CODE("\xae\xdf\xae\xdf"), 2},
	    {RISCV64, CODE("\xae\xdf\x01\x00\xae\xdf"), 1}, /* C.NOP */
	    {RISCV64, CODE("\xae\xdf\x01\x00"), 0},
	    {S390X, CODE("\x50\x30\xf0\xac\x50\x30\xf0\xac"), 2},
	    {S390X, CODE("\x50\x30\xf0\xac\x18\x12\x50\x30\xf0\xac"), 1}, /* LR */
	    {S390X, CODE("\x50\x30\xf0\xac\x18\x12"), 0},
	    {AMD64, CODE("\x89\x4c\x24\x10\x89\x4c\x24\x10"), 2},
	    {AMD64, CODE("\x89\x4c\x24\x10\x90"), 1},             /* NOP */
	    {AMD64, CODE("\x89\x4c\x24\x10\x0f\x1f\x40\x00"), 1}, /* of four bytes */
	    {AMD64, CODE("\x89\x4c\x24\x10\x90\x90"), 0},
	    {AMD64, CODE("\x89\x4c\x24\x10\x90\x89\x4c\x24\x10"), 0},
	    {AMD64, CODE("\x89\x4c\x24\x10\x0f\x1f\xc0"), 0}, /* NOP of a register */
	    {AMD64, CODE("\x89\x4c\x24\x10\xf3\x90"), 0},     /* PAUSE */
	    {AMD64, CODE("\x89\x4c\x24\x10\x41\x90"), 0},     /* XCHG */
	    {AMD64, CODE("\x89\x4c\x24\x10\x89\xc8"), 0},     /* MOV between registers */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gh_spills spills;
		const struct machine *machine = &machines[cases[i].machine];
		find_in(&spills, machine, &cases[i].code, &machine->call, morestack);
		ck_assert_msg(spills.count == cases[i].count, "%zu: %zu", i, spills.count);
	}
}
END_TEST

/* Whether code of main.main that begins with START finds the store before the call. */
static bool is_checked(const struct code *start)
{
	struct fixture fixture;
	struct gh_spills spills;
	uint8_t *code = open_program(&fixture, &machines[AMD64], morestack);
	const struct code *store = &first_store(AMD64)->code;
	place(code, start, 0);
	place(code, store, CALLS_AT - store->size);
	place(code, &machines[AMD64].call, CALLS_AT);
	find(&spills, &fixture);
	fixture_close(&fixture);
	return spills.count == 1;
}

/* Where the check of main.main jumps: its distances are to the store, at 0x2f. */
START_TEST(the_stack_check_leads_to_the_stores)
{
	static const struct code checks[] = {
	    CODE("\x49\x3b\x66\x10\x76\x29"),                 /* CMPQ SP, 16(R14); JBE */
	    CODE("\x49\x3b\x66\x10\x0f\x86\x25\x00\x00\x00"), /* JBE, the long form */
	    CODE("\x90\x49\x3b\x66\x10\x76\x28"),             /* after a NOP */
	    CODE("\x66\x90\x49\x3b\x66\x10\x76\x27"),
	    CODE("\x0f\x1f\x44\x00\x00\x49\x3b\x66\x10\x76\x24"),
	    CODE("\x49\x3b\x66\x10\x90\x76\x28"),
	    CODE("\x4c\x8d\x64\x24\x80\x4d\x3b\x66\x10\x76\x24"), /* LEAQ -128(SP), R12 */
	    CODE("\x4c\x8d\xa4\x24\x00\xf0\xff\xff\x4d\x3b\x66\x10\x76\x21"),
	    CODE("\x90\x4c\x8d\x64\x24\x80\x4d\x3b\x66\x10\x76\x23"),
	};
	static const struct code no_checks[] = {
	    CODE("\x49\x3b\x66\x18\x76\x29"),                     /* CMPQ SP, 24(R14) */
	    CODE("\x49\x3b\x65\x10\x76\x29"),                     /* 16(R13) */
	    CODE("\x4d\x3b\x5e\x10\x76\x29"),                     /* CMPQ R11 */
	    CODE("\x41\x3b\x66\x10\x76\x29"),                     /* CMPL SP */
	    CODE("\x49\x39\x66\x10\x76\x29"),                     /* the other way */
	    CODE("\x49\x3b\x66\x10\x77\x29"),                     /* JHI */
	    CODE("\x49\x3b\x66\x10\xeb\x29"),                     /* JMP */
	    CODE("\x49\x3b\x66\x10\x76\xff"),                     /* back */
	    CODE("\x49\x3b\x66\x10\x76\x7f"),                     /* past the function */
	    CODE("\x49\x3b\x66\x10\x76\x28"),                     /* before the stores */
	    CODE("\x49\x3b\x66\x10\x90\x90\x76\x27"),             /* after two NOPs */
	    CODE("\x4c\x8d\x6c\x24\x80\x4d\x3b\x66\x10\x76\x24"), /* LEAQ -128(SP), R13 */
	    CODE("\x4c\x8d\x60\x80\x4d\x3b\x66\x10\x76\x25"),     /* LEAQ -128(AX), R12 */
	    CODE("\x4c\x8b\x64\x24\x80\x4d\x3b\x66\x10\x76\x24"), /* MOVQ */
	};
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		ck_assert_msg(is_checked(&checks[i]), "%zu", i);
	for (size_t i = 0; i < sizeof(no_checks) / sizeof(no_checks[0]); i++)
		ck_assert_msg(!is_checked(&no_checks[i]), "%zu", i);
}
END_TEST

START_TEST(no_more_are_kept_than_there_are_registers)
{
	struct gh_spills spills = {.count = 0};
	for (uint32_t i = 0; i < GH_MAX_SPILLS + 2; i++)
		gh_spill_add(&spills, (struct gh_spill){.offset = i});
	ck_assert_uint_eq(spills.count, GH_MAX_SPILLS);
	ck_assert_uint_eq(spills.items[GH_MAX_SPILLS - 1].offset, GH_MAX_SPILLS - 1);
}
END_TEST

/* Functions of other machines, and of none that is there, save nothing. */
START_TEST(other_machines_save_none)
{
	static const struct machine mips = {.number = EM_MIPS, .big_endian = true};
	struct fixture fixture;
	struct gh_spills spills;
	open_program(&fixture, &mips, morestack);
	find(&spills, &fixture);
	ck_assert_uint_eq(spills.count, 0);
	spills.count = 1;
	gh_spills_find(&spills, &fixture.tab, &(struct gh_func){.entry = 0x10, .end = 0x20});
	ck_assert_uint_eq(spills.count, 0);
	fixture_close(&fixture);
}
END_TEST

void spills_tests(TCase *tcase)
{
	tcase_add_test(tcase, each_store_before_the_call_is_read);
	tcase_add_test(tcase, stores_lead_to_the_call_for_a_larger_stack);
	tcase_add_test(tcase, other_instructions_end_the_stores);
	tcase_add_test(tcase, the_stack_check_leads_to_the_stores);
	tcase_add_test(tcase, no_more_are_kept_than_there_are_registers);
	tcase_add_test(tcase, other_machines_save_none);
}
