#include "plugin/command/wait_query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/trace/trace.h"
#include "lib/util/bsearch.h"
#include "lib/util/now.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/gdb/gdb.h"

/* Finds what the goroutines wait for, and with the program more about that. */
static bool find_waits(struct gh_wait_query *query, struct gh_error *err)
{
	const struct gh_symbols *symbols = query->symbols;
	return (symbols == NULL || gh_symbols_types(&query->types, symbols, err)) &&
	       gh_waits_find(&query->waits, &query->dump, err) &&
	       (symbols == NULL ||
		gh_channel_makers_find(&query->makers, &query->waits, &symbols->program.tab,
				       &query->types, symbols->bias, err));
}

void gh_wait_query_free_found(struct gh_wait_query *query)
{
	gh_traceback_free(&query->traceback);
	gh_deadlocks_free(&query->deadlocks);
	gh_object_holders_free(&query->holders);
	gh_channel_makers_free(&query->makers);
	gh_allocations_free(&query->allocations);
	gh_numbermap_free(&query->sampled);
	gh_waits_free(&query->waits);
	gh_vector_free(&query->sockets);
	gh_rtypes_free(&query->types);
}

/* Finds what the goroutines of QUERY's dump wait for, and more about that of the running process
 * PID, 0 for none. On failure prints the error and returns false. */
static bool fill(struct gh_wait_query *query, int pid)
{
	struct gh_error err;
	query->pid = pid;
	if (pid != 0) {
		gh_sockets_read(&query->sockets, query->pid);
		query->now = gh_now();
	}
	if (find_waits(query, &err))
		return true;
	gh_print_error(&err);
	return false;
}

static bool open_and_fill(struct gh_wait_query *query)
{
	char running[32];
	const char *process = query->options->process;
	const char *program = gh_options_program(query->options, running);
	if (program != NULL) {
		if (!gh_symbols_open(&query->program, &query->dump, program))
			return false;
		query->symbols = &query->program;
	}
	return fill(query, process != NULL ? atoi(process) : 0);
}

bool gh_wait_query_begin(struct gh_wait_query *query, struct gh_heap_query *heap, int pid)
{
	*query = (struct gh_wait_query){
	    .options = heap->options,
	    .out = stdout,
	    .dump = heap->dump,
	    .symbols = heap->names.symbols,
	    .heap = heap->heap,
	    .has_heap = true,
	};
	return fill(query, pid);
}

bool gh_wait_query_begin_alone(struct gh_wait_query *query, const struct gh_options *options,
			       const struct gh_dump *dump)
{
	*query = (struct gh_wait_query){.options = options, .out = stdout, .dump = *dump};
	return open_and_fill(query);
}

void gh_wait_query_end(struct gh_wait_query *query)
{
	if (query->has_names)
		gh_names_free(&query->names);
	if (query->has_heap)
		gh_heap_free(&query->heap);
	gh_wait_query_free_found(query);
	gh_symbols_close(&query->program);
}

/* Answers on DUMP. */
static int answer_on(const struct gh_dump *dump, const struct gh_options *options,
		     int (*answer)(struct gh_wait_query *query))
{
	struct gh_wait_query query;
	int status =
	    gh_wait_query_begin_alone(&query, options, dump) ? answer(&query) : GH_EXIT_INPUT;
	gh_wait_query_end(&query);
	return status;
}

/* A query about a process whose goroutines are known, and no heap. */
struct heapless {
	const struct gh_options *options;
	int (*answer)(struct gh_wait_query *query);
	int status;
};

static bool answer_heapless(struct gh_snapshot *snapshot, struct gh_process *process, void *context)
{
	struct heapless *heapless = context;
	struct gh_memory memory = gh_process_memory_of(process);
	struct gh_dump dump = snapshot->dump;
	dump.memory = &memory;
	heapless->status = answer_on(&dump, heapless->options, heapless->answer);
	return true;
}

/* Asks of a core file without a heap what its goroutines tell alone. */
static int run_heapless(const struct gh_options *options,
			int (*answer)(struct gh_wait_query *query))
{
	struct gh_snapshot snapshot;
	struct heapless heapless = {.options = options, .answer = answer, .status = GH_EXIT_INPUT};
	bool shown = gh_snapshot_show(&snapshot, options->file, options->program, answer_heapless,
				      &heapless);
	if (shown)
		gh_snapshot_close(&snapshot);
	return shown ? heapless.status : GH_EXIT_INPUT;
}

int gh_wait_query_run(const struct gh_options *options, int (*answer)(struct gh_wait_query *query))
{
	struct gh_dump dump;
	gh_print_in_blocks();
	if (!gh_heap_query_dump(&dump, options, options->file, false))
		return options->process == NULL && options->program != NULL &&
			       gh_target_kind(options->file, NULL) == GH_KIND_CORE
			   ? run_heapless(options, answer)
			   : GH_EXIT_INPUT;
	int status = answer_on(&dump, options, answer);
	gh_dump_close(&dump);
	return status;
}

struct gh_bytes gh_wait_elem_type(const struct gh_wait_query *query,
				  const struct gh_channel *channel)
{
	const struct gh_dump *dump = &query->dump;
	if (query->symbols != NULL) {
		uint32_t type =
		    gh_rtypes_at(&query->types, channel->elem_type - query->symbols->bias);
		if (type != GH_NO_RTYPE) {
			struct gh_rtype_text text = query->types.items[type].text;
			return (struct gh_bytes){text.start, text.length};
		}
	}
	struct gh_cursor name =
	    gh_dump_bytes(dump, gh_dumpfile_type_name(dump, channel->elem_type));
	return (struct gh_bytes){(const char *)name.start, gh_cursor_size(&name)};
}

static void find_allocations(struct gh_wait_query *query)
{
	const struct gh_dump *dump = &query->dump;
	struct gh_dump_record record;
	query->has_allocations = true;
	if (!gh_allocations_make(&query->allocations, dump, &query->symbols->program.tab, NULL))
		return;
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_SAMPLE); i++) {
		gh_dump_get(dump, GH_DUMP_SAMPLE, i, &record);
		size_t profile = gh_dump_find(dump, GH_DUMP_PROFILE, record.sample.profile);
		if (profile < query->allocations.stacks.count &&
		    gh_numbermap_get(&query->sampled, record.sample.object) == GH_NOT_MAPPED &&
		    !gh_numbermap_put(&query->sampled, record.sample.object, (uint32_t)profile))
			return;
	}
}

/* Where the object at ADDRESS was allocated, by its sample: an address in the program's file; 0 if
 * it is not known. */
static uint64_t find_sampled(struct gh_wait_query *query, uint64_t address)
{
	size_t count;
	if (!query->has_allocations)
		find_allocations(query);
	uint32_t profile = gh_numbermap_get(&query->sampled, address);
	if (profile == GH_NOT_MAPPED)
		return 0;
	const uint32_t *places = gh_allocations_stack(&query->allocations, profile, &count);
	return count > 0 ? gh_allocations_place(&query->allocations, places[0])->address : 0;
}

bool gh_wait_channel_maker(struct gh_wait_query *query, const struct gh_channel *channel,
			   struct gh_call *call)
{
	if (query->symbols == NULL)
		return false;
	uint64_t pc = gh_channel_maker(&query->makers, channel);
	if (pc == 0)
		pc = find_sampled(query, channel->address);
	return pc != 0 && gh_traceback_call_at(query->symbols, pc + query->symbols->bias, call);
}

const struct gh_call *gh_wait_place(struct gh_wait_query *query, size_t number)
{
	struct gh_traceback *traceback = &query->traceback;
	return gh_traceback_make(traceback, &query->dump, query->symbols, number)
		   ? gh_traceback_own_call(traceback)
		   : NULL;
}

bool gh_wait_find_leaked(struct gh_leaked *leaked, struct gh_wait_query *query)
{
	struct gh_error err;
	if (query->dump.memory != NULL) {
		gh_say("which goroutines can never go on is not known without the heap");
		return false;
	}
	const struct gh_deadlocks *deadlocks = gh_wait_deadlocks(query);
	gh_progress_begin("goheap: following the pointers of", query->dump.path);
	query->has_heap = query->has_heap || gh_heap_build(&query->heap, &query->dump, &err);
	bool found =
	    query->has_heap && gh_leaked_find(leaked, &query->waits, &query->heap, deadlocks, &err);
	gh_progress_end();
	if (!found)
		gh_print_error(&err);
	return found;
}

/* Finds the deadlocks by the code of the program and of its other modules. */
static bool find_deadlocks(struct gh_wait_query *query, struct gh_error *err)
{
	const struct gh_symbols *symbols = query->symbols;
	const struct gh_module own = gh_symbols_module(symbols);
	return gh_deadlocks_find(&query->deadlocks, &query->waits, &own, symbols->others.list.items,
				 symbols->others.list.count, err);
}

const struct gh_deadlocks *gh_wait_deadlocks(struct gh_wait_query *query)
{
	struct gh_error err;
	if (query->symbols != NULL && !query->has_deadlocks && !find_deadlocks(query, &err)) {
		gh_print_error(&err);
		gh_deadlocks_free(&query->deadlocks);
		query->deadlocks = (struct gh_deadlocks){0};
	}
	query->has_deadlocks = true;
	return &query->deadlocks;
}

const struct gh_wait *gh_wait_of(const struct gh_wait_query *query, size_t number)
{
	const struct gh_wait *list = query->waits.list.items;
	size_t count = query->waits.list.count;
	size_t i = gh_lower_bound(count, k, list[k].goroutine < number);
	return i < count && list[i].goroutine == number ? &list[i] : NULL;
}

/* Names what is in the heap. False if it cannot be. */
static bool make_names(struct gh_wait_query *query)
{
	struct gh_error err;
	if (!query->has_heap || query->symbols == NULL)
		return false;
	if (!query->has_names) {
		query->names.symbols = query->symbols;
		query->has_names = gh_names_make(&query->names, &query->heap, NULL, &err);
	}
	if (!query->has_names)
		gh_names_free(&query->names);
	return query->has_names;
}

struct gh_wait_container gh_wait_container(struct gh_wait_query *query, uint64_t address)
{
	static const char guess[] = ", perhaps ";
	struct gh_wait_container container = {0};
	uint32_t object = query->has_heap ? gh_heap_find(&query->heap, address) : GH_HEAP_NONE;
	if (object == GH_HEAP_NONE || !make_names(query))
		return container;
	const struct gh_typing *typing = &query->names.typing;
	const struct gh_class *class = gh_typing_class(typing, gh_typing_of(typing, object));
	container.address = gh_heap_object(&query->heap, object).address;
	if (class->typed)
		container.type = class->name;
	const char *guessed = class->perhaps ? strstr(class->name, guess) : NULL;
	if (guessed != NULL) {
		container.type = guessed + sizeof(guess) - 1;
		container.perhaps = true;
	}
	return container;
}

void gh_wait_print_kept(FILE *out, const struct gh_leaked *leaked)
{
	fputs(leaked->perhaps && leaked->count > 0 ? "perhaps " : "", out);
	if (leaked->count == 0)
		fputs("No goroutine that", out);
	else
		gh_print_count(out, leaked->count, "goroutine");
	fputs(" can never go on", out);
	if (leaked->objects > 0) {
		fputs("; only they keep ", out);
		gh_print_count(out, leaked->objects, "object");
		fputs(" of ", out);
		gh_print_size(out, leaked->bytes);
	}
	putc('\n', out);
}
