/* Where the receivers of the methods that a function calls are. */
#include <stdlib.h>
#include <string.h>

#include "lib/code/internal.h"
#include "lib/util/bsearch.h"

/* Of functions with more, nothing is found. */
#define MOST_BRANCHES 4096

struct offsets GH_VECTOR(size_t);

struct finder {
	struct gh_receivers *receivers;
	struct gh_reading *reading;
	bool loops;       /* something may be done twice */
	bool calls_known; /* it is known where calls' first arguments are */
};

/* Whether branch GOAL is come to from the instruction at AT. SEEN, of each branch, is false. */
static bool comes_to(const struct gh_reading *reading, size_t at, size_t goal, bool *seen,
		     struct offsets *left)
{
	const struct gh_branch *branches = reading->branches.items;
	size_t count = reading->branches.count;
	left->count = 0;
	gh_vector_push(left, at);
	while (left->count > 0) {
		size_t from = left->items[--left->count];
		size_t i = gh_lower_bound(count, k, branches[k].at < from);
		for (bool goes_on = true; goes_on && i < count && !seen[i]; i++) {
			seen[i] = true;
			goes_on = branches[i].goes_on;
			if (branches[i].to != SIZE_MAX)
				gh_vector_push(left, branches[i].to);
		}
	}
	return seen[goal] || left->failed;
}

/* Finds whether something may be done twice. A jump back may be from code that was put at the end,
 * as it is seldom run; one to the start is there to make the stack larger. False if memory ran out.
 */
static bool find_loops(struct finder *finder)
{
	const struct gh_reading *reading = finder->reading;
	size_t count = reading->branches.count;
	bool *seen = malloc(count + 1);
	struct offsets left = {0};
	for (size_t i = 0; seen != NULL && i < count && !finder->loops; i++) {
		const struct gh_branch *branch = &reading->branches.items[i];
		if (branch->to > branch->at || branch->to == 0)
			continue;
		memset(seen, 0, count);
		finder->loops = comes_to(reading, branch->to, i, seen, &left);
	}
	free(seen);
	gh_vector_free(&left);
	return seen != NULL;
}

/* Whether what leads to RECEIVER is there as long as the function runs. */
static bool is_lasting(const struct finder *finder, const struct gh_receiver *receiver)
{
	const struct gh_store_list *list = &finder->reading->stores;
	size_t stores = 0;
	if (finder->loops || receiver->nloads > (receiver->is_global ? 0 : 1))
		return false;
	for (size_t i = 0; receiver->nloads > 0 && i < list->count; i++) {
		const struct gh_store *store = &list->items[i];
		stores += store->in_frame && store->offset == receiver->offsets[0];
	}
	return stores <= 1;
}

static void add(struct finder *finder, const struct gh_value *value, size_t at, bool is_call)
{
	struct gh_receiver receiver = {.at = at,
				       .is_call = is_call,
				       .known = value->from != GH_VALUE_UNKNOWN,
				       .is_global = value->from == GH_VALUE_GLOBAL,
				       .nloads = value->nloads};
	memcpy(receiver.offsets, value->offsets, sizeof(receiver.offsets));
	receiver.is_lasting = receiver.known && is_lasting(finder, &receiver);
	gh_vector_push(&finder->receivers->list, receiver);
}

static bool take_call(struct gh_reading *reading, size_t at, uint64_t callee)
{
	static const struct gh_value unknown;
	struct finder *finder = reading->context;
	const struct gh_known *known = &reading->known;
	(void)callee;
	if (!finder->calls_known)
		add(finder, &unknown, at, true);
	else
		add(finder, reading->in_registers ? &known->registers[0] : &known->argument, at,
		    true);
	return false;
}

static void take_locked(struct gh_reading *reading, size_t at, const struct gh_value *address)
{
	add(reading->context, address, at, false);
}

bool gh_receivers_find(struct gh_receivers *receivers, const struct gh_pclntab *tab,
		       const struct gh_func *func)
{
	struct gh_reading reading = {.on_call = take_call, .on_locked = take_locked};
	struct finder finder = {.receivers = receivers, .reading = &reading};
	*receivers = (struct gh_receivers){0};
	reading.context = &finder;
	bool ok = true;
	if (gh_reading_start(&reading, tab, func) && reading.branches.count <= MOST_BRANCHES) {
		finder.calls_known = !reading.is_64_bit || tab->format != GH_PCLNTAB_1_16;
		ok = find_loops(&finder);
		if (ok)
			gh_reading_run(&reading);
	}
	ok = ok && !gh_reading_failed(&reading) && !receivers->list.failed;
	receivers->stores = reading.stores;
	reading.stores = (struct gh_store_list){0};
	gh_reading_free(&reading);
	return ok;
}

void gh_receivers_free(struct gh_receivers *receivers)
{
	gh_vector_free(&receivers->list);
	gh_vector_free(&receivers->stores);
}
