#include "lib/heap/heap.h"

#include <stdlib.h>

#include "lib/util/hash.h"
#include "lib/util/numbermap.h"
#include "lib/util/top.h"

/* Objects that are one line. */
struct entry {
	struct gh_merged_line line; /* its parent is an entry's number */
	uint32_t class;             /* of its objects */
	uint32_t last;              /* the entry below that was found last; GH_HEAP_NONE for none */
};

struct entries {
	const struct gh_heap *heap;
	const struct gh_dominators *dominators;
	const uint32_t *classes;
	uint32_t top; /* the object that all are below; GH_HEAP_NONE for none */
	uint32_t *of; /* by object: its entry's number, or GH_NOT_MAPPED; owned */
	struct GH_VECTOR(struct entry) list;
	struct gh_numbermap by_parent; /* numbers by that of the parent, and the class */
	struct gh_numbermap by_holder; /* numbers of the topmost by a hash of what holds them */
};

/* What holds OBJECT, which nothing dominates: the same of objects that are to be one line. */
static uint64_t holder_of(const struct entries *entries, uint32_t object)
{
	const struct gh_dump *dump = entries->heap->dump;
	struct gh_dump_record record;
	const struct gh_root *roots;
	uint64_t key[4] = {entries->classes[object], 0, 0, 0};
	if (gh_heap_roots(entries->heap, object, &roots) > 0) {
		gh_dump_get(dump, gh_root_record(dump, roots[0].kind), roots[0].number, &record);
		bool is_frame = record.kind == GH_DUMP_FRAME;
		bool is_goroutine = record.kind == GH_DUMP_GOROUTINE;
		key[1] = (uint64_t)roots[0].kind + 1;
		key[2] = is_frame ? record.frame.pc : is_goroutine ? 0 : object;
		key[3] = is_frame || is_goroutine ? roots[0].offset : 0;
	}
	return gh_hash_bytes(GH_HASH_START, key, sizeof(key));
}

/* The number of a new entry of OBJECT's class below PARENT, which MAP has by KEY. GH_NOT_MAPPED if
 * memory ran out. */
static uint32_t add_entry(struct entries *entries, struct gh_numbermap *map, uint64_t key,
			  uint32_t parent, uint32_t object)
{
	uint32_t number = (uint32_t)entries->list.count;
	struct entry entry = {
	    .line = {.object = object,
		     .parent = parent,
		     .child = GH_HEAP_NONE,
		     .sibling = GH_HEAP_NONE},
	    .class = entries->classes[object],
	    .last = GH_HEAP_NONE,
	};
	if (!gh_vector_push(&entries->list, entry) || !gh_numbermap_put(map, key, number))
		return GH_NOT_MAPPED;
	return number;
}

/* The entry of OBJECT, which begins one or joins its siblings: below PARENT, if that is one. */
static uint32_t find_entry(struct entries *entries, uint32_t parent, uint32_t object)
{
	uint32_t class = entries->classes[object];
	struct gh_numbermap *map = &entries->by_holder;
	uint64_t key;
	if (parent == GH_HEAP_NONE) {
		key = holder_of(entries, object);
	} else {
		/* Most have the class of the one before. */
		uint32_t last = entries->list.items[parent].last;
		if (last != GH_HEAP_NONE && entries->list.items[last].class == class)
			return last;
		map = &entries->by_parent;
		key = (uint64_t)parent << 32 | class;
	}
	uint32_t number = gh_numbermap_get(map, key);
	if (number == GH_NOT_MAPPED)
		number = add_entry(entries, map, key, parent, object);
	if (parent != GH_HEAP_NONE && number != GH_NOT_MAPPED)
		entries->list.items[parent].last = number;
	return number;
}

/* Objects are anywhere in memory: asks for what will be needed of those some way after the one that
 * is NUMBER in their order. GCC drops a call that seems to do nothing, but not what is inline. */
__attribute__((always_inline)) static inline void fetch_ahead(const struct entries *entries,
							      uint32_t number)
{
	const struct gh_dominators *dominators = entries->dominators;
	if (dominators->nreachable - number <= 32)
		return;
	uint32_t far = dominators->order[number + 32], near = dominators->order[number + 16];
	__builtin_prefetch(&dominators->idom[far]);
	__builtin_prefetch(&dominators->retained[far]);
	__builtin_prefetch(&entries->classes[far]);
	__builtin_prefetch(&entries->of[far], 1);
	__builtin_prefetch(&entries->of[dominators->idom[near]]);
}

/* Puts each object into its entry. False if memory ran out. */
static bool make_entries(struct entries *entries)
{
	const struct gh_dominators *dominators = entries->dominators;
	entries->of = malloc(((size_t)entries->heap->count + 1) * sizeof(*entries->of));
	if (entries->of == NULL)
		return false;
	for (uint32_t i = 0; i < dominators->nreachable; i++) {
		uint32_t object = dominators->order[i];
		fetch_ahead(entries, i);
		uint32_t above = dominators->idom[object];
		bool is_dominated = above != entries->heap->count;
		bool is_top = entries->top != GH_HEAP_NONE ? object == entries->top : !is_dominated;
		uint32_t parent = is_dominated && !is_top ? entries->of[above] : GH_HEAP_NONE;
		entries->of[object] = GH_NOT_MAPPED;
		if (!is_top && (!is_dominated || parent == GH_NOT_MAPPED))
			continue;
		bool joins = parent != GH_HEAP_NONE &&
			     entries->list.items[parent].class == entries->classes[object];
		uint32_t number = joins ? parent : find_entry(entries, parent, object);
		if (number == GH_NOT_MAPPED)
			return false;
		struct gh_merged_line *line = &entries->list.items[number].line;
		uint64_t retained = dominators->retained[object];
		entries->of[object] = number;
		line->count++;
		line->heads += !joins;
		line->retained += joins ? 0 : retained;
		if (retained > dominators->retained[line->object])
			line->object = object;
	}
	return true;
}

/* Takes the LIMIT largest entries for lines. False if memory ran out. */
static bool find_lines(struct gh_merged_dominators *tree, struct entries *entries, size_t limit)
{
	struct gh_top top = {.limit = limit};
	for (size_t i = 0; i < entries->list.count; i++)
		gh_top_add(&top, entries->list.items[i].line.retained, (uint32_t)i);
	const struct gh_top_item *items = gh_top_finish(&top, &tree->count);
	tree->seen = top.seen;
	tree->lines = malloc((tree->count + 1) * sizeof(*tree->lines));
	bool found = tree->lines != NULL && !top.items.failed;
	/* What an entry was found last is of no more use: now it is which line the entry is. */
	for (size_t i = 0; found && i < tree->count; i++) {
		tree->lines[i] = entries->list.items[items[i].number].line;
		entries->list.items[items[i].number].last = (uint32_t)i;
	}
	gh_top_free(&top);
	return found;
}

/* Makes a tree of the lines. What dominates the largest is among the largest, and before them. */
static void link_lines(struct gh_merged_dominators *tree, const struct entries *entries)
{
	for (size_t i = tree->count; i-- > 0;) {
		struct gh_merged_line *line = &tree->lines[i];
		if (line->parent == GH_HEAP_NONE)
			continue;
		line->parent = entries->list.items[line->parent].last;
		line->sibling = tree->lines[line->parent].child;
		tree->lines[line->parent].child = (uint32_t)i;
	}
}

bool gh_merged_dominators_make(struct gh_merged_dominators *tree, const struct gh_heap *heap,
			       const struct gh_dominators *dominators, const uint32_t *classes,
			       uint32_t top, size_t limit)
{
	struct entries entries = {
	    .heap = heap, .dominators = dominators, .classes = classes, .top = top};
	*tree = (struct gh_merged_dominators){0};
	bool made = make_entries(&entries) && find_lines(tree, &entries, limit);
	if (made)
		link_lines(tree, &entries);
	free(entries.of);
	gh_vector_free(&entries.list);
	gh_numbermap_free(&entries.by_parent);
	gh_numbermap_free(&entries.by_holder);
	return made;
}

void gh_merged_dominators_free(struct gh_merged_dominators *tree)
{
	free(tree->lines);
}
