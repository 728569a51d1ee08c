#include "plugin/cli/dominator_tree.h"

#include <stdlib.h>

#include "plugin/view/top.h"

/* What objects are one line. */
struct entries {
	uint32_t *head;  /* by object: the first of its line; owned */
	uint32_t *count; /* by object that is first: objects in the line; owned */
};

static bool make_entries(struct entries *entries, const struct gh_heap *heap,
			 const struct gh_dominators *dominators, const uint32_t *classes)
{
	uint32_t count = heap->count;
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
	const struct gh_tree_line *first = *(struct gh_tree_line *const *)a;
	const struct gh_tree_line *second = *(struct gh_tree_line *const *)b;
	return (first->object > second->object) - (first->object < second->object);
}

/* The line that dominates LINE. What dominates the largest is among the largest. */
static uint32_t find_parent(const struct gh_tree *tree, const struct gh_heap *heap,
			    const struct gh_dominators *dominators, const struct entries *entries,
			    struct gh_tree_line *const *by_object, const struct gh_tree_line *line)
{
	uint32_t above = dominators->idom[line->object];
	if (above == heap->count)
		return GH_HEAP_NONE;
	const struct gh_tree_line wanted = {.object = entries->head[above]};
	const struct gh_tree_line *key = &wanted;
	struct gh_tree_line *const *found =
	    bsearch(&key, by_object, tree->count, sizeof(struct gh_tree_line *), compare_lines);
	return found != NULL ? (uint32_t)(*found - tree->lines) : GH_HEAP_NONE;
}

/* Makes a tree of the lines, whose objects are set. False if memory ran out. */
static bool link_lines(struct gh_tree *tree, const struct gh_heap *heap,
		       const struct gh_dominators *dominators, const struct entries *entries)
{
	struct gh_tree_line **by_object = malloc((tree->count + 1) * sizeof(struct gh_tree_line *));
	if (by_object == NULL)
		return false;
	for (size_t i = 0; i < tree->count; i++)
		by_object[i] = &tree->lines[i];
	qsort(by_object, tree->count, sizeof(struct gh_tree_line *), compare_lines);
	for (size_t i = tree->count; i-- > 0;) {
		struct gh_tree_line *line = &tree->lines[i];
		line->parent = find_parent(tree, heap, dominators, entries, by_object, line);
		if (line->parent == GH_HEAP_NONE)
			continue;
		line->sibling = tree->lines[line->parent].child;
		tree->lines[line->parent].child = (uint32_t)i;
	}
	free(by_object);
	return true;
}

/* Finds the LIMIT largest lines. False if memory ran out. */
static bool find_lines(struct gh_tree *tree, const struct gh_dominators *dominators,
		       const struct entries *entries, size_t limit)
{
	struct gh_top top = {.limit = limit};
	for (uint32_t i = 0; i < dominators->nreachable; i++) {
		uint32_t object = dominators->order[i];
		if (entries->head[object] == object)
			gh_top_add(&top, dominators->retained[object], object);
	}
	const struct gh_top_item *items = gh_top_finish(&top, &tree->count);
	tree->seen = top.seen;
	tree->lines = malloc((tree->count + 1) * sizeof(*tree->lines));
	bool found = tree->lines != NULL && !top.items.failed;
	for (size_t i = 0; found && i < tree->count; i++)
		tree->lines[i] = (struct gh_tree_line){
		    .object = items[i].number,
		    .count = entries->count[items[i].number],
		    .parent = GH_HEAP_NONE,
		    .child = GH_HEAP_NONE,
		    .sibling = GH_HEAP_NONE,
		};
	gh_top_free(&top);
	return found;
}

bool gh_tree_make(struct gh_tree *tree, const struct gh_heap *heap,
		  const struct gh_dominators *dominators, const uint32_t *classes, size_t limit)
{
	struct entries entries = {0};
	*tree = (struct gh_tree){0};
	bool made = make_entries(&entries, heap, dominators, classes) &&
		    find_lines(tree, dominators, &entries, limit) &&
		    link_lines(tree, heap, dominators, &entries);
	free_entries(&entries);
	return made;
}

void gh_tree_free(struct gh_tree *tree)
{
	free(tree->lines);
}
