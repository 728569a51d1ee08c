#include "lib/process/dump_parts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/util/bsearch.h"

/* Sizes and flags of a chunk, struct malloc_chunk. Its memory is from its third word on up to the
 * second of the next chunk. */
#define WORD            8
#define HEADER          (2 * WORD)
#define LEAST_CHUNK     (4 * WORD)
#define PREVIOUS_IN_USE 1 /* PREV_INUSE: the chunk before is not in the arena's lists */
#define IS_MAPPED       2 /* IS_MMAPPED: the chunk has pages of its own */
#define FLAGS           7

/* Where heaps of an arena other than the main one begin: HEAP_MAX_SIZE. */
#define HEAP_MAX (UINT64_C(1) << 26)

/* Before glibc 2.35 struct heap_info takes four words, later six. In an arena's first heap struct
 * malloc_state follows it, whose size differs by release: these are bounds of what comes before
 * chunks, in bytes. */
#define HEAP_INFO      (4 * WORD)
#define HEAP_INFO_MOST (6 * WORD)
#define ARENA_LEAST    1500
#define ARENA_MOST     4096

/* The lists of an arena, by their place from its pointer to the top chunk on: fastbinsY before it,
 * bins after it, two words each, of which an empty one points to where it would begin as a chunk.
 */
#define FAST_BINS 10
#define BINS      127

/* So many chunks one after the other are malloc's, even if the next one does not fit: code has
 * written past the end of a block. */
#define CONVINCING 64

/* Chunks that one list may have, unless to make work. */
#define MOST_LISTED (1U << 24)

/* A chunk. */
struct chunk {
	uint64_t address;
	uint64_t size : 63; /* in bytes, its header too */
	uint64_t free : 1;
};

struct finder {
	struct gh_process *process;
	struct gh_c_memory *memory;
	struct GH_VECTOR(struct chunk) chunks; /* by address */
	struct GH_VECTOR(uint64_t) tops; /* addresses of the last chunks of arenas; likewise */
	uint64_t left;  /* chunks that may still be looked at: where none fit together, it is tried
			   page by page */
	bool has_arena; /* glibc's own */
};

static uint64_t word_at(struct finder *finder, uint64_t address)
{
	return gh_process_word(finder->process, address);
}

/* The number of the chunk at ADDRESS, or SIZE_MAX. */
static size_t chunk_at(const struct finder *finder, uint64_t address)
{
	const struct chunk *chunks = finder->chunks.items;
	size_t found = gh_lower_bound(finder->chunks.count, i, chunks[i].address < address);
	bool is = found < finder->chunks.count && chunks[found].address == address;
	return is ? found : SIZE_MAX;
}

/* Has the chunks that were added since there were BEFORE be all that is known of an arena, if they
 * are many. Gives where they end; 0, and there are none of them, if they are few. */
static uint64_t end_corrupt(struct finder *finder, size_t before)
{
	if (finder->chunks.count - before < CONVINCING || finder->left == 0) {
		finder->chunks.count = before;
		return 0;
	}
	finder->memory->corrupt++;
	/* Which of the two that do not fit is wrong is not known. */
	return finder->chunks.items[--finder->chunks.count].address;
}

/* Adds the chunks from START to END, which follow each other. Gives where they end, END unless they
 * are corrupt; 0, and none are added, if there are no such chunks: they end with the top chunk, or
 * with headers without a chunk. */
static uint64_t add_chain(struct finder *finder, uint64_t start, uint64_t end)
{
	size_t before = finder->chunks.count;
	uint64_t at = start, size = 0;
	if ((word_at(finder, at + WORD) & PREVIOUS_IN_USE) == 0)
		return 0;
	while (at < end) {
		finder->left -= finder->left > 0;
		uint64_t head = word_at(finder, at + WORD);
		size = head & ~(uint64_t)FLAGS;
		if ((head & PREVIOUS_IN_USE) == 0 && finder->chunks.count > before)
			finder->chunks.items[finder->chunks.count - 1].free = 1;
		if (size == 0 && end - at == HEADER)
			break;
		if (size < HEADER || size % HEADER != 0 || size > end - at ||
		    (head & IS_MAPPED) != 0 || finder->left == 0)
			return end_corrupt(finder, before);
		struct chunk chunk = {.address = at, .size = size & (UINT64_MAX >> 1)};
		if (size >= LEAST_CHUNK)
			gh_vector_push(&finder->chunks, chunk);
		at += size;
	}
	/* Nothing comes after the top chunk. */
	if (size >= LEAST_CHUNK && finder->chunks.count > before) {
		struct chunk *top = &finder->chunks.items[finder->chunks.count - 1];
		top->free = 1;
		gh_vector_push(&finder->tops, top->address);
	}
	return end;
}

static void add_part(struct finder *finder, uint64_t start, uint64_t end)
{
	struct gh_memory_part part = {start, end};
	gh_vector_push(&finder->memory->parts, part);
}

/* Adds the chunks of the heap of an arena at ADDRESS, before END, and gives where it ends; 0 if
 * there is none. */
static uint64_t add_heap(struct finder *finder, uint64_t address, uint64_t end)
{
	uint64_t arena = word_at(finder, address);
	uint64_t size = word_at(finder, address + 2 * WORD);
	uint64_t usable = word_at(finder, address + 3 * WORD);
	if (address % HEAP_MAX != 0 || size == 0 || size % GH_LEAST_PAGE != 0 || size > usable ||
	    usable > HEAP_MAX || size > end - address)
		return 0;
	bool is_first = arena >= address + HEAP_INFO && arena <= address + HEAP_INFO_MOST;
	uint64_t first = is_first ? arena + ARENA_LEAST : address + HEAP_INFO;
	uint64_t last = is_first ? arena + ARENA_MOST : address + HEAP_INFO_MOST;
	for (uint64_t at = first & ~(uint64_t)(HEADER - 1); at <= last; at += HEADER) {
		uint64_t chain = add_chain(finder, at, address + size);
		if (chain == 0)
			continue;
		add_part(finder, address, chain);
		return address + size;
	}
	return 0;
}

/* Adds the chunk with pages of its own at ADDRESS, before END, and gives where it ends; 0 if there
 * is none. One that was asked for with an alignment lies behind a first one, at the first multiple
 * of that which leaves room for a chunk before it (_int_memalign). */
static uint64_t add_mapped(struct finder *finder, uint64_t address, uint64_t end)
{
	uint64_t chunk = address, size = gh_malloc_mapped(finder->process, address, 0, end),
		 its = 0;
	if (size == 0)
		return 0;
	for (uint64_t align = 2 * HEADER; its == 0 && align < end - address; align *= 2) {
		uint64_t at = (address + HEADER + align - 1) / align * align - HEADER;
		at += at - address < LEAST_CHUNK ? align : 0;
		its = at < end ? gh_malloc_mapped(finder->process, at, at - address, end) : 0;
		chunk = its != 0 ? at : address;
	}
	size = its != 0 ? its : size;
	struct gh_c_block block = {chunk + HEADER, size - HEADER};
	gh_vector_push(&finder->memory->blocks, block);
	add_part(finder, address, chunk + size);
	return chunk + size;
}

/* In a static program the variables of its first thread come before the chunks of the main arena:
 * so many bytes of a mapping are looked at for the first chunk. */
#define BEFORE_CHUNKS (1U << 18)

/* Adds the chunks from START to END that begin no more than ROOM bytes after START. Gives where
 * they end; 0 if there are none. */
static uint64_t add_chunks(struct finder *finder, uint64_t start, uint64_t end, uint64_t room)
{
	for (uint64_t at = start; at <= start + room && at < end; at += HEADER) {
		uint64_t chain = add_chain(finder, at, end);
		if (chain == 0)
			continue;
		add_part(finder, at, chain);
		return chain;
	}
	return 0;
}

/* Adds what of malloc's is from START to END, memory of no file. The kernel puts together what is
 * mapped side by side. */
static void add_mapping(struct finder *finder, uint64_t start, uint64_t end)
{
	const struct gh_footprint_pages pages = {finder->process->memory.source, -1};
	uint64_t at = gh_footprint_next_page(&pages, start, end);
	while (at < end && !finder->chunks.failed) {
		uint64_t next = add_heap(finder, at, end);
		if (next == 0)
			next = add_mapped(finder, at, end);
		if (next == 0)
			next = add_chunks(finder, at, end, at == start ? BEFORE_CHUNKS : 0);
		/* Chunks that are corrupt end anywhere. */
		at = next != 0 && next % GH_LEAST_PAGE == 0 ? next
							    : gh_page_end(next != 0 ? next : at);
		at = gh_footprint_next_page(&pages, at, end);
	}
}

/* The number of the chunk of SIZE bytes at ADDRESS, or SIZE_MAX. */
static size_t chunk_of(const struct finder *finder, uint64_t address, uint64_t size)
{
	size_t number = chunk_at(finder, address);
	bool is = number != SIZE_MAX && finder->chunks.items[number].size == size;
	return is ? number : SIZE_MAX;
}

/* The number of the chunk that comes after CHUNK in a list of chunks of one size, which ends with
 * 0; SIZE_MAX at the end. Its link, its third word, is to PLACE in the next chunk. From glibc 2.32
 * on that is not plain (PROTECT_PTR), and may look like the address of another chunk. */
static size_t next_listed(struct finder *finder, const struct chunk *chunk, uint64_t place)
{
	uint64_t address = chunk->address + HEADER;
	uint64_t value = word_at(finder, address);
	size_t protected = chunk_of(finder, (value ^ address >> 12) - place, chunk->size);
	return protected != SIZE_MAX ? protected : chunk_of(finder, value - place, chunk->size);
}

/* Notes that the chunks of a list are not given out, from NUMBER on. */
static void free_list(struct finder *finder, size_t number, uint64_t place)
{
	for (unsigned i = 0; i < MOST_LISTED && number != SIZE_MAX; i++) {
		struct chunk *chunk = &finder->chunks.items[number];
		if (chunk->free)
			break;
		chunk->free = 1;
		number = next_listed(finder, chunk, place);
	}
}

/* An array of COUNT heads of lists at ADDRESS: the I-th is 0, or of chunks of a size that it alone
 * has, PLACE after their start. FREES: notes that they are not given out. */
static bool take_heads(struct finder *finder, uint64_t address, unsigned count, uint64_t place,
		       bool frees)
{
	bool any = false;
	for (unsigned i = 0; i < count; i++) {
		uint64_t value = word_at(finder, address + i * WORD);
		size_t number = value != 0 ? chunk_at(finder, value - place) : SIZE_MAX;
		/* What comes after a corrupt chunk is not known. */
		if (value == 0 || (number == SIZE_MAX && finder->memory->corrupt > 0))
			continue;
		/* What comes after the 64 of small chunks is of several sizes (glibc 2.42). */
		if (number == SIZE_MAX ||
		    (i < 64 && finder->chunks.items[number].size != LEAST_CHUNK + i * HEADER))
			return false;
		any = true;
		if (frees)
			free_list(finder, number, place);
	}
	return any;
}

/* A thread's cache, struct tcache_perthread_struct: how many entries of each size there are, of
 * WIDTH bytes, and COUNT lists. */
static const struct {
	unsigned width;
	unsigned count;
} caches[] = {{1, 64}, {2, 64}, {2, 76}};

/* CHUNK is one that malloc gives for SIZE bytes: what would be left of it is too small. */
static bool is_for(const struct chunk *chunk, uint64_t size)
{
	uint64_t least = (size + WORD + HEADER - 1) & ~(uint64_t)(HEADER - 1);
	return chunk->size >= least && chunk->size < least + LEAST_CHUNK;
}

/* Notes what threads keep for themselves, in blocks of malloc's. */
static void free_caches(struct finder *finder)
{
	for (size_t i = 0; i < finder->chunks.count; i++) {
		const struct chunk *chunk = &finder->chunks.items[i];
		for (size_t k = 0; k < sizeof(caches) / sizeof(caches[0]) && !chunk->free; k++) {
			uint64_t counts = (uint64_t)caches[k].width * caches[k].count;
			uint64_t heads = chunk->address + HEADER + counts;
			if (is_for(chunk, counts + (uint64_t)WORD * caches[k].count) &&
			    take_heads(finder, heads, caches[k].count, HEADER, false))
				take_heads(finder, heads, caches[k].count, HEADER, true);
		}
	}
}

/* What is at ADDRESS is the pointer to its top chunk that an arena has: nearly all lists, empty or
 * not, lead from their first chunk and from their last one back to where they begin. */
static bool is_arena(struct finder *finder, uint64_t address)
{
	unsigned lists = 0;
	for (unsigned i = 0; i < BINS; i++) {
		uint64_t self = address + i * HEADER;
		uint64_t first = word_at(finder, self + HEADER);
		uint64_t last = word_at(finder, self + HEADER + WORD);
		lists += word_at(finder, first + HEADER + WORD) == self &&
			 word_at(finder, last + HEADER) == self;
	}
	return lists > BINS * 3 / 4;
}

/* VALUE, at ADDRESS, may be an arena's pointer to its top chunk. Where an arena is known in part,
 * that one may be beyond what is known. An arena that was never used has none: it points to its
 * lists. */
static bool may_be_top(const struct finder *finder, uint64_t address, uint64_t value)
{
	struct gh_memory_part part;
	const uint64_t *tops = finder->tops.items;
	size_t i = gh_lower_bound(finder->tops.count, k, tops[k] < value);
	return (i < finder->tops.count && tops[i] == value) ||
	       (finder->memory->corrupt > 0 && value != address &&
		gh_memory_parts_next(&finder->process->writable->anonymous, value, value + 1,
				     &part));
}

/* Notes what the arenas whose pointers to their top chunks are from START to END keep in short
 * lists (fastbins). */
static void free_fast(struct finder *finder, uint64_t start, uint64_t end)
{
	uint64_t at = start, value;
	for (; gh_process_next_uint(&finder->process->memory, &at, end, WORD, &value); at += WORD) {
		uint64_t heads = at - FAST_BINS * WORD;
		if (!may_be_top(finder, at, value) || !is_arena(finder, at))
			continue;
		finder->has_arena = true;
		if (take_heads(finder, heads, FAST_BINS, 0, false))
			take_heads(finder, heads, FAST_BINS, 0, true);
	}
}

/* Does so with what is not malloc's of the MAPPINGS that have no SPANS of Go's. */
static void free_fast_of(struct finder *finder, const struct gh_memory_parts *mappings,
			 const struct gh_spans *spans)
{
	for (size_t i = 0; i < mappings->count; i++) {
		uint64_t start = mappings->items[i].start, end = mappings->items[i].end;
		struct gh_memory_part part;
		if (gh_spans_meet(spans, start, end))
			continue;
		for (; gh_memory_parts_next(&finder->memory->parts, start, end, &part);
		     start = part.end)
			free_fast(finder, start, part.start);
		free_fast(finder, start, end);
	}
}

/* Arenas are in the data of the C library or, the others, at the start of their first heaps. A core
 * file that QEMU wrote does not tell which mappings are of files. */
static void free_arenas(struct finder *finder, const struct gh_spans *spans)
{
	const struct gh_writable *writable = finder->process->writable;
	const struct gh_memory_parts *parts = &finder->memory->parts;
	free_fast_of(finder,
		     writable->of_files.count > 0 ? &writable->of_files : &writable->anonymous,
		     spans);
	for (size_t i = 0; i < parts->count; i++)
		if (parts->items[i].start % HEAP_MAX == 0)
			free_fast(finder, parts->items[i].start,
				  parts->items[i].start + HEAP_INFO_MOST + ARENA_MOST);
}

static int compare_chunks(const void *left, const void *right)
{
	const struct chunk *a = left, *b = right;
	return a->address < b->address ? -1 : a->address > b->address;
}

static int compare_blocks(const void *left, const void *right)
{
	const struct gh_c_block *a = left, *b = right;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* Adds the chunks that are given out to the blocks. Without an arena they are not glibc's: what
 * another malloc has may look like a chunk with pages of its own, or many in a row. */
static void take_blocks(struct finder *finder)
{
	struct gh_c_memory *memory = finder->memory;
	if (!finder->has_arena) {
		memory->blocks.count = memory->parts.count = 0;
		memory->corrupt = 0;
		return;
	}
	for (size_t i = 0; i < finder->chunks.count; i++) {
		const struct chunk *chunk = &finder->chunks.items[i];
		struct gh_c_block block = {chunk->address + HEADER, chunk->size - WORD};
		if (!chunk->free)
			gh_vector_push(&memory->blocks, block);
	}
	if (memory->blocks.count > 0)
		qsort(memory->blocks.items, memory->blocks.count, sizeof(*memory->blocks.items),
		      compare_blocks);
	for (size_t i = 0; i < memory->blocks.count; i++) {
		const struct gh_c_block *block = &memory->blocks.items[i];
		memory->bytes += block->size;
		memory->last = block->address + block->size - 1;
	}
}

/* Where the memory of the program's variables ends: malloc's may follow in the same mapping. */
static uint64_t end_of_program(const struct gh_process *process)
{
	const struct gh_image *image = process->tab->image;
	uint64_t end = 0;
	for (size_t i = 0; i < image->nloads; i++)
		if (image->loads[i]->p_vaddr + image->loads[i]->p_memsz > end)
			end = image->loads[i]->p_vaddr + image->loads[i]->p_memsz;
	return gh_page_end(end - 1 + process->bias);
}

/* Lists the memory of no file that malloc may have. Advice about huge pages splits a heap of its,
 * and QEMU's core files have one page by page: what lies side by side is one. Threads' stacks, of
 * which that is not true, are the process's mappings. */
static void list_mappings(struct gh_memory_parts *mappings, const struct gh_process *process,
			  const struct gh_spans *spans)
{
	const struct gh_memory_parts *anonymous = &process->writable->anonymous;
	uint64_t end = end_of_program(process);
	for (size_t i = 0; i < anonymous->count; i++) {
		struct gh_memory_part mapping = anonymous->items[i];
		if (gh_spans_meet(spans, mapping.start, mapping.end))
			continue;
		if (mapping.start < end && end < mapping.end)
			mapping.start = end;
		gh_vector_push(mappings, mapping);
	}
	gh_memory_parts_merge(mappings);
}

bool gh_c_memory_find(struct gh_c_memory *memory, struct gh_process *process,
		      const struct gh_spans *spans)
{
	struct finder finder = {.process = process, .memory = memory};
	finder.left = process->memory.source->size / HEADER;
	struct gh_memory_parts mappings = {0};
	*memory = (struct gh_c_memory){0};
	list_mappings(&mappings, process, spans);
	for (size_t i = 0; i < mappings.count && process->tab->pointer_size == WORD; i++)
		add_mapping(&finder, mappings.items[i].start, mappings.items[i].end);
	if (finder.chunks.count > 0)
		qsort(finder.chunks.items, finder.chunks.count, sizeof(*finder.chunks.items),
		      compare_chunks);
	free_caches(&finder);
	free_arenas(&finder, spans);
	take_blocks(&finder);
	bool found = !mappings.failed && !finder.chunks.failed && !finder.tops.failed &&
		     !memory->parts.failed && !memory->blocks.failed;
	gh_vector_free(&mappings);
	gh_vector_free(&finder.chunks);
	gh_vector_free(&finder.tops);
	return found;
}

void gh_c_memory_free(struct gh_c_memory *memory)
{
	gh_vector_free(&memory->blocks);
	gh_vector_free(&memory->parts);
}

const struct gh_c_block *gh_c_memory_at(const struct gh_c_memory *memory, uint64_t address)
{
	const struct gh_c_block *blocks = memory->blocks.items;
	size_t count = memory->blocks.count;
	if (count == 0 || address < blocks[0].address || address > memory->last)
		return NULL;
	size_t after = gh_lower_bound(count, i, blocks[i].address <= address);
	const struct gh_c_block *block = &blocks[after - 1];
	/* Where the next chunk begins, which malloc's own lists point to, a block has its last
	 * word.
	 */
	return address - block->address < block->size - WORD ? block : NULL;
}
