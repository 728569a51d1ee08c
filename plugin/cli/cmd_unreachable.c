/* goheap unreachable: the garbage in a heap dump, that the collector had not swept yet. */
#include <stdio.h>

#include "plugin/cli/command.h"
#include "plugin/cli/heap_query.h"
#include "plugin/view/table.h"
#include "plugin/view/top.h"

static void print_total(const struct gh_question *question, const struct gh_top *top)
{
	fputs("garbage: ", stdout);
	gh_print_count(top->seen, "object");
	fputs(" of ", stdout);
	gh_print_count(top->total, "byte");
	fputs(", in ", stdout);
	gh_print_count(question->heap.count, "object");
	fputs(" of ", stdout);
	gh_print_count(question->heap.bytes, "byte");
	putchar('\n');
}

static int print_unreachable(struct gh_question *question)
{
	static const char *const titles[] = {"size", "object"};
	const struct gh_heap *heap = &question->heap;
	struct gh_table table = gh_table_start(&question->dump, question->options->json);
	struct gh_top top = {.limit = question->options->limit};
	size_t count;
	for (uint32_t i = 0; i < heap->count; i++)
		if (question->dominators.idom[i] == GH_HEAP_NONE)
			gh_top_add(&top, gh_heap_object(heap, i).size, i);
	const struct gh_top_item *items = gh_top_finish(&top, &count);
	gh_table_titles(&table, titles, 2, 1);
	for (size_t i = 0; i < count; i++) {
		gh_table_number(&table, "size", items[i].key);
		gh_table_object(&table, &question->names, items[i].number);
		gh_table_end(&table);
	}
	gh_table_finish(&table, top.seen);
	if (!table.row.json)
		print_total(question, &top);
	gh_top_free(&top);
	return GH_EXIT_OK;
}

int gh_cmd_unreachable(const struct gh_options *options)
{
	return gh_question_run(options, true, print_unreachable);
}
