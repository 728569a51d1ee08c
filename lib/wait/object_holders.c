#include <stdlib.h>

#include "lib/wait/internal.h"

/* GOROUTINE, which waits for WAIT, waits for what is at ADDRESS. */
static bool waits_for(const struct gh_waits *waits, const struct gh_wait *wait, uint64_t address)
{
	if (wait == NULL)
		return false;
	for (size_t i = 0; i < wait->ncases; i++)
		if (waits->channels.items[waits->cases.items[wait->first + i].channel].address ==
		    address)
			return true;
	return wait->ncases == 0 && wait->object == address;
}

/* Notes that GOROUTINE, which waits for WAIT, has what its stack has pointers to. SEEN has, by
 * place, the number of the last goroutine that has it, plus one. */
static void note_stack(struct gh_object_holders *holders, size_t *seen,
		       const struct gh_waits *waits, const struct gh_wait *wait, size_t goroutine)
{
	const struct gh_dump_stack *stack = gh_dump_stack(waits->dump, goroutine);
	for (size_t depth = 0; depth < stack->nframes; depth++) {
		struct gh_frame_pointers walk;
		uint64_t word;
		gh_frame_pointers_start(&walk, waits->dump, stack->first_frame + depth);
		while (gh_frame_pointers_next(&walk, &word)) {
			uint32_t place = gh_numbermap_get(&holders->places, word);
			if (place == GH_NOT_MAPPED || seen[place] == goroutine + 1 ||
			    waits_for(waits, wait, word))
				continue;
			seen[place] = goroutine + 1;
			if (holders->list.items[place].count++ == 0)
				holders->list.items[place].first = goroutine;
		}
	}
}

static void add_object(struct gh_object_holders *holders, uint64_t address)
{
	if (gh_numbermap_get(&holders->places, address) != GH_NOT_MAPPED)
		return;
	holders->list.failed |=
	    !gh_numbermap_put(&holders->places, address, (uint32_t)holders->list.count);
	gh_vector_push(&holders->list, (struct gh_object_holder){0});
}

bool gh_object_holders_find(struct gh_object_holders *holders, const struct gh_waits *waits)
{
	*holders = (struct gh_object_holders){0};
	for (size_t i = 0; i < waits->channels.count; i++)
		add_object(holders, waits->channels.items[i].address);
	for (size_t i = 0; i < waits->list.count; i++) {
		const struct gh_wait *wait = &waits->list.items[i];
		if (wait->object != 0 &&
		    (wait->kind == GH_WAIT_WAITGROUP || wait->kind == GH_WAIT_COND))
			add_object(holders, wait->object);
	}
	size_t *seen = calloc(holders->list.count + 1, sizeof(*seen));
	bool ok = seen != NULL && !holders->list.failed;
	size_t next = 0;
	for (size_t i = 0; ok && i < waits->dump->stacks.count; i++) {
		const struct gh_wait *wait = NULL;
		if (next < waits->list.count && waits->list.items[next].goroutine == i)
			wait = &waits->list.items[next++];
		note_stack(holders, seen, waits, wait, i);
	}
	free(seen);
	return ok;
}

struct gh_object_holder gh_object_holders_at(const struct gh_object_holders *holders,
					     uint64_t address)
{
	uint32_t place = gh_numbermap_get(&holders->places, address);
	return place != GH_NOT_MAPPED ? holders->list.items[place] : (struct gh_object_holder){0};
}

void gh_object_holders_free(struct gh_object_holders *holders)
{
	gh_numbermap_free(&holders->places);
	gh_vector_free(&holders->list);
}
