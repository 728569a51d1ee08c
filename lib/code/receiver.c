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
	const struct gh_pclntab *tab;
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
	bool in_frame = receiver->from == GH_RECEIVER_FRAME;
	/* One that is found by an argument here may be found by the frame there. */
	bool has_two_forms =
	    finder->reading->slots.count == GH_READING_SLOTS || list->count > GH_READING_STORES;
	if (!receiver->known || has_two_forms || receiver->nloads > (in_frame ? 1 : 0) ||
	    (finder->loops && receiver->nloads > 0))
		return false;
	for (size_t i = 0; receiver->nloads > 0 && i < list->count; i++) {
		const struct gh_store *store = &list->items[i];
		stores += store->in_frame && store->offset == receiver->offsets[0];
	}
	return stores <= 1;
}

/* Says in RECEIVER, at AT, what VALUE is. */
static void convert(struct gh_receiver *receiver, const struct gh_value *value, size_t at)
{
	*receiver = (struct gh_receiver){.at = at, .known = true, .nloads = value->nloads};
	switch (value->from) {
	case GH_VALUE_FRAME:
		receiver->from = GH_RECEIVER_FRAME;
		break;
	case GH_VALUE_GLOBAL:
		receiver->from = GH_RECEIVER_GLOBAL;
		break;
	case GH_VALUE_ARGUMENT:
		receiver->from = GH_RECEIVER_ARGUMENT;
		receiver->reg = (uint8_t)value->number;
		break;
	default:
		receiver->known = false;
	}
	memcpy(receiver->offsets, value->offsets, sizeof(receiver->offsets));
}

static void add(struct finder *finder, const struct gh_value *value, size_t at, bool is_call)
{
	struct gh_receiver receiver;
	convert(&receiver, value, at);
	receiver.is_call = is_call;
	gh_vector_push(&finder->receivers->list, receiver);
}

static void pass(struct finder *finder, uint8_t reg, const struct gh_value *value, size_t at)
{
	struct gh_passed passed = {.reg = reg};
	convert(&passed.value, value, at);
	if (passed.value.known)
		gh_vector_push(&finder->receivers->passed, passed);
}

/* Adds what is passed by the call at AT, whose instruction says in RM what it calls, unless it
 * names it. */
static void add_passed(struct finder *finder, size_t at, bool direct)
{
	const struct gh_reading *reading = finder->reading;
	size_t size = gh_cursor_size(&reading->code);
	struct gh_x86 ins;
	if (!reading->in_registers)
		return;
	for (uint8_t i = 0; i < GH_X86_REGISTERS; i++)
		pass(finder, i, &reading->known.registers[i], at);
	if (!direct &&
	    gh_x86_decode(&ins, reading->code.start + at, size - at, reading->is_64_bit) &&
	    gh_x86_in_register(&ins))
		pass(finder, GH_PASSED_CALLEE, &reading->known.registers[gh_x86_rm(&ins)], at);
}

/* The function at ENTRY keeps all registers. */
static bool keeps_registers(const struct gh_pclntab *tab, uint64_t entry)
{
	struct gh_func func;
	return entry != 0 && gh_pclntab_at(tab, entry, &func) &&
	       gh_keeps_registers(gh_pclntab_name(tab, func.name));
}

static bool take_call(struct gh_reading *reading, size_t at, uint64_t callee)
{
	static const struct gh_value unknown;
	struct finder *finder = reading->context;
	const struct gh_known *known = &reading->known;
	if (!finder->calls_known)
		add(finder, &unknown, at, true);
	else
		add(finder, reading->in_registers ? &known->registers[0] : &known->argument, at,
		    true);
	add_passed(finder, at, callee != 0);
	return keeps_registers(finder->tab, callee);
}

static void take_locked(struct gh_reading *reading, size_t at, const struct gh_value *address)
{
	add(reading->context, address, at, false);
}

/* Keeps what the words that are written once hold of arguments. */
static void keep_slots(struct finder *finder)
{
	for (size_t i = 0; i < finder->reading->slots.count; i++) {
		const struct gh_slot *slot = &finder->reading->slots.items[i];
		struct gh_kept kept = {.at = slot->at, .offset = slot->offset};
		convert(&kept.value, &slot->value, slot->at);
		if (kept.value.known && kept.value.from == GH_RECEIVER_ARGUMENT)
			gh_vector_push(&finder->receivers->kept, kept);
	}
}

/* Says what RECEIVER is by the argument, if the word of the frame that it is by has that. */
static void name_argument(const struct gh_receivers *receivers, struct gh_receiver *receiver)
{
	size_t i = 0;
	const struct gh_kept *kept = receivers->kept.items;
	if (!receiver->known || receiver->from != GH_RECEIVER_FRAME || receiver->nloads == 0)
		return;
	while (i < receivers->kept.count &&
	       (kept[i].offset != receiver->offsets[0] || kept[i].value.nloads > 0))
		i++;
	if (i == receivers->kept.count)
		return;
	receiver->from = GH_RECEIVER_ARGUMENT;
	receiver->reg = kept[i].value.reg;
	receiver->nloads--;
	for (unsigned k = 0; k <= receiver->nloads; k++)
		receiver->offsets[k] = receiver->offsets[k + 1];
	receiver->offsets[0] += kept[i].value.offsets[0];
}

/* Brings the receivers into one form each, when all words that are written once are known. */
static void name_arguments(struct finder *finder)
{
	struct gh_receivers *receivers = finder->receivers;
	for (size_t i = 0; i < receivers->list.count; i++) {
		name_argument(receivers, &receivers->list.items[i]);
		receivers->list.items[i].is_lasting = is_lasting(finder, &receivers->list.items[i]);
	}
	for (size_t i = 0; i < receivers->passed.count; i++)
		name_argument(receivers, &receivers->passed.items[i].value);
}

bool gh_receivers_find(struct gh_receivers *receivers, const struct gh_pclntab *tab,
		       const struct gh_func *func)
{
	struct gh_reading reading = {
	    .prefers_frame = true, .on_call = take_call, .on_locked = take_locked};
	struct finder finder = {.receivers = receivers, .reading = &reading, .tab = tab};
	*receivers = (struct gh_receivers){0};
	reading.context = &finder;
	bool ok = true;
	if (gh_reading_start(&reading, tab, func) && reading.branches.count <= MOST_BRANCHES) {
		finder.calls_known = !reading.is_64_bit || tab->format != GH_PCLNTAB_1_16;
		reading.follows = reading.in_registers;
		ok = find_loops(&finder);
		if (ok)
			gh_reading_run(&reading);
	}
	keep_slots(&finder);
	name_arguments(&finder);
	ok = ok && !gh_reading_failed(&reading) && !receivers->list.failed &&
	     !receivers->passed.failed && !receivers->kept.failed;
	receivers->stores = reading.stores;
	reading.stores = (struct gh_store_list){0};
	gh_reading_free(&reading);
	return ok;
}

void gh_receivers_free(struct gh_receivers *receivers)
{
	gh_vector_free(&receivers->list);
	gh_vector_free(&receivers->passed);
	gh_vector_free(&receivers->kept);
	gh_vector_free(&receivers->stores);
}
