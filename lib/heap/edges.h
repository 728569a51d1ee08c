/* The pointers between the objects of a heap. */
#ifndef GH_HEAP_EDGES_H
#define GH_HEAP_EDGES_H

#include "lib/heap/heap.h"

/* Fills the targets of HEAP, whose places are known, and counts in its damage. False if memory ran
 * out. */
bool gh_edges_make(struct gh_heap *heap);

#endif
