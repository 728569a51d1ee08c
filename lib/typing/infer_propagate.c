/* What follows from the type of an object for those that it points to. */
#include <string.h>

#include "lib/dump/dump.h"
#include "lib/typing/internal.h"

/* The flag of a reflect.Value (flagKindMask and flagIndir in src/reflect/value.go). */
#define FLAG_KIND     0x1f
#define FLAG_INDIRECT 0x80

/* After so many objects the memory is let go of that the dump's file has been mapped to. */
#define RELEASE 8192

static uint64_t word_at(const struct gh_infer *infer, const struct gh_cursor *contents,
			uint64_t offset)
{
	struct gh_cursor cur = *contents;
	gh_cursor_seek(&cur, offset);
	return gh_cursor_uint(&cur, infer->heap->dump->word);
}

/* Gives the bytes from ADDRESS, which is in a segment. False if it is in none. */
static bool look_into_segment(struct gh_infer *infer, uint64_t address, struct gh_cursor *contents)
{
	const struct gh_dump *dump = infer->heap->dump;
	size_t number = gh_extents_find(&dump->segments, address);
	if (number == GH_NO_EXTENT)
		return false;
	struct gh_extent extent = gh_extents_get(&dump->segments, number);
	/* A segment's list of pointers is long, and read over each time. */
	if (infer->segment.start == NULL || infer->segment_number != number)
		gh_dump_memory(dump, extent.address, &infer->segment);
	infer->segment_number = number;
	uint64_t skip = address - extent.address;
	*contents = gh_cursor_slice(&infer->segment, skip, extent.size - skip);
	return true;
}

bool gh_infer_look_at(struct gh_infer *infer, uint64_t address, struct gh_cursor *contents)
{
	struct gh_view view;
	uint32_t object = gh_heap_find(infer->heap, address);
	if (object == GH_HEAP_NONE)
		return look_into_segment(infer, address, contents);
	gh_infer_view(infer, object, &view);
	struct gh_cursor all = gh_dump_bytes(infer->heap->dump, view.record.object.contents);
	uint64_t skip = address - (view.address - view.header);
	*contents = gh_cursor_slice(&all, skip, gh_cursor_size(&all) - skip);
	return true;
}

/* VALUE points to a node whose first byte says which of two it is. */
static void follow_trie_node(struct gh_infer *infer, const struct gh_link *link, uint64_t value)
{
	struct gh_cursor node;
	if (!gh_infer_look_at(infer, value, &node))
		return;
	bool is_entry = gh_cursor_u8(&node) != 0;
	gh_infer_claim(infer, value, is_entry ? link->elem : link->group, 1, GH_TRUST_POINTED);
}

/* VALUE is at OFFSET in CONTENTS, in a reflect.Value: the address of a descriptor is before it, and
 * after it the flag, which has the type's kind, and whether VALUE points to what is of the type. */
static void follow_reflected(struct gh_infer *infer, const struct gh_cursor *contents,
			     uint64_t offset, uint64_t value)
{
	uint64_t word = infer->heap->dump->word;
	const struct gh_rtypes *types = infer->layouts->types;
	uint64_t address = offset >= word ? word_at(infer, contents, offset - word) : 0;
	uint64_t flag = word_at(infer, contents, offset + word);
	uint32_t type = gh_rtypes_at(types, address - infer->bias);
	/* That of a method's value is another. */
	if (type == GH_NO_RTYPE || types->items[type].kind != (flag & FLAG_KIND))
		return;
	if ((flag & FLAG_INDIRECT) != 0)
		gh_infer_claim(infer, value, type, 1, GH_TRUST_POINTED);
	else if (gh_layout(infer->layouts, type)->direct)
		gh_infer_claim_interface(infer, address, value);
}

void gh_infer_follow(struct gh_infer *infer, const struct gh_link *link,
		     const struct gh_cursor *contents, uint64_t offset, uint64_t value)
{
	uint64_t word = infer->heap->dump->word;
	uint64_t count;
	switch (link->kind) {
	case GH_LAYOUT_POINTER:
		gh_infer_claim(infer, value, link->elem, 1, GH_TRUST_POINTED);
		break;
	case GH_LAYOUT_SLICE:
		count = word_at(infer, contents, offset + 2 * word);
		if (count > 0)
			gh_infer_claim(infer, value, link->elem, count, GH_TRUST_SLICED);
		break;
	case GH_LAYOUT_STRING:
		gh_infer_claim_string(infer, value, word_at(infer, contents, offset + word));
		break;
	case GH_LAYOUT_INTERFACE:
	case GH_LAYOUT_DATA_WORD:
		if (offset >= word)
			gh_infer_claim_interface(infer, word_at(infer, contents, offset - word),
						 value);
		break;
	case GH_LAYOUT_REFLECTED:
		follow_reflected(infer, contents, offset, value);
		break;
	case GH_LAYOUT_FUNC:
		gh_infer_claim_closure(infer, value);
		break;
	case GH_LAYOUT_OBJECT:
		gh_infer_claim(infer, value, link->elem, 1, GH_TRUST_ALLOCATED);
		break;
	case GH_LAYOUT_ELEMENTS:
		gh_infer_claim(infer, value, link->elem, 0, GH_TRUST_ALLOCATED);
		break;
	case GH_LAYOUT_DIRECTORY:
		if (word_at(infer, contents, offset + word) == 0)
			gh_infer_claim(infer, value, link->group, 1, GH_TRUST_ALLOCATED);
		else
			gh_infer_claim(infer, value, link->elem, 0, GH_TRUST_ALLOCATED);
		break;
	case GH_LAYOUT_TRIE_NODE:
		follow_trie_node(infer, link, value);
		break;
	default:
		break;
	}
}

/* The linker put what is at ADDRESS into a segment. */
static bool is_static(const struct gh_infer *infer, uint64_t address)
{
	return gh_extents_find(&infer->heap->dump->segments, address) != GH_NO_EXTENT;
}

/* Follows the pointers that the collector follows in OBJECT. */
static void follow_object(struct gh_infer *infer, uint32_t object)
{
	struct gh_view view;
	struct gh_pointers walk;
	struct gh_pointer pointer;
	struct gh_link link;
	struct gh_finding finding = infer->findings[object];
	uint64_t size = gh_layout(infer->layouts, finding.layout)->size;
	/* Objects are met in no order: the file would be in memory as a whole. */
	if (++infer->nfollowed % RELEASE == 0)
		gh_dump_input_release(&infer->heap->dump->input, 0, UINT64_MAX);
	gh_infer_view(infer, object, &view);
	gh_pointers_of(infer->heap->dump, &infer->heap->table, &view.record, &walk);
	gh_pointers_use_targets(&walk, infer->heap, object);
	while (gh_pointers_next(&walk, &pointer)) {
		uint64_t offset = pointer.offset - view.header;
		if (pointer.offset < view.header || (!finding.many && offset >= size) ||
		    (pointer.target == GH_HEAP_NONE && !is_static(infer, pointer.value)))
			continue;
		if (!gh_layouts_link_at(infer->layouts, finding.layout, offset % size, &link))
			continue;
		infer->followed = pointer.value;
		infer->followed_to = pointer.target;
		gh_infer_follow(infer, &link, &walk.contents, pointer.offset, pointer.value);
	}
}

/* Adds the array that LINK, in a value at ADDRESS, stands for. */
static void add_nested(struct gh_infer *infer, const struct gh_link *link, uint64_t address)
{
	const struct gh_link *links;
	struct gh_stretch nested = {address + link->offset, link->count, link->elem};
	uint64_t nlinks = gh_layouts_links(infer->layouts, link->elem, &links);
	uint64_t work;
	if (__builtin_mul_overflow(nested.count, nlinks, &work) || work > infer->budget)
		return;
	infer->budget -= work;
	gh_vector_push(&infer->stretches, nested);
}

/* Follows the pointers of the values in STRETCH. */
static void follow_stretch(struct gh_infer *infer, const struct gh_stretch *stretch)
{
	const struct gh_link *links;
	struct gh_cursor contents;
	if (!gh_infer_look_at(infer, stretch->address, &contents))
		return;
	uint64_t size = gh_layout(infer->layouts, stretch->layout)->size;
	uint64_t start = 0;
	for (uint64_t i = 0; i < stretch->count; i++, start += size) {
		uint32_t nlinks = gh_layouts_links(infer->layouts, stretch->layout, &links);
		for (uint32_t j = 0; j < nlinks; j++) {
			gh_layouts_links(infer->layouts, stretch->layout, &links);
			struct gh_link link = links[j];
			uint64_t offset = start + link.offset;
			if (link.kind == GH_LAYOUT_NESTED)
				add_nested(infer, &link, stretch->address + i * size);
			else
				gh_infer_follow(infer, &link, &contents, offset,
						word_at(infer, &contents, offset));
		}
	}
}

void gh_infer_propagate(struct gh_infer *infer)
{
	while (infer->objects.count > 0 || infer->stretches.count > 0) {
		if (infer->objects.count > 0) {
			follow_object(infer, infer->objects.items[--infer->objects.count]);
			continue;
		}
		struct gh_stretch stretch = infer->stretches.items[--infer->stretches.count];
		follow_stretch(infer, &stretch);
	}
}
