/* What the fuzz targets share that read a process: an input is a byte that says of what machine and
 * release it is, and its memory. */
#ifndef TESTS_FUZZ_PROCESS_INPUT_H
#define TESTS_FUZZ_PROCESS_INPUT_H

#include "lib/pclntab/pclntab.h"
#include "tests/unit/processmaker.h"

/* Aborts unless HOLDS. */
void require(bool holds);

/* The input of SIZE bytes that is VARIANT and the memory of MAKER, which is freed. To be freed. */
uint8_t *process_seed(struct processmaker *maker, uint8_t variant, size_t *size);

/* Has READ look at the process that the input, of SIZE bytes at DATA, is: it is DESCRIBE's of the
 * variant, and its program is TAB's. */
void process_input(const uint8_t *data, size_t size,
		   struct processmaker (*describe)(uint8_t variant),
		   void (*read)(const struct processmaker *maker, struct gh_pclntab *tab,
				uint8_t variant));

#endif
