/* Core files made byte by byte: their notes, and the memory of the process. */
#include <string.h>
#include <sys/auxv.h>

#include "lib/elf/elf.h"
#include "tests/unit/bytes.h"
#include "tests/unit/suites.h"

enum {
	MEMORY = 0x400, /* offset in the file of what the segments have */
	CORE_SIZE = 0x600,
	SEGMENTS = 6,
};

/* The core file of a process on mips, which has both sizes of words and both byte orders. */
struct core {
	unsigned word;
	bool big_endian;
	uint8_t bytes[CORE_SIZE];
	size_t size; /* of the notes so far */
	GElf_Phdr segments[SEGMENTS];
	const GElf_Phdr *loads[SEGMENTS];
	struct gh_image image;
};

static void put(struct core *core, uint64_t value, unsigned size)
{
	bytes_store(core->bytes + core->size, value, size, core->big_endian);
	core->size += size;
}

/* A note whose contents are SIZE bytes of this VALUE. */
static void put_note(struct core *core, const char *name, unsigned name_size, uint32_t type,
		     unsigned size, uint8_t value)
{
	put(core, name_size, 4);
	put(core, size, 4);
	put(core, type, 4);
	memcpy(core->bytes + core->size, name, name_size);
	core->size += (name_size + 3) / 4 * 4;
	memset(core->bytes + core->size, value, size);
	core->size += (size + 3) / 4 * 4;
}

static void put_auxv(struct core *core, unsigned count, const uint64_t *words)
{
	put_note(core, "CORE", 5, NT_AUXV, count * core->word, 0);
	core->size -= count * core->word;
	for (unsigned i = 0; i < count; i++)
		put(core, words[i], core->word);
}

/* Variant NUMBER has words of 4 bytes if bit 0 is set, and is big-endian if bit 1 is. */
static void start(struct core *core, int number)
{
	static char path[] = "core";
	/* Two segments side by side, none of the memory between, one of another offset, one that is
	 * not in the file, and one that is cut off after 0x80 bytes. */
	static const GElf_Phdr loads[SEGMENTS - 1] = {
	    {.p_type = PT_LOAD, .p_offset = MEMORY, .p_vaddr = 0x1000, .p_filesz = 0x100},
	    {.p_type = PT_LOAD, .p_offset = MEMORY + 0x100, .p_vaddr = 0x1100, .p_filesz = 0x40},
	    {.p_type = PT_LOAD, .p_offset = MEMORY + 0x140, .p_vaddr = 0x3000, .p_filesz = 0x40},
	    {.p_type = PT_LOAD, .p_offset = MEMORY, .p_vaddr = 0x4000, .p_memsz = 0x40},
	    {.p_type = PT_LOAD, .p_offset = MEMORY + 0x180, .p_vaddr = 0x5000, .p_filesz = 0x90},
	};
	*core = (struct core){.word = number & 1 ? 4 : 8, .big_endian = number & 2};
	core->image = (struct gh_image){
	    .path = path,
	    .data = core->bytes,
	    .size = CORE_SIZE,
	    .arch = gh_arch_find(EM_MIPS, (uint8_t)core->word, core->big_endian),
	    .segments = core->segments,
	    .nsegments = SEGMENTS,
	    .loads = core->loads,
	    .nloads = SEGMENTS - 1,
	};
	core->image.header.e_ident[EI_DATA] = core->big_endian ? ELFDATA2MSB : ELFDATA2LSB;
	for (unsigned i = 0; i + 1 < SEGMENTS; i++) {
		core->segments[i + 1] = loads[i];
		core->loads[i] = &core->segments[i + 1];
	}
	for (unsigned i = MEMORY; i < CORE_SIZE; i++)
		core->bytes[i] = (uint8_t)(i * 7 + i / 256);
}

/* The notes are whole. */
static void end_notes(struct core *core)
{
	ck_assert_uint_le(core->size, MEMORY);
	core->segments[0] = (GElf_Phdr){.p_type = PT_NOTE, .p_filesz = core->size};
}

START_TEST(the_kernels_notes_come_one_after_the_other)
{
	static const struct {
		uint32_t type;
		unsigned size;
		uint8_t value;
	} expected[] = {
	    {NT_PRSTATUS, 5, 1}, {NT_PRSTATUS, 0, 2}, {0x202, 8, 3}, {NT_FPREGSET, 1, 7}};
	struct core core;
	struct gh_cursor note;
	uint32_t type;
	uint64_t at = 0;
	start(&core, _i);
	put_note(&core, "CORE", 5, NT_PRSTATUS, 5, 1);
	put_note(&core, "CORE", 5, NT_PRSTATUS, 0, 2);
	put_note(&core, "LINUX", 6, 0x202, 8, 3);
	/* Others' notes. */
	put_note(&core, "GNU", 4, NT_PRSTATUS, 16, 4);
	put_note(&core, "CORE", 4, NT_PRSTATUS, 4, 5);
	put_note(&core, "CORES", 6, NT_PRSTATUS, 4, 6);
	put_note(&core, "LINUX", 5, NT_PRSTATUS, 4, 6);
	put_note(&core, "CORE", 5, NT_FPREGSET, 1, 7);
	end_notes(&core);
	for (unsigned i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		ck_assert(gh_core_note(&core.image, &at, &type, &note));
		ck_assert_uint_eq(type, expected[i].type);
		ck_assert_uint_eq(gh_cursor_left(&note), expected[i].size);
		for (unsigned n = 0; n < expected[i].size; n++)
			ck_assert_uint_eq(gh_cursor_u8(&note), expected[i].value);
	}
	ck_assert(!gh_core_note(&core.image, &at, &type, &note));
	ck_assert(gh_core_note_find(&core.image, NT_FPREGSET, &note));
	ck_assert_uint_eq(gh_cursor_u8(&note), 7);
	ck_assert(!gh_core_note_find(&core.image, NT_PRPSINFO, &note));
	/* The last one lacks its padding. */
	core.segments[0].p_filesz -= 1;
	ck_assert(!gh_core_note_find(&core.image, NT_FPREGSET, &note));
	/* There are no notes, or they are not in the file. */
	core.segments[0].p_offset = CORE_SIZE;
	ck_assert(!gh_core_note_find(&core.image, NT_PRSTATUS, &note));
	core.segments[0].p_type = PT_NULL;
	core.segments[0].p_offset = 0;
	ck_assert(!gh_core_note_find(&core.image, NT_PRSTATUS, &note));
}
END_TEST

START_TEST(the_auxiliary_vector_is_of_words)
{
	const uint64_t words[] = {AT_PAGESZ, 0x1000, AT_EXECFN, 0x1104, AT_PHDR, 0x8040, AT_ENTRY};
	struct core core;
	uint64_t value;
	start(&core, _i);
	ck_assert(!gh_core_auxv(&core.image, AT_PAGESZ, &value));
	put_note(&core, "CORE", 5, NT_PRSTATUS, 8, 0);
	put_auxv(&core, 7, words);
	end_notes(&core);
	memcpy(core.bytes + MEMORY + 0x104, "/bin/server", 12);
	ck_assert(gh_core_auxv(&core.image, AT_PAGESZ, &value));
	ck_assert_uint_eq(value, 0x1000);
	ck_assert(gh_core_auxv(&core.image, AT_PHDR, &value));
	ck_assert_uint_eq(value, 0x8040);
	ck_assert(!gh_core_auxv(&core.image, AT_BASE, &value));
	/* The last one has no value. */
	ck_assert(!gh_core_auxv(&core.image, AT_ENTRY, &value));
	ck_assert_str_eq(gh_core_execfn(&core.image), "/bin/server");
}
END_TEST

START_TEST(a_programs_name_that_the_core_file_lacks_is_not_known)
{
	const uint64_t nowhere[] = {AT_EXECFN, 0x2000};
	const uint64_t unended[] = {AT_EXECFN, 0x503f};
	const uint64_t none[] = {AT_PHDR, 0x1000};
	struct core core;
	start(&core, _i);
	put_auxv(&core, 2, nowhere);
	end_notes(&core);
	ck_assert_ptr_null(gh_core_execfn(&core.image));
	start(&core, _i);
	put_auxv(&core, 2, unended);
	end_notes(&core);
	memset(core.bytes + MEMORY + 0x1bf, 'x', CORE_SIZE - MEMORY - 0x1bf);
	ck_assert_ptr_null(gh_core_execfn(&core.image));
	start(&core, _i);
	put_auxv(&core, 2, none);
	end_notes(&core);
	ck_assert_ptr_null(gh_core_execfn(&core.image));
}
END_TEST

START_TEST(memory_is_read_across_segments)
{
	struct core core;
	uint8_t bytes[0x180];
	start(&core, _i);
	struct gh_memory memory = gh_core_memory(&core.image);
	ck_assert_uint_eq(memory.size, CORE_SIZE);
	ck_assert(memory.read(&memory, 0x1000, bytes, 0x140));
	ck_assert_mem_eq(bytes, core.bytes + MEMORY, 0x140);
	ck_assert(memory.read(&memory, 0x10ff, bytes, 2));
	ck_assert_mem_eq(bytes, core.bytes + MEMORY + 0xff, 2);
	ck_assert(memory.read(&memory, 0x113f, bytes, 1));
	ck_assert_uint_eq(bytes[0], core.bytes[MEMORY + 0x13f]);
	ck_assert(memory.read(&memory, 0x2000, bytes, 0));
	ck_assert(memory.read(&memory, 0x5000, bytes, 0x80));
	ck_assert_mem_eq(bytes, core.bytes + MEMORY + 0x180, 0x80);
	ck_assert(!memory.read(&memory, 0x113f, bytes, 2));
	ck_assert(!memory.read(&memory, 0xfff, bytes, 1));
	ck_assert(!memory.read(&memory, 0x4000, bytes, 1));
	ck_assert(!memory.read(&memory, 0x5000, bytes, 0x81));
}
END_TEST

START_TEST(memory_is_given_part_by_part)
{
	static const struct {
		uint64_t from, address, size; /* a size of 0: there is none */
	} cases[] = {
	    {0, 0x1000, 0x100},     {0x1001, 0x1001, 0xff}, {0x10ff, 0x10ff, 1},
	    {0x1100, 0x1100, 0x40}, {0x1140, 0x3000, 0x40}, {0x2fff, 0x3000, 0x40},
	    {0x303f, 0x303f, 1},    {0x3040, 0x5000, 0x80}, {0x4000, 0x5000, 0x80},
	    {0x507f, 0x507f, 1},    {0x5080, 0, 0},         {UINT64_MAX, 0, 0},
	};
	struct core core;
	start(&core, _i);
	struct gh_memory memory = gh_core_memory(&core.image);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t address = cases[i].from;
		uint64_t size = 0;
		ck_assert_int_eq(memory.next(&memory, &address, &size), cases[i].size > 0);
		ck_assert_uint_eq(size, cases[i].size);
		if (size > 0)
			ck_assert_uint_eq(address, cases[i].address);
	}
}
END_TEST

START_TEST(what_a_core_file_lacks_is_counted_from_its_end)
{
	struct core core;
	start(&core, _i);
	ck_assert_uint_eq(gh_core_missing(&core.image), 0x10);
	core.segments[5].p_filesz = 0x80;
	ck_assert_uint_eq(gh_core_missing(&core.image), 0);
	core.segments[2].p_filesz = CORE_SIZE;
	core.segments[3].p_filesz = CORE_SIZE / 2;
	ck_assert_uint_eq(gh_core_missing(&core.image), MEMORY + 0x100);
	core.segments[1].p_filesz = UINT64_MAX;
	ck_assert_uint_eq(gh_core_missing(&core.image), UINT64_MAX - CORE_SIZE);
}
END_TEST

void core_tests(TCase *tests)
{
	tcase_add_loop_test(tests, the_kernels_notes_come_one_after_the_other, 0, 4);
	tcase_add_loop_test(tests, the_auxiliary_vector_is_of_words, 0, 4);
	tcase_add_loop_test(tests, a_programs_name_that_the_core_file_lacks_is_not_known, 0, 4);
	tcase_add_loop_test(tests, memory_is_read_across_segments, 0, 4);
	tcase_add_loop_test(tests, memory_is_given_part_by_part, 0, 4);
	tcase_add_loop_test(tests, what_a_core_file_lacks_is_counted_from_its_end, 0, 4);
}
