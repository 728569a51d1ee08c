/* The tables of Go 1.0 and 1.1 of the synthetic program, and its code. They share no code with the
 * reader. */
#ifndef TESTS_UNIT_SYNTHETIC_PLAN9_H
#define TESTS_UNIT_SYNTHETIC_PLAN9_H

#include "tests/unit/synthetic.h"

struct synthetic_plan9 {
	uint8_t text[0x80];
	uint8_t symtab[0x400]; /* .gosymtab */
	size_t symtab_size;    /* in bytes */
	uint8_t lines[0x80];   /* .gopclntab */
	size_t lines_size;     /* in bytes */
};

/* Makes those of the program WHAT, whose pc quantum is QUANTUM. */
void synthetic_plan9_make(struct synthetic_plan9 *tables, const struct synthetic *what,
			  unsigned quantum);

#endif
