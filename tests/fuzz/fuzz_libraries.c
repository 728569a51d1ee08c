/* Fuzz target: which libraries a program says that it needs, and which files a core file says that
 * its process had mapped. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/process/process.h"
#include "plugin/gdb/internal.h"
#include "tests/fuzz/target.h"

/* Where the seeds have what, as offsets in the file and addresses. */
enum {
	SEGMENTS = 3,
	TEXTS = 0x100,   /* the strings of the dynamic section */
	DYNAMIC = 0x200, /* that section */
	NOTE = 0x100,    /* a core file's note */
	SIZE = 0x300,
};

static char path[64];          /* of the input, a file without a name */
static int fd = -1;            /* it */
static struct gh_image itself; /* this program */

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void put(uint8_t *seed, size_t at, const void *bytes, size_t size)
{
	require(at + size <= SIZE);
	memcpy(seed + at, bytes, size);
}

static void put_headers(uint8_t *seed, uint16_t type, const Elf64_Phdr *segments, uint16_t count)
{
	Elf64_Ehdr header = {
	    .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
	    .e_type = type,
	    .e_machine = EM_X86_64,
	    .e_version = EV_CURRENT,
	    .e_phoff = sizeof(header),
	    .e_ehsize = sizeof(header),
	    .e_phentsize = sizeof(*segments),
	    .e_phnum = count};
	put(seed, 0, &header, sizeof(header));
	put(seed, sizeof(header), segments, count * sizeof(*segments));
}

/* A program that needs two libraries, of which one is where it says. */
static void make_program(uint8_t *seed)
{
	static const char texts[] = "\0libc.so.6\0/bin/sh\0$ORIGIN/x:/lib/x86_64-linux-gnu";
	const Elf64_Phdr segments[SEGMENTS] = {
	    {.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = SIZE, .p_memsz = SIZE},
	    {.p_type = PT_INTERP, .p_offset = TEXTS + 11, .p_vaddr = TEXTS + 11, .p_filesz = 8},
	    {.p_type = PT_DYNAMIC,
	     .p_offset = DYNAMIC,
	     .p_vaddr = DYNAMIC,
	     .p_filesz = 6 * sizeof(Elf64_Dyn)},
	};
	const Elf64_Dyn dynamic[] = {
	    {.d_tag = DT_STRTAB, .d_un.d_ptr = TEXTS}, {.d_tag = DT_STRSZ, .d_un.d_val = 64},
	    {.d_tag = DT_RUNPATH, .d_un.d_val = 19},   {.d_tag = DT_NEEDED, .d_un.d_val = 1},
	    {.d_tag = DT_NEEDED, .d_un.d_val = 11},    {.d_tag = DT_NULL},
	};
	put_headers(seed, ET_DYN, segments, SEGMENTS);
	put(seed, TEXTS, texts, sizeof(texts));
	put(seed, DYNAMIC, dynamic, sizeof(dynamic));
}

/* A core file whose process had this program mapped, and another. */
static void make_core(uint8_t *seed)
{
	static const char names[] = "/proc/self/exe\0/lib/x";
	const uint64_t words[] = {2, 4096, 0x1000, 0x2000, 0, 0x8000, 0x9000, 0};
	const uint32_t size = sizeof(words) + sizeof(names);
	const uint32_t note[] = {5, size, 0x46494c45};
	const Elf64_Phdr segments[] = {
	    {.p_type = PT_NOTE, .p_offset = NOTE, .p_filesz = 20 + ((size + 3) & ~3U)},
	    {.p_type = PT_LOAD,
	     .p_flags = PF_R,
	     .p_vaddr = 0x1000,
	     .p_filesz = SIZE,
	     .p_memsz = SIZE},
	};
	put_headers(seed, ET_CORE, segments, 2);
	put(seed, NOTE, note, sizeof(note));
	put(seed, NOTE + sizeof(note), "CORE", 5);
	put(seed, NOTE + 20, words, sizeof(words));
	put(seed, NOTE + 20 + sizeof(words), names, sizeof(names));
}

uint8_t *fuzz_seed(int number, size_t *size)
{
	uint8_t *seed = number < 2 ? calloc(1, SIZE) : NULL;
	*size = SIZE;
	if (seed != NULL && number == 0)
		make_program(seed);
	else if (seed != NULL)
		make_core(seed);
	return seed;
}

static void look_at_needed(void)
{
	struct gh_needed needed;
	gh_needed_find(&needed, path, "/nowhere:");
	for (size_t i = 0; i < needed.count; i++)
		require(access(needed.items[i], R_OK) == 0);
	gh_needed_free(&needed);
}

static void look_at_mapped(size_t size)
{
	struct gh_image core;
	struct gh_error err;
	struct gh_mapped_files files = {0};
	uint64_t bias;
	if (!gh_image_open_core(&core, path, &err))
		return;
	struct gh_memory memory = gh_core_memory(&core);
	gh_mapped_files_core(&files, &core);
	require(files.count <= size);
	for (size_t i = 0; i < files.count; i++)
		require(strlen(files.items[i].path) < size);
	if (!gh_mapped_files_find(&files, &memory, &itself, &bias, &err))
		require(err.text[0] != '\0');
	gh_mapped_files_free(&files);
	gh_image_close(&core);
}

static void prepare(void)
{
	if (fd >= 0)
		return;
	fd = memfd_create("input", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	require(fd >= 0 && gh_image_open_unrelocated(&itself, "/proc/self/exe", NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	prepare();
	require(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	look_at_needed();
	look_at_mapped(size);
	return 0;
}
