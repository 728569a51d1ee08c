/* An ELF file as a program in memory: its sections, its segments, and the bytes at an address. */
#ifndef GH_ELF_IMAGE_H
#define GH_ELF_IMAGE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/elf/arch.h"
#include "lib/util/cursor.h"
#include "lib/util/error.h"

/* A section, as its header says; nothing of it is checked against the file's size. */
struct gh_section {
	const char *name; /* "" if it has none; in the file */
	GElf_Shdr header; /* in host byte order */
};

struct gh_image {
	char *path;                 /* the file's name as given; owned */
	uint8_t *data;              /* the file, in private and writable memory */
	size_t size;                /* of the file, in bytes */
	struct stat file;           /* the file when it was opened; zeroed if in memory */
	bool mapped;                /* data was mapped by gh_image_open, and is owned */
	Elf *elf;                   /* owned */
	const struct gh_arch *arch; /* the machine */
	GElf_Ehdr header;           /* in host byte order */
	GElf_Phdr *segments;        /* all program headers; owned */
	size_t nsegments;
	const GElf_Phdr **loads; /* the loadable segments with contents, by address; owned */
	size_t nloads;
	struct gh_section *sections; /* all section headers, the null one at 0 included; owned */
	size_t nsections;            /* 0 if the section headers are gone */
};

/* Opens the ELF file PATH. Relocations of a position-independent program that only add the load
 * address (R_*_RELATIVE with addends in the table) are applied as for load address 0, so that
 * pointers in its data read as the addresses in the file's own address space.
 * Returns false and fills ERR if it cannot be read, is no ELF executable or shared object, or is
 * for a machine that Go is not ported to. On success the image is to be closed with gh_image_close.
 */
bool gh_image_open(struct gh_image *image, const char *path, struct gh_error *err);

/* The same on a core file, whose segments are the memory of the process; what its notes hold is in
 * lib/elf/core.h. */
bool gh_image_open_core(struct gh_image *image, const char *path, struct gh_error *err);

/* The same of the file FD, which is read from its start and stays the caller's; NAME is for
 * messages. */
bool gh_image_open_core_fd(struct gh_image *image, int fd, const char *name, struct gh_error *err);

/* The same as gh_image_open on a file already in memory: SIZE bytes at DATA, which stay the
 * caller's, and are modified where relocations apply. NAME is for errors. */
bool gh_image_open_memory(struct gh_image *image, void *data, size_t size, const char *name,
			  struct gh_error *err);

/* Has the image keep what the file has now: what is written to the file later on no longer shows.
 * Takes as much memory as the file is large. */
void gh_image_settle(const struct gh_image *image);

/* Frees everything. A zeroed image may be closed too. */
void gh_image_close(struct gh_image *image);

/* The first section of this NAME, or NULL. */
const struct gh_section *gh_image_section(const struct gh_image *image, const char *name);

/* A cursor over the contents of SECTION. False (ERR filled) if they are not in the file. */
bool gh_image_section_cursor(const struct gh_image *image, const struct gh_section *section,
			     struct gh_cursor *cur, struct gh_error *err);

/* A cursor over the bytes in the file from the address VADDR to the end of its segment's file
 * contents. False if no loadable segment's file contents hold VADDR. */
bool gh_image_at(const struct gh_image *image, uint64_t vaddr, struct gh_cursor *cur);

/* The file has DWARF of its own: it is not stripped of it. */
bool gh_image_has_dwarf(const struct gh_image *image);

/* The program is position-independent: its addresses are offsets from where it is loaded. */
bool gh_image_is_pie(const struct gh_image *image);

#endif
