#include <string.h>

#include "lib/util/bsearch.h"
#include "lib/wait/internal.h"

/* Package sync's methods that take a mutex or let go of it. */
static const struct {
	const char *name;
	unsigned lock;
	bool unlocks;
} methods[] = {
    {"sync.(*Mutex).Lock", GH_LOCK_MUTEX, false},
    {"sync.(*Mutex).TryLock", GH_LOCK_MUTEX, false},
    {"sync.(*Mutex).Unlock", GH_LOCK_MUTEX, true},
    {"sync.(*RWMutex).Lock", GH_LOCK_WRITE, false},
    {"sync.(*RWMutex).TryLock", GH_LOCK_WRITE, false},
    {"sync.(*RWMutex).Unlock", GH_LOCK_WRITE, true},
    {"sync.(*RWMutex).RLock", GH_LOCK_READ, false},
    {"sync.(*RWMutex).TryRLock", GH_LOCK_READ, false},
    {"sync.(*RWMutex).RUnlock", GH_LOCK_READ, true},
};

#define NMETHODS (sizeof(methods) / sizeof(*methods))

/* A call of one, inlined or not. */
struct call {
	int32_t line; /* in the function itself */
	size_t method;
	uint64_t end; /* of an inlined one's range: an address */
	bool known;   /* the receiver is: */
	struct gh_receiver receiver;
};

struct calls {
	struct GH_VECTOR(struct call) list;
	struct gh_receivers receivers; /* of all calls of the function */
	uint64_t entry;                /* the function's */
};

/* What RWMutex's inlined methods lock is its readerCount. */
#define READER_COUNT 16

static size_t find_method(const struct gh_pclntab *tab, uint32_t name)
{
	const char *text = gh_pclntab_name(tab, name);
	size_t i = 0;
	/* From Go 1.24 on, sync's Mutex is one of internal/sync's. */
	if (strncmp(text, "internal/", 9) == 0)
		text += 9;
	if (strncmp(text, "sync.(", 6) != 0)
		return NMETHODS;
	while (i < NMETHODS && strcmp(text, methods[i].name) != 0)
		i++;
	return i;
}

static int32_t own_line(const struct gh_range *range)
{
	return range->frames[range->nframes - 1].line;
}

/* The receiver of the call at ADDRESS. NULL if it is not known. */
static const struct gh_receiver *find_receiver(const struct calls *calls, uint64_t address)
{
	const struct gh_receiver *items = calls->receivers.items;
	size_t at = address - calls->entry;
	size_t i = gh_lower_bound(calls->receivers.count, k, items[k].at < at);
	return i < calls->receivers.count && items[i].at == at && items[i].is_call ? &items[i]
										   : NULL;
}

/* What the last locked instruction of LINE before END locks. It need not be in the ranges of the
 * inlined call that it is of. NULL if it is not known. */
static const struct gh_receiver *find_locked(const struct calls *calls, struct gh_sourcemap *map,
					     int32_t line, uint64_t end)
{
	const struct gh_receiver *items = calls->receivers.items;
	size_t i = gh_lower_bound(calls->receivers.count, k, items[k].at < end - calls->entry);
	struct gh_range range;
	while (i-- > 0)
		if (!items[i].is_call &&
		    gh_sourcemap_seek(map, calls->entry + items[i].at, &range) &&
		    own_line(&range) == line)
			return &items[i];
	return NULL;
}

static void find_inlined(struct calls *calls, struct gh_sourcemap *map)
{
	struct gh_range range;
	while (gh_sourcemap_next(map, &range))
		for (unsigned i = 0; i + 1 < range.nframes; i++) {
			size_t method = find_method(map->tab, range.frames[i].name);
			if (method < NMETHODS)
				gh_vector_push(&calls->list,
					       ((struct call){.line = own_line(&range),
							      .method = method,
							      .end = range.end}));
		}
}

/* Finds what the inlined calls of CALLS lock, all of which are there. */
static void find_all_locked(struct calls *calls, struct gh_sourcemap *map)
{
	for (size_t i = 0; i < calls->list.count; i++) {
		struct call *call = &calls->list.items[i];
		const struct gh_receiver *locked = find_locked(calls, map, call->line, call->end);
		call->known = locked != NULL;
		if (!call->known)
			continue;
		call->receiver = *locked;
		if (methods[call->method].lock != GH_LOCK_MUTEX)
			call->receiver.offsets[locked->nloads] -= READER_COUNT;
	}
}

static void find_called(struct calls *calls, struct gh_sourcemap *map, const struct gh_func *func)
{
	const struct gh_pclntab *tab = map->tab;
	struct gh_callsites walk;
	struct gh_callsite site;
	struct gh_func callee;
	struct gh_range range;
	gh_callsites_in(&walk, tab->image, func->entry, func->end);
	while (gh_callsites_next(&walk, &site)) {
		size_t index = site.direct ? gh_pclntab_find(tab, site.target) : SIZE_MAX;
		uint64_t at = func->entry + site.start;
		if (index == SIZE_MAX || !gh_pclntab_func(tab, index, &callee, NULL) ||
		    callee.entry != site.target)
			continue;
		size_t method = find_method(tab, callee.name);
		if (method >= NMETHODS || !gh_sourcemap_seek(map, at, &range))
			continue;
		struct call call = {.line = own_line(&range), .method = method};
		const struct gh_receiver *receiver = find_receiver(calls, at);
		call.known = receiver != NULL;
		if (call.known)
			call.receiver = *receiver;
		gh_vector_push(&calls->list, call);
	}
}

/* CALL is another range of an inlined call of which the receiver is known. */
static bool is_rest(const struct calls *calls, const struct call *call)
{
	for (size_t i = 0; !call->known && i < calls->list.count; i++) {
		const struct call *other = &calls->list.items[i];
		if (other->line == call->line && other->method == call->method && other->known)
			return true;
	}
	return false;
}

/* The receivers of A and B may be the same mutex. */
static bool can_be_same(const struct call *a, const struct call *b)
{
	const struct gh_receiver *x = &a->receiver, *y = &b->receiver;
	return !a->known || !b->known || !x->is_lasting || !y->is_lasting ||
	       (x->is_global == y->is_global && x->nloads == y->nloads &&
		memcmp(x->offsets, y->offsets, (x->nloads + 1) * sizeof(*x->offsets)) == 0);
}

/* CALLS has one that lets go of what LOCKED may have taken, between that and LINE. */
static bool unlocks_between(const struct calls *calls, const struct call *locked, int32_t line)
{
	for (size_t i = 0; i < calls->list.count; i++) {
		const struct call *call = &calls->list.items[i];
		if (methods[call->method].unlocks &&
		    methods[call->method].lock == methods[locked->method].lock &&
		    call->line >= locked->line && call->line < line && !is_rest(calls, call) &&
		    can_be_same(call, locked))
			return true;
	}
	return false;
}

static void add_open(struct gh_open_locks *out, const struct calls *calls, int32_t line)
{
	for (size_t i = 0; i < calls->list.count; i++) {
		const struct call *call = &calls->list.items[i];
		struct gh_open_lock open = {.lock = methods[call->method].lock,
					    .known = call->known,
					    .receiver = call->receiver};
		if (methods[call->method].unlocks || call->line >= line || is_rest(calls, call) ||
		    unlocks_between(calls, call, line))
			continue;
		gh_vector_push(out, open);
	}
}

bool gh_locks_open(struct gh_open_locks *out, const struct gh_pclntab *tab, uint64_t pc)
{
	struct gh_func func;
	struct gh_sourcemap map = {0};
	struct gh_range range;
	struct calls calls = {0};
	size_t index = gh_pclntab_find(tab, pc);
	if (index == SIZE_MAX || !gh_pclntab_func(tab, index, &func, NULL) ||
	    strncmp(gh_pclntab_name(tab, func.name), "sync.", 5) == 0)
		return true;
	calls.entry = func.entry;
	bool ok = gh_receivers_find(&calls.receivers, tab, &func);
	if (ok && gh_sourcemap_start(&map, tab, &func)) {
		find_inlined(&calls, &map);
		find_all_locked(&calls, &map);
		find_called(&calls, &map, &func);
		if (calls.list.count > 0 && gh_sourcemap_seek(&map, pc, &range))
			add_open(out, &calls, own_line(&range));
	}
	ok = ok && !calls.list.failed && !out->failed;
	gh_sourcemap_free(&map);
	gh_vector_free(&calls.list);
	gh_receivers_free(&calls.receivers);
	return ok;
}
