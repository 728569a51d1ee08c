/* Fuzz target: the writer of core files, and the check that a dump belongs to a program. What is
 * written has to be an ELF file, to libelf, with a thread for each goroutine and the dump's memory
 * where the dump has it. */
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/dump/memory.h"
#include "lib/write/corefile.h"
#include "plugin/symbols.h"
#include "tests/fuzz/target.h"
#include "tests/unit/synthetic.h"

static char directory[] = "/tmp/goheap-fuzz-XXXXXX";
static char core_path[sizeof(directory) + 8];
static char program_path[64];

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void remove_directory(void)
{
	unlink(core_path);
	rmdir(directory);
}

/* A program to check dumps against, in a file without a name. */
static void make_program(void)
{
	const struct synthetic what = {.format = SYNTHETIC_1_20, .word = 8, .sections = true};
	size_t size;
	uint8_t *program = synthetic_make(&what, &size, NULL);
	int fd = memfd_create("program", MFD_CLOEXEC);
	require(fd >= 0 && write(fd, program, size) == (ssize_t)size);
	free(program);
	snprintf(program_path, sizeof(program_path), "/proc/self/fd/%d", fd);
}

static void prepare(void)
{
	require(mkdtemp(directory) != NULL);
	snprintf(core_path, sizeof(core_path), "%s/core", directory);
	atexit(remove_directory);
	make_program();
	require(elf_version(EV_CURRENT) != EV_NONE);
	/* What is not the program's is told there, each time. */
	stderr = fopen("/dev/null", "we");
	require(stderr != NULL);
}

static size_t count_threads(Elf *elf, const GElf_Phdr *segment)
{
	size_t count = 0, next, name, contents;
	GElf_Nhdr note;
	Elf_Data *data =
	    elf_getdata_rawchunk(elf, (int64_t)segment->p_offset, segment->p_filesz, ELF_T_NHDR);
	require(data != NULL);
	for (size_t at = 0; (next = gelf_getnote(data, at, &note, &name, &contents)) > 0; at = next)
		count += note.n_type == NT_PRSTATUS;
	return count;
}

/* The core's segment SEGMENT holds REGION, as the dump has it. */
static bool holds(const struct gh_dump *dump, const GElf_Phdr *segment, const uint8_t *core,
		  const struct gh_region *region)
{
	uint64_t offset = region->address - segment->p_vaddr;
	if (segment->p_type != PT_LOAD || region->address < segment->p_vaddr ||
	    offset >= segment->p_filesz)
		return false;
	require(segment->p_filesz - offset >= region->contents.size);
	struct gh_cursor bytes = gh_dump_bytes(dump, region->contents);
	return memcmp(core + segment->p_offset + offset, bytes.pos, region->contents.size) == 0;
}

static void check_core(const struct gh_dump *dump, Elf *elf)
{
	size_t nsegments, size;
	struct gh_regions walk = {0};
	struct gh_region region;
	GElf_Phdr segment;
	const uint8_t *core = (const uint8_t *)elf_rawfile(elf, &size);
	require(core != NULL && elf_getphdrnum(elf, &nsegments) == 0 && nsegments > 0);
	require(gelf_getphdr(elf, 0, &segment) != NULL && segment.p_type == PT_NOTE);
	require(count_threads(elf, &segment) == gh_dump_count(dump, GH_DUMP_GOROUTINE));
	for (size_t i = 0; i < nsegments; i++) {
		require(gelf_getphdr(elf, (int)i, &segment) != NULL);
		require(segment.p_offset <= size && segment.p_filesz <= size - segment.p_offset);
	}
	size_t at = 0;
	while (gh_regions_next(dump, &walk, &region)) {
		/* A crafted dump of a small machine may have addresses that it could not. */
		if (dump->word == 4 && region.address + region.contents.size - 1 > UINT32_MAX)
			break;
		do {
			at++;
			require(at < nsegments);
			gelf_getphdr(elf, (int)at, &segment);
		} while (!holds(dump, &segment, core, &region));
		at--;
	}
}

static void write_core(const struct gh_dump *dump)
{
	struct gh_core_program program;
	struct gh_error err;
	if (!gh_symbols_program(&program, dump, program_path))
		program = (struct gh_core_program){.name = "program"};
	if (!gh_corefile_write(dump, &program, core_path, &err))
		return;
	FILE *in = fopen(core_path, "rbe");
	require(in != NULL);
	Elf *elf = elf_begin(fileno(in), ELF_C_READ_MMAP, NULL);
	require(elf != NULL && elf_kind(elf) == ELF_K_ELF);
	check_core(dump, elf);
	elf_end(elf);
	fclose(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gh_dump dump;
	struct gh_error err;
	if (core_path[0] == '\0')
		prepare();
	if (gh_dump_open_memory(&dump, data, size, "input", &err)) {
		write_core(&dump);
		gh_dump_close(&dump);
	}
	return 0;
}
