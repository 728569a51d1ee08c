/* Findings about goroutines: deadlocks, locks that many wait for, requests that are held up, and
 * goroutines that leak or pile up. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command/heap_query.h"
#include "plugin/command/wait_query.h"
#include "plugin/findings/findings.h"
#include "plugin/hang/hang.h"

#define SECOND UINT64_C(1000000000)

/* Waits for a lock are told of if one has taken so long, or so many goroutines wait for it: healthy
 * programs wait, too. */
#define LONG_WAIT   (10 * SECOND)
#define MANY_LOCKED 100

/* So many goroutines in one place, that are no more than connections, are told of. */
#define CROWD 1000

/* So many requests in one place are told of, if one has waited long. */
#define MANY_REQUESTS 10

/* So many that perhaps can never go on. */
#define PERHAPS_LEAKED 100

/* Findings of one kind. */
#define MOST_ALIKE 3

/* The least that a goroutine has waited of which the runtime says WAITED, in ns: more would accuse
 * those that wait for no longer than a moment. */
static uint64_t at_least(const struct gh_diagnosis *diagnosis, uint64_t waited)
{
	const struct gh_collections *collections = &diagnosis->footprint.collections;
	return diagnosis->pid != 0 && collections->nends > 0
		   ? gh_collections_least_wait(collections, waited, diagnosis->now)
		   : waited;
}

static uint64_t waited_of(const struct gh_diagnosis *diagnosis, const struct gh_wait_query *query,
			  const struct gh_wait *wait)
{
	struct gh_dump_record record;
	gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, wait->goroutine, &record);
	return at_least(diagnosis, gh_dump_waited(&query->dump, &record.goroutine));
}

/* Prints ", for 12 s", or nothing if that is not known. */
static void print_waited(FILE *out, uint64_t ns, bool several)
{
	uint64_t seconds = ns / SECOND;
	if (seconds == 0)
		return;
	fputs(several ? ", the longest for " : ", for ", out);
	if (seconds < 120)
		fprintf(out, "%" PRIu64 " s", seconds);
	else if (seconds < 7200)
		fprintf(out, "%" PRIu64 " minutes", seconds / 60);
	else
		fprintf(out, "%" PRIu64 " hours", seconds / 3600);
}

/* Finds the groups of those goroutines that ONLY has, or all if it is NULL. False, after saying so,
 * if memory ran out; to be freed either way. */
static bool find_groups(struct gh_wait_groups *groups, const struct gh_diagnosis *diagnosis,
			struct gh_wait_query *query, const bool *only)
{
	bool found = gh_wait_groups_find(groups, query, only);
	for (size_t i = 0; i < groups->list.count; i++)
		groups->list.items[i].waited = at_least(diagnosis, groups->list.items[i].waited);
	return found;
}

static bool is_lock(const struct gh_wait *wait)
{
	return wait->kind == GH_WAIT_MUTEX || wait->kind == GH_WAIT_RWMUTEX_READ ||
	       wait->kind == GH_WAIT_RWMUTEX_WRITE;
}

/* Prints where the goroutine of WAIT is: " in main.f at x.go:12". */
static void print_place(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait)
{
	const struct gh_call *call = gh_wait_place(query, wait->goroutine);
	if (call == NULL)
		return;
	fputs(" in ", out);
	gh_traceback_print_call(out, call);
}

/* The longest that a member of DEADLOCK has waited, in ns. */
static uint64_t deadlock_waited(const struct gh_diagnosis *diagnosis,
				const struct gh_wait_query *query,
				const struct gh_deadlock *deadlock)
{
	uint64_t longest = 0;
	for (size_t i = 0; i < deadlock->count; i++) {
		size_t wait = query->deadlocks.members.items[deadlock->first + i];
		uint64_t waited = waited_of(diagnosis, query, &query->waits.list.items[wait]);
		longest = waited > longest ? waited : longest;
	}
	return longest;
}

/* Adds the first deadlock, a certain one if there is any, and how many more there are. One that is
 * not certain may be of goroutines that only pass by. */
static void find_deadlocks(struct gh_diagnosis *diagnosis, struct gh_wait_query *query)
{
	const struct gh_deadlocks *deadlocks = gh_wait_deadlocks(query);
	const struct gh_deadlock *told = NULL;
	size_t count = 0;
	bool certain = false;
	for (size_t i = 0; i < deadlocks->list.count; i++) {
		const struct gh_deadlock *deadlock = &deadlocks->list.items[i];
		bool is_certain = gh_deadlock_is_certain(query, deadlock);
		if (!is_certain && deadlock_waited(diagnosis, query, deadlock) < LONG_WAIT)
			continue;
		if (told == NULL || (is_certain && !certain))
			told = deadlock;
		certain = certain || is_certain;
		count++;
	}
	diagnosis->figures.deadlocks = count;
	FILE *out = told != NULL ? gh_finding_begin(diagnosis, GH_FINDING_DEADLOCK, 1) : NULL;
	if (out == NULL)
		return;
	fputs(certain ? "Deadlock: " : "Perhaps a deadlock: ", out);
	gh_deadlock_print(out, query, told, true);
	print_waited(out, deadlock_waited(diagnosis, query, told), false);
	if (deadlocks->behind > 0) {
		fputs("; ", out);
		gh_print_count(out, deadlocks->behind, "more goroutine");
		fputs(deadlocks->behind > 1 ? " wait for them" : " waits for them", out);
	}
	if (count > 1)
		fprintf(out, "; and %zu more deadlocks", count - 1);
	gh_finding_end(diagnosis, count > 1 ? "waits --deadlocks" : "hang");
}

/* The mutex that WAIT is for, if its holders were looked for; else NULL. */
static const struct gh_held_mutex *mutex_of(const struct gh_wait_query *query,
					    const struct gh_wait *wait)
{
	size_t place = (size_t)(wait - query->waits.list.items);
	size_t number = gh_deadlocks_mutex(&query->deadlocks, &query->waits, place);
	return number != GH_DUMP_NONE ? &query->deadlocks.mutexes.items[number] : NULL;
}

/* Adds the mutexes that were left locked. */
static void find_left(struct gh_diagnosis *diagnosis, struct gh_wait_query *query)
{
	const struct gh_deadlocks *deadlocks = gh_wait_deadlocks(query);
	for (size_t i = 0; i < deadlocks->mutexes.count; i++) {
		const struct gh_held_mutex *mutex = &deadlocks->mutexes.items[i];
		const struct gh_wait *wait = &query->waits.list.items[mutex->wait];
		uint64_t count = 0, longest = 0;
		if (mutex->left != GH_LEFT)
			continue;
		for (size_t k = 0; k < query->waits.list.count; k++) {
			const struct gh_wait *other = &query->waits.list.items[k];
			if (mutex_of(query, other) != mutex)
				continue;
			uint64_t waited = waited_of(diagnosis, query, other);
			longest = waited > longest ? waited : longest;
			count++;
		}
		FILE *out = gh_finding_begin(diagnosis, GH_FINDING_LEFT_LOCKED, count);
		if (out == NULL)
			return;
		gh_print_count(out, count, "goroutine");
		fputs(count > 1 ? " wait to " : " waits to ", out);
		gh_wait_print(out, query, wait, true);
		print_place(out, query, wait);
		print_waited(out, longest, count > 1);
		fputs(": no goroutine holds it, it was left locked", out);
		gh_finding_end(diagnosis, "hang");
	}
}

/* Adds the locks that many wait for, or that one waits for long. */
static void find_locks(struct gh_diagnosis *diagnosis, struct gh_wait_query *query,
		       const struct gh_wait_groups *groups)
{
	struct gh_figures *figures = &diagnosis->figures;
	for (size_t i = 0; i < groups->list.count; i++) {
		const struct gh_wait_group *group = &groups->list.items[i];
		if (!is_lock(group->wait))
			continue;
		const struct gh_held_mutex *mutex = mutex_of(query, group->wait);
		figures->blocked += group->count;
		if (group->waited > figures->lock_wait)
			figures->lock_wait = group->waited;
		/* Whoever waits for a deadlock is told of with that. */
		if ((mutex != NULL && (mutex->dead || mutex->forever)) ||
		    (group->count / group->objects < MANY_LOCKED && group->waited < LONG_WAIT))
			continue;
		FILE *out = gh_finding_begin(diagnosis, GH_FINDING_LOCK, group->count);
		if (out == NULL)
			return;
		gh_print_count(out, group->count, "goroutine");
		fputs(group->count > 1 ? " wait to " : " waits to ", out);
		gh_wait_print(out, query, group->wait, true);
		print_place(out, query, group->wait);
		print_waited(out, group->waited, group->count > 1);
		if (group->objects == 1)
			gh_wait_print_wakers(out, query, group->wait);
		else
			fprintf(out, "; %zu different ones", group->objects);
		gh_finding_end(diagnosis, "hang");
	}
}

/* GROUP is the first goroutine alone, while others run that can go on: it keeps the program from
 * ending, as servers have it do. */
static bool is_main_of_server(const struct gh_diagnosis *diagnosis,
			      const struct gh_wait_query *query, const struct gh_leaked *leaked,
			      const struct gh_wait_group *group)
{
	struct gh_dump_record record;
	gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, group->wait->goroutine, &record);
	return group->count == 1 && record.goroutine.id == 1 &&
	       diagnosis->figures.goroutines > leaked->count;
}

/* Adds goroutines that can never go on, by place. */
static void find_leaked(struct gh_diagnosis *diagnosis, struct gh_wait_query *query,
			const struct gh_leaked *leaked)
{
	struct gh_wait_groups groups;
	char size[GH_SIZE_TEXT];
	bool found = find_groups(&groups, diagnosis, query, leaked->of);
	for (size_t i = 0; found && i < groups.list.count && i < MOST_ALIKE; i++) {
		const struct gh_wait_group *group = &groups.list.items[i];
		if (leaked->perhaps && group->count < PERHAPS_LEAKED)
			continue;
		if (is_main_of_server(diagnosis, query, leaked, group)) {
			diagnosis->figures.leaked--;
			continue;
		}
		FILE *out = gh_finding_begin(diagnosis, GH_FINDING_LEAKED, group->count);
		if (out == NULL)
			break;
		fputs(leaked->perhaps ? "Perhaps " : "", out);
		gh_print_count(out, group->count, "goroutine");
		fputs(" can never go on: ", out);
		fputs(group->count > 1 ? "each " : "it ", out);
		gh_wait_print_clause(out, query, group->wait, true);
		print_place(out, query, group->wait);
		print_waited(out, group->waited, group->count > 1);
		if (groups.list.count == 1 && leaked->bytes > 0)
			fprintf(out, "; only %s %s", group->count > 1 ? "they keep" : "it keeps",
				gh_size_text(leaked->bytes, size));
		if (i + 1 == MOST_ALIKE && groups.list.count > MOST_ALIKE)
			fprintf(out, "; and so in %zu more places", groups.list.count - MOST_ALIKE);
		gh_finding_end(diagnosis, "goroutines --leaked --group");
	}
	gh_wait_groups_free(&groups);
}

static bool is_call_of(const struct gh_call *call, const char *function)
{
	return call->length == strlen(function) && memcmp(call->name, function, call->length) == 0;
}

/* The goroutine of WAIT handles a request, by the functions of the servers that call handlers. */
static bool handles_request(struct gh_wait_query *query, const struct gh_wait *wait)
{
	static const char *const servers[] = {"net/http.serverHandler.ServeHTTP",
					      "google.golang.org/grpc.(*Server).handleStream"};
	struct gh_traceback *traceback = &query->traceback;
	if (!gh_traceback_make(traceback, &query->dump, query->symbols, wait->goroutine))
		return false;
	for (size_t i = 0; i < traceback->calls.count; i++)
		for (size_t k = 0; k < sizeof(servers) / sizeof(*servers); k++)
			if (is_call_of(&traceback->calls.items[i], servers[k]))
				return true;
	return false;
}

/* Requests wait in a select for what their clients want to be told of, and for locks. */
static bool may_hold_up(const struct gh_wait_group *group)
{
	return group->wait->kind != GH_WAIT_SELECT && group->wait->kind != GH_WAIT_DESCRIPTOR &&
	       group->wait->kind != GH_WAIT_SYSCALL && group->wait->kind != GH_WAIT_SLEEP &&
	       group->wait->kind != GH_WAIT_OTHER && !is_lock(group->wait);
}

/* Prints what each goroutine of GROUP waits for, and where. */
static void print_each(FILE *out, struct gh_wait_query *query, const struct gh_wait_group *group)
{
	gh_wait_print_clause(out, query, group->wait, true);
	print_place(out, query, group->wait);
	print_waited(out, group->waited, true);
	if (group->objects == 1)
		gh_wait_print_wakers(out, query, group->wait);
}

/* Adds the places where many requests wait, and have for long. */
static void find_requests(struct gh_diagnosis *diagnosis, struct gh_wait_query *query,
			  const struct gh_wait_groups *groups, const struct gh_leaked *leaked)
{
	for (size_t i = 0; i < groups->list.count; i++) {
		const struct gh_wait_group *group = &groups->list.items[i];
		if (group->count < MANY_REQUESTS || group->waited < LONG_WAIT ||
		    !may_hold_up(group) || !handles_request(query, group->wait) ||
		    (leaked->of != NULL && leaked->of[group->wait->goroutine]))
			continue;
		FILE *out = gh_finding_begin(diagnosis, GH_FINDING_REQUESTS, group->count);
		if (out == NULL)
			return;
		gh_print_count(out, group->count, "request");
		fputs(" are held up: each ", out);
		print_each(out, query, group);
		gh_finding_end(diagnosis, "goroutines --group");
	}
}

/* Goroutines that wait as those of GROUP do may pile up. Idle workers wait to receive from one
 * channel. */
static bool may_pile_up(const struct gh_wait_group *group)
{
	switch (group->wait->kind) {
	case GH_WAIT_RECEIVE:
		return group->objects > group->count / 2;
	case GH_WAIT_SEND:
	case GH_WAIT_SELECT:
	case GH_WAIT_WAITGROUP:
	case GH_WAIT_COND:
	case GH_WAIT_SEMAPHORE:
		return true;
	case GH_WAIT_MUTEX: /* they are told of with the lock */
	case GH_WAIT_RWMUTEX_READ:
	case GH_WAIT_RWMUTEX_WRITE:
	case GH_WAIT_OTHER:
	case GH_WAIT_SLEEP:
	case GH_WAIT_DESCRIPTOR:
	case GH_WAIT_SYSCALL:
		break;
	}
	return false;
}

/* Adds the places where most goroutines are, unless they are as many as connections: a server has
 * some for each of these. */
static void find_crowds(struct gh_diagnosis *diagnosis, struct gh_wait_query *query,
			const struct gh_wait_groups *groups, const struct gh_leaked *leaked)
{
	uint64_t connections = 0;
	unsigned told = 0;
	for (size_t i = 0; i < groups->list.count; i++)
		if (groups->list.items[i].wait->kind == GH_WAIT_DESCRIPTOR)
			connections += groups->list.items[i].count;
	for (size_t i = 0; i < groups->list.count && told < MOST_ALIKE; i++) {
		const struct gh_wait_group *group = &groups->list.items[i];
		if (group->count < CROWD || group->count <= 2 * connections ||
		    group->count < diagnosis->figures.goroutines / 4 || !may_pile_up(group) ||
		    (leaked->of != NULL && leaked->of[group->wait->goroutine]))
			continue;
		FILE *out = gh_finding_begin(diagnosis, GH_FINDING_CROWD, group->count);
		if (out == NULL)
			return;
		gh_print_count(out, group->count, "goroutine");
		fprintf(out, " pile up%s: each ", told > 0 ? ", too" : "");
		print_each(out, query, group);
		gh_finding_end(diagnosis, "goroutines --group");
		told++;
	}
}

/* Adds what LINES, which PRINTED and are freed, say: a finding for each. */
static void add_line(struct gh_diagnosis *diagnosis, enum gh_finding_kind kind, char *text,
		     const char *command)
{
	char *rest = NULL;
	for (char *line = text != NULL ? strtok_r(text, "\n", &rest) : NULL; line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		FILE *out = gh_finding_begin(diagnosis, kind, 1);
		if (out == NULL)
			break;
		fputs(line, out);
		gh_finding_end(diagnosis, command);
	}
	free(text);
}

/* Adds goroutines that are blocked in a finalizer, and a stack that is out of proportion. */
static void find_single(struct gh_diagnosis *diagnosis, struct gh_wait_query *query)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (out != NULL)
		gh_blocked_finalizers_print(out, &query->dump, query->symbols, LONG_WAIT, NULL,
					    false);
	add_line(diagnosis, GH_FINDING_FINALIZERS, gh_text_end(out, &text), "hang");
	text = NULL;
	out = open_memstream(&text, &size);
	if (out != NULL)
		gh_deep_stack_print(out, &query->dump, query->symbols, NULL, false);
	add_line(diagnosis, GH_FINDING_STACKS, gh_text_end(out, &text), "goroutines --group");
}

/* The goroutines but for the runtime's own. */
static uint64_t count_goroutines(const struct gh_dump *dump)
{
	struct gh_dump_record record;
	uint64_t count = 0;
	for (size_t i = 0; i < dump->stacks.count; i++) {
		gh_dump_get(dump, GH_DUMP_GOROUTINE, i, &record);
		count += !record.goroutine.system;
	}
	return count;
}

void gh_find_hangs(struct gh_diagnosis *diagnosis, struct gh_wait_query *query)
{
	struct gh_leaked leaked = {0};
	struct gh_wait_groups groups;
	diagnosis->figures.goroutines = count_goroutines(&query->dump);
	find_deadlocks(diagnosis, query);
	find_left(diagnosis, query);
	/* Without roots nothing would be reached. */
	if (!diagnosis->left_heap && !gh_heap_query_lacks_roots(&query->dump) &&
	    gh_wait_find_leaked(&leaked, query)) {
		diagnosis->figures.leaked = leaked.count;
		gh_leaked_leave_out(&leaked, query);
		find_leaked(diagnosis, query, &leaked);
	}
	if (find_groups(&groups, diagnosis, query, NULL)) {
		find_locks(diagnosis, query, &groups);
		find_requests(diagnosis, query, &groups, &leaked);
		find_crowds(diagnosis, query, &groups, &leaked);
	}
	find_single(diagnosis, query);
	gh_wait_groups_free(&groups);
	gh_leaked_free(&leaked);
}
