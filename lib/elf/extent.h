/* How long an ELF file is by what its own headers say, when only its beginning is there. */
#ifndef GH_ELF_EXTENT_H
#define GH_ELF_EXTENT_H

#include <stddef.h>
#include <stdint.h>

/* The end, in bytes from the file's start, of what the headers describe: both header tables, the
 * segments, and the sections if their table is within the SIZE bytes at DATA, the file's first.
 * Nothing bounds what they say: UINT64_MAX stands for an end that has no number. 0 if there is no
 * ELF header. */
uint64_t gh_elf_extent(const uint8_t *data, size_t size);

#endif
