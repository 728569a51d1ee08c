#include "lib/heap/heap.h"

#include <stdlib.h>
#include <string.h>

#include "lib/util/escape.h"
#include "lib/util/hash.h"

/* Where in an object a string is. */
struct extent {
	uint32_t start;  /* in bytes */
	uint32_t length; /* in bytes; 0 if nothing with a length points to it */
};

/* A text before like ones are put together. */
struct found {
	uint64_t hash;
	struct gh_heap_string text;
};

struct all_found GH_VECTOR(struct found);

static bool has_pointers(const struct gh_heap *heap, uint32_t object)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_pointers_start(heap, object, &walk);
	return gh_pointers_next(&walk, &pointer);
}

/* Notes the length that is after POINTER in CONTENTS, if it is the longest so far. */
static void note_length(struct extent *extents, const struct gh_heap *heap,
			const struct gh_pointer *pointer, const struct gh_cursor *contents)
{
	uint8_t word = heap->dump->word;
	struct gh_cursor cur = *contents;
	gh_cursor_seek(&cur, pointer->offset + word);
	uint64_t length = gh_cursor_uint(&cur, word);
	struct gh_heap_object target = gh_heap_object(heap, pointer->target);
	uint64_t start = pointer->value - target.address;
	struct extent *extent = &extents[pointer->target];
	if (length <= target.size - start && length > extent->length && length <= UINT32_MAX &&
	    start <= UINT32_MAX)
		*extent = (struct extent){(uint32_t)start, (uint32_t)length};
}

/* Goes through the pointers of a region. */
static void note_lengths(struct extent *extents, const struct gh_heap *heap,
			 struct gh_pointers *walk)
{
	struct gh_pointer pointer;
	while (gh_pointers_next(walk, &pointer))
		if (pointer.target != GH_HEAP_NONE)
			note_length(extents, heap, &pointer, &walk->contents);
}

static void note_records(struct extent *extents, const struct gh_heap *heap, enum gh_dump_kind kind)
{
	struct gh_dump_record record;
	struct gh_pointers walk;
	for (size_t i = 0; i < gh_dump_count(heap->dump, kind); i++) {
		gh_dump_get(heap->dump, kind, i, &record);
		gh_pointers_of(heap->dump, &heap->table, &record, &walk);
		note_lengths(extents, heap, &walk);
	}
}

static void find_extents(struct extent *extents, const struct gh_heap *heap)
{
	struct gh_pointers walk;
	for (uint32_t i = 0; i < heap->count; i++) {
		gh_pointers_start(heap, i, &walk);
		note_lengths(extents, heap, &walk);
	}
	note_records(extents, heap, GH_DUMP_DATA);
	note_records(extents, heap, GH_DUMP_BSS);
	note_records(extents, heap, GH_DUMP_FRAME);
}

/* Adds what EXTENT of OBJECT is to FOUND if it is text. */
static void add_text(struct all_found *found, const struct gh_heap *heap, uint32_t object,
		     const struct extent *extent)
{
	if (extent->length < GH_HEAP_STRING_LEAST || has_pointers(heap, object))
		return;
	struct gh_heap_object place = gh_heap_object(heap, object);
	struct gh_dump_record record;
	gh_dump_get(heap->dump, GH_DUMP_OBJECT, place.number, &record);
	struct gh_cursor bytes = gh_dump_bytes(heap->dump, record.object.contents);
	gh_cursor_seek(&bytes, extent->start);
	const char *data = (const char *)gh_cursor_bytes(&bytes, extent->length);
	if (data == NULL || !gh_escape_is_text(data, extent->length))
		return;
	struct found item = {
	    .hash = gh_hash_bytes(GH_HASH_START, data, extent->length),
	    .text = {data, extent->length, object, 1, place.size},
	};
	gh_vector_push(found, item);
}

static int compare(const void *a, const void *b)
{
	const struct found *first = a;
	const struct found *second = b;
	if (first->hash != second->hash)
		return first->hash < second->hash ? -1 : 1;
	return (first->text.object > second->text.object) -
	       (first->text.object < second->text.object);
}

static bool is_same(const struct gh_heap_string *a, const struct gh_heap_string *b)
{
	return a->length == b->length && memcmp(a->data, b->data, a->length) == 0;
}

/* Puts like texts of FOUND together. */
static void merge(struct gh_heap_strings *texts, struct all_found *found)
{
	struct found *items = found->items;
	size_t count = found->count;
	struct gh_heap_string *last = NULL;
	if (count > 0)
		qsort(items, count, sizeof(*items), compare);
	for (size_t i = 0; i < count; i++) {
		if (last != NULL && is_same(last, &items[i].text)) {
			last->copies++;
			last->bytes += items[i].text.bytes;
			continue;
		}
		if (!gh_vector_push(texts, items[i].text))
			return;
		last = &texts->items[texts->count - 1];
	}
}

bool gh_heap_strings_find(struct gh_heap_strings *texts, const struct gh_heap *heap,
			  struct gh_error *err)
{
	struct all_found found = {0};
	struct extent *extents = calloc((size_t)heap->count + 1, sizeof(*extents));
	*texts = (struct gh_heap_strings){0};
	if (extents != NULL) {
		find_extents(extents, heap);
		for (uint32_t i = 0; i < heap->count; i++)
			add_text(&found, heap, i, &extents[i]);
		merge(texts, &found);
	}
	bool whole = extents != NULL && !found.failed && !texts->failed;
	gh_vector_free(&found);
	free(extents);
	return whole || gh_fail_memory(err, heap->dump->path);
}
