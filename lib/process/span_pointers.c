#include "lib/process/internal.h"

#include <stdlib.h>
#include <string.h>

/* How far after mheap_.allspans the pointer to the arenas may be, in words. */
#define ARENAS_WITHIN 320

/* Bytes before an object that is not small, and has pointers (from Go 1.22 on). */
#define MALLOC_HEADER 8

/* Spans by which the arenas are told. */
#define SAMPLE 8

static unsigned word_size(const struct gh_span_pointers *pointers)
{
	return pointers->process->tab->pointer_size;
}

static uint64_t to_uint(const struct gh_span_pointers *pointers, const uint8_t *bytes, size_t size)
{
	struct gh_cursor cur =
	    gh_cursor_make(bytes, size, "memory", 0, pointers->process->memory.big_endian);
	return gh_cursor_uint(&cur, (unsigned)size);
}

/* Whether arenas have bitmaps. */
static bool has_arena_bits(const struct gh_span_pointers *pointers)
{
	return pointers->process->minor < 22;
}

static uint64_t arena_size(unsigned word)
{
	return word == 8 ? UINT64_C(64) << 20 : UINT64_C(4) << 20;
}

uint64_t gh_heap_arena_size(const struct gh_process *process)
{
	return arena_size(process->tab->pointer_size);
}

/* Where heapArena has its field spans, which follows the bitmaps: two bits a word, or from Go 1.20
 * on one bit, and then noMorePtrs, a bit for each word of that. */
static uint64_t spans_place(const struct gh_span_pointers *pointers)
{
	unsigned word = word_size(pointers);
	uint64_t words = arena_size(word) / word;
	if (pointers->process->minor < 20)
		return words / 4;
	return words / 8 + words / 8 / word / 8;
}

/* The address of the arena that has ADDRESS; 0 if there is none. */
static uint64_t find_arena(const struct gh_span_pointers *pointers, uint64_t address)
{
	unsigned word = word_size(pointers);
	uint64_t number = (address + pointers->arena_base) / arena_size(word);
	uint64_t arena;
	if (!gh_process_uint(&pointers->process->memory, pointers->arenas + number * word, word,
			     &arena))
		return 0;
	return arena;
}

/* What is at pointers->arenas are the arenas: they know some of the spans. */
static bool are_arenas(const struct gh_span_pointers *pointers)
{
	const struct gh_spans *spans = pointers->spans;
	unsigned word = word_size(pointers);
	size_t sample = spans->list.count < SAMPLE ? spans->list.count : SAMPLE;
	size_t good = 0;
	for (size_t i = 0; i < sample; i++) {
		const struct gh_span *span = &spans->list.items[i * (spans->list.count / sample)];
		uint64_t arena = find_arena(pointers, span->start);
		uint64_t page = span->start % arena_size(word) / GH_HEAP_PAGE;
		uint64_t descriptor;
		good += arena != 0 &&
			gh_process_uint(&pointers->process->memory,
					arena + spans_place(pointers) + page * word, word,
					&descriptor) &&
			descriptor == span->descriptor;
	}
	return good > sample / 2;
}

/* Finds mheap_.arenas[0], which is somewhere after allspans. On amd64 the number of an address's
 * arena counts from the lowest of signed addresses (arenaBaseOffset). */
static bool find_arenas(struct gh_span_pointers *pointers)
{
	unsigned word = word_size(pointers);
	for (unsigned i = 3; i < ARENAS_WITHIN; i++) {
		uint64_t at = pointers->spans->allspans + i * word;
		if (!gh_process_uint(&pointers->process->memory, at, word, &pointers->arenas) ||
		    pointers->arenas == 0)
			continue;
		pointers->arena_base = 0;
		if (are_arenas(pointers))
			return true;
		pointers->arena_base = UINT64_C(1) << 47;
		if (are_arenas(pointers))
			return true;
	}
	return false;
}

bool gh_span_pointers_open(struct gh_span_pointers *pointers, const struct gh_spans *spans,
			   struct gh_process *process, struct gh_error *err)
{
	*pointers = (struct gh_span_pointers){.spans = spans, .process = process};
	if (!has_arena_bits(pointers) || find_arenas(pointers))
		return true;
	return gh_fail(err, process->tab->image->path, GH_NO_OFFSET,
		       "the arenas of the heap beside the list of its spans",
		       "none: the process's memory is damaged or not all there");
}

void gh_span_pointers_free(struct gh_span_pointers *pointers)
{
	gh_numbermap_free(&pointers->type_numbers);
	for (size_t i = 0; i < pointers->types.count; i++)
		gh_vector_free(&pointers->types.items[i].made);
	gh_vector_free(&pointers->types);
	gh_vector_free(&pointers->words);
	gh_vector_free(&pointers->bytes);
}

/* Makes room for COUNT bits, all 0. NULL if memory ran out. */
static uint64_t *clear_words(struct gh_span_pointers *pointers, uint64_t count)
{
	size_t size = (size_t)((count + 63) / 64);
	pointers->words.count = 0;
	uint64_t *words = gh_vector_extend(&pointers->words, size);
	pointers->failed = pointers->failed || words == NULL;
	if (words != NULL)
		memset(words, 0, size * sizeof(*words));
	return words;
}

static void set_bit(uint64_t *words, uint64_t number)
{
	words[number / 64] |= UINT64_C(1) << number % 64;
}

/* To Go 1.19: a byte for 4 words, in the low half whether each is a pointer, in the high one
 * whether the object has more of them from there on; in Go 1.15 not so for an object's second word.
 */
static bool add_nibbles(struct gh_span_pointers *pointers, uint64_t address, uint64_t count,
			uint64_t *words)
{
	unsigned word = word_size(pointers);
	uint64_t in_arena = arena_size(word) / word;
	uint64_t arena = 0;
	uint8_t byte = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t number = (address / word + i) % in_arena;
		if (i == 0 || number == 0)
			arena = find_arena(pointers, address + i * word);
		if ((i == 0 || number % 4 == 0) &&
		    (arena == 0 ||
		     !gh_process_read(&pointers->process->memory, arena + number / 4, &byte, 1)))
			return false;
		unsigned bits = (unsigned)byte >> number % 4;
		bool second = i == 1 && pointers->process->minor < 16;
		if ((bits & 16) == 0 && !second)
			return true;
		if ((bits & 1) != 0)
			set_bit(words, i);
	}
	return true;
}

/* Go 1.20 and 1.21: a bit for each word. After a word of bits that noMorePtrs has a bit for, the
 * object has no more. */
static bool add_arena_bits(struct gh_span_pointers *pointers, uint64_t address, uint64_t count,
			   uint64_t *words)
{
	struct gh_process_memory *memory = &pointers->process->memory;
	unsigned word = word_size(pointers);
	unsigned width = word * 8;
	uint64_t in_arena = arena_size(word) / word;
	for (uint64_t i = 0; i < count;) {
		uint64_t number = (address / word + i) % in_arena;
		uint64_t arena = find_arena(pointers, address + i * word);
		uint64_t bits, last;
		uint64_t item = number / width;
		if (arena == 0 || !gh_process_uint(memory, arena + item * word, word, &bits) ||
		    !gh_process_uint(memory, arena + in_arena / 8 + item / 8, 1, &last))
			return false;
		for (uint64_t at = number % width; at < width && i < count; at++, i++)
			if ((bits >> at & 1) != 0)
				set_bit(words, i);
		if ((last >> item % 8 & 1) != 0)
			break;
	}
	return true;
}

/* Reads the bits at the end of SPAN, if they are not there yet. */
static bool read_heap_bits(struct gh_span_pointers *pointers, const struct gh_span *span)
{
	uint64_t size = span->size / word_size(pointers) / 8;
	if (pointers->bits_of == span->start)
		return pointers->bytes.count == size;
	uint64_t end = span->start + span->size -
		       gh_span_after_heap_bits(pointers->spans, pointers->process, span);
	pointers->bytes.count = 0;
	pointers->bits_of = span->start;
	if (size > pointers->process->memory.source->size)
		return false;
	uint8_t *bytes = gh_vector_extend(&pointers->bytes, (size_t)size);
	pointers->failed = pointers->failed || bytes == NULL;
	if (bytes != NULL &&
	    gh_process_read(&pointers->process->memory, end - size, bytes, (size_t)size))
		return true;
	pointers->bytes.count = 0;
	return false;
}

/* Go 1.22 on, small objects: a bit for each word of the span, in words of the machine's. */
static bool add_heap_bits(struct gh_span_pointers *pointers, const struct gh_span *span,
			  uint64_t index, uint64_t *words)
{
	unsigned word = word_size(pointers);
	unsigned width = word * 8;
	uint64_t count = span->elemsize / word;
	if (!read_heap_bits(pointers, span))
		return false;
	for (uint64_t done = 0, taken; done < count; done += taken) {
		uint64_t number = index * count + done;
		uint64_t item = number / width;
		if ((item + 1) * word > pointers->bytes.count)
			return false;
		taken = width - number % width;
		if (taken > count - done)
			taken = count - done;
		uint64_t bits =
		    to_uint(pointers, pointers->bytes.items + item * word, word) >> number % width;
		if (taken < 64)
			bits &= (UINT64_C(1) << taken) - 1;
		words[done / 64] |= bits << done % 64;
		if (done % 64 + taken > 64)
			words[done / 64 + 1] |= bits >> (64 - done % 64);
	}
	return true;
}

/* The type at ADDRESS; NULL if there is none, or memory ran out. */
static const struct gh_type_mask *find_type(struct gh_span_pointers *pointers, uint64_t address)
{
	uint32_t number = gh_numbermap_get(&pointers->type_numbers, address);
	if (number == GH_NOT_MAPPED) {
		struct gh_type_mask type;
		gh_type_mask_read(&type, pointers->process, address);
		pointers->failed = pointers->failed || type.made.failed;
		number = (uint32_t)pointers->types.count;
		if (!gh_vector_push(&pointers->types, type) ||
		    !gh_numbermap_put(&pointers->type_numbers, address, number)) {
			pointers->failed = true;
			return NULL;
		}
	}
	const struct gh_type_mask *type = &pointers->types.items[number];
	return type->mask != 0 || type->made.count > 0 ? type : NULL;
}

/* Adds the pointers of values of TYPE, one after the other, to the words from START to END. */
static bool add_values(struct gh_span_pointers *pointers, const struct gh_type_mask *type,
		       uint64_t start, uint64_t end, uint64_t *words)
{
	unsigned word = word_size(pointers);
	uint64_t length = type->pointers / word;
	uint64_t step = type->size / word;
	uint8_t bytes[512];
	if (type->size % word != 0 || length == 0 || length > end - start)
		return length == 0;
	for (uint64_t done = 0; done < length; done += sizeof(bytes) * 8) {
		uint64_t left =
		    length - done < sizeof(bytes) * 8 ? length - done : sizeof(bytes) * 8;
		if (!gh_type_mask_bytes(type, pointers->process, done / 8, bytes,
					(size_t)((left + 7) / 8)))
			return false;
		for (uint64_t i = 0; i < left; i++)
			if ((bytes[i / 8] >> i % 8 & 1) != 0)
				for (uint64_t at = start + done + i; at < end; at += step)
					set_bit(words, at);
	}
	return true;
}

/* Go 1.22 on, other objects: a type, in a header (mallocHeaderSize), or the span's. */
static bool add_typed(struct gh_span_pointers *pointers, const struct gh_span *span,
		      uint64_t header, uint64_t *words)
{
	bool large = GH_SPAN_IS_LARGE(span);
	uint64_t address = large ? span->large_type : header;
	/* It is being allocated. */
	if (address == 0)
		return true;
	const struct gh_type_mask *type = find_type(pointers, address);
	unsigned word = word_size(pointers);
	return type != NULL && add_values(pointers, type, large ? 0 : MALLOC_HEADER / word,
					  span->elemsize / word, words);
}

const uint64_t *gh_span_pointers_of(struct gh_span_pointers *pointers, const struct gh_span *span,
				    uint64_t index, uint64_t header)
{
	unsigned word = word_size(pointers);
	uint64_t count = span->elemsize / word;
	uint64_t address = span->start + index * span->elemsize;
	bool told;
	if ((span->class & GH_SPAN_NOSCAN) != 0)
		return NULL;
	if (span->elemsize > pointers->process->memory.source->size) {
		pointers->unknown++;
		return NULL;
	}
	uint64_t *words = clear_words(pointers, count);
	if (words == NULL)
		return NULL;
	if (has_arena_bits(pointers) && pointers->process->minor < 20)
		told = add_nibbles(pointers, address, count, words);
	else if (has_arena_bits(pointers))
		told = add_arena_bits(pointers, address, count, words);
	else if (gh_span_has_heap_bits(pointers->process, span->elemsize))
		told = add_heap_bits(pointers, span, index, words);
	else
		told = add_typed(pointers, span, header, words);
	if (!told)
		pointers->unknown++;
	return told ? words : NULL;
}
