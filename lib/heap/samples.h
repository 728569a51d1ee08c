/* The objects that the memory profile sampled. */
#ifndef GH_HEAP_SAMPLES_H
#define GH_HEAP_SAMPLES_H

#include "lib/heap/heap.h"

/* An object that has no sample. */
#define GH_NOT_SAMPLED UINT32_MAX

/* Fills RECORDS, by object of HEAP, with the number of the profile record of its sample, or
 * GH_NOT_SAMPLED. A block of small objects may have several samples: the first counts. */
void gh_samples_find(uint32_t *records, const struct gh_heap *heap);

#endif
