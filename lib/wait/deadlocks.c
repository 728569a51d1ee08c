#include <stdlib.h>

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

/* How many of MUTEX's holders wait for a mutex that is dead. */
static bool is_dead(const struct finder *finder, const struct gh_held_mutex *mutex)
{
	const struct gh_deadlocks *deadlocks = finder->deadlocks;
	size_t dead = 0;
	for (size_t i = 0; i < mutex->nholders; i++) {
		size_t wait = finder->wait_of[deadlocks->holders.items[mutex->first + i]];
		size_t next = wait != GH_DUMP_NONE
				  ? gh_deadlocks_mutex(deadlocks, finder->waits, wait)
				  : GH_DUMP_NONE;
		dead += next != GH_DUMP_NONE && deadlocks->mutexes.items[next].dead;
	}
	/* A writer waits for each reader. */
	bool any = mutex->readers > 0 && mutex->nholders <= mutex->readers;
	return mutex->nholders > 0 && dead >= (any ? 1 : mutex->nholders);
}

/* How often it is tried to find that a mutex is not dead, beyond which none is. */
#define MOST_ROUNDS 1000

static void find_dead(struct finder *finder)
{
	struct gh_deadlocks *deadlocks = finder->deadlocks;
	bool changed = true;
	for (size_t i = 0; i < deadlocks->mutexes.count; i++)
		deadlocks->mutexes.items[i].dead = deadlocks->mutexes.items[i].nholders > 0;
	for (unsigned round = 0; changed; round++) {
		changed = false;
		for (size_t i = 0; i < deadlocks->mutexes.count; i++) {
			struct gh_held_mutex *mutex = &deadlocks->mutexes.items[i];
			if (!mutex->dead || (round < MOST_ROUNDS && is_dead(finder, mutex)))
				continue;
			mutex->dead = false;
			changed = true;
		}
	}
}

/* The place of the wait of the holder of MUTEX for which it is dead. */
static size_t holder_wait(const struct finder *finder, const struct gh_held_mutex *mutex)
{
	const struct gh_deadlocks *deadlocks = finder->deadlocks;
	for (size_t i = 0; i < mutex->nholders; i++) {
		size_t wait = finder->wait_of[deadlocks->holders.items[mutex->first + i]];
		size_t next = wait != GH_DUMP_NONE
				  ? gh_deadlocks_mutex(deadlocks, finder->waits, wait)
				  : GH_DUMP_NONE;
		if (next != GH_DUMP_NONE && deadlocks->mutexes.items[next].dead)
			return wait;
	}
	return GH_DUMP_NONE;
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
		       const struct gh_pclntab *tab, uint64_t bias, struct gh_error *err)
{
	const struct gh_dump *dump = waits->dump;
	*deadlocks = (struct gh_deadlocks){0};
	struct finder finder = {
	    .deadlocks = deadlocks,
	    .waits = waits,
	    .wait_of = malloc((dump->nstacks + 1) * sizeof(size_t)),
	};
	bool ok = finder.wait_of != NULL;
	for (size_t i = 0; ok && i < dump->nstacks; i++)
		finder.wait_of[i] = GH_DUMP_NONE;
	if (ok)
		find_mutexes(&finder);
	ok = ok && !deadlocks->mutexes.failed &&
	     (deadlocks->mutexes.count == 0 ||
	      gh_mutex_holders_find(deadlocks, waits, finder.wait_of, tab, bias));
	if (ok) {
		find_dead(&finder);
		find_cycles(&finder);
	}
	free(finder.wait_of);
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
