#include "lib/write/spill_amd64.h"

#include <string.h>

/* DWARF number of XMM0. */
#define DWARF_XMM0 17

/* Passes over BYTES if they are next. */
static bool take(struct gh_cursor *code, const char *bytes, size_t size)
{
	struct gh_cursor ahead = *code;
	const uint8_t *found = gh_cursor_bytes(&ahead, size);
	if (found == NULL || memcmp(found, bytes, size) != 0)
		return false;
	*code = ahead;
	return true;
}

/* Passes over the instruction that does nothing, of any length, if it is next: jumps and calls are
 * kept off the ends of cache lines by them. */
static void skip_nop(struct gh_cursor *code)
{
	struct gh_cursor ahead = *code;
	take(&ahead, "\x66", 1);
	if (take(&ahead, "\x90", 1)) {
		*code = ahead;
	} else if (take(&ahead, "\x0f\x1f", 2)) {
		uint8_t modrm = gh_cursor_u8(&ahead);
		if ((modrm & 7) == 4)
			gh_cursor_bytes(&ahead, 1);
		gh_cursor_bytes(&ahead, modrm >> 6 == 2 ? 4 : modrm >> 6);
		if (!ahead.failed && modrm >> 6 != 3)
			*code = ahead;
	}
}

/* Goes from the function's entry to where its stack check jumps if the stack is too small. The
 * check of a huge frame is another. False if it has none. */
static bool follow_check(struct gh_cursor *code)
{
	skip_nop(code);
	if (take(code, "\x4c\x8d\x64\x24", 4)) /* LEAQ disp8(SP), R12 */
		gh_cursor_bytes(code, 1);
	else if (take(code, "\x4c\x8d\xa4\x24", 4)) /* LEAQ disp32(SP), R12 */
		gh_cursor_bytes(code, 4);
	if (!take(code, "\x49\x3b\x66\x10", 4) && /* CMPQ SP, 16(R14) */
	    !take(code, "\x4d\x3b\x66\x10", 4))   /* CMPQ R12, 16(R14) */
		return false;
	skip_nop(code);
	int64_t distance;
	if (take(code, "\x76", 1)) /* JBE rel8 */
		distance = (int8_t)gh_cursor_u8(code);
	else if (take(code, "\x0f\x86", 2)) /* JBE rel32 */
		distance = (int32_t)gh_cursor_u32(code);
	else
		return false;
	int64_t here = code->pos - code->start;
	if (code->failed || distance < 0)
		return false;
	gh_cursor_seek(code, (uint64_t)(here + distance));
	return !code->failed;
}

/* Reads the opcode of a move from a register, after its prefixes. */
static bool read_opcode(struct gh_cursor *code, uint8_t prefix, uint8_t rex, struct gh_spill *spill)
{
	uint8_t opcode = gh_cursor_u8(code);
	spill->is_float = opcode == 0x0f && gh_cursor_u8(code) == 0x11;
	if (spill->is_float)
		spill->size = prefix == 0xf2 ? 8 : 4;
	else if (opcode == 0x88)
		spill->size = 1;
	else if (opcode == 0x89 && prefix == 0)
		spill->size = rex & 8 ? 8 : 4;
	else if (opcode == 0x89 && prefix == 0x66)
		spill->size = 2;
	else
		return false;
	return spill->is_float ? prefix == 0xf2 || prefix == 0xf3 : prefix == 0 || prefix == 0x66;
}

/* Reads an instruction that stores a register at disp(SP). False if the next one is another. */
static bool read_store(struct gh_cursor *code, struct gh_spill *spill)
{
	static const uint8_t dwarf_numbers[] = {0, 2, 1, 3, 7, 6, 4, 5};
	struct gh_cursor ahead = *code;
	uint8_t prefix = 0;
	uint8_t rex = 0;
	if (take(&ahead, "\x66", 1))
		prefix = 0x66;
	else if (take(&ahead, "\xf2", 1))
		prefix = 0xf2;
	else if (take(&ahead, "\xf3", 1))
		prefix = 0xf3;
	if (gh_cursor_left(&ahead) > 0 && (*ahead.pos & 0xf0) == 0x40)
		rex = gh_cursor_u8(&ahead);
	if (!read_opcode(&ahead, prefix, rex, spill))
		return false;
	uint8_t modrm = gh_cursor_u8(&ahead);
	uint8_t sib = gh_cursor_u8(&ahead);
	uint8_t number = (uint8_t)((modrm >> 3 & 7) | (rex & 4) << 1);
	if ((modrm & 0xc7) == 0x44)
		spill->offset = gh_cursor_u8(&ahead);
	else if ((modrm & 0xc7) == 0x84)
		spill->offset = gh_cursor_u32(&ahead);
	else
		return false;
	/* Without a prefix, byte registers 4 to 7 are the second bytes of others. */
	if (ahead.failed || sib != 0x24 || (rex & 3) != 0 ||
	    (!spill->is_float && spill->size == 1 && rex == 0 && number >= 4))
		return false;
	if (spill->is_float)
		spill->number = (uint8_t)(DWARF_XMM0 + number);
	else
		spill->number = number < 8 ? dwarf_numbers[number] : number;
	*code = ahead;
	return true;
}

bool gh_spill_amd64(struct gh_spills *spills, struct gh_cursor *code, const struct gh_pclntab *tab,
		    uint64_t entry)
{
	struct gh_spill spill;
	if (!follow_check(code))
		return false;
	while (spills->count < GH_MAX_SPILLS && read_store(code, &spill))
		gh_spill_add(spills, spill);
	skip_nop(code);
	if (!take(code, "\xe8", 1)) /* CALL rel32 */
		return false;
	int32_t distance = (int32_t)gh_cursor_u32(code);
	uint64_t here = entry + (uint64_t)(code->pos - code->start);
	return !code->failed && gh_spill_is_morestack(tab, here + (uint64_t)(int64_t)distance);
}
