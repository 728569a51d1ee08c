#include "lib/code/internal.h"

/* DWARF number of XMM0. */
#define DWARF_XMM0 17

/* The instruction that is next. False if it is unknown, or there is none. */
static bool peek(const struct gh_cursor *code, struct gh_x86 *ins)
{
	return gh_x86_decode(ins, code->pos, gh_cursor_left(code), true);
}

static void pass(struct gh_cursor *code, const struct gh_x86 *ins)
{
	gh_cursor_bytes(code, ins->length);
}

/* Passes over the instruction that does nothing, of any length, if it is next: jumps and calls are
 * kept off the ends of cache lines by them. */
static void skip_nop(struct gh_cursor *code)
{
	struct gh_x86 ins;
	if (!peek(code, &ins) || ins.rex != 0 || ins.repeat != 0)
		return;
	if (ins.opcode == GH_X86_NOP || (ins.opcode == GH_X86_LONG_NOP && ins.modrm >> 6 != 3))
		pass(code, &ins);
}

/* LEAQ disp(SP), R12 */
static bool is_lea_r12(const struct gh_x86 *ins)
{
	return ins->rex == 0x4c && ins->opcode == GH_X86_LEA && (ins->modrm >> 3 & 7) == 4 &&
	       gh_x86_is_at_sp(ins);
}

/* CMPQ SP, 16(R14) or CMPQ R12, 16(R14) */
static bool is_stack_check(const struct gh_x86 *ins)
{
	return (ins->rex == 0x49 || ins->rex == 0x4d) && ins->opcode == GH_X86_CMP &&
	       ins->modrm == 0x66 && ins->displacement == 16;
}

/* Goes from the function's entry to where its stack check jumps if the stack is too small. The
 * check of a huge frame is another. False if it has none. */
static bool follow_check(struct gh_cursor *code)
{
	struct gh_x86 ins;
	skip_nop(code);
	if (peek(code, &ins) && is_lea_r12(&ins))
		pass(code, &ins);
	if (!peek(code, &ins) || !is_stack_check(&ins))
		return false;
	pass(code, &ins);
	skip_nop(code);
	if (!peek(code, &ins) || (ins.opcode != GH_X86_JBE_8 && ins.opcode != GH_X86_JBE) ||
	    ins.immediate < 0)
		return false;
	pass(code, &ins);
	gh_cursor_seek(code, (uint64_t)(code->pos - code->start + ins.immediate));
	return !code->failed;
}

/* Fills in how many bytes of which kind of register a move stores. False if it is none. */
static bool read_size(const struct gh_x86 *ins, struct gh_spill *spill)
{
	spill->is_float = ins->opcode == GH_X86_MOV_FROM_XMM;
	if (spill->is_float)
		spill->size = ins->repeat == 0xf2 ? 8 : 4; /* MOVSD, MOVSS */
	else if (ins->opcode == GH_X86_MOV_FIRST)
		spill->size = 1;
	else if (ins->opcode == GH_X86_MOV_FROM_REGISTER)
		spill->size = ins->short_operands ? 2 : ins->rex & 8 ? 8 : 4;
	else
		return false;
	return spill->is_float == (ins->repeat != 0);
}

/* Reads an instruction that stores a register at disp(SP). False if the next one is another. */
static bool read_store(struct gh_cursor *code, struct gh_spill *spill)
{
	static const uint8_t dwarf_numbers[] = {0, 2, 1, 3, 7, 6, 4, 5};
	struct gh_x86 ins;
	if (!peek(code, &ins) || ins.other_prefix || !read_size(&ins, spill) ||
	    !gh_x86_is_at_sp(&ins) || ins.modrm >> 6 == 0 || ins.displacement < 0)
		return false;
	uint8_t number = (uint8_t)((ins.modrm >> 3 & 7) | (ins.rex & 4) << 1);
	/* Without a prefix, byte registers 4 to 7 are the second bytes of others. */
	if ((ins.rex & 3) != 0 ||
	    (!spill->is_float && spill->size == 1 && ins.rex == 0 && number >= 4))
		return false;
	spill->offset = (uint32_t)ins.displacement;
	if (spill->is_float)
		spill->number = (uint8_t)(DWARF_XMM0 + number);
	else
		spill->number = number < 8 ? dwarf_numbers[number] : number;
	pass(code, &ins);
	return true;
}

bool gh_spill_amd64(struct gh_spills *spills, struct gh_cursor *code, const struct gh_pclntab *tab,
		    uint64_t entry)
{
	struct gh_spill spill;
	struct gh_x86 ins;
	if (!follow_check(code))
		return false;
	while (spills->count < GH_MAX_SPILLS && read_store(code, &spill))
		gh_spill_add(spills, spill);
	skip_nop(code);
	if (!peek(code, &ins) || ins.opcode != GH_X86_CALL)
		return false;
	pass(code, &ins);
	uint64_t here = entry + (uint64_t)(code->pos - code->start);
	return gh_spill_is_morestack(tab, here + (uint64_t)(int64_t)ins.immediate);
}
