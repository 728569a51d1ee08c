/* goheap hang: the first look at a process that does not go on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/trace/trace.h"
#include "lib/util/escape.h"
#include "plugin/command/command.h"
#include "plugin/command/wait_query.h"
#include "plugin/findings/findings.h"
#include "plugin/hang/hang.h"

/* How many groups of those that wait are shown, and how many of what else there may be many of. */
#define SHOWN 3

/* What the goroutines do, but for the runtime's own. */
struct census {
	size_t count;
	size_t by_status[GH_DUMP_WAITING + 1];
	uint64_t longest; /* ns that one has waited */
	uint64_t oldest;  /* the id of that one */
};

static struct census take_census(const struct gh_dump *dump)
{
	struct census census = {0};
	struct gh_dump_record record;
	for (size_t i = 0; i < dump->stacks.count; i++) {
		gh_dump_get(dump, GH_DUMP_GOROUTINE, i, &record);
		const struct gh_dump_goroutine *goroutine = &record.goroutine;
		if (goroutine->system)
			continue;
		census.count++;
		if (goroutine->status <= GH_DUMP_WAITING)
			census.by_status[goroutine->status]++;
		uint64_t waited = gh_dump_waited(dump, goroutine);
		if (waited > census.longest) {
			census.longest = waited;
			census.oldest = goroutine->id;
		}
	}
	return census;
}

static void emit_census(const struct gh_dump *dump)
{
	struct row {
		const char *part;
		uint64_t count, running, runnable, calling, waiting, waited;
		struct gh_known oldest;
	};
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct row, part)},
	    {"count", GH_COL_NUMBER(struct row, count)},
	    {"running", GH_COL_NUMBER(struct row, running)},
	    {"runnable", GH_COL_NUMBER(struct row, runnable)},
	    {"syscall", GH_COL_NUMBER(struct row, calling)},
	    {"waiting", GH_COL_NUMBER(struct row, waiting)},
	    {"waited", GH_COL_NUMBER(struct row, waited)},
	    {"oldest", GH_COL_KNOWN_NUMBER(struct row, oldest), .optional = true},
	    {0},
	};
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, dump, true);
	struct census census = take_census(dump);
	struct row row = {
	    .part = "goroutines",
	    .count = census.count,
	    .running = census.by_status[GH_DUMP_RUNNING],
	    .runnable = census.by_status[GH_DUMP_RUNNABLE],
	    .calling = census.by_status[GH_DUMP_SYSCALL],
	    .waiting = census.by_status[GH_DUMP_WAITING],
	    .waited = census.longest,
	    .oldest = {census.oldest, census.longest > 0},
	};
	gh_emit_row(&emit, columns, &row);
}

static void emit_threads(const struct gh_thread_states *states)
{
	struct row {
		const char *part;
		uint64_t count, running, sleeping, stopped, traced, stuck;
		struct gh_known first_stuck;
		const char *where;
	};
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct row, part)},
	    {"count", GH_COL_NUMBER(struct row, count)},
	    {"running", GH_COL_NUMBER(struct row, running)},
	    {"sleeping", GH_COL_NUMBER(struct row, sleeping)},
	    {"stopped", GH_COL_NUMBER(struct row, stopped)},
	    {"traced", GH_COL_NUMBER(struct row, traced)},
	    {"stuck", GH_COL_NUMBER(struct row, stuck)},
	    {"first_stuck", GH_COL_KNOWN_NUMBER(struct row, first_stuck), .optional = true},
	    {"kernel_function", GH_COL_TEXT(struct row, where), .optional = true},
	    {0},
	};
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, true);
	struct row row = {
	    "threads",
	    states->count,
	    states->running,
	    states->sleeping,
	    states->stopped,
	    states->traced,
	    states->stuck,
	    {(uint64_t)states->first_stuck, states->stuck > 0},
	    strlen(states->where) > 1 ? states->where : NULL,
	};
	gh_emit_row(&emit, columns, &row);
}

static void emit_collector(const struct gh_wait_query *query, size_t number)
{
	struct row {
		const char *part;
		uint64_t goroutine;
		struct gh_bytes state;
	};
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct row, part)},
	    {"goroutine", GH_COL_NUMBER(struct row, goroutine)},
	    {"state", GH_COL_BYTES(struct row, state)},
	    {0},
	};
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, &query->dump, true);
	struct gh_dump_record record;
	gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, number, &record);
	struct row row = {.part = "collector", .goroutine = record.goroutine.id};
	row.state.data = gh_goroutine_state(&query->dump, &record.goroutine, &row.state.size);
	gh_emit_row(&emit, columns, &row);
}

static void emit_leaked(const struct gh_leaked *leaked)
{
	struct row {
		const char *part;
		uint64_t count, objects, bytes;
		bool perhaps;
	};
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct row, part)},
	    {"count", GH_COL_NUMBER(struct row, count)},
	    {"objects", GH_COL_NUMBER(struct row, objects)},
	    {"bytes", GH_COL_NUMBER(struct row, bytes)},
	    {"perhaps", GH_COL_BOOL(struct row, perhaps), .optional = true},
	    {0},
	};
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, true);
	struct row row = {"leaked", leaked->count, leaked->objects, leaked->bytes, leaked->perhaps};
	gh_emit_row(&emit, columns, &row);
}

/* Prints that COUNT are WHAT, unless none is, after *BEFORE, which is a comma then. */
static void print_some(const char **before, size_t count, const char *what)
{
	if (count == 0)
		return;
	printf("%s%zu %s", *before, count, what);
	*before = ", ";
}

static void print_census(const struct gh_dump *dump)
{
	static const char *const texts[] = {
	    [GH_DUMP_RUNNING] = "on a thread",
	    [GH_DUMP_RUNNABLE] = "ready to run",
	    [GH_DUMP_SYSCALL] = "in system calls or C",
	    [GH_DUMP_WAITING] = "waiting",
	};
	static const enum gh_dump_status order[] = {GH_DUMP_RUNNING, GH_DUMP_RUNNABLE,
						    GH_DUMP_SYSCALL, GH_DUMP_WAITING};
	struct census census = take_census(dump);
	gh_print_count(stdout, census.count, "goroutine");
	const char *before = ": ";
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		print_some(&before, census.by_status[order[i]], texts[order[i]]);
	if (census.longest >= 1000000000)
		printf("; goroutine %" PRIu64 " has waited longest, for at least %.0f s",
		       census.oldest, (double)census.longest / 1e9);
	putchar('\n');
}

static void print_threads(const struct gh_wait_query *query)
{
	struct gh_thread_states states;
	if (query->pid == 0 || !gh_thread_states_read(&states, query->pid))
		return;
	if (query->options->json) {
		emit_threads(&states);
		return;
	}
	gh_print_count(stdout, states.count, "thread");
	const char *before = ": ";
	print_some(&before, states.running, "on a processor or ready");
	print_some(&before, states.sleeping, "asleep");
	print_some(&before, states.stopped, "stopped by a signal (SIGCONT has them go on)");
	print_some(&before, states.traced, "stopped by a debugger");
	print_some(&before, states.stuck, "in the kernel, where no signal reaches them");
	if (states.stuck > 0)
		printf(" (thread %d%s%s)", states.first_stuck,
		       strlen(states.where) > 1 ? " in " : "",
		       strlen(states.where) > 1 ? states.where : "");
	putchar('\n');
}

/* Tells if no descriptor is left to the process: what waits for one tries again, or fails. */
static void print_descriptors(int pid)
{
	uint64_t count, limit;
	if (pid != 0 && gh_descriptors_count(&count, &limit, pid) && count >= limit)
		printf("%" PRIu64 " file descriptors are open, and it may have %" PRIu64
		       ": it can accept, connect and open nothing\n",
		       count, limit);
}

/* The system's number of the thread of GOROUTINE; 0 if it has none, or it is not known. */
static uint64_t thread_of(const struct gh_dump *dump, const struct gh_dump_goroutine *goroutine)
{
	struct gh_dump_record record;
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_THREAD); i++) {
		gh_dump_get(dump, GH_DUMP_THREAD, i, &record);
		if (record.thread.m == goroutine->thread)
			return record.thread.os_id;
	}
	return 0;
}

/* Prints the thread of GOROUTINE, and what that does, as far as it is known. */
static void print_thread(struct gh_wait_query *query, const struct gh_dump_goroutine *goroutine)
{
	static const struct {
		char state;
		const char *text;
	} texts[] = {{'R', "on a processor or ready"},
		     {'S', "asleep"},
		     {'D', "in the kernel, where no signal reaches it"}};
	char where[GH_KERNEL_FUNCTION];
	uint64_t thread = thread_of(&query->dump, goroutine);
	if (thread == 0)
		return;
	printf(", on thread %" PRIu64, thread);
	char state = query->pid != 0 ? gh_thread_state_read(where, query->pid, (int)thread) : '?';
	const struct gh_dump_call *call = gh_dump_call(&query->dump, goroutine->thread);
	if (state == '?' && call != NULL) {
		fputs(", in ", stdout);
		gh_wait_print_call(stdout, call);
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (texts[i].state != state)
			continue;
		printf(", %s", texts[i].text);
		if (state != 'R' && call != NULL) {
			fputs(state == 'S' ? " in " : ", in ", stdout);
			gh_wait_print_call(stdout, call);
		}
		printf("%s%s%s", *where != '\0' ? " (" : "", where, *where != '\0' ? ")" : "");
	}
}

/* What keeps goroutines on threads. */
enum busy { NOT_BUSY, IN_GO, IN_C };

static enum busy find_busy(const struct gh_wait_query *query,
			   const struct gh_dump_goroutine *goroutine, size_t number)
{
	if (goroutine->system)
		return NOT_BUSY;
	if (goroutine->status == GH_DUMP_RUNNING)
		return IN_GO;
	return goroutine->status == GH_DUMP_SYSCALL && gh_wait_is_in_c(query, number) ? IN_C
										      : NOT_BUSY;
}

/* Prints the first goroutines that are busy as BUSY says, a line each, and how many more are. */
static void print_busy(struct gh_wait_query *query, enum busy busy)
{
	struct gh_dump_record record;
	size_t count = 0;
	for (size_t i = 0; i < query->dump.stacks.count; i++) {
		gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, i, &record);
		if (find_busy(query, &record.goroutine, i) != busy || count++ >= SHOWN)
			continue;
		fputs(busy == IN_C ? "in C: " : "running: ", stdout);
		gh_wait_print_goroutine(stdout, query, i);
		/* One that runs may have come to another thread since. */
		if (busy == IN_C)
			print_thread(query, &record.goroutine);
		putchar('\n');
	}
	if (count > SHOWN)
		printf("and %zu more %s\n", count - SHOWN, busy == IN_C ? "in C" : "that run");
}

/* TEXT, of SIZE bytes, is one of the WORDS, which end with NULL. */
static bool is_one_of(const char *text, size_t size, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strlen(*words) == size && memcmp(*words, text, size) == 0)
			return true;
	return false;
}

/* GOROUTINE, number NUMBER, collects garbage: by its wait reason (from Go 1.21 on) or, if it is on
 * a thread, by what it runs. */
static bool is_collecting(const struct gh_dump *dump, const struct gh_dump_goroutine *goroutine,
			  size_t number)
{
	static const char *const reasons[] = {"garbage collection",
					      "garbage collection scan",
					      "GC worker (active)",
					      "GC mark termination",
					      "stopping the world",
					      "flushing proc caches",
					      NULL};
	static const char *const functions[] = {"runtime.gcStart", "runtime.gcMarkDone",
						"runtime.gcMarkTermination", "runtime.gcDrain",
						NULL};
	size_t size, reason;
	const char *state = gh_goroutine_state(dump, goroutine, &size);
	if (goroutine->status == GH_DUMP_WAITING ? !is_one_of(state, size, reasons)
						 : goroutine->status != GH_DUMP_RUNNING)
		return false;
	/* It may stop the world for something else. */
	if (gh_stop_of(dump, number, &reason) == GH_STOPS && reason != GH_DUMP_NONE)
		return false;
	if (goroutine->status == GH_DUMP_WAITING)
		return true;
	size_t depth = gh_dump_stack(dump, number)->nframes;
	for (size_t i = 0; functions[i] != NULL; i++)
		if (gh_wait_frame_find(dump, number, depth, functions[i]) != GH_DUMP_NONE)
			return true;
	return false;
}

/* Prints who collects garbage, and how many wait for that. False, and nothing is printed, if nobody
 * does. */
static bool print_collector(struct gh_wait_query *query)
{
	static const char *const waits[] = {"GC assist wait", "GC assist marking",
					    "wait for GC cycle", NULL};
	const struct gh_dump *dump = &query->dump;
	struct gh_dump_record record;
	size_t waiting = 0;
	bool collects = false;
	for (size_t i = 0; i < dump->stacks.count; i++) {
		size_t size;
		gh_dump_get(dump, GH_DUMP_GOROUTINE, i, &record);
		const char *state = gh_goroutine_state(dump, &record.goroutine, &size);
		waiting += is_one_of(state, size, waits);
		if (!is_collecting(dump, &record.goroutine, i))
			continue;
		collects = true;
		if (query->options->json) {
			emit_collector(query, i);
			continue;
		}
		fputs("collecting garbage: ", stdout);
		gh_wait_print_goroutine(stdout, query, i);
		fputs(" [", stdout);
		gh_print_bytes(stdout, state, size, false);
		fputs("]\n", stdout);
	}
	if (waiting > 0 && !query->options->json) {
		gh_print_count(stdout, waiting, "goroutine");
		puts(waiting > 1 ? " wait for the collector" : " waits for the collector");
	}
	return collects || waiting > 0;
}

/* Prints the commands that say more: NGROUPS is how many groups there are; the garbage collector is
 * at work if COLLECTS. */
static void print_next(const struct gh_wait_query *query, bool collects, size_t ngroups,
		       size_t nleaked)
{
	const struct gh_options *options = query->options;
	if (collects && options->process != NULL) {
		gh_see_print(stdout, options, "memory");
		puts(" (how much the collector works)");
	}
	if (ngroups > SHOWN) {
		gh_see_print(stdout, options, "waits --group");
		printf(" (all %zu groups)\n", ngroups);
	}
	if (nleaked > 0) {
		gh_see_print(stdout, options, "goroutines --leaked");
		puts(" (the stacks of those that can never go on)");
	}
	gh_see_print(stdout, options, "goroutines --group");
	puts(" (all stacks)");
}

/* Prints what the process of a core file crashed of, and what tells more. A signal may have been
 * sent for the core file's sake. */
static void print_crash(const struct gh_wait_query *query)
{
	const struct gh_options *options = query->options;
	struct gh_crash crash = {0};
	if (options->process != NULL || query->symbols == NULL ||
	    gh_target_kind(options->file, NULL) != GH_KIND_CORE ||
	    !gh_core_crash(&crash, options->file, &query->symbols->program))
		return;
	const char *text = (const char *)crash.text.data;
	const char *end = crash.text.size > 0 ? memchr(text, '\n', crash.text.size) : NULL;
	size_t size = end != NULL ? (size_t)(end - text) : crash.text.size;
	if (size > 0 && (size < 3 || memcmp(text, "SIG", 3) != 0)) {
		fputs("It crashed: ", stdout);
		gh_print_bytes(stdout, text, size, false);
		fputs(": ", stdout);
		gh_see_print(stdout, options, "crash");
		putchar('\n');
	}
	gh_crash_free(&crash);
}

/* Prints who can never go on, and the deadlocks. Gives the exit status. */
static int print_stuck(struct gh_wait_query *query, struct gh_leaked *leaked)
{
	if (query->options->json)
		emit_leaked(leaked);
	else
		gh_wait_print_kept(stdout, leaked);
	return gh_deadlocks_print(query, leaked, SHOWN);
}

static int answer(struct gh_wait_query *query)
{
	struct gh_leaked leaked = {0};
	int status = GH_EXIT_INPUT;
	bool json = query->options->json;
	if (!json)
		print_crash(query);
	(json ? emit_census : print_census)(&query->dump);
	print_threads(query);
	if (!json) {
		print_descriptors(query->pid);
		print_busy(query, IN_GO);
		print_busy(query, IN_C);
	}
	bool collects = print_collector(query);
	gh_world_print(query);
	gh_blocked_finalizers_print(stdout, &query->dump, query->symbols, 0, "finalizers", json);
	gh_deep_stack_print(stdout, &query->dump, query->symbols, "stack", json);
	bool told = gh_wait_find_leaked(&leaked, query);
	size_t nleaked = leaked.count;
	/* People read the first lines. */
	bool leads = told && !json && (nleaked > 0 || gh_wait_deadlocks(query)->list.count > 0);
	if (leads)
		status = print_stuck(query, &leaked);
	if (!json)
		puts("Most wait for:");
	size_t ngroups = told ? gh_wait_groups_print(query, SHOWN, "group") : SIZE_MAX;
	if (ngroups != SIZE_MAX && !leads)
		status = print_stuck(query, &leaked);
	gh_leaked_free(&leaked);
	if (ngroups == SIZE_MAX)
		return GH_EXIT_INPUT;
	if (!json)
		print_next(query, collects, ngroups, nleaked);
	/* Without the program all but that was told. */
	return query->symbols != NULL ? status : GH_EXIT_OK;
}

int gh_cmd_hang(const struct gh_options *options)
{
	return gh_wait_query_run(options, answer);
}
