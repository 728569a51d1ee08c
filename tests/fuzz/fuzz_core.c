/* Fuzz target: the writers of core files and of profiles, and the check that a dump belongs to a
 * program. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/profile/profile.h"
#include "plugin/view/view.h"
#include "tests/fuzz/target.h"
#include "tests/unit/corewalk.h"
#include "tests/unit/profilewalk.h"
#include "tests/unit/synthetic.h"

static char directory[] = "/tmp/goheap-fuzz-XXXXXX";
static char core_path[sizeof(directory) + 8];
static char profile_path[sizeof(directory) + 8];
static char program_path[64];
static struct gh_image image; /* the program */
static struct gh_pclntab tab; /* its */

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void remove_directory(void)
{
	unlink(core_path);
	unlink(profile_path);
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
	snprintf(profile_path, sizeof(profile_path), "%s/profile", directory);
	make_program();
	require(gh_image_open(&image, program_path, NULL) && gh_pclntab_open(&tab, &image, NULL));
	/* What is not the program's is told there, each time. */
	stderr = fopen("/dev/null", "we");
	require(stderr != NULL);
}

static void write_core(const struct gh_dump *dump)
{
	struct gh_core_program program;
	if (!gh_symbols_program(&program, dump, program_path))
		program = (struct gh_core_program){.name = "program"};
	core_walk(dump, &program, core_path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gh_dump dump;
	struct gh_error err;
	if (core_path[0] == '\0')
		prepare();
	if (gh_dump_open_memory(&dump, data, size, "input", &err)) {
		write_core(&dump);
		profile_walk(&dump, &tab, GH_PPROF_RATE, profile_path, NULL);
		gh_dump_close(&dump);
	}
	return 0;
}
