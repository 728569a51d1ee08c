/* The direct calls in a program's code, on machines where an instruction tells that it is one by
 * its bits: 386, amd64, arm64. */
#ifndef GH_WRITE_CALLS_H
#define GH_WRITE_CALLS_H

#include "lib/elf/image.h"

/* A walk over a stretch of code. The fields are private. */
struct gh_calls {
	const uint8_t *code; /* in the image */
	size_t size;         /* in bytes */
	size_t next;         /* offset of the instruction to look at next */
	uint64_t address;    /* of the code */
	uint16_t machine;    /* ELF e_machine */
};

/* Starts a walk over the code of IMAGE from START to before END, as far as the image has it. */
void gh_calls_start(struct gh_calls *walk, const struct gh_image *image, uint64_t start,
		    uint64_t end);

/* Gives the next call: the address of what is called, and where it returns to. False at the end.
 * On 386 and amd64, where instructions do not say where they start, bytes of others may look like
 * a call: only TARGET tells whether it is one. */
bool gh_calls_next(struct gh_calls *walk, uint64_t *target, uint64_t *return_address);

#endif
