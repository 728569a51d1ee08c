/* The ids of objects in an hprof file: an object's is its address; what is not of the dump gets one
 * that no object has. */
#ifndef GH_WRITE_HPROF_IDS_H
#define GH_WRITE_HPROF_IDS_H

#include "lib/heap/heap.h"

struct gh_hprof_ids {
	const struct gh_heap *heap; /* the caller's */
	uint64_t limit;             /* the highest id */
	uint64_t last;              /* given to what is not of the dump */
	uint32_t next;              /* the first object at a higher address */
};

/* The id of OBJECT, or 0: none for GH_HEAP_NONE, nor where its address cannot be one. */
uint64_t gh_hprof_id_of(const struct gh_hprof_ids *ids, uint32_t object);

/* An id for what is not of the dump, a multiple of 8 above those before; 0 if none is left. */
uint64_t gh_hprof_id_new(struct gh_hprof_ids *ids);

#endif
