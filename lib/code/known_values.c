/* What registers hold after each instruction of a function, where that does not depend on how
 * control came there; and, in a reading that settles, what the words of its frame do. */
#include <string.h>

#include "lib/code/internal.h"
#include "lib/util/bsearch.h"

enum {
	RAX = 0,
	XMM_ZERO = 15, /* Go keeps 0 in it */
	XOR_FIRST = 0x31,
	XOR_LAST = 0x33,
	MOV_IMMEDIATE = 0xc7,
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

static bool is_same(const struct gh_value *a, const struct gh_value *b)
{
	return a->from == b->from && a->number == b->number && a->nloads == b->nloads &&
	       memcmp(a->offsets, b->offsets, (a->nloads + 1U) * sizeof(*a->offsets)) == 0;
}

static bool is_address(const struct gh_value *value)
{
	return (value->from == GH_VALUE_FRAME || value->from == GH_VALUE_GLOBAL) &&
	       value->nloads == 0;
}

/* The word of the frame that is OFFSET bytes above SP, if it is written in one place, or in several
 * and READING settles; else NULL. */
static struct gh_slot *find_slot(const struct gh_reading *reading, int64_t offset)
{
	struct gh_slot *slots = reading->slots.items;
	size_t i = 0;
	if (reading->settles)
		i = gh_lower_bound(reading->slots.count, k, slots[k].offset < offset);
	for (; i < reading->slots.count; i++)
		if (slots[i].offset == offset || reading->settles)
			return slots[i].offset == offset ? &slots[i] : NULL;
	return NULL;
}

/* VALUE by the argument that it is led to by, if that is kept in a word of the frame. */
static struct gh_value by_argument(const struct gh_reading *reading, const struct gh_value *value)
{
	const struct gh_slot *slot =
	    reading->prefers_frame && value->from == GH_VALUE_FRAME && value->nloads > 0
		? find_slot(reading, value->offsets[0])
		: NULL;
	if (slot == NULL || slot->value.from != GH_VALUE_ARGUMENT || slot->value.nloads > 0)
		return *value;
	struct gh_value by = slot->value;
	by.nloads = (uint8_t)(value->nloads - 1);
	for (unsigned i = 0; i <= by.nloads; i++)
		by.offsets[i] = value->offsets[i + 1];
	by.offsets[0] += slot->value.offsets[0];
	return by;
}

void gh_reading_meet(struct gh_reading *reading, struct gh_value *value,
		     const struct gh_value *other)
{
	bool weak = reading->settles && is_address(other) && value->from == GH_VALUE_RESULT;
	if (value->from == GH_VALUE_UNKNOWN || other->from == GH_VALUE_ZERO || weak ||
	    is_same(value, other))
		return;
	struct gh_value mine = by_argument(reading, value), theirs = by_argument(reading, other);
	if (is_same(&mine, &theirs)) {
		*value = mine;
		return;
	}
	if (value->from == GH_VALUE_ZERO ||
	    (reading->settles && is_address(value) && other->from == GH_VALUE_RESULT))
		*value = *other;
	else
		value->from = GH_VALUE_UNKNOWN;
	reading->changed = true;
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

/* The instruction at AT writes VALUE to the frame at OFFSET, among others perhaps. */
static void meet_slot(struct gh_reading *reading, size_t at, int64_t offset,
		      const struct gh_value *value)
{
	struct gh_slot *slot = reading->settles && !gh_reading_is_in_spills(reading, at)
				   ? find_slot(reading, offset)
				   : NULL;
	if (slot != NULL)
		gh_reading_meet(reading, &slot->value, value);
}

/* What is at the address VALUE. */
static struct gh_value load(const struct gh_reading *reading, struct gh_value value)
{
	bool is_slot = value.nloads == 0 && value.from == GH_VALUE_FRAME;
	if (is_slot)
		value.number = 0;
	const struct gh_slot *slot =
	    is_slot && !reading->prefers_frame ? find_slot(reading, value.offsets[0]) : NULL;
	if (slot != NULL && slot->value.from != GH_VALUE_UNKNOWN)
		return slot->value;
	if (value.from == GH_VALUE_ZERO)
		return (struct gh_value){.from = GH_VALUE_ZERO};
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

/* The instruction at AT stores VALUE in the frame at OFFSET: it stays there if nothing else is. Of
 * a word that is known by its place, a zero before that does not matter. */
static void note_slot(struct gh_reading *reading, size_t at, int64_t offset,
		      const struct gh_value *value)
{
	size_t stores = 0;
	if (reading->settles || reading->slots.count == GH_READING_SLOTS ||
	    reading->stores.count > GH_READING_STORES)
		return;
	for (size_t i = 0; i < reading->stores.count && stores < 2; i++)
		stores += reading->stores.items[i].in_frame &&
			  reading->stores.items[i].offset == offset &&
			  !(reading->prefers_frame && reading->stores.items[i].is_zero);
	if (stores == 1)
		gh_vector_push(&reading->slots, (struct gh_slot){at, offset, *value});
}

/* It is better known where VALUE is kept than what it is. */
static bool is_vague(const struct gh_reading *reading, const struct gh_value *value)
{
	return reading->prefers_frame && (value->from == GH_VALUE_RESULT ||
					  (value->from == GH_VALUE_ARGUMENT && value->nloads > 0));
}

/* What INS writes to each word of the frame that it writes, if it is no register's value. */
static struct gh_value written_by(const struct gh_reading *reading, const struct gh_x86 *ins)
{
	bool is_zero =
	    (ins->opcode == GH_X86_MOV_FROM_XMM && gh_x86_reg(ins) == XMM_ZERO) ||
	    (ins->opcode == MOV_IMMEDIATE && is_word(reading, ins) && ins->immediate == 0);
	return (struct gh_value){.from = is_zero ? GH_VALUE_ZERO : GH_VALUE_UNKNOWN};
}

static void store(struct gh_reading *reading, const struct gh_x86 *ins, size_t at)
{
	struct gh_known *known = &reading->known;
	bool is_pointer = ins->opcode == GH_X86_MOV_FROM_REGISTER && is_word(reading, ins);
	struct gh_value *value = &known->registers[gh_x86_reg(ins)];
	struct gh_value written = is_pointer ? *value : written_by(reading, ins);
	meet_slot(reading, at, ins->displacement, &written);
	meet_slot(reading, at, ins->displacement + gh_x86_second_word(ins), &written);
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

/* The instruction INS, which is at AT, may store a word elsewhere. */
static void store_elsewhere(struct gh_reading *reading, const struct gh_x86 *ins, size_t at)
{
	const struct gh_value *value = &reading->known.registers[gh_x86_reg(ins)];
	if (ins->opcode != GH_X86_MOV_FROM_REGISTER || !is_word(reading, ins) ||
	    gh_x86_in_register(ins))
		return;
	struct gh_value address = address_of(reading, ins, at + ins->length);
	if (address.from == GH_VALUE_FRAME && address.nloads == 0)
		meet_slot(reading, at, address.offsets[0], value);
	if (reading->on_store != NULL && address.from != GH_VALUE_UNKNOWN &&
	    value->from != GH_VALUE_UNKNOWN)
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
	bool is_zero = (ins->opcode == XOR_FIRST || ins->opcode == XOR_LAST) && in_register &&
		       reg == rm && reading->settles;
	if (ins->opcode == GH_X86_LEA && is_pointer) {
		*reg = address_of(reading, ins, at + ins->length);
		/* Others may write there. */
		if (reg->from == GH_VALUE_FRAME && reg->nloads == 0) {
			meet_slot(reading, at, reg->offsets[0], &(struct gh_value){0});
			reg->number = reading->settles ? (uint32_t)at : 0;
		}
	} else if (is_zero)
		*reg = (struct gh_value){.from = GH_VALUE_ZERO};
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
	case 0x0f2a: /* CVTSI2SD */
	case 0x0f2e: /* UCOMISS */
	case 0x0f6e: /* MOVQ */
	case 0x0f6f: /* MOVDQA, MOVDQU */
	case 0x0f7f:
	case 0x0fd6: /* MOVQ */
	case 0x0fef: /* PXOR */
		return true;
	default:
		return ins->opcode >= 0x0f51 && ins->opcode <= 0x0f5f; /* SQRTPS to MAXPS */
	}
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

void gh_reading_step(struct gh_reading *reading, const struct gh_x86 *ins, size_t at)
{
	struct gh_known *known = &reading->known;
	bool is_locked = ins->opcode == CMPXCHG || ins->opcode == XADD;
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
		store_elsewhere(reading, ins, at);
		compute(reading, ins, at);
	}
}
