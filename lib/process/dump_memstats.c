#include "lib/process/dump_parts.h"

#include <string.h>

#include "lib/dump/record.h"

/* What runtime.memstats has of collections, one after the other, the last a number of 4 bytes, the
 * others of 8. */
enum {
	LAST = 0,    /* last_gc_unix: when the last one ended; ns since 1970 */
	TOTAL = 8,   /* pause_total_ns */
	PAUSES = 16, /* pause_ns, a ring */
	ENDS = PAUSES + 8 * GH_DUMP_PAUSES, /* pause_end, likewise, as the first */
	COUNT = ENDS + 8 * GH_DUMP_PAUSES,  /* numgc */
	SIZE = COUNT + 4,
};

static uint64_t number_at(struct gh_process *process, uint64_t address, unsigned size)
{
	uint64_t value;
	return gh_process_uint(&process->memory, address, size, &value) ? value : 0;
}

/* What is at ADDRESS agrees with itself, and with so many collections: the last end is the last one
 * in the ring, and the pauses add up. */
static bool are_collections(struct gh_process *process, uint64_t address, uint64_t count)
{
	uint64_t last = number_at(process, address + LAST, 8);
	uint64_t place = (count - 1) % GH_DUMP_PAUSES * 8;
	uint64_t sum = 0;
	if (last == 0 || number_at(process, address + ENDS + place, 8) != last)
		return false;
	for (uint64_t i = 0; i < count && i < GH_DUMP_PAUSES; i++)
		sum += number_at(process, address + PAUSES + 8 * i, 8);
	uint64_t total = number_at(process, address + TOTAL, 8);
	return count <= GH_DUMP_PAUSES ? sum == total : sum < total;
}

/* Looks from START to END, in the program, for what says of so many collections. 0 if there is
 * none. */
static uint64_t search(struct gh_process *process, uint64_t start, uint64_t end, uint64_t count)
{
	start += process->bias;
	end += process->bias;
	for (uint64_t at = start; at < end && end - at >= SIZE; at += 4)
		if (number_at(process, at + COUNT, 4) == count &&
		    are_collections(process, at, count))
			return at;
	return 0;
}

static void add_collections(struct gh_dump_memstats *stats, struct gh_process *process)
{
	const struct gh_moduledata *module = &process->tab->module;
	if (stats->ngc == 0)
		return;
	uint64_t at = search(process, module->noptrbss, module->enoptrbss, stats->ngc);
	if (at == 0)
		at = search(process, module->bss, module->ebss, stats->ngc);
	if (at == 0)
		return;
	stats->counters[GH_DUMP_LAST_GC] = number_at(process, at + LAST, 8);
	stats->counters[GH_DUMP_PAUSE_TOTAL] = number_at(process, at + TOTAL, 8);
	for (size_t i = 0; i < GH_DUMP_PAUSES; i++)
		stats->pauses[i] = number_at(process, at + PAUSES + 8 * i, 8);
}

void gh_dump_add_memstats(struct gh_dump_stream *stream, struct gh_process *process,
			  const struct gh_spans *spans, const struct gh_dump_totals *totals)
{
	struct gh_dump_memstats stats = {
	    .counters =
		{
		    [GH_DUMP_ALLOC] = totals->bytes,
		    [GH_DUMP_HEAP_ALLOC] = totals->bytes,
		    [GH_DUMP_HEAP_INUSE] = totals->in_use,
		    [GH_DUMP_HEAP_OBJECTS] = totals->objects,
		    [GH_DUMP_STACK_INUSE] = spans->stack_bytes,
		},
	    .ngc = spans->sweepgen / 2, /* each collection adds 2 */
	};
	add_collections(&stats, process);
	gh_buffer_uleb128(&stream->bytes, GH_DUMP_MEMSTATS);
	for (size_t i = 0; i < GH_DUMP_COUNTERS; i++)
		gh_buffer_uleb128(&stream->bytes, stats.counters[i]);
	for (size_t i = 0; i < GH_DUMP_PAUSES; i++)
		gh_buffer_uleb128(&stream->bytes, stats.pauses[i]);
	gh_buffer_uleb128(&stream->bytes, stats.ngc);
}
