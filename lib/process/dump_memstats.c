#include "lib/process/dump_parts.h"

#include <string.h>

#include "lib/dump/record.h"
#include "lib/process/process.h"

/* What runtime.memstats has of collections, one after the other, the last a number of 4 bytes, the
 * others of 8. */
enum {
	LAST = 0,    /* last_gc_unix: when the last one ended; ns since 1970 */
	TOTAL = 8,   /* pause_total_ns */
	PAUSES = 16, /* pause_ns, a ring */
	ENDS = PAUSES + 8 * GH_DUMP_PAUSES, /* pause_end, likewise, as the first */
	COUNT = ENDS + 8 * GH_DUMP_PAUSES,  /* numgc */
	FRACTION = COUNT + 8,               /* gc_cpu_fraction; a float64, after numforcedgc */
	SIZE = FRACTION + 8,
};

/* So many collections, at most, tell how often there is one. */
#define RECENT 32

/* Size classes of objects, and one for large ones, from Go 1.16 on: how many lib/typing/sizeclass.c
 * has. */
#define SIZE_CLASSES 68

/* mheap_ is not larger, in bytes. */
#define MOST_MHEAP (1 << 17)

/* What gcController has before heapInUse, and after it, in bytes. */
enum {
	GOAL_BEFORE = 200,  /* gcPercentHeapGoal */
	LIMIT_BEFORE = 264, /* memoryLimit */
	/* The same to Go 1.19; 8 less on 386, where fewer bytes are for alignment. */
	LIMIT_BEFORE_1_19 = 296,
	FREED_AFTER = 32, /* totalFree */
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
	uint64_t at = start + process->bias + COUNT;
	uint64_t found;
	end += process->bias;
	for (; gh_process_next_uint(&process->memory, &at, end, 4, &found); at += 4)
		if (found == count && end - at >= SIZE - COUNT &&
		    are_collections(process, at - COUNT, count))
			return at - COUNT;
	return 0;
}

/* Where that is, in a process with so many collections. 0 if it is not known. */
static uint64_t find_collections(struct gh_process *process, uint64_t count)
{
	const struct gh_moduledata *module = &process->tab->module;
	if (count == 0)
		return 0;
	uint64_t at = search(process, module->noptrbss, module->enoptrbss, count);
	return at != 0 ? at : search(process, module->bss, module->ebss, count);
}

static void add_collections(struct gh_dump_memstats *stats, struct gh_process *process, uint64_t at)
{
	stats->counters[GH_DUMP_LAST_GC] = number_at(process, at + LAST, 8);
	stats->counters[GH_DUMP_PAUSE_TOTAL] = number_at(process, at + TOTAL, 8);
	for (size_t i = 0; i < GH_DUMP_PAUSES; i++)
		stats->pauses[i] = number_at(process, at + PAUSES + 8 * i, 8);
}

/* What runtime.memstats has before that, to Go 1.15, in bytes. */
enum {
	OLD_HEAP_SYS = 120,
	OLD_HEAP_INUSE = 104,
	OLD_HEAP_RELEASED = 96,
	OLD_STACKS_INUSE = 80,
	OLD_STACKS_SYS = 72,
	OLD_MSPAN_SYS = 56,
	OLD_MCACHE_SYS = 40,
	OLD_BUCKHASH_SYS = 32,
	OLD_GC_SYS = 24,
	OLD_OTHER_SYS = 16,
	OLD_NEXT_GC = 8,
};

/* And from Go 1.19 on, after its heapStats. */
enum {
	STACKS_SYS = 48,
	MSPAN_SYS = 40,
	MCACHE_SYS = 32,
	BUCKHASH_SYS = 24,
	GC_MISC_SYS = 16,
	OTHER_SYS = 8,
};

/* A heapStatsDelta, in words of 8 bytes. heapStats has several, which are to be added up. */
enum {
	COMMITTED,
	RELEASED,
	IN_HEAP,
	IN_STACKS,
	IN_WORK_BUFS,
	HEAP_STATS_FIRST, /* how many come before inPtrScalarBits, which is there to Go 1.24 */
	TINY_COUNT = 0,   /* these come after it */
	LARGE_FREE_COUNT = 3 + SIZE_CLASSES + 1,
	SMALL_FREE_COUNT = LARGE_FREE_COUNT + 1,
	HEAP_STATS_REST = SMALL_FREE_COUNT + SIZE_CLASSES,
	HEAP_STATS_COUNT = 3,
};

/* The sums of a heapStats. */
struct heap_stats {
	uint64_t first[HEAP_STATS_FIRST];
	uint64_t scalar_bits; /* inPtrScalarBits */
	uint64_t freed;       /* objects, small ones within others too */
};

/* Reads the heapStats that END at an address; they have inPtrScalarBits if SCALAR says so. */
static void read_heap_stats(struct heap_stats *sums, struct gh_process *process, uint64_t end,
			    bool scalar)
{
	/* gen and noPLock are at their end. */
	unsigned tail = process->tab->pointer_size == 8 ? 16 : 8;
	uint64_t size = 8ULL * (HEAP_STATS_FIRST + HEAP_STATS_REST) + (scalar ? 8 : 0);
	*sums = (struct heap_stats){0};
	for (unsigned k = 1; k <= HEAP_STATS_COUNT; k++) {
		uint64_t at = end - tail - k * size;
		for (unsigned i = 0; i < HEAP_STATS_FIRST; i++)
			sums->first[i] += number_at(process, at + 8ULL * i, 8);
		at += 8ULL * HEAP_STATS_FIRST;
		if (scalar)
			sums->scalar_bits += number_at(process, at, 8);
		at += scalar ? 8 : 0;
		sums->freed += number_at(process, at + 8ULL * TINY_COUNT, 8) +
			       number_at(process, at + 8ULL * LARGE_FREE_COUNT, 8);
		for (unsigned i = 0; i < SIZE_CLASSES; i++)
			sums->freed += number_at(process, at + 8ULL * (SMALL_FREE_COUNT + i), 8);
	}
}

/* What is said to be IN_USE is that, but for spans that come and go. */
static bool is_in_use(const struct gh_dump_memstats *stats, uint64_t in_use)
{
	uint64_t known = stats->counters[GH_DUMP_HEAP_INUSE];
	uint64_t more = in_use > known ? in_use - known : known - in_use;
	return in_use % GH_HEAP_PAGE == 0 && more <= known / 16;
}

/* How many bytes a runtime.fixalloc has in use: the word before its stat, which points to what is
 * at STAT; it is in mheap_, after allspans. 0 if it is not found. */
static uint64_t find_fixalloc(struct gh_process *process, const struct gh_spans *spans,
			      uint64_t stat)
{
	unsigned word = process->tab->pointer_size;
	for (uint64_t at = spans->allspans; at < spans->allspans + MOST_MHEAP; at += word)
		if (gh_process_word(process, at) == stat)
			return gh_process_word(process, at - word);
	return 0;
}

/* The same of runtime.gcController: heapInUse, heapReleased and heapFree, one after the other. */
static uint64_t find_controller(struct gh_process *process, const struct heap_stats *sums,
				uint64_t free)
{
	const struct gh_moduledata *module = &process->tab->module;
	unsigned word = process->tab->pointer_size;
	uint64_t end = module->enoptrbss + process->bias;
	uint64_t bss_end = module->ebss + process->bias;
	if (end < bss_end)
		end = bss_end;
	uint64_t at = module->bss + process->bias;
	uint64_t in_heap;
	for (; gh_process_next_uint(&process->memory, &at, end, 8, &in_heap); at += word)
		if (in_heap == sums->first[IN_HEAP] &&
		    number_at(process, at + 8, 8) == sums->first[RELEASED] &&
		    number_at(process, at + 16, 8) == free)
			return at;
	return 0;
}

/* What gcController, found at ADDRESS, has for a limit of memory. */
static uint64_t memory_limit(struct gh_process *process, uint64_t address)
{
	uint64_t limit = address - LIMIT_BEFORE;
	if (process->minor < 20)
		limit = address - LIMIT_BEFORE_1_19 + (process->tab->pointer_size == 8 ? 0 : 8);
	return number_at(process, limit, 8);
}

/* Adds what gcController at ADDRESS has: the bytes that were freed and, unless a limit of memory
 * may change that, when the next collection is due. */
static void add_controller(struct gh_dump_memstats *stats, struct gh_process *process,
			   uint64_t address)
{
	uint64_t goal = number_at(process, address - GOAL_BEFORE, 8);
	stats->counters[GH_DUMP_TOTAL_ALLOC] =
	    stats->counters[GH_DUMP_ALLOC] + number_at(process, address + FREED_AFTER, 8);
	if (memory_limit(process, address) == INT64_MAX && goal < INT64_MAX)
		stats->counters[GH_DUMP_NEXT_GC] = goal;
}

/* Adds what Go 1.19 and later have; AT is what it has of collections. The address of what
 * gcController has, 0 if it is not found. */
static uint64_t add_new(struct gh_dump_memstats *stats, struct gh_process *process,
			const struct gh_spans *spans, uint64_t at)
{
	struct heap_stats sums;
	uint64_t *counters = stats->counters;
	read_heap_stats(&sums, process, at - STACKS_SYS, false);
	if (!is_in_use(stats, sums.first[IN_HEAP]))
		read_heap_stats(&sums, process, at - STACKS_SYS, true);
	if (!is_in_use(stats, sums.first[IN_HEAP]))
		return 0;
	uint64_t for_gc = sums.first[IN_WORK_BUFS] + sums.scalar_bits;
	uint64_t mapped = sums.first[COMMITTED] + sums.first[RELEASED];
	uint64_t stacks = sums.first[IN_STACKS];
	counters[GH_DUMP_FREES] = sums.freed;
	counters[GH_DUMP_MALLOCS] = sums.freed + counters[GH_DUMP_HEAP_OBJECTS];
	counters[GH_DUMP_STACK_INUSE] = stacks;
	counters[GH_DUMP_STACK_SYS] = stacks + number_at(process, at - STACKS_SYS, 8);
	counters[GH_DUMP_MSPAN_SYS] = number_at(process, at - MSPAN_SYS, 8);
	counters[GH_DUMP_MCACHE_SYS] = number_at(process, at - MCACHE_SYS, 8);
	counters[GH_DUMP_BUCKHASH_SYS] = number_at(process, at - BUCKHASH_SYS, 8);
	counters[GH_DUMP_GC_SYS] = for_gc + number_at(process, at - GC_MISC_SYS, 8);
	counters[GH_DUMP_OTHER_SYS] = number_at(process, at - OTHER_SYS, 8);
	counters[GH_DUMP_HEAP_SYS] = mapped - stacks - for_gc;
	counters[GH_DUMP_HEAP_RELEASED] = sums.first[RELEASED];
	counters[GH_DUMP_MSPAN_INUSE] = find_fixalloc(process, spans, at - MSPAN_SYS);
	counters[GH_DUMP_MCACHE_INUSE] = find_fixalloc(process, spans, at - MCACHE_SYS);
	uint64_t free = counters[GH_DUMP_HEAP_SYS] - sums.first[IN_HEAP] - sums.first[RELEASED];
	uint64_t controller = find_controller(process, &sums, free);
	if (controller != 0)
		add_controller(stats, process, controller);
	return controller;
}

/* The same, to Go 1.15. */
static void add_old(struct gh_dump_memstats *stats, struct gh_process *process,
		    const struct gh_spans *spans, uint64_t at)
{
	static const struct {
		enum gh_dump_counter counter;
		uint64_t before;
	} fields[] = {
	    {GH_DUMP_HEAP_SYS, OLD_HEAP_SYS},         {GH_DUMP_HEAP_RELEASED, OLD_HEAP_RELEASED},
	    {GH_DUMP_STACK_INUSE, OLD_STACKS_INUSE},  {GH_DUMP_STACK_SYS, OLD_STACKS_SYS},
	    {GH_DUMP_MSPAN_SYS, OLD_MSPAN_SYS},       {GH_DUMP_MCACHE_SYS, OLD_MCACHE_SYS},
	    {GH_DUMP_BUCKHASH_SYS, OLD_BUCKHASH_SYS}, {GH_DUMP_GC_SYS, OLD_GC_SYS},
	    {GH_DUMP_OTHER_SYS, OLD_OTHER_SYS},       {GH_DUMP_NEXT_GC, OLD_NEXT_GC},
	};
	uint64_t *counters = stats->counters;
	if (!is_in_use(stats, number_at(process, at - OLD_HEAP_INUSE, 8)))
		return;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		counters[fields[i].counter] = number_at(process, at - fields[i].before, 8);
	/* The system's stacks are those of threads only. */
	counters[GH_DUMP_SYS] = counters[GH_DUMP_STACK_INUSE];
	counters[GH_DUMP_MSPAN_INUSE] = find_fixalloc(process, spans, at - OLD_MSPAN_SYS);
	counters[GH_DUMP_MCACHE_INUSE] = find_fixalloc(process, spans, at - OLD_MCACHE_SYS);
}

/* Adds what was asked of the system, if that was found. */
static void add_system(struct gh_dump_memstats *stats)
{
	static const enum gh_dump_counter parts[] = {
	    GH_DUMP_HEAP_SYS,     GH_DUMP_STACK_SYS, GH_DUMP_MSPAN_SYS, GH_DUMP_MCACHE_SYS,
	    GH_DUMP_BUCKHASH_SYS, GH_DUMP_GC_SYS,    GH_DUMP_OTHER_SYS,
	};
	uint64_t *counters = stats->counters;
	if (counters[GH_DUMP_HEAP_SYS] == 0)
		return;
	counters[GH_DUMP_HEAP_IDLE] = counters[GH_DUMP_HEAP_SYS] - counters[GH_DUMP_HEAP_INUSE];
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		counters[GH_DUMP_SYS] += counters[parts[i]];
}

/* Adds what AT has of COUNT collections. */
static void describe(struct gh_collections *collections, struct gh_process *process, uint64_t at,
		     uint64_t count)
{
	uint64_t recent = count - 1 < RECENT ? count - 1 : RECENT;
	*collections = (struct gh_collections){
	    .count = count,
	    .last = number_at(process, at + LAST, 8),
	    .recent = recent,
	    .cpu_fraction = gh_process_float(number_at(process, at + FRACTION, 8), 8),
	};
	collections->nends = count < GH_DUMP_PAUSES ? count : GH_DUMP_PAUSES;
	for (size_t i = 0; i < collections->nends; i++) {
		uint64_t place = (count - collections->nends + i) % GH_DUMP_PAUSES;
		collections->ends[i] = number_at(process, at + ENDS + 8 * place, 8);
	}
	uint64_t start = collections->ends[collections->nends - 1 - recent];
	collections->span = collections->last > start ? collections->last - start : 0;
}

/* The runtime is told not to collect by itself: gcPercent is -1. It is before memoryLimit. */
static bool is_off(struct gh_process *process, uint64_t controller)
{
	uint64_t limit = process->minor < 20 ? LIMIT_BEFORE_1_19 : LIMIT_BEFORE;
	return process->tab->pointer_size == 8 &&
	       number_at(process, controller - limit - 8, 4) == UINT32_MAX;
}

/* Adds the limit of memory, if gcController is at ADDRESS and has one; STATS are whole. */
static void add_limit(struct gh_collections *collections, struct gh_process *process,
		      uint64_t address, const struct gh_dump_memstats *stats)
{
	uint64_t limit = address != 0 ? memory_limit(process, address) : INT64_MAX;
	if (limit >= INT64_MAX)
		return;
	collections->limit = limit;
	collections->limited =
	    stats->counters[GH_DUMP_SYS] - stats->counters[GH_DUMP_HEAP_RELEASED];
}

void gh_memstats_find(struct gh_dump_memstats *stats, struct gh_collections *collections,
		      struct gh_process *process, const struct gh_spans *spans,
		      const struct gh_dump_totals *totals)
{
	*stats = (struct gh_dump_memstats){
	    .counters =
		{
		    [GH_DUMP_ALLOC] = totals->bytes,
		    [GH_DUMP_HEAP_ALLOC] = totals->bytes,
		    [GH_DUMP_HEAP_INUSE] = totals->in_use,
		    [GH_DUMP_HEAP_OBJECTS] = totals->objects,
		    [GH_DUMP_STACK_INUSE] = gh_spans_stack_bytes(spans),
		},
	    .ngc = spans->sweepgen / 2, /* each collection adds 2 */
	};
	*collections = (struct gh_collections){0};
	uint64_t at = find_collections(process, stats->ngc);
	uint64_t controller = 0;
	collections->never = stats->ngc == 0;
	if (at == 0)
		return;
	add_collections(stats, process, at);
	describe(collections, process, at, stats->ngc);
	if (process->minor >= 19)
		controller = add_new(stats, process, spans, at);
	else if (process->minor <= 15)
		add_old(stats, process, spans, at);
	add_system(stats);
	collections->count_at = at + COUNT;
	collections->in_use_at = controller;
	collections->off = controller != 0 && is_off(process, controller);
	add_limit(collections, process, controller, stats);
}

void gh_dump_add_memstats(struct gh_dump_stream *stream, struct gh_process *process,
			  const struct gh_spans *spans, const struct gh_dump_totals *totals)
{
	struct gh_dump_memstats stats;
	struct gh_collections collections;
	gh_memstats_find(&stats, &collections, process, spans, totals);
	gh_buffer_uleb128(&stream->bytes, GH_DUMP_MEMSTATS);
	for (size_t i = 0; i < GH_DUMP_COUNTERS; i++)
		gh_buffer_uleb128(&stream->bytes, stats.counters[i]);
	for (size_t i = 0; i < GH_DUMP_PAUSES; i++)
		gh_buffer_uleb128(&stream->bytes, stats.pauses[i]);
	gh_buffer_uleb128(&stream->bytes, stats.ngc);
}
