#include "lib/process/dump_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/dump/record.h"

/* A walk over the objects. */
struct walk {
	struct gh_dump_stream *stream;
	struct gh_span_pointers *pointers;
	struct gh_dump_totals *totals;
	struct gh_c_records *c;
	uint64_t specials; /* that may still be read to tell which elements are objects */
	/* The bytes of a span of objects without pointers, whose first words are looked at. */
	uint64_t at;   /* address of the first; 0: none were read */
	size_t length; /* how many there are */
	uint8_t bytes[GH_PROCESS_BLOCK];
};

/* Of a larger object only the first word is read. */
#define READ_WHOLE 4096

/* The first word of the object of SIZE bytes at ADDRESS, up to END in a span of objects without
 * pointers; 0 if it cannot be read. They are gone through once: no block of them is kept. */
static uint64_t first_word(struct walk *walk, uint64_t address, uint64_t size, uint64_t end)
{
	const struct gh_process *process = walk->pointers->process;
	const struct gh_memory *memory = process->memory.source;
	unsigned word = process->tab->pointer_size;
	if (walk->at == 0 || address < walk->at || address - walk->at + word > walk->length) {
		uint64_t left = size <= READ_WHOLE ? end - address : word;
		walk->length = left < sizeof(walk->bytes) ? (size_t)left : sizeof(walk->bytes);
		walk->at = address;
		if (!memory->read(memory, address, walk->bytes, walk->length))
			memset(walk->bytes, 0, walk->length);
	}
	struct gh_cursor cur = gh_cursor_make(walk->bytes, walk->length, "memory", walk->at,
					      process->memory.big_endian);
	gh_cursor_seek(&cur, address - walk->at);
	return gh_cursor_uint(&cur, word);
}

/* The object at ADDRESS in SPAN may be a closure, which tells what it is by its function. */
static bool may_be_closure(struct walk *walk, const struct gh_span *span, uint64_t address)
{
	size_t index = SIZE_MAX;
	uint64_t end = span->start + span->nelems * span->elemsize;
	uint64_t word = first_word(walk, address, span->elemsize, end);
	if (word >= GH_LEAST_PAGE)
		gh_process_module_at(walk->pointers->process, word, &index);
	return index != SIZE_MAX;
}

/* Adds a field for each bit of WORDS, of which there are COUNT. */
static void add_fields(struct gh_buffer *out, const uint64_t *words, uint64_t count, unsigned word)
{
	for (uint64_t i = 0; i < (count + 63) / 64; i++) {
		for (uint64_t bits = words[i]; bits != 0; bits &= bits - 1) {
			uint64_t number = i * 64 + (uint64_t)__builtin_ctzll(bits);
			gh_buffer_uleb128(out, GH_FIELD_POINTER + 1);
			gh_buffer_uleb128(out, number * word);
		}
	}
}

/* Notes the type of the object of SPAN, which is too large for a header that tells it. */
static void add_type(struct gh_buffer *out, const struct gh_span *span)
{
	char note[sizeof(GH_DUMP_OBJECT_TYPE) + 2 * 16];
	snprintf(note, sizeof(note), GH_DUMP_OBJECT_TYPE, span->start, span->large_type);
	gh_dump_add_note(out, note);
}

/* Adds an object without pointers, SIZE bytes at ADDRESS, without its contents. */
static void add_bare(struct gh_dump_stream *stream, uint64_t address, uint64_t size)
{
	stream->left -= size;
	if (size > stream->bare_size)
		stream->bare_size = size;
	gh_buffer_uleb128(&stream->bytes, GH_DUMP_BARE_OBJECT);
	gh_buffer_uleb128(&stream->bytes, address);
	gh_buffer_uleb128(&stream->bytes, size);
	gh_buffer_uleb128(&stream->bytes, 0); /* the end of the fields */
	gh_dump_stream_pass(stream);
}

static void add_object(struct walk *walk, const struct gh_span *span, uint64_t index)
{
	struct gh_process *process = walk->pointers->process;
	struct gh_buffer *out = &walk->stream->bytes;
	unsigned word = process->tab->pointer_size;
	uint64_t address = span->start + index * span->elemsize;
	uint64_t header = 0;
	if (span->elemsize > walk->stream->left) {
		walk->totals->skipped++;
		return;
	}
	walk->totals->objects++;
	walk->totals->bytes += span->elemsize;
	if (walk->stream->bare && (span->class & GH_SPAN_NOSCAN) != 0 &&
	    !may_be_closure(walk, span, address)) {
		add_bare(walk->stream, address, span->elemsize);
		return;
	}
	gh_process_uint(&process->memory, address, word, &header);
	const uint64_t *words = gh_span_pointers_of(walk->pointers, span, index, header);
	gh_buffer_uleb128(out, GH_DUMP_OBJECT);
	gh_buffer_uleb128(out, address);
	gh_dump_stream_memory(walk->stream, process, address, span->elemsize);
	if (words != NULL)
		add_fields(out, words, span->elemsize / word, word);
	gh_buffer_uleb128(out, 0); /* the end of the fields */
	gh_c_records_note(walk->c, process, address, span->elemsize, words);
	if (words != NULL && GH_SPAN_IS_LARGE(span) && span->large_type != 0)
		add_type(out, span);
	gh_dump_stream_pass(walk->stream);
}

/* A bit for each element of SPAN that is an object, to be freed; NULL if there are more than memory
 * has, or memory ran out. */
static uint8_t *objects_of(const struct gh_spans *spans, struct gh_process *process,
			   const struct gh_span *span, uint64_t *specials)
{
	uint8_t *bits = NULL;
	if (span->nelems <= process->memory.source->size)
		bits = calloc((size_t)((span->nelems + 7) / 8), 1);
	if (bits != NULL)
		gh_span_objects(spans, process, span, bits, specials);
	return bits;
}

void gh_dump_count_objects(const struct gh_spans *spans, struct gh_process *process,
			   struct gh_dump_totals *totals)
{
	uint64_t specials = gh_specials_most(spans, process);
	for (size_t i = 0; i < spans->list.count; i++) {
		const struct gh_span *span = &spans->list.items[i];
		uint8_t *bits = objects_of(spans, process, span, &specials);
		uint64_t count = 0;
		totals->in_use += span->size;
		for (uint64_t k = 0; bits != NULL && k < span->nelems; k++)
			count += bits[k / 8] >> k % 8 & 1;
		totals->objects += count;
		totals->bytes += count * span->elemsize;
		free(bits);
	}
}

static void add_span(struct walk *walk, const struct gh_span *span)
{
	struct gh_process *process = walk->pointers->process;
	walk->totals->in_use += span->size;
	uint8_t *bits = objects_of(walk->pointers->spans, process, span, &walk->specials);
	if (bits == NULL) {
		if (span->nelems > process->memory.source->size)
			walk->totals->skipped += span->nelems;
		else
			walk->pointers->failed = true;
		return;
	}
	for (uint64_t i = 0; i < span->nelems; i++)
		if ((bits[i / 8] >> i % 8 & 1) != 0)
			add_object(walk, span, i);
	free(bits);
}

void gh_dump_add_objects(struct gh_dump_stream *stream, struct gh_span_pointers *pointers,
			 struct gh_c_records *c, struct gh_dump_totals *totals)
{
	const struct gh_spans *spans = pointers->spans;
	struct walk walk;
	walk.stream = stream;
	walk.c = c;
	walk.pointers = pointers;
	walk.totals = totals;
	walk.specials = gh_specials_most(spans, pointers->process);
	walk.at = 0;
	for (size_t i = 0; i < spans->list.count && !stream->failed && !stream->bytes.failed; i++)
		add_span(&walk, &spans->list.items[i]);
}
