/* What a file tells the dynamic linker: its entries, and the symbols that it shares. */
#include <string.h>

#include "tests/unit/elfmaker.h"
#include "tests/unit/suites.h"

START_TEST(a_shared_symbol_is_found_by_its_whole_name)
{
	struct elfmaker file;
	GElf_Sym symbol;
	elfmaker_make(&file, &elfmaker_machines[_i]);
	elfmaker_put_symbol(&file, "runtime.x", 7, 0x7f00000000a0);
	elfmaker_put_symbol(&file, "runtime", SHN_UNDEF, 0);
	elfmaker_open(&file);
	ck_assert(gh_dynamic_symbol(&file.image, "runtime.x", &symbol));
	ck_assert_uint_eq(symbol.st_info, 0x11);
	ck_assert_uint_eq(symbol.st_other, 2);
	ck_assert_uint_eq(symbol.st_shndx, 7);
	ck_assert_uint_eq(symbol.st_value, 0x7f00000000a0);
	ck_assert_uint_eq(symbol.st_size, 0x42);
	ck_assert(gh_dynamic_symbol(&file.image, "runtime", &symbol));
	ck_assert_uint_eq(symbol.st_shndx, SHN_UNDEF);
	ck_assert_uint_eq(symbol.st_size, 0x43);
	ck_assert(!gh_dynamic_symbol(&file.image, "runtime.", &symbol));
	ck_assert(!gh_dynamic_symbol(&file.image, "untime.y", &symbol));
	gh_image_close(&file.image);
}
END_TEST

START_TEST(a_shared_symbol_and_its_name_are_in_the_file)
{
	static const struct {
		unsigned section;
		uint32_t type, link;
		uint64_t offset, size;
		bool first, last; /* whether the symbols are found */
	} cases[] = {
	    {1, SHT_DYNSYM, 2, ELFMAKER_SYMBOLS, 3 * 24, true, true},
	    /* The last name lacks its end, then the last symbol. */
	    {2, SHT_STRTAB, 0, ELFMAKER_NAMES, 14, true, false},
	    {1, SHT_DYNSYM, 2, ELFMAKER_SYMBOLS, 3 * 24 - 1, true, false},
	    {1, SHT_DYNSYM, 3, ELFMAKER_SYMBOLS, 3 * 24, false, false},
	    {1, SHT_SYMTAB, 2, ELFMAKER_SYMBOLS, 3 * 24, false, false},
	    {1, SHT_DYNSYM, 2, ELFMAKER_FILE_SIZE, 3 * 24, false, false},
	    {2, SHT_STRTAB, 0, ELFMAKER_FILE_SIZE, 15, false, false},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct elfmaker file;
		GElf_Sym symbol;
		elfmaker_make(&file, &elfmaker_machines[_i]);
		elfmaker_put_symbol(&file, "first", 1, 1);
		elfmaker_put_symbol(&file, "the.last", 1, 1);
		elfmaker_put_section(&file, cases[i].section, cases[i].type, cases[i].offset,
				     cases[i].size, cases[i].link);
		elfmaker_open(&file);
		ck_assert_int_eq(gh_dynamic_symbol(&file.image, "first", &symbol), cases[i].first);
		ck_assert_int_eq(gh_dynamic_symbol(&file.image, "the.last", &symbol),
				 cases[i].last);
		gh_image_close(&file.image);
	}
}
END_TEST

/* As Elf32_Sym has it: the value and the size are before the rest. */
START_TEST(a_symbol_of_32_bits_has_another_order)
{
	static const uint8_t bytes[2][16] = {
	    {4, 3, 2, 1, 8, 7, 6, 5, 0x0c, 0x0b, 0x0a, 9, 0x12, 1, 0xf1, 0xff},
	    {1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0a, 0x0b, 0x0c, 0x12, 1, 0xff, 0xf1},
	};
	for (unsigned big_endian = 0; big_endian < 2; big_endian++) {
		const struct gh_image image = {.arch = gh_arch_find(EM_MIPS, 4, big_endian)};
		struct gh_cursor cur = gh_cursor_make(bytes[big_endian], 16, "", 0, big_endian);
		GElf_Sym symbol = gh_dynamic_read_symbol(&image, &cur);
		ck_assert_uint_eq(symbol.st_name, 0x01020304);
		ck_assert_uint_eq(symbol.st_value, 0x05060708);
		ck_assert_uint_eq(symbol.st_size, 0x090a0b0c);
		ck_assert_uint_eq(symbol.st_info, 0x12);
		ck_assert_uint_eq(symbol.st_other, 1);
		ck_assert_uint_eq(symbol.st_shndx, SHN_ABS);
		ck_assert_uint_eq(gh_cursor_left(&cur), 0);
	}
}
END_TEST

START_TEST(dynamic_entries_end_at_the_null_one)
{
	struct elfmaker file;
	struct gh_dynamic dynamic;
	uint64_t value = 1;
	elfmaker_make(&file, &elfmaker_machines[_i]);
	elfmaker_put_entry(&file, 4, DT_FLAGS_1, 7);
	elfmaker_open(&file);
	ck_assert(gh_dynamic_open(&dynamic, &file.image));
	for (unsigned i = 0; i < 3; i++)
		ck_assert(gh_dynamic_next(&dynamic));
	ck_assert_uint_eq(dynamic.tag, DT_SYMTAB);
	ck_assert_uint_eq(dynamic.value, ELFMAKER_START + ELFMAKER_SYMBOLS);
	ck_assert(!gh_dynamic_next(&dynamic));
	ck_assert(!gh_dynamic_find(&file.image, DT_FLAGS_1, &value));
	ck_assert_uint_eq(value, 1);
	gh_image_close(&file.image);
}
END_TEST

START_TEST(dynamic_entries_are_in_the_file)
{
	const size_t segment = ELFMAKER_SEGMENTS + 56;
	struct elfmaker file;
	struct gh_dynamic dynamic;
	uint64_t value;
	elfmaker_make(&file, &elfmaker_machines[_i]);
	elfmaker_store(&file, segment, 4, PT_NOTE);
	elfmaker_open(&file);
	ck_assert(!gh_dynamic_open(&dynamic, &file.image));
	ck_assert(!gh_dynamic_find(&file.image, DT_RELA, &value));
	gh_image_close(&file.image);
	elfmaker_store(&file, segment, 4, PT_DYNAMIC);
	elfmaker_store(&file, segment + 16, 8, ELFMAKER_START + ELFMAKER_FILE_SIZE);
	elfmaker_open(&file);
	ck_assert(!gh_dynamic_open(&dynamic, &file.image));
	gh_image_close(&file.image);
	/* They end with the file, without the null one. */
	elfmaker_store(&file, segment + 16, 8, ELFMAKER_START + ELFMAKER_FILE_SIZE - 32);
	elfmaker_store(&file, ELFMAKER_FILE_SIZE - 32, 8, DT_RELA);
	elfmaker_store(&file, ELFMAKER_FILE_SIZE - 16, 8, DT_FLAGS_1);
	elfmaker_store(&file, ELFMAKER_FILE_SIZE - 8, 8, 0x123);
	elfmaker_open(&file);
	ck_assert(gh_dynamic_find(&file.image, DT_FLAGS_1, &value));
	ck_assert_uint_eq(value, 0x123);
	ck_assert(!gh_dynamic_find(&file.image, DT_FLAGS, &value));
	gh_image_close(&file.image);
	/* The second one lacks its last byte. */
	elfmaker_store(&file, segment + 16, 8, ELFMAKER_START + ELFMAKER_FILE_SIZE - 31);
	elfmaker_store(&file, ELFMAKER_FILE_SIZE - 31, 8, DT_RELA);
	elfmaker_open(&file);
	ck_assert(gh_dynamic_open(&dynamic, &file.image));
	ck_assert(gh_dynamic_next(&dynamic));
	ck_assert(!gh_dynamic_next(&dynamic));
	gh_image_close(&file.image);
}
END_TEST

/* A program that is position-independent has an interpreter, or says so. */
START_TEST(a_library_is_no_program)
{
	static const struct {
		uint16_t type;
		uint32_t segment;
		uint64_t flags;
		bool library;
	} cases[] = {
	    {ET_DYN, PT_NOTE, 0, true},         {ET_DYN, PT_NOTE, DF_1_NOW, true},
	    {ET_DYN, PT_NOTE, DF_1_PIE, false}, {ET_DYN, PT_NOTE, DF_1_PIE | DF_1_NOW, false},
	    {ET_DYN, PT_INTERP, 0, false},      {ET_EXEC, PT_NOTE, 0, false},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct elfmaker file;
		elfmaker_make(&file, &elfmaker_machines[_i]);
		elfmaker_store(&file, 16, 2, cases[i].type);
		elfmaker_store(&file, 56, 2, 3); /* program headers */
		elfmaker_store(&file, ELFMAKER_SEGMENTS + 2 * 56, 4, cases[i].segment);
		elfmaker_put_entry(&file, 3, cases[i].flags != 0 ? DT_FLAGS_1 : DT_NULL,
				   cases[i].flags);
		elfmaker_open(&file);
		ck_assert_int_eq(gh_image_is_library(&file.image), cases[i].library);
		ck_assert_int_eq(gh_image_is_pie(&file.image), cases[i].type == ET_DYN);
		gh_image_close(&file.image);
	}
}
END_TEST

void dynamic_tests(TCase *tests)
{
	tcase_add_loop_test(tests, a_shared_symbol_is_found_by_its_whole_name, 0,
			    ELFMAKER_MACHINES);
	tcase_add_loop_test(tests, a_shared_symbol_and_its_name_are_in_the_file, 0,
			    ELFMAKER_MACHINES);
	tcase_add_test(tests, a_symbol_of_32_bits_has_another_order);
	tcase_add_loop_test(tests, dynamic_entries_end_at_the_null_one, 0, ELFMAKER_MACHINES);
	tcase_add_loop_test(tests, dynamic_entries_are_in_the_file, 0, ELFMAKER_MACHINES);
	tcase_add_loop_test(tests, a_library_is_no_program, 0, ELFMAKER_MACHINES);
}
