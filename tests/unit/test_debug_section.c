/* Sections of debug information: by which names they are found, and how they are unpacked. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/elf/elf.h"
#include "tests/unit/bytes.h"
#include "tests/unit/suites.h"

#define TEXT "what the section holds, what the section holds, what the section holds"

/* A file of mips, which has both sizes of words and both byte orders, that is the contents of its
 * one section. */
struct made_file {
	unsigned word;
	bool big_endian;
	uint8_t bytes[1024];
	size_t size;
	struct gh_section sections[2];
	struct gh_image image;
};

/* Variant NUMBER has words of 4 bytes if bit 0 is set, and is big-endian if bit 1 is. */
static void start(struct made_file *file, int number, const char *name)
{
	static char path[] = "made";
	*file = (struct made_file){.word = number & 1 ? 4 : 8, .big_endian = number & 2};
	file->sections[0].name = ".debug_null";
	file->sections[1].name = name;
	file->sections[1].header.sh_type = SHT_PROGBITS;
	file->image = (struct gh_image){
	    .path = path,
	    .data = file->bytes,
	    .arch = gh_arch_find(EM_MIPS, (uint8_t)file->word, file->big_endian),
	    .sections = file->sections,
	    .nsections = 2,
	};
	file->image.header.e_ident[EI_DATA] = file->big_endian ? ELFDATA2MSB : ELFDATA2LSB;
}

static void put(struct made_file *file, uint64_t value, unsigned size, bool big_endian)
{
	bytes_store(file->bytes + file->size, value, size, big_endian);
	file->size += size;
}

/* Appends what zlib makes of SIZE bytes, and gives its length. */
static size_t put_compressed(struct made_file *file, const void *data, size_t size)
{
	uLongf length = sizeof(file->bytes) - file->size;
	ck_assert_int_eq(compress(file->bytes + file->size, &length, data, size), Z_OK);
	file->size += length;
	return length;
}

/* Elf32_Chdr or Elf64_Chdr. */
static void put_chdr(struct made_file *file, uint32_t type, uint64_t size)
{
	file->sections[1].header.sh_flags = SHF_COMPRESSED;
	put(file, type, 4, file->big_endian);
	if (file->word == 8)
		put(file, 0x5a5a5a5a, 4, file->big_endian); /* reserved */
	put(file, size, file->word, file->big_endian);
	put(file, 1, file->word, file->big_endian); /* alignment */
}

/* What is read of the section after "before" is the SIZE bytes at EXPECTED; NULL: it cannot be. */
static void check(struct made_file *file, const void *expected, size_t size)
{
	struct gh_buffer out = {0};
	file->image.size = file->size;
	file->sections[1].header.sh_size = file->size;
	gh_buffer_bytes(&out, "before", 6);
	bool read = gh_debug_section_read(&file->image, &file->sections[1], &out);
	ck_assert_int_eq(read, expected != NULL);
	if (expected != NULL) {
		ck_assert_uint_eq(out.size, 6 + size);
		ck_assert_mem_eq(out.data, "before", 6);
		ck_assert_mem_eq(out.data + 6, expected, size);
	}
	gh_buffer_free(&out);
}

START_TEST(a_debug_section_has_one_of_two_names)
{
	static const struct {
		const char *name;
		bool found;
	} cases[] = {
	    {".debug_info", true},   {".zdebug_info", true},  {"debug_info", false},
	    {"_debug_info", false},  {".xdebug_info", false}, {".debug_inf", false},
	    {".debug_info2", false}, {"zdebug_info", false},  {"", false},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_file file;
		start(&file, 0, cases[i].name);
		const struct gh_section *found = gh_debug_section(&file.image, "debug_info");
		ck_assert_ptr_eq(found, cases[i].found ? &file.sections[1] : NULL);
		/* Section 0 is none. */
		ck_assert_ptr_null(gh_debug_section(&file.image, "debug_null"));
	}
}
END_TEST

START_TEST(a_section_that_is_not_compressed_is_as_it_is)
{
	struct made_file file;
	start(&file, _i, ".debug_info");
	check(&file, "", 0);
	memcpy(file.bytes, TEXT, sizeof(TEXT));
	file.size = sizeof(TEXT);
	check(&file, TEXT, sizeof(TEXT));
	file.sections[1].header.sh_offset = 1;
	check(&file, NULL, 0);
	file.sections[1].header.sh_offset = 0;
	file.sections[1].header.sh_type = SHT_NOBITS;
	check(&file, NULL, 0);
}
END_TEST

START_TEST(a_compressed_section_begins_with_its_size)
{
	struct made_file file;
	start(&file, _i, ".debug_info");
	put_chdr(&file, ELFCOMPRESS_ZLIB, sizeof(TEXT));
	put_compressed(&file, TEXT, sizeof(TEXT));
	check(&file, TEXT, sizeof(TEXT));
	file.size--;
	check(&file, NULL, 0);
	/* By zstd. */
	start(&file, _i, ".debug_info");
	put_chdr(&file, 2, sizeof(TEXT));
	put_compressed(&file, TEXT, sizeof(TEXT));
	check(&file, NULL, 0);
	/* Of another size than it says. */
	for (int more = -1; more <= 1; more += 2) {
		start(&file, _i, ".debug_info");
		put_chdr(&file, ELFCOMPRESS_ZLIB, (uint64_t)((int)sizeof(TEXT) + more));
		put_compressed(&file, TEXT, sizeof(TEXT));
		check(&file, NULL, 0);
	}
	/* No more than its header, or not all of that. */
	start(&file, _i, ".debug_info");
	put_chdr(&file, ELFCOMPRESS_ZLIB, 0);
	file.size--;
	check(&file, NULL, 0);
}
END_TEST

/* The name alone says so, and the size is big-endian everywhere: "ZLIB" and 8 bytes, as binutils
 * wrote it. */
START_TEST(a_compressed_section_of_old_has_a_name_of_its_own)
{
	struct made_file file;
	start(&file, _i, ".zdebug_info");
	memcpy(file.bytes, "ZLIB", 4);
	file.size = 4;
	put(&file, sizeof(TEXT), 8, true);
	put_compressed(&file, TEXT, sizeof(TEXT));
	check(&file, TEXT, sizeof(TEXT));
	file.bytes[3] = 'C';
	check(&file, NULL, 0);
	file.bytes[3] = 'B';
	file.size = 11;
	check(&file, NULL, 0);
	file.size = 3;
	check(&file, NULL, 0);
}
END_TEST

/* More than 32 times its size is taken for crafted, and nothing is made of it. */
START_TEST(a_section_is_at_most_so_much_larger_than_it_was_compressed)
{
	static const uint8_t zeros[4096];
	struct made_file file;
	bool both[2] = {false};
	for (size_t size = 32; size <= sizeof(zeros); size += 32) {
		start(&file, _i, ".debug_info");
		put_chdr(&file, ELFCOMPRESS_ZLIB, size);
		size_t length = put_compressed(&file, zeros, size);
		check(&file, size / 32 <= length ? zeros : NULL, size);
		both[size / 32 <= length] = true;
	}
	ck_assert(both[0] && both[1]);
}
END_TEST

void debug_section_tests(TCase *tests)
{
	tcase_add_test(tests, a_debug_section_has_one_of_two_names);
	tcase_add_loop_test(tests, a_section_that_is_not_compressed_is_as_it_is, 0, 4);
	tcase_add_loop_test(tests, a_compressed_section_begins_with_its_size, 0, 4);
	tcase_add_loop_test(tests, a_compressed_section_of_old_has_a_name_of_its_own, 0, 4);
	tcase_add_loop_test(tests, a_section_is_at_most_so_much_larger_than_it_was_compressed, 0,
			    4);
}
