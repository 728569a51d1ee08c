/* Fuzz target: the graph of a heap dump, its dominators and paths. */
#include "tests/fuzz/target.h"
#include "tests/unit/heapwalk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gh_dump dump;
	struct gh_heap heap;
	struct gh_error err;
	if (gh_dump_open_memory(&dump, data, size, "input", &err)) {
		if (gh_heap_build(&heap, &dump, &err)) {
			heap_walk(&heap);
			gh_heap_free(&heap);
		}
		gh_dump_close(&dump);
	}
	return 0;
}
