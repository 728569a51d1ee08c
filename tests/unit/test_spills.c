/* Where functions save their arguments' registers before they ask for a larger stack. */
#include <elf.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/code/internal.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

/* Code for main.leaf, 0x20 bytes before runtime.morestack_noctxt, as LLVM's assembler has it. */
static const struct {
	uint16_t machine;
	const char *code;
	size_t size;
	struct gh_spill spills[5];
} machines[] = {
    /* STR X0, [SP, 8]; STP X1, X2, [SP, 16]; STP D0, D1, [SP, 32]; MOV X3, X30; BL .+16 */
    {EM_AARCH64,
     "\xe0\x07\x00\xf9\xe1\x0b\x01\xa9\xe0\x07\x02\x6d\xe3\x03\x1e\xaa\x04\x00\x00\x94",
     20,
     {{8, 8, 0, false},
      {16, 8, 1, false},
      {24, 8, 2, false},
      {32, 8, 64, true},
      {40, 8, 65, true}}},
    /* C.SDSP A0, 72; C.SDSP A1, 8; C.SWSP A2, 68; SD A3, 96(SP); C.FSDSP FA0, 264; JAL T0, .+20 */
    {EM_RISCV,
     "\xaa\xe4\x2e\xe4\xb2\xc2\x23\x30\xd1\x06\x2a\xa6\xef\x02\x40\x01",
     16,
     {{72, 8, 10, false},
      {8, 8, 11, false},
      {68, 4, 12, false},
      {96, 8, 13, false},
      {264, 8, 42, true}}},
};

START_TEST(registers_are_saved)
{
	const struct synthetic what = {.format = SYNTHETIC_1_20,
				       .word = 8,
				       .machine = machines[_i].machine,
				       .last = "runtime.morestack_noctxt"};
	struct fixture fixture;
	struct gh_func func;
	struct gh_spills spills;
	struct gh_cursor text;
	fixture_open_as(&fixture, &what);
	ck_assert(gh_pclntab_func(&fixture.tab, 1, &func, NULL));
	gh_spills_find(&spills, &fixture.tab, &func);
	ck_assert_uint_eq(spills.count, 0);
	ck_assert(gh_image_at(&fixture.image, func.entry, &text));
	memcpy(fixture.data + text.offset, machines[_i].code, machines[_i].size);
	gh_spills_find(&spills, &fixture.tab, &func);
	ck_assert_uint_eq(spills.count, 5);
	for (size_t i = 0; i < 5; i++) {
		const struct gh_spill *expected = &machines[_i].spills[i];
		ck_assert_uint_eq(spills.items[i].offset, expected->offset);
		ck_assert_uint_eq(spills.items[i].size, expected->size);
		ck_assert_uint_eq(spills.items[i].number, expected->number);
		ck_assert_int_eq(spills.items[i].is_float, expected->is_float);
	}
	fixture_close(&fixture);
}
END_TEST

void spills_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, registers_are_saved, 0, sizeof(machines) / sizeof(machines[0]));
}
