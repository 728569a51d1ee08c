#include "lib/process/dump_parts.h"

/* What persistentalloc maps at once, in bytes (persistentChunkSize): the first word leads to what
 * was mapped before. */
#define CHUNK (UINT64_C(256) << 10)

/* The bitmap of a heapArena has so many bits for a word of the arena's, to Go 1.19 and from 1.20
 * on. */
enum { ARENA_BITS_OLD = 2, ARENA_BITS = 1 };

static void add(struct gh_memory_parts *own, uint64_t start, uint64_t end)
{
	struct gh_memory_part memory = {start - start % GH_LEAST_PAGE, end};
	if (end > start)
		gh_vector_push(own, memory);
}

/* How many chunks are listed from ADDRESS on, one of which has WANTED; 0 if that is no such list.
 * Takes them off *LEFT. */
static uint64_t count_chunks(struct gh_process *process, uint64_t address, uint64_t wanted,
			     uint64_t *left)
{
	uint64_t count = 0;
	bool found = false;
	for (; address != 0; count++) {
		uint64_t next;
		if (address % GH_LEAST_PAGE != 0 || *left == 0 ||
		    !gh_process_uint(&process->memory, address, process->tab->pointer_size, &next))
			return 0;
		--*left;
		found = found || wanted - address < CHUNK;
		address = next;
	}
	return found ? count : 0;
}

/* Looks among variables from START to END, of the program's, for runtime.persistentChunks: for more
 * than *MOST chunks. Gives the first; BEST if there are none. */
static uint64_t search(struct gh_process *process, uint64_t start, uint64_t end, uint64_t wanted,
		       uint64_t *most, uint64_t best)
{
	unsigned word = process->tab->pointer_size;
	uint64_t left = process->memory.source->size / GH_LEAST_PAGE;
	uint64_t at = start + process->bias;
	uint64_t address;
	end += process->bias;
	for (; gh_process_next_uint(&process->memory, &at, end, word, &address); at += word) {
		uint64_t count =
		    address >= GH_LEAST_PAGE ? count_chunks(process, address, wanted, &left) : 0;
		if (count > *most) {
			*most = count;
			best = address;
		}
	}
	return best;
}

/* Adds the chunks: one of them has the runtime.mspan of a span. */
static void add_chunks(struct gh_memory_parts *own, struct gh_process *process,
		       const struct gh_spans *spans)
{
	const struct gh_moduledata *module = &process->tab->module;
	uint64_t wanted = spans->list.count > 0 ? spans->list.items[0].descriptor : 0;
	uint64_t count = 0;
	uint64_t at = search(process, module->noptrbss, module->enoptrbss, wanted, &count, 0);
	at = search(process, module->bss, module->ebss, wanted, &count, at);
	for (; count > 0; count--) {
		add(own, at, at + CHUNK);
		at = gh_process_word(process, at);
	}
}

/* Adds the pages that have the bits of SPAN's elements: no page of the heap does, unless they are
 * in the span itself. */
static void add_bits(struct gh_memory_parts *own, const struct gh_spans *spans,
		     const struct gh_span *span)
{
	const uint64_t bits[] = {span->alloc_bits, span->mark_bits};
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (bits[i] >= GH_LEAST_PAGE && !gh_spans_have(spans, bits[i]))
			add(own, bits[i], gh_page_end(bits[i] + span->nelems / 8));
}

/* Adds the arenas' bitmaps, to Go 1.21. */
static void add_arenas(struct gh_memory_parts *own, struct gh_process *process,
		       const struct gh_spans *spans)
{
	struct gh_span_pointers pointers;
	struct gh_error err;
	uint64_t size = gh_heap_arena_size(process);
	uint64_t before = 0;
	unsigned word = process->tab->pointer_size;
	uint64_t bitmap = size / word * (process->minor < 20 ? ARENA_BITS_OLD : ARENA_BITS) / 8;
	if (process->minor >= 22)
		return;
	bool found = gh_span_pointers_open(&pointers, spans, process, &err);
	for (size_t i = 0; found && i < spans->list.count; i++) {
		uint64_t number = (spans->list.items[i].start + pointers.arena_base) / size;
		uint64_t at = gh_process_word(process, pointers.arenas + number * word);
		if (at != 0 && at != before)
			add(own, at, at + bitmap);
		before = at;
	}
	gh_span_pointers_free(&pointers);
}

void gh_own_memory_find(struct gh_memory_parts *own, struct gh_process *process,
			const struct gh_spans *spans)
{
	unsigned word = process->tab->pointer_size;
	uint64_t list = gh_process_word(process, spans->allspans);
	uint64_t count = gh_process_word(process, spans->allspans + 2 * word);
	add_chunks(own, process, spans);
	if (count <= process->memory.source->size)
		add(own, list, gh_page_end(list + count * word));
	for (size_t i = 0; i < spans->list.count; i++)
		add_bits(own, spans, &spans->list.items[i]);
	add_arenas(own, process, spans);
	gh_memory_parts_merge(own);
}
