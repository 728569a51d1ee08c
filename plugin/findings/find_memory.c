/* Findings about memory: what most of it is, what holds most of the heap, and the collector. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/trace/trace.h"
#include "lib/util/now.h"
#include "plugin/command/heap_query.h"
#include "plugin/findings/findings.h"
#include "plugin/findings/suspects.h"

/* What takes half of the memory is told of from so many bytes on; free memory, of which the runtime
 * keeps some, from so many. */
#define LARGE      (UINT64_C(64) << 20)
#define LARGE_FREE (UINT64_C(256) << 20)

/* With so much of its limit of memory, a process is at it: the runtime collects a little before. */
#define LIMIT_REACHED 0.9

/* A second, and the longest pause between collections of a process that is at its limit, in ns. */
#define SECOND      UINT64_C(1000000000)
#define LIMIT_PAUSE (60 * SECOND)

/* Whoever holds half of the heap is told of if there are so many objects of one kind in it: one
 * large one is meant to be there. The heap is looked at from so many bytes on, unless the process
 * has so many times as much. */
#define MANY_OBJECTS 1000
#define LEAST_HEAP   (UINT64_C(1) << 20)
#define LARGE_HEAP   (UINT64_C(32) << 20)
#define HEAP_ONE_IN  4

/* Of the processors' time the collector takes a quarter while it marks, but it need not all the
 * time. The first collections, of a program that starts on a busy machine, tell nothing. */
#define MUCH_TIME        0.25
#define MANY_COLLECTIONS 20

bool gh_collections_are_limited(const struct gh_collections *collections, bool is_live)
{
	uint64_t now = is_live ? gh_date() : 0;
	uint64_t ago = now > collections->last ? now - collections->last : 0;
	return collections->limit != 0 &&
	       (double)collections->limited >= LIMIT_REACHED * (double)collections->limit &&
	       collections->recent * SECOND > collections->span && ago < LIMIT_PAUSE;
}

bool gh_memory_target_open(struct gh_target *target, int pid, const struct gh_options *options)
{
	struct gh_thread_states states;
	if (pid == 0)
		return gh_target_open_core(target, options->file, options->program);
	/* A debugger has stopped it. */
	if (gh_thread_states_read(&states, pid) && states.traced > 0)
		return gh_target_open_running(target, pid, options->program);
	return gh_target_open_live(target, pid, options->program);
}

/* Adds that half of the memory or more is of the kind PART, if that is LEAST bytes; WHAT says what
 * they are. */
static void find_most(struct gh_diagnosis *diagnosis, enum gh_finding_kind kind,
		      enum gh_footprint_kind part, uint64_t least, const char *what)
{
	char size[GH_SIZE_TEXT];
	char whole[GH_SIZE_TEXT];
	uint64_t bytes = diagnosis->footprint.parts[part].resident;
	uint64_t all = diagnosis->figures.resident;
	if (bytes < least || bytes < all / 2)
		return;
	FILE *out = gh_finding_begin(diagnosis, kind, bytes);
	if (out == NULL)
		return;
	fprintf(out, "%s of %s are %s", gh_size_text(bytes, size), gh_size_text(all, whole), what);
	gh_finding_end(diagnosis, "memory");
}

/* Adds that the collector is off, at its limit, or takes much time. */
static void find_collector(struct gh_diagnosis *diagnosis)
{
	const struct gh_collections *collections = &diagnosis->footprint.collections;
	char size[GH_SIZE_TEXT];
	char limit[GH_SIZE_TEXT];
	bool limited = gh_collections_are_limited(collections, diagnosis->pid != 0);
	FILE *out = NULL;
	if (limited && (out = gh_finding_begin(diagnosis, GH_FINDING_LIMIT, 1)) != NULL) {
		fprintf(out,
			"The memory limit is reached: %s of %s (GOMEMLIMIT), so that the collector "
			"runs again and again, and takes %.0f %% of the processors' time",
			gh_size_text(collections->limited, size),
			gh_size_text(collections->limit, limit), 100 * collections->cpu_fraction);
		gh_finding_end(diagnosis, "memory");
	}
	if (!limited && collections->cpu_fraction >= MUCH_TIME &&
	    collections->count >= MANY_COLLECTIONS &&
	    (out = gh_finding_begin(diagnosis, GH_FINDING_COLLECTOR, 1)) != NULL) {
		fprintf(out, "The collector takes %.0f %% of the processors' time: ",
			100 * collections->cpu_fraction);
		gh_print_count(out, collections->count, "collection");
		gh_finding_end(diagnosis, "memory");
	}
	if (collections->never && diagnosis->figures.heap >= LARGE &&
	    (out = gh_finding_begin(diagnosis, GH_FINDING_COLLECTOR, 2)) != NULL) {
		fprintf(out,
			"The collector has never run, and the heap is %s: it is off (GOGC=off), or "
			"GOGC is very high, so that garbage stays",
			gh_size_text(diagnosis->figures.heap, size));
		gh_finding_end(diagnosis, "memory");
	}
	if (collections->off && collections->limit == 0 &&
	    (out = gh_finding_begin(diagnosis, GH_FINDING_COLLECTOR, 2)) != NULL) {
		fprintf(out,
			"The collector is off (GOGC=off), and there is no memory limit: garbage "
			"stays, and the heap, %s now, grows",
			gh_size_text(diagnosis->figures.heap, size));
		gh_finding_end(diagnosis, "memory");
	}
}

/* The heap is worth a look at what holds it, which takes the types of all objects. */
static bool is_worth_a_look(const struct gh_diagnosis *diagnosis, const struct gh_heap_query *heap)
{
	uint64_t all = diagnosis->figures.resident;
	return heap->heap.bytes >= LARGE_HEAP ||
	       (heap->heap.bytes >= LEAST_HEAP && heap->heap.bytes >= all / HEAP_ONE_IN);
}

/* MOST is C's own: a cache of its libraries' may be as large as that. */
static bool is_of_c(const struct gh_suspects *suspects, const struct gh_suspect *most)
{
	const struct gh_heap_query *query = suspects->query;
	return most->example != GH_HEAP_NONE &&
	       !gh_typing_class(&query->names.typing, most->most.class)->typed &&
	       gh_dump_is_c(&query->dump, gh_heap_object(&query->heap, most->example).address);
}

/* Adds whoever holds half of what roots lead to, if that is many objects. */
static void add_holder(struct gh_diagnosis *diagnosis, struct gh_suspects *suspects)
{
	const struct gh_suspect *most = &suspects->found[0];
	if (suspects->count == 0 ||
	    (most->kind != GH_SUSPECT_HOLDER && most->kind != GH_SUSPECT_SHARED) ||
	    is_of_c(suspects, most))
		return;
	diagnosis->figures.holder = most->bytes;
	uint64_t count = most->most.objects > most->shared ? most->most.objects : most->shared;
	if (most->bytes < suspects->reachable / 2 || most->bytes < LEAST_HEAP ||
	    count < MANY_OBJECTS)
		return;
	FILE *out = gh_finding_begin(diagnosis, GH_FINDING_HOLDER, most->bytes);
	if (out == NULL)
		return;
	gh_suspect_print_short(out, suspects, most);
	gh_finding_end(diagnosis, "suspects");
}

/* Adds that C code has lost much memory, if it has. */
static void add_lost(struct gh_diagnosis *diagnosis, struct gh_suspects *suspects)
{
	for (size_t i = 0; i < suspects->count; i++) {
		const struct gh_suspect *lost = &suspects->found[i];
		if (lost->kind != GH_SUSPECT_LOST || lost->bytes < LARGE_HEAP)
			continue;
		FILE *out = gh_finding_begin(diagnosis, GH_FINDING_LOST, lost->bytes);
		if (out == NULL)
			return;
		gh_suspect_print_short(out, suspects, lost);
		gh_finding_end(diagnosis, "unreachable --c");
	}
}

static void find_holder(struct gh_diagnosis *diagnosis, struct gh_heap_query *heap)
{
	struct gh_error err;
	struct gh_suspects suspects = {0};
	if (gh_heap_query_lacks_roots(&heap->dump) || !is_worth_a_look(diagnosis, heap))
		return;
	gh_progress_begin("goheap: looking for what holds the heap of", heap->dump.path);
	bool found = gh_names_make(&heap->names, &heap->heap, heap->twin, &err) &&
		     gh_suspects_find(&suspects, heap, NULL, &err);
	gh_progress_end();
	if (found) {
		add_holder(diagnosis, &suspects);
		add_lost(diagnosis, &suspects);
	} else {
		gh_print_error(&err);
	}
	gh_suspects_free(&suspects);
}

void gh_find_memory(struct gh_diagnosis *diagnosis, const struct gh_dump *dump,
		    struct gh_heap_query *heap)
{
	diagnosis->figures.heap = heap != NULL               ? gh_heap_go_bytes(&heap->heap)
				  : diagnosis->has_footprint ? diagnosis->footprint.objects
							     : dump->objects.bytes;
	if (diagnosis->has_footprint) {
		find_most(diagnosis, GH_FINDING_MALLOC, GH_FOOTPRINT_MALLOC, LARGE,
			  "malloc's: C code has them, and no Go value is there");
		find_most(
		    diagnosis, GH_FINDING_MALLOC, GH_FOOTPRINT_ANONYMOUS, LARGE,
		    diagnosis->footprint.allocator.file[0] != '\0'
			? "outside of the Go heap: another malloc than glibc's has them, or the "
			  "program or C code mapped them"
			: "outside of the Go heap and of malloc: the program or C code mapped "
			  "them");
		find_most(diagnosis, GH_FINDING_STACKS, GH_FOOTPRINT_STACKS, LARGE,
			  "stacks of goroutines");
		find_most(diagnosis, GH_FINDING_FREE, GH_FOOTPRINT_FREE, LARGE_FREE,
			  "free memory that the Go heap keeps: it was as large once");
		find_collector(diagnosis);
	}
	if (heap != NULL)
		find_holder(diagnosis, heap);
}
