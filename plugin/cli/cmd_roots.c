/* goheap roots: the pointers to objects that are in none, as the graph of the heap has them. */
#include <stdlib.h>

#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/view/emit.h"
#include "plugin/view/paths.h"

/* A root, as it is printed: the columns of SQL's table of roots. */
struct row {
	const char *kind;
	struct gh_known slot; /* the pointer's address */
	uint64_t object;
	struct gh_known goroutine; /* its id */
	bool perhaps;
	struct gh_bytes name; /* escaped */
};

static const struct gh_column columns[] = {
    {"kind", GH_COL_TEXT(struct row, kind)},
    {"slot", GH_COL_KNOWN_ADDRESS(struct row, slot)},
    {"object", GH_COL_ADDRESS(struct row, object)},
    {"goroutine", GH_COL_KNOWN_NUMBER(struct row, goroutine), .only = GH_IN_JSON},
    {"perhaps", GH_COL_BOOL(struct row, perhaps), .only = GH_IN_JSON},
    {"name", GH_COL_READY(struct row, name), .only = GH_IN_TEXT},
    {"name", GH_COL_BYTES(struct row, name), .only = GH_IN_JSON},
    {0},
};

static void print_row(struct gh_emit *emit, struct gh_heap_query *query, const struct gh_root *root)
{
	struct gh_dump_record record;
	struct gh_root_place place;
	char *name = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&name, &size);
	if (out != NULL)
		gh_names_print_root(out, &query->names, root);
	name = gh_text_end(out, &name);
	if (name == NULL) {
		gh_leave_out();
		return;
	}
	gh_names_root_place(&place, &query->names, root, &record);
	struct row row = {
	    .kind = place.kind,
	    .slot = {place.address, place.address != 0},
	    .object = gh_heap_object(&query->heap, root->object).address,
	    .perhaps = root->conservative,
	    .name = {name, size},
	};
	if (place.goroutine != GH_DUMP_NONE)
		row.goroutine =
		    (struct gh_known){gh_where_goroutine_id(&query->dump, place.goroutine), true};
	gh_emit_row(emit, columns, &row);
	free(name);
}

static int print_roots(struct gh_heap_query *query)
{
	struct gh_emit emit =
	    gh_emit_start(stdout, GH_EMIT_ROWS, &query->dump, query->options->json);
	for (size_t i = 0; i < query->heap.nroots; i++)
		print_row(&emit, query, &query->heap.roots[i]);
	return GH_EXIT_OK;
}

int gh_cmd_roots(const struct gh_options *options)
{
	return gh_heap_query_run(options, GH_WITH_NAMES | GH_WITH_NO_DATA, print_roots);
}
