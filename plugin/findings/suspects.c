#include "plugin/findings/suspects.h"

#include <stdlib.h>
#include <string.h>

#include "lib/util/top.h"
#include "plugin/command/heap_query.h"
#include "plugin/view/emit.h"

/* A finding is worth it from one in so many bytes of what roots reach, and from so many bytes on.
 * Garbage is, from one in so many of the whole heap on: there is always some. */
#define LEAST_ONE_IN   20
#define LEAST_BYTES    65536
#define GARBAGE_ONE_IN 2

/* Of what a finding is made of, what keeps less than one in so many of its bytes does not tell what
 * it is. */
#define TELLING_ONE_IN 4

/* How much the name of a class tells the programmer. */
enum telling {
	TELLS_NOTHING, /* what a map keeps its entries in */
	TELLS_LITTLE,  /* that something is in a map, or bytes */
	TELLS_SOME,    /* a type of a library's, or a shape */
	TELLS_MOST,    /* a type of the program's */
};

/* The packages of Go's own library, by the first part of their paths. */
static const char *const library[] = {
    "archive",  "bufio",   "bytes",   "cmp",      "compress", "container", "context", "crypto",
    "database", "debug",   "embed",   "encoding", "errors",   "expvar",    "flag",    "fmt",
    "go",       "hash",    "html",    "image",    "index",    "internal",  "io",      "iter",
    "log",      "maps",    "math",    "mime",     "net",      "os",        "path",    "plugin",
    "reflect",  "regexp",  "runtime", "slices",   "sort",     "strconv",   "strings", "structs",
    "sync",     "syscall", "testing", "text",     "time",     "unicode",   "unique",  "unsafe",
    "vendor",   "weak",
};

static bool begins_with(const char *name, const char *start)
{
	return strncmp(name, start, strlen(start)) == 0;
}

static bool is_of_library(const char *name)
{
	size_t length = strcspn(name, "/.");
	for (size_t i = 0; i < sizeof(library) / sizeof(library[0]); i++)
		if (strlen(library[i]) == length && begins_with(name, library[i]))
			return true;
	return false;
}

/* How much the name of class NUMBER tells. */
static enum telling telling_of(const struct gh_names *names, uint32_t number)
{
	static const char *const containers[] = {
	    "[",         "*",         "map",         "table of ",    "hash<",
	    "noalg.",    "go.shape.", "string data", "small values", "runtime.",
	    "internal/", "struct {",  "chan ",       "sync.pool",    "sync.entry",
	};
	const struct gh_class *class = gh_typing_class(&names->typing, number);
	if (!class->typed)
		return TELLS_SOME;
	if (gh_suspect_is_of_map(class->name))
		return TELLS_NOTHING;
	for (size_t i = 0; i < sizeof(containers) / sizeof(containers[0]); i++)
		if (begins_with(class->name, containers[i]))
			return TELLS_LITTLE;
	const char *name = class->name;
	if (begins_with(name, "closure runtime."))
		return TELLS_LITTLE;
	if (begins_with(name, "closure "))
		name += strlen("closure ");
	if (is_of_library(name) || strchr(name, '.') == NULL)
		return TELLS_SOME;
	return TELLS_MOST;
}

static const uint32_t *classes_of(const struct gh_suspects *suspects)
{
	return gh_names_classes(&suspects->query->names);
}

static size_t count_classes(const struct gh_suspects *suspects)
{
	return gh_names_count(&suspects->query->names);
}

/* Counts, by class, what objects of class NUMBER that several hold dominate, and themselves. */
static void count_shared(struct gh_suspects *suspects, uint32_t number)
{
	const struct gh_heap *heap = &suspects->query->heap;
	const struct gh_dominators *dominators = &suspects->held.dominators;
	struct gh_histogram_row *row = &suspects->rows[number];
	suspects->above[number] = 1;
	for (uint32_t i = 0; i < heap->count; i++) {
		if (dominators->idom[i] != heap->count || classes_of(suspects)[i] != number)
			continue;
		gh_histogram_add(row, heap, dominators, i);
		row->retained += dominators->retained[i];
		gh_histogram_below(suspects->rows, heap, classes_of(suspects), &suspects->held.tree,
				   i, suspects->above);
	}
	suspects->above[number] = 0;
}

/* Counts, by class, what SUSPECT keeps alive. */
static void count_classes_of(struct gh_suspects *suspects, const struct gh_suspect *suspect)
{
	const struct gh_heap *heap = &suspects->query->heap;
	memset(suspects->rows, 0, count_classes(suspects) * sizeof(*suspects->rows));
	if (suspect->kind == GH_SUSPECT_SHARED)
		count_shared(suspects, suspect->number);
	else
		gh_histogram_below(suspects->rows, heap, classes_of(suspects), &suspects->held.tree,
				   gh_dominators_holder(heap, suspect->number), suspects->above);
}

/* Class A tells more of SUSPECT than class B: by its name; if both are alike, by how many there
 * are, or by what they keep. */
static bool tells_more(const struct gh_suspects *suspects, uint32_t a, uint32_t b)
{
	const struct gh_histogram_row *rows = suspects->rows;
	enum telling first = telling_of(&suspects->query->names, a);
	enum telling second = telling_of(&suspects->query->names, b);
	if (first != second)
		return first > second;
	if (rows[a].objects != rows[b].objects)
		return rows[a].objects > rows[b].objects;
	return rows[a].retained > rows[b].retained;
}

static struct gh_suspect_part part_of(const struct gh_suspects *suspects, uint32_t class)
{
	const struct gh_histogram_row *row = &suspects->rows[class];
	uint64_t size =
	    row->objects > 0 ? gh_heap_object(&suspects->query->heap, row->largest).size : 0;
	return (struct gh_suspect_part){class, row->objects, row->bytes, row->retained, size};
}

/* Counts the objects of class NUMBER that several hold. */
static uint64_t count_tops(const struct gh_suspects *suspects, uint32_t number)
{
	const struct gh_heap *heap = &suspects->query->heap;
	uint64_t count = 0;
	for (uint32_t i = 0; i < heap->count; i++)
		count += suspects->held.dominators.idom[i] == heap->count &&
			 classes_of(suspects)[i] == number;
	return count;
}

/* Finds what SUSPECT is made of. */
static void find_parts(struct gh_suspects *suspects, struct gh_suspect *suspect)
{
	const struct gh_histogram_row *rows = suspects->rows;
	struct gh_top top = {.limit = GH_SUSPECT_PARTS};
	uint32_t most = GH_HEAP_NONE;
	count_classes_of(suspects, suspect);
	if (suspect->kind == GH_SUSPECT_SHARED)
		suspect->shared = count_tops(suspects, suspect->number);
	for (uint32_t i = 0; i < count_classes(suspects); i++) {
		if (rows[i].objects == 0)
			continue;
		gh_top_add(&top, rows[i].bytes, i);
		if (rows[i].retained >= suspect->bytes / TELLING_ONE_IN &&
		    (most == GH_HEAP_NONE || tells_more(suspects, i, most)))
			most = i;
	}
	const struct gh_top_item *items = gh_emit_top(&top, &suspect->nparts);
	for (size_t i = 0; i < suspect->nparts; i++)
		suspect->parts[i] = part_of(suspects, items[i].number);
	if (most == GH_HEAP_NONE && suspect->nparts > 0)
		most = items[0].number;
	suspect->example = GH_HEAP_NONE;
	if (most != GH_HEAP_NONE) {
		suspect->most = part_of(suspects, most);
		suspect->example = rows[most].largest;
	}
	gh_top_free(&top);
}

/* The class of SUSPECTS whose name is that of class NUMBER of NAMES; GH_HEAP_NONE if there is none.
 */
static uint32_t find_class(const struct gh_suspects *suspects, const struct gh_names *names,
			   uint32_t number)
{
	const char *name = gh_names_class(names, number);
	for (uint32_t i = 0; i < count_classes(suspects); i++)
		if (strcmp(gh_names_class(&suspects->query->names, i), name) == 0)
			return i;
	return GH_HEAP_NONE;
}

/* Finds how many objects of the class there is most of SUSPECT had in the older heap. */
static void compare_parts(struct gh_suspects *suspects, struct gh_suspect *suspect,
			  struct gh_suspects *older)
{
	const struct gh_names *names = &suspects->query->names;
	struct gh_suspect before = *suspect;
	suspect->objects_before = (struct gh_known){0, true};
	before.number =
	    suspect->kind == GH_SUSPECT_HOLDER
		? gh_held_find(&older->held, suspects->held.holders.items[suspect->number].key)
		: find_class(older, names, suspect->number);
	uint32_t class = find_class(older, names, suspect->most.class);
	if (before.number == GH_HEAP_NONE || class == GH_HEAP_NONE)
		return;
	count_classes_of(older, &before);
	suspect->objects_before.value = older->rows[class].objects;
}

/* Sums up, by class, what objects that several hold keep. NULL if memory ran out. */
static uint64_t *sum_shared(const struct gh_suspects *suspects)
{
	const struct gh_heap *heap = &suspects->query->heap;
	const struct gh_dominators *dominators = &suspects->held.dominators;
	uint64_t *sums = calloc(count_classes(suspects) + 1, sizeof(*sums));
	for (uint32_t i = 0; sums != NULL && i < heap->count; i++)
		if (dominators->idom[i] == heap->count)
			sums[classes_of(suspects)[i]] += dominators->retained[i];
	return sums;
}

/* The candidates for findings: holders, and then classes. */
struct candidates {
	struct gh_suspects *suspects;
	struct gh_suspects *older; /* NULL if there is none */
	uint64_t *shared;          /* by class: what objects that several hold keep; owned */
	uint64_t *shared_before;   /* the same of the older heap; owned */
	struct gh_top top;         /* their numbers */
};

/* The bytes that holder NUMBER of the newer heap had in the older one. */
static uint64_t held_before(const struct candidates *candidates, uint32_t number)
{
	const struct gh_held *held = &candidates->suspects->held;
	const struct gh_held *before = &candidates->older->held;
	uint32_t found = gh_held_find(before, held->holders.items[number].key);
	return found != GH_HEAP_NONE ? gh_held_bytes(before, found) : 0;
}

static uint64_t shared_before(const struct candidates *candidates, uint32_t class)
{
	uint32_t found = find_class(candidates->older, &candidates->suspects->query->names, class);
	return found != GH_HEAP_NONE ? candidates->shared_before[found] : 0;
}

/* Adds candidate NUMBER, which keeps BYTES and kept BEFORE, if it is worth it. */
static void add_candidate(struct candidates *candidates, uint32_t number, uint64_t bytes,
			  uint64_t before)
{
	uint64_t least = candidates->suspects->reachable / LEAST_ONE_IN;
	uint64_t growth = bytes > before ? bytes - before : 0;
	if (growth >= least && growth >= LEAST_BYTES)
		gh_top_add(&candidates->top, growth, number);
}

static bool is_worth(const struct gh_suspects *suspects, uint64_t bytes)
{
	return bytes >= LEAST_BYTES && bytes >= suspects->reachable / LEAST_ONE_IN;
}

/* The runtime lists its goroutines and threads several times. So it does processors, but those hold
 * the program's timers. */
static bool is_listed_by_runtime(const char *class)
{
	return begins_with(class, "runtime.") && strcmp(class, "runtime.p") != 0;
}

static void add_candidates(struct candidates *candidates)
{
	const struct gh_suspects *suspects = candidates->suspects;
	size_t nholders = suspects->held.holders.count;
	bool compares = candidates->older != NULL;
	for (uint32_t i = 0; i < nholders; i++) {
		uint64_t bytes = gh_held_bytes(&suspects->held, i);
		if (is_worth(suspects, bytes))
			add_candidate(candidates, i, bytes,
				      compares ? held_before(candidates, i) : 0);
	}
	for (uint32_t i = 0; i < count_classes(suspects); i++)
		if (is_worth(suspects, candidates->shared[i]) &&
		    !is_listed_by_runtime(gh_names_class(&suspects->query->names, i)))
			add_candidate(candidates, (uint32_t)nholders + i, candidates->shared[i],
				      compares ? shared_before(candidates, i) : 0);
}

/* Makes candidate NUMBER a finding. */
static void take_candidate(const struct candidates *candidates, uint32_t number)
{
	struct gh_suspects *suspects = candidates->suspects;
	uint32_t nholders = (uint32_t)suspects->held.holders.count;
	struct gh_suspect *suspect = &suspects->found[suspects->count++];
	*suspect = (struct gh_suspect){.kind = GH_SUSPECT_HOLDER, .number = number};
	bool compares = candidates->older != NULL;
	if (number < nholders) {
		suspect->bytes = gh_held_bytes(&suspects->held, number);
		suspect->before.value = compares ? held_before(candidates, number) : 0;
	} else {
		suspect->kind = GH_SUSPECT_SHARED;
		suspect->number = number - nholders;
		suspect->bytes = candidates->shared[suspect->number];
		suspect->before.value = compares ? shared_before(candidates, suspect->number) : 0;
	}
	suspect->before.known = compares;
	find_parts(suspects, suspect);
	gh_suspect_choose_root(suspects, suspect);
	if (compares)
		compare_parts(suspects, suspect, candidates->older);
}

/* Finds what keeps, or has grown, most. False if memory ran out. */
static bool find_largest(struct gh_suspects *suspects, struct gh_suspects *older)
{
	struct candidates candidates = {
	    .suspects = suspects,
	    .older = older,
	    .shared = sum_shared(suspects),
	    .shared_before = older != NULL ? sum_shared(older) : NULL,
	    .top = {.limit = GH_SUSPECTS_MAX},
	};
	bool ok = candidates.shared != NULL && (older == NULL || candidates.shared_before != NULL);
	size_t count = 0;
	if (ok)
		add_candidates(&candidates);
	const struct gh_top_item *items = gh_emit_top(&candidates.top, &count);
	for (size_t i = 0; i < count; i++)
		take_candidate(&candidates, items[i].number);
	ok = ok && !candidates.top.items.failed;
	gh_top_free(&candidates.top);
	free(candidates.shared);
	free(candidates.shared_before);
	return ok;
}

/* Adds a finding, if there is room for one more. */
static void add_other(struct gh_suspects *suspects, const struct gh_suspect *suspect)
{
	if (suspects->count < GH_SUSPECTS_MAX)
		suspects->found[suspects->count++] = *suspect;
}

/* The program has cleanups of which its own dumps do not tell (Go 1.26), as those that are made of
 * a process do. */
static bool hides_cleanups(const struct gh_suspects *suspects)
{
	const struct gh_dump *dump = &suspects->query->dump;
	const struct gh_symbols *symbols = suspects->query->names.symbols;
	struct gh_func func;
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_OTHER_ROOT); i++) {
		struct gh_dump_record record;
		gh_dump_get(dump, GH_DUMP_OTHER_ROOT, i, &record);
		if (gh_dump_is_cleanup(dump, &record.other_root))
			return false;
	}
	for (size_t i = 0; symbols != NULL && i < symbols->program.tab.nfunc; i++)
		if (gh_pclntab_record(&symbols->program.tab, i, &func, NULL) &&
		    begins_with(gh_pclntab_name(&symbols->program.tab, func.name),
				"runtime.callCleanup["))
			return true;
	return false;
}

/* Finds the class that LOST, all of what no root reaches of C's memory, has most of. */
static void find_most_lost(struct gh_suspects *suspects, struct gh_suspect *lost)
{
	const struct gh_histogram_row *rows = suspects->rows;
	for (uint32_t i = 0; i < count_classes(suspects); i++) {
		if (rows[i].bytes <= lost->most.bytes)
			continue;
		lost->most = part_of(suspects, i);
		lost->example = rows[i].largest;
	}
	lost->nparts = 1;
	lost->parts[0] = lost->most;
}

/* Finds what no root reaches: Go's garbage, and blocks that C code has lost. */
static void find_garbage(struct gh_suspects *suspects)
{
	const struct gh_heap *heap = &suspects->query->heap;
	struct gh_suspect garbage = {.kind = GH_SUSPECT_GARBAGE, .example = GH_HEAP_NONE};
	struct gh_suspect lost = {.kind = GH_SUSPECT_LOST, .example = GH_HEAP_NONE};
	memset(suspects->rows, 0, count_classes(suspects) * sizeof(*suspects->rows));
	for (uint32_t i = 0; i < heap->count; i++) {
		if (suspects->held.dominators.idom[i] != GH_HEAP_NONE)
			continue;
		struct gh_heap_object object = gh_heap_object(heap, i);
		bool in_c = gh_dump_is_c(heap->dump, object.address);
		struct gh_suspect *suspect = in_c ? &lost : &garbage;
		suspect->bytes += object.size;
		suspect->shared++;
		if (in_c)
			gh_histogram_add(&suspects->rows[classes_of(suspects)[i]], heap, NULL, i);
	}
	garbage.most.objects = garbage.shared;
	suspects->hides_cleanups = hides_cleanups(suspects);
	if (garbage.bytes >= LEAST_BYTES && garbage.bytes > heap->bytes / GARBAGE_ONE_IN)
		add_other(suspects, &garbage);
	if (!is_worth(suspects, lost.bytes))
		return;
	find_most_lost(suspects, &lost);
	add_other(suspects, &lost);
}

/* Finds the text of whose copies all but one would be saved. */
static bool find_string(struct gh_suspects *suspects, struct gh_error *err)
{
	struct gh_suspect suspect = {.kind = GH_SUSPECT_STRING, .example = GH_HEAP_NONE};
	if (!gh_heap_query_find_strings(suspects->query, err))
		return false;
	const struct gh_heap_string *items = suspects->query->strings.items;
	for (size_t i = 0; i < suspects->query->strings.count; i++) {
		uint64_t waste = items[i].bytes - items[i].bytes / items[i].copies;
		if (waste > suspect.bytes) {
			suspect.bytes = waste;
			suspect.text = items[i];
			suspect.example = items[i].object;
		}
	}
	if (is_worth(suspects, suspect.bytes))
		add_other(suspects, &suspect);
	return true;
}

bool gh_suspects_find(struct gh_suspects *suspects, struct gh_heap_query *query,
		      struct gh_suspects *older, struct gh_error *err)
{
	*suspects = (struct gh_suspects){.query = query, .compares = older != NULL};
	suspects->above = calloc(count_classes(suspects) + 1, sizeof(*suspects->above));
	suspects->rows = calloc(count_classes(suspects) + 1, sizeof(*suspects->rows));
	if (suspects->above == NULL || suspects->rows == NULL)
		return gh_fail_memory(err, query->dump.path);
	if (!gh_held_make(&suspects->held, &query->names, err))
		return false;
	suspects->reachable = suspects->held.dominators.retained[query->heap.count];
	if (!find_largest(suspects, older))
		return gh_fail_memory(err, query->dump.path);
	find_garbage(suspects);
	return find_string(suspects, err);
}

void gh_suspects_free(struct gh_suspects *suspects)
{
	gh_held_free(&suspects->held);
	free(suspects->above);
	free(suspects->rows);
	*suspects = (struct gh_suspects){0};
}
