#include "lib/code/internal.h"

/* RAX, RBX, RCX, RDI, RSI and R8 to R11. */
const uint8_t gh_entry_amd64_registers[GH_ENTRY_AMD64_REGISTERS] = {0, 3, 2, 5, 4, 8, 9, 10, 11};

/* Which place among those each register has, by the number that instructions have for it. */
static const int8_t places[16] = {0, 2, -1, 1, -1, -1, 4, 3, 5, 6, 7, 8, -1, -1, -1, -1};

/* What has been seen of the registers: a bit for each place. */
struct registers {
	unsigned read; /* before they were written */
	unsigned written;
};

static void add_read(struct registers *seen, unsigned number)
{
	if (places[number] >= 0 && !(seen->written >> places[number] & 1))
		seen->read |= 1U << places[number];
}

static void add_write(struct registers *seen, unsigned number)
{
	if (places[number] >= 0)
		seen->written |= 1U << places[number];
}

enum { MOD_REGISTER = 3, RM_SIB = 4, RM_RIP = 5, NO_INDEX = 4, NO_BASE = 5 };

static unsigned reg_of(const struct gh_x86 *ins)
{
	return (ins->modrm >> 3 & 7U) | (ins->rex & 4U) << 1;
}

static unsigned rm_of(const struct gh_x86 *ins)
{
	return (ins->modrm & 7U) | (ins->rex & 1U) << 3;
}

static bool in_register(const struct gh_x86 *ins)
{
	return ins->modrm >> 6 == MOD_REGISTER;
}

/* Adds the registers that the address of the operand in memory is made of. */
static void add_address(struct registers *seen, const struct gh_x86 *ins)
{
	unsigned mod = ins->modrm >> 6;
	if (mod == MOD_REGISTER)
		return;
	if ((ins->modrm & 7) != RM_SIB) {
		if (mod != 0 || (ins->modrm & 7) != RM_RIP)
			add_read(seen, rm_of(ins));
		return;
	}
	unsigned index = (ins->sib >> 3 & 7U) | (ins->rex & 2U) << 2;
	if (index != NO_INDEX)
		add_read(seen, index);
	if (mod != 0 || (ins->sib & 7) != NO_BASE)
		add_read(seen, (ins->sib & 7U) | (ins->rex & 1U) << 3);
}

/* What an instruction does with its two operands. */
enum {
	READS_REG = 1,
	READS_RM = 2,
	WRITES_REG = 4,
	WRITES_RM = 8,
	WRITES_OPCODE = 64,
	HAS_ADDRESS = 16, /* only what the address of its operand is made of matters */
	PASSES = 32,      /* it has no operands that matter */
};

/* The instructions of arithmetic, by the lower three bits: the last two have no ModRM. */
static unsigned arithmetic(const struct gh_x86 *ins)
{
	enum { CMP = 7, XOR = 6 };
	unsigned operation = ins->opcode >> 3;
	unsigned form = ins->opcode & 7;
	if (form > 3)
		return 0;
	unsigned writes = form < 2 ? WRITES_RM : WRITES_REG;
	if (operation == XOR && in_register(ins) && reg_of(ins) == rm_of(ins))
		return writes; /* it is set to 0 */
	return READS_REG | READS_RM | (operation == CMP ? 0 : writes);
}

/* What INS does; 0 if that is not known. Opcodes are in the order of the maps. */
static unsigned effects(const struct gh_x86 *ins)
{
	unsigned extension = ins->modrm >> 3 & 7;
	uint16_t opcode = ins->opcode;
	if (opcode < 0x40)
		return arithmetic(ins);
	if ((opcode >= 0x70 && opcode <= 0x7f) || (opcode >= 0x0f80 && opcode <= 0x0f8f) ||
	    (opcode >= 0x50 && opcode <= 0x57) || opcode == GH_X86_NOP ||
	    opcode == GH_X86_LONG_NOP) /* PUSH saves RBP */
		return PASSES;
	if (opcode >= 0xb8 && opcode <= 0xbf) /* MOV of an immediate, to the opcode's register */
		return WRITES_OPCODE;
	if (opcode >= 0x0f40 && opcode <= 0x0f4f) /* CMOV */
		return READS_RM | READS_REG | WRITES_REG;
	switch (opcode) {
	case 0x80: /* arithmetic with an immediate */
	case 0x81:
	case 0x83:
		return extension == 7 ? READS_RM : READS_RM | WRITES_RM;
	case 0x84: /* TEST; with memory it is the check of a pointer, whatever the register is */
	case 0x85:
		return in_register(ins) ? READS_REG | READS_RM : HAS_ADDRESS;
	case GH_X86_MOV_FIRST:
	case GH_X86_MOV_FROM_REGISTER:
		return READS_REG | WRITES_RM;
	case 0x63: /* MOVSXD */
	case 0x8a: /* MOV */
	case GH_X86_MOV_LAST:
	case 0x0fb6: /* MOVZX */
	case 0x0fb7:
	case 0x0fbe: /* MOVSX */
	case 0x0fbf:
		return READS_RM | WRITES_REG;
	case GH_X86_LEA:
		return WRITES_REG;
	case 0xc6: /* MOV of an immediate */
	case 0xc7:
		return WRITES_RM;
	case 0xc1: /* shifts by an immediate, and by one */
	case 0xd1:
		return READS_RM | WRITES_RM;
	case 0x0faf: /* IMUL */
		return READS_RM | READS_REG | WRITES_REG;
	default:
		return 0;
	}
}

unsigned gh_entry_amd64_reads(struct gh_cursor *code)
{
	struct registers seen = {0};
	struct gh_x86 ins;
	while (gh_x86_decode(&ins, code->pos, gh_cursor_left(code), true) && !ins.other_prefix &&
	       ins.repeat == 0) {
		unsigned does = effects(&ins);
		/* Without a prefix, byte registers 4 to 7 are the second bytes of others. */
		bool bytes = ins.rex == 0 && (ins.opcode & 1) == 0 && ins.opcode < GH_X86_NOP;
		if (does == 0 || (bytes && (does & (READS_REG | READS_RM)) != 0))
			break;
		if ((does & (PASSES | WRITES_OPCODE)) == 0)
			add_address(&seen, &ins);
		if (does & WRITES_OPCODE)
			add_write(&seen, (ins.opcode & 7U) | (ins.rex & 1U) << 3);
		if (does & READS_REG)
			add_read(&seen, reg_of(&ins));
		if (does & READS_RM && in_register(&ins))
			add_read(&seen, rm_of(&ins));
		if (does & WRITES_REG)
			add_write(&seen, reg_of(&ins));
		if (does & WRITES_RM && in_register(&ins))
			add_write(&seen, rm_of(&ins));
		gh_cursor_bytes(code, ins.length);
	}
	return seen.read;
}
