#include <stdlib.h>
#include <string.h>

#include "lib/code/internal.h"
#include "lib/util/bsearch.h"

#define NREGISTERS 16

/* Of functions with more, nothing is found. */
#define MOST_BRANCHES 4096

/* What a register holds, if that is known, as a receiver is told. */
struct value {
	struct gh_receiver from;
	bool known;
};

struct state {
	struct value registers[NREGISTERS];
	struct value argument; /* the word at SP, the first argument where none is in a register */
};

/* A place that is jumped to, and what is known there by the jumps before it. */
struct target {
	size_t at;
	bool reached;
	bool is_loop; /* it is jumped to from there or after it */
	struct state state;
};

/* An instruction after which another may come than the next. */
struct branch {
	size_t at;
	size_t to;    /* where it jumps; SIZE_MAX: nowhere in the function */
	bool goes_on; /* or to the next */
};

struct offsets GH_VECTOR(size_t);

struct reading {
	struct gh_receivers *receivers;
	uint64_t entry; /* address of the code */
	struct GH_VECTOR(struct target) targets;
	struct GH_VECTOR(struct branch) branches;
	struct state state;
	int64_t frame;     /* bytes from SP to the frame's end; 0 before the prologue ends */
	int64_t pushed;    /* bytes that were, before that */
	int64_t below;     /* bytes from the frame's end down to its first local that may be a
			      pointer: below is what calls are given, and give, which changes */
	bool is_64_bit;    /* mode */
	bool in_registers; /* arguments are passed in them */
	bool calls_known;  /* it is known whether they are */
	bool loops;        /* something may be done twice */
	bool goes_on;      /* the next instruction is come to from the last one */
};

enum {
	RAX = 0,
	ADD_IMMEDIATE_8 = 0x83,
	ADD_IMMEDIATE = 0x81,
	CMPXCHG = 0x0fb1,
	XADD = 0x0fc1,
	REX_W = 8,
	SUBTRACTS = 0x28, /* in ModRM's field */
	RET = 0xc3,
	UD2 = 0x0f0b,
};

/* The operands of INS are as large as pointers. */
static bool is_word(const struct reading *reading, const struct gh_x86 *ins)
{
	return reading->is_64_bit ? (ins->rex & REX_W) != 0 : !ins->short_operands;
}

static bool is_jcc(const struct gh_x86 *ins)
{
	return (ins->opcode >= 0x70 && ins->opcode <= 0x7f) ||
	       (ins->opcode >= 0x0f80 && ins->opcode <= 0x0f8f);
}

static bool is_jump(const struct gh_x86 *ins)
{
	return ins->opcode == GH_X86_JMP || ins->opcode == GH_X86_JMP_8 || is_jcc(ins);
}

/* The instruction after INS is come to only by jumps. */
static bool ends(const struct gh_x86 *ins)
{
	return ins->opcode == RET || ins->opcode == UD2 || (is_jump(ins) && !is_jcc(ins));
}

static bool writes_memory(const struct gh_x86 *ins)
{
	return (gh_x86_effects(ins) & GH_X86_WRITES_RM) != 0 || ins->opcode == GH_X86_MOV_FROM_XMM;
}

/* How far the last word that INS writes to memory is from the first. */
static int64_t second_word(const struct gh_x86 *ins)
{
	return ins->opcode == GH_X86_MOV_FROM_XMM ? 8 : 0;
}

static int compare_targets(const void *a, const void *b)
{
	const struct target *x = a, *y = b;
	return (x->at > y->at) - (x->at < y->at);
}

/* Notes the words that INS, which ends at END, writes, or takes the address of in the frame. */
static void note_stores(struct reading *reading, const struct gh_x86 *ins, size_t at, size_t end)
{
	struct gh_store store = {
	    .at = at, .in_frame = gh_x86_is_at_sp(ins), .offset = ins->displacement};
	bool takes_address = ins->opcode == GH_X86_LEA && store.in_frame;
	if (gh_x86_in_register(ins) || !(writes_memory(ins) || takes_address))
		return;
	if (reading->is_64_bit && gh_x86_memory(ins).is_relative)
		store.offset += (int64_t)(reading->entry + end);
	gh_vector_push(&reading->receivers->stores, store);
	if (second_word(ins) == 0)
		return;
	store.offset += second_word(ins);
	gh_vector_push(&reading->receivers->stores, store);
}

/* Finds where the code branches, and the words that it writes. */
static void survey(struct reading *reading, const struct gh_cursor *code)
{
	size_t size = gh_cursor_size(code);
	struct gh_x86 ins;
	for (size_t at = 0;
	     at < size && gh_x86_decode(&ins, code->start + at, size - at, reading->is_64_bit);
	     at += ins.length) {
		struct branch branch = {.at = at, .to = SIZE_MAX, .goes_on = is_jcc(&ins)};
		if (is_jump(&ins))
			branch.to = at + ins.length + (size_t)(int64_t)ins.immediate;
		if (is_jump(&ins) || ends(&ins))
			gh_vector_push(&reading->branches, branch);
		else
			note_stores(reading, &ins, at, at + ins.length);
	}
}

/* Finds the places that are jumped to. */
static void find_targets(struct reading *reading)
{
	struct target *targets;
	size_t kept = 0;
	for (size_t i = 0; i < reading->branches.count; i++) {
		const struct branch *branch = &reading->branches.items[i];
		if (branch->to != SIZE_MAX)
			gh_vector_push(&reading->targets,
				       ((struct target){.at = branch->to,
							.is_loop = branch->to <= branch->at}));
	}
	targets = reading->targets.items;
	if (reading->targets.count > 0)
		qsort(targets, reading->targets.count, sizeof(*targets), compare_targets);
	for (size_t i = 0; i < reading->targets.count; i++) {
		if (kept > 0 && targets[kept - 1].at == targets[i].at)
			targets[kept - 1].is_loop |= targets[i].is_loop;
		else
			targets[kept++] = targets[i];
	}
	reading->targets.count = kept;
}

/* Whether branch GOAL is come to from the instruction at AT. SEEN, of each branch, is false. */
static bool comes_to(const struct reading *reading, size_t at, size_t goal, bool *seen,
		     struct offsets *left)
{
	const struct branch *branches = reading->branches.items;
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
static bool find_loops(struct reading *reading)
{
	size_t count = reading->branches.count;
	bool *seen = malloc(count + 1);
	struct offsets left = {0};
	for (size_t i = 0; seen != NULL && i < count && !reading->loops; i++) {
		const struct branch *branch = &reading->branches.items[i];
		if (branch->to > branch->at || branch->to == 0)
			continue;
		memset(seen, 0, count);
		reading->loops = comes_to(reading, branch->to, i, seen, &left);
	}
	free(seen);
	gh_vector_free(&left);
	return seen != NULL;
}

static struct target *find_target(const struct reading *reading, size_t at)
{
	struct target *targets = reading->targets.items;
	size_t i = gh_lower_bound(reading->targets.count, k, targets[k].at < at);
	return i < reading->targets.count && targets[i].at == at ? &targets[i] : NULL;
}

static bool is_same(const struct value *a, const struct value *b)
{
	const struct gh_receiver *x = &a->from, *y = &b->from;
	return a->known && b->known && x->is_global == y->is_global && x->nloads == y->nloads &&
	       memcmp(x->offsets, y->offsets, (x->nloads + 1) * sizeof(*x->offsets)) == 0;
}

/* Leaves in STATE what OTHER knows as well. */
static void meet(struct state *state, const struct state *other)
{
	for (size_t i = 0; i < NREGISTERS; i++)
		state->registers[i].known = is_same(&state->registers[i], &other->registers[i]);
	state->argument.known = is_same(&state->argument, &other->argument);
}

static void reach(struct target *target, const struct state *state)
{
	if (target->reached)
		meet(&target->state, state);
	else
		target->state = *state;
	target->reached = true;
}

/* The address of the operand in memory of INS, which ends at END. */
static struct value address_of(const struct reading *reading, const struct gh_x86 *ins, size_t end)
{
	struct gh_x86_memory memory = gh_x86_memory(ins);
	struct value value = {.known = true};
	if (gh_x86_in_register(ins) || memory.index != GH_X86_NO_REGISTER)
		return (struct value){0};
	if (memory.is_relative) {
		value.from.is_global = true;
		value.from.offsets[0] = reading->is_64_bit ? (int64_t)(reading->entry + end) : 0;
	} else if (memory.base == GH_X86_NO_REGISTER) {
		return (struct value){0};
	} else if (memory.base != GH_X86_SP) {
		value = reading->state.registers[memory.base];
	}
	value.from.offsets[value.from.nloads] += ins->displacement;
	return value;
}

/* What is at the address VALUE. */
static struct value load(const struct reading *reading, struct value value)
{
	const struct gh_receiver *from = &value.from;
	bool is_slot = from->nloads == 0 && !from->is_global;
	if (from->nloads == GH_RECEIVER_LOADS ||
	    (is_slot && from->offsets[0] < reading->frame - reading->below))
		return (struct value){0};
	value.from.offsets[++value.from.nloads] = 0;
	return value;
}

/* VALUE was loaded from the frame's slot SLOT on its way. */
static bool is_from(const struct value *value, int64_t slot)
{
	return value->known && !value->from.is_global && value->from.nloads > 0 &&
	       value->from.offsets[0] == slot;
}

static void forget_slot(struct state *state, int64_t slot)
{
	for (size_t i = 0; i < NREGISTERS; i++)
		if (is_from(&state->registers[i], slot))
			state->registers[i].known = false;
	if (is_from(&state->argument, slot))
		state->argument.known = false;
}

static void store(struct reading *reading, const struct gh_x86 *ins)
{
	struct state *state = &reading->state;
	bool is_pointer = ins->opcode == GH_X86_MOV_FROM_REGISTER && is_word(reading, ins);
	struct value *value = &state->registers[gh_x86_reg(ins)];
	forget_slot(state, ins->displacement);
	forget_slot(state, ins->displacement + second_word(ins));
	if (ins->displacement == 0)
		state->argument = is_pointer ? *value : (struct value){0};
	if (!is_pointer || value->known || !reading->in_registers)
		return;
	/* From now on it can be found there. */
	*value = (struct value){.known = true};
	value->from.offsets[0] = ins->displacement;
	*value = load(reading, *value);
}

/* Whether what leads to RECEIVER is there as long as the function runs. */
static bool is_lasting(const struct reading *reading, const struct gh_receiver *receiver)
{
	size_t stores = 0;
	if (reading->loops || receiver->nloads > (receiver->is_global ? 0 : 1))
		return false;
	for (size_t i = 0; receiver->nloads > 0 && i < reading->receivers->stores.count; i++) {
		const struct gh_store *store = &reading->receivers->stores.items[i];
		stores += store->in_frame && store->offset == receiver->offsets[0];
	}
	return stores <= 1;
}

static void add(struct reading *reading, struct value value, size_t at, bool is_call)
{
	value.from.at = at;
	value.from.is_call = is_call;
	value.from.known = value.known;
	value.from.is_lasting = value.known && is_lasting(reading, &value.from);
	gh_vector_push(&reading->receivers->list, value.from);
}

static void call(struct reading *reading, size_t at)
{
	const struct state *state = &reading->state;
	struct value unknown = {0};
	if (!reading->calls_known)
		add(reading, unknown, at, true);
	else
		add(reading, reading->in_registers ? state->registers[RAX] : state->argument, at,
		    true);
	reading->state = (struct state){0};
}

/* Notes what INS, which is at AT, leaves in registers. */
static void compute(struct reading *reading, const struct gh_x86 *ins, size_t at)
{
	struct value *registers = reading->state.registers;
	unsigned does = gh_x86_effects(ins);
	bool is_pointer = is_word(reading, ins);
	bool in_register = gh_x86_in_register(ins);
	struct value *reg = &registers[gh_x86_reg(ins)];
	struct value *rm = &registers[gh_x86_rm(ins)];
	bool adds = (ins->opcode == ADD_IMMEDIATE || ins->opcode == ADD_IMMEDIATE_8) &&
		    (ins->modrm & GH_X86_REG) == 0;
	if (ins->opcode == GH_X86_LEA && is_pointer)
		*reg = address_of(reading, ins, at + ins->length);
	else if (ins->opcode == GH_X86_MOV_LAST && is_pointer)
		*reg =
		    in_register ? *rm : load(reading, address_of(reading, ins, at + ins->length));
	else if (ins->opcode == GH_X86_MOV_FROM_REGISTER && is_pointer && in_register)
		*rm = *reg;
	else if (adds && is_pointer && in_register)
		rm->from.offsets[rm->from.nloads] += ins->immediate;
	else if (does & GH_X86_WRITES_OPCODE)
		registers[(ins->opcode & 7U) | (ins->rex & 1U) << 3].known = false;
	else if ((does & GH_X86_WRITES_RM) != 0 && in_register)
		rm->known = false;
	else if ((does & GH_X86_WRITES_REG) != 0)
		reg->known = false;
}

/* INS moves SP. */
static bool moves_sp(const struct gh_x86 *ins)
{
	unsigned does = gh_x86_effects(ins);
	return ((does & GH_X86_WRITES_RM) != 0 && gh_x86_in_register(ins) &&
		gh_x86_rm(ins) == GH_X86_SP) ||
	       ((does & GH_X86_WRITES_REG) != 0 && gh_x86_reg(ins) == GH_X86_SP) ||
	       (ins->opcode >= 0x50 && ins->opcode <= 0x5f);
}

/* INS, which moves SP, may make room for the frame. */
static void grow_frame(struct reading *reading, const struct gh_x86 *ins)
{
	bool subtracts = (ins->opcode == ADD_IMMEDIATE || ins->opcode == ADD_IMMEDIATE_8) &&
			 (ins->modrm & GH_X86_REG) == SUBTRACTS;
	if (ins->opcode >= 0x50 && ins->opcode <= 0x57)
		reading->pushed += reading->is_64_bit ? 8 : 4;
	else if (subtracts && reading->frame == 0)
		reading->frame = reading->pushed + ins->immediate;
}

/* Instructions with vectors, which change no other register. */
static bool is_vector(const struct gh_x86 *ins)
{
	switch (ins->opcode) {
	case 0x0f10: /* MOVUPS and its like */
	case GH_X86_MOV_FROM_XMM:
	case 0x0f28: /* MOVAPS */
	case 0x0f29:
	case 0x0f57: /* XORPS */
	case 0x0f6f: /* MOVDQA, MOVDQU */
	case 0x0f7f:
	case 0x0fef: /* PXOR */
		return true;
	default:
		return false;
	}
}

/* Reads the instruction INS, which is at AT. */
static void step(struct reading *reading, const struct gh_x86 *ins, size_t at)
{
	struct state *state = &reading->state;
	bool is_locked = ins->opcode == CMPXCHG || ins->opcode == XADD;
	struct target *target =
	    is_jump(ins) ? find_target(reading, at + ins->length + (size_t)(int64_t)ins->immediate)
			 : NULL;
	if (target != NULL && !target->is_loop)
		reach(target, state);
	if (ins->opcode == GH_X86_CALL ||
	    (ins->opcode == GH_X86_GROUP_5 && (ins->modrm & GH_X86_REG) == GH_X86_GROUP_5_CALL)) {
		call(reading, at);
	} else if (is_locked && ins->other_prefix) {
		add(reading, address_of(reading, ins, at + ins->length), at, false);
		state->registers[ins->opcode == CMPXCHG ? RAX : gh_x86_reg(ins)].known = false;
	} else if (moves_sp(ins)) {
		grow_frame(reading, ins);
		*state = (struct state){0};
	} else if ((gh_x86_effects(ins) == 0 && !is_vector(ins))) {
		*state = (struct state){0};
	} else if (gh_x86_is_at_sp(ins) && writes_memory(ins)) {
		store(reading, ins);
	} else if (!is_jcc(ins)) {
		compute(reading, ins, at);
	}
}

static void read_code(struct reading *reading, const struct gh_cursor *code)
{
	size_t size = gh_cursor_size(code);
	struct gh_x86 ins;
	for (size_t at = 0;
	     at < size && gh_x86_decode(&ins, code->start + at, size - at, reading->is_64_bit);
	     at += ins.length) {
		struct target *target = find_target(reading, at);
		if (target != NULL && !target->is_loop && reading->goes_on)
			reach(target, &reading->state);
		if (target != NULL || !reading->goes_on)
			reading->state =
			    target != NULL && target->reached ? target->state : (struct state){0};
		step(reading, &ins, at);
		reading->goes_on = !ends(&ins);
	}
}

bool gh_receivers_find(struct gh_receivers *receivers, const struct gh_pclntab *tab,
		       const struct gh_func *func)
{
	struct gh_cursor code;
	struct gh_stackmaps maps;
	*receivers = (struct gh_receivers){0};
	enum gh_isa isa = tab->image->arch->isa;
	if ((isa != GH_ISA_AMD64 && isa != GH_ISA_386) ||
	    !gh_image_at(tab->image, func->entry, &code))
		return true;
	code = gh_cursor_slice(&code, 0, func->end - func->entry);
	gh_stackmaps_find(&maps, tab, func);
	struct reading reading = {
	    .receivers = receivers,
	    .entry = func->entry,
	    .below = (int64_t)maps.locals.nbits * maps.word + maps.above_locals,
	    .is_64_bit = isa == GH_ISA_AMD64,
	    .in_registers = isa == GH_ISA_AMD64 && tab->format >= GH_PCLNTAB_1_18,
	    .calls_known = isa == GH_ISA_386 || tab->format != GH_PCLNTAB_1_16,
	};
	survey(&reading, &code);
	bool ok = !reading.branches.failed && !receivers->stores.failed;
	bool few = reading.branches.count <= MOST_BRANCHES;
	if (ok && few) {
		find_targets(&reading);
		ok = find_loops(&reading) && !reading.targets.failed;
	}
	if (ok && few)
		read_code(&reading, &code);
	gh_vector_free(&reading.branches);
	gh_vector_free(&reading.targets);
	return ok && !receivers->list.failed;
}

void gh_receivers_free(struct gh_receivers *receivers)
{
	gh_vector_free(&receivers->list);
	gh_vector_free(&receivers->stores);
}
