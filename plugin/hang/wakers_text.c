#include <inttypes.h>
#include <string.h>

#include "plugin/command/wait_query.h"
#include "plugin/hang/hang.h"

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
	uint64_t count = wait->send ? channel->receivers : channel->senders;
	const char *what = wait->send ? "receive from it" : "send on it";
	if (count > 0)
		fprintf(out, "; %" PRIu64 " wait%s to %s", count, count == 1 ? "s" : "", what);
	else
		fprintf(out, "; nobody waits to %s", what);
	print_holder(out, query, channel->address);
}

/* A method of package sync, inlined or not. */
static bool is_of_sync(const char *name)
{
	return strncmp(name, "sync.", 5) == 0 || strncmp(name, "sync/atomic.", 12) == 0 ||
	       strncmp(name, "internal/sync.", 14) == 0;
}

/* Fills CALL with the place in MODULE's code of the call at PC, where the program ran: inlined
 * calls of package sync are what is called. False if it is not known. */
static bool find_call(const struct gh_module *module, uint64_t pc, struct gh_call *call)
{
	const struct gh_pclntab *tab = module->tab;
	struct gh_sourcemap map = {0};
	struct gh_range range;
	struct gh_func func;
	size_t index = gh_pclntab_find(tab, pc - module->bias);
	bool found = index != SIZE_MAX && gh_pclntab_func(tab, index, &func, NULL) &&
		     gh_sourcemap_start(&map, tab, &func) &&
		     gh_sourcemap_seek(&map, pc - module->bias, &range) && range.nframes > 0;
	if (found) {
		unsigned n = 0;
		while (n + 1 < range.nframes &&
		       is_of_sync(gh_pclntab_name(tab, range.frames[n].name)))
			n++;
		*call = (struct gh_call){.name = gh_pclntab_name(tab, range.frames[n].name),
					 .file = gh_pclntab_file(tab, range.frames[n].file),
					 .line = range.frames[n].line};
		call->length = strlen(call->name);
	}
	gh_sourcemap_free(&map);
	return found;
}

/* Prints where HOLDER has taken a lock, SURE or perhaps, unless it is in that function still. */
static void print_taken(FILE *out, struct gh_wait_query *query, const struct gh_lock_holder *holder,
			bool sure)
{
	const struct gh_call *now = gh_wait_place(query, holder->goroutine);
	const struct gh_symbols *symbols = query->symbols;
	struct gh_module module = gh_symbols_module(symbols);
	struct gh_call call;
	bool found = holder->pc != 0 && find_call(&module, holder->pc, &call);
	for (size_t i = 0; holder->pc != 0 && !found && i < symbols->others.list.count; i++)
		found = find_call(&symbols->others.list.items[i], holder->pc, &call);
	if (!found || (now != NULL && now->length == call.length &&
		       memcmp(now->name, call.name, call.length) == 0))
		return;
	fputs(sure ? "took it in " : "may have taken it in ", out);
	gh_traceback_print_call(out, &call);
	fputs(" and ", out);
}

/* Prints what HOLDER does itself, and where it has taken the lock. */
static void print_state(FILE *out, struct gh_wait_query *query, const struct gh_lock_holder *holder,
			bool sure)
{
	struct gh_dump_record record;
	size_t goroutine = holder->goroutine;
	const struct gh_wait *wait = gh_wait_of(query, goroutine);
	gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, goroutine, &record);
	fputs(", which ", out);
	print_taken(out, query, holder, sure);
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

void gh_wait_print_held(FILE *out, const struct gh_wait *wait, bool sure)
{
	const struct gh_dump_c_wait *in_c = wait->in_c;
	bool joins = in_c != NULL && in_c->kind == GH_C_WAIT_JOIN;
	bool indirect = in_c != NULL && in_c->indirect;
	if (indirect && !joins)
		fprintf(out, "held by thread %" PRIu64 " of C's, ", in_c->thread);
	if (indirect)
		fputs("which waits in C for ", out);
	else
		fputs(joins ? "on which is " : sure ? "held by " : "perhaps held by ", out);
}

/* Prints that MUTEX has no holder, as far as that is known. */
static void print_left(FILE *out, const struct gh_held_mutex *mutex)
{
	static const char *const texts[] = {
	    [GH_LEFT_UNKNOWN] = "its holder is not known",
	    [GH_LEFT_PERHAPS] = "perhaps no goroutine holds it: it may have been left locked",
	    [GH_LEFT] = "no goroutine holds it: it was left locked",
	};
	fprintf(out, "; %s", texts[mutex->left]);
}

/* Prints who has the mutex of WAIT, by the code that has locked it. */
static void print_mutex(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait)
{
	const struct gh_deadlocks *deadlocks = gh_wait_deadlocks(query);
	size_t number =
	    gh_deadlocks_mutex(deadlocks, &query->waits, (size_t)(wait - query->waits.list.items));
	if (number == GH_DUMP_NONE)
		return;
	const struct gh_held_mutex *mutex = &deadlocks->mutexes.items[number];
	if (mutex->nholders == 0 && wait->in_c != NULL && wait->in_c->thread != 0) {
		fprintf(out, "; held by thread %" PRIu64 ", which has no goroutine",
			wait->in_c->thread);
		return;
	}
	if (mutex->nholders == 0) {
		print_left(out, mutex);
		return;
	}
	const struct gh_lock_holder *holder = &deadlocks->holders.items[mutex->first];
	fputs("; ", out);
	gh_wait_print_held(out, wait, mutex->sure);
	gh_wait_print_goroutine(out, query, holder->goroutine);
	if (mutex->nholders == 1) {
		print_state(out, query, holder, mutex->sure);
		return;
	}
	fputs(mutex->sure ? " and " : " or ", out);
	if (mutex->nholders == 2)
		gh_wait_print_goroutine(out, query, holder[1].goroutine);
	else
		fprintf(out, "%zu more", mutex->nholders - 1);
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
