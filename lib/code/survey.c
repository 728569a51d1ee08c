/* Where a function's code branches, and which words it writes, before it is read. */
#include <stdlib.h>

#include "lib/code/internal.h"

enum {
	RET = 0xc3,
	PADDING = 0xcc,     /* INT3, between functions */
	GROUP_5_JMP = 0x20, /* through an operand, in ModRM's field */
	UD2 = 0x0f0b,
	XMM_ZERO = 15, /* Go keeps 0 in it */
};

bool gh_x86_is_jcc(const struct gh_x86 *ins)
{
	return (ins->opcode >= 0x70 && ins->opcode <= 0x7f) ||
	       (ins->opcode >= 0x0f80 && ins->opcode <= 0x0f8f);
}

bool gh_x86_is_jump(const struct gh_x86 *ins)
{
	return ins->opcode == GH_X86_JMP || ins->opcode == GH_X86_JMP_8 || gh_x86_is_jcc(ins);
}

/* The instruction after INS is come to only by jumps. */
bool gh_x86_ends(const struct gh_x86 *ins)
{
	return ins->opcode == RET || ins->opcode == UD2 ||
	       (gh_x86_is_jump(ins) && !gh_x86_is_jcc(ins));
}

bool gh_x86_writes_memory(const struct gh_x86 *ins)
{
	return (gh_x86_effects(ins) & GH_X86_WRITES_RM) != 0 || ins->opcode == GH_X86_MOV_FROM_XMM;
}

/* How far the last word that INS writes to memory is from the first. */
int64_t gh_x86_second_word(const struct gh_x86 *ins)
{
	return ins->opcode == GH_X86_MOV_FROM_XMM ? 8 : 0;
}

static int compare_targets(const void *a, const void *b)
{
	const struct gh_jump_target *x = a, *y = b;
	return (x->at > y->at) - (x->at < y->at);
}

/* Notes the words that INS, which ends at END, writes, or takes the address of in the frame. */
static void note_stores(struct gh_reading *reading, const struct gh_x86 *ins, size_t at, size_t end)
{
	struct gh_store store = {
	    .at = at, .in_frame = gh_x86_is_at_sp(ins), .offset = ins->displacement};
	bool takes_address = ins->opcode == GH_X86_LEA && store.in_frame;
	if (gh_x86_in_register(ins) || !(gh_x86_writes_memory(ins) || takes_address))
		return;
	store.is_zero = ins->opcode == GH_X86_MOV_FROM_XMM && gh_x86_reg(ins) == XMM_ZERO;
	if (reading->is_64_bit && gh_x86_memory(ins).is_relative)
		store.offset += (int64_t)(reading->entry + end);
	gh_vector_push(&reading->stores, store);
	if (gh_x86_second_word(ins) == 0)
		return;
	store.offset += gh_x86_second_word(ins);
	gh_vector_push(&reading->stores, store);
}

/* The code at the place AT, which goes on to the next branch, has the stack made larger. */
static bool calls_morestack(const struct gh_reading *reading, const struct gh_pclntab *tab,
			    size_t at)
{
	const uint8_t *code = reading->code.start;
	size_t size = gh_cursor_size(&reading->code);
	struct gh_x86 ins;
	for (; at < size && gh_x86_decode(&ins, code + at, size - at, reading->is_64_bit) &&
	       !gh_x86_is_jump(&ins);
	     at += ins.length)
		if (ins.opcode == GH_X86_CALL)
			return gh_spill_is_morestack(tab, reading->entry + at + ins.length +
							      (uint64_t)(int64_t)ins.immediate);
	return false;
}

bool gh_reading_is_in_spills(const struct gh_reading *reading, size_t at)
{
	return at >= reading->spills && at <= reading->spills_end;
}

/* Leaves out what is written by the code at the end that has the stack made larger, and begins
 * anew: it saves the arguments where SP is not yet what it is in the rest of the function. */
static void drop_spills(struct gh_reading *reading, const struct gh_pclntab *tab)
{
	const struct gh_branch *branches = reading->branches.items;
	size_t count = reading->branches.count, kept = 0, last = 1;
	reading->spills = reading->spills_end = SIZE_MAX;
	while (last < count && branches[last].at < branches[0].to)
		last++;
	if (last >= count || branches[last].to != 0 ||
	    !calls_morestack(reading, tab, branches[0].to))
		return;
	reading->spills = branches[0].to;
	reading->spills_end = branches[last].at;
	for (size_t i = 0; i < reading->stores.count; i++)
		if (!gh_reading_is_in_spills(reading, reading->stores.items[i].at))
			reading->stores.items[kept++] = reading->stores.items[i];
	reading->stores.count = kept;
}

/* Finds where the code branches, and the words that it writes. */
static void survey(struct gh_reading *reading)
{
	const uint8_t *code = reading->code.start;
	size_t size = gh_cursor_size(&reading->code);
	struct gh_x86 ins;
	size_t at = 0;
	for (; at < size && gh_x86_decode(&ins, code + at, size - at, reading->is_64_bit);
	     at += ins.length) {
		struct gh_branch branch = {
		    .at = at, .to = SIZE_MAX, .goes_on = gh_x86_is_jcc(&ins)};
		reading->has_table |=
		    ins.opcode == GH_X86_GROUP_5 && (ins.modrm & GH_X86_REG) == GROUP_5_JMP;
		if (gh_x86_is_jump(&ins))
			branch.to = at + ins.length + (size_t)(int64_t)ins.immediate;
		if (gh_x86_is_jump(&ins) || gh_x86_ends(&ins))
			gh_vector_push(&reading->branches, branch);
		else
			note_stores(reading, &ins, at, at + ins.length);
	}
	while (at < size && code[at] == PADDING)
		at++;
	reading->is_whole = at >= size;
}

/* BRANCH may come to a place for the second time. The code after that which makes the stack larger
 * goes back, too: to Go 1.24, a wrapper's that tells a panic of it, which changes no register that
 * holds anything (preprocess in src/cmd/internal/obj/x86/obj6.go). */
static bool goes_back(const struct gh_reading *reading, const struct gh_branch *branch)
{
	return branch->to <= branch->at &&
	       (reading->spills_end == SIZE_MAX || branch->at <= reading->spills_end);
}

/* Finds the places that are jumped to. */
static void find_targets(struct gh_reading *reading)
{
	struct gh_jump_target *targets;
	size_t kept = 0;
	for (size_t i = 0; i < reading->branches.count; i++) {
		const struct gh_branch *branch = &reading->branches.items[i];
		if (branch->to != SIZE_MAX)
			gh_vector_push(&reading->targets, ((struct gh_jump_target){
							      .at = branch->to,
							      .is_loop = goes_back(reading, branch),
							      .is_next = branch->to > branch->at}));
	}
	targets = reading->targets.items;
	if (reading->targets.count > 0)
		qsort(targets, reading->targets.count, sizeof(*targets), compare_targets);
	for (size_t i = 0; i < reading->targets.count; i++) {
		if (kept > 0 && targets[kept - 1].at == targets[i].at) {
			targets[kept - 1].is_loop |= targets[i].is_loop;
			targets[kept - 1].is_next |= targets[i].is_next;
		} else {
			targets[kept++] = targets[i];
		}
	}
	reading->targets.count = kept;
}

void gh_reading_survey(struct gh_reading *reading, const struct gh_pclntab *tab)
{
	survey(reading);
	drop_spills(reading, tab);
	find_targets(reading);
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
