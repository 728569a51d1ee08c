#include <stdlib.h>
#include <string.h>

#include "lib/util/bsearch.h"
#include "lib/wait/internal.h"

struct finder {
	struct gh_deadlocks *deadlocks;
	const struct gh_waits *waits;
	size_t *wait_of; /* by goroutine: the place of its wait; owned */
	bool failed;
};

static int compare_mutexes(const void *a, const void *b)
{
	const struct gh_held_mutex *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->wait > y->wait) - (x->wait < y->wait);
}

/* GOROUTINE stays on its thread: what that has taken is its own. Another may have left it. */
static bool stays(const struct gh_dump *dump, size_t goroutine)
{
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_GOROUTINE, goroutine, &record);
	return record.goroutine.status == GH_DUMP_SYSCALL || gh_dump_extras(dump, goroutine).locked;
}

/* Adds the mutex of the C library's that WAIT, at PLACE, is for, or the thread that is to end, as
 * if that was one: it tells which thread has it. */
static void add_c_mutex(struct finder *finder, const struct gh_wait *wait, size_t place)
{
	struct gh_deadlocks *deadlocks = finder->deadlocks;
	struct gh_held_mutex mutex = {.address = wait->object, .wait = place};
	struct gh_lock_holder holder = {.goroutine = wait->in_c->holder};
	bool joins = wait->in_c->kind == GH_C_WAIT_JOIN && holder.goroutine != GH_DUMP_NONE;
	if (wait->object == 0 || (!joins && wait->in_c->kind > GH_C_WAIT_RWLOCK_WRITE))
		return;
	if (holder.goroutine != GH_DUMP_NONE && gh_vector_push(&deadlocks->holders, holder)) {
		mutex.first = deadlocks->holders.count - 1;
		mutex.nholders = 1;
		mutex.sure = stays(finder->waits->dump, holder.goroutine);
	}
	gh_vector_push(&deadlocks->mutexes, mutex);
}

/* Adds the mutex that WAIT, at PLACE, is for, unless it is free. */
static void add_mutex(struct finder *finder, const struct gh_wait *wait, size_t place)
{
	struct gh_held_mutex mutex = {.address = wait->object, .wait = place};
	struct gh_mutex_state state = gh_mutex_state(finder->waits, wait);
	bool is_mutex = wait->kind == GH_WAIT_MUTEX;
	if (wait->object == 0 || (!is_mutex && wait->kind != GH_WAIT_RWMUTEX_READ &&
				  wait->kind != GH_WAIT_RWMUTEX_WRITE))
		return;
	if (!state.known)
		mutex.locks = is_mutex ? GH_LOCK_MUTEX : GH_LOCK_WRITE | GH_LOCK_READ;
	else if (state.locked)
		mutex.locks = is_mutex ? GH_LOCK_MUTEX : GH_LOCK_WRITE;
	else if (!is_mutex && state.readers > 0)
		mutex.locks = GH_LOCK_READ;
	if (mutex.locks == GH_LOCK_READ)
		mutex.readers = state.readers;
	if (state.known)
		mutex.left = GH_LEFT_PERHAPS;
	if (mutex.locks != 0)
		gh_vector_push(&finder->deadlocks->mutexes, mutex);
}

static void find_mutexes(struct finder *finder)
{
	struct gh_deadlocks *deadlocks = finder->deadlocks;
	const struct gh_waits *waits = finder->waits;
	size_t count = 0;
	for (size_t i = 0; i < waits->list.count; i++) {
		finder->wait_of[waits->list.items[i].goroutine] = i;
		if (waits->list.items[i].in_c != NULL)
			add_c_mutex(finder, &waits->list.items[i], i);
		else
			add_mutex(finder, &waits->list.items[i], i);
	}
	struct gh_held_mutex *mutexes = deadlocks->mutexes.items;
	if (deadlocks->mutexes.count > 0)
		qsort(mutexes, deadlocks->mutexes.count, sizeof(*mutexes), compare_mutexes);
	for (size_t i = 0; i < deadlocks->mutexes.count; i++)
		if (count == 0 || mutexes[count - 1].address != mutexes[i].address)
			mutexes[count++] = mutexes[i];
	deadlocks->mutexes.count = count;
}

size_t gh_deadlocks_from(const struct gh_deadlocks *deadlocks, uint64_t address)
{
	const struct gh_held_mutex *mutexes = deadlocks->mutexes.items;
	return gh_lower_bound(deadlocks->mutexes.count, k, mutexes[k].address < address);
}

size_t gh_deadlocks_at(const struct gh_deadlocks *deadlocks, uint64_t address)
{
	size_t number = gh_deadlocks_from(deadlocks, address);
	return number < deadlocks->mutexes.count &&
		       deadlocks->mutexes.items[number].address == address
		   ? number
		   : GH_DUMP_NONE;
}

size_t gh_deadlocks_mutex(const struct gh_deadlocks *deadlocks, const struct gh_waits *waits,
			  size_t wait)
{
	const struct gh_wait *item = &waits->list.items[wait];
	return item->object != 0 && item->ncases == 0 ? gh_deadlocks_at(deadlocks, item->object)
						      : GH_DUMP_NONE;
}

/* The mutex that GOROUTINE waits for; GH_DUMP_NONE if there is none. */
static size_t next_mutex(const struct finder *finder, size_t goroutine)
{
	size_t wait = finder->wait_of[goroutine];
	return wait != GH_DUMP_NONE ? gh_deadlocks_mutex(finder->deadlocks, finder->waits, wait)
				    : GH_DUMP_NONE;
}

/* While it is found which mutexes are dead: at first all are that have holders. */
struct liveness {
	size_t *dead;    /* by mutex: how many of its holders wait for a dead one; owned */
	size_t *starts;  /* by mutex: place of the first of those whose holders wait for it; then
			    how many there are of all; owned */
	size_t *waiting; /* those: mutexes; owned */
	size_t *queue;   /* mutexes that are not dead, and whose waiters are to be told; owned */
	size_t nqueued;
};

/* Fills in who waits for whom. */
static void link_mutexes(struct liveness *liveness, const struct finder *finder)
{
	const struct gh_deadlocks *deadlocks = finder->deadlocks;
	const struct gh_held_mutex *mutexes = deadlocks->mutexes.items;
	size_t count = deadlocks->mutexes.count;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < mutexes[i].nholders; k++) {
			size_t next = next_mutex(
			    finder, deadlocks->holders.items[mutexes[i].first + k].goroutine);
			if (next == GH_DUMP_NONE)
				continue;
			liveness->starts[next]++;
			liveness->dead[i] += mutexes[next].dead;
		}
	for (size_t i = 1; i <= count; i++)
		liveness->starts[i] += liveness->starts[i - 1];
	/* Those are the ends, until all are filled in from there down. */
	for (size_t i = count; i-- > 0;)
		for (size_t k = 0; k < mutexes[i].nholders; k++) {
			size_t next = next_mutex(
			    finder, deadlocks->holders.items[mutexes[i].first + k].goroutine);
			if (next != GH_DUMP_NONE)
				liveness->waiting[--liveness->starts[next]] = i;
		}
}

/* Takes MUTEX for not dead if too few of its holders wait for dead ones. */
static void judge(struct liveness *liveness, struct gh_deadlocks *deadlocks, size_t number)
{
	struct gh_held_mutex *mutex = &deadlocks->mutexes.items[number];
	/* A writer waits for each reader. */
	bool any = mutex->readers > 0 && mutex->nholders <= mutex->readers;
	if (mutex->left == GH_LEFT || !mutex->dead ||
	    liveness->dead[number] >= (any ? 1 : mutex->nholders))
		return;
	mutex->dead = false;
	liveness->queue[liveness->nqueued++] = number;
}

/* Finds the mutexes that are dead; with CERTAIN those alone that are for certain, and what was left
 * locked. */
static void find_dead(struct finder *finder, bool certain)
{
	struct gh_deadlocks *deadlocks = finder->deadlocks;
	size_t count = deadlocks->mutexes.count;
	struct liveness liveness = {
	    .dead = calloc(count + 1, sizeof(size_t)),
	    .starts = calloc(count + 1, sizeof(size_t)),
	    .waiting = malloc((deadlocks->holders.count + 1) * sizeof(size_t)),
	    .queue = malloc((count + 1) * sizeof(size_t)),
	};
	finder->failed |= liveness.dead == NULL || liveness.starts == NULL ||
			  liveness.waiting == NULL || liveness.queue == NULL;
	for (size_t i = 0; i < count; i++) {
		struct gh_held_mutex *mutex = &deadlocks->mutexes.items[i];
		mutex->dead = certain && mutex->left == GH_LEFT;
		mutex->dead |= mutex->nholders > 0 && (mutex->sure || !certain);
	}
	if (!finder->failed)
		link_mutexes(&liveness, finder);
	for (size_t i = 0; !finder->failed && i < count; i++)
		judge(&liveness, deadlocks, i);
	for (size_t at = 0; at < liveness.nqueued; at++) {
		size_t mutex = liveness.queue[at];
		for (size_t k = liveness.starts[mutex]; k < liveness.starts[mutex + 1]; k++) {
			liveness.dead[liveness.waiting[k]]--;
			judge(&liveness, deadlocks, liveness.waiting[k]);
		}
	}
	free(liveness.dead);
	free(liveness.starts);
	free(liveness.waiting);
	free(liveness.queue);
}

/* The mutexes that are dead for certain are never let go of. */
static void find_forever(struct finder *finder)
{
	struct gh_deadlocks *deadlocks = finder->deadlocks;
	find_dead(finder, true);
	for (size_t i = 0; i < deadlocks->mutexes.count; i++)
		deadlocks->mutexes.items[i].forever = deadlocks->mutexes.items[i].dead;
}

/* The place of the wait of the holder of MUTEX for which it is dead. */
static size_t holder_wait(const struct finder *finder, const struct gh_held_mutex *mutex)
{
	const struct gh_deadlocks *deadlocks = finder->deadlocks;
	for (size_t i = 0; i < mutex->nholders; i++) {
		size_t wait = finder->wait_of[deadlocks->holders.items[mutex->first + i].goroutine];
		size_t next = wait != GH_DUMP_NONE
				  ? gh_deadlocks_mutex(deadlocks, finder->waits, wait)
				  : GH_DUMP_NONE;
		if (next != GH_DUMP_NONE && deadlocks->mutexes.items[next].dead)
			return wait;
	}
	return GH_DUMP_NONE;
}

/* Counts the mutexes that were left locked, and those whose holders are known. */
static void count_known(struct finder *finder)
{
	struct gh_deadlocks *deadlocks = finder->deadlocks;
	for (size_t i = 0; i < deadlocks->mutexes.count; i++) {
		const struct gh_held_mutex *mutex = &deadlocks->mutexes.items[i];
		deadlocks->nleft += mutex->left == GH_LEFT;
		deadlocks->nknown += mutex->left == GH_LEFT || mutex->nholders > 0;
	}
	for (size_t i = 0; i < finder->waits->list.count; i++) {
		size_t mutex = gh_deadlocks_mutex(deadlocks, finder->waits, i);
		deadlocks->behind_left +=
		    mutex != GH_DUMP_NONE && deadlocks->mutexes.items[mutex].left == GH_LEFT;
	}
}

/* Follows holders from mutex START on; SEEN has, by mutex, the number of the start by which it was
 * first come to, plus one. */
static void follow(struct finder *finder, size_t start, size_t *seen)
{
	struct gh_deadlocks *deadlocks = finder->deadlocks;
	size_t at = start;
	while (seen[at] == 0) {
		seen[at] = start + 1;
		size_t wait = holder_wait(finder, &deadlocks->mutexes.items[at]);
		if (wait == GH_DUMP_NONE)
			return;
		at = gh_deadlocks_mutex(deadlocks, finder->waits, wait);
	}
	if (seen[at] != start + 1)
		return;
	struct gh_deadlock deadlock = {.first = deadlocks->members.count};
	size_t mutex = at;
	do {
		size_t wait = holder_wait(finder, &deadlocks->mutexes.items[mutex]);
		gh_vector_push(&deadlocks->members, wait);
		mutex = gh_deadlocks_mutex(deadlocks, finder->waits, wait);
		deadlock.count++;
	} while (mutex != at);
	gh_vector_push(&deadlocks->list, deadlock);
}

static void find_cycles(struct finder *finder)
{
	struct gh_deadlocks *deadlocks = finder->deadlocks;
	size_t *seen = calloc(deadlocks->mutexes.count + 1, sizeof(*seen));
	finder->failed |= seen == NULL;
	for (size_t i = 0; seen != NULL && i < deadlocks->mutexes.count; i++)
		if (deadlocks->mutexes.items[i].dead && seen[i] == 0)
			follow(finder, i, seen);
	free(seen);
	for (size_t i = 0; i < finder->waits->list.count; i++) {
		size_t mutex = gh_deadlocks_mutex(deadlocks, finder->waits, i);
		deadlocks->behind += mutex != GH_DUMP_NONE && deadlocks->mutexes.items[mutex].dead;
	}
	deadlocks->behind -= deadlocks->members.count;
}

bool gh_deadlocks_find(struct gh_deadlocks *deadlocks, const struct gh_waits *waits,
		       const struct gh_module *own, const struct gh_module *others, size_t nothers,
		       struct gh_error *err)
{
	const struct gh_dump *dump = waits->dump;
	struct gh_module *modules = malloc((nothers + 1) * sizeof(*modules));
	*deadlocks = (struct gh_deadlocks){0};
	struct finder finder = {
	    .deadlocks = deadlocks,
	    .waits = waits,
	    .wait_of = malloc((dump->stacks.count + 1) * sizeof(size_t)),
	};
	bool ok = finder.wait_of != NULL && modules != NULL;
	if (modules != NULL)
		modules[0] = *own;
	if (modules != NULL && nothers > 0)
		memcpy(&modules[1], others, nothers * sizeof(*modules));
	for (size_t i = 0; ok && i < dump->stacks.count; i++)
		finder.wait_of[i] = GH_DUMP_NONE;
	if (ok)
		find_mutexes(&finder);
	ok = ok && !deadlocks->mutexes.failed &&
	     (deadlocks->mutexes.count == 0 ||
	      gh_mutex_holders_find(deadlocks, waits, finder.wait_of, modules, nothers + 1));
	if (ok) {
		find_forever(&finder);
		find_dead(&finder, false);
		find_cycles(&finder);
		count_known(&finder);
	}
	free(finder.wait_of);
	free(modules);
	ok = ok && !finder.failed && !deadlocks->list.failed && !deadlocks->members.failed;
	return ok || gh_fail_memory(err, dump->path);
}

void gh_deadlocks_free(struct gh_deadlocks *deadlocks)
{
	gh_vector_free(&deadlocks->mutexes);
	gh_vector_free(&deadlocks->holders);
	gh_vector_free(&deadlocks->list);
	gh_vector_free(&deadlocks->members);
}
