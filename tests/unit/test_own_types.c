/* A program's own debug information, compressed or not, and where it has types. Programs' own is
 * read in the tests of twins. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/debugfile/internal.h"
#include "lib/elf/elf.h"
#include "tests/unit/suites.h"

/* Abbreviations: a unit with a constant of its own, a type of Go's, and one of C's. */
static const uint8_t abbrev[] = {
    1, 0x11, 1, 0x13, 0x0b, 0x03, 0x21, 5,    0,    0, /* compile_unit: data1, implicit_const */
    2, 0x24, 0, 0x03, 0x08, 0x80, 0x52, 0x0b, 0,    0, /* base_type: name, go_kind */
    3, 0x24, 0, 0x03, 0x08, 0,    0,                   /* base_type: name */
    4, 0x0f, 0, 0x03, 0x08, 0x80, 0x52, 0x0b, 0x49, 0x13, 0, 0, /* pointer_type: and type, a ref4 */
    0,
};

/* Two units, of DWARF 4 and 5. The first has C's int, the second Go's. */
static const uint8_t info[] = {
    21, 0,    0, 0,   4,   0,   0, 0, 0, 0,   8, /* 32-bit, version 4 */
    1,  0x16, 3, 'i', 'n', 't', 0, 0, 0, 2,   'u', 0, 1,  0,  31, 0, 0, 0, 5,   0, 1, 8, 0,
    0,  0,    0, /* version 5 */
    1,  0x16, 2, 'i', 'n', 't', 0, 2, 4, '*', 'r', 0, 22, 14, 0,  0, 0, 2, 'x', 0, 1, 0, 0,
};

static void find(struct gh_own_type types[3], const uint8_t *data, size_t size,
		 const uint8_t *table, size_t table_size)
{
	types[0] = (struct gh_own_type){.name = "int"};
	types[1] = (struct gh_own_type){.name = "*r"};
	types[2] = (struct gh_own_type){.name = "none"};
	gh_own_types_find(types, 3, gh_cursor_make(data, size, "info", 0, false),
			  gh_cursor_make(table, table_size, "abbrev", 0, false));
}

/* Where TEXT is in .debug_info from FROM on, less the entry's code. */
static size_t place_of(const char *text, size_t from)
{
	size_t length = strlen(text) + 1;
	while (memcmp(info + from, text, length) != 0)
		from++;
	return from - 1;
}

START_TEST(types_of_go_are_found)
{
	struct gh_own_type types[3];
	find(types, info, sizeof(info), abbrev, sizeof(abbrev));
	ck_assert_uint_eq(types[0].offset, place_of("int", 20));
	ck_assert_uint_eq(types[1].offset, place_of("*r", 20));
	ck_assert_uint_eq(types[2].offset, 0);
}
END_TEST

/* Whatever is cut off or changed, what is found lies in the section. Each copy has no byte more
 * than it is to have. */
START_TEST(damage_is_survived)
{
	struct gh_own_type types[3];
	for (size_t size = 0; size <= sizeof(info); size++) {
		uint8_t *copy = malloc(size + 1);
		memcpy(copy, info, size);
		find(types, copy, size, abbrev, sizeof(abbrev));
		for (int i = 0; i < 3; i++)
			ck_assert_uint_lt(types[i].offset, size + 1);
		free(copy);
	}
	for (size_t at = 0; at < sizeof(abbrev); at++) {
		for (unsigned value = 0; value < 256; value++) {
			uint8_t copy[sizeof(abbrev)];
			memcpy(copy, abbrev, sizeof(abbrev));
			copy[at] = (uint8_t)value;
			find(types, info, sizeof(info), copy, sizeof(copy));
			find(types, info, sizeof(info), copy, at);
			ck_assert_uint_lt(types[0].offset, sizeof(info));
		}
	}
	for (size_t at = 0; at < sizeof(info); at++) {
		for (unsigned value = 0; value < 256; value++) {
			uint8_t copy[sizeof(info)];
			memcpy(copy, info, sizeof(info));
			copy[at] = (uint8_t)value;
			find(types, copy, sizeof(copy), abbrev, sizeof(abbrev));
			ck_assert_uint_lt(types[0].offset, sizeof(info));
		}
	}
}
END_TEST

/* Reads SIZE bytes at DATA as a section called NAME with FLAGS. */
static bool read_section(struct gh_buffer *out, uint8_t *data, size_t size, const char *name,
			 uint64_t flags)
{
	struct gh_image image = {
	    .path = "image", .data = data, .size = size, .arch = gh_arch_by_name("amd64")};
	struct gh_section section = {
	    .name = name, .header = {.sh_type = SHT_PROGBITS, .sh_flags = flags, .sh_size = size}};
	*out = (struct gh_buffer){0};
	return gh_debug_section_read(&image, &section, out);
}

START_TEST(sections_are_uncompressed)
{
	uint8_t data[256];
	struct gh_buffer out;
	uLongf size = sizeof(data) - sizeof(Elf64_Chdr);
	Elf64_Chdr header = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = sizeof(info)};
	ck_assert_int_eq(compress(data + sizeof(header), &size, info, sizeof(info)), Z_OK);
	memcpy(data, &header, sizeof(header));
	ck_assert(read_section(&out, data, sizeof(header) + size, ".debug_info", SHF_COMPRESSED));
	ck_assert_mem_eq(out.data, info, sizeof(info));
	ck_assert_uint_eq(out.size, sizeof(info));
	gh_buffer_free(&out);
	/* Neither cut off nor of another size, nor by something else. */
	ck_assert(
	    !read_section(&out, data, sizeof(header) + size / 2, ".debug_info", SHF_COMPRESSED));
	gh_buffer_free(&out);
	ck_assert(!read_section(&out, data, 3, ".debug_info", SHF_COMPRESSED));
	gh_buffer_free(&out);
	header.ch_size = UINT64_MAX / 2;
	memcpy(data, &header, sizeof(header));
	ck_assert(!read_section(&out, data, sizeof(header) + size, ".debug_info", SHF_COMPRESSED));
	gh_buffer_free(&out);
	header = (Elf64_Chdr){.ch_type = 99, .ch_size = sizeof(info)};
	memcpy(data, &header, sizeof(header));
	ck_assert(!read_section(&out, data, sizeof(header) + size, ".debug_info", SHF_COMPRESSED));
	gh_buffer_free(&out);
	/* The older way. */
	size = sizeof(data) - 12;
	memcpy(data, "ZLIB\0\0\0\0\0\0\0", 11);
	data[11] = sizeof(info);
	ck_assert_int_eq(compress(data + 12, &size, info, sizeof(info)), Z_OK);
	ck_assert(read_section(&out, data, 12 + size, ".zdebug_info", 0));
	ck_assert_mem_eq(out.data, info, sizeof(info));
	gh_buffer_free(&out);
	ck_assert(read_section(&out, data, 12 + size, ".debug_info", 0));
	ck_assert_uint_eq(out.size, 12 + size);
	gh_buffer_free(&out);
}
END_TEST

void own_types_tests(TCase *tcase)
{
	tcase_add_test(tcase, types_of_go_are_found);
	tcase_add_test(tcase, damage_is_survived);
	tcase_add_test(tcase, sections_are_uncompressed);
}
