#include "plugin/cli/heap_query.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/heap/heap.h"
#include "plugin/view/emit.h"

/* Roots of the object that was asked for. */
#define MAX_ROOTS 8

/* Of the picture around an object: what is drawn. */
struct around {
	uint32_t center;        /* the object */
	struct gh_path path;    /* to it */
	bool has_path;          /* it is no garbage */
	struct gh_buffer drawn; /* uint32_t: the objects that are, in the order they were found */
	struct gh_buffer below; /* uint32_t: those of them that it leads to, and itself */
	uint8_t *is_drawn;      /* by object; owned */
	uint8_t *is_below;      /* by object; owned */
	uint32_t *edges;        /* by object: the edge to it from the one last looked at; owned */
};

/* An object that another points to. */
struct edge {
	uint32_t to;
	uint64_t offset; /* of the first pointer */
	uint64_t count;  /* of pointers */
};

static size_t count_drawn(const struct around *around)
{
	return around->drawn.size / sizeof(uint32_t);
}

static uint32_t drawn_at(const struct around *around, size_t place)
{
	return ((const uint32_t *)(const void *)around->drawn.data)[place];
}

static void add(struct around *around, uint32_t object)
{
	if (around->is_drawn[object])
		return;
	around->is_drawn[object] = true;
	gh_buffer_bytes(&around->drawn, &object, sizeof(object));
}

static void add_below(struct around *around, uint32_t object)
{
	if (around->is_below[object])
		return;
	around->is_below[object] = true;
	gh_buffer_bytes(&around->below, &object, sizeof(object));
}

/* Adds those of the COUNT objects at OBJECTS that retain most, until LIMIT are drawn. */
static void add_largest(struct gh_picture *picture, struct around *around, const uint32_t *objects,
			size_t count, size_t limit)
{
	if (count_drawn(around) >= limit)
		return;
	struct gh_top top = {.limit = limit - count_drawn(around)};
	for (size_t i = 0; i < count; i++)
		if (!around->is_drawn[objects[i]])
			gh_top_add(&top, gh_picture_retained(picture, objects[i]), objects[i]);
	const struct gh_top_item *items = gh_top_finish(&top, &count);
	for (size_t i = 0; i < count; i++)
		add(around, items[i].number);
	around->drawn.failed |= top.items.failed;
	gh_top_free(&top);
}

/* Adds what the object points to, what that points to, and so on. */
static void add_targets(struct gh_picture *picture, struct around *around)
{
	add_below(around, around->center);
	for (size_t i = 0; i < around->below.size / sizeof(uint32_t); i++) {
		const uint32_t *objects;
		uint32_t object = ((const uint32_t *)(const void *)around->below.data)[i];
		size_t count = gh_heap_targets(&picture->query->heap, object, &objects);
		add_largest(picture, around, objects, count, picture->limit);
		for (size_t j = 0; j < count; j++)
			if (around->is_drawn[objects[j]])
				add_below(around, objects[j]);
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
			add(around, steps[i].object);
}

/* Finds what to draw: the path; then, as some of the limit, what points to the object. */
static void choose(struct gh_picture *picture, struct around *around)
{
	const uint32_t *referrers;
	size_t count = gh_heap_referrers(&picture->query->heap, around->center, &referrers);
	add(around, around->center);
	if (around->has_path)
		add_path(picture, around);
	size_t limit = count_drawn(around) + picture->limit / 4;
	add_largest(picture, around, referrers, count,
		    limit < picture->limit ? limit : picture->limit);
	add_targets(picture, around);
}

/* Fills EDGES, struct edge, with what OBJECT points to that is drawn. */
static void find_edges(const struct gh_picture *picture, struct around *around, uint32_t object,
		       struct gh_buffer *edges)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	edges->size = 0;
	gh_pointers_start(&picture->query->heap, object, &walk);
	while (gh_pointers_next(&walk, &pointer)) {
		if (pointer.target == GH_HEAP_NONE || !around->is_drawn[pointer.target])
			continue;
		struct edge *all = (void *)edges->data;
		size_t count = edges->size / sizeof(*all);
		uint32_t *place = &around->edges[pointer.target];
		if (*place < count && all[*place].to == pointer.target) {
			all[*place].count++;
			continue;
		}
		*place = (uint32_t)count;
		struct edge edge = {pointer.target, pointer.offset, 1};
		gh_buffer_bytes(edges, &edge, sizeof(edge));
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
		       struct gh_buffer *edges)
{
	find_edges(picture, around, object, edges);
	const struct edge *all = (const void *)edges->data;
	for (size_t i = 0; i < edges->size / sizeof(*all); i++) {
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
		if (around->is_drawn[steps[i + 1].object])
			continue;
		size_t end = i + 1;
		while (!around->is_drawn[steps[end].object])
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
	struct gh_buffer edges = {0};
	for (size_t i = 0; i < count_drawn(around); i++)
		if (gh_picture_retained(picture, drawn_at(around, i)) > picture->dot.most)
			picture->dot.most = gh_picture_retained(picture, drawn_at(around, i));
	gh_picture_legend(picture, count_drawn(around));
	for (size_t i = 0; i < count_drawn(around); i++) {
		uint32_t object = drawn_at(around, i);
		gh_picture_object(picture, object, object == around->center);
		draw_edges(picture, around, object, &edges);
	}
	if (around->has_path)
		draw_gap(picture, around);
	draw_roots(picture, around);
	around->drawn.failed |= edges.failed;
	gh_buffer_free(&edges);
}

bool gh_neighborhood_draw(struct gh_picture *picture, uint32_t center)
{
	uint32_t count = picture->query->heap.count;
	struct gh_error err;
	struct around around = {
	    .center = center,
	    .is_drawn = calloc(count, sizeof(*around.is_drawn)),
	    .is_below = calloc(count, sizeof(*around.is_below)),
	    .edges = calloc(count, sizeof(*around.edges)),
	};
	enum gh_path_result result =
	    gh_path_find(&picture->query->heap, center, &around.path, &err);
	around.has_path = result == GH_PATH_FOUND;
	bool drawn = around.is_drawn != NULL && around.is_below != NULL && around.edges != NULL &&
		     result != GH_PATH_FAILED;
	if (drawn) {
		choose(picture, &around);
		draw_around(picture, &around);
	}
	drawn = drawn && !around.drawn.failed && !around.below.failed;
	if (around.has_path)
		gh_path_free(&around.path);
	gh_buffer_free(&around.drawn);
	gh_buffer_free(&around.below);
	free(around.is_drawn);
	free(around.is_below);
	free(around.edges);
	return drawn;
}
