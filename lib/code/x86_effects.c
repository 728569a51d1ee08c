#include "lib/code/internal.h"

enum { MOD_REGISTER = 3, RM_SIB = 4, RM_RIP = 5, NO_INDEX = 4, NO_BASE = 5 };

unsigned gh_x86_reg(const struct gh_x86 *ins)
{
	return (ins->modrm >> 3 & 7U) | (ins->rex & 4U) << 1;
}

unsigned gh_x86_rm(const struct gh_x86 *ins)
{
	return (ins->modrm & 7U) | (ins->rex & 1U) << 3;
}

bool gh_x86_in_register(const struct gh_x86 *ins)
{
	return ins->modrm >> 6 == MOD_REGISTER;
}

struct gh_x86_memory gh_x86_memory(const struct gh_x86 *ins)
{
	struct gh_x86_memory memory = {.base = GH_X86_NO_REGISTER, .index = GH_X86_NO_REGISTER};
	unsigned mod = ins->modrm >> 6;
	if ((ins->modrm & 7) != RM_SIB) {
		memory.is_relative = mod == 0 && (ins->modrm & 7) == RM_RIP;
		if (!memory.is_relative)
			memory.base = gh_x86_rm(ins);
		return memory;
	}
	unsigned index = (ins->sib >> 3 & 7U) | (ins->rex & 2U) << 2;
	if (index != NO_INDEX)
		memory.index = index;
	if (mod != 0 || (ins->sib & 7) != NO_BASE)
		memory.base = (ins->sib & 7U) | (ins->rex & 1U) << 3;
	return memory;
}

/* The instructions of arithmetic, by the lower three bits: the last two have no ModRM. */
static unsigned arithmetic(const struct gh_x86 *ins)
{
	enum { CMP = 7, XOR = 6 };
	unsigned operation = ins->opcode >> 3;
	unsigned form = ins->opcode & 7;
	if (form > 3)
		return 0;
	unsigned writes = form < 2 ? GH_X86_WRITES_RM : GH_X86_WRITES_REG;
	if (operation == XOR && gh_x86_in_register(ins) && gh_x86_reg(ins) == gh_x86_rm(ins))
		return writes; /* it is set to 0 */
	return GH_X86_READS_REG | GH_X86_READS_RM | (operation == CMP ? 0 : writes);
}

/* Opcodes are in the order of the maps. */
unsigned gh_x86_effects(const struct gh_x86 *ins)
{
	unsigned extension = ins->modrm >> 3 & 7;
	uint16_t opcode = ins->opcode;
	if (opcode < 0x40)
		return arithmetic(ins);
	if ((opcode >= 0x70 && opcode <= 0x7f) || (opcode >= 0x0f80 && opcode <= 0x0f8f) ||
	    (opcode >= 0x50 && opcode <= 0x57) || opcode == GH_X86_NOP ||
	    opcode == GH_X86_LONG_NOP) /* PUSH saves RBP */
		return GH_X86_PASSES;
	if (opcode >= 0xb8 && opcode <= 0xbf) /* MOV of an immediate, to the opcode's register */
		return GH_X86_WRITES_OPCODE;
	if (opcode >= 0x0f90 && opcode <= 0x0f9f) /* SETcc */
		return GH_X86_WRITES_RM;
	if (opcode >= 0x0f40 && opcode <= 0x0f4f) /* CMOV */
		return GH_X86_READS_RM | GH_X86_READS_REG | GH_X86_WRITES_REG;
	switch (opcode) {
	case 0x80: /* arithmetic with an immediate */
	case 0x81:
	case 0x83:
		return extension == 7 ? GH_X86_READS_RM : GH_X86_READS_RM | GH_X86_WRITES_RM;
	case 0x84: /* TEST; with memory it is the check of a pointer, whatever the register is */
	case 0x85:
		return gh_x86_in_register(ins) ? GH_X86_READS_REG | GH_X86_READS_RM
					       : GH_X86_HAS_ADDRESS;
	case GH_X86_MOV_FIRST:
	case GH_X86_MOV_FROM_REGISTER:
		return GH_X86_READS_REG | GH_X86_WRITES_RM;
	case 0x63: /* MOVSXD */
	case 0x8a: /* MOV */
	case GH_X86_MOV_LAST:
	case 0x0fb6: /* MOVZX */
	case 0x0fb7:
	case 0x0fbe: /* MOVSX */
	case 0x0fbf:
		return GH_X86_READS_RM | GH_X86_WRITES_REG;
	case GH_X86_LEA:
		return GH_X86_WRITES_REG;
	case GH_X86_GROUP_5: /* INC and DEC */
		return extension < 2 ? GH_X86_READS_RM | GH_X86_WRITES_RM : 0;
	case 0xc6: /* MOV of an immediate */
	case 0xc7:
		return GH_X86_WRITES_RM;
	case 0xc1: /* shifts by an immediate, and by one */
	case 0xd1:
		return GH_X86_READS_RM | GH_X86_WRITES_RM;
	case 0x0faf: /* IMUL */
		return GH_X86_READS_RM | GH_X86_READS_REG | GH_X86_WRITES_REG;
	default:
		return 0;
	}
}
