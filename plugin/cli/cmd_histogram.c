/* goheap histogram: the objects of a heap dump by type, size, or the place that allocated them. */
#include "lib/heap/histogram.h"

#include <stdio.h>
#include <stdlib.h>

#include "plugin/cli/command.h"
#include "plugin/cli/groups.h"
#include "plugin/view/top.h"

/* The largest object is where to go on from, with `goheap path'. */
static void print_row(struct gh_table *table, const struct gh_histogram_row *row,
		      const struct gh_groups *groups, uint32_t number, uint64_t bytes)
{
	gh_table_number(table, "objects", row->objects);
	gh_table_number(table, "bytes", row->bytes);
	gh_table_share(table, row->bytes, bytes);
	gh_table_number(table, "retained", row->retained);
	gh_table_address(table, "largest",
			 gh_heap_object(groups->names->heap, row->largest).address);
	gh_groups_print(groups, gh_groups_name(groups, number), table);
	gh_table_end(table);
}

/* How many hundredths of WHOLE a PART is, rounded down. */
static unsigned percent(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : (unsigned)(100 * (double)part / (double)whole);
}

/* Prints how much of the heap is of known types. */
static void print_typed(const struct gh_typing *typing)
{
	printf("typed: %u%% of bytes, %u%% of objects", percent(typing->typed_bytes, typing->bytes),
	       percent(typing->typed_objects, typing->heap->count));
	if (typing->conflicts > 0) {
		fputs("; two types each: ", stdout);
		gh_print_count(typing->conflicts, "object");
	}
	putchar('\n');
}

static void print_rows(const struct gh_question *question, const struct gh_groups *groups,
		       const struct gh_histogram_row *rows)
{
	const char *const titles[] = {"objects",  "bytes",    "%",
				      "retained", "@largest", gh_groups_title(groups)};
	struct gh_table table = gh_table_start(&question->dump, question->options->json);
	struct gh_top top = {.limit = question->options->limit};
	uint64_t groups_seen = 0;
	size_t count;
	for (uint32_t i = 0; i < groups->count; i++) {
		if (rows[i].objects == 0)
			continue;
		gh_top_add(&top, rows[i].bytes, i);
		groups_seen++;
	}
	const struct gh_top_item *items = gh_top_finish(&top, &count);
	gh_table_titles(&table, titles, 6, 5);
	for (size_t i = 0; i < count; i++)
		print_row(&table, &rows[items[i].number], groups, items[i].number, top.total);
	gh_table_finish(&table, groups_seen);
	if (!table.row.json) {
		gh_print_count(question->heap.count, "object");
		fputs(" of ", stdout);
		gh_print_count(top.total, "byte");
		fputs("; garbage: ", stdout);
		gh_print_count(question->heap.count - question->dominators.nreachable, "object");
		putchar('\n');
		print_typed(&question->names.typing);
	}
	gh_top_free(&top);
}

static int print_histogram(struct gh_question *question)
{
	struct gh_error err;
	struct gh_groups groups;
	int status = GH_EXIT_INPUT;
	struct gh_histogram_row *rows = NULL;
	if (gh_groups_make(&groups, question)) {
		rows = calloc(groups.count + 1, sizeof(*rows));
		if (rows == NULL)
			fputs("goheap: " GH_OUT_OF_MEMORY "\n", stderr);
		else if (!gh_histogram_make(rows, groups.count, &question->heap, groups.of,
					    &question->dominators, &err))
			gh_print_error(&err);
		else
			status = GH_EXIT_OK;
	}
	if (status == GH_EXIT_OK)
		print_rows(question, &groups, rows);
	free(rows);
	gh_groups_free(&groups);
	return status;
}

int gh_cmd_histogram(const struct gh_options *options)
{
	return gh_question_run(options, true, print_histogram);
}
