/* What of an object a slice or string has. */
#include <inttypes.h>

#include "plugin/view/emit.h"
#include "plugin/view/paths.h"

/* Smaller objects are shared by small values (maxTinySize in src/runtime/malloc.go), in bytes. */
#define LARGEST_SHARED 16

/* The size of an element of the slice or string whose pointer is at OFFSET of OBJECT; 0 if it is
 * none. */
static uint64_t element_size(const struct gh_names *names, uint32_t object, uint64_t offset)
{
	const struct gh_typing *typing = &names->typing;
	struct gh_parts parts = {0};
	uint64_t header =
	    gh_typing_value(typing, object) - gh_heap_object(names->heap, object).address;
	uint32_t number = offset < header ? GH_NO_LAYOUT
					  : gh_typing_parts(typing, gh_typing_of(typing, object),
							    offset - header, &parts);
	gh_vector_free(&parts);
	if (number == GH_NO_LAYOUT)
		return 0;
	const struct gh_layout *layout = gh_layout(&typing->layouts, number);
	if (layout->kind == GH_LAYOUT_STRING)
		return 1;
	return layout->kind == GH_LAYOUT_SLICE && layout->elem != GH_NO_LAYOUT
		   ? gh_layout(&typing->layouts, layout->elem)->size
		   : 0;
}

bool gh_slice_range_find(const struct gh_names *names, uint32_t object, uint64_t offset,
			 struct gh_slice_range *range)
{
	struct gh_cursor cur;
	const struct gh_heap *heap = names->heap;
	unsigned word = heap->dump->word;
	uint64_t size = element_size(names, object, offset);
	if (size == 0 ||
	    !gh_dump_memory(heap->dump, gh_heap_object(heap, object).address + offset, &cur))
		return false;
	uint64_t pointer = gh_cursor_uint(&cur, word);
	uint64_t length = gh_cursor_uint(&cur, word);
	uint32_t target = gh_heap_find(heap, pointer);
	if (cur.failed || target == GH_HEAP_NONE)
		return false;
	struct gh_heap_object place = gh_heap_object(heap, target);
	uint64_t start = gh_typing_value(&names->typing, target);
	uint64_t bytes, whole = place.size - (start - place.address);
	if (pointer < start || __builtin_mul_overflow(length, size, &bytes) ||
	    bytes > whole - (pointer - start) || place.size <= LARGEST_SHARED)
		return false;
	*range = (struct gh_slice_range){pointer - start, pointer - start + bytes, whole};
	/* append makes room for as many elements again, and the allocator for somewhat more. */
	return pointer > start || bytes < whole / 2;
}

void gh_names_print_pointer(FILE *out, const struct gh_names *names, uint32_t object,
			    uint64_t offset)
{
	struct gh_slice_range range;
	gh_names_print_field(out, names, object, offset);
	if (!gh_slice_range_find(names, object, offset, &range))
		return;
	fprintf(out, " [%" PRIu64 ":%" PRIu64 "] of ", range.start, range.end);
	gh_print_count(out, range.size, "byte");
}

void gh_object_print_range(struct gh_emit *emit, const void *member)
{
	const struct gh_object *object = member;
	struct gh_slice_range range;
	if (gh_slice_range_find(object->names, object->number, object->offset, &range))
		fprintf(emit->out, "[%" PRIu64 ",%" PRIu64 "]", range.start, range.end);
	else
		fputs("null", emit->out);
}
