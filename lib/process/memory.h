/* The memory of a process or of a core file, wherever it is read from. */
#ifndef GH_PROCESS_MEMORY_H
#define GH_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/loaded.h"

/* The unit in which memory is read and kept, in bytes: a multiple of every machine's page. */
#define GH_PROCESS_BLOCK (1 << 16)

struct gh_process_block {
	uint64_t address; /* a multiple of GH_PROCESS_BLOCK */
	bool asked;       /* it has been read, or could not be */
	uint8_t *bytes;   /* NULL if it cannot be read as a whole; owned */
};

struct gh_process_memory {
	const struct gh_memory *source;  /* asked for at most GH_PROCESS_BLOCK bytes; not owned */
	bool big_endian;                 /* the byte order of integers */
	struct gh_process_block *blocks; /* what was read last; owned */
};

/* Reads SIZE bytes at ADDRESS into BUF. False if they are not all there: BUF is undefined. */
bool gh_process_read(struct gh_process_memory *memory, uint64_t address, void *buf, size_t size);

/* Reads an integer of SIZE bytes: 1, 2, 4 or 8. False, and *VALUE 0, if it is not there. */
bool gh_process_uint(struct gh_process_memory *memory, uint64_t address, unsigned size,
		     uint64_t *value);

/* Frees what is kept. A zeroed one may be freed too. */
void gh_process_memory_free(struct gh_process_memory *memory);

#endif
