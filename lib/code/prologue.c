#include "lib/code/internal.h"

#include <string.h>

#include "lib/pclntab/pclntab.h"

/* The longest stack check, in bytes: the code that leads up to the first push or subtraction. A
 * stack delta that changes later is something else: an assembly function's call, say. The longest
 * seen is that of a huge frame on a machine whose constants take several instructions. */
#define MAX_CHECK 128

/* The frame is set up in one go or, on amd64 from Go 1.21 on, by a push of the frame pointer, a
 * move and a subtraction: at most these many bytes after the push. */
#define MAX_SECOND_STEP 16

/* The end of the prologue of FUNC. *GROWTH is by how much its last instruction grows the frame. */
static uint64_t find_end(const struct gh_pclntab *tab, const struct gh_func *func, int32_t *growth)
{
	struct gh_pcvalue walk;
	*growth = 0;
	gh_pcvalue_start(&walk, tab, func, func->pcsp);
	uint64_t end = func->entry;
	uint64_t limit = func->entry + MAX_CHECK;
	int32_t delta = 0;
	while (gh_pcvalue_next(&walk) && walk.start < func->end) {
		if (walk.value < delta || walk.start > limit)
			break;
		if (walk.value > delta) {
			*growth = walk.value - delta;
			delta = walk.value;
			end = walk.start;
			limit = end + MAX_SECOND_STEP;
		}
	}
	return end;
}

uint64_t gh_prologue_end(const struct gh_pclntab *tab, const struct gh_func *func)
{
	int32_t growth;
	return find_end(tab, func, &growth);
}

/* The length of the instruction that ends at END and moves SP by GROWTH: SUB $GROWTH, SP or, where
 * that is shorter, ADD $-GROWTH, SP. 0 if it is another. */
static size_t x86_subtraction(const uint8_t *end, size_t before, bool is_64, int32_t growth)
{
	enum {
		REX_W = 0x48,
		GROUP_1_IMM32 = 0x81,
		GROUP_1_IMM8 = 0x83,
		SUB_SP = 0xec,
		ADD_SP = 0xc4
	};
	size_t prefix = is_64 ? 1 : 0;
	for (size_t size = 1; size <= 4; size += 3) {
		size_t length = prefix + 2 + size;
		const uint8_t *opcode = end - size - 2;
		if (length > before || (is_64 && opcode[-1] != REX_W) ||
		    opcode[0] != (size == 1 ? GROUP_1_IMM8 : GROUP_1_IMM32))
			continue;
		int32_t immediate =
		    size == 1 ? (int8_t)end[-1]
			      : (int32_t)((uint32_t)end[-4] | (uint32_t)end[-3] << 8 |
					  (uint32_t)end[-2] << 16 | (uint32_t)end[-1] << 24);
		if ((opcode[1] == SUB_SP && immediate == growth) ||
		    (opcode[1] == ADD_SP && immediate == -growth))
			return length;
	}
	return 0;
}

/* The length of the instructions that end at END and make room for the frame. */
static size_t arm64_set_up(const uint8_t *end, size_t before)
{
	static const uint8_t move_sp[] = {0x9f, 0x02, 0x00, 0x91}; /* MOVD R20, RSP */
	/* SUB $size, RSP, R20; STP (R29, R30), -8(R20); and that */
	return before >= 12 && memcmp(end - 4, move_sp, 4) == 0 ? 12 : 4;
}

/* MOVD LR, R31 comes before MOVDU R31, -size(R1). */
static size_t ppc64_set_up(const uint8_t *end, size_t before, bool big_endian)
{
	static const uint8_t save[] = {0x7f, 0xe8, 0x02, 0xa6};
	static const uint8_t swapped[] = {0xa6, 0x02, 0xe8, 0x7f};
	return before >= 8 && memcmp(end - 8, big_endian ? save : swapped, 4) == 0 ? 8 : 0;
}

uint64_t gh_prologue_stop(const struct gh_pclntab *tab, const struct gh_func *func)
{
	enum { LONGEST = 12 };
	int32_t growth;
	struct gh_cursor cur;
	uint64_t end = find_end(tab, func, &growth);
	size_t before = end - func->entry < LONGEST ? (size_t)(end - func->entry) : LONGEST;
	if (growth == 0 || !gh_image_at(tab->image, end - before, &cur))
		return end;
	const uint8_t *code = gh_cursor_bytes(&cur, before);
	if (code == NULL)
		return end;
	const struct gh_arch *arch = tab->image->arch;
	code += before;
	switch (arch->isa) {
	case GH_ISA_386:
	case GH_ISA_AMD64:
		return end - x86_subtraction(code, before, arch->isa == GH_ISA_AMD64, growth);
	case GH_ISA_ARM64:
		return end - arm64_set_up(code, before);
	case GH_ISA_PPC64:
		return end - ppc64_set_up(code, before, arch->big_endian);
	default:
		return end;
	}
}

/* CODE, of SIZE bytes, begins with the COUNT bytes of INSTRUCTION. */
static bool is_at(const uint8_t *code, size_t size, const char *instruction, size_t count)
{
	return size >= count && memcmp(code, instruction, count) == 0;
}

/* The length of the instruction that saves RBP in the frame's last word; 0 if it is another. */
static uint64_t amd64_save(const uint8_t *code, size_t size, int32_t delta)
{
	enum { REX_W = 0x48, FROM_RBP = 5 };
	struct gh_x86 ins; /* MOVQ BP, slot(SP) */
	if (!gh_x86_decode(&ins, code, size, true) || ins.rex != REX_W ||
	    ins.opcode != GH_X86_MOV_FROM_REGISTER || (ins.modrm >> 3 & 7) != FROM_RBP ||
	    !gh_x86_is_at_sp(&ins) || ins.displacement != delta - 8)
		return 0;
	return ins.length;
}

uint64_t gh_frame_pointer_saved(const struct gh_pclntab *tab, const struct gh_func *func,
				uint64_t start, int32_t delta)
{
	enum { BEFORE = 8 }; /* the most bytes before START that tell */
	uint64_t before = start - func->entry < BEFORE ? start - func->entry : BEFORE;
	struct gh_cursor cur;
	if (start < func->entry || start > func->end ||
	    !gh_image_at(tab->image, start - before, &cur) || gh_cursor_left(&cur) < before)
		return 0;
	size_t size = gh_cursor_left(&cur) - (size_t)before;
	if (size > func->end - start)
		size = (size_t)(func->end - start);
	const uint8_t *code = gh_cursor_bytes(&cur, (size_t)before + size) + before;

	switch (tab->image->arch->isa) {
	case GH_ISA_AMD64:
		/* PUSHQ BP; MOVQ SP, BP */
		if (delta == 8 && before >= 1 && is_at(code - 1, size + 1, "\x55\x48\x89\xe5", 4))
			return start;
		uint64_t length = amd64_save(code, size, delta);
		return length == 0 ? 0 : start + length;
	case GH_ISA_ARM64:
		/* MOVD R29, -8(RSP) */
		if (is_at(code, size, "\xfd\x83\x1f\xf8", 4))
			return start + 4;
		/* STP (R29, R30), -8(R20), before R20 is moved to RSP */
		return before == 8 && memcmp(code - 8, "\x9d\xfa\x3f\xa9", 4) == 0 ? start : 0;
	default:
		return 0;
	}
}
