#include "lib/code/internal.h"

#include <string.h>

/* The place of the next byte that is OPCODE, from START on; the size of the code if there is none.
 */
static size_t find_opcode(const struct gh_callsites *walk, size_t start, int opcode)
{
	if (start >= walk->size)
		return walk->size;
	const uint8_t *found = memchr(walk->code + start, opcode, walk->size - start);
	return found != NULL ? (size_t)(found - walk->code) : walk->size;
}

void gh_callsites_start(struct gh_callsites *walk, const struct gh_arch *arch, const uint8_t *code,
			size_t size, uint64_t address)
{
	*walk = (struct gh_callsites){arch, code, size, address, 0, size, 0};
	if (gh_arch_is_x86(arch)) {
		walk->direct = find_opcode(walk, 0, GH_X86_CALL);
		walk->indirect = find_opcode(walk, 0, GH_X86_GROUP_5);
	}
}

void gh_callsites_in(struct gh_callsites *walk, const struct gh_image *image, uint64_t start,
		     uint64_t end)
{
	struct gh_cursor cur = {0};
	size_t size = 0;
	if (start < end && gh_image_at(image, start, &cur))
		size = gh_cursor_left(&cur);
	if (size > end - start)
		size = (size_t)(end - start);
	gh_callsites_start(walk, image->arch, cur.pos, size, start);
}

/* The bytes of the code from START on, as a machine of that byte order reads them. */
static struct gh_cursor bytes_at(const struct gh_callsites *walk, size_t start, bool big_endian)
{
	return gh_cursor_make(walk->code + start, walk->size - start, "", 0, big_endian);
}

static bool decode_x86(const struct gh_callsites *walk, size_t start, struct gh_x86 *ins)
{
	return gh_x86_decode(ins, walk->code + start, walk->size - start,
			     walk->arch->isa == GH_ISA_AMD64);
}

static bool next_x86(struct gh_callsites *walk, struct gh_callsite *site)
{
	while (walk->direct < walk->size || walk->indirect < walk->size) {
		site->direct = walk->direct < walk->indirect;
		site->start = site->direct ? walk->direct : walk->indirect;
		struct gh_cursor cur = bytes_at(walk, site->start + 1, false);
		if (site->direct) {
			walk->direct = find_opcode(walk, site->start + 1, GH_X86_CALL);
			uint64_t distance = gh_sign_extend(gh_cursor_u32(&cur), 32);
			site->end = site->start + 5;
			site->target = walk->address + site->end + distance;
			if (!cur.failed)
				return true;
			continue;
		}
		walk->indirect = find_opcode(walk, site->start + 1, GH_X86_GROUP_5);
		struct gh_x86 ins;
		if ((gh_cursor_u8(&cur) & GH_X86_REG) != GH_X86_GROUP_5_CALL ||
		    !decode_x86(walk, site->start, &ins))
			continue;
		site->end = site->start + ins.length;
		site->target = 0;
		return true;
	}
	return false;
}

/* What an instruction of other machines is. Its target is relative to it. */
struct instruction {
	size_t length; /* in bytes; 0: it is not all there */
	bool is_call;
	bool is_direct;
	uint64_t target;
};

static struct instruction read_s390x(struct gh_cursor cur)
{
	uint16_t code = gh_cursor_u16(&cur);
	unsigned opcode = code & 0xff0f;
	struct instruction ins = {.length = code < 0x4000 ? 2 : code < 0xc000 ? 4 : 6};
	ins.is_direct = opcode == 0xc005 || opcode == 0xa705;                   /* BRASL, BRAS */
	ins.is_call = ins.is_direct || (code >> 8 == 0x0d && (code & 15) != 0); /* BASR */
	if (opcode == 0xc005)
		ins.target = 2 * gh_sign_extend(gh_cursor_u32(&cur), 32);
	else if (opcode == 0xa705)
		ins.target = 2 * gh_sign_extend(gh_cursor_u16(&cur), 16);
	return ins;
}

static struct instruction read_riscv64(struct gh_cursor cur)
{
	uint32_t code = gh_cursor_u16(&cur);
	if ((code & 3) != 3) /* compressed */
		return (struct instruction){.length = 2,
					    .is_call = (code & 0xf07f) == 0x9002 &&
						       code != 0x9002}; /* C.JALR */
	code |= (uint32_t)gh_cursor_u16(&cur) << 16;
	struct instruction ins = {.length = 4};
	ins.is_direct = (code & 0xfff) == 0x0ef;                /* JAL X1 */
	ins.is_call = ins.is_direct || (code & 0xfff) == 0x0e7; /* JALR X1 */
	ins.target = gh_sign_extend((code >> 31 & 1) << 20 | (code >> 12 & 0xff) << 12 |
					(code >> 20 & 1) << 11 | (code >> 21 & 0x3ff) << 1,
				    21);
	return ins;
}

/* ADDRESS is the instruction's. */
static struct instruction read_mips(struct gh_cursor cur, uint64_t address)
{
	uint32_t code = gh_cursor_u32(&cur);
	struct instruction ins = {.length = 4};
	ins.is_direct = code >> 26 == 3;                                  /* JAL */
	ins.is_call = ins.is_direct || (code & 0xfc00003f) == 0x00000009; /* JALR */
	if (ins.is_call)
		ins.length = 8;
	ins.target = ((address + 4) & ~(uint64_t)0x0fffffff) + ((code & 0x03ffffff) << 2) - address;
	return ins;
}

static struct instruction read_word(const struct gh_arch *arch, struct gh_cursor cur)
{
	uint32_t code = gh_cursor_u32(&cur);
	struct instruction ins = {.length = 4};
	switch (arch->isa) {
	case GH_ISA_ARM64:
		ins.is_direct = code >> 26 == 0x25;                               /* BL */
		ins.is_call = ins.is_direct || (code & 0xfffffc1f) == 0xd63f0000; /* BLR */
		ins.target = 4 * gh_sign_extend(code, 26);
		break;
	case GH_ISA_ARM:
		ins.is_direct = (code & 0x0f000000) == 0x0b000000;                /* BL */
		ins.is_call = ins.is_direct || (code & 0x0ffffff0) == 0x012fff30; /* BLX */
		ins.target = 8 + 4 * gh_sign_extend(code, 24);
		break;
	case GH_ISA_LOONG64:
		ins.is_direct = code >> 26 == 0x15;                               /* BL */
		ins.is_call = ins.is_direct || (code & 0xfc00001f) == 0x4c000001; /* JIRL R1 */
		ins.target = 4 * gh_sign_extend((code & 0x3ff) << 16 | (code >> 10 & 0xffff), 26);
		break;
	case GH_ISA_PPC64:
		ins.is_direct = (code & 0xfc000003) == 0x48000001; /* BL */
		ins.is_call =
		    ins.is_direct || (code & 0xfc000001) == 0x4c000001; /* BCLRL, BCCTRL */
		ins.target = gh_sign_extend(code & 0x03fffffc, 26);
		break;
	case GH_ISA_386:
	case GH_ISA_AMD64:
	case GH_ISA_MIPS:
	case GH_ISA_RISCV64:
	case GH_ISA_S390X:
		break; /* these have readers of their own */
	}
	return ins;
}

static struct instruction read_instruction(const struct gh_callsites *walk, size_t start)
{
	const struct gh_arch *arch = walk->arch;
	struct gh_cursor cur = bytes_at(walk, start, arch->big_endian);
	struct instruction ins;
	switch (arch->isa) {
	case GH_ISA_S390X:
		ins = read_s390x(cur);
		break;
	case GH_ISA_RISCV64:
		ins = read_riscv64(cur);
		break;
	case GH_ISA_MIPS:
		ins = read_mips(cur, walk->address + start);
		break;
	case GH_ISA_386:
	case GH_ISA_AMD64: /* next_x86 has read these */
	case GH_ISA_ARM:
	case GH_ISA_ARM64:
	case GH_ISA_LOONG64:
	case GH_ISA_PPC64:
		ins = read_word(arch, cur);
		break;
	}
	if (ins.length > gh_cursor_left(&cur))
		ins.length = 0;
	return ins;
}

bool gh_callsites_next(struct gh_callsites *walk, struct gh_callsite *site)
{
	if (gh_arch_is_x86(walk->arch))
		return next_x86(walk, site);
	while (walk->direct < walk->size) {
		struct instruction ins = read_instruction(walk, walk->direct);
		size_t start = walk->direct;
		if (ins.length == 0)
			return false;
		walk->direct += ins.length;
		if (!ins.is_call)
			continue;
		uint64_t target = walk->address + start + ins.target;
		*site = (struct gh_callsite){start, walk->direct, ins.is_direct,
					     ins.is_direct ? target : 0};
		return true;
	}
	return false;
}

bool gh_callsites_check(struct gh_callsites *walk, const struct gh_callsite *site, size_t start)
{
	if (!gh_arch_is_x86(walk->arch))
		return true;
	if (start < walk->known)
		start = walk->known;
	while (start <= site->start) {
		struct gh_x86 ins;
		walk->known = start;
		if (!decode_x86(walk, start, &ins))
			return false;
		if (start + ins.opcode_at == site->start)
			return true;
		start += ins.length;
	}
	walk->known = start;
	return false;
}
