/* What a process has mapped, as the kernel tells of a running one and in a core file; and the table
 * of why goroutines wait, in a program's data. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/process/dump_parts.h"
#include "lib/process/internal.h"
#include "tests/unit/bytes.h"
#include "tests/unit/suites.h"

/* What was taken. */
struct taken {
	int pid;
	size_t count;
	struct gh_mapping mappings[8];
	char names[8][64];
};

static void take(void *context, int pid, struct gh_mapping *mapping)
{
	struct taken *taken = context;
	ck_assert_uint_lt(taken->count, 8);
	taken->pid = pid;
	taken->mappings[taken->count] = *mapping;
	strcpy(taken->names[taken->count++], mapping->name);
}

static void check(const struct taken *taken, size_t number, uint64_t start, uint64_t end,
		  uint64_t offset, const char *access, const char *name)
{
	const struct gh_mapping *mapping = &taken->mappings[number];
	ck_assert_uint_eq(mapping->start, start);
	ck_assert_uint_eq(mapping->end, end);
	ck_assert_uint_eq(mapping->offset, offset);
	ck_assert_str_eq(mapping->access, access);
	ck_assert_str_eq(taken->names[number], name);
}

/* As proc_pid_smaps(5) has them. The file is found from the process's directory in /proc. */
START_TEST(each_mapping_is_a_line_and_its_sizes)
{
	static const char text[] =
	    "00400000-00452000 r-xp 00002000 08:02 173521 /usr/bin/a program\n"
	    "Size:                328 kB\n"
	    "Rss:                  12 kB\n"
	    "Swap:                  8 kB\n"
	    "SwapPss:              99 kB\n"
	    "7f0000000000-7f0000001000 rw-s 00000000 00:00 0 \n"
	    "Rss:                   4 kB\n"
	    "VmFlags: rd wr mr mw me ac sd\n"
	    "7f0000002000-7f0000002000 rw-p 00000000 00:00 0                          [empty]\n"
	    "7ffc00000000-7ffc00021000 ---p 00000000 00:00 0                          [stack]\n"
	    "Swap:                 16 kB";
	char path[] = "/tmp/goheap-maps-XXXXXX";
	char file[64];
	struct taken taken = {0};
	FILE *out = fdopen(mkstemp(path), "w");
	fputs(text, out);
	fclose(out);
	snprintf(file, sizeof(file), "../..%s", path);
	ck_assert(gh_mappings_live(getpid(), file, take, &taken));
	ck_assert_int_eq(taken.pid, getpid());
	ck_assert_uint_eq(taken.count, 3);
	check(&taken, 0, 0x400000, 0x452000, 0x2000, "r-xp", "/usr/bin/a program");
	ck_assert_uint_eq(taken.mappings[0].inode, 173521);
	ck_assert_uint_eq(taken.mappings[0].resident, 12 * 1024);
	ck_assert_uint_eq(taken.mappings[0].swapped, 8 * 1024);
	check(&taken, 1, 0x7f0000000000, 0x7f0000001000, 0, "rw-s", "");
	ck_assert_uint_eq(taken.mappings[1].inode, 0);
	ck_assert_uint_eq(taken.mappings[1].resident, 4 * 1024);
	ck_assert_uint_eq(taken.mappings[1].swapped, 0);
	check(&taken, 2, 0x7ffc00000000, 0x7ffc00021000, 0, "---p", "[stack]");
	ck_assert_uint_eq(taken.mappings[2].resident, 0);
	ck_assert_uint_eq(taken.mappings[2].swapped, 16 * 1024);
	unlink(path);
	taken.count = 0;
	errno = 0;
	ck_assert(!gh_mappings_live(getpid(), file, take, &taken));
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_uint_eq(taken.count, 0);
}
END_TEST

/* A core file of mips, which has both sizes of words and both byte orders. */
struct core {
	unsigned word;
	bool big_endian;
	uint8_t bytes[512];
	size_t size;
	GElf_Phdr segments[4];
	const GElf_Phdr *loads[1];
	struct gh_image image;
};

static void put(struct core *core, uint64_t value, unsigned size)
{
	bytes_store(core->bytes + core->size, value, size, core->big_endian);
	core->size += size;
}

static void start(struct core *core, int number)
{
	static char path[] = "core";
	*core = (struct core){.word = number & 1 ? 4 : 8, .big_endian = number & 2};
	core->segments[1] = (GElf_Phdr){.p_type = PT_LOAD, .p_vaddr = 0x1000, .p_flags = PF_R};
	core->segments[2] =
	    (GElf_Phdr){.p_type = PT_LOAD, .p_vaddr = 0x3000, .p_flags = PF_R | PF_X};
	core->segments[3] = (GElf_Phdr){.p_type = PT_LOAD, .p_vaddr = 0x5000, .p_flags = PF_W};
	core->image = (struct gh_image){
	    .path = path,
	    .data = core->bytes,
	    .size = sizeof(core->bytes),
	    .arch = gh_arch_find(EM_MIPS, (uint8_t)core->word, core->big_endian),
	    .segments = core->segments,
	    .nsegments = 4,
	};
}

/* The note NT_FILE: how many, the size of a page, start, end and page of each, and their names. */
static void put_files(struct core *core, uint64_t count)
{
	static const uint64_t ranges[3][3] = {
	    {0x1000, 0x2000, 0}, {0x4000, 0x4800, 3}, {0x5000, 0x6000, 1}};
	static const char names[] = "/bin/one\0\0/lib/three";
	put(core, 5, 4);
	put(core, 11 * core->word + sizeof(names), 4);
	put(core, 0x46494c45, 4);
	memcpy(core->bytes + core->size, "CORE", 5);
	core->size += 8;
	put(core, count, core->word);
	put(core, 0x1000, core->word);
	for (unsigned i = 0; i < 9; i++)
		put(core, ranges[i / 3][i % 3], core->word);
	memcpy(core->bytes + core->size, names, sizeof(names));
	core->size += (sizeof(names) + 3) / 4 * 4;
	core->segments[0] = (GElf_Phdr){.p_type = PT_NOTE, .p_filesz = core->size};
}

START_TEST(a_core_file_tells_of_the_files_that_are_mapped)
{
	struct core core;
	struct taken taken = {0};
	start(&core, _i);
	put_files(&core, 3);
	ck_assert(gh_mappings_core_files(&core.image, take, &taken));
	ck_assert_uint_eq(taken.count, 3);
	check(&taken, 0, 0x1000, 0x2000, 0, "r--p", "/bin/one");
	/* No segment begins there. */
	check(&taken, 1, 0x4000, 0x4800, 0x3000, "", "");
	check(&taken, 2, 0x5000, 0x6000, 0x1000, "-w-p", "/lib/three");
}
END_TEST

START_TEST(a_damaged_list_of_files_is_none)
{
	struct core core;
	struct taken taken = {0};
	start(&core, _i);
	ck_assert(!gh_mappings_core_files(&core.image, take, &taken));
	/* More than there are bytes for. */
	put_files(&core, 5);
	ck_assert(!gh_mappings_core_files(&core.image, take, &taken));
	ck_assert_uint_eq(taken.count, 0);
	/* There are fewer names: the ranges end with other words. */
	start(&core, _i);
	put_files(&core, 2);
	ck_assert(gh_mappings_core_files(&core.image, take, &taken));
	ck_assert_uint_eq(taken.count, 2);
	taken.count = 0;
	start(&core, _i);
	put_files(&core, 3);
	for (size_t i = 0; i < core.size; i++)
		if (memcmp(core.bytes + i, "/lib/three", 11) == 0)
			core.bytes[i + 10] = 'e';
	ck_assert(!gh_mappings_core_files(&core.image, take, &taken));
	ck_assert_uint_eq(taken.count, 2);
}
END_TEST

START_TEST(the_access_is_the_segments)
{
	static const char *const expected[] = {"---p", "--xp", "-w-p", "-wxp",
					       "r--p", "r-xp", "rw-p", "rwxp"};
	for (uint32_t flags = 0; flags < 8; flags++) {
		struct gh_mapping mapping = {0};
		const GElf_Phdr segment = {.p_flags = flags};
		gh_mapping_set_access(&mapping, &segment);
		ck_assert_str_eq(mapping.access, expected[flags]);
	}
}
END_TEST

#define DATA UINT64_C(0x8004) /* address of a segment that no word is at the start of */

/* All bytes are those of the segment, and what is put next is after the table's. */
static void start_data(struct core *core, int number)
{
	start(core, number);
	core->segments[1].p_vaddr = DATA;
	core->segments[1].p_filesz = sizeof(core->bytes);
	core->loads[0] = &core->segments[1];
	core->image.loads = core->loads;
	core->image.nloads = 1;
	core->image.header.e_ident[EI_DATA] = core->big_endian ? ELFDATA2MSB : ELFDATA2LSB;
	core->size = 200;
}

/* Writes the header of a string at word NUMBER from 0x8008 on. */
static void put_reason(struct core *core, unsigned number, const char *text)
{
	size_t at = core->size;
	memcpy(core->bytes + at, text, strlen(text));
	core->size = 4 + (size_t)number * core->word;
	put(core, DATA + at, core->word);
	put(core, strlen(text), core->word);
	core->size = at + strlen(text);
}

/* waitReasonStrings of src/runtime/runtime2.go: the empty one, these, and others. */
START_TEST(reasons_to_wait_are_found_by_the_first)
{
	struct core core;
	size_t length;
	start_data(&core, _i);
	/* A table that begins otherwise, before this one. */
	put_reason(&core, 3, "GC assist marking");
	put_reason(&core, 5, "IO waits");
	put_reason(&core, 9, "GC assist marking");
	put_reason(&core, 11, "IO wait");
	put_reason(&core, 13, "chan receive (nil chan)");
	struct gh_wait_reasons reasons = gh_wait_reasons_find(&core.image);
	ck_assert_uint_eq(reasons.address, DATA + 4 + 7 * core.word);
	ck_assert_mem_eq(gh_wait_reason(&reasons, 1, &length), "GC assist marking", 17);
	ck_assert_uint_eq(length, 17);
	ck_assert_mem_eq(gh_wait_reason(&reasons, 3, &length), "chan receive (nil chan)", 23);
	ck_assert_uint_eq(length, 23);
	gh_wait_reason(&reasons, 0, &length);
	ck_assert_uint_eq(length, 0);
	/* Beyond the data. */
	gh_wait_reason(&reasons, 255, &length);
	ck_assert_uint_eq(length, 0);
	/* Code has none. */
	core.segments[1].p_flags = PF_R | PF_X;
	reasons = gh_wait_reasons_find(&core.image);
	ck_assert_uint_eq(reasons.address, 0);
	ck_assert_str_eq(gh_wait_reason(&reasons, 1, &length), "");
	ck_assert_uint_eq(length, 0);
}
END_TEST

START_TEST(a_reason_has_64_bytes_at_most)
{
	struct core core;
	char text[66] = {0};
	size_t length;
	memset(text, 'r', 65);
	start_data(&core, _i);
	put_reason(&core, 0, text);
	put_reason(&core, 2, text + 1);
	const struct gh_wait_reasons reasons = {&core.image, DATA + 4};
	gh_wait_reason(&reasons, 0, &length);
	ck_assert_uint_eq(length, 0);
	ck_assert_str_eq(gh_wait_reason(&reasons, 1, &length), text + 1);
	ck_assert_uint_eq(length, 64);
}
END_TEST

/* Memory of 16 bytes at its address, after a page that is not there. */
static bool read_far(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	const uint64_t *start = memory->from;
	if (address < *start || size > 16 || address - *start > 16 - size)
		return false;
	memset(to, 7, size);
	return true;
}

static bool next_far(const struct gh_memory *memory, uint64_t *address, uint64_t *size)
{
	const uint64_t *start = memory->from;
	if (*address >= *start + 16)
		return false;
	*address = *address > *start ? *address : *start;
	*size = *start + 16 - *address;
	return true;
}

START_TEST(words_are_looked_for_in_memory_that_there_is)
{
	static const uint64_t starts[] = {UINT64_C(1) << 62, 0x2000};
	for (size_t i = 0; i < 2; i++) {
		struct gh_memory source = {.read = read_far, .from = &starts[i]};
		source.next = i == 0 ? next_far : NULL;
		struct gh_process_memory memory = {.source = &source};
		uint64_t address = 0x1000;
		uint64_t value;
		ck_assert(gh_process_next_uint(&memory, &address, UINT64_MAX, 8, &value));
		ck_assert_uint_eq(address, starts[i]);
		ck_assert_uint_eq(value, UINT64_C(0x0707070707070707));
		address += 8;
		ck_assert(!gh_process_next_uint(&memory, &address, starts[i] + 8, 8, &value));
		ck_assert(gh_process_next_uint(&memory, &address, UINT64_MAX, 8, &value));
		ck_assert_uint_eq(address, starts[i] + 8);
		address += 8;
		ck_assert(!gh_process_next_uint(&memory, &address, UINT64_MAX, 8, &value));
		gh_process_memory_free(&memory);
	}
}
END_TEST

/* 8 words at 0x10000. */
static bool read_words(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	if (address < 0x10000 || address - 0x10000 > 64 || size > 64 - (address - 0x10000))
		return false;
	memcpy(to, (const uint8_t *)memory->from + (address - 0x10000), size);
	return true;
}

/* As musl's malloc lays out a group at 0x10000 of 3 pages, which struct meta at 0x10008 describes:
 * prev and next, mem, two masks, and last_idx, freeable, sizeclass and maplen. */
START_TEST(groups_of_musls_malloc_are_found)
{
	uint64_t words[8] = {0x10008, 0, 0, 0x10000, 0, 3 << 12 | 0x7e5};
	struct gh_memory source = {.read = read_words, .from = words};
	struct gh_pclntab tab = {.pointer_size = 8};
	struct gh_process process = {.tab = &tab, .memory = {.source = &source}};
	uint64_t end = 0x13000;
	ck_assert_uint_eq(gh_malloc_chunk(&process, 0x10000, end), 0x3000);
	ck_assert_uint_eq(gh_malloc_chunk(&process, 0x10000, end - 1), 0);
	words[3] = 0x11000;
	gh_process_memory_free(&process.memory);
	ck_assert_uint_eq(gh_malloc_chunk(&process, 0x10000, end), 0);
	/* A chunk of glibc's, mapped for itself: the size before is 0, the bits say so. */
	words[0] = 0;
	words[1] = 0x2002;
	gh_process_memory_free(&process.memory);
	ck_assert_uint_eq(gh_malloc_chunk(&process, 0x10000, end), 0x2000);
	gh_process_memory_free(&process.memory);
}
END_TEST

START_TEST(pages_are_found_in_what_is_reserved)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = 10000 * page;
	uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t start = (uintptr_t)bytes;
	ck_assert(bytes != MAP_FAILED && pagemap >= 0);
	madvise(bytes, size, MADV_NOHUGEPAGE);
	ck_assert_uint_eq(gh_next_page(pagemap, start, start + size), start + size);
	bytes[5000 * page + 1] = 1;
	bytes[9999 * page] = 1;
	ck_assert_uint_eq(gh_next_page(pagemap, start, start + size), start + 5000 * page);
	ck_assert_uint_eq(gh_next_page(pagemap, start + 5001 * page, start + size),
			  start + 9999 * page);
	ck_assert_uint_eq(gh_next_page(pagemap, start + 5001 * page, start + 9999 * page),
			  start + 9999 * page);
	close(pagemap);
	munmap(bytes, size);
}
END_TEST

void mappings_tests(TCase *tests)
{
	tcase_add_test(tests, words_are_looked_for_in_memory_that_there_is);
	tcase_add_test(tests, groups_of_musls_malloc_are_found);
	tcase_add_test(tests, pages_are_found_in_what_is_reserved);
	tcase_add_test(tests, each_mapping_is_a_line_and_its_sizes);
	tcase_add_loop_test(tests, a_core_file_tells_of_the_files_that_are_mapped, 0, 4);
	tcase_add_loop_test(tests, a_damaged_list_of_files_is_none, 0, 4);
	tcase_add_test(tests, the_access_is_the_segments);
	tcase_add_loop_test(tests, reasons_to_wait_are_found_by_the_first, 0, 4);
	tcase_add_loop_test(tests, a_reason_has_64_bytes_at_most, 0, 4);
}
