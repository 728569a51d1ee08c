/* Functions that let go of locks that others have taken. */
#include <string.h>

#include "lib/wait/internal.h"

/* What calls more functions is not followed. */
#define MOST_CALLED 4096

/* The functions that one leads to. */
struct walk {
	const struct gh_pclntab *tab;
	struct gh_numbermap seen;           /* by entry */
	struct GH_VECTOR(uint64_t) entries; /* of all of them */
};

/* The kinds of locks that FUNC lets go of itself. */
static unsigned own_kinds(struct gh_lock_code *code, const struct gh_pclntab *tab,
			  const struct gh_func *func)
{
	struct gh_lock_place place = {0};
	unsigned kinds = gh_numbermap_get(&code->own, func->entry);
	if (kinds != GH_NOT_MAPPED)
		return kinds;
	kinds = 0;
	if (gh_lock_calls_any(tab, func) &&
	    !gh_lock_place_find(&place, tab, NULL, func->entry, NULL))
		kinds = GH_LOCK_ALL;
	for (size_t i = 0; i < place.locks.count; i++)
		kinds |= place.locks.items[i].lets_go ? place.locks.items[i].lock : 0;
	gh_lock_place_free(&place);
	return gh_numbermap_put(&code->own, func->entry, kinds) ? kinds : GH_LOCK_ALL;
}

/* A function of the runtime, or of package sync, whose locks are its own. */
static bool is_of_runtime(const char *name)
{
	return strncmp(name, "runtime.", 8) == 0 || strncmp(name, "sync.", 5) == 0 ||
	       strncmp(name, "internal/sync.", 14) == 0;
}

/* Notes the function at ENTRY. False if memory ran out. */
static bool note(struct walk *walk, uint64_t entry)
{
	return gh_numbermap_get(&walk->seen, entry) != GH_NOT_MAPPED ||
	       (gh_numbermap_put(&walk->seen, entry, 0) && gh_vector_push(&walk->entries, entry));
}

/* Notes what FUNC calls. False if memory ran out. */
static bool note_called(struct walk *walk, const struct gh_func *func)
{
	struct gh_callsites sites;
	struct gh_callsite site;
	bool ok = true;
	gh_callsites_in(&sites, walk->tab->image, func->entry, func->end);
	while (ok && gh_callsites_next(&sites, &site))
		ok = !site.direct || note(walk, site.target);
	return ok;
}

static unsigned all_kinds(struct gh_lock_code *code, struct walk *walk)
{
	unsigned kinds = 0;
	for (size_t i = 0; i < walk->entries.count && kinds != GH_LOCK_ALL; i++) {
		struct gh_func func;
		size_t index = gh_pclntab_find(walk->tab, walk->entries.items[i]);
		if (index == SIZE_MAX || !gh_pclntab_func(walk->tab, index, &func, NULL) ||
		    func.entry != walk->entries.items[i] ||
		    is_of_runtime(gh_pclntab_name(walk->tab, func.name)))
			continue;
		kinds |= own_kinds(code, walk->tab, &func);
		if (i == MOST_CALLED || !note_called(walk, &func))
			kinds = GH_LOCK_ALL;
	}
	return kinds;
}

unsigned gh_unlocked_by(struct gh_lock_code *code, const struct gh_pclntab *tab, uint64_t entry)
{
	struct walk walk = {.tab = tab};
	unsigned kinds = gh_numbermap_get(&code->all, entry);
	if (kinds != GH_NOT_MAPPED)
		return kinds;
	kinds = note(&walk, entry) ? all_kinds(code, &walk) : GH_LOCK_ALL;
	gh_numbermap_free(&walk.seen);
	gh_vector_free(&walk.entries);
	return gh_numbermap_put(&code->all, entry, kinds) ? kinds : GH_LOCK_ALL;
}
