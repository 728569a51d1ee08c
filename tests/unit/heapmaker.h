/* Dumps of small random heaps in every format, and what is to be found in them by a linear scan. */
#ifndef TESTS_UNIT_HEAPMAKER_H
#define TESTS_UNIT_HEAPMAKER_H

#include "lib/heap/heap.h"
#include "tests/unit/dumpmaker.h"

enum {
	MADE_OBJECTS = 24,
	MADE_WORDS = 12, /* of an object, frame or segment, at most */
	MADE_ROOTS = 400,
};

/* Where the frames are in memory. */
#define MADE_STACKS      UINT64_C(0x30000)
#define MADE_STACKS_SIZE 0x800

struct made_object {
	uint64_t address;
	unsigned words;
	unsigned extra;  /* bytes after them */
	unsigned kind;   /* what it is of its type: one, an array, a channel */
	unsigned shape;  /* its type's number */
	unsigned record; /* its number in the dump */
	uint64_t contents[MADE_WORDS];
};

/* A root as it is expected. */
struct made_root {
	uint32_t object;
	bool conservative;
	enum gh_root_kind kind;
	uint32_t number; /* of its record */
	uint64_t offset; /* in that */
};

/* The heap that was made last. */
extern struct made_heap {
	struct maker maker;
	struct made_object objects[MADE_OBJECTS]; /* by address */
	unsigned nobjects;
	struct made_root roots[MADE_ROOTS]; /* those that are expected */
	unsigned nroots;
} made;

/* Makes the next heap, of VARIANT as of maker_everything. */
void made_make(int variant);

/* Expects, in a dump of 1.7, the roots in frames that something points to. */
void made_expect_reached(void);

/* In bytes. */
unsigned made_size(const struct made_object *object);

/* The object that holds ADDRESS, or GH_HEAP_NONE. */
uint32_t made_find(uint64_t address);

typedef void made_on_pointer(void *context, unsigned word, uint64_t value);

/* Calls CALL for each pointer of OBJECT, in the order of its fields. */
void made_pointers(const struct made_object *object, made_on_pointer *call, void *context);

/* The rest is for the files that make the heap. */

uint32_t made_random(uint32_t below);

/* A word that may be a pointer. */
uint64_t made_word(void);

/* Put the contents of an object, frame or segment, and a field of it, into the dump. */
void made_put_contents(const uint64_t *words, unsigned count, unsigned extra);
void made_put_field(void *context, unsigned word, uint64_t value);

/* Make the frames and segments, and put them and all other roots into the dump. */
void made_fill_regions(void);
void made_put_roots(void);

#endif
