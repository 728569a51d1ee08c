/* Fuzz target: the graph of a heap dump, its dominators and paths. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/target.h"
#include "tests/unit/heapwalk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* In memory of its own size, so that a read past the end is seen. */
	uint8_t *copy = malloc(size > 0 ? size : 1);
	if (copy == NULL)
		return 0;
	memcpy(copy, data, size);
	struct gh_dump dump;
	struct gh_heap heap;
	struct gh_error err;
	if (gh_dump_open_memory(&dump, copy, size, "input", &err)) {
		if (gh_heap_build(&heap, &dump, &err)) {
			heap_walk(&heap);
			gh_heap_free(&heap);
		}
		gh_dump_close(&dump);
	}
	free(copy);
	return 0;
}
