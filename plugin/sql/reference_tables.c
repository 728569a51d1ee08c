/* Tables of what holds objects: pointers, roots, dominators, and the way to one object. */
#include <stdlib.h>
#include <string.h>

#include "plugin/sql/internal.h"
#include "plugin/view/paths.h"

/* refs: an item is an object that points, its parts the pointers. */

struct pointer_walk {
	struct gh_pointers walk;
	struct gh_pointer pointer;
};

static bool load_pointers(struct gh_sql_cursor *cursor)
{
	struct pointer_walk *state = cursor->state;
	const struct gh_heap *heap = cursor->heap->heap;
	uint32_t object = (uint32_t)cursor->item;
	gh_pointers_start(heap, object, &state->walk);
	gh_pointers_use_targets(&state->walk, heap, object);
	gh_heap_passed(heap, object);
	return true;
}

static bool step_pointers(struct gh_sql_cursor *cursor)
{
	struct pointer_walk *state = cursor->state;
	bool found;
	do
		found = cursor->target != GH_HEAP_NONE
			    ? gh_pointers_next_to(&state->walk, cursor->target, &state->pointer)
			    : gh_pointers_next(&state->walk, &state->pointer);
	while (found && state->pointer.target == GH_HEAP_NONE);
	cursor->part = state->pointer.offset;
	return found;
}

static void find_pointers_to(struct gh_sql_cursor *cursor, sqlite3_value *value)
{
	cursor->target = gh_sql_object(cursor, value);
	cursor->end = 0;
	if (cursor->target != GH_HEAP_NONE)
		cursor->end = gh_heap_referrers(cursor->heap->heap, cursor->target, &cursor->order);
}

/* Gives what the field at OFFSET of OBJECT is called. */
static void give_field_at(sqlite3_context *out, const struct gh_sql_cursor *cursor, uint32_t object,
			  uint64_t offset)
{
	struct gh_buffer text = {0};
	bool found = gh_typing_field(&cursor->heap->names->typing, object, offset, &text);
	gh_sql_give_buffer(out, &text, found);
}

static void give_field(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct pointer_walk *state = cursor->state;
	give_field_at(out, cursor, (uint32_t)cursor->item, state->pointer.offset);
}

static const struct gh_sql_column ref_columns[] = {
    {"holder", GH_SQL_ADDRESS, gh_sql_give_item, .find = gh_sql_find_object,
     .sort = gh_sql_stay_sorted, .matches = 5, .about = "the object that has the pointer"},
    {"offset", "INTEGER", GH_SQL_MEMBER(struct pointer_walk, pointer.offset),
     .about = "of the pointer in it, in bytes"},
    {"field", "TEXT", give_field, .needs = GH_SQL_NEEDS_NAMES,
     .about = "that this is; NULL if it is not known"},
    {"value", GH_SQL_ADDRESS, GH_SQL_MEMBER(struct pointer_walk, pointer.value),
     .about = "of the pointer: it may be into the object"},
    {"object", GH_SQL_ADDRESS, .kind = GH_SQL_OBJECT,
     GH_SQL_MEMBER(struct pointer_walk, pointer.target), .find = find_pointers_to, .matches = 5,
     .about = "that it points to"},
    {0},
};

const struct gh_sql_table gh_sql_refs = {
    .name = "refs",
    .about = "The pointers in objects to objects",
    .columns = ref_columns,
    .rows = 3e6,
    .state = sizeof(struct pointer_walk),
    .count = gh_sql_count_objects,
    .load = load_pointers,
    .step = step_pointers,
};

/* roots */

struct root_state {
	bool placed; /* the place is filled */
	struct gh_root_place place;
};

static uint64_t count_roots(struct gh_sql_cursor *cursor)
{
	return cursor->heap->heap->nroots;
}

static bool load_root(struct gh_sql_cursor *cursor)
{
	((struct root_state *)cursor->state)->placed = false;
	return true;
}

static const void *root_of(const struct gh_sql_cursor *cursor)
{
	return &cursor->heap->heap->roots[cursor->item];
}

static const void *place_of(const struct gh_sql_cursor *cursor)
{
	struct root_state *state = cursor->state;
	struct gh_dump_record record;
	if (!state->placed)
		gh_names_root_place(&state->place, cursor->heap->names, root_of(cursor), &record);
	state->placed = true;
	return &state->place;
}

static void find_roots(struct gh_sql_cursor *cursor, sqlite3_value *value)
{
	const struct gh_heap *heap = cursor->heap->heap;
	uint32_t object = gh_sql_object(cursor, value);
	const struct gh_root *roots = heap->roots;
	size_t count = object != GH_HEAP_NONE ? gh_heap_roots(heap, object, &roots) : 0;
	uint64_t first = count > 0 ? (uint64_t)(roots - heap->roots) : 0;
	gh_sql_take(cursor, first, first + count);
}

/* Gives what ROOT is called for a person. */
static void give_root_name(sqlite3_context *out, const struct gh_sql_cursor *cursor,
			   const struct gh_root *root)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	if (stream != NULL)
		gh_names_print_root(stream, cursor->heap->names, root);
	gh_sql_give_stream(out, stream, true, &text, &size);
}

static void give_root(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	give_root_name(out, cursor, root_of(cursor));
}

static void give_goroutine(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_root_place *place = place_of(cursor);
	if (place->goroutine != GH_DUMP_NONE)
		gh_sql_give_number(out, gh_sql_goroutine_id(cursor, place->goroutine));
}

static const struct gh_sql_column root_columns[] = {
    {"kind", "TEXT", .row = place_of, .kind = GH_SQL_TEXT,
     GH_SQL_MEMBER(struct gh_root_place, kind),
     .about = "data, bss, stack, goroutine, defer, panic, finalizer, ..."},
    {"name", "TEXT", give_root, .about = "as path has it: variable, goroutine and function"},
    {"slot", GH_SQL_ADDRESS, .row = place_of, .kind = GH_SQL_KNOWN,
     GH_SQL_MEMBER(struct gh_root_place, address), .about = "of the pointer"},
    {"goroutine", "INTEGER", give_goroutine, .about = "id of the one whose it is"},
    {"perhaps", "INTEGER", .row = root_of, GH_SQL_MEMBER(struct gh_root, conservative),
     .about = "1 if it is a word that may be no pointer"},
    {"object", GH_SQL_ADDRESS, .row = root_of, .kind = GH_SQL_OBJECT,
     GH_SQL_MEMBER(struct gh_root, object), .find = find_roots, .sort = gh_sql_stay_sorted,
     .matches = 2, .about = "that it points to"},
    {0},
};

const struct gh_sql_table gh_sql_roots = {
    .name = "roots",
    .about = "The pointers to objects that are in none: what keeps the heap alive",
    .columns = root_columns,
    .needs = GH_SQL_NEEDS_NAMES,
    .rows = 1e5,
    .state = sizeof(struct root_state),
    .count = count_roots,
    .load = load_root,
};

/* retained: an item is an object that a root leads to. */

static bool load_reached(struct gh_sql_cursor *cursor)
{
	return cursor->heap->dominators->idom[cursor->item] != GH_HEAP_NONE;
}

/* Fills cursor->found with the objects whose dominator is NODE. */
static void find_children(struct gh_sql_cursor *cursor, uint32_t node)
{
	struct gh_sql_made *made = &cursor->sql->made;
	if (!made->has_tree)
		made->has_tree = gh_dominator_tree_make(&made->tree, cursor->heap->heap,
							cursor->heap->dominators);
	uint32_t count = 0;
	for (uint32_t at = made->has_tree ? made->tree.child[node] : GH_HEAP_NONE;
	     at != GH_HEAP_NONE; at = made->tree.sibling[at])
		count++;
	cursor->found = malloc((size_t)count * sizeof(*cursor->found) + 1);
	cursor->order = cursor->found;
	if (!made->has_tree || cursor->found == NULL) {
		cursor->failed = true;
		return;
	}
	gh_sql_take(cursor, 0, 0);
	for (uint32_t at = made->tree.child[node]; at != GH_HEAP_NONE; at = made->tree.sibling[at])
		cursor->found[cursor->end++] = at;
}

static void find_dominated(struct gh_sql_cursor *cursor, sqlite3_value *value)
{
	uint32_t object = gh_sql_object(cursor, value);
	if (object != GH_HEAP_NONE)
		find_children(cursor, object);
	else
		gh_sql_take(cursor, 0, 0);
}

static void give_retained(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, cursor->heap->dominators->retained[cursor->item]);
}

static void give_dominator(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	uint32_t node = cursor->heap->dominators->idom[cursor->item];
	gh_sql_give_object(out, cursor, node < cursor->heap->heap->count ? node : GH_HEAP_NONE);
}

static const struct gh_sql_column retained_columns[] = {
    {"object", GH_SQL_ADDRESS, gh_sql_give_item, .find = gh_sql_find_object,
     .sort = gh_sql_stay_sorted, .matches = 1, .about = "that a root leads to"},
    {"bytes", "INTEGER", give_retained, .about = "that would go with it, its own among them"},
    {"holder", GH_SQL_ADDRESS, give_dominator, .find = find_dominated, .matches = 10,
     .about = "the nearest object that all ways to it go through; NULL if there is none"},
    {0},
};

const struct gh_sql_table gh_sql_retained = {
    .name = "retained",
    .about = "The size that would go with an object",
    .columns = retained_columns,
    .needs = GH_SQL_NEEDS_DOMINATORS,
    .rows = 1e6,
    .count = gh_sql_count_objects,
    .load = load_reached,
};

/* path(OBJECT): the one item is the path, its parts the objects on it. */

struct path_state {
	uint32_t object; /* that is asked about; or GH_HEAP_NONE */
	bool found;
	struct gh_path path;
};

static void free_path(struct gh_sql_cursor *cursor)
{
	struct path_state *state = cursor->state;
	if (state->found)
		gh_path_free(&state->path);
	state->found = false;
}

static uint64_t count_paths(struct gh_sql_cursor *cursor)
{
	(void)cursor;
	return 1;
}

static void find_path(struct gh_sql_cursor *cursor, sqlite3_value *value)
{
	struct path_state *state = cursor->state;
	struct gh_error err;
	free_path(cursor);
	state->object = gh_sql_object(cursor, value);
	if (state->object == GH_HEAP_NONE)
		return;
	enum gh_path_result result =
	    gh_path_find(cursor->heap->heap, state->object, &state->path, &err);
	cursor->failed |= result == GH_PATH_FAILED;
	state->found = result == GH_PATH_FOUND;
}

static const struct gh_path *path_of(const struct gh_sql_cursor *cursor)
{
	return &((const struct path_state *)cursor->state)->path;
}

static bool step_path(struct gh_sql_cursor *cursor)
{
	const struct path_state *state = cursor->state;
	return state->found && cursor->part <= state->path.steps.count;
}

static const struct gh_path_step *step_of(const struct gh_sql_cursor *cursor)
{
	return &path_of(cursor)->steps.items[cursor->part - 1];
}

static void give_step(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, cursor->part);
}

static void give_path_root(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	if (cursor->part == 1)
		give_root_name(out, cursor, &path_of(cursor)->root);
}

static void give_path_object(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_object(out, cursor, step_of(cursor)->object);
}

static void give_path_type(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_text(out, gh_sql_type_of(cursor, step_of(cursor)->object));
}

static void give_path_field(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	if (cursor->part < path_of(cursor)->steps.count)
		give_field_at(out, cursor, step_of(cursor)->object, step_of(cursor)->offset);
}

static void give_path_offset(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	if (cursor->part < path_of(cursor)->steps.count)
		gh_sql_give_number(out, step_of(cursor)->offset);
}

static const struct gh_sql_column path_columns[] = {
    {"step", "INTEGER", give_step, .about = "from 1, the object that the root points to"},
    {"root", "TEXT", give_path_root, .about = "of step 1: what points to it, as in roots.name"},
    {"object", GH_SQL_ADDRESS, give_path_object,
     .about = "on the way; the last is the one asked for"},
    {"type", "TEXT", give_path_type, .about = "its type"},
    {"field", "TEXT", give_path_field, .about = "of it, that points to the next"},
    {"offset", "INTEGER", give_path_offset, .about = "of that, in bytes"},
    {"address", GH_SQL_ADDRESS, .kind = GH_SQL_OBJECT, GH_SQL_MEMBER(struct path_state, object),
     .find = find_path, .matches = 10, .argument = true,
     .about = "the object that is asked about, or an address in it"},
    {0},
};

const struct gh_sql_table gh_sql_path = {
    .name = "path",
    .about = "The shortest way from a root to the object at address",
    .columns = path_columns,
    .needs = GH_SQL_NEEDS_NAMES,
    .rows = 10,
    .state = sizeof(struct path_state),
    .count = count_paths,
    .step = step_path,
    .close = free_path,
};
