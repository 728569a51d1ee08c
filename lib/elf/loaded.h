/* Reconstructs an ELF file from the memory of a process that runs it: its headers are at the start
 * of its first segment. */
#ifndef GH_ELF_LOADED_H
#define GH_ELF_LOADED_H

#include "lib/elf/image.h"

/* What is read of a program to know its segments: its headers are in that, and no page is smaller.
 */
#define GH_LOADED_HEADERS 4096

struct gh_memory {
	/* Reads SIZE bytes at ADDRESS into TO. False if they are not all there. */
	bool (*read)(const struct gh_memory *memory, uint64_t address, void *to, size_t size);
	void const *from; /* what READ reads from */
	uint64_t size;    /* bytes that there are at most */
};

struct gh_loaded {
	uint8_t bytes[GH_LOADED_HEADERS];
	struct gh_image headers; /* those bytes as a file of their own */
	uint64_t bias;           /* of addresses in memory over those in the headers */
};

/* Where the ELF header is in memory, whose program headers are at PHDR (AT_PHDR) and PHENT
 * (AT_PHENT) bytes each: they follow it. */
uint64_t gh_loaded_start(uint64_t phdr, uint64_t phent);

/* Reads the headers from BYTES, which are at the address START in the process. NAME is for errors.
 * False (ERR filled) if they are not those of a program. On success to be closed with
 * gh_loaded_close, and not to be moved. */
bool gh_loaded_open(struct gh_loaded *loaded, const uint8_t bytes[GH_LOADED_HEADERS],
		    uint64_t start, const char *name, struct gh_error *err);

void gh_loaded_close(struct gh_loaded *loaded);

/* How many bytes the segments' contents are by the headers, which nothing bounds: UINT64_MAX stands
 * for more than have a number. */
uint64_t gh_loaded_size(const struct gh_loaded *loaded);

/* Makes an ELF file of *SIZE bytes at *DATA, to be freed, of the segments in MEMORY, which are read
 * once, whole and in the order of their headers. It is not position-independent: its addresses
 * are those in MEMORY, as are the pointers in its data. It has no section headers, and its
 * variables have the values of this moment. False (ERR filled) if MEMORY lacks any. */
bool gh_loaded_make(const struct gh_loaded *loaded, const struct gh_memory *memory, uint8_t **data,
		    size_t *size, struct gh_error *err);

#endif
