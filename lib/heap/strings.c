#include "lib/heap/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/util/escape.h"
#include "lib/util/hash.h"
#include "lib/util/parallel.h"

/* Where in an object a string is. */
struct extent {
	uint32_t start;  /* in bytes */
	uint32_t length; /* in bytes; 0 if nothing with a length points to it */
};

/* Something that points to TARGET with a length. */
struct note {
	uint32_t target;
	struct extent extent;
};

struct notes GH_VECTOR(struct note);

/* A text before like ones are put together. */
struct found {
	uint64_t hash;
	struct gh_heap_string text;
};

struct all_found GH_VECTOR(struct found);

/* What several threads find, a block of objects at a time. */
struct search {
	const struct gh_heap *heap;
	struct extent *extents;  /* by object; owned */
	struct notes *notes;     /* by block; owned */
	struct all_found *texts; /* the same */
	struct all_found found;  /* of all blocks; owned */
	bool failed;             /* memory ran out */
};

/* One past the last object of block NUMBER. */
static uint32_t block_end(const struct gh_heap *heap, uint32_t number)
{
	uint64_t end = (uint64_t)(number + 1) * GH_ADJACENCY_BLOCK;
	return end < heap->count ? (uint32_t)end : heap->count;
}

/* Adds to NOTES the length that is after POINTER in CONTENTS, if it is of what is in an object. */
static void note_length(struct notes *notes, const struct gh_heap *heap,
			const struct gh_pointer *pointer, const struct gh_cursor *contents)
{
	uint8_t word = heap->dump->word;
	struct gh_cursor cur = *contents;
	gh_cursor_seek(&cur, pointer->offset + word);
	uint64_t length = gh_cursor_uint(&cur, word);
	/* Most words after a pointer are none: what it points to need not be found. */
	if (length < GH_HEAP_STRING_LEAST || length > UINT32_MAX)
		return;
	uint32_t object = gh_heap_find(heap, pointer->value);
	if (object == GH_HEAP_NONE)
		return;
	struct gh_heap_object target = gh_heap_object(heap, object);
	uint64_t start = pointer->value - target.address;
	struct note note = {object, {(uint32_t)start, (uint32_t)length}};
	if (length <= target.size - start && start <= UINT32_MAX)
		gh_vector_push(notes, note);
}

/* Goes through the pointers of a region. */
static void note_lengths(struct notes *notes, const struct gh_heap *heap, struct gh_pointers *walk)
{
	struct gh_pointer pointer;
	while (gh_pointers_next_value(walk, &pointer))
		note_length(notes, heap, &pointer, &walk->contents);
}

static void note_block(void *context, uint32_t number)
{
	struct search *search = context;
	const struct gh_heap *heap = search->heap;
	const uint32_t *targets;
	struct gh_pointers walk;
	for (uint32_t i = number * GH_ADJACENCY_BLOCK; i < block_end(heap, number); i++) {
		if (gh_heap_targets(heap, i, &targets) == 0)
			continue;
		gh_pointers_start(heap, i, &walk);
		note_lengths(&search->notes[number], heap, &walk);
	}
}

/* Notes the longest of each object; of equally long ones, the first. */
static void take_notes(struct search *search, struct notes *notes)
{
	for (size_t i = 0; i < notes->count; i++) {
		const struct note *note = &notes->items[i];
		struct extent *extent = &search->extents[note->target];
		if (note->extent.length > extent->length)
			*extent = note->extent;
	}
	search->failed |= notes->failed;
	gh_vector_free(notes);
}

static void take_block(void *context, uint32_t number)
{
	struct search *search = context;
	take_notes(search, &search->notes[number]);
}

static void note_records(struct search *search, enum gh_dump_kind kind)
{
	const struct gh_heap *heap = search->heap;
	struct notes notes = {0};
	struct gh_dump_record record;
	struct gh_pointers walk;
	for (size_t i = 0; i < gh_dump_count(heap->dump, kind); i++) {
		gh_dump_get(heap->dump, kind, i, &record);
		gh_pointers_of(heap->dump, &heap->table, &record, &walk);
		note_lengths(&notes, heap, &walk);
	}
	take_notes(search, &notes);
}

/* Adds what EXTENT of OBJECT is to FOUND if it is text. */
static void add_text(struct all_found *found, const struct gh_heap *heap, uint32_t object,
		     const struct extent *extent)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	if (extent->length == 0)
		return;
	gh_pointers_start(heap, object, &walk);
	if (gh_pointers_next_value(&walk, &pointer))
		return;
	struct gh_cursor bytes = walk.contents;
	gh_cursor_seek(&bytes, extent->start);
	const char *data = (const char *)gh_cursor_bytes(&bytes, extent->length);
	if (data == NULL || !gh_escape_is_text(data, extent->length))
		return;
	struct found item = {
	    .hash = gh_hash_bytes(GH_HASH_START, data, extent->length),
	    .text = {data, extent->length, object, 1, gh_heap_object(heap, object).size},
	};
	gh_vector_push(found, item);
}

static void find_texts(void *context, uint32_t number)
{
	struct search *search = context;
	for (uint32_t i = number * GH_ADJACENCY_BLOCK; i < block_end(search->heap, number); i++)
		add_text(&search->texts[number], search->heap, i, &search->extents[i]);
}

static void take_texts(void *context, uint32_t number)
{
	struct search *search = context;
	struct all_found *texts = &search->texts[number];
	struct found *items =
	    texts->count > 0 ? gh_vector_extend(&search->found, texts->count) : NULL;
	if (items != NULL)
		memcpy(items, texts->items, texts->count * sizeof(*items));
	search->failed |= texts->failed || search->found.failed;
	gh_vector_free(texts);
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

/* Puts TEXTS in the order of their objects: who goes through them reads memory from one end to the
 * other. False if memory ran out. */
static bool sort_by_object(struct gh_heap_strings *texts, const struct gh_heap *heap)
{
	uint32_t *places = calloc((size_t)heap->count + 1, sizeof(*places));
	struct gh_heap_string *sorted = malloc((texts->count + 1) * sizeof(*sorted));
	bool ok = places != NULL && sorted != NULL;
	size_t count = 0;
	for (size_t i = 0; ok && i < texts->count; i++)
		places[texts->items[i].object] = (uint32_t)i + 1;
	for (uint32_t i = 0; ok && i < heap->count; i++)
		if (places[i] != 0)
			sorted[count++] = texts->items[places[i] - 1];
	if (ok)
		memcpy(texts->items, sorted, count * sizeof(*sorted));
	free(places);
	free(sorted);
	return ok;
}

/* Finds all texts. False if memory ran out. */
static bool find_all(struct search *search)
{
	uint32_t nblocks = gh_adjacency_nblocks(&search->heap->targets);
	search->extents = calloc((size_t)search->heap->count + 1, sizeof(*search->extents));
	search->notes = calloc((size_t)nblocks + 1, sizeof(*search->notes));
	search->texts = calloc((size_t)nblocks + 1, sizeof(*search->texts));
	if (search->extents == NULL || search->notes == NULL || search->texts == NULL ||
	    !gh_parallel_ordered(nblocks, note_block, take_block, search))
		return false;
	note_records(search, GH_DUMP_DATA);
	note_records(search, GH_DUMP_BSS);
	note_records(search, GH_DUMP_FRAME);
	return gh_parallel_ordered(nblocks, find_texts, take_texts, search) && !search->failed;
}

bool gh_heap_strings_find(struct gh_heap_strings *texts, const struct gh_heap *heap,
			  struct gh_error *err)
{
	struct search search = {.heap = heap};
	*texts = (struct gh_heap_strings){0};
	bool whole = find_all(&search);
	if (whole)
		merge(texts, &search.found);
	gh_vector_free(&search.found);
	free(search.extents);
	free(search.notes);
	free(search.texts);
	whole = whole && !texts->failed && (texts->count == 0 || sort_by_object(texts, heap));
	return whole || gh_fail_memory(err, heap->dump->path);
}
