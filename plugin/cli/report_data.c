#include "plugin/cli/heap_query.h"

#include <stdlib.h>
#include <string.h>

#include "lib/heap/heap.h"
#include "plugin/view/emit.h"

/* Objects that are shown one by one, and how many others may dominate one. */
#define MAX_OBJECTS 1000
#define MAX_DEPTH   24

/* Classes in the list of types. */
#define MAX_CLASSES 1000

/* Of what is shown by class, the share of the heap below which it is put with other classes. */
#define LEAST_ONE_IN 5000

/* The objects shown of a path at either end. */
#define PATH_END 12

/* What is told of a root, in bytes. */
#define MAX_ROOT 4096

/* Steps that are gone back for all paths together. */
#define PATH_BUDGET 50000000

struct report {
	struct gh_heap_query *query; /* the caller's */
	struct gh_top_retainers largest;
	struct gh_path_tree paths;
	struct gh_remainders remainders;
	struct gh_histogram_row *classes; /* by class; owned */
	size_t budget;                    /* steps that may still be gone back */
	bool failed;                      /* memory ran out: something is left out */
};

static bool analyse(struct report *report, struct gh_error *err)
{
	struct gh_heap_query *query = report->query;
	const struct gh_heap *heap = &query->heap;
	const uint32_t *classes = gh_names_classes(&query->names);
	size_t nclasses = gh_names_count(&query->names);
	report->classes = calloc(nclasses + 1, sizeof(*report->classes));
	if (report->classes == NULL)
		return gh_fail_memory(err, heap->dump->path);
	return gh_top_retainers_find(&report->largest, heap, &query->dominators, MAX_OBJECTS,
				     MAX_DEPTH, err) &&
	       gh_remainder_find(&report->remainders, heap, &query->dominators, &report->largest,
				 classes, nclasses, err) &&
	       gh_path_tree_build(&report->paths, heap, GH_PATH_NEAREST, err) &&
	       gh_histogram_make(report->classes, nclasses, heap, classes, &query->dominators, err);
}

static void free_analysis(struct report *report)
{
	gh_top_retainers_free(&report->largest);
	gh_path_tree_free(&report->paths);
	gh_vector_free(&report->remainders);
	free(report->classes);
}

/* A path, from its object back to a root. Both of its ends are kept. */
struct way {
	uint32_t near[PATH_END]; /* objects from its own on */
	uint32_t far[PATH_END];  /* those up to the root, a ring */
	size_t length;           /* objects in all */
};

/* Finds the way from a root to OBJECT. False if there are more steps than may be gone. */
static bool go_back(struct report *report, uint32_t object, struct way *way)
{
	const uint32_t *parents = report->paths.parents;
	for (way->length = 0; report->budget > 0; report->budget--, object = parents[object]) {
		if (way->length < PATH_END)
			way->near[way->length] = object;
		way->far[way->length++ % PATH_END] = object;
		if (parents[object] == object)
			return true;
	}
	return false;
}

/* The object that is NUMBER steps from the root, which is at one of both ends. */
static uint32_t object_at(const struct way *way, size_t number)
{
	size_t from_end = way->length - 1 - number;
	return from_end < PATH_END ? way->near[from_end] : way->far[from_end % PATH_END];
}

/* An object of a path, or how many are left out of its middle. */
struct step_row {
	struct gh_object object;
	struct gh_known skipped;
};

/* Prints OBJECT of a path, and the field in it that leads to NEXT. */
static void print_step(struct gh_emit *emit, const struct report *report, uint32_t object,
		       uint32_t next)
{
	static const struct gh_column columns[] = {
	    {"name", GH_COL_TEXT(struct step_row, object.type)},
	    {"address", GH_COL_ADDRESS(struct step_row, object.address)},
	    {0},
	};
	static const struct gh_column field[] = {GH_OBJECT_FIELD(struct step_row, object), {0}};
	const struct gh_heap_query *query = report->query;
	uint64_t offset = next != object ? gh_heap_offset(&query->heap, object, next) : 0;
	struct step_row row = {.object = gh_names_object(&query->names, object, offset)};
	gh_emit_next(emit);
	gh_emit_open(emit);
	gh_emit_values(emit, columns, &row);
	if (next != object)
		gh_emit_values(emit, field, &row);
	gh_emit_close(emit);
}

static void print_skipped(struct gh_emit *emit, uint64_t count)
{
	static const struct gh_column columns[] = {
	    {"skipped", GH_COL_KNOWN_NUMBER(struct step_row, skipped)},
	    {0},
	};
	struct step_row row = {.skipped = {count, true}};
	gh_emit_item(emit, columns, &row);
}

/* A path, as it is printed. */
struct path_row {
	const struct report *report;
	const struct way *way;
	struct gh_bytes root;
};

static void print_steps(struct gh_emit *emit, const void *member)
{
	const struct path_row *row = member;
	const struct way *way = row->way;
	for (size_t i = 0; i < way->length; i++) {
		if (i == PATH_END && way->length > 2 * PATH_END) {
			i = way->length - PATH_END;
			print_skipped(emit, i - PATH_END);
		}
		/* The next object of the last before a gap is not at hand. */
		uint32_t at = object_at(way, i);
		bool has_next =
		    i + 1 < way->length && (i + 1 < PATH_END || i + 1 >= way->length - PATH_END);
		print_step(emit, row->report, at, has_next ? object_at(way, i + 1) : at);
	}
}

/* A node of the tree: the whole heap, an object, or what an object dominates of one class. */
struct node {
	int64_t parent; /* the number of the node that dominates it */
	const char *name;
	uint64_t count;          /* of objects */
	struct gh_known address; /* of one object */
	uint64_t size;
	uint64_t retained;
	struct report *report;
	struct way way; /* that leads to it, if it is one object */
};

static const struct gh_column node_columns[] = {
    {"parent", GH_COL_SIGNED(struct node, parent)},
    {"name", GH_COL_TEXT(struct node, name)},
    {"count", GH_COL_NUMBER(struct node, count)},
    {"address", GH_COL_KNOWN_ADDRESS(struct node, address), .optional = true},
    {"size", GH_COL_NUMBER(struct node, size)},
    {"retained", GH_COL_NUMBER(struct node, retained)},
    {0},
};

static void print_path(struct gh_emit *emit, const void *member)
{
	static const struct gh_column columns[] = {
	    {"root", GH_COL_BYTES(struct path_row, root)},
	    {"steps", GH_COL_LIST(print_steps)},
	    {0},
	};
	const struct node *node = member;
	struct gh_heap_query *query = node->report->query;
	const struct gh_root *roots;
	char *root = NULL;
	size_t size = 0;
	gh_heap_roots(&query->heap, object_at(&node->way, 0), &roots);
	FILE *text = open_memstream(&root, &size);
	if (text != NULL) {
		gh_names_print_root(text, &query->names, &roots[0]);
		fclose(text);
	}
	node->report->failed |= root == NULL;
	struct path_row row = {
	    .report = node->report,
	    .way = &node->way,
	    .root = {root, size < MAX_ROOT ? size : MAX_ROOT},
	};
	gh_emit_object(emit, columns, &row);
	free(root);
}

/* The number of the node that is the largest object NUMBER: the roots together are the first node,
 * these follow. */
static uint32_t node_number(const struct report *report, uint32_t number)
{
	return number < report->largest.count ? number + 1 : 0;
}

static void print_object(struct gh_emit *emit, struct report *report, uint32_t object,
			 uint32_t parent)
{
	static const struct gh_column path[] = {{"path", GH_COL_PRINTED(print_path)}, {0}};
	const struct gh_heap_query *query = report->query;
	struct gh_object named = gh_names_object(&query->names, object, 0);
	struct node node = {
	    .parent = node_number(report, parent),
	    .name = named.type,
	    .count = 1,
	    .address = {named.address, true},
	    .size = gh_heap_object(&query->heap, object).size,
	    .retained = query->dominators.retained[object],
	    .report = report,
	};
	gh_emit_next_line(emit);
	gh_emit_open(emit);
	gh_emit_values(emit, node_columns, &node);
	if (go_back(report, object, &node.way))
		gh_emit_values(emit, path, &node);
	gh_emit_close(emit);
}

static void print_sum(struct gh_emit *emit, const struct report *report,
		      const struct gh_remainder *sum, const char *name)
{
	struct node node = {
	    .parent = node_number(report, sum->parent),
	    .name = name,
	    .count = sum->objects,
	    .size = sum->bytes,
	    .retained = sum->retained,
	};
	gh_emit_next_line(emit);
	gh_emit_object(emit, node_columns, &node);
}

/* Prints what each of the largest objects dominates besides, by class unless that is little. */
static void print_remainders(struct gh_emit *emit, const struct report *report, uint64_t least)
{
	const struct gh_remainder *rows = report->remainders.items;
	size_t count = report->remainders.count;
	struct gh_remainder others = {0};
	for (size_t i = 0; i < count; i++) {
		if (rows[i].retained >= least) {
			print_sum(emit, report, &rows[i],
				  gh_names_class(&report->query->names, rows[i].class));
		} else {
			others.parent = rows[i].parent;
			others.objects += rows[i].objects;
			others.bytes += rows[i].bytes;
			others.retained += rows[i].retained;
		}
		if (others.objects > 0 && (i + 1 == count || rows[i + 1].parent != others.parent)) {
			print_sum(emit, report, &others, "other objects");
			others = (struct gh_remainder){0};
		}
	}
}

/* The report as a whole. */
struct row {
	struct report *report;
	const char *file;
	struct gh_dump_slice version;
	uint64_t objects;
	uint64_t bytes;
	uint64_t reachable; /* bytes */
	uint64_t typed;     /* bytes */
};

static void print_nodes(struct gh_emit *emit, const void *member)
{
	struct report *report = ((const struct row *)member)->report;
	const struct gh_dominators *dominators = &report->query->dominators;
	uint32_t count = report->query->heap.count;
	uint32_t *places = calloc((size_t)count + 1, sizeof(*places));
	struct node heap = {
	    .parent = -1,
	    .name = "whole heap",
	    .count = 1,
	    .retained = dominators->retained[count],
	};
	gh_emit_next_line(emit);
	gh_emit_object(emit, node_columns, &heap);
	report->failed |= places == NULL;
	if (places != NULL)
		places[count] = report->largest.count;
	for (uint32_t i = 0; places != NULL && i < report->largest.count; i++) {
		uint32_t object = report->largest.objects[i];
		places[object] = i;
		print_object(emit, report, object, places[dominators->idom[object]]);
	}
	print_remainders(emit, report, heap.retained / LEAST_ONE_IN);
	free(places);
}

struct class_order {
	const struct gh_histogram_row *row;
	size_t number;
};

static int compare_classes(const void *a, const void *b)
{
	const struct class_order *x = a, *y = b;
	if (x->row->retained != y->row->retained)
		return x->row->retained > y->row->retained ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* A class, as it is printed. */
struct class_row {
	const char *name;
	struct gh_histogram_row counts;
};

static void print_classes(struct gh_emit *emit, const void *member)
{
	static const struct gh_column columns[] = {
	    {"name", GH_COL_TEXT(struct class_row, name)},
	    {"objects", GH_COL_NUMBER(struct class_row, counts.objects)},
	    {"bytes", GH_COL_NUMBER(struct class_row, counts.bytes)},
	    {"retained", GH_COL_NUMBER(struct class_row, counts.retained)},
	    {0},
	};
	struct report *report = ((const struct row *)member)->report;
	const struct gh_names *names = &report->query->names;
	size_t count = gh_names_count(names);
	struct class_order *order = calloc(count + 1, sizeof(*order));
	report->failed |= order == NULL;
	for (size_t i = 0; order != NULL && i < count; i++)
		order[i] = (struct class_order){&report->classes[i], i};
	if (order != NULL)
		qsort(order, count, sizeof(*order), compare_classes);
	for (size_t i = 0; order != NULL && i < count && i < MAX_CLASSES; i++) {
		struct class_row row = {
		    .name = gh_names_class(names, (uint32_t)order[i].number),
		    .counts = *order[i].row,
		};
		gh_emit_next_line(emit);
		gh_emit_object(emit, columns, &row);
	}
	free(order);
}

static struct row sum(const struct gh_heap_query *query)
{
	const struct gh_dump *dump = &query->dump;
	const char *slash = strrchr(dump->path, '/');
	return (struct row){
	    .file = slash != NULL ? slash + 1 : dump->path,
	    .version = gh_dump_go_version(dump),
	    .objects = query->heap.count,
	    .bytes = query->heap.bytes,
	    .reachable = query->dominators.retained[query->heap.count],
	    .typed = query->names.typing.typed_bytes,
	};
}

#define SUMS                                                                                       \
	{"file", GH_COL_TEXT(struct row, file)}, {"version", GH_COL_SLICE(struct row, version)},   \
	    {"objects", GH_COL_NUMBER(struct row, objects)},                                       \
	    {"bytes", GH_COL_NUMBER(struct row, bytes)},                                           \
	    {"reachable", GH_COL_NUMBER(struct row, reachable)},                                   \
	{                                                                                          \
		"typed", GH_COL_NUMBER(struct row, typed)                                          \
	}

void gh_reportdata_print_sums(FILE *out, const struct gh_heap_query *query)
{
	static const struct gh_column columns[] = {SUMS, {0}};
	struct gh_emit emit = gh_emit_start(out, GH_EMIT_ROWS, &query->dump, true);
	struct row row = sum(query);
	gh_emit_object(&emit, columns, &row);
}

static void print_report(FILE *out, struct report *report)
{
	static const struct gh_column columns[] = {
	    SUMS,
	    {"classes", GH_COL_LIST(print_classes)},
	    {"nodes", GH_COL_LIST(print_nodes)},
	    {0},
	};
	struct gh_emit emit = gh_emit_start(out, GH_EMIT_ROWS, &report->query->dump, true);
	struct row row = sum(report->query);
	row.report = report;
	gh_emit_object(&emit, columns, &row);
}

bool gh_reportdata_print(FILE *out, struct gh_heap_query *query, struct gh_error *err)
{
	struct report report = {.query = query, .budget = PATH_BUDGET};
	bool ok = analyse(&report, err);
	if (ok) {
		print_report(out, &report);
		ok = !report.failed || gh_fail_memory(err, query->dump.path);
	}
	free_analysis(&report);
	return ok;
}
