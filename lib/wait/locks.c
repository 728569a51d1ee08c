#include <string.h>

#include "lib/code/code.h"
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
};

struct calls GH_VECTOR(struct call);

static size_t find_method(const struct gh_pclntab *tab, uint32_t name)
{
	const char *text = gh_pclntab_name(tab, name);
	size_t i = 0;
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

static void find_inlined(struct calls *calls, struct gh_sourcemap *map)
{
	struct gh_range range;
	while (gh_sourcemap_next(map, &range))
		for (unsigned i = 0; i + 1 < range.nframes; i++) {
			size_t method = find_method(map->tab, range.frames[i].name);
			if (method < NMETHODS)
				gh_vector_push(calls, (struct call){own_line(&range), method});
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
		if (index == SIZE_MAX || !gh_pclntab_func(tab, index, &callee, NULL) ||
		    callee.entry != site.target)
			continue;
		size_t method = find_method(tab, callee.name);
		if (method < NMETHODS && gh_sourcemap_seek(map, func->entry + site.start, &range))
			gh_vector_push(calls, (struct call){own_line(&range), method});
	}
}

/* CALLS has one that lets go of what method LOCKED takes, between those lines. */
static bool unlocks_between(const struct calls *calls, unsigned lock, int32_t from, int32_t to)
{
	for (size_t i = 0; i < calls->count; i++) {
		const struct call *call = &calls->items[i];
		if (methods[call->method].unlocks && methods[call->method].lock == lock &&
		    call->line >= from && call->line < to)
			return true;
	}
	return false;
}

static unsigned open_at(const struct calls *calls, int32_t line)
{
	unsigned open = 0;
	for (size_t i = 0; i < calls->count; i++) {
		const struct call *call = &calls->items[i];
		unsigned lock = methods[call->method].lock;
		if (!methods[call->method].unlocks && call->line < line &&
		    !unlocks_between(calls, lock, call->line, line))
			open |= lock;
	}
	return open;
}

unsigned gh_locks_open(const struct gh_pclntab *tab, uint64_t pc)
{
	struct gh_func func;
	struct gh_sourcemap map = {0};
	struct gh_range range;
	struct calls calls = {0};
	unsigned open = 0;
	size_t index = gh_pclntab_find(tab, pc);
	if (index == SIZE_MAX || !gh_pclntab_func(tab, index, &func, NULL) ||
	    strncmp(gh_pclntab_name(tab, func.name), "sync.", 5) == 0)
		return 0;
	if (gh_sourcemap_start(&map, tab, &func)) {
		find_inlined(&calls, &map);
		find_called(&calls, &map, &func);
		if (calls.count > 0 && gh_sourcemap_seek(&map, pc, &range))
			open = open_at(&calls, own_line(&range));
	}
	gh_sourcemap_free(&map);
	gh_vector_free(&calls);
	return open;
}
