#include "lib/code/internal.h"

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
	if (arch->isa == GH_ISA_ARM64) {
		for (size_t i = 0; i + 4 <= size; i += 4)
			if (!arm64_is_move(code[i] | (uint32_t)code[i + 1] << 8 |
					   (uint32_t)code[i + 2] << 16 |
					   (uint32_t)code[i + 3] << 24))
				return false;
		return true;
	}
	if (!gh_arch_is_x86(arch))
		return false;
	size_t done = 0;
	while (done < size) {
		struct gh_x86 ins;
		if (!gh_x86_decode(&ins, code + done, size - done, arch->isa == GH_ISA_AMD64) ||
		    !gh_x86_is_move(&ins))
			return false;
		done += ins.length;
	}
	return true;
}
