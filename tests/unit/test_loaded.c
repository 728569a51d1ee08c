/* Programs made again from the memory of a process. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "lib/elf/elf.h"
#include "tests/unit/bytes.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define BIAS 0x200000

/* What linkers do and the synthetic program does not: the text's segment begins with the headers.
 */
static void map_headers(struct fixture *fixture, int number)
{
	struct synthetic what = fixture_variant(number);
	bool is64 = what.word == 8;
	uint64_t skip = fixture->image.segments[0].p_offset;
	uint64_t address = SYNTHETIC_TEXT - skip;
	uint64_t size = fixture->image.segments[0].p_filesz + skip;
	const struct {
		unsigned at;
		uint64_t value;
	} fields[] = {
	    {is64 ? 64 + 8 : 52 + 4, 0},
	    {is64 ? 64 + 16 : 52 + 8, address},
	    {is64 ? 64 + 32 : 52 + 16, size},
	    {is64 ? 64 + 40 : 52 + 20, size},
	};
	for (unsigned i = 0; i < 4; i++)
		bytes_store(fixture->data + fields[i].at, fields[i].value, what.word,
			    what.big_endian);
	struct gh_error err;
	gh_image_close(&fixture->image);
	ck_assert_msg(
	    gh_image_open_memory(&fixture->image, fixture->data, fixture->size, "synthetic", &err),
	    "%s", err.text);
}

static bool read_fixture(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	const struct fixture *fixture = memory->from;
	struct gh_cursor cur;
	if (!gh_image_at(&fixture->image, address - BIAS, &cur) || gh_cursor_left(&cur) < size)
		return false;
	memcpy(to, cur.pos, size);
	return true;
}

static uint64_t start_of(const struct fixture *fixture)
{
	return fixture->image.segments[0].p_vaddr + BIAS;
}

/* The first bytes of the file. */
static void copy_headers(const struct fixture *fixture, uint8_t bytes[GH_LOADED_HEADERS])
{
	memset(bytes, 0, GH_LOADED_HEADERS);
	memcpy(bytes, fixture->data,
	       fixture->size < GH_LOADED_HEADERS ? fixture->size : GH_LOADED_HEADERS);
}

START_TEST(the_same_program_at_its_addresses)
{
	struct fixture fixture;
	uint8_t bytes[GH_LOADED_HEADERS];
	struct gh_loaded loaded;
	struct gh_error err;
	uint8_t *data;
	size_t size;
	fixture_open(&fixture, _i);
	map_headers(&fixture, _i);
	copy_headers(&fixture, bytes);
	struct gh_memory memory = {.read = read_fixture, .from = &fixture, .size = fixture.size};
	ck_assert_msg(gh_loaded_open(&loaded, bytes, start_of(&fixture), "memory", &err), "%s",
		      err.text);
	ck_assert_uint_eq(loaded.bias, BIAS);
	ck_assert_msg(gh_loaded_make(&loaded, &memory, &data, &size, &err), "%s", err.text);

	struct gh_image image;
	ck_assert_msg(gh_image_open_memory(&image, data, size, "made", &err), "%s", err.text);
	ck_assert_uint_eq(image.header.e_type, ET_EXEC);
	ck_assert_uint_eq(image.header.e_entry, fixture.image.header.e_entry + BIAS);
	ck_assert_uint_eq(image.nsections, 0);
	ck_assert_uint_eq(image.nloads, fixture.image.nloads);
	for (size_t i = 0; i < image.nloads; i++) {
		const GElf_Phdr *load = fixture.image.loads[i];
		struct gh_cursor cur;
		ck_assert_uint_eq(image.loads[i]->p_vaddr, load->p_vaddr + BIAS);
		ck_assert(gh_image_at(&image, load->p_vaddr + BIAS, &cur));
		ck_assert_uint_eq(gh_cursor_left(&cur), load->p_filesz);
		/* The headers have changed. */
		uint64_t skip = load->p_offset == 0 ? GH_LOADED_HEADERS : 0;
		if (skip < load->p_filesz)
			ck_assert_mem_eq(cur.pos + skip, fixture.data + load->p_offset + skip,
					 load->p_filesz - skip);
	}
	gh_image_close(&image);
	free(data);
	gh_loaded_close(&loaded);
	fixture_close(&fixture);
}
END_TEST

static bool read_nothing(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	(void)memory;
	(void)address;
	(void)to;
	(void)size;
	return false;
}

START_TEST(missing_memory_is_told)
{
	struct fixture fixture;
	uint8_t bytes[GH_LOADED_HEADERS];
	struct gh_loaded loaded;
	struct gh_error err;
	uint8_t *data;
	size_t size;
	fixture_open(&fixture, 0);
	map_headers(&fixture, 0);
	copy_headers(&fixture, bytes);
	struct gh_memory memory = {.read = read_nothing, .from = NULL, .size = fixture.size};
	ck_assert(gh_loaded_open(&loaded, bytes, start_of(&fixture), "memory", &err));
	ck_assert(!gh_loaded_make(&loaded, &memory, &data, &size, &err));
	ck_assert_str_eq(err.text, "memory: expected the program's segments in memory, found none "
				   "at 0x600000");
	gh_loaded_close(&loaded);
	fixture_close(&fixture);
}
END_TEST

/* The headers say where the file ends, and what they say may be anything. */
START_TEST(extent_of_the_headers)
{
	struct fixture fixture;
	fixture_open(&fixture, _i);
	uint64_t end = 0;
	for (size_t i = 0; i < fixture.image.nsections; i++) {
		const GElf_Shdr *section = &fixture.image.sections[i].header;
		if (section->sh_type != SHT_NOBITS && section->sh_offset + section->sh_size > end)
			end = section->sh_offset + section->sh_size;
	}
	uint64_t extent = gh_elf_extent(fixture.data, fixture.size);
	ck_assert_uint_ge(extent, end);
	ck_assert_uint_le(extent, fixture.size);
	ck_assert_uint_ge(gh_elf_extent(fixture.data, 1024),
			  fixture.image.segments[0].p_offset + fixture.image.segments[0].p_filesz);
	for (size_t i = 0; i < 512; i++)
		gh_elf_extent(fixture.data, i);
	ck_assert_uint_eq(gh_elf_extent((const uint8_t *)"no ELF file", 11), 0);
	fixture_close(&fixture);
}
END_TEST

/* More is asked for than there can be: nothing is read. */
START_TEST(huge_segments)
{
	struct fixture fixture;
	uint8_t bytes[GH_LOADED_HEADERS];
	struct gh_loaded loaded;
	struct gh_error err;
	uint8_t *data;
	size_t size;
	fixture_open(&fixture, 0);
	map_headers(&fixture, 0);
	copy_headers(&fixture, bytes);
	struct gh_memory memory = {.read = read_fixture, .from = &fixture, .size = fixture.size};
	for (unsigned bit = 33; bit < 64; bit++) {
		uint64_t value = UINT64_C(1) << bit;
		memcpy(bytes + 64 + 32, &value, sizeof(value));
		ck_assert(gh_loaded_open(&loaded, bytes, start_of(&fixture), "memory", &err));
		ck_assert_uint_ge(gh_loaded_size(&loaded), value);
		ck_assert(!gh_loaded_make(&loaded, &memory, &data, &size, &err));
		gh_loaded_close(&loaded);
	}
	fixture_close(&fixture);
}
END_TEST

/* The program's headers, with changes, and what is told of them. */
static void check_refused(struct fixture *fixture, const uint8_t bytes[GH_LOADED_HEADERS],
			  uint64_t most, const char *expected)
{
	struct gh_loaded loaded;
	struct gh_error err;
	uint8_t *data;
	size_t size;
	struct gh_memory memory = {.read = read_fixture, .from = fixture, .size = most};
	ck_assert(gh_loaded_open(&loaded, bytes, start_of(fixture), "memory", &err));
	ck_assert(!gh_loaded_make(&loaded, &memory, &data, &size, &err));
	ck_assert_str_eq(err.text, expected);
	gh_loaded_close(&loaded);
}

/* Where the headers have a field of a segment. */
#define SEGMENT_FIELD(number, field)                                                               \
	(sizeof(Elf64_Ehdr) + (number) * sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, field))

/* The segments have 0x1080, 0x700 and 0x300 bytes, together 6784. */
START_TEST(what_is_wrong_with_segments_is_told)
{
	struct fixture fixture;
	uint8_t bytes[GH_LOADED_HEADERS];
	fixture_open(&fixture, 0);
	map_headers(&fixture, 0);
	copy_headers(&fixture, bytes);
	check_refused(&fixture, bytes, 6783,
		      "memory: expected the program's segments in memory, found headers that give "
		      "them 6784 bytes, of at most 6783");
	/* Their end, with 64 KiB for each, is at 6784 + 3 * 65536, the last one's size before that
	 * at 0x31780. */
	memcpy(bytes + SEGMENT_FIELD(2, p_offset), "\x81\x17\x03\0\0\0\0", 8);
	check_refused(&fixture, bytes, 6784,
		      "memory: expected segments one after the other in the program's file, found "
		      "a segment of 768 bytes at offset 0x31781");
	memset(bytes + SEGMENT_FIELD(2, p_offset), 0xff, 8);
	check_refused(&fixture, bytes, 6784,
		      "memory: expected segments one after the other in the program's file, found "
		      "a segment of 768 bytes at offset 0xffffffffffffffff");
	/* One byte less than the headers are. */
	memset(bytes + SEGMENT_FIELD(1, p_filesz), 0, 8);
	memset(bytes + SEGMENT_FIELD(2, p_filesz), 0, 8);
	memcpy(bytes + SEGMENT_FIELD(0, p_filesz), "\xff\x0f\0\0\0\0\0", 8);
	check_refused(&fixture, bytes, 6784,
		      "memory: expected segments with a program, found 4095 bytes");
	fixture_close(&fixture);
}
END_TEST

START_TEST(headers_that_are_in_no_segment_are_told)
{
	struct fixture fixture;
	uint8_t bytes[GH_LOADED_HEADERS];
	struct gh_loaded loaded;
	struct gh_error err;
	fixture_open(&fixture, _i);
	copy_headers(&fixture, bytes);
	ck_assert(!gh_loaded_open(&loaded, bytes, start_of(&fixture), "memory", &err));
	ck_assert_str_eq(err.text, "memory: expected a segment with the headers, found none");
	fixture_close(&fixture);
}
END_TEST

/* A core file's notes of where the program's headers are, and a segment without them. */
START_TEST(a_core_file_without_the_headers_is_told)
{
	struct {
		Elf64_Nhdr note;
		char name[8];
		uint32_t auxv[8]; /* of words of 8 bytes */
	} notes = {
	    {5, sizeof(notes.auxv), NT_AUXV}, "CORE", {AT_PHENT, 0, 56, 0, AT_NULL, 0, 0x400040}};
	char path[] = "core";
	GElf_Phdr segment = {.p_type = PT_NOTE, .p_filesz = sizeof(notes)};
	const struct gh_image core = {
	    .path = path,
	    .data = (uint8_t *)&notes,
	    .size = sizeof(notes),
	    .arch = gh_arch_find(EM_X86_64, 8, false),
	    .segments = &segment,
	    .nsegments = 1,
	};
	struct gh_loaded loaded;
	struct gh_error err;
	ck_assert(!gh_core_loaded(&loaded, &core, &err));
	ck_assert_str_eq(err.text, "core: expected where the program's headers are in memory, "
				   "found no AT_PHDR");
	notes.auxv[4] = AT_PHDR;
	ck_assert(!gh_core_loaded(&loaded, &core, &err));
	ck_assert_str_eq(err.text, "core: expected the program's headers in memory, found none at "
				   "0x400000");
}
END_TEST

/* Headers with any byte changed: no file larger than the memory there is comes of them. */
START_TEST(damaged_headers)
{
	struct fixture fixture;
	uint8_t bytes[GH_LOADED_HEADERS];
	struct gh_error err;
	fixture_open(&fixture, _i);
	map_headers(&fixture, _i);
	struct gh_memory memory = {.read = read_fixture, .from = &fixture, .size = fixture.size};
	for (size_t i = 0; i < 64 + 3 * 56; i++) {
		for (unsigned value = 0; value < 256; value += 51) {
			struct gh_loaded loaded;
			uint8_t *data;
			size_t size;
			copy_headers(&fixture, bytes);
			bytes[i] = (uint8_t)value;
			if (!gh_loaded_open(&loaded, bytes, start_of(&fixture), "memory", &err))
				continue;
			if (gh_loaded_make(&loaded, &memory, &data, &size, &err)) {
				if (size > fixture.size + 3 * 0x10000)
					ck_abort_msg("byte %zu: %zu bytes", i, size);
				free(data);
			}
			gh_loaded_close(&loaded);
		}
	}
	fixture_close(&fixture);
}
END_TEST

void loaded_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, the_same_program_at_its_addresses, 0, FIXTURE_VARIANTS);
	tcase_add_test(tcase, missing_memory_is_told);
	tcase_add_loop_test(tcase, extent_of_the_headers, 0, FIXTURE_VARIANTS);
	tcase_add_test(tcase, huge_segments);
	tcase_add_loop_test(tcase, damaged_headers, 0, 4);
	tcase_add_test(tcase, what_is_wrong_with_segments_is_told);
	tcase_add_loop_test(tcase, headers_that_are_in_no_segment_are_told, 0, 4);
	tcase_add_test(tcase, a_core_file_without_the_headers_is_told);
}
