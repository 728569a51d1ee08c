/* Who has all other goroutines stop, or waits to, and those that have not stopped. */
#include <string.h>

#include "lib/wait/internal.h"

/* Frames in which functions are looked for that stop the world, or wait to. */
#define FRAMES 16

static bool find_function(const struct gh_pclntab *tab, const char *name, struct gh_func *func)
{
	for (size_t i = 0; i < tab->nfunc; i++)
		if (gh_pclntab_record(tab, i, func, NULL) &&
		    strcmp(gh_pclntab_name(tab, func->name), name) == 0)
			return true;
	return false;
}

static bool refers_to(const struct gh_global_refs *refs, uint64_t address)
{
	size_t count;
	const struct gh_global_ref *ref = gh_global_refs_before(refs, address, &count);
	return ref != NULL && ref->address == address;
}

/* The address of runtime.sched's field gcwaiting, of 1 byte or 4, behind which stopwait is, of 4,
 * and then stopnote, of a word: what stops the world refers to all three. 0 if it is not found, or
 * there are several. */
static uint64_t find_gcwaiting(const struct gh_global_refs *refs, uint8_t word)
{
	uint64_t found = 0;
	for (size_t i = 0; i < refs->count; i++) {
		uint64_t address = refs->items[i].address;
		if (address == found || address % word != 0 || !refers_to(refs, address + 4) ||
		    !refers_to(refs, address + 8))
			continue;
		if (found != 0)
			return 0;
		found = address;
	}
	return found;
}

/* The depth of the last of the first frames of goroutine NUMBER that is of one of the functions
 * NAMES; GH_DUMP_NONE if none is. */
static size_t find_frame(const struct gh_dump *dump, size_t number, const char *const *names)
{
	size_t last = GH_DUMP_NONE;
	for (; *names != NULL; names++) {
		size_t depth = gh_wait_frame_find(dump, number, FRAMES, *names);
		if (depth != GH_DUMP_NONE && (last == GH_DUMP_NONE || depth > last))
			last = depth;
	}
	return last;
}

static const char *const collects[] = {"runtime.gcStart", "runtime.gcMarkDone",
				       "runtime.gcMarkTermination", NULL};
static const char *const stops[] = {"runtime.stopTheWorld", "runtime.stopTheWorldGC", NULL};
static const char *const parks[] = {"runtime.semacquire*", NULL};

enum gh_stop gh_stop_of(const struct gh_dump *dump, size_t number, size_t *reason)
{
	size_t stopping = find_frame(dump, number, stops);
	bool collecting = find_frame(dump, number, collects) != GH_DUMP_NONE;
	*reason = stopping != GH_DUMP_NONE && !collecting ? stopping + 1 : GH_DUMP_NONE;
	if (stopping == GH_DUMP_NONE && !collecting)
		return GH_STOPS_NOTHING;
	if (find_frame(dump, number, parks) == GH_DUMP_NONE)
		return GH_STOPS;
	return collecting ? GH_WAITS_TO_COLLECT : GH_WAITS_TO_STOP;
}

/* Finds who stops the world, and those that run and have not stopped. False if memory ran out. */
static bool find_goroutines(struct gh_world *world, const struct gh_dump *dump)
{
	struct gh_dump_record record;
	size_t stoppers = 0, reason;
	for (size_t i = 0; i < dump->stacks.count; i++) {
		gh_dump_get(dump, GH_DUMP_GOROUTINE, i, &record);
		uint64_t status = record.goroutine.status;
		if (status != GH_DUMP_RUNNING && status != GH_DUMP_WAITING)
			continue;
		if (gh_stop_of(dump, i, &reason) == GH_STOPS) {
			world->stopper = i;
			world->reason = reason;
			stoppers++;
		} else if (status == GH_DUMP_RUNNING)
			gh_vector_push(&world->running, i);
	}
	if (stoppers != 1)
		world->stopper = GH_DUMP_NONE;
	if (world->running.count != world->left)
		world->running.count = 0;
	return !world->running.failed;
}

bool gh_world_find(struct gh_world *world, const struct gh_dump *dump,
		   const struct gh_module *module, struct gh_error *err)
{
	struct gh_global_refs refs = {0};
	struct gh_func func;
	*world = (struct gh_world){.stopper = GH_DUMP_NONE};
	if (!find_function(module->tab, "runtime.stopTheWorldWithSema", &func))
		return true;
	bool ok = gh_global_refs_of(&refs, module->tab, &func);
	uint64_t waiting = ok ? find_gcwaiting(&refs, dump->word) : 0;
	gh_global_refs_free(&refs);
	if (waiting != 0 && gh_wait_uint(dump, waiting + module->bias, 1) == 1)
		world->left = (uint32_t)gh_wait_uint(dump, waiting + module->bias + 4, 4);
	/* No program has more processors than that. */
	if (world->left > INT16_MAX)
		world->left = 0;
	if (world->left > 0)
		ok = find_goroutines(world, dump);
	return ok || gh_fail_memory(err, dump->path);
}

void gh_world_free(struct gh_world *world)
{
	gh_vector_free(&world->running);
}
