#include "lib/write/hprof_ids.h"

uint64_t gh_hprof_id_of(const struct gh_hprof_ids *ids, uint32_t object)
{
	if (object == GH_HEAP_NONE)
		return 0;
	uint64_t address = gh_heap_object(ids->heap, object).address;
	return address <= ids->limit ? address : 0;
}

uint64_t gh_hprof_id_new(struct gh_hprof_ids *ids)
{
	do {
		if (ids->last > ids->limit - 8)
			return 0;
		ids->last += 8;
		while (ids->next < ids->heap->count &&
		       gh_heap_object(ids->heap, ids->next).address < ids->last)
			ids->next++;
	} while (ids->next < ids->heap->count &&
		 gh_heap_object(ids->heap, ids->next).address == ids->last);
	return ids->last;
}
