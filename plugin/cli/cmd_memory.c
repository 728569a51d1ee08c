/* goheap memory: what a process's memory is used for, the Go heap and all else. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/util/escape.h"
#include "lib/util/now.h"
#include "plugin/command/command.h"
#include "plugin/findings/findings.h"

/* How many of the files that are mapped are shown. */
#define SHOWN_FILES 3

/* In ns. */
#define SECOND UINT64_C(1000000000)

/* A goroutine's stack that is no smaller, and that is most of all stacks, is told of; in bytes. */
#define LARGE_STACK (1 << 20)

/* What a kind of memory is called, in JSON and in the table, and what to know if most is of it. */
static const struct {
	const char *key;
	const char *what;
	const char *most; /* NULL if a command tells more */
} kinds[GH_FOOTPRINT_KINDS] = {
    [GH_FOOTPRINT_OBJECTS] = {"objects", "Go heap: objects", NULL},
    [GH_FOOTPRINT_STACKS] = {"stacks", "Go heap: stacks of goroutines", NULL},
    [GH_FOOTPRINT_COLLECTOR] =
	{"collector", "Go heap: the garbage collector's buffers",
	 "The garbage collector gives them back after the next collections."},
    [GH_FOOTPRINT_FREE] =
	{"free", "Go heap: free, kept for later",
	 "The heap was as large once. The runtime gives free memory back to the system "
	 "slowly; with GOMEMLIMIT, or by\ndebug.FreeOSMemory(), at once."},
    [GH_FOOTPRINT_MALLOC] = {"malloc", "malloc of the C library",
			     "C code allocated it: no Go value is there."},
    [GH_FOOTPRINT_THREADS] = {"threads", "stacks of threads",
			      "There are many threads, or deep calls in C."},
    [GH_FOOTPRINT_RUNTIME] = {"runtime", "the Go runtime's own, outside its heap",
			      "Finalizers, cleanups, profiles and the heap's spans take it. It is "
			      "never given back."},
    [GH_FOOTPRINT_ANONYMOUS] =
	{"anonymous", "anonymous memory outside the Go heap",
	 "The program or C code mapped it by itself: no Go object is there."},
    [GH_FOOTPRINT_SHARED] =
	{"shared", "shared memory",
	 "The program shares it with others, or with its threads: no Go object is there."},
    [GH_FOOTPRINT_RESERVED] = {"reserved", "addresses that are reserved, without memory",
			       "No memory is behind them."},
    [GH_FOOTPRINT_PINNED] = {"pinned", "pinned shared memory",
			     "It is locked in memory, as for a device: no Go object is there."},
    [GH_FOOTPRINT_DEVICES] = {"devices", "devices, which goheap does not read",
			      "No Go object is there."},
    [GH_FOOTPRINT_PROGRAM] = {"program", "the program and its libraries", "The rest is small."},
    [GH_FOOTPRINT_FILES] = {"files", "mapped files",
			    "The system takes pages of files back when it needs memory."},
};

/* A line of the table. */
struct row {
	const char *part; /* NULL for the sum */
	const char *what;
	const char *file; /* NULL unless it is one */
	uint64_t resident;
	uint64_t size;
	uint64_t swapped;
	struct gh_share share;
	struct gh_known of_it; /* bytes that are told after WHAT */
};

/* What there is to tell of the garbage collector. */
struct collector {
	const char *part;
	struct gh_collections of;
};

static void print_what(struct gh_emit *emit, const void *context)
{
	const struct row *row = context;
	if (row->file != NULL) {
		fputs("  ", emit->out);
		gh_print_name(emit->out, row->file, false);
		return;
	}
	fputs(row->what, emit->out);
	if (!row->of_it.known)
		return;
	bool is_own = row->part == kinds[GH_FOOTPRINT_ANONYMOUS].key;
	fputs(is_own ? " (the runtime's own is " : ", ", emit->out);
	gh_print_size(emit->out, row->of_it.value);
	fputs(is_own ? " of it at most)" : "", emit->out);
}

static const struct gh_column columns[] = {
    {"part", GH_COL_TEXT(struct row, part), .only = GH_IN_JSON},
    {"file", GH_COL_NAME(struct row, file), .only = GH_IN_JSON, .optional = true},
    {"resident", GH_COL_SIZE(struct row, resident)},
    {"%", GH_COL_SHARE(struct row, share), .only = GH_IN_TEXT},
    {"mapped", GH_COL_SIZE(struct row, size)},
    {"swapped", GH_COL_NUMBER(struct row, swapped), .only = GH_IN_JSON},
    {"ofIt", GH_COL_KNOWN_NUMBER(struct row, of_it), .only = GH_IN_JSON, .optional = true},
    {"what", GH_COL_PRINTED(print_what), .only = GH_IN_TEXT},
    {0},
};

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	if (a->resident != b->resident)
		return a->resident > b->resident ? -1 : 1;
	return a->size > b->size ? -1 : a->size < b->size;
}

static struct row make_row(const struct gh_footprint_part *part, uint64_t whole)
{
	return (struct row){
	    .resident = part->resident,
	    .size = part->size,
	    .swapped = part->swapped,
	    .share = {part->resident, whole},
	};
}

/* The kinds of memory, the most first; their sum. */
static struct row make_rows(const struct gh_footprint *footprint, struct row *rows)
{
	struct gh_footprint_part sum = {0};
	for (size_t i = 0; i < GH_FOOTPRINT_KINDS; i++) {
		sum.size += footprint->parts[i].size;
		sum.resident += footprint->parts[i].resident;
		sum.swapped += footprint->parts[i].swapped;
	}
	for (size_t i = 0; i < GH_FOOTPRINT_KINDS; i++) {
		rows[i] = make_row(&footprint->parts[i], sum.resident);
		rows[i].part = kinds[i].key;
		rows[i].what = kinds[i].what;
	}
	if (footprint->allocator.file[0] != '\0')
		rows[GH_FOOTPRINT_MALLOC].what = "malloc of the C library, or another";
	rows[GH_FOOTPRINT_OBJECTS].of_it = (struct gh_known){footprint->objects, true};
	uint64_t found = footprint->parts[GH_FOOTPRINT_RUNTIME].size;
	uint64_t rest = footprint->runtime > found ? footprint->runtime - found : 0;
	rows[GH_FOOTPRINT_ANONYMOUS].of_it = (struct gh_known){rest, footprint->runtime != 0};
	qsort(rows, GH_FOOTPRINT_KINDS, sizeof(*rows), compare_rows);
	struct row all = make_row(&sum, sum.resident);
	all.part = "all";
	all.what = "in all";
	return all;
}

static int compare_files(const void *left, const void *right)
{
	const struct gh_footprint_file *a = left, *b = right;
	if (a->part.resident != b->part.resident)
		return a->part.resident > b->part.resident ? -1 : 1;
	return a->part.size > b->part.size ? -1 : a->part.size < b->part.size;
}

/* Prints the files, or devices, that have most in memory. */
static void print_files(struct gh_emit *emit, const struct gh_footprint *footprint,
			enum gh_footprint_kind kind, uint64_t whole)
{
	struct gh_footprint_file *files = footprint->files.items;
	size_t count = footprint->files.count, shown = 0;
	if (count > 0)
		qsort(files, count, sizeof(*files), compare_files);
	for (size_t i = 0; i < count; i++) {
		struct row row = make_row(&files[i].part, whole);
		if (files[i].kind != kind || (shown++ >= SHOWN_FILES && !emit->json))
			continue;
		row.part = kind == GH_FOOTPRINT_FILES ? "file" : "device";
		row.file = files[i].name;
		gh_emit_row(emit, columns, &row);
	}
}

/* Tells what to do about the kind that there is most of. */
static void print_next(const struct row *most, const struct row *all,
		       const struct gh_options *options)
{
	size_t kind = 0;
	char size[GH_SIZE_TEXT];
	while (kinds[kind].key != most->part)
		kind++;
	if (all->swapped != 0)
		printf("%s more are in swap.\n", gh_size_text(all->swapped, size));
	if (kinds[kind].most != NULL) {
		puts(kinds[kind].most);
		return;
	}
	gh_see_print(stdout, options,
		     kind == GH_FOOTPRINT_STACKS ? "goroutines --group" : "suspects");
	puts(kind == GH_FOOTPRINT_STACKS ? " (what they do)" : " (what keeps them alive)");
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* How long ago WHEN was, in ns since 1970. */
static uint64_t since(uint64_t when)
{
	uint64_t now = gh_date();
	return now > when ? now - when : 0;
}

static void print_fraction(struct gh_emit *emit, const void *context)
{
	const struct collector *row = context;
	fprintf(emit->out, "%.4f", row->of.cpu_fraction);
}

static const struct gh_column collector_columns[] = {
    {"part", GH_COL_TEXT(struct collector, part)},
    {"count", GH_COL_NUMBER(struct collector, of.count)},
    {"lastNs", GH_COL_NUMBER(struct collector, of.last)},
    {"recent", GH_COL_NUMBER(struct collector, of.recent)},
    {"recentNs", GH_COL_NUMBER(struct collector, of.span)},
    {"cpuFraction", GH_COL_PRINTED(print_fraction)},
    {"limit", GH_COL_NUMBER(struct collector, of.limit)},
    {"limited", GH_COL_NUMBER(struct collector, of.limited)},
    {"off", GH_COL_BOOL(struct collector, of.off)},
    {"never", GH_COL_BOOL(struct collector, of.never)},
    {0},
};

/* Tells of the limit of memory, and that the collector works to hold it, if it IS_REACHED. */
static void print_limit(const struct gh_collections *collections, bool is_reached)
{
	char limit[GH_SIZE_TEXT];
	double used = (double)collections->limited / (double)collections->limit;
	printf("The limit of memory (GOMEMLIMIT) is %s, %.0f%% of which are used.\n",
	       gh_size_text(collections->limit, limit), 100 * used);
	if (is_reached)
		puts(
		    "To stay below it the collector runs again and again: raise it, or keep less.");
}

/* Tells how much the collector works: of the process, if IS_LIVE. */
static void print_collections(const struct gh_collections *collections, bool is_live, bool json)
{
	uint64_t ago = is_live ? since(collections->last) : 0;
	struct collector row = {"collections", *collections};
	if (json) {
		struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, true);
		gh_emit_row(&emit, collector_columns, &row);
		return;
	}
	if (collections->never)
		puts("The garbage collector has not run yet: garbage is still there.");
	if (collections->off)
		puts("The garbage collector is off (GOGC=off): garbage stays.");
	if (collections->count == 0)
		return;
	printf("The garbage collector has run ");
	gh_print_count(stdout, collections->count, "time");
	if (collections->recent > 0)
		printf(", the last %" PRIu64 " within %.1f s", collections->recent,
		       seconds(collections->span));
	if (is_live)
		printf(", and %.1f s ago", seconds(ago));
	printf(". It has taken %.1f%% of the processors' time.\n", 100 * collections->cpu_fraction);
	if (collections->limit != 0)
		print_limit(collections, gh_collections_are_limited(collections, is_live));
}

/* The goroutine whose stack is the largest. */
struct deepest {
	const char *part;
	uint64_t goroutine;
	uint64_t size;
};

static const struct gh_column deepest_columns[] = {
    {"part", GH_COL_TEXT(struct deepest, part)},
    {"goroutine", GH_COL_NUMBER(struct deepest, goroutine)},
    {"mapped", GH_COL_SIZE(struct deepest, size)},
    {0},
};

/* Tells whose stack is out of proportion. */
static void print_deepest(const struct gh_footprint *footprint, const struct gh_options *options)
{
	struct deepest row = {"deepest", footprint->deepest_id, footprint->deepest};
	char question[64];
	if (options->json && row.goroutine != 0) {
		struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, true);
		gh_emit_row(&emit, deepest_columns, &row);
	}
	if (options->json || row.size < LARGE_STACK || row.size < footprint->stacks / 2)
		return;
	printf("Goroutine %" PRIu64 " has a stack of ", row.goroutine);
	gh_print_size(stdout, row.size);
	puts(": it calls very deeply.");
	snprintf(question, sizeof(question), "goroutine %" PRIu64, row.goroutine);
	gh_see_print(stdout, options, question);
	puts(" (what it calls)");
}

/* Another malloc than the C library's. */
struct other_malloc {
	const char *part;
	const char *name, *file; /* as struct gh_allocator has them */
	uint64_t resident;       /* the most that can be its own */
	uint64_t size;
};

static const struct gh_column malloc_columns[] = {
    {"part", GH_COL_TEXT(struct other_malloc, part)},
    {"name", GH_COL_NAME(struct other_malloc, name), .optional = true},
    {"file", GH_COL_NAME(struct other_malloc, file)},
    {"resident", GH_COL_SIZE(struct other_malloc, resident)},
    {"mapped", GH_COL_SIZE(struct other_malloc, size)},
    {0},
};

/* Tells of another malloc than the C library's, and how much may be its own: mappings do not tell
 * whose they are. */
static void print_malloc(const struct gh_footprint *footprint, bool json)
{
	const struct gh_allocator *allocator = &footprint->allocator;
	struct other_malloc row = {"allocator", allocator->name, allocator->file, 0, 0};
	for (size_t i = 0; i < GH_FOOTPRINT_KINDS; i++) {
		bool may_be = i == GH_FOOTPRINT_MALLOC || i == GH_FOOTPRINT_ANONYMOUS;
		row.resident += may_be ? footprint->parts[i].resident : 0;
		row.size += may_be ? footprint->parts[i].size : 0;
	}
	if (allocator->file[0] == '\0')
		return;
	if (json) {
		struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, true);
		gh_emit_row(&emit, malloc_columns, &row);
		return;
	}
	gh_escape_print(stdout, allocator->file);
	printf(" has a malloc of its own%s%s: up to ", allocator->name != NULL ? ", " : "",
	       allocator->name != NULL ? allocator->name : "");
	gh_print_size(stdout, row.resident);
	puts(" in memory are its own, by what is mapped.\nIts blocks are not known: --c has those "
	     "of "
	     "glibc's malloc.");
}

static void print(const struct gh_footprint *footprint, bool is_live,
		  const struct gh_options *options)
{
	struct row rows[GH_FOOTPRINT_KINDS];
	char text[GH_NUMBER_TEXT];
	char *end = text + sizeof(text);
	struct row all = make_rows(footprint, rows);
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_TABLE, NULL, options->json);
	int length = (int)(end - gh_format_number(end, all.size, true));
	if (length + 2 > emit.width)
		emit.width = length + 2;
	gh_emit_titles(&emit, columns);
	for (size_t i = 0; i < GH_FOOTPRINT_KINDS; i++) {
		if (rows[i].size == 0 && !options->json)
			continue;
		gh_emit_row(&emit, columns, &rows[i]);
		if (rows[i].part == kinds[GH_FOOTPRINT_FILES].key)
			print_files(&emit, footprint, GH_FOOTPRINT_FILES, all.resident);
		if (rows[i].part == kinds[GH_FOOTPRINT_DEVICES].key)
			print_files(&emit, footprint, GH_FOOTPRINT_DEVICES, all.resident);
	}
	gh_emit_row(&emit, columns, &all);
	print_malloc(footprint, options->json);
	print_collections(&footprint->collections, is_live, options->json);
	print_deepest(footprint, options);
	if (!options->json)
		print_next(&rows[0], &all, options);
}

int gh_cmd_memory(const struct gh_options *options)
{
	struct gh_target target;
	struct gh_footprint footprint;
	struct gh_error err;
	int pid = options->process != NULL ? atoi(options->process) : 0;
	if (!gh_memory_target_open(&target, pid, options))
		return GH_EXIT_INPUT;
	bool found = pid != 0 ? gh_footprint_live(&footprint, &target.process, pid, &err)
			      : gh_footprint_core(&footprint, &target.process, &target.core, &err);
	if (found)
		print(&footprint, pid != 0, options);
	else
		gh_print_error(&err);
	gh_footprint_free(&footprint);
	gh_target_close(&target);
	return found ? GH_EXIT_OK : GH_EXIT_INPUT;
}
