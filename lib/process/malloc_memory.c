#include "lib/process/dump_parts.h"

/* Where the C library's malloc has its arenas: HEAP_MAX_SIZE in glibc's malloc/arena.c, in bytes.
 */
#define MALLOC_HEAP(word) ((word) == 8 ? UINT64_C(1) << 26 : UINT64_C(1) << 20)

/* IS_MMAPPED of a chunk of malloc's, and all such bits, in glibc's malloc/malloc.c. */
#define CHUNK_MMAPPED 2
#define CHUNK_BITS    7

bool gh_malloc_is_arena(struct gh_process *process, const struct gh_mapping *mapping)
{
	unsigned word = process->tab->pointer_size;
	uint64_t most = MALLOC_HEAP(word);
	uint64_t at = mapping->start;
	if (at % most != 0)
		return false;
	for (; at < mapping->end; at += most) {
		uint64_t size = gh_process_word(process, at + 2 * word);
		uint64_t mapped = gh_process_word(process, at + 3 * word);
		if (size == 0 || size > mapped || mapped > most ||
		    (mapped < most && at + mapped != mapping->end))
			return false;
	}
	return true;
}

bool gh_malloc_is_heap(struct gh_process *process, const struct gh_mapping *mapping)
{
	unsigned word = process->tab->pointer_size;
	uint64_t at = mapping->start;
	while (at < mapping->end) {
		uint64_t size = gh_process_word(process, at + word) & ~(uint64_t)CHUNK_BITS;
		if (size < 2 * word || size > mapping->end - at)
			return false;
		at += size;
	}
	return true;
}

/* The size of a group of musl's at ADDRESS, which was mapped and begins with the address of what
 * describes it, struct meta; in bytes. 0 if there is none. */
static uint64_t musl_group(struct gh_process *process, uint64_t address)
{
	unsigned word = process->tab->pointer_size;
	uint64_t meta = gh_process_word(process, address);
	if (!gh_process_may_point(process, meta) ||
	    gh_process_word(process, meta + 2 * word) != address)
		return 0;
	/* Pages follow last_idx, freeable and sizeclass. */
	return gh_process_word(process, meta + 3 * word + 8) & ~UINT64_C(0xfff);
}

uint64_t gh_malloc_mapped(struct gh_process *process, uint64_t address, uint64_t before,
			  uint64_t end)
{
	uint64_t head = gh_process_word(process, address + process->tab->pointer_size);
	uint64_t size = head & ~(uint64_t)CHUNK_BITS;
	bool is = gh_process_word(process, address) == before &&
		  (head & CHUNK_BITS) == CHUNK_MMAPPED && size != 0 &&
		  (before + size) % GH_LEAST_PAGE == 0 && size <= end - address;
	return is ? size : 0;
}

uint64_t gh_malloc_chunk(struct gh_process *process, uint64_t address, uint64_t end)
{
	uint64_t size = gh_malloc_mapped(process, address, 0, end);
	if (size == 0)
		size = musl_group(process, address);
	return size % GH_LEAST_PAGE == 0 && size <= end - address ? size : 0;
}

uint64_t gh_malloc_estimate(struct gh_process *process, const struct gh_memory_parts *anonymous)
{
	unsigned word = process->tab->pointer_size;
	uint64_t sum = 0;
	for (size_t i = 0; i < anonymous->count; i++) {
		const struct gh_memory_part *part = &anonymous->items[i];
		struct gh_mapping mapping = {.start = part->start, .end = part->end};
		uint64_t at = part->start;
		uint64_t chunk;
		/* Its first chunk is in use, as none is before it. */
		bool may_be_heap = (gh_process_word(process, at + word) & CHUNK_BITS) == 1 &&
				   gh_process_word(process, at) == 0;
		if (may_be_heap || gh_malloc_is_arena(process, &mapping))
			sum += part->end - part->start;
		while (!may_be_heap && at < part->end &&
		       (chunk = gh_malloc_chunk(process, at, part->end)) != 0) {
			sum += chunk;
			at += chunk;
		}
	}
	return sum;
}
