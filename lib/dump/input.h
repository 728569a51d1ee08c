/* The file of a heap dump, mapped; a compressed one is unpacked first. */
#ifndef GH_DUMP_INPUT_H
#define GH_DUMP_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/util/error.h"

struct gh_dump_input {
	const uint8_t *data; /* mapped read-only; NULL if the file is empty */
	size_t size;         /* in bytes */
	int fd;              /* of the file, if that is not empty; owned */
	bool cut; /* the compressed file is damaged, or unpacks to more than is allowed: this
		     is what came before */
};

/* Maps PATH. What gzip made is unpacked into a temporary file without a name, in $TMPDIR or /tmp;
 * at most GH_DUMP_MAX_RATIO times the file's size. False (ERR filled) if it cannot be read. To be
 * closed with gh_dump_input_close. */
bool gh_dump_input_open(struct gh_dump_input *input, const char *path, struct gh_error *err);

/* Maps the file FD, not compressed, which is the input's from now on, also on failure. PATH is for
 * errors. */
bool gh_dump_input_take(struct gh_dump_input *input, int fd, const char *path,
			struct gh_error *err);

void gh_dump_input_close(struct gh_dump_input *input);

/* Lets go of the memory that the bytes from START to END have been mapped to. They are still there
 * to be read: but who goes through a large file once need not have all of it in memory. */
void gh_dump_input_release(const struct gh_dump_input *input, uint64_t start, uint64_t end);

/* Copies bytes of the file, from OFFSET on, to the SIZE bytes at BUF. To go through a large file
 * this is faster than to have all of it mapped. Returns how many bytes it were: 0 if there are
 * none, or they cannot be read. */
size_t gh_dump_input_copy(const struct gh_dump_input *input, void *buf, size_t size,
			  uint64_t offset);

/* Above what heaps compress to, below what a file that was made for it would fill a disk with. */
#define GH_DUMP_MAX_RATIO 256

#endif
