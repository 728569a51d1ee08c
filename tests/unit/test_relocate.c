/* Relocations: that addresses are written where they are to be, and nowhere else. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/elfmaker.h"
#include "tests/unit/suites.h"

START_TEST(an_address_is_written_in_the_files_byte_order)
{
	const struct elfmaker_machine *machine = &elfmaker_machines[_i];
	struct elfmaker file;
	elfmaker_make(&file, machine);
	elfmaker_put_symbol(&file, "defined", 1, 0x7f00000000a0);
	elfmaker_put_symbol(&file, "undefined", SHN_UNDEF, 0x7f00000000b0);
	elfmaker_put_relocation(&file, elfmaker_at(0), 0, machine->relative, 0x0102030405060708);
	elfmaker_put_relocation(&file, elfmaker_at(1), 1, machine->symbolic, 0x1000);
	elfmaker_put_relocation(&file, elfmaker_at(2), 2, machine->symbolic, 0x1000);
	elfmaker_put_relocation(&file, elfmaker_at(3), 1, 0, 0x1000);
	elfmaker_put_relocation(&file, elfmaker_at(4), 1, 60000, 0x1000);
	/* A symbol beyond the end of the file. */
	elfmaker_put_relocation(&file, elfmaker_at(5), 0x100, machine->symbolic, 0x1000);
	elfmaker_put_relocation(&file, elfmaker_at(6), 1, machine->symbolic, (uint64_t)-0xa0);
	elfmaker_open(&file);
	ck_assert_uint_eq(elfmaker_word(&file, 0), 0x0102030405060708);
	ck_assert_uint_eq(file.bytes[ELFMAKER_WORDS], machine->big_endian ? 1 : 8);
	ck_assert_uint_eq(elfmaker_word(&file, 1), 0x7f00000010a0);
	for (unsigned i = 2; i < 6; i++)
		ck_assert_uint_eq(elfmaker_word(&file, i), ELFMAKER_UNTOUCHED);
	ck_assert_uint_eq(elfmaker_word(&file, 6), 0x7f0000000000);
	ck_assert_uint_eq(elfmaker_word(&file, 7), ELFMAKER_UNTOUCHED);
	gh_image_close(&file.image);
}
END_TEST

START_TEST(a_relocation_outside_the_files_bytes_is_passed_over)
{
	static const uint8_t untouched[7] = {0};
	const struct elfmaker_machine *machine = &elfmaker_machines[_i];
	const uint64_t end = ELFMAKER_START + ELFMAKER_FILE_SIZE;
	struct elfmaker file;
	elfmaker_make(&file, machine);
	memset(file.bytes + ELFMAKER_FILE_SIZE - 16, 0, 16);
	elfmaker_put_relocation(&file, ELFMAKER_START - 8, 0, machine->relative, UINT64_MAX);
	elfmaker_put_relocation(&file, end, 0, machine->relative, UINT64_MAX);
	elfmaker_put_relocation(&file, end - 7, 0, machine->relative, UINT64_MAX);
	elfmaker_put_relocation(&file, end - 16, 0, machine->relative, 0x6666666666666666);
	elfmaker_open(&file);
	ck_assert_uint_eq(file.bytes[ELFMAKER_FILE_SIZE - 16], 0x66);
	ck_assert_uint_eq(file.bytes[ELFMAKER_FILE_SIZE - 9], 0x66);
	ck_assert_mem_eq(file.bytes + ELFMAKER_FILE_SIZE - 7, untouched, sizeof(untouched));
	gh_image_close(&file.image);
	elfmaker_store(&file, ELFMAKER_RELA + 3 * 24, 8, end - 8);
	elfmaker_open(&file);
	ck_assert_uint_eq(file.bytes[ELFMAKER_FILE_SIZE - 1], 0x66);
	gh_image_close(&file.image);
}
END_TEST

START_TEST(a_table_of_relocations_has_whole_ones_of_its_size)
{
	const struct elfmaker_machine *machine = &elfmaker_machines[_i];
	struct elfmaker file;
	elfmaker_make(&file, machine);
	for (unsigned i = 0; i < 3; i++)
		elfmaker_put_relocation(&file, elfmaker_at(i), 0, machine->relative, 0x100 + i);
	elfmaker_put_entry(&file, 1, DT_RELASZ, 3 * 24 - 1);
	elfmaker_open(&file);
	ck_assert_uint_eq(elfmaker_word(&file, 0), 0x100);
	ck_assert_uint_eq(elfmaker_word(&file, 1), 0x101);
	ck_assert_uint_eq(elfmaker_word(&file, 2), ELFMAKER_UNTOUCHED);
	gh_image_close(&file.image);
	/* More than the file has. */
	elfmaker_put_entry(&file, 1, DT_RELASZ, UINT64_MAX);
	elfmaker_open(&file);
	ck_assert_uint_eq(elfmaker_word(&file, 2), 0x102);
	gh_image_close(&file.image);
}
END_TEST

/* Each entry is needed, but the symbols' only for relocations by symbols. */
START_TEST(the_dynamic_entries_say_where_the_tables_are)
{
	static const struct {
		unsigned entry; /* that is another */
		uint64_t tag, value;
		bool relative, symbolic; /* whether they are applied */
	} cases[] = {
	    {0, DT_RELA, ELFMAKER_START + ELFMAKER_RELA, true, true},
	    {0, 0x70000001, ELFMAKER_START + ELFMAKER_RELA, false, false},
	    {0, DT_RELA, ELFMAKER_START - 1, false, false},
	    {1, 0x70000001, 48, false, false},
	    {2, 0x70000001, ELFMAKER_START + ELFMAKER_SYMBOLS, true, false},
	    {2, DT_SYMTAB, ELFMAKER_START + ELFMAKER_FILE_SIZE, true, false},
	};
	const struct elfmaker_machine *machine = &elfmaker_machines[ELFMAKER_S390X];
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct elfmaker file;
		elfmaker_make(&file, machine);
		elfmaker_put_symbol(&file, "defined", 1, 0x4000);
		elfmaker_put_relocation(&file, elfmaker_at(0), 0, machine->relative, 0x1000);
		elfmaker_put_relocation(&file, elfmaker_at(1), 1, machine->symbolic, 0x1000);
		elfmaker_put_entry(&file, cases[i].entry, cases[i].tag, cases[i].value);
		elfmaker_open(&file);
		ck_assert_uint_eq(elfmaker_word(&file, 0),
				  cases[i].relative ? 0x1000 : ELFMAKER_UNTOUCHED);
		ck_assert_uint_eq(elfmaker_word(&file, 1),
				  cases[i].symbolic ? 0x5000 : ELFMAKER_UNTOUCHED);
		gh_image_close(&file.image);
	}
}
END_TEST

/* Those of mips64 are of several types each, with the addend in place. */
START_TEST(a_machine_without_addends_has_nothing_to_relocate)
{
	static const struct elfmaker_machine mips64 = {"mips64", EM_MIPS, true, 0, 0};
	struct elfmaker file;
	elfmaker_make(&file, &mips64);
	elfmaker_put_symbol(&file, "defined", 1, 0x4000);
	elfmaker_put_relocation(&file, elfmaker_at(0), 0, 0, 0x1000);
	elfmaker_put_relocation(&file, elfmaker_at(1), 1, 0, 0x1000);
	elfmaker_open(&file);
	ck_assert_uint_eq(elfmaker_word(&file, 0), ELFMAKER_UNTOUCHED);
	ck_assert_uint_eq(elfmaker_word(&file, 1), ELFMAKER_UNTOUCHED);
	gh_image_close(&file.image);
}
END_TEST

START_TEST(a_file_is_relocated_only_if_that_is_asked_for)
{
	const struct elfmaker_machine *machine = &elfmaker_machines[_i];
	char path[] = "/tmp/goheap-relocate-XXXXXX";
	struct elfmaker file;
	struct gh_image image;
	struct gh_error err;
	struct gh_cursor cur;
	elfmaker_make(&file, machine);
	elfmaker_put_relocation(&file, elfmaker_at(0), 0, machine->relative, 0x1000);
	int fd = mkstemp(path);
	ck_assert_int_eq(write(fd, file.bytes, ELFMAKER_FILE_SIZE), ELFMAKER_FILE_SIZE);
	close(fd);
	ck_assert(gh_image_open(&image, path, &err));
	ck_assert(gh_image_at(&image, elfmaker_at(0), &cur));
	ck_assert_uint_eq(gh_cursor_u64(&cur), 0x1000);
	ck_assert_uint_eq(gh_cursor_u64(&cur), ELFMAKER_UNTOUCHED);
	gh_image_close(&image);
	ck_assert(gh_image_open_unrelocated(&image, path, &err));
	ck_assert(gh_image_at(&image, elfmaker_at(0), &cur));
	ck_assert_uint_eq(gh_cursor_u64(&cur), ELFMAKER_UNTOUCHED);
	gh_image_close(&image);
	unlink(path);
}
END_TEST

/* Of an address in the process it is the distance to where the file itself is that counts. */
START_TEST(the_first_file_that_defines_a_symbol_is_taken)
{
	const struct elfmaker_machine *machine = &elfmaker_machines[_i];
	struct gh_defined_symbols symbols = {0};
	struct elfmaker first, second, user;
	elfmaker_make(&first, machine);
	elfmaker_put_symbol(&first, "both", 1, 0x100);
	elfmaker_put_symbol(&first, "later", SHN_UNDEF, 0x200);
	elfmaker_put_symbol(&first, "", 1, 0x300);
	elfmaker_open(&first);
	elfmaker_make(&second, machine);
	elfmaker_put_symbol(&second, "both", 1, 0x500);
	elfmaker_put_symbol(&second, "later", 1, 0x600);
	elfmaker_open(&second);
	elfmaker_make(&user, machine);
	elfmaker_put_symbol(&user, "both", SHN_UNDEF, 0);
	elfmaker_put_symbol(&user, "later", SHN_UNDEF, 0);
	elfmaker_put_symbol(&user, "nowhere", SHN_UNDEF, 0);
	elfmaker_put_symbol(&user, "own", 1, 0x700);
	for (unsigned i = 0; i < 5; i++)
		elfmaker_put_relocation(&user, elfmaker_at(i), i, machine->symbolic, 8);
	elfmaker_put_relocation(&user, elfmaker_at(5), 1, 60000, 8);
	elfmaker_put_relocation(&user, elfmaker_at(6), 2, machine->symbolic, 16);
	elfmaker_open(&user);
	gh_defined_symbols_add(&symbols, &first.image, 0x7f0000000000);
	gh_defined_symbols_add(&symbols, &second.image, 0x7f1000000000);
	ck_assert_uint_eq(symbols.addresses.count, 2);
	gh_relocate_undefined(&user.image, &symbols, 0x1000000000);
	ck_assert_uint_eq(elfmaker_word(&user, 0), ELFMAKER_UNTOUCHED);
	ck_assert_uint_eq(elfmaker_word(&user, 1), 0x7ef000000108);
	ck_assert_uint_eq(elfmaker_word(&user, 2), 0x7f0000000608);
	ck_assert_uint_eq(elfmaker_word(&user, 3), ELFMAKER_UNTOUCHED);
	ck_assert_uint_eq(elfmaker_word(&user, 4), 0x708);
	ck_assert_uint_eq(elfmaker_word(&user, 5), ELFMAKER_UNTOUCHED);
	ck_assert_uint_eq(elfmaker_word(&user, 6), 0x7f0000000610);
	gh_defined_symbols_free(&symbols);
	gh_image_close(&first.image);
	gh_image_close(&second.image);
	gh_image_close(&user.image);
}
END_TEST

/* Of names four times as much is read as the file is long, 12288 bytes: each symbol of a crafted
 * file could have the same long one. */
START_TEST(names_that_are_read_again_and_again_come_to_an_end)
{
	char name[1201] = {0};
	memset(name, 'n', sizeof(name) - 1);
	for (unsigned times = 10; times <= 11; times++) {
		struct gh_defined_symbols symbols = {0};
		struct elfmaker file;
		elfmaker_make(&file, &elfmaker_machines[_i]);
		unsigned place = elfmaker_put_name(&file, name);
		for (unsigned i = 0; i < times; i++)
			elfmaker_put_named(&file, place, 1, 0x100 + i);
		elfmaker_put_symbol(&file, "last", 1, 0x200);
		elfmaker_open(&file);
		gh_defined_symbols_add(&symbols, &file.image, 0);
		/* Of the eleventh's name the first 288 bytes are left, and then none. */
		ck_assert_uint_eq(symbols.addresses.count, 2);
		ck_assert_uint_eq(symbols.addresses.items[0], 0x100);
		ck_assert_uint_eq(symbols.addresses.items[1], times == 10 ? 0x200 : 0x10a);
		gh_defined_symbols_free(&symbols);
		gh_image_close(&file.image);
	}
}
END_TEST

void relocate_tests(TCase *tests)
{
	tcase_add_loop_test(tests, an_address_is_written_in_the_files_byte_order, 0,
			    ELFMAKER_MACHINES);
	tcase_add_loop_test(tests, a_relocation_outside_the_files_bytes_is_passed_over, 0,
			    ELFMAKER_MACHINES);
	tcase_add_loop_test(tests, a_table_of_relocations_has_whole_ones_of_its_size, 0,
			    ELFMAKER_MACHINES);
	tcase_add_test(tests, the_dynamic_entries_say_where_the_tables_are);
	tcase_add_test(tests, a_machine_without_addends_has_nothing_to_relocate);
	tcase_add_loop_test(tests, a_file_is_relocated_only_if_that_is_asked_for, 0,
			    ELFMAKER_MACHINES);
	tcase_add_loop_test(tests, the_first_file_that_defines_a_symbol_is_taken, 0,
			    ELFMAKER_MACHINES);
	tcase_add_loop_test(tests, names_that_are_read_again_and_again_come_to_an_end, 0,
			    ELFMAKER_MACHINES);
}
