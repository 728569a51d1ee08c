#include "lib/profile/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/util/bsearch.h"
#include "lib/util/hash.h"

/* The most bytes of items for each byte of the program's file. */
#define MOST_PER_BYTE 4

uint64_t gh_linestack_start(const char *function, size_t length)
{
	return gh_hash_bytes(GH_HASH_START, function, length);
}

uint64_t gh_linestack_add(uint64_t hash, uint64_t line_hash)
{
	return gh_hash_bytes(hash, &line_hash, sizeof(line_hash));
}

uint64_t gh_linestack_line(const char *file, size_t length, uint64_t line)
{
	return gh_hash_bytes(gh_hash_bytes(GH_HASH_START, file, length), &line, sizeof(line));
}

struct addresses GH_VECTOR(uint64_t);

/* The program's code being taken in. */
struct building {
	const struct gh_pclntab *tab;
	struct gh_linestacks *items;
	struct addresses allocators; /* entries of the functions that call mallocgc */
	struct addresses returns;    /* where the function's calls of those return to */
	uint64_t name;               /* hash of the function's name */
};

static bool is_in(const struct addresses *addresses, uint64_t address)
{
	size_t first = gh_lower_bound(addresses->count, i, addresses->items[i] < address);
	return first < addresses->count && addresses->items[first] == address;
}

static uint64_t find_mallocgc(const struct gh_pclntab *tab)
{
	struct gh_func func;
	for (size_t i = 0; i < tab->nfunc; i++)
		if (gh_pclntab_record(tab, i, &func, NULL) &&
		    strcmp(gh_pclntab_name(tab, func.name), "runtime.mallocgc") == 0)
			return func.entry;
	return 0;
}

/* What calls the allocator is not in the stacks of most releases: they begin with its caller. */
static void find_allocators(struct building *building)
{
	const struct gh_pclntab *tab = building->tab;
	struct gh_func func;
	uint64_t mallocgc = find_mallocgc(tab);
	for (size_t i = 0; mallocgc != 0 && i < tab->nfunc; i++) {
		struct gh_callsites walk;
		struct gh_callsite site = {.target = 0};
		if (!gh_pclntab_record(tab, i, &func, NULL))
			continue;
		gh_callsites_in(&walk, tab->image, func.entry, func.end);
		while (site.target != mallocgc && gh_callsites_next(&walk, &site))
			;
		if (site.target == mallocgc)
			gh_vector_push(&building->allocators, func.entry);
	}
}

static void find_returns(struct building *building, const struct gh_func *func)
{
	struct gh_callsites walk;
	struct gh_callsite site;
	building->returns.count = 0;
	gh_callsites_in(&walk, building->tab->image, func->entry, func->end);
	while (gh_callsites_next(&walk, &site)) {
		if (site.direct && is_in(&building->allocators, site.target))
			gh_vector_push(&building->returns, func->entry + site.end);
	}
}

/* A call that allocates returns to RANGE, from within it. */
static bool allocates(const struct building *building, const struct gh_range *range)
{
	const uint64_t *returns = building->returns.items;
	size_t count = building->returns.count;
	size_t past_start = gh_lower_bound(count, i, returns[i] <= range->start);
	return past_start < count && returns[past_start] < range->end;
}

static uint64_t frame_hash(const struct gh_pclntab *tab, const struct gh_frame *frame)
{
	const char *file = gh_pclntab_file(tab, frame->file);
	/* As the dumper writes an int32. */
	return gh_linestack_line(file, strlen(file), (uint64_t)(int64_t)frame->line);
}

static void add_item(struct building *building, struct gh_linestack item)
{
	if (building->items->count * sizeof(item) / MOST_PER_BYTE < building->tab->image->size)
		gh_vector_push(building->items, item);
}

/* Adds RANGE by the lines of its frames, with those of wrappers or without. */
static void add_range(struct building *building, const struct gh_range *range, bool wrappers)
{
	struct gh_linestack item = {
	    .hash = building->name,
	    .start = range->start,
	    .kind = GH_LINESTACK_PART,
	    .wrappers = wrappers,
	};
	bool added = false;
	for (unsigned i = 0; i < range->nframes; i++) {
		const struct gh_frame *frame = &range->frames[i];
		if (!wrappers && gh_frame_is_wrapper(building->tab, frame))
			continue;
		if (added)
			add_item(building, item);
		item.hash = gh_linestack_add(item.hash, frame_hash(building->tab, frame));
		added = true;
	}
	if (!added)
		return;
	item.kind = GH_LINESTACK_ALL;
	add_item(building, item);
	item.kind = GH_LINESTACK_ALLOCATES;
	if (allocates(building, range))
		add_item(building, item);
}

/* Adds RANGE by the innermost line of the range that is NEXT, and those of its outer frames. */
static void add_return(struct building *building, const struct gh_range *range,
		       const struct gh_range *next)
{
	uint64_t hash = gh_linestack_add(building->name, frame_hash(building->tab, next->frames));
	bool first = true;
	for (unsigned i = 0; i < range->nframes; i++) {
		if (gh_frame_is_wrapper(building->tab, &range->frames[i]))
			continue;
		if (!first)
			hash = gh_linestack_add(hash, frame_hash(building->tab, &range->frames[i]));
		first = false;
	}
	struct gh_linestack item = {.hash = hash, .start = range->start};
	item.kind =
	    is_in(&building->returns, range->end) ? GH_LINESTACK_RETURNS : GH_LINESTACK_MAY_RETURN;
	if (!first)
		add_item(building, item);
}

/* The runtime leaves wrappers out of a stack unless they panic. */
static void add_ranges(struct building *building, const struct gh_range *range,
		       const struct gh_range *next)
{
	bool has_wrapper = false;
	for (unsigned i = 0; i < range->nframes; i++)
		has_wrapper |= gh_frame_is_wrapper(building->tab, &range->frames[i]);
	add_range(building, range, false);
	if (has_wrapper)
		add_range(building, range, true);
	if (next != NULL)
		add_return(building, range, next);
}

static bool add_function(struct building *building, struct gh_sourcemap *map,
			 const struct gh_func *func)
{
	struct gh_range ranges[2];
	bool had = false;
	unsigned current = 0;
	if (!gh_sourcemap_start(map, building->tab, func))
		return false;
	find_returns(building, func);
	for (; gh_sourcemap_next(map, &ranges[current]); current = !current, had = true)
		if (had)
			add_ranges(building, &ranges[!current], &ranges[current]);
	if (had)
		add_ranges(building, &ranges[!current], NULL);
	return !building->items->failed && !building->returns.failed;
}

static bool add_functions(struct building *building, const struct gh_intern *names)
{
	const struct gh_pclntab *tab = building->tab;
	struct gh_sourcemap map = {0};
	struct gh_func func;
	find_allocators(building);
	bool added = !building->allocators.failed;
	for (size_t i = 0; added && i < tab->nfunc; i++) {
		if (!gh_pclntab_record(tab, i, &func, NULL))
			continue;
		const char *name = gh_pclntab_name(tab, func.name);
		size_t length = strlen(name);
		if (gh_intern_find(names, name, length) == GH_INTERN_NONE ||
		    !gh_pclntab_func(tab, i, &func, NULL))
			continue;
		building->name = gh_linestack_start(name, length);
		added = add_function(building, &map, &func);
	}
	gh_sourcemap_free(&map);
	gh_vector_free(&building->allocators);
	gh_vector_free(&building->returns);
	return added;
}

static int compare(const void *a, const void *b)
{
	const struct gh_linestack *first = a;
	const struct gh_linestack *second = b;
	if (first->hash != second->hash)
		return first->hash < second->hash ? -1 : 1;
	if (first->kind != second->kind)
		return first->kind < second->kind ? -1 : 1;
	return (first->start > second->start) - (first->start < second->start);
}

bool gh_linestacks_build(struct gh_linestacks *stacks, const struct gh_pclntab *tab,
			 const struct gh_intern *names)
{
	struct building building = {.tab = tab, .items = stacks};
	*stacks = (struct gh_linestacks){0};
	if (!add_functions(&building, names))
		return false;
	if (stacks->count > 0)
		qsort(stacks->items, stacks->count, sizeof(*stacks->items), compare);
	return true;
}

struct gh_linestack *gh_linestacks_find(const struct gh_linestacks *stacks, uint64_t hash,
					enum gh_linestack_kind kind)
{
	struct gh_linestack key = {.hash = hash, .kind = kind};
	size_t first = gh_lower_bound(stacks->count, i, compare(&stacks->items[i], &key) < 0);
	if (first == stacks->count)
		return NULL;
	struct gh_linestack *found = &stacks->items[first];
	return found->hash == hash && found->kind == kind ? found : NULL;
}
