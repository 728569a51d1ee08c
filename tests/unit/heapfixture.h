/* The heap of a dump that was made. */
#ifndef TESTS_UNIT_HEAPFIXTURE_H
#define TESTS_UNIT_HEAPFIXTURE_H

#include "lib/heap/heap.h"
#include "tests/unit/dumpmaker.h"

/* Opens what MAKER made as DUMP, which nothing is wrong with, and HEAP; fails the test if that
 * cannot be. To be closed with heap_close. */
void heap_open(const struct maker *maker, struct gh_dump *dump, struct gh_heap *heap);

/* Closes them, and frees what MAKER made. */
void heap_close(struct maker *maker, struct gh_dump *dump, struct gh_heap *heap);

#endif
