/* goheap dot: a picture of the heap: what retains most of it, or what is around an object. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/heap/path.h"
#include "lib/util/output.h"
#include "plugin/command.h"
#include "plugin/dot.h"
#include "plugin/dumpfile.h"
#include "plugin/question.h"
#include "plugin/size.h"
#include "plugin/top.h"
#include "plugin/tree.h"

/* Objects in a picture, if no limit is given. */
#define DEFAULT_LIMIT 50

/* Roots of the object that was asked for. */
#define MAX_ROOTS 8

/* A picture while it is drawn. */
struct picture {
	struct gh_question *question;
	struct gh_dot dot;
	size_t limit; /* of objects; SIZE_MAX for none */
};

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

static uint64_t retained_by(const struct picture *picture, uint32_t object)
{
	return picture->question->dominators.retained[object];
}

static void put_share(const struct picture *picture, const char *before, uint64_t bytes)
{
	FILE *out = picture->dot.label;
	uint64_t whole = picture->dot.whole;
	char size[GH_SIZE_TEXT];
	fprintf(out, "%s%s (%.1f%%)", before, gh_size_text(bytes, size),
		whole > 0 ? 100 * (double)bytes / (double)whole : 0);
}

/* COUNT objects of which OBJECT is the first. */
static void draw_object(const struct picture *picture, uint32_t object, uint32_t count, bool marked)
{
	const struct gh_question *question = picture->question;
	struct gh_heap_object extent = gh_heap_object(&question->heap, object);
	uint64_t retained = retained_by(picture, object);
	FILE *label = picture->dot.label;
	gh_dot_object(&picture->dot, object, retained, marked);
	gh_names_print(label, &question->names, object, false);
	fprintf(label, "\n0x%" PRIx64, extent.address);
	if (count > 1)
		fprintf(label, ", first of %" PRIu32, count);
	put_share(picture, "\n", extent.size);
	if (retained == 0)
		fputs("\ngarbage", label);
	else if (retained != extent.size)
		put_share(picture, "\nof ", retained);
	gh_dot_end(&picture->dot);
}

static void draw_root(struct picture *picture, const struct gh_root *root, bool path)
{
	gh_dot_note(&picture->dot, root->object, path);
	gh_names_print_root(picture->dot.label, &picture->question->names, root);
	gh_dot_end(&picture->dot);
}

static void draw_legend(struct picture *picture, size_t shown)
{
	const struct gh_question *question = picture->question;
	FILE *label = picture->dot.label;
	gh_dot_legend(&picture->dot);
	gh_print_bytes(label, question->options->dump, strlen(question->options->dump), false);
	char size[GH_SIZE_TEXT];
	fprintf(label, "\n%s in %" PRIu32 " objects\n%zu shown",
		gh_size_text(picture->dot.whole, size), question->heap.count, shown);
	gh_dot_end(&picture->dot);
}

/* What holds the object of a line that nothing dominates. */
static void draw_holder(struct picture *picture, uint32_t object)
{
	const struct gh_root *roots;
	size_t count = gh_heap_roots(&picture->question->heap, object, &roots);
	if (count == 1) {
		draw_root(picture, &roots[0], false);
		return;
	}
	gh_dot_note(&picture->dot, object, false);
	if (count == 0)
		fputs("several ways", picture->dot.label);
	else
		fprintf(picture->dot.label, "%zu roots", count);
	gh_dot_end(&picture->dot);
}

static void draw_tree(struct picture *picture, const struct gh_tree *tree)
{
	if (tree->count > 0)
		picture->dot.most = retained_by(picture, tree->lines[0].object);
	draw_legend(picture, tree->count);
	for (size_t i = 0; i < tree->count; i++) {
		const struct gh_tree_line *line = &tree->lines[i];
		draw_object(picture, line->object, line->count, false);
		if (line->parent == GH_HEAP_NONE) {
			draw_holder(picture, line->object);
			continue;
		}
		uint64_t retained = retained_by(picture, line->object);
		gh_dot_edge(&picture->dot, tree->lines[line->parent].object, line->object, retained,
			    GH_DOT_POINTER);
		put_share(picture, " ", retained);
		gh_dot_end(&picture->dot);
	}
}

/* The objects that retain most, below what dominates them. */
static bool draw_dominators(struct picture *picture)
{
	struct gh_question *question = picture->question;
	struct gh_tree tree;
	bool made = gh_tree_make(&tree, &question->heap, &question->dominators,
				 gh_names_classes(&question->names),
				 picture->limit == SIZE_MAX ? 0 : picture->limit);
	if (made)
		draw_tree(picture, &tree);
	gh_tree_free(&tree);
	return made;
}

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
static void add_largest(struct picture *picture, struct around *around, const uint32_t *objects,
			size_t count, size_t limit)
{
	if (count_drawn(around) >= limit)
		return;
	struct gh_top top = {.limit = limit - count_drawn(around)};
	for (size_t i = 0; i < count; i++)
		if (!around->is_drawn[objects[i]])
			gh_top_add(&top, retained_by(picture, objects[i]), objects[i]);
	const struct gh_top_item *items = gh_top_finish(&top, &count);
	for (size_t i = 0; i < count; i++)
		add(around, items[i].number);
	around->drawn.failed |= top.items.failed;
	gh_top_free(&top);
}

/* Adds what the object points to, what that points to, and so on. */
static void add_targets(struct picture *picture, struct around *around)
{
	add_below(around, around->center);
	for (size_t i = 0; i < around->below.size / sizeof(uint32_t); i++) {
		const uint32_t *objects;
		uint32_t object = ((const uint32_t *)(const void *)around->below.data)[i];
		size_t count = gh_heap_targets(&picture->question->heap, object, &objects);
		add_largest(picture, around, objects, count, picture->limit);
		for (size_t j = 0; j < count; j++)
			if (around->is_drawn[objects[j]])
				add_below(around, objects[j]);
	}
}

/* Of a long path both ends are drawn. */
static void add_path(struct picture *picture, struct around *around)
{
	const struct gh_path_step *steps = gh_path_steps(&around->path);
	size_t count = around->path.nsteps;
	size_t end = picture->limit / 4 + 1;
	for (size_t i = 0; i < count; i++)
		if (i < end || count - i <= end)
			add(around, steps[i].object);
}

/* Finds what to draw: the path; then, as some of the limit, what points to the object. */
static void choose(struct picture *picture, struct around *around)
{
	const uint32_t *referrers;
	size_t count = gh_heap_referrers(&picture->question->heap, around->center, &referrers);
	add(around, around->center);
	if (around->has_path)
		add_path(picture, around);
	size_t limit = count_drawn(around) + picture->limit / 4;
	add_largest(picture, around, referrers, count,
		    limit < picture->limit ? limit : picture->limit);
	add_targets(picture, around);
}

/* Fills EDGES, struct edge, with what OBJECT points to that is drawn. */
static void find_edges(const struct picture *picture, struct around *around, uint32_t object,
		       struct gh_buffer *edges)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	edges->size = 0;
	gh_pointers_start(&picture->question->heap, object, &walk);
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
	const struct gh_path_step *steps = gh_path_steps(&around->path);
	for (size_t i = 0; around->has_path && i + 1 < around->path.nsteps; i++)
		if (steps[i].object == from && steps[i + 1].object == to)
			return true;
	return false;
}

static void draw_edges(const struct picture *picture, struct around *around, uint32_t object,
		       struct gh_buffer *edges)
{
	find_edges(picture, around, object, edges);
	const struct edge *all = (const void *)edges->data;
	for (size_t i = 0; i < edges->size / sizeof(*all); i++) {
		gh_dot_edge(&picture->dot, object, all[i].to, retained_by(picture, all[i].to),
			    is_on_path(around, object, all[i].to) ? GH_DOT_PATH : GH_DOT_POINTER);
		fputc(' ', picture->dot.label);
		gh_names_print_field(picture->dot.label, &picture->question->names, object,
				     all[i].offset);
		if (all[i].count > 1)
			fprintf(picture->dot.label, " and %" PRIu64 " more", all[i].count - 1);
		gh_dot_end(&picture->dot);
	}
}

/* The line over what is left out of the path. */
static void draw_gap(const struct picture *picture, const struct around *around)
{
	const struct gh_path_step *steps = gh_path_steps(&around->path);
	for (size_t i = 0; i + 1 < around->path.nsteps; i++) {
		if (around->is_drawn[steps[i + 1].object])
			continue;
		size_t end = i + 1;
		while (!around->is_drawn[steps[end].object])
			end++;
		gh_dot_edge(&picture->dot, steps[i].object, steps[end].object,
			    retained_by(picture, steps[end].object), GH_DOT_INDIRECT);
		fprintf(picture->dot.label, " by way of %zu more", end - i - 1);
		gh_dot_end(&picture->dot);
		i = end - 1;
	}
}

static void draw_roots(struct picture *picture, const struct around *around)
{
	const struct gh_root *roots;
	size_t count = gh_heap_roots(&picture->question->heap, around->center, &roots);
	bool is_center = around->has_path && around->path.root.object == around->center;
	if (around->has_path && !is_center)
		draw_root(picture, &around->path.root, true);
	for (size_t i = 0; i < count && i < MAX_ROOTS; i++)
		draw_root(picture, &roots[i], i == 0 && is_center);
}

static void draw_around(struct picture *picture, struct around *around)
{
	struct gh_buffer edges = {0};
	for (size_t i = 0; i < count_drawn(around); i++)
		if (retained_by(picture, drawn_at(around, i)) > picture->dot.most)
			picture->dot.most = retained_by(picture, drawn_at(around, i));
	draw_legend(picture, count_drawn(around));
	for (size_t i = 0; i < count_drawn(around); i++) {
		uint32_t object = drawn_at(around, i);
		draw_object(picture, object, 1, object == around->center);
		draw_edges(picture, around, object, &edges);
	}
	if (around->has_path)
		draw_gap(picture, around);
	draw_roots(picture, around);
	around->drawn.failed |= edges.failed;
	gh_buffer_free(&edges);
}

static bool draw_object_at(struct picture *picture, uint32_t center)
{
	uint32_t count = picture->question->heap.count;
	struct gh_error err = {0};
	struct around around = {
	    .center = center,
	    .is_drawn = calloc(count, sizeof(*around.is_drawn)),
	    .is_below = calloc(count, sizeof(*around.is_below)),
	    .edges = calloc(count, sizeof(*around.edges)),
	};
	around.has_path = gh_path_find(&picture->question->heap, center, &around.path, &err);
	bool drawn = around.is_drawn != NULL && around.is_below != NULL && around.edges != NULL &&
		     *err.text == '\0';
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

/* Draws on OUT; CENTER may be GH_HEAP_NONE. False if memory ran out. */
static bool draw(struct gh_question *question, uint32_t center, FILE *out)
{
	const struct gh_question_options *options = question->options;
	struct picture picture = {.question = question, .limit = DEFAULT_LIMIT};
	if (options->has_limit)
		picture.limit = options->limit > 0 ? options->limit : SIZE_MAX;
	if (!gh_dot_open(&picture.dot, out))
		return false;
	picture.dot.whole = question->dump.objects.bytes;
	bool drawn =
	    center == GH_HEAP_NONE ? draw_dominators(&picture) : draw_object_at(&picture, center);
	gh_dot_close(&picture.dot);
	return drawn;
}

/* Draws into the file PATH, which is there whole or not at all. */
static bool draw_file(struct gh_question *question, uint32_t center, const char *path,
		      struct gh_error *err)
{
	struct gh_output file;
	if (!gh_output_open(&file, path, err))
		return false;
	FILE *out = gh_output_stream(&file, err);
	bool drawn = out != NULL && draw(question, center, out);
	bool written = out != NULL && !ferror(out);
	if (out != NULL && fclose(out) != 0)
		written = false;
	if (drawn && written)
		return gh_output_commit(&file, err);
	if (out != NULL)
		gh_fail_errno(err, path, "write");
	gh_output_discard(&file);
	return false;
}

static int answer(struct gh_question *question, uint32_t center)
{
	const char *path = question->options->output;
	struct gh_error err;
	if (path == NULL) {
		if (draw(question, center, stdout))
			return GH_EXIT_OK;
		fputs("goheap: out of memory\n", stderr);
	} else {
		if (draw_file(question, center, path, &err))
			return GH_EXIT_OK;
		gh_print_error(&err);
	}
	return GH_EXIT_INPUT;
}

static int answer_dump(struct gh_question *question)
{
	return answer(question, GH_HEAP_NONE);
}

static int answer_object(struct gh_question *question, uint32_t object, uint64_t address)
{
	(void)address;
	return answer(question, object);
}

int gh_cmd_dot(int argc, char **argv)
{
	struct gh_question_options options = gh_question_parse(
	    argc, argv, GH_ASKS_PICTURE,
	    "Draw what keeps most of the heap alive, or what is around the object at ADDR: the "
	    "shortest way to it from a root, what points to it, and what it points to. The picture "
	    "is of 50 objects, if no limit is given, and in the language of Graphviz: dot -Tsvg "
	    "makes an image of it.");
	if (options.addresses.size == 0)
		return gh_question_run(&options, true, answer_dump);
	return gh_question_run_each(&options, true, answer_object);
}
