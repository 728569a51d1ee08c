/* What follows from the type of an object for those that it points to. */
#include <string.h>

#include "lib/dump/regions.h"
#include "lib/typing/infer.h"

static uint64_t word_at(const struct gh_typer *typer, const struct gh_cursor *contents,
			uint64_t offset)
{
	struct gh_cursor cur = *contents;
	gh_cursor_seek(&cur, offset);
	return gh_cursor_uint(&cur, typer->heap->dump->word);
}

void gh_typer_follow(struct gh_typer *typer, const struct gh_link *link,
		     const struct gh_cursor *contents, uint64_t offset, uint64_t value)
{
	uint64_t word = typer->heap->dump->word;
	uint64_t count;
	switch (link->kind) {
	case GH_LAYOUT_POINTER:
		gh_typer_claim(typer, value, link->elem, 1, GH_TRUST_POINTED);
		break;
	case GH_LAYOUT_SLICE:
		count = word_at(typer, contents, offset + 2 * word);
		if (count > 0)
			gh_typer_claim(typer, value, link->elem, count, GH_TRUST_POINTED);
		break;
	case GH_LAYOUT_STRING:
		gh_typer_claim_string(typer, value, word_at(typer, contents, offset + word));
		break;
	case GH_LAYOUT_INTERFACE:
		if (offset >= word)
			gh_typer_claim_interface(typer, word_at(typer, contents, offset - word),
						 value);
		break;
	case GH_LAYOUT_FUNC:
		gh_typer_claim_closure(typer, value);
		break;
	case GH_LAYOUT_OBJECT:
		gh_typer_claim(typer, value, link->elem, 1, GH_TRUST_ALLOCATED);
		break;
	case GH_LAYOUT_ELEMENTS:
		gh_typer_claim(typer, value, link->elem, 0, GH_TRUST_ALLOCATED);
		break;
	case GH_LAYOUT_DIRECTORY:
		if (word_at(typer, contents, offset + word) == 0)
			gh_typer_claim(typer, value, link->group, 1, GH_TRUST_ALLOCATED);
		else
			gh_typer_claim(typer, value, link->elem, 0, GH_TRUST_ALLOCATED);
		break;
	default:
		break;
	}
}

/* Follows the pointers that the collector follows in OBJECT. */
static void follow_object(struct gh_typer *typer, uint32_t object)
{
	struct gh_view view;
	struct gh_pointers walk;
	struct gh_pointer pointer;
	struct gh_link link;
	struct gh_finding finding = typer->findings[object];
	uint64_t size = gh_layout(typer->layouts, finding.layout)->size;
	gh_typer_view(typer, object, &view);
	gh_pointers_of(typer->heap->dump, &typer->heap->table, &view.record, &walk);
	while (gh_pointers_next(&walk, &pointer)) {
		uint64_t offset = pointer.offset - view.header;
		if (pointer.target == GH_HEAP_NONE || pointer.offset < view.header ||
		    (!finding.many && offset >= size))
			continue;
		if (gh_layouts_link_at(typer->layouts, finding.layout, offset % size, &link))
			gh_typer_follow(typer, &link, &walk.contents, pointer.offset,
					pointer.value);
	}
}

/* Adds the array that LINK, in a value at ADDRESS, stands for. */
static void add_nested(struct gh_typer *typer, const struct gh_link *link, uint64_t address)
{
	const struct gh_link *links;
	struct gh_stretch nested = {address + link->offset, link->count, link->elem};
	uint64_t nlinks = gh_layouts_links(typer->layouts, link->elem, &links);
	uint64_t work;
	if (__builtin_mul_overflow(nested.count, nlinks, &work) || work > typer->budget)
		return;
	typer->budget -= work;
	gh_buffer_bytes(&typer->stretches, &nested, sizeof(nested));
}

/* Gives the bytes from ADDRESS, which is in a segment. False if it is in none. */
static bool look_into_segment(struct gh_typer *typer, uint64_t address, struct gh_cursor *contents)
{
	const struct gh_dump *dump = typer->heap->dump;
	size_t number = gh_extents_find(&dump->segments, address);
	if (number == GH_NO_EXTENT)
		return false;
	struct gh_extent extent = gh_extents_get(&dump->segments, number);
	/* A segment's list of pointers is long, and read over each time. */
	if (typer->segment.start == NULL || typer->segment_number != number)
		gh_dump_memory(dump, extent.address, &typer->segment);
	typer->segment_number = number;
	uint64_t skip = address - extent.address;
	*contents = gh_cursor_slice(&typer->segment, skip, extent.size - skip);
	return true;
}

/* Gives the bytes from ADDRESS in its object or segment. False if it is in neither. */
static bool look_at(struct gh_typer *typer, uint64_t address, struct gh_cursor *contents)
{
	struct gh_view view;
	uint32_t object = gh_heap_find(typer->heap, address);
	if (object == GH_HEAP_NONE)
		return look_into_segment(typer, address, contents);
	gh_typer_view(typer, object, &view);
	struct gh_cursor all = gh_dump_bytes(typer->heap->dump, view.record.object.contents);
	uint64_t skip = address - (view.address - view.header);
	*contents = gh_cursor_slice(&all, skip, gh_cursor_size(&all) - skip);
	return true;
}

/* Follows the pointers of the values in STRETCH. */
static void follow_stretch(struct gh_typer *typer, const struct gh_stretch *stretch)
{
	const struct gh_link *links;
	struct gh_cursor contents;
	if (!look_at(typer, stretch->address, &contents))
		return;
	uint64_t size = gh_layout(typer->layouts, stretch->layout)->size;
	uint64_t start = 0;
	for (uint64_t i = 0; i < stretch->count; i++, start += size) {
		uint32_t nlinks = gh_layouts_links(typer->layouts, stretch->layout, &links);
		for (uint32_t j = 0; j < nlinks; j++) {
			gh_layouts_links(typer->layouts, stretch->layout, &links);
			struct gh_link link = links[j];
			uint64_t offset = start + link.offset;
			if (link.kind == GH_LAYOUT_NESTED)
				add_nested(typer, &link, stretch->address + i * size);
			else
				gh_typer_follow(typer, &link, &contents, offset,
						word_at(typer, &contents, offset));
		}
	}
}

/* Takes the last item off BUFFER. False if there is none. */
static bool pop(struct gh_buffer *buffer, void *item, size_t size)
{
	if (buffer->size < size)
		return false;
	buffer->size -= size;
	memcpy(item, buffer->data + buffer->size, size);
	return true;
}

void gh_typer_spread(struct gh_typer *typer)
{
	uint32_t object;
	struct gh_stretch stretch;
	bool more = true;
	while (more) {
		more = false;
		if (pop(&typer->objects, &object, sizeof(object))) {
			follow_object(typer, object);
			more = true;
		} else if (pop(&typer->stretches, &stretch, sizeof(stretch))) {
			follow_stretch(typer, &stretch);
			more = true;
		}
	}
}
