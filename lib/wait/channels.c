#include <stdlib.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/util/bsearch.h"
#include "lib/wait/internal.h"

struct finder {
	struct gh_channel_makers *makers;
	const struct gh_pclntab *tab;
	const struct gh_rtypes *types;
	uint64_t entries[2];      /* of the functions that make channels; 0: it is not there */
	struct gh_numbermap made; /* types of channels to the places of their makers */
	struct GH_VECTOR(bool) several; /* by maker */
	struct gh_sourcemap map;
	bool generic; /* some call makes channels of the type that a dictionary has */
	bool unknown; /* or of one that is not known */
	bool failed;
};

static int compare(const void *a, const void *b)
{
	const struct gh_channel_maker *x = a, *y = b;
	return (x->elem_type > y->elem_type) - (x->elem_type < y->elem_type);
}

/* The place of the maker for elements of the type at ADDRESS; the number of makers if there is
 * none. */
static size_t find_maker(const struct gh_channel_makers *makers, uint64_t address)
{
	size_t i = gh_lower_bound(makers->count, k, makers->items[k].elem_type < address);
	return i < makers->count && makers->items[i].elem_type == address ? i : makers->count;
}

/* Adds a maker for each type of elements, and finds the types of channels that it makes. */
static void find_types(struct finder *finder, const struct gh_waits *waits, uint64_t bias)
{
	struct gh_channel_makers *makers = finder->makers;
	size_t count = 0;
	for (size_t i = 0; i < waits->channels.count; i++)
		gh_vector_push(makers, ((struct gh_channel_maker){
					   .elem_type = waits->channels.items[i].elem_type}));
	if (makers->failed || makers->count == 0)
		return;
	qsort(makers->items, makers->count, sizeof(*makers->items), compare);
	for (size_t i = 0; i < makers->count; i++)
		if (count == 0 || compare(&makers->items[count - 1], &makers->items[i]) != 0)
			makers->items[count++] = makers->items[i];
	makers->count = count;
	for (size_t i = 0; i < count; i++)
		gh_vector_push(&finder->several, false);
	for (uint32_t i = 0; i < finder->types->count; i++) {
		const struct gh_rtype *type = &finder->types->items[i];
		uint32_t elem =
		    type->kind == GH_KIND_CHAN ? gh_rtype_elem(finder->types, type) : GH_NO_RTYPE;
		if (elem == GH_NO_RTYPE)
			continue;
		size_t maker = find_maker(makers, finder->types->items[elem].address + bias);
		if (maker < count)
			finder->failed |=
			    !gh_numbermap_put(&finder->made, type->address, (uint32_t)maker);
	}
}

/* Finds the functions that make channels. */
static void find_entries(struct finder *finder)
{
	static const char *const names[] = {"runtime.makechan", "runtime.makechan64"};
	struct gh_func func;
	for (size_t i = 0; i < finder->tab->nfunc; i++) {
		if (!gh_pclntab_record(finder->tab, i, &func, NULL))
			continue;
		const char *name = gh_pclntab_name(finder->tab, func.name);
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
			if (strcmp(name, names[k]) == 0)
				finder->entries[k] = func.entry;
		finder->unknown |= strcmp(name, "runtime.reflect_makechan") == 0 ||
				   strcmp(name, "reflect.makechan") == 0 ||
				   strcmp(name, "plugin.open") == 0;
	}
}

static bool makes_channel(const struct finder *finder, const struct gh_callsite *site)
{
	return site->direct && site->target != 0 &&
	       (site->target == finder->entries[0] || site->target == finder->entries[1]);
}

/* The innermost calls at FIRST and SECOND, in any functions, are of one line. */
static bool is_same_line(struct finder *finder, uint64_t first, uint64_t second)
{
	const uint64_t pcs[] = {first, second};
	struct gh_frame frames[2];
	for (size_t i = 0; i < 2; i++) {
		struct gh_func func;
		struct gh_range range;
		size_t index = gh_pclntab_find(finder->tab, pcs[i]);
		if (index == SIZE_MAX || !gh_pclntab_func(finder->tab, index, &func, NULL))
			return false;
		if (!gh_sourcemap_start(&finder->map, finder->tab, &func)) {
			finder->failed = true;
			return false;
		}
		if (!gh_sourcemap_seek(&finder->map, pcs[i], &range))
			return false;
		frames[i] = range.frames[0];
	}
	return frames[0].line == frames[1].line &&
	       strcmp(gh_pclntab_name(finder->tab, frames[0].name),
		      gh_pclntab_name(finder->tab, frames[1].name)) == 0;
}

/* The call at PC makes a channel of the type whose descriptor is at TYPE. */
static void note_call(struct finder *finder, uint64_t pc, uint64_t type)
{
	uint32_t place = gh_numbermap_get(&finder->made, type);
	if (place == GH_NOT_MAPPED)
		return;
	struct gh_channel_maker *maker = &finder->makers->items[place];
	if (maker->pc == 0)
		maker->pc = pc;
	else if (!finder->several.items[place])
		finder->several.items[place] = !is_same_line(finder, maker->pc, pc);
}

/* Notes the calls that FUNC has. What they make is the type that the code refers to between the
 * call before and theirs. */
static void read_function(struct finder *finder, const struct gh_func *func)
{
	const struct gh_moduledata *module = &finder->tab->module;
	bool is_generic = strchr(gh_pclntab_name(finder->tab, func->name), '[') != NULL;
	struct gh_callsites walk;
	struct gh_callsite site;
	uint64_t before = func->entry;
	gh_callsites_in(&walk, finder->tab->image, func->entry, func->end);
	while (gh_callsites_next(&walk, &site)) {
		uint64_t pc = func->entry + site.start;
		bool is_call = gh_callsites_check(&walk, &site, 0);
		if (makes_channel(finder, &site)) {
			uint64_t at;
			uint64_t type = gh_global_ref_last(finder->tab, func->entry, pc,
							   module->types, module->etypes, &at);
			if (is_call && at > before)
				note_call(finder, pc, type);
			else if (is_generic)
				finder->generic = true;
			else
				finder->unknown = true;
		}
		if (is_call)
			before = func->entry + site.end;
	}
}

/* Finds the types that a dictionary may have: their addresses are in the program's data. */
static void read_data(struct finder *finder)
{
	const struct gh_image *image = finder->tab->image;
	const struct gh_moduledata *module = &finder->tab->module;
	unsigned word = finder->tab->pointer_size;
	for (size_t i = 0; i < image->nloads; i++) {
		const GElf_Phdr *segment = image->loads[i];
		struct gh_cursor data;
		if ((segment->p_flags & PF_X) != 0 || !gh_image_at(image, segment->p_vaddr, &data))
			continue;
		for (uint64_t at = segment->p_vaddr; gh_cursor_left(&data) >= word; at += word) {
			uint64_t type = gh_cursor_uint(&data, word);
			bool is_type = type - module->types < module->etypes - module->types;
			/* Types have pointers to types. */
			if (!is_type || at - module->types < module->etypes - module->types)
				continue;
			uint32_t place = gh_numbermap_get(&finder->made, type);
			if (place != GH_NOT_MAPPED)
				finder->several.items[place] = true;
		}
	}
}

static void read_code(struct finder *finder)
{
	struct gh_func func;
	for (size_t i = 0; i < finder->tab->nfunc && !finder->unknown && !finder->failed; i++) {
		struct gh_callsites walk;
		struct gh_callsite site;
		bool makes = false;
		if (!gh_pclntab_record(finder->tab, i, &func, NULL) ||
		    strncmp(gh_pclntab_name(finder->tab, func.name), "runtime.makechan", 16) == 0)
			continue;
		gh_callsites_in(&walk, finder->tab->image, func.entry, func.end);
		while (!makes && gh_callsites_next(&walk, &site))
			makes = makes_channel(finder, &site);
		if (makes)
			read_function(finder, &func);
	}
}

bool gh_channel_makers_find(struct gh_channel_makers *makers, const struct gh_waits *waits,
			    const struct gh_pclntab *tab, const struct gh_rtypes *types,
			    uint64_t bias, struct gh_error *err)
{
	*makers = (struct gh_channel_makers){0};
	struct finder finder = {.makers = makers, .tab = tab, .types = types};
	find_types(&finder, waits, bias);
	find_entries(&finder);
	if (!makers->failed && !finder.several.failed && makers->count > 0)
		read_code(&finder);
	if (finder.generic && !finder.unknown && !finder.several.failed)
		read_data(&finder);
	bool failed = makers->failed || finder.several.failed || finder.failed;
	for (size_t i = 0; !failed && i < makers->count; i++)
		if (finder.unknown || finder.several.items[i])
			makers->items[i].pc = 0;
	gh_numbermap_free(&finder.made);
	gh_vector_free(&finder.several);
	gh_sourcemap_free(&finder.map);
	return !failed || gh_fail_memory(err, waits->dump->path);
}

uint64_t gh_channel_maker(const struct gh_channel_makers *makers, const struct gh_channel *channel)
{
	size_t i = find_maker(makers, channel->elem_type);
	return i < makers->count ? makers->items[i].pc : 0;
}

void gh_channel_makers_free(struct gh_channel_makers *makers)
{
	gh_vector_free(makers);
}
