/* goheap suspects: what may be leaking, in a few sentences. */
#include <stdio.h>
#include <stdlib.h>

#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/findings/findings.h"
#include "plugin/findings/suspects.h"
#include "plugin/view/view.h"

/* What is in memory beside the Go heap is told if it is more than that, and as much in bytes. */
#define OUTSIDE_LEAST (UINT64_C(32) << 20)

/* So many threads are told of: where goroutines are locked to theirs, or block in C, the heap does
 * not show it. */
#define MANY_THREADS 100

/* Tells if most of the process's memory is not what suspects are looked for in. */
static void print_outside(const struct gh_heap_query *query)
{
	const struct gh_options *options = query->options;
	uint64_t heap = gh_heap_go_bytes(&query->heap);
	char size[GH_SIZE_TEXT];
	uint64_t resident =
	    options->process != NULL ? gh_footprint_resident(atoi(options->process)) : 0;
	/* The collector lets a heap grow to twice its size. */
	if (resident / 2 <= heap || resident - 2 * heap < OUTSIDE_LEAST)
		return;
	printf("\n%s of the process are in memory", gh_size_text(resident, size));
	printf(", and the Go heap's objects are %s: ", gh_size_text(heap, size));
	gh_see_print(stdout, options, "memory");
	putchar('\n');
}

/* Tells of threads if there are many. One without a number of the system's is kept for C to call
 * Go from. */
static void print_threads(const struct gh_heap_query *query)
{
	size_t count = 0;
	struct gh_dump_record record;
	for (size_t i = 0; i < gh_dump_count(&query->dump, GH_DUMP_THREAD); i++) {
		gh_dump_get(&query->dump, GH_DUMP_THREAD, i, &record);
		count += record.thread.os_id != 0;
	}
	if (count < MANY_THREADS)
		return;
	putchar('\n');
	gh_print_count(stdout, count, "thread");
	fputs(": ", stdout);
	gh_see_print(stdout, query->options, "goroutines --group");
	puts(" (which are locked to theirs, in system calls or in C)");
}

static void print_text(struct gh_suspects *suspects)
{
	for (size_t i = 0; i < suspects->count; i++) {
		printf("%s%zu. ", i > 0 ? "\n" : "", i + 1);
		gh_suspect_print(stdout, suspects, &suspects->found[i]);
	}
	if (suspects->count == 0)
		puts(suspects->compares
			 ? "Nothing to tell: nothing has grown by much of the heap"
			 : "Nothing to tell: nothing keeps much of the heap by itself");
	gh_blocked_finalizers_print(stdout, &suspects->query->dump, suspects->query->names.symbols,
				    0, NULL, false);
	gh_deep_stack_print(stdout, &suspects->query->dump, suspects->query->names.symbols, NULL,
			    false);
	const struct gh_names *names = &suspects->query->names;
	if (names->symbols == NULL && suspects->count > 0 &&
	    !gh_typing_class(&names->typing, suspects->found[0].most.class)->typed)
		puts(
		    "\nIts types and functions are in its program, which is not known: -e PROGRAM");
	print_outside(suspects->query);
	print_threads(suspects->query);
}

/* Answers of QUERY, compared with the heap of OLDER, which may be NULL. */
static int answer(struct gh_heap_query *query, struct gh_suspects *older)
{
	struct gh_error err;
	struct gh_suspects suspects;
	bool found = gh_suspects_find(&suspects, query, older, &err);
	if (!found)
		gh_print_error(&err);
	else if (query->options->json) {
		gh_suspects_emit(stdout, &suspects);
		gh_blocked_finalizers_print(stdout, &query->dump, query->names.symbols, 0, NULL,
					    true);
		gh_deep_stack_print(stdout, &query->dump, query->names.symbols, NULL, true);
	} else
		print_text(&suspects);
	gh_suspects_free(&suspects);
	return found ? GH_EXIT_OK : GH_EXIT_INPUT;
}

static int answer_alone(struct gh_heap_query *query)
{
	return answer(query, NULL);
}

/* Answers of NEWER, compared with OLDER. */
static int compare(struct gh_heap_query *older, struct gh_heap_query *newer)
{
	struct gh_error err;
	struct gh_suspects before;
	int status = GH_EXIT_INPUT;
	gh_heap_query_compare(older, newer);
	if (gh_suspects_find(&before, older, NULL, &err))
		status = answer(newer, &before);
	else
		gh_print_error(&err);
	gh_suspects_free(&before);
	return status;
}

/* Compares with the other dump of the options: the earlier one is the older, in whichever order
 * they were named. */
static int compare_named(struct gh_heap_query *query)
{
	struct gh_options swapped = *query->options;
	struct gh_heap_query *other =
	    gh_heap_query_open(query->options, query->options->older, GH_WITH_NAMES);
	if (other == NULL)
		return GH_EXIT_INPUT;
	bool is_reversed = gh_heap_query_is_reversed(other, query);
	swapped.file = swapped.older;
	swapped.older = query->options->file;
	if (is_reversed)
		other->options = &swapped;
	int status = is_reversed ? compare(query, other) : compare(other, query);
	gh_heap_query_close(other);
	return status;
}

int gh_cmd_suspects(const struct gh_options *options)
{
	return gh_heap_query_run(options,
				 GH_WITH_LARGE_C | GH_WITH_NAMES |
				     (options->older != NULL ? 0 : GH_WITH_NO_DATA),
				 options->older != NULL ? compare_named : answer_alone);
}
