#include <inttypes.h>

#include "plugin/cli/wait_query.h"

/* Who has the object at ADDRESS, but for those who wait for it. */
static struct gh_object_holder find_holder(struct gh_wait_query *query, uint64_t address)
{
	if (!query->has_holders && !gh_object_holders_find(&query->holders, &query->waits)) {
		gh_object_holders_free(&query->holders);
		query->holders = (struct gh_object_holders){0};
	}
	query->has_holders = true;
	return gh_object_holders_at(&query->holders, address);
}

static void print_holder(FILE *out, struct gh_wait_query *query, uint64_t address)
{
	struct gh_object_holder holder = find_holder(query, address);
	if (holder.count == 0)
		return;
	fputs("; ", out);
	gh_wait_print_goroutine(out, query, holder.first);
	if (holder.count > 1)
		fprintf(out, " and %" PRIu64 " more have it", holder.count - 1);
	else
		fputs(" has it", out);
}

static void print_channel(FILE *out, struct gh_wait_query *query, const struct gh_wait_case *wait)
{
	const struct gh_channel *channel = &query->waits.channels.items[wait->channel];
	fprintf(out, "; %" PRIu64 " %s", wait->send ? channel->receivers : channel->senders,
		wait->send ? "receive from it" : "send on it");
	print_holder(out, query, channel->address);
}

/* Prints what GOROUTINE, which others wait for, does itself. */
static void print_state(FILE *out, struct gh_wait_query *query, size_t goroutine)
{
	struct gh_dump_record record;
	const struct gh_wait *wait = gh_wait_of(query, goroutine);
	gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, goroutine, &record);
	fputs(", which ", out);
	/* What a descriptor is of is the answer: a peer, or a disk. */
	if (wait != NULL)
		gh_wait_print_clause(out, query, wait,
				     wait->kind != GH_WAIT_DESCRIPTOR &&
					 wait->kind != GH_WAIT_SYSCALL);
	else
		fputs(record.goroutine.status == GH_DUMP_RUNNING ? "is on a thread"
								 : "is ready to run",
		      out);
}

/* Prints who has the mutex of WAIT, by the code that has locked it. */
static void print_mutex(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait)
{
	const struct gh_deadlocks *deadlocks = gh_wait_deadlocks(query);
	size_t number =
	    gh_deadlocks_mutex(deadlocks, &query->waits, (size_t)(wait - query->waits.list.items));
	const struct gh_held_mutex *mutex =
	    number != GH_DUMP_NONE ? &deadlocks->mutexes.items[number] : NULL;
	if (mutex == NULL || mutex->nholders == 0)
		return;
	fputs(mutex->sure ? "; held by " : "; perhaps held by ", out);
	gh_wait_print_goroutine(out, query, deadlocks->holders.items[mutex->first].goroutine);
	if (mutex->nholders > 1)
		fprintf(out, " %s %zu more", mutex->sure ? "and" : "or", mutex->nholders - 1);
	else
		print_state(out, query, deadlocks->holders.items[mutex->first].goroutine);
}

void gh_wait_print_wakers(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait)
{
	if (wait->ncases == 1)
		print_channel(out, query, &query->waits.cases.items[wait->first]);
	else if (wait->kind == GH_WAIT_WAITGROUP || wait->kind == GH_WAIT_COND)
		print_holder(out, query, wait->object);
	else
		print_mutex(out, query, wait);
}
