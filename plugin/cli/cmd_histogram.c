/* goheap histogram: the objects of a heap dump by type, size, or the place that allocated them. */
#include "lib/heap/heap.h"
#include "lib/util/top.h"

#include <stdio.h>
#include <stdlib.h>

#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/findings/suspects.h"
#include "plugin/view/emit.h"

/* A group, as it is printed. */
struct row {
	uint64_t objects;
	uint64_t bytes;
	struct gh_share share; /* of all bytes */
	uint64_t retained;
	uint64_t largest; /* an address: where to go on from, with `goheap path' */
	const char *name;
};

static struct row make_row(const struct gh_histogram_row *row, const struct gh_groups *groups,
			   uint32_t number, uint64_t bytes)
{
	return (struct row){
	    .objects = row->objects,
	    .bytes = row->bytes,
	    .share = {row->bytes, bytes},
	    .retained = row->retained,
	    .largest = gh_heap_object(groups->names->heap, row->largest).address,
	    .name = gh_groups_name(groups, number),
	};
}

/* How many hundredths of WHOLE a PART is, rounded down. */
static unsigned percent(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : (unsigned)(100 * (double)part / (double)whole);
}

/* Prints how much of the heap is of known types. */
static void print_typed(const struct gh_typing *typing)
{
	printf("typed: %u%% of bytes, %u%% of objects", percent(typing->typed_bytes, typing->bytes),
	       percent(typing->typed_objects, typing->heap->count));
	if (typing->perhaps_objects > 0)
		printf("; perhaps: %u%%, %u%%", percent(typing->perhaps_bytes, typing->bytes),
		       percent(typing->perhaps_objects, typing->heap->count));
	if (typing->conflicts > 0) {
		fputs("; two types each: ", stdout);
		gh_print_count(stdout, typing->conflicts, "object");
	}
	putchar('\n');
}

static void print_rows(const struct gh_heap_query *query, const struct gh_groups *groups,
		       const struct gh_histogram_row *rows)
{
	const struct gh_column columns[] = {
	    {"objects", GH_COL_NUMBER(struct row, objects)},
	    {"bytes", GH_COL_SIZE(struct row, bytes)},
	    {"%", GH_COL_SHARE(struct row, share), .only = GH_IN_TEXT},
	    {"retained", GH_COL_SIZE(struct row, retained)},
	    {"largest", GH_COL_ADDRESS(struct row, largest)},
	    gh_groups_column(groups, offsetof(struct row, name)),
	    {0},
	};
	bool json = query->options->json;
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_TABLE, &query->dump, json);
	struct gh_top top = {.limit = query->options->limit};
	uint64_t groups_seen = 0;
	size_t count;
	for (uint32_t i = 0; i < groups->count; i++) {
		if (rows[i].objects == 0)
			continue;
		gh_top_add(&top, rows[i].bytes, i);
		groups_seen++;
	}
	const struct gh_top_item *items = gh_emit_top(&top, &count);
	gh_emit_titles(&emit, columns);
	for (size_t i = 0; i < count; i++) {
		uint32_t number = items[i].number;
		struct row row = make_row(&rows[number], groups, number, top.total);
		gh_emit_row(&emit, columns, &row);
	}
	gh_emit_finish(&emit, groups_seen);
	if (!json) {
		gh_print_count(stdout, query->heap.count, "object");
		fputs(" of ", stdout);
		gh_print_size(stdout, top.total);
		if (gh_heap_query_lacks_roots(&query->dump)) {
			puts("; the roots are missing: what is garbage is not known");
		} else {
			fputs("; garbage: ", stdout);
			gh_print_count(stdout, query->heap.count - query->dominators.nreachable,
				       "object");
			putchar('\n');
		}
		print_typed(&query->names.typing);
	}
	gh_top_free(&top);
}

static int print_histogram(struct gh_heap_query *query)
{
	struct gh_error err;
	struct gh_groups groups;
	int status = GH_EXIT_INPUT;
	struct gh_histogram_row *rows = NULL;
	if (gh_groups_make(&groups, query, query->options->grouping)) {
		rows = calloc(groups.count + 1, sizeof(*rows));
		if (rows == NULL)
			gh_say(GH_OUT_OF_MEMORY);
		else if (!gh_histogram_make(rows, groups.count, &query->heap, groups.of,
					    &query->dominators, &err))
			gh_print_error(&err);
		else
			status = GH_EXIT_OK;
	}
	if (status == GH_EXIT_OK)
		print_rows(query, &groups, rows);
	free(rows);
	gh_groups_free(&groups);
	return status;
}

int gh_cmd_histogram(const struct gh_options *options)
{
	return gh_heap_query_run(options, GH_WITH_DOMINATORS | GH_WITH_NO_DATA, print_histogram);
}
