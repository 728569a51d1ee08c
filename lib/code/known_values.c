/* What registers hold at each instruction of a function, where that does not depend on how control
 * came there. */
#include <stdlib.h>
#include <string.h>

#include "lib/code/internal.h"
#include "lib/util/bsearch.h"

enum {
	RAX = 0,
	ADD_IMMEDIATE_8 = 0x83,
	ADD_IMMEDIATE = 0x81,
	CMPXCHG = 0x0fb1,
	XADD = 0x0fc1,
	REX_W = 8,
	SUBTRACTS = 0x28, /* in ModRM's field */
};

/* The operands of INS are as large as pointers. */
static bool is_word(const struct gh_reading *reading, const struct gh_x86 *ins)
{
	return reading->is_64_bit ? (ins->rex & REX_W) != 0 : !ins->short_operands;
}

static struct gh_jump_target *find_target(const struct gh_reading *reading, size_t at)
{
	struct gh_jump_target *targets = reading->targets.items;
	size_t i = gh_lower_bound(reading->targets.count, k, targets[k].at < at);
	return i < reading->targets.count && targets[i].at == at ? &targets[i] : NULL;
}

static bool is_same(const struct gh_value *a, const struct gh_value *b)
{
	return a->from == b->from && a->number == b->number && a->nloads == b->nloads &&
	       memcmp(a->offsets, b->offsets, (a->nloads + 1U) * sizeof(*a->offsets)) == 0;
}

/* Leaves in KNOWN what OTHER knows as well. */
static void meet(struct gh_known *known, const struct gh_known *other)
{
	for (size_t i = 0; i < GH_X86_REGISTERS; i++)
		if (!is_same(&known->registers[i], &other->registers[i]))
			known->registers[i].from = GH_VALUE_UNKNOWN;
	if (!is_same(&known->argument, &other->argument))
		known->argument.from = GH_VALUE_UNKNOWN;
}

static void reach(struct gh_jump_target *target, const struct gh_known *known)
{
	if (target->reached)
		meet(&target->known, known);
	else
		target->known = *known;
	target->reached = true;
}

/* The address of the operand in memory of INS, which ends at END. */
static struct gh_value address_of(const struct gh_reading *reading, const struct gh_x86 *ins,
				  size_t end)
{
	struct gh_x86_memory memory = gh_x86_memory(ins);
	struct gh_value value = {.from = GH_VALUE_FRAME};
	if (gh_x86_in_register(ins) || memory.index != GH_X86_NO_REGISTER)
		return (struct gh_value){0};
	if (memory.is_relative) {
		value.from = GH_VALUE_GLOBAL;
		value.offsets[0] = reading->is_64_bit ? (int64_t)(reading->entry + end) : 0;
	} else if (memory.base == GH_X86_NO_REGISTER) {
		return (struct gh_value){0};
	} else if (memory.base != GH_X86_SP) {
		value = reading->known.registers[memory.base];
	}
	value.offsets[value.nloads] += ins->displacement;
	return value;
}

/* The word of the frame that is OFFSET bytes above SP is written in one place, and what it holds is
 * known by what that writes. */
static const struct gh_slot *find_slot(const struct gh_reading *reading, int64_t offset)
{
	for (size_t i = 0; i < reading->slots.count; i++)
		if (reading->slots.items[i].offset == offset)
			return &reading->slots.items[i];
	return NULL;
}

/* What is at the address VALUE. */
static struct gh_value load(const struct gh_reading *reading, struct gh_value value)
{
	bool is_slot = value.nloads == 0 && value.from == GH_VALUE_FRAME;
	const struct gh_slot *slot =
	    is_slot && !reading->prefers_frame ? find_slot(reading, value.offsets[0]) : NULL;
	if (slot != NULL)
		return slot->value;
	if (value.from == GH_VALUE_UNKNOWN || value.nloads == GH_RECEIVER_LOADS ||
	    (is_slot && value.offsets[0] < reading->frame - reading->below))
		return (struct gh_value){0};
	value.offsets[++value.nloads] = 0;
	return value;
}

/* Forgets what was loaded from the frame's slot SLOT on its way. */
static void forget_slot(struct gh_known *known, int64_t slot)
{
	for (size_t i = 0; i <= GH_X86_REGISTERS; i++) {
		struct gh_value *value =
		    i < GH_X86_REGISTERS ? &known->registers[i] : &known->argument;
		if (value->from == GH_VALUE_FRAME && value->nloads > 0 && value->offsets[0] == slot)
			value->from = GH_VALUE_UNKNOWN;
	}
}

/* The instruction at AT stores VALUE in the frame at OFFSET: it stays there if nothing else is. */
static void note_slot(struct gh_reading *reading, size_t at, int64_t offset,
		      const struct gh_value *value)
{
	size_t stores = 0;
	if (reading->slots.count == GH_READING_SLOTS || reading->stores.count > GH_READING_STORES)
		return;
	for (size_t i = 0; i < reading->stores.count && stores < 2; i++)
		stores +=
		    reading->stores.items[i].in_frame && reading->stores.items[i].offset == offset;
	if (stores == 1)
		gh_vector_push(&reading->slots, (struct gh_slot){at, offset, *value});
}

/* It is better known where VALUE is kept than what it is. */
static bool is_vague(const struct gh_reading *reading, const struct gh_value *value)
{
	return reading->prefers_frame && (value->from == GH_VALUE_RESULT ||
					  (value->from == GH_VALUE_ARGUMENT && value->nloads > 0));
}

static void store(struct gh_reading *reading, const struct gh_x86 *ins, size_t at)
{
	struct gh_known *known = &reading->known;
	bool is_pointer = ins->opcode == GH_X86_MOV_FROM_REGISTER && is_word(reading, ins);
	struct gh_value *value = &known->registers[gh_x86_reg(ins)];
	forget_slot(known, ins->displacement);
	forget_slot(known, ins->displacement + gh_x86_second_word(ins));
	if (ins->displacement == 0)
		known->argument = is_pointer ? *value : (struct gh_value){0};
	if (!is_pointer || !reading->in_registers)
		return;
	if (reading->follows && value->from != GH_VALUE_UNKNOWN &&
	    !gh_reading_is_in_spills(reading, at))
		note_slot(reading, at, ins->displacement, value);
	if (value->from != GH_VALUE_UNKNOWN && !is_vague(reading, value))
		return;
	/* From now on it can be found there. */
	struct gh_value kept = {.from = GH_VALUE_FRAME};
	kept.offsets[0] = ins->displacement;
	kept = load(reading, kept);
	if (kept.from != GH_VALUE_UNKNOWN || value->from == GH_VALUE_UNKNOWN)
		*value = kept;
}

/* INS, which ends at END, may store a word elsewhere. */
static void store_elsewhere(struct gh_reading *reading, const struct gh_x86 *ins, size_t end)
{
	const struct gh_value *value = &reading->known.registers[gh_x86_reg(ins)];
	if (reading->on_store == NULL || ins->opcode != GH_X86_MOV_FROM_REGISTER ||
	    !is_word(reading, ins) || gh_x86_in_register(ins) || value->from == GH_VALUE_UNKNOWN)
		return;
	struct gh_value address = address_of(reading, ins, end);
	if (address.from != GH_VALUE_UNKNOWN)
		reading->on_store(reading, &address, value);
}

/* Notes what INS, which is at AT, leaves in registers. */
static void compute(struct gh_reading *reading, const struct gh_x86 *ins, size_t at)
{
	struct gh_value *registers = reading->known.registers;
	unsigned does = gh_x86_effects(ins);
	bool is_pointer = is_word(reading, ins);
	bool in_register = gh_x86_in_register(ins);
	struct gh_value *reg = &registers[gh_x86_reg(ins)];
	struct gh_value *rm = &registers[gh_x86_rm(ins)];
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
		rm->offsets[rm->nloads] += ins->immediate;
	else if (does & GH_X86_WRITES_OPCODE)
		registers[(ins->opcode & 7U) | (ins->rex & 1U) << 3].from = GH_VALUE_UNKNOWN;
	else if ((does & GH_X86_WRITES_RM) != 0 && in_register)
		rm->from = GH_VALUE_UNKNOWN;
	else if ((does & GH_X86_WRITES_REG) != 0)
		reg->from = GH_VALUE_UNKNOWN;
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
static void grow_frame(struct gh_reading *reading, const struct gh_x86 *ins)
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

/* Nothing is known but, at the function's first instruction, what its registers are. */
static struct gh_known nothing(const struct gh_reading *reading, size_t at)
{
	struct gh_known known = {0};
	for (uint32_t i = 0; at == 0 && reading->follows && i < GH_X86_REGISTERS; i++)
		known.registers[i] = (struct gh_value){.from = GH_VALUE_ARGUMENT, .number = i};
	return known;
}

/* The instruction INS, which is at AT, calls. */
static void call(struct gh_reading *reading, const struct gh_x86 *ins, size_t at)
{
	uint64_t callee = ins->opcode == GH_X86_CALL ? reading->entry + at + ins->length +
							   (uint64_t)(int64_t)ins->immediate
						     : 0;
	uint32_t number = reading->ncalls;
	if (reading->on_call(reading, at, callee))
		return;
	reading->ncalls++;
	reading->known = (struct gh_known){0};
	if (reading->follows)
		reading->known.registers[RAX] =
		    (struct gh_value){.from = GH_VALUE_RESULT, .number = number};
}

/* INS moves SP, and the frame's words are elsewhere from there. */
static void move_sp(struct gh_reading *reading, const struct gh_x86 *ins)
{
	struct gh_known *known = &reading->known;
	grow_frame(reading, ins);
	if (!reading->follows) {
		*known = (struct gh_known){0};
		return;
	}
	for (size_t i = 0; i < GH_X86_REGISTERS; i++)
		if (known->registers[i].from == GH_VALUE_FRAME)
			known->registers[i].from = GH_VALUE_UNKNOWN;
	/* POP */
	if (ins->opcode >= 0x58 && ins->opcode <= 0x5f)
		known->registers[(ins->opcode & 7U) | (ins->rex & 1U) << 3].from = GH_VALUE_UNKNOWN;
}

/* Reads the instruction INS, which is at AT. */
static void step(struct gh_reading *reading, const struct gh_x86 *ins, size_t at)
{
	struct gh_known *known = &reading->known;
	bool is_locked = ins->opcode == CMPXCHG || ins->opcode == XADD;
	struct gh_jump_target *target =
	    gh_x86_is_jump(ins)
		? find_target(reading, at + ins->length + (size_t)(int64_t)ins->immediate)
		: NULL;
	if (target != NULL && !target->is_loop)
		reach(target, known);
	if (ins->opcode == GH_X86_CALL ||
	    (ins->opcode == GH_X86_GROUP_5 && (ins->modrm & GH_X86_REG) == GH_X86_GROUP_5_CALL)) {
		call(reading, ins, at);
	} else if (is_locked && ins->other_prefix) {
		struct gh_value address = address_of(reading, ins, at + ins->length);
		if (reading->on_locked != NULL)
			reading->on_locked(reading, at, &address);
		known->registers[ins->opcode == CMPXCHG ? RAX : gh_x86_reg(ins)].from =
		    GH_VALUE_UNKNOWN;
	} else if (moves_sp(ins)) {
		move_sp(reading, ins);
	} else if ((gh_x86_effects(ins) == 0 && !is_vector(ins))) {
		*known = (struct gh_known){0};
	} else if (gh_x86_is_at_sp(ins) && gh_x86_writes_memory(ins)) {
		store(reading, ins, at);
	} else if (!gh_x86_is_jcc(ins)) {
		store_elsewhere(reading, ins, at + ins->length);
		compute(reading, ins, at);
	}
}

void gh_reading_run(struct gh_reading *reading)
{
	size_t size = gh_cursor_size(&reading->code);
	const uint8_t *code = reading->code.start;
	struct gh_x86 ins;
	for (size_t at = 0;
	     at < size && gh_x86_decode(&ins, code + at, size - at, reading->is_64_bit);
	     at += ins.length) {
		struct gh_jump_target *target = find_target(reading, at);
		if (target != NULL && !target->is_loop && reading->goes_on)
			reach(target, &reading->known);
		if (target != NULL || !reading->goes_on)
			reading->known = target != NULL && target->reached ? target->known
									   : nothing(reading, at);
		step(reading, &ins, at);
		reading->goes_on = !gh_x86_ends(&ins);
	}
}

bool gh_reading_start(struct gh_reading *reading, const struct gh_pclntab *tab,
		      const struct gh_func *func)
{
	enum gh_isa isa = tab->image->arch->isa;
	struct gh_stackmaps maps;
	if ((isa != GH_ISA_AMD64 && isa != GH_ISA_386) ||
	    !gh_image_at(tab->image, func->entry, &reading->code))
		return false;
	reading->code = gh_cursor_slice(&reading->code, 0, func->end - func->entry);
	gh_stackmaps_find(&maps, tab, func);
	reading->entry = func->entry;
	reading->below = (int64_t)maps.locals.nbits * maps.word + maps.above_locals;
	reading->is_64_bit = isa == GH_ISA_AMD64;
	reading->in_registers = isa == GH_ISA_AMD64 && tab->format >= GH_PCLNTAB_1_18;
	gh_reading_survey(reading, tab);
	return true;
}

bool gh_reading_failed(const struct gh_reading *reading)
{
	return reading->branches.failed || reading->stores.failed || reading->targets.failed ||
	       reading->slots.failed;
}

void gh_reading_free(struct gh_reading *reading)
{
	gh_vector_free(&reading->branches);
	gh_vector_free(&reading->targets);
	gh_vector_free(&reading->stores);
	gh_vector_free(&reading->slots);
}
