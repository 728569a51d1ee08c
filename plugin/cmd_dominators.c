/* goheap dominators: what keeps most of the heap alive, as a tree. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plugin/command.h"
#include "plugin/question.h"
#include "plugin/table.h"
#include "plugin/top.h"

/* A list of a million elements is not a million lines: an object and those of its class that it
 * dominates, one by way of the other, are one entry of the tree. */
struct entries {
	uint32_t *head;  /* by object: the first of its entry; owned */
	uint32_t *count; /* by object that is first: objects in the entry; owned */
};

/* A printed entry. */
struct line {
	uint32_t object;  /* the first of the entry */
	uint32_t parent;  /* the line that it is below; GH_HEAP_NONE for none */
	uint32_t child;   /* the first line below; GH_HEAP_NONE for none */
	uint32_t sibling; /* the next line with its parent; GH_HEAP_NONE for none */
};

static bool make_entries(struct entries *entries, const struct gh_question *question)
{
	const struct gh_dominators *dominators = &question->dominators;
	const uint32_t *classes = gh_names_classes(&question->names);
	uint32_t count = question->heap.count;
	entries->head = malloc(((size_t)count + 1) * sizeof(*entries->head));
	entries->count = calloc((size_t)count + 1, sizeof(*entries->count));
	if (entries->head == NULL || entries->count == NULL)
		return false;
	for (uint32_t i = 0; i < dominators->nreachable; i++) {
		uint32_t object = dominators->order[i];
		uint32_t above = dominators->idom[object];
		bool joins = above != count && classes[above] == classes[object];
		entries->head[object] = joins ? entries->head[above] : object;
		entries->count[entries->head[object]]++;
	}
	return true;
}

static void free_entries(struct entries *entries)
{
	free(entries->head);
	free(entries->count);
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *first = *(struct line *const *)a;
	const struct line *second = *(struct line *const *)b;
	return (first->object > second->object) - (first->object < second->object);
}

/* The line of the entry that dominates LINE's. What dominates the largest is among the largest. */
static uint32_t find_parent(const struct gh_question *question, const struct entries *entries,
			    const struct line *lines, struct line *const *by_object, size_t count,
			    const struct line *line)
{
	uint32_t above = question->dominators.idom[line->object];
	if (above == question->heap.count)
		return GH_HEAP_NONE;
	const struct line wanted = {.object = entries->head[above]};
	const struct line *key = &wanted;
	struct line *const *found =
	    bsearch(&key, by_object, count, sizeof(struct line *), compare_lines);
	return found != NULL ? (uint32_t)(*found - lines) : GH_HEAP_NONE;
}

/* Makes a tree of LINES, whose objects are set, the largest first. False if memory ran out. */
static bool link_lines(const struct gh_question *question, const struct entries *entries,
		       struct line *lines, size_t count)
{
	struct line **by_object = malloc((count + 1) * sizeof(struct line *));
	if (by_object == NULL)
		return false;
	for (size_t i = 0; i < count; i++)
		by_object[i] = &lines[i];
	qsort(by_object, count, sizeof(struct line *), compare_lines);
	for (size_t i = count; i-- > 0;) {
		uint32_t parent =
		    find_parent(question, entries, lines, by_object, count, &lines[i]);
		lines[i].parent = parent;
		if (parent == GH_HEAP_NONE)
			continue;
		lines[i].sibling = lines[parent].child;
		lines[parent].child = (uint32_t)i;
	}
	free(by_object);
	return true;
}

static void print_holder(struct gh_question *question, uint32_t object)
{
	const struct gh_root *roots;
	size_t count = gh_heap_roots(&question->heap, object, &roots);
	if (count == 0)
		return;
	fputs("  <- ", stdout);
	gh_names_print_root(stdout, &question->names, &roots[0]);
	if (count > 1) {
		fputs(", and ", stdout);
		gh_print_count(count - 1, "more root");
	}
}

/* Deeper than this, lines are no longer indented. */
#define MAX_INDENT 16

static void print_line(struct gh_question *question, struct gh_table *table,
		       const struct entries *entries, uint32_t object, unsigned depth)
{
	uint64_t retained = question->dominators.retained[object];
	gh_table_number(table, "retained", retained);
	gh_table_share(table, retained, question->dump.objects.bytes);
	gh_table_number(table, "objects", entries->count[object]);
	printf("%*s", 2 * (int)(depth < MAX_INDENT ? depth : MAX_INDENT), "");
	gh_table_object(table, &question->names, object);
	if (question->dominators.idom[object] == question->heap.count)
		print_holder(question, object);
	gh_table_end(table);
}

/* Prints LINE and what is below it. */
static void print_below(struct gh_question *question, struct gh_table *table,
			const struct entries *entries, const struct line *lines, uint32_t line)
{
	unsigned depth = 0;
	uint32_t top = line;
	for (;;) {
		print_line(question, table, entries, lines[line].object, depth);
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

static bool print_tree(struct gh_question *question, const struct entries *entries)
{
	static const char *const titles[] = {"retained", "%", "objects", "object"};
	struct gh_table table = {.row = {.dump = &question->dump}};
	struct gh_top top = {.limit = question->options->limit};
	const struct gh_dominators *dominators = &question->dominators;
	size_t count;
	for (uint32_t i = 0; i < dominators->nreachable; i++) {
		uint32_t object = dominators->order[i];
		if (entries->head[object] == object)
			gh_top_add(&top, dominators->retained[object], object);
	}
	const struct gh_top_item *items = gh_top_finish(&top, &count);
	struct line *lines = malloc((count + 1) * sizeof(*lines));
	bool made = lines != NULL && !top.items.failed;
	for (size_t i = 0; made && i < count; i++)
		lines[i] = (struct line){items[i].number, GH_HEAP_NONE, GH_HEAP_NONE, GH_HEAP_NONE};
	made = made && link_lines(question, entries, lines, count);
	if (made)
		gh_table_titles(&table, titles, 4, 3);
	for (size_t i = 0; made && i < count; i++)
		if (lines[i].parent == GH_HEAP_NONE)
			print_below(question, &table, entries, lines, (uint32_t)i);
	if (made)
		gh_table_finish(&table, top.seen);
	free(lines);
	gh_top_free(&top);
	return made;
}

static int print_text(struct gh_question *question)
{
	struct entries entries = {0};
	bool printed = make_entries(&entries, question) && print_tree(question, &entries);
	free_entries(&entries);
	if (printed)
		return GH_EXIT_OK;
	fputs("goheap: out of memory\n", stderr);
	return GH_EXIT_INPUT;
}

/* Each object by itself. */
static int print_json(struct gh_question *question)
{
	const struct gh_heap *heap = &question->heap;
	const struct gh_dominators *dominators = &question->dominators;
	struct gh_table table = {.row = {.dump = &question->dump, .json = true}};
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

int gh_cmd_dominators(int argc, char **argv)
{
	struct gh_question_options options = gh_question_parse(
	    argc, argv, GH_ASKS_DUMP,
	    "Print what keeps most of the heap alive, as a tree: the bytes that would go with an "
	    "object, and below it what would go with it. Objects of one type that keep each other "
	    "alive, as in a list, are one entry.");
	return gh_question_run(&options, true, options.json ? print_json : print_text);
}
