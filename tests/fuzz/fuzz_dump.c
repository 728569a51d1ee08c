/* Fuzz target: everything that reads a heap dump, and what is written of its frames. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/debugfile/debugfile.h"
#include "lib/export/internal.h"
#include "tests/fuzz/target.h"
#include "tests/unit/dumpwalk.h"
#include "tests/unit/synthetic.h"

/* The symbols are to be within a small multiple of the dump's size. */
static void make_symbols(const struct gh_dump *dump)
{
	int fd = memfd_create("symbols", MFD_CLOEXEC);
	struct gh_error err;
	if (fd < 0)
		abort();
	if (gh_dumpsymbols_write_to(dump, fd, "symbols", &err) &&
	    (uint64_t)lseek(fd, 0, SEEK_END) > 4096 + 64 * (uint64_t)gh_cursor_size(&dump->file))
		abort();
	close(fd);
}

/* A program with functions where those of the seeds' frames are. */
static const struct gh_pclntab *program(void)
{
	static struct gh_image image;
	static struct gh_pclntab tab;
	struct gh_error err;
	size_t size;
	if (tab.image != NULL)
		return &tab;
	const struct synthetic what = {.format = SYNTHETIC_1_20, .word = 8, .sections = true};
	uint8_t *data = synthetic_make(&what, &size, NULL);
	if (!gh_image_open_memory(&image, data, size, "program", &err) ||
	    !gh_pclntab_open(&tab, &image, &err))
		abort();
	return &tab;
}

/* The program's debug file with the dump's variables. */
static void make_debug_file(const struct gh_dump *dump)
{
	struct gh_slots slots;
	struct gh_error err;
	uint8_t *debug;
	size_t size;
	if (gh_slots_find(&slots, dump, &err) && slots.arch->pointer_size == 8 &&
	    gh_debugfile_make(program(), &slots, &debug, &size, &err))
		free(debug);
	gh_slots_free(&slots);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gh_dump dump;
	struct gh_error err;
	if (gh_dump_open_memory(&dump, data, size, "input", &err)) {
		dump_walk(&dump);
		make_symbols(&dump);
		make_debug_file(&dump);
		gh_dump_close(&dump);
	}
	return 0;
}
