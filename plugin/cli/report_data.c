#include "plugin/cli/report_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/heap/histogram.h"
#include "lib/heap/path_tree.h"
#include "lib/heap/top_retainers.h"
#include "lib/util/escape.h"
#include "plugin/view/print.h"

/* Objects that are shown one by one, and how many others may dominate one. */
#define MAX_OBJECTS 1000
#define MAX_DEPTH   24

/* Classes in the list of types. */
#define MAX_CLASSES 1000

/* Of what is shown by class, the share of the heap below which it is put with other classes. */
#define LEAST_SHARE 5000

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
	struct gh_buffer remainders;      /* struct gh_remainder */
	struct gh_histogram_row *classes; /* by class; owned */
	size_t budget;                    /* steps that may still be gone back */
	FILE *json;                       /* the caller's */
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
	       gh_path_tree_build(&report->paths, heap, err) &&
	       gh_histogram_make(report->classes, nclasses, heap, classes, &query->dominators, err);
}

static void free_analysis(struct report *report)
{
	gh_top_retainers_free(&report->largest);
	gh_path_tree_free(&report->paths);
	gh_buffer_free(&report->remainders);
	free(report->classes);
}

/* Prints OBJECT of a path, and the field in it that leads to NEXT. */
static void print_step(struct report *report, uint32_t object, uint32_t next)
{
	const struct gh_heap_query *query = report->query;
	FILE *out = report->json;
	fputs("{\"name\":", out);
	gh_names_print(out, &query->names, object, true);
	fprintf(out, ",\"address\":\"0x%" PRIx64 "\"",
		gh_heap_object(&query->heap, object).address);
	if (next != object) {
		uint64_t offset = gh_heap_offset(&query->heap, object, next);
		fprintf(out, ",\"offset\":%" PRIu64 ",\"field\":", offset);
		gh_names_print_field_json(out, &query->names, object, offset);
	}
	fputs("}", out);
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

static void print_path(struct report *report, uint32_t object)
{
	const struct gh_root *roots;
	struct way way;
	FILE *out = report->json;
	if (!go_back(report, object, &way))
		return;
	gh_heap_roots(&report->query->heap, object_at(&way, 0), &roots);
	char *root = NULL;
	size_t size = 0;
	FILE *text = open_memstream(&root, &size);
	if (text == NULL)
		return;
	gh_names_print_root(text, &report->query->names, &roots[0]);
	fclose(text);
	fputs(",\"path\":{\"root\":", out);
	gh_print_bytes(out, root, size < MAX_ROOT ? size : MAX_ROOT, true);
	free(root);
	fputs(",\"steps\":[", out);
	for (size_t i = 0; i < way.length; i++) {
		if (i == PATH_END && way.length > 2 * PATH_END) {
			i = way.length - PATH_END;
			fprintf(out, ",{\"skipped\":%zu}", i - PATH_END);
		}
		fputs(i > 0 ? "," : "", out);
		/* The next object of the last before a gap is not at hand. */
		uint32_t at = object_at(&way, i);
		bool has_next =
		    i + 1 < way.length && (i + 1 < PATH_END || i + 1 >= way.length - PATH_END);
		print_step(report, at, has_next ? object_at(&way, i + 1) : at);
	}
	fputs("]}", out);
}

static void begin_node(struct report *report, uint32_t parent)
{
	/* The roots together are the first node, the largest objects follow. */
	bool has_parent = parent < report->largest.count;
	fprintf(report->json, ",\n{\"parent\":%" PRIu32 ",\"name\":", has_parent ? parent + 1 : 0);
}

static void print_object(struct report *report, uint32_t object, uint32_t parent)
{
	const struct gh_heap_query *query = report->query;
	struct gh_heap_object extent = gh_heap_object(&query->heap, object);
	begin_node(report, parent);
	gh_names_print(report->json, &query->names, object, true);
	fprintf(report->json,
		",\"count\":1,\"address\":\"0x%" PRIx64 "\",\"size\":%" PRIu64
		",\"retained\":%" PRIu64,
		extent.address, extent.size, query->dominators.retained[object]);
	print_path(report, object);
	fputs("}", report->json);
}

static void print_sum(struct report *report, const struct gh_remainder *sum, const char *name)
{
	begin_node(report, sum->parent);
	gh_escape_json(report->json, name);
	fprintf(report->json,
		",\"count\":%" PRIu64 ",\"size\":%" PRIu64 ",\"retained\":%" PRIu64 "}",
		sum->objects, sum->bytes, sum->retained);
}

/* Prints what each of the largest objects dominates besides, by class unless that is little. */
static void print_remainders(struct report *report, uint64_t least)
{
	const struct gh_remainder *rows = (const void *)report->remainders.data;
	size_t count = report->remainders.size / sizeof(*rows);
	struct gh_remainder others = {0};
	for (size_t i = 0; i < count; i++) {
		if (rows[i].retained >= least) {
			print_sum(report, &rows[i],
				  gh_names_class(&report->query->names, rows[i].class));
		} else {
			others.parent = rows[i].parent;
			others.objects += rows[i].objects;
			others.bytes += rows[i].bytes;
			others.retained += rows[i].retained;
		}
		if (others.objects > 0 && (i + 1 == count || rows[i + 1].parent != others.parent)) {
			print_sum(report, &others, "other objects");
			others = (struct gh_remainder){0};
		}
	}
}

static void print_nodes(struct report *report)
{
	const struct gh_heap_query *query = report->query;
	const struct gh_dominators *dominators = &query->dominators;
	uint32_t count = query->heap.count;
	uint64_t reachable = dominators->retained[count];
	uint32_t *places = calloc((size_t)count + 1, sizeof(*places));
	fprintf(report->json,
		",\"nodes\":[{\"parent\":-1,\"name\":\"whole heap\",\"count\":1,\"size\":0,"
		"\"retained\":%" PRIu64 "}",
		reachable);
	if (places != NULL)
		places[count] = report->largest.count;
	for (uint32_t i = 0; places != NULL && i < report->largest.count; i++) {
		uint32_t object = report->largest.objects[i];
		places[object] = i;
		print_object(report, object, places[dominators->idom[object]]);
	}
	print_remainders(report, reachable / LEAST_SHARE);
	fputs("]", report->json);
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

static void print_classes(struct report *report)
{
	const struct gh_names *names = &report->query->names;
	size_t count = gh_names_count(names);
	struct class_order *order = calloc(count + 1, sizeof(*order));
	fputs(",\"classes\":[", report->json);
	for (size_t i = 0; order != NULL && i < count; i++)
		order[i] = (struct class_order){&report->classes[i], i};
	if (order != NULL)
		qsort(order, count, sizeof(*order), compare_classes);
	for (size_t i = 0; order != NULL && i < count && i < MAX_CLASSES; i++) {
		const char *name = gh_names_class(names, (uint32_t)order[i].number);
		fputs(i > 0 ? ",\n{\"name\":" : "{\"name\":", report->json);
		gh_escape_json(report->json, name);
		fprintf(report->json,
			",\"objects\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"retained\":%" PRIu64 "}",
			order[i].row->objects, order[i].row->bytes, order[i].row->retained);
	}
	fputs("]", report->json);
	free(order);
}

static void print_report(struct report *report)
{
	const struct gh_heap_query *query = report->query;
	const struct gh_dump *dump = &query->dump;
	const char *slash = strrchr(dump->path, '/');
	const char *file = slash != NULL ? slash + 1 : dump->path;
	fputs("{\"file\":", report->json);
	gh_escape_json(report->json, file);
	fputs(",\"version\":", report->json);
	gh_print_slice(report->json, dump, gh_dump_go_version(dump), true);
	fprintf(
	    report->json, ",\"objects\":%" PRIu32 ",\"bytes\":%" PRIu64 ",\"reachable\":%" PRIu64,
	    query->heap.count, query->heap.bytes, query->dominators.retained[query->heap.count]);
	fprintf(report->json, ",\"typed\":%" PRIu64, query->names.typing.typed_bytes);
	print_classes(report);
	print_nodes(report);
	fputs("}", report->json);
}

bool gh_reportdata_print(FILE *out, struct gh_heap_query *query, struct gh_error *err)
{
	struct report report = {.query = query, .budget = PATH_BUDGET, .json = out};
	bool ok = analyse(&report, err);
	if (ok)
		print_report(&report);
	free_analysis(&report);
	return ok;
}
