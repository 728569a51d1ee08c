/* The graph of a heap: random ones, whose dominators and paths simple algorithms find as well. */
#include <stdlib.h>
#include <string.h>

#include "lib/heap/heap.h"
#include "tests/unit/heapfixture.h"
#include "tests/unit/random.h"
#include "tests/unit/suites.h"

enum {
	MAX_NODES = 14,
	MAX_EDGES = 6, /* of one node */
	GRAPHS = 4000,
	GROUPS = 3,
};

#define BASE   UINT64_C(0x10000)
#define STRIDE 128

/* A graph as the test knows it. */
struct graph {
	unsigned nodes;
	unsigned nedges[MAX_NODES];
	unsigned edges[MAX_NODES][MAX_EDGES];
	bool root[MAX_NODES];
	enum gh_root_rank rank[MAX_NODES]; /* of its root */
};

static void make_graph(struct graph *graph)
{
	memset(graph, 0, sizeof(*graph));
	graph->nodes = 1 + next_random() % MAX_NODES;
	unsigned density = 1 + next_random() % MAX_EDGES;
	for (unsigned i = 0; i < graph->nodes; i++) {
		graph->root[i] = next_random() % 5 == 0;
		graph->rank[i] = next_random() % GH_RANKS;
		graph->nedges[i] = next_random() % (density + 1);
		for (unsigned j = 0; j < graph->nedges[i]; j++)
			graph->edges[i][j] = next_random() % graph->nodes;
	}
}

/* The size of NODE: they differ, so that no two sums are the same by chance. */
static unsigned words_of(unsigned node)
{
	return MAX_EDGES + node % 7;
}

/* An object with pointers at its first words, anywhere into others. */
static void put_node(struct maker *maker, const struct graph *graph, unsigned node)
{
	uint64_t words[MAX_EDGES + 7] = {0};
	for (unsigned i = 0; i < graph->nedges[node]; i++)
		words[i] = BASE + STRIDE * graph->edges[node][i] + next_random() % 24;
	maker_numbers(maker, 2, (const uint64_t[]){1, BASE + STRIDE * node});
	maker_words(maker, words_of(node), words);
	for (unsigned i = 0; i < MAX_EDGES; i++)
		maker_numbers(maker, 2, (const uint64_t[]){1, i * maker->word});
	maker_number(maker, 0);
}

static struct maker maker;
static struct gh_dump dump;
static struct gh_heap heap;
static struct gh_error err;

static void open_graph(const struct graph *graph)
{
	maker_start(&maker, MAKER_1_7, next_random() % 2 ? 4 : 8, next_random() % 2);
	maker_params(&maker);
	for (unsigned i = 0; i < graph->nodes; i++)
		put_node(&maker, graph, i);
	for (unsigned i = 0; i < graph->nodes; i++)
		if (graph->root[i])
			maker_root(&maker, BASE + STRIDE * i);
	maker_end(&maker);
	heap_open(&maker, &dump, &heap);
	ck_assert_uint_eq(heap.count, graph->nodes);
	for (size_t i = 0; i < heap.nroots; i++) {
		enum gh_root_rank rank = graph->rank[heap.roots[i].object];
		heap.roots[i].passing = rank == GH_RANK_PASSING;
		heap.roots[i].conservative = rank == GH_RANK_CONSERVATIVE;
	}
}

/* How many objects are on the shortest way to each node that is not TAKEN yet, from the roots of
 * RANK, if the node WITHOUT is not there; 0 if there is none. */
static void measure_from(const struct graph *graph, enum gh_root_rank rank, const unsigned *taken,
			 unsigned without, unsigned *length)
{
	for (unsigned i = 0; i < graph->nodes; i++)
		length[i] =
		    graph->root[i] && graph->rank[i] == rank && i != without && taken[i] == 0;
	for (unsigned n = 1; n < graph->nodes; n++)
		for (unsigned i = 0; i < graph->nodes; i++)
			for (unsigned j = 0; length[i] == n && j < graph->nedges[i]; j++) {
				unsigned to = graph->edges[i][j];
				if (to != without && length[to] == 0 && taken[to] == 0)
					length[to] = n + 1;
			}
}

/* Marks in TAKEN what roots of better ranks than RANK lead to. */
static void take_better(const struct graph *graph, enum gh_root_rank rank, unsigned *taken)
{
	unsigned length[MAX_NODES];
	memset(taken, 0, MAX_NODES * sizeof(*taken));
	for (enum gh_root_rank better = 0; better < rank; better++) {
		measure_from(graph, better, taken, MAX_NODES, length);
		for (unsigned i = 0; i < graph->nodes; i++)
			taken[i] += length[i];
	}
}

/* The same from all roots: those of a rank count for what those of better ones do not lead to. */
static void measure(const struct graph *graph, unsigned without, unsigned *length)
{
	unsigned taken[MAX_NODES], found[MAX_NODES];
	memset(length, 0, MAX_NODES * sizeof(*length));
	for (enum gh_root_rank rank = 0; rank < GH_RANKS; rank++) {
		take_better(graph, rank, taken);
		measure_from(graph, rank, taken, without, found);
		for (unsigned i = 0; i < graph->nodes; i++)
			length[i] += found[i];
	}
}

/* Of each group, the bytes that cannot be reached without one of its objects or another. */
static void check_histogram(const struct graph *graph, const struct gh_dominators *dominators,
			    bool dominates[MAX_NODES][MAX_NODES])
{
	struct gh_histogram_row rows[GROUPS] = {{0}};
	uint32_t groups[MAX_NODES];
	uint64_t objects[GROUPS] = {0}, bytes[GROUPS] = {0}, retained[GROUPS] = {0};
	for (unsigned i = 0; i < graph->nodes; i++) {
		groups[i] = next_random() % GROUPS;
		objects[groups[i]]++;
		bytes[groups[i]] += words_of(i) * maker.word;
	}
	for (unsigned i = 0; i < graph->nodes; i++) {
		bool counted[GROUPS] = {false};
		for (unsigned j = 0; j < graph->nodes; j++) {
			if (dominates[j][i] && !counted[groups[j]])
				retained[groups[j]] += words_of(i) * maker.word;
			counted[groups[j]] |= dominates[j][i];
		}
	}
	ck_assert(gh_histogram_make(rows, GROUPS, &heap, groups, dominators, &err));
	for (unsigned i = 0; i < GROUPS; i++) {
		ck_assert_uint_eq(rows[i].objects, objects[i]);
		ck_assert_uint_eq(rows[i].bytes, bytes[i]);
		ck_assert_uint_eq(rows[i].retained, retained[i]);
	}
	for (unsigned i = 0; i < graph->nodes; i++)
		ck_assert_uint_le(dominators->retained[i],
				  dominators->retained[rows[groups[i]].largest]);
}

/* What each node dominates: what cannot be reached without it. */
static void check_dominators(const struct graph *graph)
{
	struct gh_dominators dominators;
	unsigned with[MAX_NODES], without[MAX_NODES], retained[MAX_NODES] = {0};
	unsigned count[MAX_NODES] = {0}, nreachable = 0;
	bool dominates[MAX_NODES][MAX_NODES] = {{false}};
	ck_assert(gh_dominators_build(&dominators, &heap, &err));
	measure(graph, MAX_NODES, with);
	for (unsigned i = 0; i < graph->nodes; i++) {
		measure(graph, i, without);
		nreachable += with[i] != 0;
		for (unsigned j = 0; j < graph->nodes; j++) {
			dominates[i][j] = with[j] != 0 && without[j] == 0;
			retained[i] += dominates[i][j] ? words_of(j) * maker.word : 0;
			count[j] += dominates[i][j];
		}
	}
	ck_assert_uint_eq(dominators.nreachable, nreachable);
	for (unsigned i = 0; i < graph->nodes; i++) {
		uint32_t idom = dominators.idom[i];
		ck_assert_uint_eq(dominators.retained[i], retained[i]);
		if (with[i] == 0)
			ck_assert_uint_eq(idom, GH_HEAP_NONE);
		else if (count[i] == 1)
			ck_assert_uint_eq(idom, graph->nodes);
		else
			ck_assert(idom < graph->nodes && idom != i && dominates[idom][i] &&
				  count[idom] == count[i] - 1);
	}
	bool seen[MAX_NODES] = {false};
	for (unsigned i = 0; i < nreachable; i++) {
		uint32_t object = dominators.order[i], idom = dominators.idom[object];
		ck_assert(!seen[object] && (idom == graph->nodes || seen[idom]));
		seen[object] = true;
	}
	check_histogram(graph, &dominators, dominates);
	gh_dominators_free(&dominators);
}

/* The bytes that only roots of HOLDER lead to, which are of rank HOLDER % GH_RANKS. */
static uint64_t measure_held(const struct graph *graph, const uint32_t *of, unsigned holder)
{
	unsigned taken[MAX_NODES], with[MAX_NODES], without[MAX_NODES];
	enum gh_root_rank rank = holder % GH_RANKS;
	struct graph rest = *graph;
	uint64_t bytes = 0;
	for (size_t i = 0; i < heap.nroots; i++)
		if (of[i] == holder)
			rest.root[heap.roots[i].object] = false;
	take_better(graph, rank, taken);
	measure_from(graph, rank, taken, MAX_NODES, with);
	measure_from(&rest, rank, taken, MAX_NODES, without);
	for (unsigned i = 0; i < graph->nodes; i++)
		bytes += with[i] != 0 && without[i] == 0 ? words_of(i) * maker.word : 0;
	return bytes;
}

/* What holders of several roots each dominate; and objects what they do without holders. */
static void check_held(const struct graph *graph)
{
	enum { HOLDERS = 3 * GH_RANKS };
	struct gh_dominators plain, held;
	uint32_t of[MAX_NODES], seen = 0;
	for (size_t i = 0; i < heap.nroots; i++)
		of[i] = GH_RANKS * (next_random() % 3) + gh_root_rank(&heap.roots[i]);
	struct gh_holders holders = {of, HOLDERS};
	ck_assert(gh_dominators_build(&plain, &heap, &err));
	ck_assert(gh_dominators_build_held(&held, &heap, &holders, &err));
	for (unsigned i = 0; i < HOLDERS; i++)
		ck_assert_uint_eq(held.retained[gh_dominators_holder(&heap, i)],
				  measure_held(graph, of, i));
	for (unsigned i = 0; i <= graph->nodes; i++)
		ck_assert_uint_eq(held.retained[i], plain.retained[i]);
	for (uint32_t i = 0; i < held.nreachable; i++) {
		uint32_t node = held.order[i];
		ck_assert(node != heap.count && node < gh_dominators_holder(&heap, HOLDERS));
		seen += node < heap.count;
	}
	ck_assert_uint_eq(seen, plain.nreachable);
	gh_dominators_free(&plain);
	gh_dominators_free(&held);
}

/* The pointer at the offset of STEP leads to OBJECT. */
static void check_step(const struct gh_path_step *step, uint32_t object)
{
	struct gh_pointers walk;
	struct gh_pointer pointer = {.offset = UINT64_MAX};
	gh_pointers_start(&heap, step->object, &walk);
	while (pointer.offset != step->offset)
		ck_assert(gh_pointers_next(&walk, &pointer));
	ck_assert_uint_eq(pointer.target, object);
}

static void check_paths(const struct graph *graph)
{
	unsigned length[MAX_NODES];
	measure(graph, MAX_NODES, length);
	for (unsigned i = 0; i < graph->nodes; i++) {
		struct gh_path path;
		ck_assert_int_eq(gh_path_find(&heap, i, &path, &err),
				 length[i] != 0 ? GH_PATH_FOUND : GH_PATH_NONE);
		if (length[i] == 0)
			continue;
		const struct gh_path_step *steps = path.steps.items;
		ck_assert_uint_eq(path.steps.count, length[i]);
		ck_assert_uint_eq(path.root.object, steps[0].object);
		ck_assert(graph->root[steps[0].object]);
		for (size_t j = 0; j + 1 < path.steps.count; j++)
			check_step(&steps[j], steps[j + 1].object);
		ck_assert_uint_eq(steps[path.steps.count - 1].object, i);
		gh_path_free(&path);
	}
}

static bool points_to(const struct graph *graph, unsigned from, unsigned to)
{
	for (unsigned i = 0; i < graph->nedges[from]; i++)
		if (graph->edges[from][i] == to)
			return true;
	return false;
}

static void check_path_tree(const struct graph *graph)
{
	struct gh_path_tree tree;
	unsigned length[MAX_NODES];
	measure(graph, MAX_NODES, length);
	ck_assert(gh_path_tree_build(&tree, &heap, GH_PATH_NEAREST, &err));
	for (unsigned i = 0; i < graph->nodes; i++) {
		unsigned steps = 1;
		uint32_t at = i;
		if (length[i] == 0) {
			ck_assert_uint_eq(tree.parents[i], GH_HEAP_NONE);
			continue;
		}
		for (; tree.parents[at] != at; at = tree.parents[at], steps++)
			ck_assert(points_to(graph, tree.parents[at], at));
		ck_assert(graph->root[at]);
		ck_assert_uint_eq(steps, length[i]);
	}
	gh_path_tree_free(&tree);
}

START_TEST(random_graphs)
{
	for (unsigned i = 0; i < GRAPHS; i++) {
		struct graph graph;
		make_graph(&graph);
		open_graph(&graph);
		check_dominators(&graph);
		check_held(&graph);
		check_paths(&graph);
		check_path_tree(&graph);
		heap_close(&maker, &dump, &heap);
	}
}
END_TEST

void graph_tests(TCase *tcase)
{
	tcase_add_test(tcase, random_graphs);
}
