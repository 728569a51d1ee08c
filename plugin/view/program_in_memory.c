#include "plugin/view/view.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/elf/elf.h"
#include "lib/pclntab/pclntab.h"
#include "lib/util/escape.h"
#include "lib/util/open_file.h"
#include "lib/util/output.h"

/* What looks like programs in memory is looked into no further than that many. */
#define MOST_TRIED 8

/* The file of a program, in memory. */
struct made {
	uint8_t *data; /* owned; NULL if there is none */
	size_t size;   /* in bytes */
};

/* Has *FD be a file with what MADE has, and PATH its path; MADE is freed. */
static bool write_program(struct made *made, char path[GH_PROGRAM_IN_MEMORY_PATH], int *fd)
{
	*fd = gh_open_temporary();
	bool written = *fd >= 0 && gh_write_all(*fd, made->data, made->size);
	free(made->data);
	if (written) {
		snprintf(path, GH_PROGRAM_IN_MEMORY_PATH, "/proc/self/fd/%d", *fd);
		return true;
	}
	gh_print_errno("a temporary file for the program");
	if (*fd >= 0)
		close(*fd);
	return false;
}

static bool has_pclntab(const struct made *made, const char *name)
{
	struct gh_image image;
	struct gh_pclntab tab;
	if (!gh_image_open_memory(&image, made->data, made->size, name, NULL))
		return false;
	bool has = gh_pclntab_open(&tab, &image, NULL);
	if (has)
		gh_pclntab_close(&tab);
	gh_image_close(&image);
	return has;
}

/* Reads the first bytes at START in MEMORY. False if they are not those of an ELF file. */
static bool read_header(uint8_t bytes[GH_LOADED_HEADERS], const struct gh_memory *memory,
			uint64_t start)
{
	return memory->read(memory, start, bytes, GH_LOADED_HEADERS) &&
	       memcmp(bytes, ELFMAG, SELFMAG) == 0;
}

/* Makes the program that has its ELF header at START in MEMORY. False if none is there, or it is
 * not whole. */
static bool make_at(struct made *made, const struct gh_memory *memory, uint64_t start,
		    const char *name)
{
	struct gh_loaded loaded;
	uint8_t bytes[GH_LOADED_HEADERS];
	if (!read_header(bytes, memory, start) ||
	    !gh_loaded_open(&loaded, bytes, start, name, NULL))
		return false;
	bool is_made = gh_loaded_make(&loaded, memory, &made->data, &made->size, NULL);
	gh_loaded_close(&loaded);
	return is_made;
}

/* BYTES, at START, are the first of a library. */
static bool is_library(const uint8_t bytes[GH_LOADED_HEADERS], uint64_t start, const char *name)
{
	struct gh_loaded loaded;
	if (!gh_loaded_open(&loaded, bytes, start, name, NULL))
		return false;
	bool is = gh_image_is_library(&loaded.headers);
	gh_loaded_close(&loaded);
	return is;
}

/* The same of the first of STARTS that is a Go program; START is set to that. LIVE: libraries that
 * were deleted or replaced are among them. */
static bool make_go(struct made *made, const struct gh_memory *memory,
		    const struct gh_starts *starts, const char *name, bool live, uint64_t *start)
{
	uint8_t bytes[GH_LOADED_HEADERS];
	unsigned tried = 0;
	for (size_t i = 0; i < starts->count && tried < MOST_TRIED; i++) {
		*start = starts->items[i];
		if (!read_header(bytes, memory, *start) ||
		    (live && is_library(bytes, *start, name)))
			continue;
		tried++;
		if (!make_at(made, memory, *start, name))
			continue;
		if (has_pclntab(made, name))
			return true;
		free(made->data);
	}
	return false;
}

/* Where CORE's auxiliary vector says that its program is; then where else one may be. */
static void find_starts(struct gh_starts *starts, const struct gh_image *core)
{
	uint64_t phdr;
	uint64_t phent;
	if (gh_core_auxv(core, AT_PHDR, &phdr) && gh_core_auxv(core, AT_PHENT, &phent))
		gh_vector_push(starts, gh_loaded_start(phdr, phent));
	gh_unbacked_core(starts, core);
}

bool gh_core_program_make(const char *path, char made[GH_PROGRAM_IN_MEMORY_PATH], int *fd)
{
	struct gh_error err;
	struct gh_image core;
	struct made program;
	struct gh_starts starts = {0};
	uint64_t start;
	if (!gh_image_open_core(&core, path, &err)) {
		gh_print_error(&err);
		return false;
	}
	struct gh_memory memory = gh_core_memory(&core);
	find_starts(&starts, &core);
	/* Of one that is not Go's it is told later that it is none. */
	bool is_made = make_go(&program, &memory, &starts, path, false, &start) ||
		       (starts.count > 0 && make_at(&program, &memory, starts.items[0], path));
	gh_vector_free(&starts);
	gh_image_close(&core);
	made[0] = '\0';
	return !is_made || write_program(&program, made, fd);
}

/* Makes the Go program that the process PID has in memory only. */
static bool make_live(struct made *made, int pid, uint64_t *start)
{
	char name[64];
	struct gh_starts starts = {0};
	struct gh_memory memory = gh_live_memory(&pid);
	memory.size = GH_LOADED_MOST;
	snprintf(name, sizeof(name), "process %d", pid);
	gh_unbacked_live(&starts, pid);
	bool is_made = make_go(made, &memory, &starts, name, true, start);
	gh_vector_free(&starts);
	return is_made;
}

bool gh_live_program_find(int pid, uint64_t *start)
{
	struct made made;
	bool found = make_live(&made, pid, start);
	if (found)
		free(made.data);
	return found;
}

bool gh_live_program_make(int pid, char path[GH_PROGRAM_IN_MEMORY_PATH], int *fd)
{
	struct made made;
	uint64_t start;
	char exe[64];
	snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
	return !gh_file_is_go(exe) && make_live(&made, pid, &start) &&
	       write_program(&made, path, fd);
}
