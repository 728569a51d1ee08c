#include <string.h>

#include "lib/wait/internal.h"

/* How far the frames reach from where the goroutine is parked to the call of package sync's method.
 */
#define FRAMES 8

/* How many sudogs a condition's list may have, beyond which it is none. */
#define MOST_WAITERS (1 << 24)

/* Offsets in package sync's structs, in bytes; the same on all machines since Go 1.11. */
enum {
	MUTEX_SEMA = 4,
	RWMUTEX_WRITER_SEMA = 8,
	RWMUTEX_READER_SEMA = 12,
	RWMUTEX_READER_COUNT = 16,
	WAITGROUP_SEMA = 8,
};

/* A function that waits for a semaphore, and what for if its caller's name is CALLER; NULL: any. */
struct acquirer {
	const char *name;
	const char *caller;
	enum gh_wait_kind kind;
};

/* The first that fits. A reader's lock may be inlined into any function. */
static const struct acquirer acquirers[] = {
    {"sync.runtime_SemacquireMutex", "sync.(*Mutex).*", GH_WAIT_MUTEX},
    {"internal/sync.runtime_SemacquireMutex", NULL, GH_WAIT_MUTEX},
    {"sync.runtime_SemacquireMutex", "sync.(*RWMutex).Lock", GH_WAIT_RWMUTEX_WRITE},
    {"sync.runtime_SemacquireMutex", NULL, GH_WAIT_RWMUTEX_READ},
    {"sync.runtime_SemacquireRWMutexR", NULL, GH_WAIT_RWMUTEX_READ},
    {"sync.runtime_SemacquireRWMutex", NULL, GH_WAIT_RWMUTEX_WRITE},
    {"sync.runtime_SemacquireWaitGroup", NULL, GH_WAIT_WAITGROUP},
    {"sync.runtime_Semacquire", "sync.(*WaitGroup).Wait", GH_WAIT_WAITGROUP},
    {"sync.runtime_Semacquire", "sync.(*RWMutex).Lock", GH_WAIT_RWMUTEX_WRITE},
    {"sync.runtime_Semacquire", "sync.(*RWMutex).RLock", GH_WAIT_RWMUTEX_READ},
    {"sync.runtime_notifyListWait", NULL, GH_WAIT_COND},
    {"internal/poll.runtime_Semacquire", NULL, GH_WAIT_SEMAPHORE},
};

/* Finds the sudog of WAIT's goroutine, whose struct is at G: it points to it from Go 1.26 on;
 * before, the frames of those who wait for it do. 0 if there is none. */
static uint64_t find_sudog(const struct gh_wait_finder *finder, const struct gh_wait *wait,
			   uint64_t g, size_t depth)
{
	const struct gh_dump *dump = finder->dump;
	uint64_t sudog = gh_wait_word(dump, g + finder->layout.g_waiting);
	if (sudog != 0 && gh_wait_word(dump, sudog) == g)
		return sudog;
	struct gh_stack_scan scan = gh_stack_scan_start(dump, wait->goroutine, 0, depth + 1);
	while (gh_stack_scan_next(&scan, &sudog))
		if (sudog != 0 && sudog != g && sudog % dump->word == 0 &&
		    gh_wait_word(dump, sudog) == g && gh_wait_may_be_object(dump, sudog))
			return sudog;
	return 0;
}

/* The list of a condition that is at LIST has SUDOG: notes all that it has. */
static bool note_list(struct gh_wait_finder *finder, uint64_t list, uint64_t sudog)
{
	const struct gh_dump *dump = finder->dump;
	uint64_t at = gh_wait_word(dump, list + 8 + dump->word);
	bool has = false;
	uint64_t first = at;
	for (unsigned i = 0; at != 0 && i < MOST_WAITERS && !has; i++) {
		/* What has been noted is of another. */
		if (gh_numbermap_get(&finder->conds, at) != GH_NOT_MAPPED)
			return false;
		has = at == sudog;
		at = gh_wait_word(dump, at + finder->layout.sudog_next);
	}
	at = has ? first : 0;
	uint32_t place = (uint32_t)finder->cond_addresses.count;
	gh_vector_push(&finder->cond_addresses, list);
	for (unsigned i = 0; at != 0 && i < MOST_WAITERS; i++) {
		if (gh_numbermap_get(&finder->conds, at) != GH_NOT_MAPPED)
			break;
		finder->failed |= !gh_numbermap_put(&finder->conds, at, place);
		at = gh_wait_word(dump, at + finder->layout.sudog_next);
	}
	return has;
}

/* The address of the list of the condition that SUDOG is in; 0 if it is not found. Until Go 1.25
 * the sudog does not tell; but the frame of sync.(*Cond).Wait, at DEPTH, has the condition. */
static uint64_t find_list(struct gh_wait_finder *finder, const struct gh_wait *wait, uint64_t sudog,
			  size_t depth)
{
	const struct gh_dump *dump = finder->dump;
	uint64_t list = gh_wait_word(dump, sudog + finder->layout.sudog_elem);
	if (list != 0)
		return list;
	uint32_t place = gh_numbermap_get(&finder->conds, sudog);
	if (place != GH_NOT_MAPPED)
		return finder->cond_addresses.items[place];
	struct gh_stack_scan scan = gh_stack_scan_start(dump, wait->goroutine, depth, 2);
	uint64_t word;
	while (gh_stack_scan_next(&scan, &word))
		if (word != 0 && word % dump->word == 0 &&
		    note_list(finder, word + 2 * dump->word, sudog))
			return word + 2 * dump->word;
	return 0;
}

/* The address of what has the semaphore at SEMA. A wait group in which the counter would not have
 * been aligned has its semaphore first (to Go 1.19). */
static uint64_t object_of(enum gh_wait_kind kind, uint64_t sema, uint8_t word)
{
	switch (kind) {
	case GH_WAIT_MUTEX:
		return sema - MUTEX_SEMA;
	case GH_WAIT_RWMUTEX_READ:
		return sema - RWMUTEX_READER_SEMA;
	case GH_WAIT_RWMUTEX_WRITE:
		return sema - RWMUTEX_WRITER_SEMA;
	case GH_WAIT_WAITGROUP:
		return sema % 8 == 0 ? sema - WAITGROUP_SEMA : sema;
	case GH_WAIT_COND:
		return sema - 2 * word;
	case GH_WAIT_SEMAPHORE:
	case GH_WAIT_OTHER:
	case GH_WAIT_SEND:
	case GH_WAIT_RECEIVE:
	case GH_WAIT_SELECT:
	case GH_WAIT_SLEEP:
	case GH_WAIT_DESCRIPTOR:
	case GH_WAIT_SYSCALL:
		break;
	}
	return sema;
}

bool gh_sync_wait_find(struct gh_wait_finder *finder, struct gh_wait *wait,
		       const struct gh_dump_goroutine *goroutine)
{
	const struct gh_dump *dump = finder->dump;
	size_t depth = GH_DUMP_NONE;
	const struct acquirer *found = acquirers;
	const struct acquirer *end = acquirers + sizeof(acquirers) / sizeof(*acquirers);
	for (; found < end; found++) {
		depth = gh_wait_frame_find(dump, wait->goroutine, FRAMES, found->name);
		if (depth != GH_DUMP_NONE &&
		    (found->caller == NULL ||
		     gh_wait_frame_is(dump, wait->goroutine, depth + 1, found->caller)))
			break;
	}
	if (found == end)
		return false;
	wait->kind = found->kind;
	uint64_t sudog = find_sudog(finder, wait, goroutine->g, depth);
	uint64_t sema = 0;
	wait->sudog = sudog;
	if (sudog != 0 && found->kind == GH_WAIT_COND)
		sema = find_list(finder, wait, sudog, depth + 1);
	else if (sudog != 0)
		sema = gh_wait_word(dump, sudog + finder->layout.sudog_elem);
	wait->object = sema != 0 ? object_of(wait->kind, sema, dump->word) : 0;
	struct gh_waits *waits = finder->waits;
	if (wait->kind == GH_WAIT_RWMUTEX_WRITE && wait->object != 0 &&
	    gh_numbermap_get(&waits->writers, wait->object) == GH_NOT_MAPPED)
		finder->failed |=
		    !gh_numbermap_put(&waits->writers, wait->object, (uint32_t)waits->list.count);
	/* The first field of an RWMutex is the mutex that its writers wait for first. */
	size_t caller = gh_wait_frame_find(dump, wait->goroutine, FRAMES, "sync.(*RWMutex).Lock");
	if (wait->kind == GH_WAIT_MUTEX && caller != GH_DUMP_NONE && caller <= depth + 3)
		wait->kind = GH_WAIT_RWMUTEX_WRITE;
	return true;
}

/* Types Mutex and RWMutex in src/sync: once a writer waits, the count of readers is negative, and
 * another tells how many it waits for. */
struct gh_mutex_state gh_mutex_state(const struct gh_waits *waits, const struct gh_wait *wait)
{
	const struct gh_dump *dump = waits->dump;
	struct gh_cursor cur;
	struct gh_mutex_state state = {0};
	if (wait->object == 0 ||
	    (dump->memory == NULL && !gh_dump_memory(dump, wait->object, &cur)))
		return state;
	state.locked = (gh_wait_uint(dump, wait->object, 4) & 1) != 0;
	if (wait->kind != GH_WAIT_MUTEX) {
		uint64_t at = wait->object + RWMUTEX_READER_COUNT;
		int32_t count = (int32_t)gh_wait_uint(dump, at, 4);
		uint32_t departing = (uint32_t)gh_wait_uint(dump, at + 4, 4);
		state.readers = count < 0 ? departing : (uint32_t)count;
		state.locked = count < 0 && departing == 0;
	}
	state.known = true;
	return state;
}

const struct gh_wait *gh_wait_writer(const struct gh_waits *waits, const struct gh_wait *wait)
{
	uint32_t place = wait->kind == GH_WAIT_RWMUTEX_READ && wait->object != 0
			     ? gh_numbermap_get(&waits->writers, wait->object)
			     : GH_NOT_MAPPED;
	return place != GH_NOT_MAPPED ? &waits->list.items[place] : NULL;
}

/* Type WaitGroup in src/sync/waitgroup.go: the counter is the upper half of a word of 8 bytes. */
bool gh_waitgroup_counter(const struct gh_waits *waits, const struct gh_wait *wait,
			  int32_t *counter)
{
	const struct gh_dump *dump = waits->dump;
	struct gh_cursor cur;
	uint64_t state = wait->object % 8 == 0 ? wait->object : wait->object + 4;
	if (wait->object == 0 || (dump->memory == NULL && !gh_dump_memory(dump, state, &cur)))
		return false;
	*counter = (int32_t)(gh_wait_uint(dump, state, 8) >> 32);
	return true;
}
