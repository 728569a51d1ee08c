#include "plugin/command/heap_query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/heap/heap.h"
#include "lib/util/free_memory.h"
#include "lib/util/parallel.h"
#include "plugin/command/command.h"
#include "plugin/command/kept.h"
#include "plugin/gdb/gdb.h"
#include "plugin/sql/sql.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* Adds to LINE how many of WHAT there are. */
static void add_damage(FILE *line, bool *any, uint64_t count, const char *what)
{
	if (count == 0)
		return;
	fprintf(line, "%s%" PRIu64 " %s", *any ? ", " : "", count, what);
	*any = true;
}

void gh_heap_query_print_damage(const struct gh_heap_query *query)
{
	const struct gh_heap *heap = &query->heap;
	const struct gh_heap_damage *damage = &heap->damage;
	char *text = NULL;
	size_t size = 0;
	bool any = false;
	FILE *line = open_memstream(&text, &size);
	if (line == NULL) {
		gh_leave_out();
		return;
	}
	add_damage(line, &any, damage->dangling, "pointers to where no object is");
	add_damage(line, &any, damage->outside, "fields that do not lie in their object");
	add_damage(line, &any, damage->unknown, "interfaces of an unknown type");
	add_damage(line, &any, damage->empty, "objects without a byte");
	add_damage(line, &any, damage->roots.lost_finalizers, "finalizers of no object");
	text = gh_text_end(line, &text);
	if (text == NULL)
		gh_leave_out();
	else if (any)
		gh_say("%s: %s", heap->dump->path, text);
	free(text);
}

/* What is made of a graph, each part without the others. */
enum { NAMES, DOMINATORS, NPARTS };

struct parts {
	struct gh_heap_query *query;
	bool made[NPARTS];
	struct gh_error err[NPARTS];
};

static void make_part(void *context, uint32_t number)
{
	struct parts *parts = context;
	struct gh_heap_query *query = parts->query;
	struct gh_error *err = &parts->err[number];
	parts->made[number] = number == NAMES
				  ? gh_names_make(&query->names, &query->heap, query->twin, err)
				  : gh_dominators_build(&query->dominators, &query->heap, err);
}

static bool build(struct gh_heap_query *query, enum gh_heap_with with, struct gh_error *err)
{
	const struct gh_symbols *symbols = query->names.symbols;
	struct parts parts = {.query = query};
	if (!gh_heap_build(&query->heap, &query->dump, err) ||
	    (symbols != NULL &&
	     (!gh_cleanups_add(&query->heap, &symbols->program.tab, symbols->bias, err) ||
	      !gh_pool_lists_find(&query->heap, &symbols->program.tab, symbols->bias, err))))
		return false;
	/* The graph alone has none of them, each after it one more. */
	uint32_t count = with;
	gh_parallel(count, make_part, &parts);
	for (uint32_t i = 0; i < count; i++) {
		if (!parts.made[i]) {
			*err = parts.err[i];
			return false;
		}
	}
	return true;
}

/* What is said of variables must be of PROGRAM's: the file at PATH has its functions. */
static bool check_names(const struct gh_program *program, const char *path)
{
	struct gh_error err;
	struct gh_program twin;
	if (!gh_program_open(&twin, path))
		return false;
	bool same = gh_pclntab_check_twin(&twin.tab, &program->tab, &err);
	if (!same)
		gh_print_error(&err);
	gh_program_close(&twin);
	return same;
}

/* Opens the program that wrote the dump, if it is given, and finds its names: in itself, if it was
 * not stripped. */
static bool open_program(struct gh_heap_query *query)
{
	const struct gh_options *options = query->options;
	const char *program = gh_options_program(options, query->running);
	if (program == NULL)
		program = options->names;
	if (program == NULL)
		return true;
	if (!gh_symbols_open(&query->symbols, &query->dump, program))
		return false;
	query->names.symbols = &query->symbols;
	if (options->names != NULL && options->names != program &&
	    !check_names(&query->symbols.program, options->names))
		return false;
	const struct gh_image *image = &query->symbols.program.image;
	query->twin = options->names;
	if (options->names == NULL && gh_image_has_dwarf(image))
		query->twin = program;
	else if (options->names == NULL)
		query->twin = query->kept_twin = gh_kept_twin_find(image);
	return true;
}

bool gh_heap_query_lacks_roots(const struct gh_dump *dump)
{
	return dump->warning.text[0] != '\0' && dump->format >= GH_DUMP_1_4 &&
	       (gh_dump_count(dump, GH_DUMP_DATA) == 0 || gh_dump_count(dump, GH_DUMP_BSS) == 0);
}

/* Nothing is reached, and all would be garbage, in a dump without its roots. */
static bool has_roots(const struct gh_heap_query *query)
{
	const struct gh_options *options = query->options;
	if (!options->asks_roots || options->partial || !gh_heap_query_lacks_roots(&query->dump))
		return true;
	gh_say("%s: the roots, which come last in a dump, are missing: with --partial goheap "
	       "answers as if there were no more",
	       query->dump.path);
	return false;
}

bool gh_heap_query_dump(struct gh_dump *dump, const struct gh_options *options, const char *path,
			unsigned how)
{
	if (gh_kept_dump(dump, options, path))
		return true;
	how |= options->c ? GH_HEAP_WITH_C : 0;
	if (options->program != NULL && gh_is_debugged(path))
		return gh_debugged_heap_open(dump, path, options->program, how);
	return gh_heap_open(dump, path, path == options->process ? path : NULL, options->program,
			    how);
}

static void free_query(struct gh_heap_query *query)
{
	gh_vector_free(&query->strings);
	gh_names_free(&query->names);
	gh_dominator_tree_free(&query->tree);
	gh_path_tree_free(&query->paths);
	gh_dominators_free(&query->dominators);
	gh_heap_free(&query->heap);
	if (query->names.symbols != NULL)
		gh_symbols_close(&query->symbols);
	gh_dump_close(&query->dump);
	free(query->kept_twin);
	free(query);
}

bool gh_heap_query_has_memory(const struct gh_dump *dump, const char *path, enum gh_heap_with with)
{
	/* For each object, in bytes: the most that was seen of heaps of small objects. */
	static const unsigned most[] = {
	    [GH_WITH_GRAPH] = 32, [GH_WITH_NAMES] = 48, [GH_WITH_DOMINATORS] = 84};
	char wanted[GH_SIZE_TEXT], found[GH_SIZE_TEXT];
	uint64_t needed = (uint64_t)dump->objects.items.count * most[with];
	struct gh_free_memory memory = gh_free_memory_find("");
	if (needed <= memory.bytes)
		return true;
	bool is_file = access(path, F_OK) == 0;
	gh_say("%s: expected %s of free memory, for what points to what, found %s%s: %s", path,
	       gh_size_text(needed, wanted), gh_size_text(memory.bytes, found),
	       memory.in_container ? " in this container" : "",
	       is_file ? "look at it where there is more"
		       : "ask a heap dump of it (goheap dump) elsewhere");
	return false;
}

/* Makes the graph of the query's dump, which is freed on failure. */
static bool make_graph(struct gh_heap_query *query, const char *path, enum gh_heap_with with)
{
	struct gh_error err;
	bool built = false;
	if (has_roots(query) && gh_heap_query_has_memory(&query->dump, path, with) &&
	    open_program(query)) {
		gh_progress_begin("goheap: following the pointers of", path);
		built = build(query, with, &err);
		gh_progress_end();
		if (!built)
			gh_print_error(&err);
	}
	if (!built)
		free_query(query);
	return built;
}

struct gh_heap_query *gh_heap_query_make(const struct gh_options *options, struct gh_dump *dump,
					 const char *path, enum gh_heap_with with)
{
	struct gh_heap_query *query = calloc(1, sizeof(*query));
	if (query == NULL) {
		gh_say(GH_OUT_OF_MEMORY);
		gh_dump_close(dump);
		return NULL;
	}
	query->options = options;
	query->dump = *dump;
	return make_graph(query, path, with) ? query : NULL;
}

static struct gh_heap_query *open_query(const struct gh_options *options, const char *path,
					enum gh_heap_with with, unsigned how)
{
	struct gh_dump dump;
	if (!gh_heap_query_dump(&dump, options, path, how))
		return NULL;
	return gh_heap_query_make(options, &dump, path, with);
}

struct gh_heap_query *gh_heap_query_open(const struct gh_options *options, const char *path,
					 enum gh_heap_with with)
{
	if (!gh_check_output(options->output, path) ||
	    !gh_check_output(options->output, options->program) ||
	    !gh_check_output(options->output, options->names))
		return NULL;
	unsigned how = ((with & GH_WITH_NO_DATA) != 0 ? GH_HEAP_NO_DATA : 0) |
		       ((with & GH_WITH_LARGE_C) != 0 ? GH_HEAP_WITH_LARGE_C : 0) |
		       (options->c ? GH_HEAP_WITH_C : 0);
	with &= ~(unsigned)(GH_WITH_NO_DATA | GH_WITH_LARGE_C);
	struct gh_heap_query *query = gh_kept_heap(options, path, with, how);
	if (query == NULL) {
		query = open_query(options, path, with, how);
	} else {
		query->options = options;
		query->is_kept = true;
		if (!has_roots(query))
			return NULL;
	}
	if (query != NULL)
		gh_heap_query_print_damage(query);
	return query;
}

bool gh_heap_query_is_reversed(const struct gh_heap_query *older, const struct gh_heap_query *newer)
{
	uint64_t last = gh_dump_last_gc(&newer->dump);
	return last != 0 && gh_dump_last_gc(&older->dump) > last;
}

void gh_heap_query_compare(const struct gh_heap_query *older, const struct gh_heap_query *newer)
{
	if (!gh_dump_is_same_program(&older->dump, &newer->dump))
		gh_say("%s and %s are of different programs, or builds of one: what they have in "
		       "common is names",
		       older->dump.path, newer->dump.path);
	if (gh_heap_query_is_reversed(older, newer))
		gh_say("%s, named as the older dump, is later than %s, by their last garbage "
		       "collections: name them the other way round",
		       older->dump.path, newer->dump.path);
}

void gh_heap_query_close(struct gh_heap_query *query)
{
	if (query != NULL && !query->is_kept)
		free_query(query);
}

bool gh_heap_query_find_strings(struct gh_heap_query *query, struct gh_error *err)
{
	if (!query->has_strings)
		query->has_strings = gh_heap_strings_find(&query->strings, &query->heap, err);
	return query->has_strings;
}

bool gh_heap_query_prepare(struct gh_heap_query *query, struct gh_error *err)
{
	return gh_heap_query_find_strings(query, err) &&
	       (gh_dominator_tree_make(&query->tree, &query->heap, &query->dominators) ||
		gh_fail_memory(err, query->dump.path));
}

int gh_heap_query_run(const struct gh_options *options, enum gh_heap_with with,
		      int (*answer)(struct gh_heap_query *query))
{
	int status = GH_EXIT_INPUT;
	struct gh_heap_query *query = gh_heap_query_open(options, options->file, with);
	/* What depends on other files, or is printed elsewhere as well, is answered each time. */
	if (query != NULL && query->is_kept && options->older == NULL && options->output == NULL)
		gh_kept_record();
	gh_print_in_blocks();
	if (query != NULL)
		status = answer(query);
	gh_heap_query_close(query);
	return status;
}

/* ADDRESS is in no object. */
static void print_no_object(const struct gh_heap_query *query, uint64_t address)
{
	fprintf(stderr, "goheap: 0x%" PRIx64 ": expected an address in an object, found one ",
		address);
	gh_where_print(stderr, &query->heap, address);
	fputs("\n", stderr);
}

int gh_heap_query_run_each(const struct gh_options *options, enum gh_heap_with with,
			   int (*answer)(struct gh_heap_query *query, uint32_t object,
					 uint64_t address))
{
	gh_print_in_blocks();
	struct gh_heap_query *query = gh_heap_query_open(options, options->file, with);
	if (query == NULL)
		return GH_EXIT_INPUT;
	const uint64_t *addresses = options->addresses.items;
	int status = GH_EXIT_OK;
	for (size_t i = 0; i < options->addresses.count && status == GH_EXIT_OK; i++) {
		uint32_t object = gh_heap_find(&query->heap, addresses[i]);
		if (object == GH_HEAP_NONE) {
			print_no_object(query, addresses[i]);
			status = GH_EXIT_INPUT;
		} else {
			status = answer(query, object, addresses[i]);
		}
	}
	gh_heap_query_close(query);
	return status;
}

struct gh_sql_heap gh_heap_query_sql(struct gh_heap_query *query)
{
	return (struct gh_sql_heap){
	    .dump = &query->dump,
	    .heap = &query->heap,
	    .names = &query->names,
	    .dominators = &query->dominators,
	};
}
