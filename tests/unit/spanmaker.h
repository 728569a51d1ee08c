/* A process of which only the memory is there that tells of the pointers of one span's objects. */
#ifndef TESTS_UNIT_SPANMAKER_H
#define TESTS_UNIT_SPANMAKER_H

#include "lib/process/internal.h"

/* Memory that is there in pieces: what nobody has written of a piece is 0. */
enum { SPANMAKER_PIECE = 64, SPANMAKER_PIECES = 64 };

struct spanmaker_piece {
	uint64_t address; /* a multiple of SPANMAKER_PIECE */
	uint8_t bytes[SPANMAKER_PIECE];
};

struct spanmaker {
	unsigned word; /* pointer size, 4 or 8 bytes */
	struct spanmaker_piece pieces[SPANMAKER_PIECES];
	size_t npieces;
	struct gh_memory memory; /* all pieces */
	struct gh_pclntab tab;   /* of no program: it has the pointer size */
	struct gh_image image;
	struct gh_process process;
	struct gh_spans spans;            /* those that tell of the arenas */
	struct gh_span span;              /* whose objects are looked at */
	struct gh_span_pointers pointers; /* what is tested */
};

/* Where the variable allspans is. */
#define SPANMAKER_ALLSPANS UINT64_C(0x500000)

/* Starts a process of Go 1.MINOR with no memory. VARIANT is of 4: words of 4 bytes if bit 0 is set,
 * big-endian if bit 1 is. The span is of one page, its elements' size is to be set. */
void spanmaker_start(struct spanmaker *maker, int variant, int minor);

void spanmaker_free(struct spanmaker *maker);

/* The byte at ADDRESS, which is there from now on. */
uint8_t *spanmaker_byte(struct spanmaker *maker, uint64_t address);

/* Write an integer of SIZE bytes, or a word, at ADDRESS. */
void spanmaker_put(struct spanmaker *maker, uint64_t address, uint64_t value, unsigned size);
void spanmaker_put_word(struct spanmaker *maker, uint64_t address, uint64_t value);

/* Fails the test unless element INDEX, whose first word is HEADER, has these words: of '1' those
 * that are pointers. Those after them are none. NULL: it is not known. */
void spanmaker_check(struct spanmaker *maker, uint64_t index, uint64_t header,
		     const char *expected);

#endif
