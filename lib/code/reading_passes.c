/* Passes over a function's code: what is known where its jumps meet, and how often it is read until
 * that holds. known_values.c reads each instruction. */
#include <stdlib.h>

#include "lib/code/internal.h"
#include "lib/util/bsearch.h"

enum { RAX = 0, RET = 0xc3 };

static struct gh_jump_target *find_target(const struct gh_reading *reading, size_t at)
{
	struct gh_jump_target *targets = reading->targets.items;
	size_t i = gh_lower_bound(reading->targets.count, k, targets[k].at < at);
	return i < reading->targets.count && targets[i].at == at ? &targets[i] : NULL;
}

static void meet(struct gh_reading *reading, struct gh_known *known, const struct gh_known *other)
{
	for (size_t i = 0; i < GH_X86_REGISTERS; i++)
		gh_reading_meet(reading, &known->registers[i], &other->registers[i]);
	gh_reading_meet(reading, &known->argument, &other->argument);
}

static void reach(struct gh_reading *reading, struct gh_jump_target *target)
{
	if (target->is_loop && target->is_next && !reading->settles)
		return;
	if (target->reached)
		meet(reading, &target->known, &reading->known);
	else
		target->known = reading->known;
	reading->changed |= !target->reached;
	target->reached = true;
}

/* Nothing is known but, at the function's first instruction, what its registers are. */
static struct gh_known nothing(const struct gh_reading *reading, size_t at)
{
	struct gh_known known = {0};
	for (uint32_t i = 0; at == 0 && reading->follows && i < GH_X86_REGISTERS; i++)
		known.registers[i] = (struct gh_value){.from = GH_VALUE_ARGUMENT, .number = i};
	return known;
}

/* Control may go elsewhere after INS, which is at AT: what is known there. */
static void leave(struct gh_reading *reading, const struct gh_x86 *ins, size_t at)
{
	struct gh_jump_target *target =
	    gh_x86_is_jump(ins)
		? find_target(reading, at + ins->length + (size_t)(int64_t)ins->immediate)
		: NULL;
	if (target != NULL && !gh_reading_is_in_spills(reading, at))
		reach(reading, target);
	if (target != NULL && target->is_loop && !target->is_next && reading->is_whole &&
	    !reading->has_table && reading->on_jump_back != NULL)
		reading->on_jump_back(reading);
	if (ins->opcode == RET && reading->settles)
		gh_reading_meet(reading, &reading->returned, &reading->known.registers[RAX]);
}

static int compare_slots(const void *a, const void *b)
{
	const struct gh_slot *x = a, *y = b;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* INS, which is at AT and nothing comes to, is there for what follows to be aligned. */
static bool is_padding(const struct gh_reading *reading, const struct gh_x86 *ins, size_t at)
{
	return reading->settles && at > 0 &&
	       (ins->opcode == GH_X86_NOP || ins->opcode == GH_X86_LONG_NOP);
}

/* Reads all of the code once. */
static void read_once(struct gh_reading *reading)
{
	size_t size = gh_cursor_size(&reading->code);
	const uint8_t *code = reading->code.start;
	struct gh_x86 ins;
	struct gh_jump_target *targets = reading->targets.items;
	size_t next = 0;   /* the target that is here, or after it */
	bool dead = false; /* nothing has come here yet */
	reading->frame = reading->pushed = reading->ncalls = 0;
	reading->goes_on = true;
	reading->changed = false;
	reading->known = nothing(reading, 0);
	for (size_t at = 0;
	     at < size && gh_x86_decode(&ins, code + at, size - at, reading->is_64_bit);
	     at += ins.length) {
		while (next < reading->targets.count && targets[next].at < at)
			next++;
		bool is_target = next < reading->targets.count && targets[next].at == at;
		struct gh_jump_target *target = is_target ? &targets[next] : NULL;
		if (target != NULL && reading->goes_on && !dead) {
			target->is_next = true;
			reach(reading, target);
		}
		if (target == NULL && !reading->goes_on && is_padding(reading, &ins, at))
			continue;
		if (target != NULL || !reading->goes_on) {
			dead = reading->settles && at > 0 && target != NULL && !target->reached;
			reading->known = target != NULL && target->reached ? target->known
									   : nothing(reading, at);
		}
		if (!dead) {
			leave(reading, &ins, at);
			gh_reading_step(reading, &ins, at);
		}
		reading->goes_on = !gh_x86_ends(&ins);
	}
}

/* Makes room for each word of the frame that is written. */
static void find_slots(struct gh_reading *reading)
{
	for (size_t i = 0; i < reading->stores.count; i++) {
		const struct gh_store *store = &reading->stores.items[i];
		struct gh_slot slot = {store->at, store->offset, {.from = GH_VALUE_ZERO}};
		if (store->in_frame)
			gh_vector_push(&reading->slots, slot);
	}
	struct gh_slot *slots = reading->slots.items;
	size_t kept = 0;
	if (reading->slots.count > 0)
		qsort(slots, reading->slots.count, sizeof(*slots), compare_slots);
	for (size_t i = 0; i < reading->slots.count; i++)
		if (kept == 0 || slots[kept - 1].offset != slots[i].offset)
			slots[kept++] = slots[i];
	reading->slots.count = kept;
}

void gh_reading_run(struct gh_reading *reading)
{
	reading->is_last = !reading->settles;
	if (reading->settles) {
		find_slots(reading);
		reading->returned.from = GH_VALUE_ZERO;
		/* A table of jumps may lead to any of them. */
		for (size_t i = 0; reading->has_table && i < reading->targets.count; i++)
			reading->targets.items[i].reached = true;
	}
	for (unsigned i = 0; i < GH_READING_PASSES && !reading->is_last; i++) {
		read_once(reading);
		reading->is_last = !reading->changed;
	}
	if (reading->is_last)
		read_once(reading);
	else
		reading->slots.count = 0;
}

void gh_reading_run_again(struct gh_reading *reading)
{
	for (size_t i = 0; i < reading->targets.count; i++)
		reading->targets.items[i].reached &= reading->targets.items[i].is_loop;
	reading->slots.count = 0;
	read_once(reading);
}
