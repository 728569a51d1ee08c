/* The debug file of synthetic programs; its contents are compared with real twins elsewhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/debugfile/internal.h"
#include "lib/elf/elf_writer.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

/* The section called NAME of ELF, with its header; NULL if there is none. */
static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *header)
{
	size_t names;
	ck_assert_int_eq(elf_getshdrstrndx(elf, &names), 0);
	Elf_Scn *section = NULL;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		gelf_getshdr(section, header);
		if (strcmp(elf_strptr(elf, names, header->sh_name), name) == 0)
			return section;
	}
	return NULL;
}

START_TEST(symbols_are_the_functions)
{
	static const struct {
		const char *name;
		uint64_t entry, size;
	} expected[] = {
	    {"main.main", 0, 0x40}, {"main.leaf", 0x50, 0x18}, {"runtime.goexit", 0x70, 8}};
	struct fixture fixture;
	fixture_open(&fixture, _i);
	uint8_t *data;
	size_t size;
	struct gh_error err;
	ck_assert_msg(gh_debugfile_make(&fixture.tab, NULL, &data, &size, &err), "%s", err.text);
	Elf *elf = elf_memory((char *)data, size);
	GElf_Shdr header;
	Elf_Scn *section = find_section(elf, ".symtab", &header);
	ck_assert_ptr_nonnull(section);
	Elf_Data *symbols = elf_getdata(section, NULL);
	int locals = (int)header.sh_info;
	bool found_leaf = false, found_end = false;
	ck_assert_uint_eq(header.sh_size / header.sh_entsize, (unsigned)locals + 3);
	for (int i = 0; i < 3; i++) {
		GElf_Sym symbol;
		gelf_getsym(symbols, locals + i, &symbol);
		ck_assert_str_eq(elf_strptr(elf, header.sh_link, symbol.st_name), expected[i].name);
		ck_assert_uint_eq(symbol.st_value, SYNTHETIC_TEXT + expected[i].entry);
		ck_assert_uint_eq(symbol.st_size, expected[i].size);
		ck_assert_uint_eq(GELF_ST_TYPE(symbol.st_info), STT_FUNC);
		ck_assert_uint_ne(symbol.st_shndx, SHN_UNDEF);
	}
	for (int i = 1; i < locals; i++) {
		GElf_Sym symbol;
		gelf_getsym(symbols, i, &symbol);
		const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
		if (strcmp(name, "runtime.etext") == 0) {
			ck_assert_uint_eq(symbol.st_value,
					  SYNTHETIC_TEXT + expected[2].entry + expected[2].size);
			found_end = true;
			continue;
		}
		/* The function "small" is inlined. */
		ck_assert_msg(strcmp(name, "leaf") == 0 || strcmp(name, "goexit") == 0 ||
				  strcmp(name, "small") == 0,
			      "%s", name);
		bool is_leaf = symbol.st_value == SYNTHETIC_TEXT + expected[1].entry;
		ck_assert_int_eq(is_leaf, strcmp(name, "leaf") == 0);
		ck_assert_uint_eq(symbol.st_size, 0);
		found_leaf |= is_leaf;
	}
	ck_assert(found_leaf && found_end);
	static const char *const wanted[] = {".debug_info", ".debug_abbrev", ".debug_line",
					     ".debug_aranges", ".debug_frame"};
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		ck_assert_msg(find_section(elf, wanted[i], &header) != NULL, "%s", wanted[i]);
	elf_end(elf);
	free(data);
	fixture_close(&fixture);
}
END_TEST

START_TEST(a_file_is_written_whole_or_not_at_all)
{
	struct fixture fixture;
	fixture_open(&fixture, 0);
	char directory[] = "/tmp/goheap-test-XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(directory));
	char path[64];
	snprintf(path, sizeof(path), "%s/out.debug", directory);
	struct gh_error err;
	ck_assert_msg(gh_debugfile_write(&fixture.tab, NULL, GH_FOR_GDB, path, &err), "%s",
		      err.text);
	struct stat st;
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(unlink(path), 0);
	/* A directory cannot be renamed over; nothing else may be left. */
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert(!gh_debugfile_write(&fixture.tab, NULL, GH_FOR_GDB, path, &err));
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(rmdir(directory), 0);
	ck_assert(!gh_debugfile_write(&fixture.tab, NULL, GH_FOR_GDB, path, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "No such file or directory"));
	fixture_close(&fixture);
}
END_TEST

START_TEST(too_many_functions_are_told)
{
	struct fixture fixture;
	struct gh_packages packages;
	struct gh_error err;
	fixture_open(&fixture, 0);
	fixture.tab.nfunc = UINT32_MAX;
	ck_assert(!gh_packages_find(&packages, &fixture.tab, &err));
	ck_assert_str_eq(err.text, "synthetic: expected fewer than 2^32 - 1 functions, found "
				   "4294967295");
	fixture_close(&fixture);
}
END_TEST

/* Has COUNT sections, the names' included, appended to IMAGE; what is written is thrown away. */
static bool append_sections(const struct gh_image *image, size_t count, struct gh_error *err)
{
	struct gh_elf elf = {0};
	FILE *out = tmpfile();
	for (size_t i = 1; i < count; i++)
		ck_assert_ptr_nonnull(gh_elf_add(&elf, "", SHT_NULL, 0));
	bool appended = gh_elf_append(&elf, image, count - 1, fileno(out), "out", err);
	fclose(out);
	gh_elf_free(&elf);
	return appended;
}

/* Opens the program of FIXTURE_VARIANT as a file of its own, whose name is PATH. */
static void open_as_file(struct gh_image *image, int variant, char *path)
{
	struct fixture fixture;
	struct gh_error err;
	fixture_open(&fixture, variant);
	fixture_write(&fixture, path);
	fixture_close(&fixture);
	ck_assert_msg(gh_image_open(image, path, &err), "%s", err.text);
}

/* ERR is "PATH: TEXT". */
static void check_error(const struct gh_error *err, const char *path, const char *text)
{
	char expected[160];
	snprintf(expected, sizeof(expected), "%s: %s", path, text);
	ck_assert_str_eq(err->text, expected);
}

START_TEST(too_many_sections_are_told)
{
	char path[] = "/tmp/goheap-test-XXXXXX";
	struct gh_image image;
	struct gh_error err;
	open_as_file(&image, 0, path);
	ck_assert(append_sections(&image, SHN_LORESERVE - 1, &err));
	ck_assert(!append_sections(&image, SHN_LORESERVE, &err));
	check_error(&err, path, "expected fewer sections than 65280, found 65280");
	gh_image_close(&image);
	unlink(path);
}
END_TEST

/* What is added are the names, padded to 16 bytes, and two headers of 40 bytes each. */
START_TEST(a_file_of_4_gib_is_told)
{
	char path[] = "/tmp/goheap-test-XXXXXX";
	struct gh_image image;
	struct gh_error err;
	open_as_file(&image, 1, path);
	size_t size = image.size;
	image.size = UINT32_MAX - 15 - 96;
	ck_assert(append_sections(&image, 2, &err));
	image.size += 16;
	ck_assert(!append_sections(&image, 2, &err));
	check_error(&err, path,
		    "expected symbols with which the file stays below 4 GiB, found more");
	image.size = size;
	gh_image_close(&image);
	unlink(path);
}
END_TEST

START_TEST(a_program_that_has_changed_is_told)
{
	char path[] = "/tmp/goheap-test-XXXXXX";
	struct gh_image image;
	struct gh_error err;
	open_as_file(&image, 0, path);
	ck_assert_int_eq(truncate(path, (off_t)image.size + 1), 0);
	ck_assert(!append_sections(&image, 2, &err));
	check_error(
	    &err, path,
	    "expected the file as it was opened, found it has changed meanwhile: try again");
	gh_image_close(&image);
	unlink(path);
}
END_TEST

/* Where a program's only segment has a note at offset AT of it, the section that is made up from
 * the segment begins there; offsets in bytes. */
static uint64_t section_behind_note(uint64_t at)
{
	GElf_Phdr segments[] = {
	    {.p_type = PT_LOAD,
	     .p_flags = PF_R | PF_X,
	     .p_vaddr = 0x400000,
	     .p_filesz = 0x3000,
	     .p_memsz = 0x3000},
	    {.p_type = PT_NOTE, .p_vaddr = 0x400000 + at, .p_filesz = 0x20, .p_memsz = 0x20}};
	const struct gh_image image = {.path = "program", .segments = segments, .nsegments = 2};
	struct gh_skeleton skeleton;
	struct gh_elf elf;
	struct gh_error err;
	ck_assert_msg(gh_skeleton_make(&skeleton, &elf, &image, false, &err), "%s", err.text);
	ck_assert_uint_eq(elf.sections.count, 3);
	const GElf_Shdr header = elf.sections.items[1].header;
	ck_assert_uint_eq(header.sh_addr + header.sh_size, 0x403000);
	gh_skeleton_free(&skeleton);
	gh_elf_free(&elf);
	return header.sh_addr - 0x400000;
}

START_TEST(notes_of_the_first_page_are_no_code)
{
	ck_assert_uint_eq(section_behind_note(0x40), 0x60);
	ck_assert_uint_eq(section_behind_note(0xfff), 0x101f);
	ck_assert_uint_eq(section_behind_note(0x1000), 0);
	/* Below the segment. */
	ck_assert_uint_eq(section_behind_note((uint64_t)-0x40), 0);
}
END_TEST

void debugfile_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, symbols_are_the_functions, 0, FIXTURE_VARIANTS);
	tcase_add_test(tcase, a_file_is_written_whole_or_not_at_all);
	tcase_add_test(tcase, too_many_functions_are_told);
	tcase_add_test(tcase, too_many_sections_are_told);
	tcase_add_test(tcase, a_file_of_4_gib_is_told);
	tcase_add_test(tcase, a_program_that_has_changed_is_told);
	tcase_add_test(tcase, notes_of_the_first_page_are_no_code);
}
