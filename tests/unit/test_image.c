#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

START_TEST(bytes_at_an_address)
{
	struct fixture fixture;
	fixture_open(&fixture, _i);
	struct gh_cursor cur;
	ck_assert(gh_image_at(&fixture.image, fixture.tab.address, &cur));
	ck_assert_uint_eq(cur.offset, fixture.places.pclntab);
	ck_assert(gh_image_at(&fixture.image, SYNTHETIC_TEXT + 0x7f, &cur));
	ck_assert_uint_eq(gh_cursor_left(&cur), 1);
	ck_assert(!gh_image_at(&fixture.image, SYNTHETIC_TEXT + 0x80, &cur));
	ck_assert(!gh_image_at(&fixture.image, SYNTHETIC_TEXT - 1, &cur));
	ck_assert(!gh_image_at(&fixture.image, UINT64_MAX, &cur));
	fixture_close(&fixture);
}
END_TEST

START_TEST(sections_by_name)
{
	struct fixture fixture;
	fixture_open(&fixture, _i);
	const struct gh_section *section = gh_image_section(&fixture.image, ".gopclntab");
	ck_assert_int_eq(section != NULL, fixture_variant(_i).sections);
	ck_assert_ptr_null(gh_image_section(&fixture.image, ".nosuch"));
	fixture_close(&fixture);
}
END_TEST

START_TEST(what_is_no_go_program_is_told)
{
	struct gh_image image;
	struct gh_pclntab tab;
	struct gh_error err;
	char text[] = "#!/bin/sh\nexit 0\n";
	ck_assert(!gh_image_open_memory(&image, text, sizeof(text), "script", &err));
	ck_assert_str_eq(err.text, "script: expected an ELF file, found another format");
	ck_assert(!gh_image_open(&image, "/proc/nonexistent", &err));
	ck_assert_str_eq(err.text, "/proc/nonexistent: cannot open: No such file or directory");
	ck_assert(!gh_image_open(&image, "/", &err));
	ck_assert(gh_image_open(&image, "/bin/sh", &err));
	ck_assert(!gh_pclntab_open(&tab, &image, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "expected a Go program, found no pclntab"));
	gh_image_close(&image);
}
END_TEST

/* No such machine runs Go. */
START_TEST(a_machine_that_is_not_known_is_told)
{
	struct gh_image image;
	struct gh_error err;
	Elf32_Ehdr header = {
	    .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
	    .e_type = ET_EXEC,
	    .e_machine = EM_68K,
	    .e_version = EV_CURRENT};
	ck_assert(!gh_image_open_memory(&image, &header, sizeof(header), "m68k", &err));
	ck_assert_str_eq(err.text,
			 "m68k: offset 0x12: expected a machine that Go runs on, found ELF "
			 "machine 4, 32-bit, little-endian");
}
END_TEST

static void check_damaged(void *data, size_t size, const char *text)
{
	struct gh_image image;
	struct gh_error err;
	ck_assert(!gh_image_open_memory(&image, data, size, "damaged", &err));
	ck_assert_str_eq(err.text, text);
}

START_TEST(a_damaged_elf_header_is_told)
{
	static const char text[] = "damaged: offset 0x0: expected an ELF header, found damage";
	Elf64_Ehdr header = {
	    .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
	    .e_type = ET_EXEC,
	    .e_machine = EM_X86_64,
	    .e_version = EV_CURRENT};
	struct gh_image image;
	struct gh_error err;
	ck_assert_msg(gh_image_open_memory(&image, &header, sizeof(header), "whole", &err), "%s",
		      err.text);
	gh_image_close(&image);
	check_damaged(&header, sizeof(header) - 1, text);
	header.e_ident[EI_CLASS] = ELFCLASS64 + 1;
	check_damaged(&header, sizeof(header), text);
	/* A table that the file is too short for. */
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_phoff = sizeof(header);
	header.e_phentsize = sizeof(Elf64_Phdr);
	header.e_phnum = 1;
	check_damaged(&header, sizeof(header),
		      "damaged: offset 0x40: expected program headers, found damage");
}
END_TEST

/* Twice as many bytes as the file has may be in segments. */
START_TEST(segments_over_each_other_are_told)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[3];
	} file = {
	    .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				   EV_CURRENT},
		       .e_type = ET_EXEC,
		       .e_machine = EM_X86_64,
		       .e_version = EV_CURRENT,
		       .e_phoff = sizeof(Elf64_Ehdr),
		       .e_phentsize = sizeof(Elf64_Phdr),
		       .e_phnum = 3},
	    .segments = {{.p_type = PT_LOAD, .p_filesz = UINT64_MAX},
			 {.p_type = PT_LOAD, .p_offset = 1, .p_filesz = UINT64_MAX},
			 {.p_type = PT_LOAD, .p_filesz = 1}},
	};
	struct gh_image image;
	struct gh_error err;
	ck_assert_msg(gh_image_open_memory(&image, &file, sizeof(file), "whole", &err), "%s",
		      err.text);
	gh_image_close(&image);
	file.segments[2].p_filesz = 2;
	check_damaged(&file, sizeof(file),
		      "damaged: offset 0x40: expected segments with bytes of their own, found "
		      "overlapping ones");
}
END_TEST

/* e_ident of a file of this byte order. */
#define START_OF_ELF(order) "\177ELF\2" order "\1\0\0\0\0\0\0\0\0\0"

START_TEST(a_file_is_told_by_its_first_bytes)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *kind;
	} cases[] = {
	    {START_OF_ELF("\1") "\1\0", 18, "an object file"},
	    {START_OF_ELF("\1") "\2\0", 18, "an executable"},
	    {START_OF_ELF("\1") "\3\0", 18, "an executable or a shared object"},
	    {START_OF_ELF("\1") "\4\0", 18, "a core file"},
	    {START_OF_ELF("\2") "\0\4", 18, "a core file"},
	    {START_OF_ELF("\1") "\0\4", 18, "an ELF file of no known type"},
	    {START_OF_ELF("\1") "\4", 17, "the start of an ELF file"},
	    {"go1.7 heap dump\n", 16, "a Go heap dump"},
	    {"go1.3 heap dump\n", 16, "a Go heap dump"},
	    {"go1.7 heap dump\n", 15, "another format"},
	    {"go2.7 heap dump\n", 16, "another format"},
	    {"go1.2 heap dump\n", 16, "another format"},
	    {"go1.8 heap dump\n", 16, "another format"},
	    {"go1.7 heap damp\n", 16, "another format"},
	    {"heap profile: 1: 2 [3: 4]", 25, "a profile as text"},
	    {"\x0a\4\10\1\20\2\x0a\4", 8, "a profile of pprof's"},
	    {"\x5a\4\10\5\20\6", 6, "a profile of pprof's"},
	    {"\x0a\x80\10\1\20\2\x0a\4", 8, "another format"}, /* a length of two bytes */
	    {"\x0a\4", 2, "another format"},
	    {"\x0a\4\x09", 3, "another format"},
	    {"\x0b\4\x08", 3, "another format"},
	    {"\177EL", 3, "another format"},
	    {"\x1f\x8b\x08\0", 4, "what gzip compressed: unpack it with gzip -d"},
	    {"\x1f\x8b\x08", 3, "what gzip compressed: unpack it with gzip -d"},
	    {"\x1f\x8b\x07", 3, "another format"},
	    {"\x28\xb5\x2f\xfd\x04", 5, "what zstd compressed: unpack it with zstd -d"},
	    {"\x28\xb5\x2f", 3, "another format"},
	    {"\xfd"
	     "7zXZ\0",
	     6, "what xz compressed: unpack it with xz -d"},
	    {"\x04\x22\x4d\x18\x64", 5, "what lz4 compressed: unpack it with lz4 -d"},
	    {"", 0, "an empty file"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(gh_file_kind(cases[i].bytes, cases[i].size), cases[i].kind);
}
END_TEST

/* Each part of a file in turn is its last. */
START_TEST(a_file_is_as_long_as_its_headers_say)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[2];
		Elf64_Shdr sections[3];
	} file = {
	    .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				   EV_CURRENT},
		       .e_type = ET_EXEC,
		       .e_machine = EM_X86_64,
		       .e_version = EV_CURRENT,
		       .e_ehsize = sizeof(Elf64_Ehdr),
		       .e_phoff = sizeof(Elf64_Ehdr),
		       .e_phentsize = sizeof(Elf64_Phdr)},
	};
	const uint8_t *data = (const uint8_t *)&file;
	ck_assert_uint_eq(gh_elf_extent(data, 64), 64);
	file.header.e_phnum = 2;
	ck_assert_uint_eq(gh_elf_extent(data, sizeof(file)), 64 + 2 * 56);
	file.segments[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_offset = 0x100, .p_filesz = 0x80};
	ck_assert_uint_eq(gh_elf_extent(data, sizeof(file)), 0x180);
	file.segments[1] = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = 0x180, .p_filesz = 1};
	ck_assert_uint_eq(gh_elf_extent(data, sizeof(file)), 0x181);
	/* The headers of sections are beyond what is there of the file. */
	file.header.e_shoff = 0x1000;
	file.header.e_shentsize = sizeof(Elf64_Shdr);
	file.header.e_shnum = 3;
	ck_assert_uint_eq(gh_elf_extent(data, sizeof(file)), 0x1000 + 3 * 64);
	file.header.e_shoff = offsetof(typeof(file), sections);
	ck_assert_uint_eq(gh_elf_extent(data, sizeof(file)), 0x181);
	file.sections[1] =
	    (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_offset = 0x200, .sh_size = 0x111};
	file.sections[2] =
	    (Elf64_Shdr){.sh_type = SHT_NOBITS, .sh_offset = 0x300, .sh_size = 0x1000};
	ck_assert_uint_eq(gh_elf_extent(data, sizeof(file)), 0x311);
	file.sections[2].sh_type = SHT_PROGBITS;
	ck_assert_uint_eq(gh_elf_extent(data, sizeof(file)), 0x1300);
	file.sections[2].sh_size = UINT64_MAX;
	ck_assert_uint_eq(gh_elf_extent(data, sizeof(file)), UINT64_MAX);
	ck_assert_uint_eq(gh_elf_extent(data, 63), 0);
}
END_TEST

/* As Go 1.4 to 1.6 name them: thechar in src/runtime/arch1_*.go of the releases. */
START_TEST(machines_by_their_compilers_letters)
{
	static const struct {
		char letter;
		bool big_endian;
		const char *goarch;
	} cases[] = {
	    {'5', false, "arm"},   {'6', false, "amd64"},    {'7', false, "arm64"},
	    {'8', false, "386"},   {'9', true, "ppc64"},     {'9', false, "ppc64le"},
	    {'0', true, "mips64"}, {'0', false, "mips64le"}, {'z', true, "s390x"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct gh_arch *arch =
		    gh_arch_by_letter((uint64_t)cases[i].letter, cases[i].big_endian);
		ck_assert_ptr_nonnull(arch);
		ck_assert_str_eq(arch->goarch, cases[i].goarch);
	}
	ck_assert_ptr_null(gh_arch_by_letter(0, false));
	ck_assert_ptr_null(gh_arch_by_letter('x', false));
	ck_assert_ptr_null(gh_arch_by_letter(UINT64_C(0x100000036), false));
}
END_TEST

/* A file may name the same bytes as notes again and again: no more than 16 are looked at. */
START_TEST(a_build_id_is_in_one_of_the_first_notes)
{
	static uint8_t note[] = {4, 0, 0,   0,   4,   0, 0,    0,    3,    0,
				 0, 0, 'G', 'N', 'U', 0, 0x0a, 0xbc, 0xde, 0xf0};
	char path[] = "notes";
	for (size_t before = 15; before <= 17; before++) {
		GElf_Phdr segments[18] = {0};
		for (size_t i = 0; i <= before; i++)
			segments[i] = (GElf_Phdr){.p_type = PT_NOTE,
						  .p_filesz = i == before ? sizeof(note) : 0};
		struct gh_image image = {
		    .path = path,
		    .data = note,
		    .size = sizeof(note),
		    .arch = gh_arch_find(EM_X86_64, 8, false),
		    .segments = segments,
		    .nsegments = before + 1,
		};
		struct gh_buildinfo info;
		gh_buildinfo_read_ids(&info, &image);
		if (before < 16)
			ck_assert_str_eq(info.gnu_build_id, "0abcdef0");
		else
			ck_assert_ptr_null(info.gnu_build_id);
		gh_buildinfo_free(&info);
	}
}
END_TEST

/* Notes begin at multiples of 4 bytes: the Go build id's, others of that name or type, GNU's. */
START_TEST(build_ids_are_found_behind_other_notes)
{
	static const struct {
		const char *name;
		uint32_t name_size, type, size;
		const char *bytes;
	} notes[] = {
	    {"Go\0", 4, 3, 2, "no"},    {"GNU", 4, 1, 3, "no\0"},
	    {"Go\0", 4, 4, 0, ""},      {"Go\0x", 5, 4, 4, "none"},
	    {"GNU\0", 5, 3, 1, "n"},    {"GNV", 4, 3, 1, "n"},
	    {"Go\0", 4, 4, 5, "the/a"}, {"GNU", 4, 3, 3, "\x0a\xb0\xff"},
	    {"Go\0", 4, 4, 5, "the/b"}, {"GNU", 4, 3, 1, "n"},
	};
	char path[] = "notes";
	for (unsigned big_endian = 0; big_endian < 2; big_endian++) {
		uint8_t bytes[512] = {0};
		struct gh_buffer out = {
		    .data = bytes, .capacity = sizeof(bytes), .big_endian = big_endian};
		for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
			gh_buffer_u32(&out, notes[i].name_size);
			gh_buffer_u32(&out, notes[i].size);
			gh_buffer_u32(&out, notes[i].type);
			gh_buffer_bytes(&out, notes[i].name, notes[i].name_size);
			gh_buffer_align(&out, 4);
			gh_buffer_bytes(&out, notes[i].bytes, notes[i].size);
			gh_buffer_align(&out, 4);
		}
		GElf_Phdr segment = {.p_type = PT_NOTE, .p_filesz = out.size};
		struct gh_image image = {
		    .path = path,
		    .data = bytes,
		    .size = out.size,
		    .arch = gh_arch_find(EM_PPC64, 8, big_endian),
		    .segments = &segment,
		    .nsegments = 1,
		};
		struct gh_buildinfo info;
		gh_buildinfo_read_ids(&info, &image);
		ck_assert_str_eq(info.go_build_id, "the/a");
		ck_assert_str_eq(info.gnu_build_id, "0ab0ff");
		gh_buildinfo_free(&info);
	}
}
END_TEST

/* Of this program, as the loader has it in memory: what is no address. */
START_TEST(dynamic_entries_are_the_loaders)
{
	struct gh_image image;
	struct gh_error err;
	uint64_t value;
	unsigned found = 0;
	ck_assert(gh_image_open(&image, "/proc/self/exe", &err));
	for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag != DT_STRSZ && entry->d_tag != DT_SYMENT)
			continue;
		ck_assert(gh_dynamic_find(&image, (uint64_t)entry->d_tag, &value));
		ck_assert_uint_eq(value, entry->d_un.d_val);
		found++;
	}
	ck_assert_uint_eq(found, 2);
	ck_assert(!gh_dynamic_find(&image, DT_NULL, &value));
	ck_assert(!gh_dynamic_find(&image, 0x12345678, &value));
	gh_image_close(&image);
}
END_TEST

void image_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, bytes_at_an_address, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, sections_by_name, 0, FIXTURE_VARIANTS);
	tcase_add_test(tcase, what_is_no_go_program_is_told);
	tcase_add_test(tcase, a_machine_that_is_not_known_is_told);
	tcase_add_test(tcase, a_damaged_elf_header_is_told);
	tcase_add_test(tcase, segments_over_each_other_are_told);
	tcase_add_test(tcase, a_file_is_told_by_its_first_bytes);
	tcase_add_test(tcase, a_file_is_as_long_as_its_headers_say);
	tcase_add_test(tcase, machines_by_their_compilers_letters);
	tcase_add_test(tcase, dynamic_entries_are_the_loaders);
	tcase_add_test(tcase, build_ids_are_found_behind_other_notes);
	tcase_add_test(tcase, a_build_id_is_in_one_of_the_first_notes);
}
