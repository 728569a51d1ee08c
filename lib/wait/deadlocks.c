#include <stdlib.h>

#include "lib/code/code.h"
#include "lib/util/bsearch.h"
#include "lib/wait/internal.h"

/* A goroutine whose stack tells of a mutex, or a function whose code does. */
struct pair {
	size_t of;
	size_t mutex;
};

struct pairs GH_VECTOR(struct pair);

struct finder {
	struct gh_deadlocks *deadlocks;
	const struct gh_waits *waits;
	const struct gh_dump *dump;
	const struct gh_pclntab *tab;
	uint64_t bias;
	struct gh_numbermap open; /* pcs to the locks that are open there */
	struct pairs holders;     /* of goroutines */
	struct pairs refs;        /* of functions to globals */
	size_t *wait_of;          /* by goroutine: the place of its wait; owned */
	bool *contended;          /* by mutex: others than those who wait for it know it; owned */
	bool failed;
};

static int compare_mutexes(const void *a, const void *b)
{
	const struct gh_held_mutex *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->wait > y->wait) - (x->wait < y->wait);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	return (x->mutex > y->mutex) - (x->mutex < y->mutex);
}

static int compare_by_mutex(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	if (x->mutex != y->mutex)
		return x->mutex < y->mutex ? -1 : 1;
	return (x->of > y->of) - (x->of < y->of);
}

static void sort_pairs(struct pairs *pairs, int (*compare)(const void *, const void *))
{
	if (pairs->count > 0)
		qsort(pairs->items, pairs->count, sizeof(*pairs->items), compare);
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

/* The place of the first mutex at ADDRESS or past it. */
static size_t mutex_from(const struct gh_deadlocks *deadlocks, uint64_t address)
{
	const struct gh_held_mutex *mutexes = deadlocks->mutexes.items;
	return gh_lower_bound(deadlocks->mutexes.count, k, mutexes[k].address < address);
}

size_t gh_deadlocks_mutex(const struct gh_deadlocks *deadlocks, const struct gh_waits *waits,
			  size_t wait)
{
	const struct gh_wait *item = &waits->list.items[wait];
	size_t place = mutex_from(deadlocks, item->object);
	return item->object != 0 && item->ncases == 0 && place < deadlocks->mutexes.count &&
		       deadlocks->mutexes.items[place].address == item->object
		   ? place
		   : GH_DUMP_NONE;
}

/* Finds the functions that refer to mutexes that are globals. */
static bool find_refs(struct finder *finder)
{
	const struct gh_deadlocks *deadlocks = finder->deadlocks;
	const struct gh_held_mutex *mutexes = deadlocks->mutexes.items;
	struct gh_global_refs refs = {0};
	uint64_t start = UINT64_MAX, end = 0;
	for (size_t i = 0; i < deadlocks->mutexes.count; i++) {
		if (gh_dump_find_object(finder->dump, mutexes[i].address) != GH_DUMP_NONE)
			continue;
		start = start < mutexes[i].address ? start : mutexes[i].address;
		end = mutexes[i].address + 1;
	}
	bool found = start >= end || gh_global_refs_find(&refs, finder->tab, start - finder->bias,
							 end - finder->bias);
	for (size_t i = 0; found && i < refs.count; i++) {
		uint64_t address = refs.items[i].address + finder->bias;
		size_t place = mutex_from(deadlocks, address);
		if (place < deadlocks->mutexes.count && mutexes[place].address == address)
			gh_vector_push(&finder->refs, (struct pair){refs.items[i].function, place});
	}
	gh_global_refs_free(&refs);
	sort_pairs(&finder->refs, compare_pairs);
	return found;
}

/* The goroutine knows MUTEX by a frame that has OPEN locks: it may hold it; without any, it is to
 * be noted that it knows it. */
static void note(struct finder *finder, size_t goroutine, size_t mutex, unsigned open)
{
	const struct gh_deadlocks *deadlocks = finder->deadlocks;
	if ((deadlocks->mutexes.items[mutex].locks & open) != 0)
		gh_vector_push(&finder->holders, (struct pair){goroutine, mutex});
	size_t wait = finder->wait_of[goroutine];
	if (wait == GH_DUMP_NONE || gh_deadlocks_mutex(deadlocks, finder->waits, wait) != mutex)
		finder->contended[mutex] = true;
}

/* Notes the mutexes that WORD is the address of, or of a struct that they may be in. */
static void note_word(struct finder *finder, size_t goroutine, uint64_t word, unsigned open)
{
	const struct gh_deadlocks *deadlocks = finder->deadlocks;
	size_t place = word != 0 ? mutex_from(deadlocks, word) : deadlocks->mutexes.count;
	if (place == deadlocks->mutexes.count)
		return;
	const struct gh_held_mutex *mutexes = deadlocks->mutexes.items;
	if (mutexes[place].address == word)
		note(finder, goroutine, place++, open);
	size_t object = gh_dump_find_object(finder->dump, word);
	if (object == GH_DUMP_NONE)
		return;
	struct gh_extent extent = gh_extents_get(&finder->dump->objects, object);
	for (; place < deadlocks->mutexes.count &&
	       mutexes[place].address - extent.address < extent.size;
	     place++)
		note(finder, goroutine, place, open);
}

static unsigned open_at(struct finder *finder, const struct gh_dump_frame *frame)
{
	uint32_t open = gh_numbermap_get(&finder->open, frame->pc);
	if (open != GH_NOT_MAPPED)
		return open;
	uint64_t pc = frame->pc - finder->bias;
	/* What it returns to may be of the next line. */
	open = gh_locks_open(finder->tab, pc - (frame->pc > frame->entry));
	finder->failed |= !gh_numbermap_put(&finder->open, frame->pc, open);
	return open;
}

/* Notes the mutexes that the pointers of the frame at DEPTH lead to. */
static void note_fields(struct finder *finder, size_t goroutine, size_t depth, unsigned open)
{
	const struct gh_dump_stack *stack = gh_dump_stack(finder->dump, goroutine);
	struct gh_frame_pointers walk;
	uint64_t word;
	if (depth >= stack->nframes)
		return;
	gh_frame_pointers_start(&walk, finder->dump, stack->first_frame + depth);
	while (gh_frame_pointers_next(&walk, &word))
		note_word(finder, goroutine, word, open);
}

/* Notes what the frame at DEPTH tells of mutexes. Its function's arguments are among the fields of
 * the caller's frame. */
static void note_frame(struct finder *finder, size_t goroutine, size_t depth)
{
	const struct gh_dump_stack *stack = gh_dump_stack(finder->dump, goroutine);
	struct gh_dump_record record;
	gh_dump_get(finder->dump, GH_DUMP_FRAME, stack->first_frame + depth, &record);
	unsigned open = open_at(finder, &record.frame);
	note_fields(finder, goroutine, depth, open);
	if (open != 0)
		note_fields(finder, goroutine, depth + 1, open);
	size_t function = gh_pclntab_find(finder->tab, record.frame.entry - finder->bias);
	const struct pair *refs = finder->refs.items;
	size_t i = gh_lower_bound(finder->refs.count, k, refs[k].of < function);
	for (; i < finder->refs.count && refs[i].of == function; i++)
		note(finder, goroutine, refs[i].mutex, open);
}

static bool waits_for(const struct finder *finder, size_t goroutine, size_t mutex)
{
	size_t wait = finder->wait_of[goroutine];
	return wait != GH_DUMP_NONE &&
	       gh_deadlocks_mutex(finder->deadlocks, finder->waits, wait) == mutex;
}

/* Gives MUTEX those of the holders from *AT on that are its. */
static void choose_holders(struct finder *finder, size_t number, size_t *at)
{
	struct gh_deadlocks *deadlocks = finder->deadlocks;
	struct gh_held_mutex *mutex = &deadlocks->mutexes.items[number];
	const struct pair *pairs = finder->holders.items;
	size_t end = *at;
	size_t count = 0;
	bool others = finder->contended[number];
	for (; end < finder->holders.count && pairs[end].mutex == number; end++) {
		others = others || !waits_for(finder, pairs[end].of, number);
		count += end == *at || pairs[end].of != pairs[end - 1].of;
	}
	/* As many as are to be found: those who wait for it are among them. */
	others = others && (mutex->readers == 0 || count != mutex->readers);
	mutex->first = deadlocks->holders.count;
	for (size_t i = *at; i < end; i++) {
		if ((i > *at && pairs[i].of == pairs[i - 1].of) ||
		    (others && waits_for(finder, pairs[i].of, number)))
			continue;
		gh_vector_push(&deadlocks->holders, pairs[i].of);
	}
	mutex->nholders = deadlocks->holders.count - mutex->first;
	/* Of several that wait for it, as many as have it can be it. */
	if (!others && mutex->nholders > (mutex->readers > 0 ? mutex->readers : 1))
		mutex->nholders = 0;
	*at = end;
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

static void find(struct finder *finder)
{
	const struct gh_dump *dump = finder->dump;
	size_t at = 0;
	finder->failed |= !find_refs(finder);
	for (size_t i = 0; i < dump->nstacks && !finder->failed; i++) {
		size_t nframes = gh_dump_stack(dump, i)->nframes;
		for (size_t depth = 0; depth < nframes; depth++)
			note_frame(finder, i, depth);
	}
	if (finder->failed || finder->holders.failed)
		return;
	sort_pairs(&finder->holders, compare_by_mutex);
	for (size_t i = 0; i < finder->deadlocks->mutexes.count; i++)
		choose_holders(finder, i, &at);
	if (finder->deadlocks->holders.failed)
		return;
	find_dead(finder);
	find_cycles(finder);
}

bool gh_deadlocks_find(struct gh_deadlocks *deadlocks, const struct gh_waits *waits,
		       const struct gh_pclntab *tab, uint64_t bias, struct gh_error *err)
{
	const struct gh_dump *dump = waits->dump;
	*deadlocks = (struct gh_deadlocks){0};
	struct finder finder = {
	    .deadlocks = deadlocks,
	    .waits = waits,
	    .dump = dump,
	    .tab = tab,
	    .bias = bias,
	    .wait_of = malloc((dump->nstacks + 1) * sizeof(size_t)),
	};
	bool ok = finder.wait_of != NULL;
	for (size_t i = 0; ok && i < dump->nstacks; i++)
		finder.wait_of[i] = GH_DUMP_NONE;
	if (ok)
		find_mutexes(&finder);
	finder.contended = calloc(deadlocks->mutexes.count + 1, sizeof(bool));
	ok = ok && finder.contended != NULL && !deadlocks->mutexes.failed;
	if (ok && deadlocks->mutexes.count > 0)
		find(&finder);
	ok = ok && !finder.failed && !finder.holders.failed && !finder.refs.failed &&
	     !deadlocks->holders.failed && !deadlocks->list.failed && !deadlocks->members.failed;
	free(finder.wait_of);
	free(finder.contended);
	gh_numbermap_free(&finder.open);
	gh_vector_free(&finder.holders);
	gh_vector_free(&finder.refs);
	return ok || gh_fail_memory(err, dump->path);
}

void gh_deadlocks_free(struct gh_deadlocks *deadlocks)
{
	gh_vector_free(&deadlocks->mutexes);
	gh_vector_free(&deadlocks->holders);
	gh_vector_free(&deadlocks->list);
	gh_vector_free(&deadlocks->members);
}
