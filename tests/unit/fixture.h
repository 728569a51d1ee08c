/* A synthetic program, opened. */
#ifndef TESTS_UNIT_FIXTURE_H
#define TESTS_UNIT_FIXTURE_H

#include "lib/pclntab/pclntab.h"
#include "tests/unit/synthetic.h"

/* Number of programs that fixture_variant makes: every format, word size and byte order, with
 * section headers and without. */
#define FIXTURE_VARIANTS (SYNTHETIC_FORMATS * 8)

/* Those in the formats before Go 1.2 come after them: some are none. */
#define FIXTURE_FIRST_PLAN9 FIXTURE_VARIANTS
#define FIXTURE_END_PLAN9   (SYNTHETIC_ALL_FORMATS * 8)

struct synthetic fixture_variant(int number);

/* Variant NUMBER, of a format before Go 1.2, is a program that can be. */
bool fixture_is_plan9(int number);

struct fixture {
	uint8_t *data; /* the file; owned */
	size_t size;   /* in bytes */
	struct synthetic_places places;
	struct gh_image image;
	struct gh_pclntab tab;
};

/* Makes and opens variant NUMBER; fails the test if it cannot be opened. */
void fixture_open(struct fixture *fixture, int number);

/* Likewise program WHAT. */
void fixture_open_as(struct fixture *fixture, const struct synthetic *what);

/* Writes the program to a file of its own, whose name is PATH, as mkstemp has it. */
void fixture_write(const struct fixture *fixture, char *path);

void fixture_close(struct fixture *fixture);

#endif
