#include "plugin/view/paths.h"

#include <string.h>

#include "lib/util/intern.h"
#include "lib/util/numbermap.h"
#include "plugin/view/internal.h"

/* The deepest frame, and the most that there are: what is below is counted in the one above. */
#define MAX_DEPTH 128
#define MAX_NODES (1 << 20)

/* Larger objects may have a header, in bytes (minSizeForMallocHeader in src/runtime/mbitmap.go). */
#define LARGEST_WITHOUT_HEADER 512

/* No step is known. */
#define NO_STEP UINT32_MAX

/* The frames by which one object leads to the next. */
struct step {
	size_t first; /* of them, in the frames of all steps */
	size_t count; /* of frames */
	bool tells;   /* the last one's type is what the pointer points to */
};

struct merging {
	struct gh_merged_paths *paths;
	struct gh_names *names;
	struct gh_path_tree tree;
	uint32_t *steps;        /* by object: that which leads to it; then its node; the paths' */
	struct gh_intern texts; /* the frames' names */
	struct GH_VECTOR(struct step) items; /* all steps, by number */
	struct GH_VECTOR(uint32_t) frames;   /* of all steps */
	struct GH_VECTOR(uint16_t) depths;   /* by node */
	struct gh_numbermap by_place;        /* steps, by class and offset */
	struct gh_numbermap by_class;        /* those that end in a class, by step and class */
	struct gh_numbermap by_root;         /* those from frames' slots */
	struct gh_numbermap children;        /* nodes, by the node and the frame in it */
	struct gh_numbermap walked;          /* nodes, by the node and the step from it */
	struct gh_parts parts;               /* of the step that is made */
	bool failed;                         /* memory ran out */
};

static uint64_t key_of(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

static void put(struct merging *merging, struct gh_numbermap *map, uint64_t key, uint32_t number)
{
	merging->failed |= !gh_numbermap_put(map, key, number);
}

/* Adds the frame called TEXT, which is the paths' from now on, to the step that is made. NULL is
 * memory that ran out. */
static void add_frame(struct merging *merging, char *text)
{
	uint32_t count = merging->texts.count;
	uint32_t number =
	    text != NULL ? gh_intern_add(&merging->texts, text, strlen(text)) : GH_INTERN_NONE;
	bool is_new = number == count && number != GH_INTERN_NONE;
	merging->failed |=
	    number == GH_INTERN_NONE || (is_new && !gh_vector_push(&merging->paths->frames, text));
	if (!is_new || merging->paths->frames.failed)
		free(text);
	gh_vector_push(&merging->frames, number);
}

/* Adds a frame for each of the parts. */
static void add_parts(struct merging *merging)
{
	for (size_t i = 0; i < merging->parts.count; i++)
		add_frame(merging, gh_frame_of_part(&merging->names->typing.layouts,
						    &merging->parts.items[i]));
	merging->parts.count = 0;
}

/* A pointer of LAYOUT says what it points to. */
static bool tells(const struct merging *merging, uint32_t layout)
{
	if (layout == GH_NO_LAYOUT)
		return false;
	const struct gh_layout *pointer = gh_layout(&merging->names->typing.layouts, layout);
	switch (pointer->kind) {
	case GH_LAYOUT_POINTER:
	case GH_LAYOUT_SLICE:
		return pointer->elem != GH_NO_LAYOUT;
	case GH_LAYOUT_INTERFACE:
	case GH_LAYOUT_DATA_WORD:
	case GH_LAYOUT_REFLECTED:
	case GH_LAYOUT_FUNC:
	case GH_LAYOUT_UNKNOWN:
		return false;
	default:
		return true;
	}
}

static uint32_t begin_step(struct merging *merging)
{
	struct step step = {.first = merging->frames.count};
	gh_vector_push(&merging->items, step);
	return (uint32_t)(merging->items.count - 1);
}

static void end_step(struct merging *merging, uint32_t number, bool is_told)
{
	merging->failed |= merging->items.failed || merging->frames.failed || merging->parts.failed;
	if (merging->failed)
		return;
	struct step *step = &merging->items.items[number];
	step->count = merging->frames.count - step->first;
	step->tells = is_told;
}

/* Step NUMBER to objects of CLASS: if the step does not tell what it leads to, that is one more
 * frame. */
static uint32_t end_in_class(struct merging *merging, uint32_t number, uint32_t class)
{
	if (merging->failed || merging->items.items[number].tells)
		return number;
	uint64_t key = key_of(number, class);
	uint32_t known = gh_numbermap_get(&merging->by_class, key);
	if (known != GH_NOT_MAPPED)
		return known;
	struct step step = merging->items.items[number];
	known = begin_step(merging);
	for (size_t i = 0; i < step.count; i++)
		gh_vector_push(&merging->frames, merging->frames.items[step.first + i]);
	add_frame(merging, strdup(gh_names_class(merging->names, class)));
	end_step(merging, known, true);
	put(merging, &merging->by_class, key, known);
	return known;
}

/* The step by the pointer at OFFSET of what objects of class NUMBER have, without its end. */
static uint32_t step_at(struct merging *merging, uint32_t number, uint64_t offset)
{
	const struct gh_class *class = gh_typing_class(&merging->names->typing, number);
	if (class->typed && class->array && class->size > 0)
		offset %= class->size;
	else if (!class->typed && class->size > GH_FRAME_OFFSETS)
		offset = GH_FRAME_OFFSETS;
	uint64_t key = key_of(number, (uint32_t)offset);
	uint32_t known = gh_numbermap_get(&merging->by_place, key);
	if (known != GH_NOT_MAPPED)
		return known;
	known = begin_step(merging);
	uint32_t layout = gh_typing_parts(&merging->names->typing, number, offset, &merging->parts);
	add_parts(merging);
	if (layout == GH_NO_LAYOUT)
		add_frame(merging, gh_frame_of_offset(offset));
	end_step(merging, known, tells(merging, layout));
	put(merging, &merging->by_place, key, known);
	return known;
}

/* OBJECT leads to TARGET in the tree, by a step that is not known yet. */
static bool is_wanted(const struct merging *merging, uint32_t object, uint32_t target)
{
	return merging->tree.parents[target] == object && target != object &&
	       merging->steps[target] == NO_STEP;
}

/* The bytes before the value in OBJECT. */
static uint64_t header_of(const struct merging *merging, uint32_t object)
{
	struct gh_heap_object place = gh_heap_object(merging->names->heap, object);
	return place.size > LARGEST_WITHOUT_HEADER
		   ? gh_typing_value(&merging->names->typing, object) - place.address
		   : 0;
}

/* Finds the steps to what OBJECT leads to, each by its first pointer to that: they are in the order
 * of the targets. */
static void find_steps_from(struct merging *merging, uint32_t object)
{
	const struct gh_heap *heap = merging->names->heap;
	const struct gh_typing *typing = &merging->names->typing;
	const uint32_t *targets;
	struct gh_pointers walk;
	struct gh_pointer pointer;
	uint64_t header = 0;
	bool walks = false;
	size_t count = gh_heap_targets(heap, object, &targets);
	for (size_t i = 0; i < count; i++) {
		if (!is_wanted(merging, object, targets[i]))
			continue;
		if (!walks) {
			gh_pointers_start(heap, object, &walk);
			header = header_of(merging, object);
			walks = true;
		}
		if (!gh_pointers_next_to(&walk, targets[i], &pointer))
			return;
		uint32_t step =
		    step_at(merging, gh_typing_of(typing, object), pointer.offset - header);
		merging->steps[targets[i]] =
		    end_in_class(merging, step, gh_typing_of(typing, targets[i]));
	}
}

/* Finds the step that ROOT is, without its end. */
static uint32_t step_of_root(struct merging *merging, const struct gh_root *root)
{
	struct gh_root_frames frames;
	uint64_t key = gh_root_frames_key(merging->names, root);
	uint32_t known = key != 0 ? gh_numbermap_get(&merging->by_root, key) : GH_NOT_MAPPED;
	if (known != GH_NOT_MAPPED)
		return known;
	known = begin_step(merging);
	gh_root_frames_find(&frames, merging->names, root);
	for (size_t i = 0; i < frames.texts.count; i++)
		add_frame(merging, frames.texts.items[i]);
	merging->failed |= frames.texts.failed;
	end_step(merging, known, tells(merging, frames.layout));
	gh_vector_free(&frames.texts);
	if (key != 0)
		put(merging, &merging->by_root, key, known);
	return known;
}

/* Of the roots of one object the certain ones come first, and of these those of globals. */
static void find_steps_from_roots(struct merging *merging)
{
	const struct gh_heap *heap = merging->names->heap;
	for (size_t i = 0; i < heap->nroots && !merging->failed; i++) {
		uint32_t object = heap->roots[i].object;
		if (merging->tree.parents[object] != object || merging->steps[object] != NO_STEP)
			continue;
		uint32_t step = step_of_root(merging, &heap->roots[i]);
		merging->steps[object] =
		    end_in_class(merging, step, gh_typing_of(&merging->names->typing, object));
	}
}

static void find_steps(struct merging *merging)
{
	const struct gh_heap *heap = merging->names->heap;
	uint32_t garbage = begin_step(merging);
	add_frame(merging, strdup("garbage: no root leads to it"));
	end_step(merging, garbage, false);
	find_steps_from_roots(merging);
	for (uint32_t i = 0; i < heap->count && !merging->failed; i++) {
		gh_heap_passed(heap, i);
		if (merging->tree.parents[i] == GH_HEAP_NONE)
			merging->steps[i] = end_in_class(merging, garbage,
							 gh_typing_of(&merging->names->typing, i));
		else
			find_steps_from(merging, i);
	}
}

/* The node of FRAME in NODE: one above NODE, if that has the same name. */
static uint32_t enter(struct merging *merging, uint32_t node, uint32_t frame)
{
	__auto_type nodes = &merging->paths->nodes;
	for (uint32_t at = node; at != 0; at = nodes->items[at].parent)
		if (nodes->items[at].frame == frame)
			return at;
	uint64_t key = key_of(node, frame);
	uint32_t known = gh_numbermap_get(&merging->children, key);
	if (known != GH_NOT_MAPPED)
		return known;
	if (nodes->count >= MAX_NODES || merging->depths.items[node] >= MAX_DEPTH)
		return node;
	uint16_t depth = (uint16_t)(merging->depths.items[node] + 1);
	struct gh_pprof_node added = {.parent = node, .frame = frame};
	known = (uint32_t)nodes->count;
	if (!gh_vector_push(nodes, added) || !gh_vector_push(&merging->depths, depth)) {
		merging->failed = true;
		return node;
	}
	put(merging, &merging->children, key, known);
	return known;
}

/* Where step NUMBER leads to from NODE. */
static uint32_t walk(struct merging *merging, uint32_t node, uint32_t number)
{
	uint64_t key = key_of(node, number);
	uint32_t known = gh_numbermap_get(&merging->walked, key);
	if (known != GH_NOT_MAPPED || number == NO_STEP)
		return known != GH_NOT_MAPPED ? known : node;
	const struct step *step = &merging->items.items[number];
	uint32_t to = node;
	for (size_t i = 0; i < step->count && !merging->failed; i++)
		to = enter(merging, to, merging->frames.items[step->first + i]);
	put(merging, &merging->walked, key, to);
	return to;
}

/* Counts OBJECT, to which its step leads from NODE. */
static void count_object(struct merging *merging, uint32_t object, uint32_t node)
{
	node = walk(merging, node, merging->steps[object]);
	merging->steps[object] = node;
	struct gh_pprof_node *counted = &merging->paths->nodes.items[node];
	counted->objects++;
	counted->bytes += gh_heap_object(merging->names->heap, object).size;
}

/* Puts, for each object, its node in the place of its step: its parent's is there before. */
static void count_objects(struct merging *merging)
{
	const struct gh_path_tree *tree = &merging->tree;
	for (uint32_t i = 0; i < tree->nreached && !merging->failed; i++) {
		uint32_t object = tree->order[i];
		uint32_t parent = tree->parents[object];
		count_object(merging, object, parent != object ? merging->steps[parent] : 0);
	}
	for (uint32_t i = 0; i < merging->names->heap->count && !merging->failed; i++)
		if (tree->parents[i] == GH_HEAP_NONE)
			count_object(merging, i, 0);
}

static bool merge(struct merging *merging)
{
	struct gh_pprof_node top = {0};
	size_t count = (size_t)merging->names->heap->count + 1;
	merging->steps = merging->paths->of = malloc(count * sizeof(uint32_t));
	if (merging->steps == NULL || !gh_vector_push(&merging->paths->nodes, top) ||
	    !gh_vector_push(&merging->depths, 0))
		return false;
	/* NO_STEP in each. */
	memset(merging->steps, 0xff, count * sizeof(uint32_t));
	find_steps(merging);
	if (!merging->failed)
		count_objects(merging);
	return !merging->failed;
}

bool gh_merged_paths_make(struct gh_merged_paths *paths, struct gh_names *names,
			  struct gh_error *err)
{
	struct merging merging = {.paths = paths, .names = names};
	*paths = (struct gh_merged_paths){0};
	bool ok = gh_path_tree_build(&merging.tree, names->heap, GH_PATH_GLOBALS_FIRST, err);
	if (ok && !merge(&merging))
		ok = gh_fail_memory(err, names->heap->dump->path);
	gh_path_tree_free(&merging.tree);
	gh_intern_free(&merging.texts);
	gh_vector_free(&merging.items);
	gh_vector_free(&merging.frames);
	gh_vector_free(&merging.depths);
	gh_vector_free(&merging.parts);
	gh_numbermap_free(&merging.by_place);
	gh_numbermap_free(&merging.by_class);
	gh_numbermap_free(&merging.by_root);
	gh_numbermap_free(&merging.children);
	gh_numbermap_free(&merging.walked);
	return ok;
}

char *gh_merged_paths_name(const struct gh_merged_paths *paths, uint32_t number)
{
	const struct gh_pprof_node *nodes = paths->nodes.items;
	char *text = number == 0 ? strdup("") : strdup(paths->frames.items[nodes[number].frame]);
	for (uint32_t at = number; text != NULL && nodes[at].parent != 0; at = nodes[at].parent) {
		const char *frame = paths->frames.items[nodes[nodes[at].parent].frame];
		char *whole;
		if (asprintf(&whole, "%s -> %s", frame, text) < 0)
			whole = NULL;
		free(text);
		text = whole;
	}
	return text;
}

void gh_merged_paths_free(struct gh_merged_paths *paths)
{
	for (size_t i = 0; i < paths->frames.count; i++)
		free(paths->frames.items[i]);
	gh_vector_free(&paths->frames);
	gh_vector_free(&paths->nodes);
	free(paths->of);
	*paths = (struct gh_merged_paths){0};
}
