/* goheap referrers: the roots and the objects that point to an object. */
#include <stdio.h>

#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/view/emit.h"
#include "plugin/view/paths.h"

/* An object that points to another more than once is in one line. */
static void print_fields(const struct gh_heap_query *query, uint32_t referrer, uint32_t object)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	size_t count = 0;
	size_t limit = query->options->limit;
	gh_pointers_start(&query->heap, referrer, &walk);
	while (gh_pointers_next_to(&walk, object, &pointer)) {
		if (count++ == limit) {
			fputs(" ...", stdout);
			return;
		}
		putchar(' ');
		gh_names_print_pointer(stdout, &query->names, referrer, pointer.offset);
	}
}

static int print_text(struct gh_heap_query *query, uint32_t object, uint64_t address)
{
	(void)address;
	const struct gh_root *roots;
	const uint32_t *referrers;
	uint64_t shown = 0;
	size_t limit = query->options->limit;
	size_t nroots = gh_heap_roots(&query->heap, object, &roots);
	size_t nreferrers = gh_heap_referrers(&query->heap, object, &referrers);
	gh_names_print_object(stdout, &query->names, object);
	putchar('\n');
	for (size_t i = 0; i < nroots && shown < limit; i++, shown++) {
		fputs("  ", stdout);
		gh_names_print_root(stdout, &query->names, &roots[i]);
		putchar('\n');
	}
	for (size_t i = 0; i < nreferrers && shown < limit; i++, shown++) {
		fputs("  ", stdout);
		gh_names_print_object(stdout, &query->names, referrers[i]);
		putchar(' ');
		print_fields(query, referrers[i], object);
		putchar('\n');
	}
	if (nroots + nreferrers == 0)
		puts("  nothing points to it");
	gh_print_more(shown, nroots + nreferrers);
	return GH_EXIT_OK;
}

/* An object, as it is printed in JSON. */
struct row {
	struct gh_heap_query *query;
	struct gh_object object;
};

/* A referrer of an object. */
struct referrer_row {
	const struct gh_heap_query *query;
	struct gh_object referrer;
	uint32_t object;
};

static void print_pointers(struct gh_emit *emit, const void *member)
{
	static const struct gh_column columns[] = {GH_OBJECT_FIELD(struct gh_object_row, object),
						   GH_OBJECT_RANGE(struct gh_object_row, object),
						   {0}};
	const struct referrer_row *row = member;
	struct gh_object_row field = {row->referrer};
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_pointers_start(&row->query->heap, row->referrer.number, &walk);
	while (gh_pointers_next_to(&walk, row->object, &pointer)) {
		field.object.offset = pointer.offset;
		gh_emit_item(emit, columns, &field);
	}
}

static void print_referrers(struct gh_emit *emit, const void *member)
{
	static const struct gh_column columns[] = {
	    GH_OBJECT(struct referrer_row, referrer),
	    {"pointers", GH_COL_LIST(print_pointers)},
	    {0},
	};
	const struct row *row = member;
	const struct gh_heap_query *query = row->query;
	const uint32_t *referrers;
	size_t count = gh_heap_referrers(&query->heap, row->object.number, &referrers);
	for (size_t i = 0; i < count && i < query->options->limit; i++) {
		struct referrer_row referrer = {
		    .query = query,
		    .referrer = gh_names_object(&query->names, referrers[i], 0),
		    .object = row->object.number,
		};
		gh_emit_item(emit, columns, &referrer);
	}
}

static void print_roots(struct gh_emit *emit, const void *member)
{
	const struct row *row = member;
	const struct gh_root *roots;
	size_t count = gh_heap_roots(&row->query->heap, row->object.number, &roots);
	for (size_t i = 0; i < count && i < row->query->options->limit; i++) {
		gh_emit_next(emit);
		gh_names_emit_root(emit, &row->query->names, &roots[i]);
	}
}

static int print_json(struct gh_heap_query *query, uint32_t object, uint64_t address)
{
	static const struct gh_column columns[] = {
	    GH_OBJECT(struct row, object),
	    {"roots", GH_COL_LIST(print_roots)},
	    {"referrers", GH_COL_LIST(print_referrers)},
	    {0},
	};
	(void)address;
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, &query->dump, true);
	struct row row = {query, gh_names_object(&query->names, object, 0)};
	gh_emit_row(&emit, columns, &row);
	return GH_EXIT_OK;
}

int gh_cmd_referrers(const struct gh_options *options)
{
	return gh_heap_query_run_each(options, GH_WITH_NAMES | GH_WITH_NO_DATA,
				      options->json ? print_json : print_text);
}
