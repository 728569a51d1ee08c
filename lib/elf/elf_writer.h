/* An ELF file that is put together in memory and then written (elf_writer.c), or appended to the
 * file of an image (elf_append.c). */
#ifndef GH_ELF_ELF_WRITER_H
#define GH_ELF_ELF_WRITER_H

#include <gelf.h>

#include "lib/elf/elf.h"
#include "lib/util/buffer.h"
#include "lib/util/output.h"
#include "lib/util/vector.h"

/* Contents of a section come in at most this many pieces. */
#define GH_ELF_MAX_PIECES 6

struct gh_elf_piece {
	const void *data; /* as it is to be in the file; not owned */
	size_t size;      /* in bytes */
};

struct gh_elf_section {
	const char *name;  /* not owned */
	GElf_Shdr header;  /* sh_name, and sh_size if there are pieces, are filled in on writing. So
			      is  sh_offset, but see keeps_offset */
	bool keeps_offset; /* sh_offset is the one to have, if the file's layout allows it */
	unsigned npieces;
	struct gh_elf_piece pieces[GH_ELF_MAX_PIECES];
};

struct gh_elf {
	GElf_Ehdr header;    /* the identity, type, machine, version, entry and flags */
	GElf_Phdr *segments; /* as in a file where each section has its contents; owned */
	size_t nsegments;
	struct GH_VECTOR(struct gh_elf_section) sections; /* from number 0, the null one */
};

/* Adds a section and returns it, zeroed but for its name, type and flags. It is good until the next
 * is added. NULL if memory ran out. */
struct gh_elf_section *gh_elf_add(struct gh_elf *elf, const char *name, uint32_t type,
				  uint64_t flags);

/* Adds a section NAME of CONTENTS, which must outlive the ELF file; none if they are empty. False
 * if memory ran out. */
bool gh_elf_add_contents(struct gh_elf *elf, const char *name, const struct gh_buffer *contents);

/* Adds SIZE bytes at DATA, which must outlive the ELF file, to the contents of SECTION. */
void gh_elf_add_piece(struct gh_elf_section *section, const void *data, size_t size);

/* Adds the section of section names, NAMES, which becomes its contents and gives each section its
 * name. False if memory ran out. */
bool gh_elf_add_names(struct gh_elf *elf, struct gh_buffer *names);

/* Adds the section of section names, lays the file out and writes it to FD, which is empty.
 * Segments are cut down to what the file has of them, as `objcopy --only-keep-debug` does. PATH is
 * for ERR, which is filled if false is returned. */
bool gh_elf_write(struct gh_elf *elf, int fd, const char *path, struct gh_error *err);

/* Writes to FD, which is empty, the file of IMAGE as it is, and behind it those sections of ELF
 * that come from number FIRST on, the section of section names, and all section headers. Those
 * before FIRST are in the image. Otherwise as gh_elf_write. */
bool gh_elf_append(struct gh_elf *elf, const struct gh_image *image, size_t first, int fd,
		   const char *path, struct gh_error *err);

/* Begins a file that takes the place of IMAGE's: whoever may run that may run it. As
 * gh_output_open. */
bool gh_image_output(const struct gh_image *image, struct gh_output *out, const char *path,
		     struct gh_error *err);

/* Writes the file of IMAGE to PATH as it is, to be run by whoever may run it. Otherwise as
 * gh_elf_write. */
bool gh_image_copy(const struct gh_image *image, const char *path, struct gh_error *err);

void gh_elf_free(struct gh_elf *elf);

#endif
