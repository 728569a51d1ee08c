#include "lib/typing/typing.h"

#include "lib/util/bsearch.h"

static int by_address(const void *a, const void *b)
{
	const struct gh_static *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return (x->layout > y->layout) - (x->layout < y->layout);
}

/* Leaves out what begins in another: that is a part of it. */
static void sort_values(struct gh_static_list *values)
{
	size_t kept = 0;
	if (values->count > 0)
		qsort(values->items, values->count, sizeof(*values->items), by_address);
	for (size_t i = 0; i < values->count; i++) {
		const struct gh_static *last = kept > 0 ? &values->items[kept - 1] : NULL;
		if (last == NULL || values->items[i].address - last->address >= last->size)
			values->items[kept++] = values->items[i];
	}
	values->count = kept;
}

static int by_value(const void *a, const void *b)
{
	const struct gh_static_pointer *x = a, *y = b;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->slot > y->slot) - (x->slot < y->slot);
}

static void find_pointers(struct gh_statics *statics, const struct gh_heap *heap,
			  enum gh_dump_kind kind)
{
	const struct gh_dump *dump = heap->dump;
	struct gh_dump_record record;
	struct gh_pointers walk;
	struct gh_pointer pointer;
	for (size_t i = 0; i < gh_dump_count(dump, kind); i++) {
		gh_dump_get(dump, kind, i, &record);
		gh_pointers_of(dump, &heap->table, &record, &walk);
		while (gh_pointers_next(&walk, &pointer)) {
			struct gh_static_pointer found = {pointer.value,
							  record.segment.address + pointer.offset};
			if (gh_extents_find(&dump->segments, pointer.value) != GH_NO_EXTENT)
				gh_vector_push(&statics->pointers, found);
		}
	}
}

bool gh_statics_make(struct gh_statics *statics, struct gh_static_list *values,
		     const struct gh_heap *heap)
{
	*statics = (struct gh_statics){.values = *values};
	*values = (struct gh_static_list){0};
	sort_values(&statics->values);
	find_pointers(statics, heap, GH_DUMP_DATA);
	find_pointers(statics, heap, GH_DUMP_BSS);
	if (statics->pointers.count > 0)
		qsort(statics->pointers.items, statics->pointers.count,
		      sizeof(*statics->pointers.items), by_value);
	return !statics->values.failed && !statics->pointers.failed;
}

const struct gh_static *gh_statics_find(const struct gh_statics *statics, uint64_t address)
{
	const struct gh_static *items = statics->values.items;
	size_t after = gh_lower_bound(statics->values.count, i, items[i].address <= address);
	const struct gh_static *found = after > 0 ? &items[after - 1] : NULL;
	return found != NULL && address - found->address < found->size ? found : NULL;
}

const struct gh_static_pointer *gh_statics_pointer(const struct gh_statics *statics,
						   uint64_t address)
{
	const struct gh_static_pointer *items = statics->pointers.items;
	size_t after = gh_lower_bound(statics->pointers.count, i, items[i].value <= address);
	if (after == 0)
		return NULL;
	uint64_t found = items[after - 1].value;
	return &items[gh_lower_bound(after, i, items[i].value < found)];
}

void gh_statics_free(struct gh_statics *statics)
{
	gh_vector_free(&statics->values);
	gh_vector_free(&statics->pointers);
}
