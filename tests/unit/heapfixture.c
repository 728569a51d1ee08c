#include "tests/unit/heapfixture.h"

#include <stdlib.h>

#include "tests/unit/suites.h"

void heap_open(const struct maker *maker, struct gh_dump *dump, struct gh_heap *heap)
{
	struct gh_error err;
	if (!gh_dump_open_memory(dump, maker->data, maker->size, "made", &err) ||
	    !gh_heap_build(heap, dump, &err))
		ck_abort_msg("%s", err.text);
	ck_assert_str_eq(dump->warning.text, "");
}

void heap_close(struct maker *maker, struct gh_dump *dump, struct gh_heap *heap)
{
	gh_heap_free(heap);
	gh_dump_close(dump);
	free(maker->data);
}
