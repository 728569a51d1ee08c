
#include <inttypes.h>
#include <stdlib.h>

#include "lib/heap/heap.h"
#include "lib/util/top.h"
#include "lib/util/vector.h"
#include "plugin/findings/suspects.h"
#include "plugin/view/emit.h"

/* Roots of the object that was asked for. */
#define MAX_ROOTS 8

/* Objects, each once. */
struct set {
	struct GH_VECTOR(uint32_t) found; /* in the order in which they were */
	bool *has;                        /* by object; owned */
};

/* Of the picture around an object: what is drawn. */
struct around {
	uint32_t center;     /* the object */
	struct gh_path path; /* to it */
	bool has_path;       /* it is no garbage */
	struct set drawn;
	struct set below; /* those of them that it leads to, and itself */
	uint32_t *edges;  /* by object: the edge to it from the one last looked at; owned */
};

/* An object that another points to. */
struct edge {
	uint32_t to;
	uint64_t offset; /* of the first pointer */
	uint64_t count;  /* of pointers */
};

struct edges GH_VECTOR(struct edge);

static void add(struct set *set, uint32_t object)
{
	if (!set->has[object])
		gh_vector_push(&set->found, object);
	set->has[object] = true;
}

static void free_set(struct set *set)
{
	gh_vector_free(&set->found);
	free(set->has);
}

/* Adds those of the COUNT objects at OBJECTS that retain most, until LIMIT are drawn. */
static void add_largest(struct gh_picture *picture, struct around *around, const uint32_t *objects,
			size_t count, size_t limit)
{
	if (around->drawn.found.count >= limit)
		return;
	struct gh_top top = {.limit = limit - around->drawn.found.count};
	for (size_t i = 0; i < count; i++)
		if (!around->drawn.has[objects[i]])
			gh_top_add(&top, gh_picture_retained(picture, objects[i]), objects[i]);
	const struct gh_top_item *items = gh_emit_top(&top, &count);
	for (size_t i = 0; i < count; i++)
		add(&around->drawn, items[i].number);
	around->drawn.found.failed |= top.items.failed;
	gh_top_free(&top);
}

/* Adds what the object points to, what that points to, and so on. */
static void add_targets(struct gh_picture *picture, struct around *around)
{
	add(&around->below, around->center);
	for (size_t i = 0; i < around->below.found.count; i++) {
		const uint32_t *objects;
		uint32_t object = around->below.found.items[i];
		size_t count = gh_heap_targets(&picture->query->heap, object, &objects);
		add_largest(picture, around, objects, count, picture->limit);
		for (size_t j = 0; j < count; j++)
			if (around->drawn.has[objects[j]])
				add(&around->below, objects[j]);
	}
}

/* Of a long path both ends are drawn. */
static void add_path(struct gh_picture *picture, struct around *around)
{
	const struct gh_path_step *steps = around->path.steps.items;
	size_t count = around->path.steps.count;
	size_t end = picture->limit / 4 + 1;
	for (size_t i = 0; i < count; i++)
		if (i < end || count - i <= end)
			add(&around->drawn, steps[i].object);
}

/* Finds what to draw: the path; then, as some of the limit, what points to the object. */
static void choose(struct gh_picture *picture, struct around *around)
{
	const uint32_t *referrers;
	size_t count = gh_heap_referrers(&picture->query->heap, around->center, &referrers);
	add(&around->drawn, around->center);
	if (around->has_path)
		add_path(picture, around);
	size_t limit = around->drawn.found.count + picture->limit / 4;
	add_largest(picture, around, referrers, count,
		    limit < picture->limit ? limit : picture->limit);
	add_targets(picture, around);
}

/* Fills EDGES with what OBJECT points to that is drawn. */
static void find_edges(const struct gh_picture *picture, struct around *around, uint32_t object,
		       struct edges *edges)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	edges->count = 0;
	gh_pointers_start(&picture->query->heap, object, &walk);
	while (gh_pointers_next(&walk, &pointer)) {
		if (pointer.target == GH_HEAP_NONE || !around->drawn.has[pointer.target])
			continue;
		uint32_t *place = &around->edges[pointer.target];
		if (*place < edges->count && edges->items[*place].to == pointer.target) {
			edges->items[*place].count++;
			continue;
		}
		*place = (uint32_t)edges->count;
		gh_vector_push(edges, (struct edge){pointer.target, pointer.offset, 1});
	}
}

static bool is_on_path(const struct around *around, uint32_t from, uint32_t to)
{
	const struct gh_path_step *steps = around->path.steps.items;
	for (size_t i = 0; around->has_path && i + 1 < around->path.steps.count; i++)
		if (steps[i].object == from && steps[i + 1].object == to)
			return true;
	return false;
}

static void draw_edges(const struct gh_picture *picture, struct around *around, uint32_t object,
		       struct edges *edges)
{
	find_edges(picture, around, object, edges);
	const struct edge *all = edges->items;
	for (size_t i = 0; i < edges->count; i++) {
		gh_dot_edge(&picture->dot, object, all[i].to,
			    gh_picture_retained(picture, all[i].to),
			    is_on_path(around, object, all[i].to) ? GH_DOT_PATH : GH_DOT_POINTER);
		fputc(' ', picture->dot.label);
		gh_names_print_field(picture->dot.label, &picture->query->names, object,
				     all[i].offset);
		if (all[i].count > 1)
			fprintf(picture->dot.label, " and %" PRIu64 " more", all[i].count - 1);
		gh_dot_end(&picture->dot);
	}
}

/* The line over what is left out of the path. */
static void draw_gap(const struct gh_picture *picture, const struct around *around)
{
	const struct gh_path_step *steps = around->path.steps.items;
	for (size_t i = 0; i + 1 < around->path.steps.count; i++) {
		if (around->drawn.has[steps[i + 1].object])
			continue;
		size_t end = i + 1;
		while (!around->drawn.has[steps[end].object])
			end++;
		gh_dot_edge(&picture->dot, steps[i].object, steps[end].object,
			    gh_picture_retained(picture, steps[end].object), GH_DOT_INDIRECT);
		fprintf(picture->dot.label, " by way of %zu more", end - i - 1);
		gh_dot_end(&picture->dot);
		i = end - 1;
	}
}

static void draw_roots(struct gh_picture *picture, const struct around *around)
{
	const struct gh_root *roots;
	size_t count = gh_heap_roots(&picture->query->heap, around->center, &roots);
	bool is_center = around->has_path && around->path.root.object == around->center;
	if (around->has_path && !is_center)
		gh_picture_root(picture, &around->path.root, true);
	for (size_t i = 0; i < count && i < MAX_ROOTS; i++)
		gh_picture_root(picture, &roots[i], i == 0 && is_center);
}

static void draw_around(struct gh_picture *picture, struct around *around)
{
	struct edges edges = {0};
	for (size_t i = 0; i < around->drawn.found.count; i++)
		if (gh_picture_retained(picture, around->drawn.found.items[i]) > picture->dot.most)
			picture->dot.most =
			    gh_picture_retained(picture, around->drawn.found.items[i]);
	gh_picture_legend(picture, around->drawn.found.count);
	for (size_t i = 0; i < around->drawn.found.count; i++) {
		uint32_t object = around->drawn.found.items[i];
		gh_picture_object(picture, object, object == around->center);
		draw_edges(picture, around, object, &edges);
	}
	if (around->has_path)
		draw_gap(picture, around);
	draw_roots(picture, around);
	around->drawn.found.failed |= edges.failed;
	gh_vector_free(&edges);
}

bool gh_neighborhood_draw(struct gh_picture *picture, uint32_t center)
{
	uint32_t count = picture->query->heap.count;
	struct gh_error err;
	struct around around = {
	    .center = center,
	    .drawn.has = calloc(count, sizeof(*around.drawn.has)),
	    .below.has = calloc(count, sizeof(*around.below.has)),
	    .edges = calloc(count, sizeof(*around.edges)),
	};
	enum gh_path_result result =
	    gh_path_find(&picture->query->heap, center, &around.path, &err);
	around.has_path = result == GH_PATH_FOUND;
	bool drawn = around.drawn.has != NULL && around.below.has != NULL && around.edges != NULL &&
		     result != GH_PATH_FAILED;
	if (drawn) {
		choose(picture, &around);
		draw_around(picture, &around);
	}
	drawn = drawn && !around.drawn.found.failed && !around.below.found.failed;
	if (around.has_path)
		gh_path_free(&around.path);
	free_set(&around.drawn);
	free_set(&around.below);
	free(around.edges);
	return drawn;
}
