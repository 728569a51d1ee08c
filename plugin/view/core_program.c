#include "plugin/view/view.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/elf/elf.h"
#include "lib/util/escape.h"
#include "lib/util/open_file.h"
#include "lib/util/output.h"

/* Has *FD be a file of the SIZE bytes at DATA. */
static bool write_program(int *fd, const uint8_t *data, size_t size)
{
	*fd = gh_open_temporary();
	if (*fd >= 0 && gh_write_all(*fd, data, size))
		return true;
	gh_print_errno("a temporary file for the program");
	if (*fd >= 0)
		close(*fd);
	return false;
}

/* The kernel leaves out of a core file what is in files still, unless its coredump_filter says to
 * write that, too. */
static void print_missing(const char *path, const struct gh_image *core)
{
	const char *name = gh_core_execfn(core);
	fputs("goheap: ", stderr);
	gh_escape_print(stderr, path);
	fputs(" is without the program: name it, -e ", stderr);
	gh_escape_print(stderr, name != NULL ? name : "PROGRAM");
	fputs("\n", stderr);
}

static bool make(const char *path, const struct gh_image *core, int *fd)
{
	struct gh_error err;
	struct gh_loaded loaded;
	struct gh_memory memory = gh_core_memory(core);
	uint8_t *data;
	size_t size;
	bool made = false;
	if (gh_core_loaded(&loaded, core, &err)) {
		made = gh_loaded_make(&loaded, &memory, &data, &size, &err);
		gh_loaded_close(&loaded);
	}
	if (!made) {
		print_missing(path, core);
		return false;
	}
	made = write_program(fd, data, size);
	free(data);
	return made;
}

bool gh_core_program_make(const char *path, char made[GH_CORE_PROGRAM_PATH], int *fd)
{
	struct gh_error err;
	struct gh_image core;
	if (!gh_image_open_core(&core, path, &err)) {
		gh_print_error(&err);
		return false;
	}
	bool is_made = make(path, &core, fd);
	gh_image_close(&core);
	if (is_made)
		snprintf(made, GH_CORE_PROGRAM_PATH, "/proc/self/fd/%d", *fd);
	return is_made;
}
