/* The format is that of writeHeapInternal in src/runtime/pprof/pprof.go, without the addresses,
 * which a dump does not have. */
#include "plugin/view/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plugin/view/emit.h"

/* Objects and bytes, of a record or in all. */
struct amounts {
	uint64_t inuse_objects;
	uint64_t inuse_bytes;
	uint64_t objects; /* allocated */
	uint64_t bytes;   /* allocated */
};

/* A record, in the order it is printed. */
struct entry {
	uint64_t inuse_bytes;
	size_t number; /* of the record */
};

static struct amounts get_amounts(const struct gh_dump_profile *profile)
{
	uint64_t inuse = gh_profile_inuse(profile);
	return (struct amounts){
	    .inuse_objects = inuse,
	    .inuse_bytes = gh_profile_bytes(inuse, profile->size),
	    .objects = profile->allocations,
	    .bytes = gh_profile_bytes(profile->allocations, profile->size),
	};
}

static struct amounts read_amounts(const struct gh_dump *dump, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_PROFILE, number, &record);
	return get_amounts(&record.profile);
}

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static struct amounts add_amounts(struct amounts a, struct amounts b)
{
	return (struct amounts){
	    .inuse_objects = add(a.inuse_objects, b.inuse_objects),
	    .inuse_bytes = add(a.inuse_bytes, b.inuse_bytes),
	    .objects = add(a.objects, b.objects),
	    .bytes = add(a.bytes, b.bytes),
	};
}

static void print_amounts(const struct amounts *amounts)
{
	printf("%" PRIu64 ": %" PRIu64 " [%" PRIu64 ": %" PRIu64 "] @", amounts->inuse_objects,
	       amounts->inuse_bytes, amounts->objects, amounts->bytes);
}

static void print_line(const struct gh_allocations *allocations,
		       const struct gh_allocation_line *line)
{
	const struct gh_interned *name = allocations->texts.items[line->function];
	const struct gh_interned *file = allocations->texts.items[line->file];
	fputs("#\t", stdout);
	gh_traceback_print_function(stdout, name->text, name->length);
	putchar('\t');
	gh_print_bytes(stdout, file->text, file->length, false);
	printf(":%" PRIu64 "\n", line->line);
}

static void print_record(const struct gh_allocations *allocations, size_t number)
{
	struct amounts amounts = read_amounts(allocations->dump, number);
	print_amounts(&amounts);
	putchar('\n');
	size_t count;
	const uint32_t *places = gh_allocations_stack(allocations, number, &count);
	for (size_t i = 0; i < count; i++) {
		uint32_t nlines = gh_allocations_place(allocations, places[i])->nlines;
		for (uint32_t n = 0; n < nlines; n++)
			print_line(allocations, gh_allocations_line(allocations, places[i], n));
	}
	putchar('\n');
}

static int compare(const void *a, const void *b)
{
	const struct entry *first = a;
	const struct entry *second = b;
	if (first->inuse_bytes != second->inuse_bytes)
		return first->inuse_bytes > second->inuse_bytes ? -1 : 1;
	return (first->number > second->number) - (first->number < second->number);
}

static void print_memstats(const struct gh_dump_memstats *stats)
{
	static const struct {
		const char *name;
		enum gh_dump_counter counter;
		enum gh_dump_counter of; /* a second one, after a slash; GH_DUMP_COUNTERS: none */
	} known[] = {
	    {"Alloc", GH_DUMP_ALLOC, GH_DUMP_COUNTERS},
	    {"TotalAlloc", GH_DUMP_TOTAL_ALLOC, GH_DUMP_COUNTERS},
	    {"Sys", GH_DUMP_SYS, GH_DUMP_COUNTERS},
	    {"Lookups", GH_DUMP_LOOKUPS, GH_DUMP_COUNTERS},
	    {"Mallocs", GH_DUMP_MALLOCS, GH_DUMP_COUNTERS},
	    {"Frees", GH_DUMP_FREES, GH_DUMP_COUNTERS},
	    {"HeapAlloc", GH_DUMP_HEAP_ALLOC, GH_DUMP_COUNTERS},
	    {"HeapSys", GH_DUMP_HEAP_SYS, GH_DUMP_COUNTERS},
	    {"HeapIdle", GH_DUMP_HEAP_IDLE, GH_DUMP_COUNTERS},
	    {"HeapInuse", GH_DUMP_HEAP_INUSE, GH_DUMP_COUNTERS},
	    {"HeapReleased", GH_DUMP_HEAP_RELEASED, GH_DUMP_COUNTERS},
	    {"HeapObjects", GH_DUMP_HEAP_OBJECTS, GH_DUMP_COUNTERS},
	    {"Stack", GH_DUMP_STACK_INUSE, GH_DUMP_STACK_SYS},
	    {"MSpan", GH_DUMP_MSPAN_INUSE, GH_DUMP_MSPAN_SYS},
	    {"MCache", GH_DUMP_MCACHE_INUSE, GH_DUMP_MCACHE_SYS},
	    {"BuckHashSys", GH_DUMP_BUCKHASH_SYS, GH_DUMP_COUNTERS},
	    {"GCSys", GH_DUMP_GC_SYS, GH_DUMP_COUNTERS},
	    {"OtherSys", GH_DUMP_OTHER_SYS, GH_DUMP_COUNTERS},
	    {"NextGC", GH_DUMP_NEXT_GC, GH_DUMP_COUNTERS},
	    {"LastGC", GH_DUMP_LAST_GC, GH_DUMP_COUNTERS},
	};
	fputs("\n# runtime.MemStats\n", stdout);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		printf("# %s = %" PRIu64, known[i].name, stats->counters[known[i].counter]);
		if (known[i].of != GH_DUMP_COUNTERS)
			printf(" / %" PRIu64, stats->counters[known[i].of]);
		putchar('\n');
	}
	fputs("# PauseNs = [", stdout);
	for (unsigned i = 0; i < GH_DUMP_PAUSES; i++)
		printf("%s%" PRIu64, i > 0 ? " " : "", stats->pauses[i]);
	fputs("]\n", stdout);
	printf("# NumGC = %" PRIu64 "\n", stats->ngc);
}

bool gh_profiletext_print(const struct gh_allocations *allocations, uint64_t rate)
{
	const struct gh_dump *dump = allocations->dump;
	size_t count = gh_dump_count(dump, GH_DUMP_PROFILE);
	struct entry *entries = calloc(count + 1, sizeof(*entries));
	if (entries == NULL)
		return false;
	struct amounts total = {0};
	for (size_t i = 0; i < count; i++) {
		struct amounts amounts = read_amounts(dump, i);
		entries[i] = (struct entry){amounts.inuse_bytes, i};
		total = add_amounts(total, amounts);
	}
	qsort(entries, count, sizeof(*entries), compare);
	fputs("heap profile: ", stdout);
	print_amounts(&total);
	/* Twice the rate: C++'s heap profiler once printed that. */
	printf(" heap/%" PRIu64 "\n", add(rate, rate));
	for (size_t i = 0; i < count; i++)
		print_record(allocations, entries[i].number);
	free(entries);
	if (gh_dump_count(dump, GH_DUMP_MEMSTATS) > 0) {
		struct gh_dump_record record;
		gh_dump_get(dump, GH_DUMP_MEMSTATS, 0, &record);
		print_memstats(&record.memstats);
	}
	return true;
}

/* A record, as it is printed in JSON. */
struct row {
	const struct gh_allocations *allocations;
	size_t number; /* of the record */
	uint64_t size; /* of an object, in bytes */
	struct amounts amounts;
};

/* A line of its stack. */
struct line_row {
	struct gh_bytes function;
	struct gh_bytes file;
	uint64_t line;
	bool inlined;
};

static struct gh_bytes text_of(const struct gh_allocations *allocations, uint32_t text)
{
	const struct gh_interned *item = allocations->texts.items[text];
	return (struct gh_bytes){item->text, item->length};
}

static void print_stack(struct gh_emit *emit, const void *member)
{
	static const struct gh_column columns[] = {
	    {"function", GH_COL_BYTES(struct line_row, function)},
	    {"file", GH_COL_BYTES(struct line_row, file)},
	    {"line", GH_COL_NUMBER(struct line_row, line)},
	    {"inlined", GH_COL_BOOL(struct line_row, inlined)},
	    {0},
	};
	const struct row *row = member;
	const struct gh_allocations *allocations = row->allocations;
	size_t count;
	const uint32_t *places = gh_allocations_stack(allocations, row->number, &count);
	for (size_t p = 0; p < count; p++) {
		uint32_t nlines = gh_allocations_place(allocations, places[p])->nlines;
		for (uint32_t n = 0; n < nlines; n++) {
			const struct gh_allocation_line *line =
			    gh_allocations_line(allocations, places[p], n);
			struct line_row line_row = {
			    .function = text_of(allocations, line->function),
			    .file = text_of(allocations, line->file),
			    .line = line->line,
			    .inlined = line->inlined,
			};
			gh_emit_item(emit, columns, &line_row);
		}
	}
}

void gh_profiletext_print_json(const struct gh_allocations *allocations)
{
	static const struct gh_column columns[] = {
	    {"size", GH_COL_NUMBER(struct row, size)},
	    {"inuse_objects", GH_COL_NUMBER(struct row, amounts.inuse_objects)},
	    {"inuse_bytes", GH_COL_NUMBER(struct row, amounts.inuse_bytes)},
	    {"alloc_objects", GH_COL_NUMBER(struct row, amounts.objects)},
	    {"alloc_bytes", GH_COL_NUMBER(struct row, amounts.bytes)},
	    {"stack", GH_COL_LIST(print_stack)},
	    {0},
	};
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, allocations->dump, true);
	struct gh_dump_record record;
	for (size_t i = 0; i < gh_dump_count(allocations->dump, GH_DUMP_PROFILE); i++) {
		gh_dump_get(allocations->dump, GH_DUMP_PROFILE, i, &record);
		struct row row = {
		    .allocations = allocations,
		    .number = i,
		    .size = record.profile.size,
		    .amounts = get_amounts(&record.profile),
		};
		gh_emit_row(&emit, columns, &row);
	}
}
