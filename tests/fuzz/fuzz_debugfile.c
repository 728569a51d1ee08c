/* Fuzz target: the writers of debug files. */
#include "lib/debugfile/internal.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Has the input be both sections. */
static void find_types(const uint8_t *data, size_t size)
{
	struct gh_own_type types[] = {{.name = "int"}, {.name = "*runtime.g"}};
	struct gh_cursor cur = gh_cursor_make(data, size, "input", 0, false);
	gh_own_types_find(types, 2, cur, cur);
}

/* Writes what is for a program that has DWARF, which it need not have, and the program with what it
 * lacks, for each debugger. */
static void write_files(const struct gh_pclntab *tab)
{
	struct gh_error err;
	for (int i = GH_FOR_ANY; i <= GH_FOR_LLDB + 1; i++) {
		int fd = memfd_create("fuzz", MFD_CLOEXEC);
		if (fd < 0)
			return;
		if (i <= GH_FOR_LLDB)
			gh_debugfile_unstrip_to(tab, i, fd, "output", &err);
		else
			gh_supplement_write_to(tab, fd, "output", &err);
		close(fd);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	if (copy == NULL)
		return 0;
	memcpy(copy, data, size);
	find_types(data, size);
	struct gh_image image;
	struct gh_pclntab tab;
	struct gh_error err;
	if (gh_image_open_memory(&image, copy, size, "input", &err)) {
		uint8_t *debug;
		size_t debug_size;
		if (gh_pclntab_open(&tab, &image, &err)) {
			if (gh_debugfile_make(&tab, NULL, &debug, &debug_size, &err))
				free(debug);
			write_files(&tab);
		}
		gh_pclntab_close(&tab);
		gh_image_close(&image);
	}
	free(copy);
	return 0;
}
