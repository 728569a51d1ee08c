/* What has grown from one heap to a later one. */
#include "lib/heap/heap.h"
#include "lib/util/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/intern.h"
#include "lib/util/vector.h"
#include "plugin/command/heap_query.h"
#include "plugin/findings/suspects.h"
#include "plugin/view/emit.h"

/* One of the two dumps, counted. */
struct side {
	struct gh_heap_query *query;
	struct gh_groups groups;
	struct gh_histogram_row *rows; /* by group; owned */
};

/* What has one name in both. */
struct growth {
	const char *name;
	struct gh_histogram_row count[2]; /* in the old dump, and in the new one */
};

static bool count_side(struct side *side, enum gh_grouping by)
{
	struct gh_error err;
	if (!gh_groups_make(&side->groups, side->query, by))
		return false;
	side->rows = calloc(side->groups.count + 1, sizeof(*side->rows));
	return side->rows != NULL &&
	       gh_histogram_make(side->rows, side->groups.count, &side->query->heap,
				 side->groups.of, &side->query->dominators, &err);
}

static void free_side(struct side *side)
{
	gh_groups_free(&side->groups);
	free(side->rows);
}

/* By the name's number in a set of names. */
struct growths GH_VECTOR(struct growth);

/* Puts together what has one name, by its number in SET. */
static bool merge(struct growths *growths, struct gh_intern *set, const struct side *side,
		  unsigned which)
{
	for (uint32_t i = 0; i < side->groups.count; i++) {
		const char *name = gh_groups_name(&side->groups, i);
		uint32_t number = gh_intern_add(set, name, strlen(name));
		if (number == GH_INTERN_NONE)
			return false;
		if (number == growths->count &&
		    !gh_vector_push(growths, (struct growth){.name = name}))
			return false;
		struct growth *merged = &growths->items[number];
		/* It is seldom that several groups have one name: the first one's is as good as
		 * any. */
		if (merged->count[which].objects == 0)
			merged->count[which].largest = side->rows[i].largest;
		merged->count[which].objects += side->rows[i].objects;
		merged->count[which].bytes += side->rows[i].bytes;
		merged->count[which].retained += side->rows[i].retained;
	}
	return true;
}

static int64_t difference(uint64_t before, uint64_t after)
{
	return (int64_t)(after - before);
}

/* The most changed comes first. */
static uint64_t change(const struct growth *growth)
{
	int64_t bytes = difference(growth->count[0].bytes, growth->count[1].bytes);
	return bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes;
}

/* What has grown, as it is printed. */
struct row {
	int64_t objects_growth;
	int64_t bytes_growth;
	int64_t retained_growth; /* of the bytes that would go with them */
	uint64_t objects;        /* there are now */
	uint64_t bytes;
	struct gh_known largest; /* an address: where to go on from, with `goheap path' */
	const char *change;      /* "new", or "gone"; NULL if there are such in both */
	const char *name;
};

#define COUNT_COLUMNS                                                                              \
	{"objects_growth", GH_COL_SIGNED(struct row, objects_growth), .title = "objects"},         \
	    {"bytes_growth", GH_COL_SIZE_GROWTH(struct row, bytes_growth), .title = "bytes"},      \
	    {"objects", GH_COL_NUMBER(struct row, objects), .title = "objects now"},               \
	{                                                                                          \
		"bytes", GH_COL_SIZE(struct row, bytes), .title = "bytes now"                      \
	}

static struct row make_row(const struct growth *growth, const struct side *side)
{
	const struct gh_histogram_row *before = &growth->count[0];
	const struct gh_histogram_row *now = &growth->count[1];
	struct row row = {
	    .objects_growth = difference(before->objects, now->objects),
	    .bytes_growth = difference(before->bytes, now->bytes),
	    .retained_growth = difference(before->retained, now->retained),
	    .objects = now->objects,
	    .bytes = now->bytes,
	    .change = before->objects == 0 ? "new"
		      : now->objects == 0  ? "gone"
					   : NULL,
	    .name = growth->name,
	};
	if (now->objects > 0) {
		row.largest.value = gh_heap_object(&side->query->heap, now->largest).address;
		row.largest.known = true;
	}
	return row;
}

/* A column is of one width. */
static void print_change(struct gh_emit *emit, const void *member)
{
	const struct row *row = member;
	if (!emit->json)
		fprintf(emit->out, "%-4s", row->change != NULL ? row->change : "");
	else if (row->change != NULL)
		gh_print_bytes(emit->out, row->change, strlen(row->change), true);
	else
		fputs("null", emit->out);
}

/* The sums of all. */
static void print_sums(struct gh_emit *emit, const struct growth *all, const struct side *side)
{
	static const struct gh_column columns[] = {
	    COUNT_COLUMNS,
	    {"in all", GH_COL_TEXT(struct row, name)},
	    {0},
	};
	struct row row = make_row(all, side);
	gh_emit_row(emit, columns, &row);
}

static void print_growths(FILE *out, const struct side *side, const struct growth *growths,
			  size_t ngrowths, size_t limit, bool json)
{
	const struct gh_column columns[] = {
	    COUNT_COLUMNS,
	    {"retained_growth", GH_COL_SIZE_GROWTH(struct row, retained_growth),
	     .title = "retained"},
	    {"change", GH_COL_PRINTED(print_change), .title = ""},
	    {"largest", GH_COL_KNOWN_ADDRESS(struct row, largest)},
	    gh_groups_column(&side->groups, offsetof(struct row, name)),
	    {0},
	};
	struct gh_emit emit = gh_emit_start(out, GH_EMIT_TABLE, &side->query->dump, json);
	struct gh_top top = {.limit = limit};
	struct growth all = {.name = "in all"};
	size_t count;
	for (uint32_t i = 0; i < ngrowths; i++) {
		for (unsigned which = 0; which < 2; which++) {
			all.count[which].objects += growths[i].count[which].objects;
			all.count[which].bytes += growths[i].count[which].bytes;
		}
		if (change(&growths[i]) > 0)
			gh_top_add(&top, change(&growths[i]), i);
	}
	const struct gh_top_item *items = gh_emit_top(&top, &count);
	gh_emit_titles(&emit, columns);
	for (size_t i = 0; i < count; i++) {
		struct row row = make_row(&growths[items[i].number], side);
		gh_emit_row(&emit, columns, &row);
	}
	gh_emit_finish(&emit, top.seen);
	if (!json)
		print_sums(&emit, &all, side);
	gh_top_free(&top);
}

bool gh_growth_print(FILE *out, struct gh_heap_query *older, struct gh_heap_query *newer,
		     enum gh_grouping by, size_t limit, bool json)
{
	struct side sides[2] = {{.query = older}, {.query = newer}};
	struct growths growths = {0};
	struct gh_intern set = {0};
	bool ok = count_side(&sides[0], by) && count_side(&sides[1], by) &&
		  merge(&growths, &set, &sides[0], 0) && merge(&growths, &set, &sides[1], 1);
	if (ok)
		print_growths(out, &sides[1], growths.items, growths.count, limit, json);
	gh_intern_free(&set);
	gh_vector_free(&growths);
	free_side(&sides[0]);
	free_side(&sides[1]);
	return ok;
}
