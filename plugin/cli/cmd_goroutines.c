/* goheap goroutines: the goroutines of a heap dump, a core file, or what GDB debugs, as Go prints
 * tracebacks.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lib/util/top.h"
#include "plugin/cli/cli.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/command/kept.h"
#include "plugin/command/wait_query.h"
#include "plugin/gdb/gdb.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

static struct gh_goroutine_list make_listing(const struct gh_options *options,
					     const struct gh_dump *dump, struct gh_symbols *symbols)
{
	return (struct gh_goroutine_list){
	    .out = stdout,
	    .dump = dump,
	    .symbols = symbols,
	    .status = options->status,
	    .label = options->label,
	    .pattern = options->has_pattern ? &options->pattern : NULL,
	    .all = options->all,
	    .group = options->group,
	    .json = options->json,
	    .one_line = options->one_line && !options->group,
	};
}

/* Reads the number of the one that is asked for. False if none is, or it is no number. */
static bool read_id(const struct gh_options *options, uint64_t *id)
{
	return options->nwords == 1 && gh_number_read(options->words[0], id);
}

static bool print_listing(const struct gh_options *options, const struct gh_snapshot *snapshot,
			  struct gh_symbols *symbols)
{
	struct gh_goroutine_list listing = make_listing(options, &snapshot->dump, symbols);
	uint64_t id;
	if (read_id(options, &id))
		listing.only = &id;
	listing.crashed = snapshot->crash.goroutine;
	return gh_goroutines_print(&listing);
}

/* PROGRAM is what wrote the dump; NULL if it is not given. */
static bool print_snapshot(const struct gh_options *options, const struct gh_snapshot *snapshot,
			   const char *program)
{
	struct gh_symbols symbols;
	if (program == NULL)
		return print_listing(options, snapshot, NULL);
	if (!gh_symbols_open(&symbols, &snapshot->dump, program))
		return false;
	bool printed = print_listing(options, snapshot, &symbols);
	gh_symbols_close(&symbols);
	return printed;
}

/* Goroutines with one stack, as they are printed. */
struct row {
	uint64_t retained;
	struct gh_share share; /* of the heap's bytes */
	uint64_t goroutines;
	struct gh_heap_query *query;
	const struct gh_held *held;
	uint32_t holder;
};

static void print_holder(struct gh_emit *emit, const void *member)
{
	const struct row *row = member;
	gh_held_print(emit->out, row->held, &row->query->names, row->holder);
}

static void print_root(struct gh_emit *emit, const void *member)
{
	const struct row *row = member;
	uint32_t root = row->held->holders.items[row->holder].root;
	gh_names_emit_root(emit, &row->query->names, &row->query->heap.roots[root]);
}

static const struct gh_column memory_columns[] = {
    {"retained", GH_COL_SIZE(struct row, retained)},
    {"%", GH_COL_SHARE(struct row, share), .only = GH_IN_TEXT},
    {"goroutines", GH_COL_NUMBER(struct row, goroutines)},
    {"stack", GH_COL_PRINTED(print_holder), .only = GH_IN_TEXT},
    {"root", GH_COL_PRINTED(print_root), .only = GH_IN_JSON},
    {0},
};

static void print_held(struct gh_heap_query *query, const struct gh_held *held)
{
	struct gh_emit emit =
	    gh_emit_start(stdout, GH_EMIT_TABLE, &query->dump, query->options->json);
	struct gh_top top = {.limit = SIZE_MAX};
	size_t count;
	for (uint32_t i = 0; i < held->holders.count; i++)
		if (held->holders.items[i].goroutines > 0 && gh_held_bytes(held, i) > 0)
			gh_top_add(&top, gh_held_bytes(held, i), i);
	const struct gh_top_item *items = gh_emit_top(&top, &count);
	gh_emit_titles(&emit, memory_columns);
	for (size_t i = 0; i < count; i++) {
		struct row row = {
		    .retained = items[i].key,
		    .share = {items[i].key, query->heap.bytes},
		    .goroutines = held->holders.items[items[i].number].goroutines,
		    .query = query,
		    .held = held,
		    .holder = items[i].number,
		};
		gh_emit_row(&emit, memory_columns, &row);
	}
	gh_emit_finish(&emit, count);
	gh_top_free(&top);
}

static int print_memory(struct gh_heap_query *query)
{
	struct gh_error err;
	struct gh_held held;
	bool made = gh_held_make(&held, &query->names, &err);
	if (made)
		print_held(query, &held);
	else
		gh_print_error(&err);
	gh_held_free(&held);
	return made ? GH_EXIT_OK : GH_EXIT_INPUT;
}

static int print_leaked(struct gh_wait_query *query)
{
	struct gh_leaked leaked = {0};
	struct gh_goroutine_list listing =
	    make_listing(query->options, &query->dump, query->symbols);
	bool printed = gh_wait_find_leaked(&leaked, query);
	listing.leaked = leaked.of;
	printed = printed && gh_goroutines_print(&listing);
	if (printed && !query->options->json) {
		if (leaked.count > 0 && !query->options->one_line)
			putchar('\n');
		gh_wait_print_kept(stdout, &leaked);
	}
	gh_leaked_free(&leaked);
	return printed ? GH_EXIT_OK : GH_EXIT_INPUT;
}

int gh_cmd_goroutines(const struct gh_options *options)
{
	uint64_t id;
	if (options->nwords > 0 && !read_id(options, &id)) {
		gh_say("expected a goroutine's ID, or none, found %s",
		       options->words[options->nwords > 1 ? 1 : 0]);
		return GH_EXIT_USAGE;
	}
	if (options->nwords > 0 && (options->memory || options->leaked)) {
		gh_say("--memory and --leaked are about all goroutines, and not about one");
		return GH_EXIT_USAGE;
	}
	if (options->memory)
		return gh_heap_query_run(options, GH_WITH_NAMES, print_memory);
	if (options->leaked)
		return gh_wait_query_run(options, print_leaked);
	struct gh_snapshot snapshot = {0};
	char running[32];
	const char *program = gh_options_program(options, running);
	gh_print_in_blocks();
	bool opened;
	/* Of a process whose heap is kept, as they were when that was read. A core file tells more
	 * than what was made of it: of a crash. */
	bool can_be_kept =
	    options->process != NULL || gh_target_kind(options->file, NULL) != GH_KIND_CORE;
	if (can_be_kept && gh_kept_dump(&snapshot.dump, options, options->file))
		opened = true;
	else if (options->process != NULL)
		opened = gh_snapshot_open_process(&snapshot, options->process, options->program);
	else if (options->group)
		opened = gh_snapshot_open_crash(&snapshot, options->file, program);
	else
		opened = gh_snapshot_open(&snapshot, options->file, program);
	if (!opened)
		return GH_EXIT_INPUT;
	bool printed = print_snapshot(options, &snapshot, program);
	gh_snapshot_close(&snapshot);
	return printed ? GH_EXIT_OK : GH_EXIT_INPUT;
}
