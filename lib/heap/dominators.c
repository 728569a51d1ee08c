/* Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph" (1979), the simple
 * variant. Others, that look for a common ancestor, take the square of the time for a long list
 * with a large array at its end. Nothing is recursive. */
#include "lib/heap/heap.h"

#include <stdlib.h>

/* What is known of a vertex. Vertices are numbered by a depth-first search: 0 is the roots
 * together, the objects follow in the order in which they are found. */
struct vertex {
	uint32_t parent; /* in the search's tree; later an ancestor */
	uint32_t label;  /* the vertex of the smallest semidominator up to that ancestor */
	uint32_t semi;   /* its semidominator; until that is known, the first in its bucket, or 0 */
	uint32_t idom;   /* its immediate dominator; before, its parent, or 0 if roots point to it;
			    then   the next in the bucket that it is in, or 0 */
};

struct search {
	const struct gh_heap *heap;
	const struct gh_holders *holders; /* NULL if there are none */
	uint32_t *held;   /* by holder: the objects that its roots point to; owned */
	size_t *held_end; /* by holder: where they end in that; owned */
	struct gh_dominators *out;
	uint32_t *numbers;       /* by node: its vertex; 0 if it was not found; owned */
	uint32_t ends[GH_RANKS]; /* by rank: the first so many vertices are what roots of it and
				    better ones lead to */
	struct vertex *vertex;   /* by number; owned */
	struct GH_VECTOR(uint32_t) stack; /* by depth, how many targets have been looked at */
};

/* What NODE, an object or a holder, points to. */
static size_t targets_of(const struct search *search, uint32_t node, const uint32_t **targets)
{
	if (node < search->heap->count)
		return gh_heap_targets(search->heap, node, targets);
	uint32_t holder = node - search->heap->count - 1;
	size_t start = holder > 0 ? search->held_end[holder - 1] : 0;
	*targets = search->held + start;
	return search->held_end[holder] - start;
}

/* Makes NODE the next vertex. */
static uint32_t number_node(struct search *search, uint32_t node, uint32_t parent)
{
	uint32_t number = ++search->out->nreachable;
	search->numbers[node] = number;
	search->out->order[number - 1] = node;
	search->vertex[number] = (struct vertex){parent, number, 0, parent};
	const uint32_t *targets;
	size_t count = targets_of(search, node, &targets);
	for (size_t i = 0; i < count && i < 4; i++)
		__builtin_prefetch(&search->numbers[targets[i]]);
	return number;
}

/* Numbers what can be reached from NODE, which is not numbered yet. False if memory ran out. */
static bool search_from(struct search *search, uint32_t node)
{
	__auto_type stack = &search->stack;
	uint32_t vertex = number_node(search, node, 0);
	gh_vector_push(stack, 0);
	while (stack->count > 0 && !stack->failed) {
		uint32_t *looked = &stack->items[stack->count - 1];
		const uint32_t *targets;
		size_t count = targets_of(search, search->out->order[vertex - 1], &targets);
		while (*looked < count && search->numbers[targets[*looked]] != 0)
			++*looked;
		if (*looked == count) {
			stack->count--;
			vertex = search->vertex[vertex].parent;
			continue;
		}
		vertex = number_node(search, targets[(*looked)++], vertex);
		gh_vector_push(stack, 0);
	}
	return !stack->failed;
}

/* The node that root NUMBER is: what it points to, or its holder. */
static uint32_t node_of(const struct search *search, size_t number)
{
	return search->holders != NULL
		   ? gh_dominators_holder(search->heap, search->holders->of[number])
		   : search->heap->roots[number].object;
}

/* Numbers what is reached from the roots of RANK. */
static bool number_from(struct search *search, enum gh_root_rank rank)
{
	const struct gh_heap *heap = search->heap;
	for (size_t i = 0; i < heap->nroots; i++) {
		uint32_t node = node_of(search, i);
		if (gh_root_rank(&heap->roots[i]) == rank && search->numbers[node] == 0 &&
		    !search_from(search, node))
			return false;
	}
	search->ends[rank] = search->out->nreachable;
	return true;
}

static bool number_all(struct search *search)
{
	for (enum gh_root_rank rank = 0; rank < GH_RANKS; rank++)
		if (!number_from(search, rank))
			return false;
	return true;
}

/* The last vertex from which a way to the vertex NUMBER counts: it is of what roots of the same
 * rank or better ones lead to. */
static uint32_t last_counted(const struct search *search, uint32_t number)
{
	enum gh_root_rank rank = GH_RANK_LASTING;
	while (number > search->ends[rank])
		rank++;
	return search->ends[rank];
}

/* The vertex of the smallest semidominator among VERTEX and those of its ancestors that are linked,
 * which are those above LAST. Compresses the way there: first up, turning the pointers round, then
 * down. */
static uint32_t evaluate(struct vertex *vertex, uint32_t number, uint32_t last)
{
	if (vertex[number].parent <= last)
		return vertex[number].label;
	uint32_t below = 0, at = number;
	while (vertex[at].parent > last) {
		uint32_t above = vertex[at].parent;
		vertex[at].parent = below;
		below = at;
		at = above;
	}
	uint32_t top = vertex[at].parent, best = vertex[at].label;
	while (below != 0) {
		at = below;
		below = vertex[at].parent;
		if (vertex[best].semi < vertex[vertex[at].label].semi)
			vertex[at].label = best;
		best = vertex[at].label;
		vertex[at].parent = top;
	}
	return vertex[number].label;
}

/* Makes the semidominator of NUMBER that of a way through the vertex FROM, if that is smaller. */
static void go_through(struct vertex *vertex, uint32_t number, uint32_t from)
{
	uint32_t semi = from <= number ? from : vertex[evaluate(vertex, from, number)].semi;
	if (semi < vertex[number].semi)
		vertex[number].semi = semi;
}

/* Finds, for the vertices in the bucket of NUMBER, which are those whose semidominator it is, their
 * immediate dominator, or another vertex that has the same one. */
static void empty_bucket(struct vertex *vertex, uint32_t number)
{
	uint32_t next;
	for (uint32_t at = vertex[number].semi; at != 0; at = next) {
		uint32_t best = evaluate(vertex, at, number);
		next = vertex[at].idom;
		vertex[at].idom = vertex[best].semi < number ? best : number;
	}
}

/* Puts NUMBER into the bucket of its semidominator, unless that is the roots, which dominate it. */
static void put_in_bucket(struct vertex *vertex, uint32_t number)
{
	uint32_t semi = vertex[number].semi;
	vertex[number].idom = 0;
	if (semi == 0)
		return;
	vertex[number].idom = vertex[semi].semi;
	vertex[semi].semi = number;
}

/* The referrers of the vertex NUMBER, if there is one; of no more than LIMIT of them. */
static size_t referrers_of(const struct search *search, uint64_t number, size_t limit,
			   const uint32_t **referrers)
{
	if (number - 1 >= search->out->nreachable)
		return 0;
	uint32_t node = search->out->order[number - 1];
	if (node > search->heap->count)
		return 0;
	size_t count = gh_heap_referrers(search->heap, node, referrers);
	return count < limit ? count : limit;
}

/* Referrers are anywhere in memory, and so is what is known of them: most of the time would go by
 * in waiting. What the vertices before NUMBER, whose turn comes soon, will need is asked for. */
static void fetch_ahead(const struct search *search, uint64_t number)
{
	const uint32_t *list;
	if (number > 16 && search->out->order[number - 17] < search->heap->count)
		__builtin_prefetch(&search->heap->referrers.ends[search->out->order[number - 17]]);
	if (referrers_of(search, number - 8, 1, &list) > 0)
		__builtin_prefetch(list);
	for (size_t i = referrers_of(search, number - 4, 4, &list); i > 0; i--)
		__builtin_prefetch(&search->numbers[list[i - 1]]);
	for (size_t i = referrers_of(search, number - 2, 4, &list); i > 0; i--)
		__builtin_prefetch(&search->vertex[search->numbers[list[i - 1]]]);
}

/* Finds the semidominator of the vertex NUMBER, which is OBJECT, by what points to it. */
static void find_semidominator(struct search *search, uint32_t number, uint32_t object)
{
	const uint32_t *referrers;
	size_t count = gh_heap_referrers(search->heap, object, &referrers);
	uint32_t last = last_counted(search, number);
	for (size_t i = 0; i < count; i++) {
		uint32_t from = search->numbers[referrers[i]];
		if (from != 0 && from <= last)
			go_through(search->vertex, number, from);
	}
	const struct gh_root *roots;
	count = search->holders != NULL ? gh_heap_roots(search->heap, object, &roots) : 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t holder = node_of(search, (size_t)(roots - search->heap->roots) + i);
		if (search->numbers[holder] <= last)
			go_through(search->vertex, number, search->numbers[holder]);
	}
}

static void find_semidominators(struct search *search)
{
	struct vertex *vertex = search->vertex;
	for (uint32_t number = search->out->nreachable; number > 0; number--) {
		fetch_ahead(search, number);
		empty_bucket(vertex, number);
		uint32_t node = search->out->order[number - 1];
		vertex[number].semi = vertex[number].idom;
		if (node < search->heap->count)
			find_semidominator(search, number, node);
		put_in_bucket(vertex, number);
	}
}

static void find_dominators(struct search *search)
{
	struct vertex *vertex = search->vertex;
	const struct gh_heap *heap = search->heap;
	for (size_t i = 0; search->holders == NULL && i < heap->nroots; i++) {
		uint32_t number = search->numbers[heap->roots[i].object];
		enum gh_root_rank rank = gh_root_rank(&heap->roots[i]);
		if (rank == GH_RANK_LASTING || number > search->ends[rank - 1])
			vertex[number].idom = 0;
	}
	find_semidominators(search);
	for (uint32_t number = 1; number <= search->out->nreachable; number++)
		if (vertex[number].idom != vertex[number].semi)
			vertex[number].idom = vertex[vertex[number].idom].idom;
}

/* How many nodes there may be: objects, the roots together, and holders. */
static size_t count_nodes(const struct search *search)
{
	return (size_t)search->heap->count + 1 +
	       (search->holders != NULL ? search->holders->count : 0);
}

/* Puts, for each node, its dominator in the place of its number. */
static void name_dominators(struct search *search)
{
	uint32_t count = (uint32_t)count_nodes(search);
	for (uint32_t node = 0; node < count; node++) {
		uint32_t *place = &search->numbers[node];
		if (count - node > 16)
			__builtin_prefetch(&search->vertex[place[16]]);
		uint32_t idom = search->vertex[*place].idom;
		if (*place == 0)
			*place = GH_HEAP_NONE;
		else
			*place = idom == 0 ? search->heap->count : search->out->order[idom - 1];
	}
}

/* Lists what the roots of each holder point to: counts the roots, has the starts of the holders be
 * the ends, and fills from there. False if memory ran out. */
static bool list_held(struct search *search)
{
	const struct gh_heap *heap = search->heap;
	if (search->holders == NULL)
		return true;
	uint32_t count = search->holders->count;
	search->held = malloc((heap->nroots + 1) * sizeof(*search->held));
	search->held_end = calloc((size_t)count + 1, sizeof(*search->held_end));
	if (search->held == NULL || search->held_end == NULL)
		return false;
	for (size_t i = 0; i < heap->nroots; i++)
		search->held_end[search->holders->of[i] + 1]++;
	for (uint32_t i = 0; i < count; i++)
		search->held_end[i + 1] += search->held_end[i];
	for (size_t i = 0; i < heap->nroots; i++)
		search->held[search->held_end[search->holders->of[i]]++] = heap->roots[i].object;
	return true;
}

static bool find_all(struct search *search)
{
	size_t count = count_nodes(search);
	search->numbers = search->out->idom = calloc(count, sizeof(*search->numbers));
	search->out->order = malloc(count * sizeof(*search->out->order));
	search->vertex = malloc(count * sizeof(*search->vertex));
	bool ok = search->numbers != NULL && search->out->order != NULL && search->vertex != NULL &&
		  list_held(search);
	if (ok)
		search->vertex[0] = (struct vertex){0};
	ok = ok && number_all(search);
	gh_vector_free(&search->stack);
	if (ok) {
		find_dominators(search);
		name_dominators(search);
	}
	free(search->vertex);
	free(search->held);
	free(search->held_end);
	return ok;
}

/* Objects are anywhere in memory: asks for what will be needed of those that come before the vertex
 * NUMBER, as fetch_ahead does. GCC drops a call that seems to do nothing, but not what is inline.
 */
__attribute__((always_inline)) static inline void
fetch_sizes(const struct gh_dominators *dominators, uint32_t number)
{
	if (number <= 32)
		return;
	uint32_t far = dominators->order[number - 32], near = dominators->order[number - 16];
	__builtin_prefetch(&dominators->idom[far]);
	__builtin_prefetch(&dominators->retained[far]);
	__builtin_prefetch(&dominators->retained[dominators->idom[near]]);
}

static bool add_sizes(struct gh_dominators *dominators, const struct gh_heap *heap)
{
	uint64_t *retained =
	    calloc((size_t)heap->count + 1 + dominators->nholders, sizeof(*retained));
	dominators->retained = retained;
	if (retained == NULL)
		return false;
	for (uint32_t object = 0; object < heap->count; object++)
		if (dominators->idom[object] != GH_HEAP_NONE)
			retained[object] = gh_heap_object(heap, object).size;
	for (uint32_t i = dominators->nreachable; i > 0; i--) {
		uint32_t node = dominators->order[i - 1];
		fetch_sizes(dominators, i);
		/* The heap's count is that of the roots together. */
		retained[dominators->idom[node]] += retained[node];
	}
	return true;
}

bool gh_dominators_build_held(struct gh_dominators *dominators, const struct gh_heap *heap,
			      const struct gh_holders *holders, struct gh_error *err)
{
	*dominators = (struct gh_dominators){.nholders = holders != NULL ? holders->count : 0};
	struct search search = {.heap = heap, .holders = holders, .out = dominators};
	if (find_all(&search) && add_sizes(dominators, heap))
		return true;
	gh_dominators_free(dominators);
	return gh_fail_memory(err, heap->dump->path);
}

bool gh_dominators_build(struct gh_dominators *dominators, const struct gh_heap *heap,
			 struct gh_error *err)
{
	return gh_dominators_build_held(dominators, heap, NULL, err);
}

void gh_dominators_free(struct gh_dominators *dominators)
{
	free(dominators->idom);
	free(dominators->retained);
	free(dominators->order);
	*dominators = (struct gh_dominators){0};
}

bool gh_dominator_tree_make(struct gh_dominator_tree *tree, const struct gh_heap *heap,
			    const struct gh_dominators *dominators)
{
	uint32_t size = heap->count + 1 + dominators->nholders;
	*tree = (struct gh_dominator_tree){.dominators = dominators, .root = heap->count};
	tree->child = malloc(size * sizeof(*tree->child));
	tree->sibling = malloc(size * sizeof(*tree->sibling));
	if (tree->child == NULL || tree->sibling == NULL)
		return false;
	for (uint32_t i = 0; i < size; i++)
		tree->child[i] = tree->sibling[i] = GH_HEAP_NONE;
	for (uint32_t i = size; i-- > 0;) {
		uint32_t parent = dominators->idom[i];
		if (parent == GH_HEAP_NONE || i == tree->root)
			continue;
		tree->sibling[i] = tree->child[parent];
		tree->child[parent] = i;
	}
	return true;
}

void gh_dominator_tree_free(struct gh_dominator_tree *tree)
{
	free(tree->child);
	free(tree->sibling);
	*tree = (struct gh_dominator_tree){0};
}
