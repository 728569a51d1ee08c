#include <inttypes.h>
#include <stdlib.h>

#include "plugin/cli/command.h"
#include "plugin/cli/wait_query.h"

static bool find(struct gh_deadlocks *deadlocks, const struct gh_wait_query *query)
{
	struct gh_error err;
	if (query->symbols == NULL) {
		fputs("goheap: who has a mutex is told by the program's code: name it with -e\n",
		      stderr);
		*deadlocks = (struct gh_deadlocks){0};
		return false;
	}
	if (gh_deadlocks_find(deadlocks, &query->waits, &query->symbols->program.tab,
			      query->symbols->bias, &err))
		return true;
	gh_print_error(&err);
	return false;
}

uint64_t gh_wait_goroutine_id(const struct gh_wait_query *query, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, number, &record);
	return record.goroutine.id;
}

void gh_wait_print_goroutine(FILE *out, struct gh_wait_query *query, size_t number)
{
	fprintf(out, "goroutine %" PRIu64, gh_wait_goroutine_id(query, number));
	const struct gh_call *call = gh_wait_place(query, number);
	if (call == NULL)
		return;
	fputs(" (", out);
	gh_traceback_print_call(out, call);
	putc(')', out);
}

/* It is certain who has each of the mutexes of DEADLOCK. */
static bool is_certain(const struct gh_wait_query *query, const struct gh_deadlocks *deadlocks,
		       const struct gh_deadlock *deadlock)
{
	for (size_t i = 0; i < deadlock->count; i++) {
		size_t wait = deadlocks->members.items[deadlock->first + i];
		size_t mutex = gh_deadlocks_mutex(deadlocks, &query->waits, wait);
		if (!deadlocks->mutexes.items[mutex].sure)
			return false;
	}
	return true;
}

static void print_deadlock(struct gh_wait_query *query, const struct gh_deadlocks *deadlocks,
			   const struct gh_deadlock *deadlock)
{
	const struct gh_waits *waits = &query->waits;
	const size_t *members = &deadlocks->members.items[deadlock->first];
	gh_wait_print_goroutine(stdout, query, waits->list.items[members[0]].goroutine);
	for (size_t i = 0; i < deadlock->count; i++) {
		const struct gh_wait *wait = &waits->list.items[members[i]];
		size_t mutex = gh_deadlocks_mutex(deadlocks, waits, members[i]);
		size_t next =
		    waits->list.items[members[i + 1 < deadlock->count ? i + 1 : 0]].goroutine;
		fputs(i > 0 ? ", which waits to " : " waits to ", stdout);
		gh_wait_print(stdout, query, wait, false);
		printf(",%s%sheld by ", deadlock->count > 1 ? "\n    " : " ",
		       deadlocks->mutexes.items[mutex].sure ? "" : "perhaps ");
		if (i + 1 < deadlock->count)
			gh_wait_print_goroutine(stdout, query, next);
		else if (i > 0)
			printf("goroutine %" PRIu64, gh_wait_goroutine_id(query, next));
		else
			fputs("itself", stdout);
	}
	putchar('\n');
}

/* A deadlock, as it is printed as JSON. */
struct deadlock_row {
	struct gh_wait_query *query;
	const struct gh_deadlocks *deadlocks;
	const struct gh_deadlock *deadlock;
	const char *part;
	bool certain;
};

static void emit_members(struct gh_emit *emit, const void *member)
{
	const struct deadlock_row *row = member;
	for (size_t i = 0; i < row->deadlock->count; i++) {
		size_t wait = row->deadlocks->members.items[row->deadlock->first + i];
		gh_wait_emit_item(emit, row->query, &row->query->waits.list.items[wait]);
	}
}

static void emit_deadlock(struct gh_wait_query *query, const struct gh_deadlocks *deadlocks,
			  const struct gh_deadlock *deadlock, bool certain)
{
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct deadlock_row, part)},
	    {"certain", GH_COL_BOOL(struct deadlock_row, certain)},
	    {"members", GH_COL_LIST(emit_members)},
	    {0},
	};
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, &query->dump, true);
	struct deadlock_row row = {query, deadlocks, deadlock, "deadlock", certain};
	gh_emit_row(&emit, columns, &row);
}

static void emit_counts(struct gh_wait_query *query, const struct gh_deadlocks *deadlocks,
			size_t ncertain)
{
	struct row {
		const char *part;
		uint64_t certain, perhaps, behind;
	};
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct row, part)},
	    {"certain", GH_COL_NUMBER(struct row, certain)},
	    {"perhaps", GH_COL_NUMBER(struct row, perhaps)},
	    {"behind", GH_COL_NUMBER(struct row, behind)},
	    {0},
	};
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, &query->dump, true);
	struct row row = {"deadlocks", ncertain, deadlocks->list.count - ncertain,
			  deadlocks->behind};
	gh_emit_row(&emit, columns, &row);
}

static void print_counts(const struct gh_deadlocks *deadlocks, size_t ncertain)
{
	bool none = ncertain == 0 && deadlocks->list.count > 0;
	fputs(none ? "perhaps " : "", stdout);
	gh_print_count(none ? deadlocks->list.count : ncertain, "deadlock");
	fputs(" of mutexes", stdout);
	if (!none && deadlocks->list.count > ncertain)
		printf(", and perhaps %zu more", deadlocks->list.count - ncertain);
	if (deadlocks->behind > 0) {
		fputs("; ", stdout);
		gh_print_count(deadlocks->behind, "more goroutine");
		fputs(deadlocks->behind > 1 ? " wait for them" : " waits for them", stdout);
	}
	putchar('\n');
}

/* Has the knots of those who are in deadlocks not be told again. */
static void leave_out(struct gh_leaked *leaked, const struct gh_wait_query *query,
		      const struct gh_deadlocks *deadlocks)
{
	const struct gh_waits *waits = &query->waits;
	bool *told = calloc(query->dump.nstacks + 1, sizeof(*told));
	for (size_t i = 0; told != NULL && i < deadlocks->members.count; i++)
		told[leaked->knots[waits->list.items[deadlocks->members.items[i]].goroutine]] =
		    true;
	for (size_t i = 0; told != NULL && i < query->dump.nstacks; i++)
		leaked->of[i] = leaked->of[i] && !told[leaked->knots[i]];
	free(told);
}

int gh_deadlocks_print(struct gh_wait_query *query, struct gh_leaked *leaked)
{
	struct gh_deadlocks deadlocks;
	bool json = query->options->json;
	size_t ncertain = 0;
	bool found = find(&deadlocks, query);
	for (size_t i = 0; found && i < deadlocks.list.count; i++) {
		const struct gh_deadlock *deadlock = &deadlocks.list.items[i];
		bool certain = is_certain(query, &deadlocks, deadlock);
		if (json)
			emit_deadlock(query, &deadlocks, deadlock, certain);
		else
			print_deadlock(query, &deadlocks, deadlock);
		ncertain += certain;
	}
	if (found) {
		if (json)
			emit_counts(query, &deadlocks, ncertain);
		else
			print_counts(&deadlocks, ncertain);
		leave_out(leaked, query, &deadlocks);
	}
	gh_deadlocks_free(&deadlocks);
	return gh_knots_print(query, leaked) && found ? GH_EXIT_OK : GH_EXIT_INPUT;
}

/* Draws goroutine NUMBER, marked if it waits for a mutex whose holder waits for others. */
static void draw_goroutine(const struct gh_dot *dot, struct gh_wait_query *query, size_t number,
			   bool dead)
{
	fprintf(dot->out, "g%zu [shape=box%s label=\"", number,
		dead ? " fillcolor=\"#ffb0b0\"" : "");
	gh_wait_print_goroutine(dot->label, query, number);
	gh_dot_end(dot);
}

static void draw_edge(const struct gh_dot *dot, size_t goroutine, uint64_t object)
{
	fprintf(dot->out, "g%zu -> \"0x%" PRIx64 "\" [label=\"", goroutine, object);
}

/* Draws WAIT, with what it is for. */
static void draw_wait(const struct gh_dot *dot, struct gh_wait_query *query,
		      const struct gh_wait *wait, bool dead)
{
	draw_goroutine(dot, query, wait->goroutine, dead);
	if (wait->object != 0) {
		draw_edge(dot, wait->goroutine, wait->object);
		gh_wait_print(dot->label, query, wait, false);
		gh_dot_end(dot);
	}
	for (size_t i = 0; i < wait->ncases; i++) {
		const struct gh_wait_case *item = &query->waits.cases.items[wait->first + i];
		const struct gh_channel *channel = &query->waits.channels.items[item->channel];
		draw_edge(dot, wait->goroutine, channel->address);
		gh_wait_print_case(dot->label, query, item, false);
		gh_dot_end(dot);
	}
}

/* Draws the holders of MUTEX; dashed if each is one perhaps. */
static void draw_holders(const struct gh_dot *dot, struct gh_wait_query *query,
			 const struct gh_deadlocks *deadlocks, const struct gh_held_mutex *mutex)
{
	for (size_t i = 0; i < mutex->nholders; i++) {
		size_t holder = deadlocks->holders.items[mutex->first + i];
		draw_goroutine(dot, query, holder, mutex->dead);
		fprintf(dot->out, "\"0x%" PRIx64 "\" -> g%zu [%slabel=\"", mutex->address, holder,
			mutex->sure ? "" : "style=dashed ");
		fputs(mutex->sure ? "held by" : "perhaps held by", dot->label);
		gh_dot_end(dot);
	}
}

int gh_deadlocks_draw(struct gh_wait_query *query)
{
	struct gh_deadlocks deadlocks;
	struct gh_dot dot;
	const struct gh_waits *waits = &query->waits;
	bool found = find(&deadlocks, query);
	bool drawn = found && gh_dot_open(&dot, stdout);
	for (size_t i = 0; drawn && i < deadlocks.mutexes.count; i++)
		draw_holders(&dot, query, &deadlocks, &deadlocks.mutexes.items[i]);
	for (size_t i = 0; drawn && i < waits->list.count; i++) {
		const struct gh_wait *wait = &waits->list.items[i];
		size_t mutex = gh_deadlocks_mutex(&deadlocks, waits, i);
		if (wait->object != 0 || wait->ncases > 0)
			draw_wait(&dot, query, wait,
				  mutex != GH_DUMP_NONE && deadlocks.mutexes.items[mutex].dead);
	}
	if (drawn)
		gh_dot_close(&dot);
	else if (found)
		fputs("goheap: " GH_OUT_OF_MEMORY "\n", stderr);
	gh_deadlocks_free(&deadlocks);
	return drawn ? GH_EXIT_OK : GH_EXIT_INPUT;
}
