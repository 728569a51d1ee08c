/* Where code calls. */
#ifndef GH_WRITE_CALLSITE_H
#define GH_WRITE_CALLSITE_H

#include "lib/elf/image.h"

/* A call. */
struct gh_callsite {
	size_t start; /* of the instruction in the code, in bytes; on x86, of its opcode */
	size_t end;   /* where it returns to: past the instruction, and the one in its delay slot */
	bool direct;  /* the instruction has the address that it calls */
	uint64_t target; /* that address, or 0 */
};

/* A walk over the calls of some code. The fields are private. */
struct gh_callsites {
	const struct gh_arch *arch;
	const uint8_t *code;
	size_t size;      /* of the code, in bytes */
	uint64_t address; /* of the code */
	size_t direct;    /* where the next call can be, of either kind */
	size_t indirect;
	size_t known; /* an instruction that was found there, or is unknown */
};

/* Starts a walk over the SIZE bytes of CODE for ARCH, which are at ADDRESS, an instruction's. */
void gh_callsites_start(struct gh_callsites *walk, const struct gh_arch *arch, const uint8_t *code,
			size_t size, uint64_t address);

/* The same over the code of IMAGE from START to before END, as far as the image has it. */
void gh_callsites_in(struct gh_callsites *walk, const struct gh_image *image, uint64_t start,
		     uint64_t end);

/* Gives what may be the next call. False if there are no more. On x86, where it takes much longer
 * to read all instructions, it may be the middle of others: a direct call is one if there is a
 * function at its target, an indirect one if gh_callsites_check says so. */
bool gh_callsites_next(struct gh_callsites *walk, struct gh_callsite *site);

/* Whether SITE, which was given last, is an instruction, given that one starts at START, no later.
 */
bool gh_callsites_check(struct gh_callsites *walk, const struct gh_callsite *site, size_t start);

#endif
