#include "lib/write/statement.h"

#include <elf.h>

/* The length of an x86 ModRM operand that is a register, or a place on the stack frame without an
 * index; 0 for any other. */
static size_t x86_operand(const uint8_t *code, size_t size)
{
	enum { MOD_REGISTER = 3, RM_SIB = 4, SIB_SP = 0x24 };
	static const size_t displacement[] = {0, 1, 4};
	if (size < 1)
		return 0;
	unsigned mod = code[0] >> 6;
	if (mod == MOD_REGISTER)
		return 1;
	if ((code[0] & 7) != RM_SIB || size < 2 || code[1] != SIB_SP)
		return 0;
	return 2 + displacement[mod];
}

/* An opcode after 0F that loads or stores a whole vector register, or loads with extension. */
static bool x86_is_long_move(uint8_t opcode)
{
	switch (opcode) {
	case 0x10: /* MOVUPS and its like */
	case 0x11:
	case 0x28: /* MOVAPS */
	case 0x29:
	case 0x6f: /* MOVDQA, MOVDQU */
	case 0x7f:
	case 0xb6: /* MOVZX */
	case 0xb7:
	case 0xbe: /* MOVSX */
	case 0xbf:
		return true;
	default:
		return false;
	}
}

/* The length of the instruction at CODE if it is a move or a jump, else 0. A NOP is neither: Go
 * puts one where a call was inlined, to hold the call's line. */
static size_t x86_move(const uint8_t *code, size_t size, bool is_64_bit)
{
	size_t n = 0;
	while (n < size && (code[n] == 0x66 || code[n] == 0xf2 || code[n] == 0xf3 ||
			    (is_64_bit && (code[n] & 0xf0) == 0x40)))
		n++;
	if (n == size)
		return 0;
	uint8_t opcode = code[n++];
	if (opcode == 0xeb) /* JMP rel8 */
		return n + 1;
	if (opcode == 0xe9) /* JMP rel32 */
		return n + 4;
	if (opcode == 0x0f) {
		if (n == size || !x86_is_long_move(code[n++]))
			return 0;
	} else if (opcode < 0x88 || opcode > 0x8b) { /* MOV */
		return 0;
	}
	size_t operand = x86_operand(code + n, size - n);
	return operand != 0 ? n + operand : 0;
}

static bool arm64_is_move(uint32_t code)
{
	bool based_on_sp = (code >> 5 & 31) == 31;
	if ((code & 0x3b000000) == 0x39000000 || /* LDR, STR with an unsigned offset */
	    (code & 0x3b200c00) == 0x38000000 || /* LDUR, STUR */
	    (code & 0x3b800000) == 0x29000000)   /* LDP, STP */
		return based_on_sp;
	return (code & 0x7fe0ffe0) == 0x2a0003e0 || /* MOV between registers */
	       (code & 0xfc000000) == 0x14000000;   /* B */
}

bool gh_code_only_moves(const struct gh_arch *arch, const uint8_t *code, size_t size)
{
	if (arch->machine == EM_AARCH64) {
		for (size_t i = 0; i + 4 <= size; i += 4)
			if (!arm64_is_move(code[i] | (uint32_t)code[i + 1] << 8 |
					   (uint32_t)code[i + 2] << 16 |
					   (uint32_t)code[i + 3] << 24))
				return false;
		return true;
	}
	if (arch->machine != EM_X86_64 && arch->machine != EM_386)
		return false;
	size_t done = 0;
	while (done < size) {
		size_t length = x86_move(code + done, size - done, arch->machine == EM_X86_64);
		if (length == 0)
			return false;
		done += length;
	}
	return done == size;
}
