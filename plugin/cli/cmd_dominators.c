/* goheap dominators: what keeps most of the heap alive, as a tree. */
#include <inttypes.h>
#include <stdio.h>

#include "plugin/cli/command.h"
#include "plugin/cli/dominator_tree.h"
#include "plugin/cli/heap_query.h"
#include "plugin/view/table.h"
#include "plugin/view/top.h"

static void print_holder(struct gh_question *question, uint32_t object)
{
	const struct gh_root *roots;
	size_t count = gh_heap_roots(&question->heap, object, &roots);
	fputs("  <- ", stdout);
	if (count == 0) {
		fputs("in several ways", stdout);
		return;
	}
	gh_names_print_root(stdout, &question->names, &roots[0]);
	if (count > 1) {
		fputs(", and ", stdout);
		gh_print_count(count - 1, "more root");
	}
}

/* Deeper than this, lines are no longer indented. */
#define MAX_INDENT 16

static void print_line(struct gh_question *question, struct gh_table *table,
		       const struct gh_tree_line *line, unsigned depth)
{
	uint32_t object = line->object;
	uint64_t retained = question->dominators.retained[object];
	gh_table_number(table, "retained", retained);
	gh_table_share(table, retained, question->heap.bytes);
	gh_table_number(table, "objects", line->count);
	printf("%*s", 2 * (int)(depth < MAX_INDENT ? depth : MAX_INDENT), "");
	gh_table_object(table, &question->names, object);
	if (question->dominators.idom[object] == question->heap.count)
		print_holder(question, object);
	gh_table_end(table);
}

/* Prints LINE and what is below it. */
static void print_below(struct gh_question *question, struct gh_table *table,
			const struct gh_tree_line *lines, uint32_t line)
{
	unsigned depth = 0;
	uint32_t top = line;
	for (;;) {
		print_line(question, table, &lines[line], depth);
		if (lines[line].child != GH_HEAP_NONE) {
			line = lines[line].child;
			depth++;
			continue;
		}
		while (line != top && lines[line].sibling == GH_HEAP_NONE) {
			line = lines[line].parent;
			depth--;
		}
		if (line == top)
			return;
		line = lines[line].sibling;
	}
}

static void print_tree(struct gh_question *question, const struct gh_tree *tree)
{
	static const char *const titles[] = {"retained", "%", "objects", "object"};
	struct gh_table table = gh_table_start(&question->dump, false);
	gh_table_titles(&table, titles, 4, 3);
	for (size_t i = 0; i < tree->count; i++)
		if (tree->lines[i].parent == GH_HEAP_NONE)
			print_below(question, &table, tree->lines, (uint32_t)i);
	gh_table_finish(&table, tree->seen);
}

static int print_text(struct gh_question *question)
{
	struct gh_tree tree;
	bool made = gh_tree_make(&tree, &question->heap, &question->dominators,
				 gh_names_classes(&question->names), question->options->limit);
	if (made)
		print_tree(question, &tree);
	else
		fputs("goheap: " GH_OUT_OF_MEMORY "\n", stderr);
	gh_tree_free(&tree);
	return made ? GH_EXIT_OK : GH_EXIT_INPUT;
}

/* Each object by itself. */
static int print_json(struct gh_question *question)
{
	const struct gh_heap *heap = &question->heap;
	const struct gh_dominators *dominators = &question->dominators;
	struct gh_table table = gh_table_start(&question->dump, true);
	struct gh_top top = {.limit = question->options->limit};
	size_t count;
	for (uint32_t i = 0; i < dominators->nreachable; i++)
		gh_top_add(&top, dominators->retained[dominators->order[i]], dominators->order[i]);
	const struct gh_top_item *items = gh_top_finish(&top, &count);
	for (size_t i = 0; i < count; i++) {
		uint32_t above = dominators->idom[items[i].number];
		gh_table_number(&table, "retained", items[i].key);
		gh_table_number(&table, "size", gh_heap_object(heap, items[i].number).size);
		gh_table_object(&table, &question->names, items[i].number);
		gh_table_key(&table, "dominator");
		if (above == heap->count)
			fputs("null", stdout);
		else
			printf("\"0x%" PRIx64 "\"", gh_heap_object(heap, above).address);
		gh_table_end(&table);
	}
	gh_top_free(&top);
	return GH_EXIT_OK;
}

int gh_cmd_dominators(const struct gh_options *options)
{
	return gh_question_run(options, true, options->json ? print_json : print_text);
}
