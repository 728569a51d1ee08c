#include "lib/heap/samples.h"

void gh_samples_find(uint32_t *records, const struct gh_heap *heap)
{
	const struct gh_dump *dump = heap->dump;
	for (uint32_t i = 0; i < heap->count; i++)
		records[i] = GH_NOT_SAMPLED;
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_SAMPLE); i++) {
		struct gh_dump_record record;
		gh_dump_get(dump, GH_DUMP_SAMPLE, i, &record);
		uint32_t object = gh_heap_find(heap, record.sample.object);
		size_t profile = gh_dump_find(dump, GH_DUMP_PROFILE, record.sample.profile);
		if (object != GH_HEAP_NONE && records[object] == GH_NOT_SAMPLED &&
		    profile < GH_NOT_SAMPLED)
			records[object] = (uint32_t)profile;
	}
}
