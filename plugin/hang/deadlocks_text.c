#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command/command.h"
#include "plugin/command/wait_query.h"
#include "plugin/hang/hang.h"

/* Finds the deadlocks. NULL, after saying why, if they cannot be. */
static const struct gh_deadlocks *find(struct gh_wait_query *query)
{
	if (query->symbols != NULL)
		return gh_wait_deadlocks(query);
	gh_say("who has a mutex is told by the program's code: name it with -e");
	return NULL;
}

static uint64_t goroutine_id(const struct gh_wait_query *query, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, number, &record);
	return record.goroutine.id;
}

void gh_wait_print_goroutine(FILE *out, struct gh_wait_query *query, size_t number)
{
	fprintf(out, "goroutine %" PRIu64, goroutine_id(query, number));
	const struct gh_call *call = gh_wait_place(query, number);
	if (call == NULL)
		return;
	fputs(" (", out);
	gh_traceback_print_call(out, call);
	putc(')', out);
}

bool gh_deadlock_is_certain(const struct gh_wait_query *query, const struct gh_deadlock *deadlock)
{
	const struct gh_deadlocks *deadlocks = &query->deadlocks;
	for (size_t i = 0; i < deadlock->count; i++) {
		size_t wait = deadlocks->members.items[deadlock->first + i];
		size_t mutex = gh_deadlocks_mutex(deadlocks, &query->waits, wait);
		if (!deadlocks->mutexes.items[mutex].sure)
			return false;
	}
	return true;
}

/* Prints the goroutine that has the mutex of the last member that is told: the first, unless
 * members are left out. */
static void print_last(FILE *out, const struct gh_wait_query *query,
		       const struct gh_deadlock *deadlock, size_t first)
{
	if (deadlock->count > GH_WAIT_TOLD)
		fprintf(out, "one that waits for one of %zu more, and so on to ",
			deadlock->count - GH_WAIT_TOLD);
	size_t wait = query->deadlocks.members.items[deadlock->first];
	const struct gh_dump_c_wait *in_c = query->waits.list.items[wait].in_c;
	if (deadlock->count > 1 || (in_c != NULL && in_c->indirect))
		fprintf(out, "goroutine %" PRIu64, goroutine_id(query, first));
	else
		fputs("itself", out);
}

void gh_deadlock_print(FILE *out, struct gh_wait_query *query, const struct gh_deadlock *deadlock,
		       bool plain)
{
	const struct gh_deadlocks *deadlocks = &query->deadlocks;
	const struct gh_waits *waits = &query->waits;
	const size_t *members = &deadlocks->members.items[deadlock->first];
	size_t first = waits->list.items[members[0]].goroutine;
	size_t told = deadlock->count < GH_WAIT_TOLD ? deadlock->count : GH_WAIT_TOLD;
	gh_wait_print_goroutine(out, query, first);
	for (size_t i = 0; i < told; i++) {
		const struct gh_wait *wait = &waits->list.items[members[i]];
		size_t mutex = gh_deadlocks_mutex(deadlocks, waits, members[i]);
		fputs(i > 0 ? ", which " : " ", out);
		gh_wait_print_clause(out, query, wait, plain);
		fputs(deadlock->count > 1 && !plain ? ",\n    " : ", ", out);
		gh_wait_print_held(out, wait, deadlocks->mutexes.items[mutex].sure);
		if (i + 1 < told)
			gh_wait_print_goroutine(out, query,
						waits->list.items[members[i + 1]].goroutine);
	}
	print_last(out, query, deadlock, first);
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
	struct gh_emit emit = gh_emit_start(query->out, GH_EMIT_ROWS, &query->dump, true);
	struct deadlock_row row = {query, deadlocks, deadlock, "deadlock", certain};
	gh_emit_row(&emit, columns, &row);
}

static void emit_counts(struct gh_wait_query *query, const struct gh_deadlocks *deadlocks,
			size_t ncertain)
{
	struct row {
		const char *part;
		uint64_t certain, perhaps, behind, locks, known, left, behind_left;
	};
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct row, part)},
	    {"certain", GH_COL_NUMBER(struct row, certain)},
	    {"perhaps", GH_COL_NUMBER(struct row, perhaps)},
	    {"behind", GH_COL_NUMBER(struct row, behind)},
	    {"locks", GH_COL_NUMBER(struct row, locks)},
	    {"holders_known", GH_COL_NUMBER(struct row, known)},
	    {"left_locked", GH_COL_NUMBER(struct row, left)},
	    {"behind_left_locked", GH_COL_NUMBER(struct row, behind_left)},
	    {0},
	};
	struct gh_emit emit = gh_emit_start(query->out, GH_EMIT_ROWS, &query->dump, true);
	struct row row = {"deadlocks",
			  ncertain,
			  deadlocks->list.count - ncertain,
			  deadlocks->behind,
			  deadlocks->mutexes.count,
			  deadlocks->nknown,
			  deadlocks->nleft,
			  deadlocks->behind_left};
	gh_emit_row(&emit, columns, &row);
}

/* Prints the locks that the count of deadlocks rests on, unless the holders of all are known. */
static void print_basis(FILE *out, const struct gh_deadlocks *deadlocks)
{
	size_t known = deadlocks->nknown, unknown = deadlocks->mutexes.count - known, guessed = 0;
	for (size_t i = 0; i < deadlocks->mutexes.count; i++)
		guessed +=
		    deadlocks->mutexes.items[i].nholders > 0 && !deadlocks->mutexes.items[i].sure;
	const char *how = guessed == 0 ? "known" : guessed < known ? "known or guessed" : "guessed";
	if (unknown == 0)
		return;
	if (deadlocks->list.count > 0) {
		fprintf(out, "; the holder%s of ", unknown > 1 ? "s" : "");
		gh_print_count(out, unknown, "other lock");
		fprintf(out, " %s not known", unknown > 1 ? "are" : "is");
	} else if (known > 0) {
		fputs(" among the ", out);
		gh_print_count(out, known, "lock");
		fprintf(out, known > 1 ? " whose holders are %s; " : " whose holder is %s; ", how);
		fprintf(out, "%zu %s not", unknown, unknown > 1 ? "are" : "is");
	} else {
		fprintf(out, ", but the holder%s of ", unknown > 1 ? "s" : "");
		gh_print_count(out, unknown, "lock");
		fprintf(out, " %s not known", unknown > 1 ? "are" : "is");
	}
}

static void print_counts(struct gh_wait_query *query, const struct gh_deadlocks *deadlocks,
			 size_t ncertain)
{
	FILE *out = query->out;
	bool none = ncertain == 0 && deadlocks->list.count > 0;
	if (deadlocks->nleft > 0) {
		gh_print_count(out, deadlocks->behind_left, "goroutine");
		fputs(deadlocks->behind_left > 1 ? " wait for ever for " : " waits for ever for ",
		      out);
		gh_print_count(out, deadlocks->nleft, "lock");
		fputs(deadlocks->nleft > 1 ? " that were left locked\n" : " that was left locked\n",
		      out);
	}
	fputs(none ? "perhaps " : "", out);
	if (none || ncertain > 0)
		gh_print_count(out, none ? deadlocks->list.count : ncertain, "deadlock");
	else
		fputs("No deadlock", out);
	fputs(" of mutexes", out);
	if (!none && deadlocks->list.count > ncertain)
		fprintf(out, ", and perhaps %zu more", deadlocks->list.count - ncertain);
	if (deadlocks->behind > 0) {
		fputs("; ", out);
		gh_print_count(out, deadlocks->behind, "more goroutine");
		fputs(deadlocks->behind > 1 ? " wait for them" : " waits for them", out);
	}
	print_basis(out, deadlocks);
	putc('\n', out);
}

/* A deadlock, while those that are alike are put together. */
struct kind {
	size_t deadlock; /* its place */
	char *text;      /* what its members wait for, and where; owned */
	size_t alike;
};

static int compare_texts(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;
	int order = strcmp(x->text, y->text);
	return order != 0 ? order : (x->deadlock > y->deadlock) - (x->deadlock < y->deadlock);
}

static int compare_places(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;
	return (x->deadlock > y->deadlock) - (x->deadlock < y->deadlock);
}

/* What is the same of all deadlocks like the one at PLACE. NULL if memory ran out. */
static char *make_text(struct gh_wait_query *query, const struct gh_deadlocks *deadlocks,
		       size_t place)
{
	const struct gh_deadlock *deadlock = &deadlocks->list.items[place];
	const struct gh_wait *waits[GH_WAIT_TOLD];
	bool certain = gh_deadlock_is_certain(query, deadlock);
	for (size_t i = 0; i < deadlock->count && i < GH_WAIT_TOLD; i++)
		waits[i] = &query->waits.list.items[deadlocks->members.items[deadlock->first + i]];
	char *same = gh_wait_alike_text(query, waits, deadlock->count);
	char *text = NULL;
	if (same != NULL && asprintf(&text, "%d %s", certain, same) < 0)
		text = NULL;
	free(same);
	return text;
}

static void print_deadlock(struct gh_wait_query *query, const struct gh_deadlock *deadlock,
			   size_t alike)
{
	gh_deadlock_print(query->out, query, deadlock, false);
	gh_wait_print_alike(query->out, alike, deadlock->count > 1);
	putc('\n', query->out);
}

/* Prints a sentence for each of no more than LIMIT kinds of deadlocks. False if memory ran out. */
static bool print_kinds(struct gh_wait_query *query, const struct gh_deadlocks *deadlocks,
			size_t limit)
{
	size_t count = 0, total = 0;
	struct kind *kinds = calloc(deadlocks->list.count + 1, sizeof(*kinds));
	for (; kinds != NULL && total < deadlocks->list.count; total++) {
		kinds[total] = (struct kind){total, make_text(query, deadlocks, total), 1};
		if (kinds[total].text == NULL)
			break;
	}
	bool made = kinds != NULL && total == deadlocks->list.count;
	if (total > 0)
		qsort(kinds, total, sizeof(*kinds), compare_texts);
	for (size_t i = 0; i < total; i++) {
		if (count > 0 && strcmp(kinds[count - 1].text, kinds[i].text) == 0) {
			kinds[count - 1].alike++;
			free(kinds[i].text);
		} else {
			kinds[count++] = kinds[i];
		}
	}
	if (count > 0)
		qsort(kinds, count, sizeof(*kinds), compare_places);
	for (size_t i = 0; i < count; i++) {
		if (made && i < limit)
			print_deadlock(query, &deadlocks->list.items[kinds[i].deadlock],
				       kinds[i].alike);
		free(kinds[i].text);
	}
	free(kinds);
	if (made)
		gh_wait_print_left(query, limit, count);
	else
		gh_say(GH_OUT_OF_MEMORY);
	return made;
}

void gh_leaked_leave_out(struct gh_leaked *leaked, const struct gh_wait_query *query)
{
	const struct gh_deadlocks *deadlocks = &query->deadlocks;
	const struct gh_waits *waits = &query->waits;
	bool *told = calloc(query->dump.stacks.count + 1, sizeof(*told));
	for (size_t i = 0; told != NULL && i < deadlocks->members.count; i++)
		told[leaked->knots[waits->list.items[deadlocks->members.items[i]].goroutine]] =
		    true;
	for (size_t i = 0; told != NULL && i < waits->list.count; i++) {
		size_t mutex = gh_deadlocks_mutex(deadlocks, waits, i);
		told[leaked->knots[waits->list.items[i].goroutine]] |=
		    mutex != GH_DUMP_NONE && deadlocks->mutexes.items[mutex].forever;
	}
	for (size_t i = 0; told != NULL && i < query->dump.stacks.count; i++)
		leaked->of[i] = leaked->of[i] && !told[leaked->knots[i]];
	free(told);
}

int gh_deadlocks_print(struct gh_wait_query *query, struct gh_leaked *leaked, size_t limit)
{
	const struct gh_deadlocks *deadlocks = find(query);
	bool json = query->options->json;
	bool ok = deadlocks != NULL;
	size_t ncertain = 0;
	for (size_t i = 0; ok && i < deadlocks->list.count; i++) {
		const struct gh_deadlock *deadlock = &deadlocks->list.items[i];
		bool certain = gh_deadlock_is_certain(query, deadlock);
		if (json)
			emit_deadlock(query, deadlocks, deadlock, certain);
		ncertain += certain;
	}
	if (ok && json)
		emit_counts(query, deadlocks, ncertain);
	else if (ok && (ok = print_kinds(query, deadlocks, limit)))
		print_counts(query, deadlocks, ncertain);
	if (ok)
		gh_leaked_leave_out(leaked, query);
	return gh_knots_print(query, leaked, limit) && ok ? GH_EXIT_OK : GH_EXIT_INPUT;
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
		size_t holder = deadlocks->holders.items[mutex->first + i].goroutine;
		draw_goroutine(dot, query, holder, mutex->dead);
		fprintf(dot->out, "\"0x%" PRIx64 "\" -> g%zu [%slabel=\"", mutex->address, holder,
			mutex->sure ? "" : "style=dashed ");
		fputs(mutex->sure ? "held by" : "perhaps held by", dot->label);
		gh_dot_end(dot);
	}
}

int gh_deadlocks_draw(struct gh_wait_query *query)
{
	const struct gh_deadlocks *deadlocks = find(query);
	struct gh_dot dot;
	const struct gh_waits *waits = &query->waits;
	bool drawn = deadlocks != NULL && gh_dot_open(&dot, query->out);
	for (size_t i = 0; drawn && i < deadlocks->mutexes.count; i++)
		draw_holders(&dot, query, deadlocks, &deadlocks->mutexes.items[i]);
	for (size_t i = 0; drawn && i < waits->list.count; i++) {
		const struct gh_wait *wait = &waits->list.items[i];
		size_t mutex = gh_deadlocks_mutex(deadlocks, waits, i);
		if (wait->object != 0 || wait->ncases > 0)
			draw_wait(&dot, query, wait,
				  mutex != GH_DUMP_NONE && deadlocks->mutexes.items[mutex].dead);
	}
	if (drawn)
		gh_dot_close(&dot);
	else if (deadlocks != NULL)
		gh_say(GH_OUT_OF_MEMORY);
	return drawn ? GH_EXIT_OK : GH_EXIT_INPUT;
}
