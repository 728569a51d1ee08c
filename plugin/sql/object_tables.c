/* Tables whose rows are objects, their types, and texts. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/bsearch.h"
#include "plugin/sql/internal.h"

/* The objects by their types. */

static int compare_names(const void *a, const void *b, void *names)
{
	return strcmp(gh_names_class(names, *(const uint32_t *)a),
		      gh_names_class(names, *(const uint32_t *)b));
}

/* Fills the ranks of classes, by name; and in RANK_OF, by class, its rank. */
static void rank_classes(struct gh_sql_made *made, const struct gh_names *names, uint32_t *rank_of)
{
	uint32_t count = (uint32_t)gh_names_count(names);
	for (uint32_t i = 0; i < count; i++)
		made->ranks[i] = i;
	qsort_r(made->ranks, count, sizeof(*made->ranks), compare_names, (void *)names);
	for (uint32_t i = 0; i < count; i++)
		rank_of[made->ranks[i]] = i;
}

/* Puts the objects of each rank together, in their order. */
static void sort_objects(struct gh_sql_made *made, const struct gh_sql_heap *heap,
			 const uint32_t *rank_of)
{
	const uint32_t *classes = gh_names_classes(heap->names);
	size_t ranks = gh_names_count(heap->names);
	for (uint32_t i = 0; i < heap->heap->count; i++)
		made->starts[rank_of[classes[i]] + 2]++;
	for (size_t i = 2; i < ranks + 2; i++)
		made->starts[i] += made->starts[i - 1];
	for (uint32_t i = 0; i < heap->heap->count; i++)
		made->by_type[made->starts[rank_of[classes[i]] + 1]++] = i;
}

/* Makes by_type and what goes with it, unless it is there. False if memory ran out. */
static bool order_types(struct gh_sql *sql)
{
	struct gh_sql_made *made = &sql->made;
	size_t count = gh_names_count(sql->heap.names);
	if (made->by_type != NULL)
		return true;
	uint32_t *rank_of = calloc(count + 1, sizeof(*rank_of));
	made->ranks = calloc(count + 1, sizeof(*made->ranks));
	made->starts = calloc(count + 2, sizeof(*made->starts));
	made->by_type = calloc((size_t)sql->heap.heap->count + 1, sizeof(*made->by_type));
	bool has_room =
	    rank_of != NULL && made->ranks != NULL && made->starts != NULL && made->by_type != NULL;
	if (has_room) {
		rank_classes(made, sql->heap.names, rank_of);
		sort_objects(made, &sql->heap, rank_of);
	} else {
		gh_sql_free_made(made);
	}
	free(rank_of);
	return has_room;
}

const char *gh_sql_type_of(const struct gh_sql_cursor *cursor, uint32_t object)
{
	const struct gh_names *names = cursor->heap->names;
	return gh_names_class(names, gh_names_classes(names)[object]);
}

/* objects */

static void give_bytes(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, gh_heap_object(cursor->heap->heap, (uint32_t)cursor->item).size);
}

static void give_reachable(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, cursor->heap->dominators->idom[cursor->item] != GH_HEAP_NONE);
}

static void sort_by_type(struct gh_sql_cursor *cursor)
{
	cursor->failed |= !order_types(cursor->sql);
	cursor->order = cursor->sql->made.by_type;
}

/* Ranks of classes. */
struct rank_range {
	size_t first;
	size_t end; /* one past the last */
};

/* Those that are called VALUE; none if it is no text, or memory ran out. */
static struct rank_range find_ranks(struct gh_sql_cursor *cursor, sqlite3_value *value)
{
	const struct gh_sql_made *made = &cursor->sql->made;
	const struct gh_names *names = cursor->heap->names;
	const char *name = (const char *)sqlite3_value_text(value);
	cursor->failed |= !order_types(cursor->sql);
	if (name == NULL || cursor->failed)
		return (struct rank_range){0, 0};
	size_t count = gh_names_count(names);
	return (struct rank_range){
	    gh_lower_bound(count, i, strcmp(gh_names_class(names, made->ranks[i]), name) < 0),
	    gh_lower_bound(count, i, strcmp(gh_names_class(names, made->ranks[i]), name) <= 0),
	};
}

static void find_type(struct gh_sql_cursor *cursor, sqlite3_value *value)
{
	struct rank_range ranks = find_ranks(cursor, value);
	const uint32_t *starts = cursor->sql->made.starts;
	cursor->order = cursor->sql->made.by_type;
	gh_sql_take(cursor, 0, 0);
	if (ranks.end > ranks.first)
		gh_sql_take(cursor, starts[ranks.first], starts[ranks.end]);
}

static const struct gh_sql_column object_columns[] = {
    {"address", GH_SQL_ADDRESS, gh_sql_give_item, .find = gh_sql_find_object,
     .sort = gh_sql_stay_sorted, .matches = 1, .about = "where it begins"},
    {"type", "TEXT", gh_sql_give_item_type, .find = find_type, .sort = sort_by_type,
     .needs = GH_SQL_NEEDS_NAMES, .matches = 1000,
     .about = "as histogram has it: what is perhaps a type says so"},
    {"bytes", "INTEGER", give_bytes, .about = "that it takes, of its size class"},
    {"reachable", "INTEGER", give_reachable, .needs = GH_SQL_NEEDS_DOMINATORS,
     .about = "1, or 0 if no root leads to it: it is garbage"},
    {0},
};

const struct gh_sql_table gh_sql_objects = {
    .name = "objects",
    .about = "The objects of the heap",
    .columns = object_columns,
    .rows = 1e6,
    .count = gh_sql_count_objects,
};

/* types */

static const void *class_of(const struct gh_sql_cursor *cursor)
{
	return gh_typing_class(&cursor->heap->names->typing, (uint32_t)cursor->item);
}

static const struct gh_rtype *rtype_of(const struct gh_sql_cursor *cursor)
{
	return gh_typing_described(&cursor->heap->names->typing, (uint32_t)cursor->item);
}

static uint64_t count_types(struct gh_sql_cursor *cursor)
{
	return gh_names_count(cursor->heap->names);
}

static void give_certainty(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_class *class = class_of(cursor);
	gh_sql_give_text(out, class->typed ? "yes" : class->perhaps ? "perhaps" : "no");
}

static void give_kind(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_rtype *type = rtype_of(cursor);
	if (type != NULL)
		gh_sql_give_text(out, gh_kind_name(type->kind));
}

static void give_package(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_rtype *type = rtype_of(cursor);
	struct gh_rtype_text package = {0};
	if (type != NULL)
		package = gh_rtype_package(&cursor->heap->names->typing.types, type);
	if (package.length > 0)
		gh_sql_give_bytes(out, package.start, package.length);
}

static void give_descriptor(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_rtype *type = rtype_of(cursor);
	if (type != NULL)
		gh_sql_give_number(out, type->address + cursor->heap->names->typing.bias);
}

static void find_name(struct gh_sql_cursor *cursor, sqlite3_value *value)
{
	struct rank_range ranks = find_ranks(cursor, value);
	cursor->order = cursor->sql->made.ranks;
	gh_sql_take(cursor, ranks.first, ranks.end);
}

/* The sums of each class, once; what its objects retain, if there are dominators. NULL if memory
 * ran out. */
static const struct gh_histogram_row *sums_of(const struct gh_sql_cursor *cursor)
{
	struct gh_sql_made *made = &cursor->sql->made;
	const struct gh_sql_heap *heap = cursor->heap;
	const struct gh_dominators *dominators = heap->dominators;
	size_t count = gh_names_count(heap->names);
	struct gh_error err;
	if (made->sums != NULL)
		return &made->sums[cursor->item];
	made->sums = calloc(count + 1, sizeof(*made->sums));
	if (made->sums != NULL &&
	    !gh_histogram_make(made->sums, count, heap->heap, gh_names_classes(heap->names),
			       dominators->idom != NULL ? dominators : NULL, &err)) {
		free(made->sums);
		made->sums = NULL;
	}
	return made->sums != NULL ? &made->sums[cursor->item] : NULL;
}

/* Gives the one at OFFSET in the row of sums. */
static void give_sum(sqlite3_context *out, const struct gh_sql_cursor *cursor, size_t offset)
{
	const struct gh_histogram_row *sums = sums_of(cursor);
	if (sums != NULL)
		gh_sql_give_number(out, *(const uint64_t *)((const char *)sums + offset));
	else
		sqlite3_result_error_nomem(out);
}

static void give_objects(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	give_sum(out, cursor, offsetof(struct gh_histogram_row, objects));
}

static void give_type_bytes(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	give_sum(out, cursor, offsetof(struct gh_histogram_row, bytes));
}

static void give_retained(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	give_sum(out, cursor, offsetof(struct gh_histogram_row, retained));
}

static const struct gh_sql_column type_columns[] = {
    {"name", "TEXT", .row = class_of, .kind = GH_SQL_TEXT, GH_SQL_MEMBER(struct gh_class, name),
     .find = find_name, .matches = 1, .about = "as in objects.type"},
    {"objects", "INTEGER", give_objects, .about = "of the type"},
    {"bytes", "INTEGER", give_type_bytes, .about = "in these objects"},
    {"retained", "INTEGER", give_retained, .needs = GH_SQL_NEEDS_DOMINATORS,
     .about = "bytes that would go with those that roots reach, as histogram has it"},
    {"known", "TEXT", give_certainty, .about = "yes; perhaps; or no, then the name is a shape's"},
    {"size", "INTEGER", .row = class_of, GH_SQL_MEMBER(struct gh_class, size),
     .about = "bytes of a value or an element; of an object, if not known"},
    {"elements", "INTEGER", .row = class_of, GH_SQL_MEMBER(struct gh_class, array),
     .about = "1 if its objects have as many of them as fit"},
    {"kind", "TEXT", give_kind,
     .about = "as reflect has it; NULL if the program does not describe it"},
    {"package", "TEXT", give_package, .about = "import path of the one that declares it"},
    {"descriptor", GH_SQL_ADDRESS, give_descriptor, .about = "where the program describes it"},
    {0},
};

const struct gh_sql_table gh_sql_types = {
    .name = "types",
    .is_summary = true,
    .about = "The types that objects have",
    .columns = type_columns,
    .needs = GH_SQL_NEEDS_NAMES,
    .rows = 1e3,
    .count = count_types,
};

/* strings */

static uint64_t count_strings(struct gh_sql_cursor *cursor)
{
	struct gh_sql_made *made = &cursor->sql->made;
	struct gh_error err;
	if (!made->has_strings)
		made->has_strings = gh_heap_strings_find(&made->strings, cursor->heap->heap, &err);
	cursor->failed |= !made->has_strings;
	return made->has_strings ? made->strings.count : 0;
}

static const void *string_of(const struct gh_sql_cursor *cursor)
{
	return &cursor->sql->made.strings.items[cursor->item];
}

static void give_contents(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_heap_string *string = string_of(cursor);
	gh_sql_give_bytes(out, string->data, string->length);
}

static const struct gh_sql_column string_columns[] = {
    {"text", "TEXT", give_contents, .about = "each once"},
    {"length", "INTEGER", .row = string_of, GH_SQL_MEMBER(struct gh_heap_string, length),
     .about = "of the text, in bytes"},
    {"copies", "INTEGER", .row = string_of, GH_SQL_MEMBER(struct gh_heap_string, copies),
     .about = "objects that have it"},
    {"bytes", "INTEGER", .row = string_of, GH_SQL_MEMBER(struct gh_heap_string, bytes),
     .about = "of these objects"},
    {"object", GH_SQL_ADDRESS, .row = string_of, .kind = GH_SQL_OBJECT,
     GH_SQL_MEMBER(struct gh_heap_string, object), .about = "the first of them"},
    {0},
};

const struct gh_sql_table gh_sql_strings = {
    .name = "strings",
    .about = "The text in the heap, as strings has it",
    .columns = string_columns,
    .rows = 1e5,
    .count = count_strings,
};
