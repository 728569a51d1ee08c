/* How control goes on after an instruction: on amd64, 386 and arm64. */
#include "lib/code/internal.h"

enum {
	JCC_FIRST = 0x70, /* with a distance of one byte; the same of four after 0F: */
	LONG_JCC_FIRST = GH_X86_TWO_BYTE | 0x80,
	JCCS = 16,
	LOOPNE = 0xe0, /* and LOOPE, LOOP, JCXZ */
	LOOPS = 4,
	RET = 0xc3,
	INT3 = 0xcc,
	UD2 = GH_X86_TWO_BYTE | 0x0b,
	GROUP_5_JMP = 0x20,
};

static bool read_x86(struct gh_flow *flow, const uint8_t *code, size_t size, uint64_t address,
		     bool is_64_bit)
{
	struct gh_x86 ins;
	if (!gh_x86_decode(&ins, code, size, is_64_bit))
		return false;
	uint64_t after = address + ins.length;
	flow->size = ins.length;
	uint64_t target = after + (uint64_t)(int64_t)ins.immediate;
	unsigned opcode = ins.opcode;
	flow->after = after;
	if (opcode == GH_X86_JMP || opcode == GH_X86_JMP_8 || opcode - JCC_FIRST < JCCS ||
	    opcode - LONG_JCC_FIRST < JCCS || opcode - LOOPNE < LOOPS) {
		flow->target = target;
		if (opcode == GH_X86_JMP || opcode == GH_X86_JMP_8)
			flow->after = 0;
	} else if (opcode == GH_X86_CALL) {
		flow->callee = target;
	} else if (opcode == GH_X86_GROUP_5 && (ins.modrm & GH_X86_REG) == GH_X86_GROUP_5_CALL) {
		flow->indirect = true;
	} else if (opcode == RET || opcode == INT3 || opcode == UD2) {
		flow->after = 0;
		flow->returns = opcode == RET;
	} else if (opcode == GH_X86_GROUP_5 && (ins.modrm & GH_X86_REG) == GROUP_5_JMP) {
		return false;
	}
	return true;
}

/* Source: section C4.1 of the Arm Architecture Reference Manual, for branches. */
static bool read_arm64(struct gh_flow *flow, uint32_t code, uint64_t address)
{
	flow->after = address + 4;
	flow->size = 4;
	if ((code & 0x7c000000) == 0x14000000) { /* B, BL */
		uint64_t target = address + 4 * gh_sign_extend(code, 26);
		bool is_call = code >> 31 != 0;
		flow->callee = is_call ? target : 0;
		flow->target = is_call ? 0 : target;
		flow->after = is_call ? flow->after : 0;
	} else if ((code & 0xff000000) == 0x54000000 || (code & 0x7e000000) == 0x34000000) {
		flow->target = address + 4 * gh_sign_extend(code >> 5, 19); /* B.cond, CBZ, CBNZ */
	} else if ((code & 0x7e000000) == 0x36000000) {                     /* TBZ, TBNZ */
		flow->target = address + 4 * gh_sign_extend(code >> 5, 14);
	} else if ((code & 0xfffffc1f) == 0xd65f0000 || (code & 0xffe0001f) == 0xd4200000 ||
		   code >> 16 == 0) { /* RET, BRK, UDF */
		flow->after = 0;
		flow->returns = (code & 0xfffffc1f) == 0xd65f0000;
	} else if ((code & 0xfffffc1f) == 0xd63f0000) { /* BLR */
		flow->indirect = true;
	} else if ((code & 0xfffffc1f) == 0xd61f0000) { /* BR */
		return false;
	}
	return true;
}

bool gh_flow_read(struct gh_flow *flow, const struct gh_arch *arch, const uint8_t *code,
		  size_t size, uint64_t address)
{
	*flow = (struct gh_flow){0};
	if (gh_arch_is_x86(arch))
		return read_x86(flow, code, size, address, arch->isa == GH_ISA_AMD64);
	if (arch->isa != GH_ISA_ARM64 || size < 4)
		return false;
	struct gh_cursor cur = gh_cursor_make(code, size, "", 0, arch->big_endian);
	return read_arm64(flow, gh_cursor_u32(&cur), address);
}
