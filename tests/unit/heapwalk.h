/* Reads all there is to know of the heap of a dump. */
#ifndef TESTS_UNIT_HEAPWALK_H
#define TESTS_UNIT_HEAPWALK_H

#include "lib/heap/heap.h"

/* Goes through the objects, edges and roots of HEAP, its dominators, and the paths to some of its
 * objects, and aborts if what it finds is not as the headers promise, or is more than the dump's
 * size allows. */
void heap_walk(const struct gh_heap *heap);

#endif
