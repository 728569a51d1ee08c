/* A synthetic program with type descriptors, opened, and changed before that. */
#ifndef TESTS_UNIT_TYPEPROGRAM_H
#define TESTS_UNIT_TYPEPROGRAM_H

#include "lib/rtype/rtype.h"
#include "tests/unit/typemaker.h"

struct typeprogram {
	struct synthetic what;
	uint8_t *data; /* the file; owned */
	size_t size;
	struct typemaker_places places;
	struct gh_image image;
	struct gh_pclntab tab;
	struct gh_rtypes types;
};

/* Makes the program of variant NUMBER (tests/unit/fixture.h), whose last function is called LAST,
 * or, if that is NULL, as ever. */
void typeprogram_make(struct typeprogram *program, int number, const char *last);

/* Writes VALUE, of SIZE bytes, at OFFSET in the file. */
void typeprogram_set(struct typeprogram *program, size_t offset, uint64_t value, unsigned size);

/* Opens it, and finds its types; fails the test if it cannot. */
void typeprogram_open_tab(struct typeprogram *program);
void typeprogram_open(struct typeprogram *program);

void typeprogram_close(struct typeprogram *program);

/* The address of what is at OFFSET in the file, in the range of types; of type NUMBER's descriptor.
 */
uint64_t typeprogram_address(size_t offset);
uint64_t typeprogram_type(const struct typeprogram *program, int number);

#endif
