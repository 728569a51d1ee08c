/* The notes of core files: where a debugger looks for a thread's registers. */
#include <string.h>

#include "lib/export/core_parts.h"
#include "tests/unit/bytes.h"
#include "tests/unit/suites.h"

enum { NONE = -1 };

/* Where elf_gregset_t has the registers that are known, in words: the kernel's
 * arch/.../include/uapi/asm/ptrace.h, for x86 asm/user_32.h and user_64.h, for mips asm/reg.h. */
static const struct {
	const char *goarch;
	int count, pc, sp, fp, lr;
} machines[] = {
    {"386", 17, 12, 15, NONE, NONE},    {"amd64", 27, 16, 19, 4, NONE},
    {"arm", 18, 15, 13, NONE, 14},      {"arm64", 34, 32, 31, 29, 30},
    {"loong64", 45, 33, 3, NONE, 1},    {"mips", 45, 40, 35, NONE, 37},
    {"mipsle", 45, 40, 35, NONE, 37},   {"mips64", 45, 34, 29, NONE, 31},
    {"mips64le", 45, 34, 29, NONE, 31}, {"ppc64", 48, 32, 1, NONE, 36},
    {"ppc64le", 48, 32, 1, NONE, 36},   {"riscv64", 32, 0, 2, NONE, 1},
    {"s390x", 27, 1, 17, NONE, 16},
};

static uint64_t get(const struct gh_buffer *notes, size_t offset, unsigned size)
{
	ck_assert_uint_le(offset + size, notes->size);
	return bytes_load(notes->data + offset, size, notes->big_endian);
}

/* struct elf_prstatus of the kernel's include/uapi/linux/elfcore.h. Its name and header take 20
 * bytes. */
START_TEST(registers_of_a_thread)
{
	const struct gh_arch *arch = gh_arch_by_name(machines[_i].goarch);
	const struct gh_thread thread = {
	    .id = 7, .pc = 0x1001, .sp = 0x1002, .fp = 0x1003, .lr = 0x1004};
	struct gh_buffer notes = {.big_endian = arch->big_endian};
	unsigned word = arch->pointer_size;
	size_t id = 20 + (word == 8 ? 32 : 24);
	size_t registers = 20 + (word == 8 ? 112 : 72);
	size_t end = registers + (size_t)machines[_i].count * word;
	gh_prstatus_append(&notes, arch, &thread);
	/* After the registers an int says whether there are floating-point ones. */
	ck_assert_uint_eq(notes.size, end + word);
	ck_assert_uint_eq(get(&notes, 0, 4), 5);
	ck_assert_uint_eq(get(&notes, 4, 4), notes.size - 20);
	ck_assert_uint_eq(get(&notes, 8, 4), 1); /* NT_PRSTATUS */
	ck_assert_mem_eq(notes.data + 12, "CORE\0\0\0", 8);
	ck_assert_uint_eq(get(&notes, id, 4), 7);
	for (int i = 0; i < machines[_i].count; i++) {
		uint64_t expected = i == machines[_i].pc   ? 0x1001
				    : i == machines[_i].sp ? 0x1002
				    : i == machines[_i].fp ? 0x1003
				    : i == machines[_i].lr ? 0x1004
							   : 0;
		ck_assert_uint_eq(get(&notes, registers + (size_t)i * word, word), expected);
	}
	gh_buffer_free(&notes);
}
END_TEST

/* struct elf_prpsinfo of the kernel's include/linux/elfcore.h: four chars, a long, the user and
 * group, of 2 bytes each on 386 and arm and of 4 elsewhere, four ids, the name and the arguments.
 */
START_TEST(name_of_the_program)
{
	const struct gh_arch *arch = gh_arch_by_name(machines[_i].goarch);
	struct gh_buffer notes = {.big_endian = arch->big_endian};
	bool is_short = strcmp(arch->goarch, "386") == 0 || strcmp(arch->goarch, "arm") == 0;
	size_t id = 20 + 2 * (size_t)arch->pointer_size + (is_short ? 4 : 8);
	size_t name = id + 16;
	const struct gh_core_process process = {.name = "a program\nof a longer name",
						.arguments = "a program\nof a longer name",
						.id = 7};
	gh_prpsinfo_append(&notes, arch, &process);
	ck_assert_uint_eq(notes.size, name + 16 + 80);
	ck_assert_uint_eq(get(&notes, 4, 4), notes.size - 20);
	ck_assert_uint_eq(get(&notes, 8, 4), 3); /* NT_PRPSINFO */
	ck_assert_uint_eq(get(&notes, id, 4), 7);
	ck_assert_str_eq((const char *)notes.data + name, "a program?of a ");
	ck_assert_str_eq((const char *)notes.data + name + 16, "a program?of a longer name");
	gh_buffer_free(&notes);
}
END_TEST

void core_notes_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, registers_of_a_thread, 0,
			    sizeof(machines) / sizeof(machines[0]));
	tcase_add_loop_test(tcase, name_of_the_program, 0, sizeof(machines) / sizeof(machines[0]));
}
