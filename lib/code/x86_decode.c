#include "lib/code/internal.h"

#include <string.h>

/* No instruction is longer. */
#define MAX_LENGTH 15

/* What an opcode is: m: a ModRM byte follows, with the memory operand that it tells of; b, w, i, j:
 * 1, 2, 4, 4 bytes follow (i: 2 if the operands have so many); B, I: m and b, m and i; t, T: B, I
 * if it is a TEST, else m; v: as i, but 8 bytes if the operands have so many; a: an address; e: 3
 * bytes; -: nothing. p: a prefix, x: one in 64-bit mode; 0: the first byte of a longer opcode, h,
 * H: the same, whose second one's are all m, all B; 1, 2, 3: a prefix of vector instructions with
 * so many bytes more; .: unknown. */
static const char one_byte[] = "mmmmbi..mmmmbi.0" /* 00 */
			       "mmmmbi..mmmmbi.."
			       "mmmmbip.mmmmbip."
			       "mmmmbip.mmmmbip."
			       "xxxxxxxxxxxxxxxx" /* 40 */
			       "----------------"
			       "--3mppppiIbB----"
			       "bbbbbbbbbbbbbbbb"
			       "BI.Bmmmmmmmmmmmm" /* 80 */
			       "----------.-----"
			       "aaaa----bi------"
			       "bbbbbbbbvvvvvvvv"
			       "BBw-21BIe-w--b.-" /* c0 */
			       "mmmm...-mmmmmmmm"
			       "bbbbbbbbjj.b----"
			       "p-pp--tT------mm";

/* The same after 0F. */
static const char two_byte[] = "mmmm.-----.-.m-B" /* 00 */
			       "mmmmmmmmmmmmmmmm"
			       "mmmm....mmmmmmmm"
			       "------.-h.H....."
			       "mmmmmmmmmmmmmmmm" /* 40 */
			       "mmmmmmmmmmmmmmmm"
			       "mmmmmmmmmmmmmmmm"
			       "BBBBmmm-mmmmmmmm"
			       "jjjjjjjjjjjjjjjj" /* 80 */
			       "mmmmmmmmmmmmmmmm"
			       "---mBm..---mBmmm"
			       "mmmmmmmmmmBmmmmm"
			       "mmBmBBBm--------" /* c0 */
			       "mmmmmmmmmmmmmmmm"
			       "mmmmmmmmmmmmmmmm"
			       "mmmmmmmmmmmmmmmm";

/* An instruction as far as it was read. */
struct decoding {
	const uint8_t *start; /* of the instruction */
	const uint8_t *next;  /* what is not passed yet */
	bool is_64_bit;       /* mode */
	bool long_operands;   /* of 8 bytes */
	bool short_addresses; /* half as long as the mode's */
	struct gh_x86 *ins;
};

/* Passes the prefixes. */
static void pass_prefixes(struct decoding *at)
{
	struct gh_x86 *ins = at->ins;
	for (unsigned i = 0; i < MAX_LENGTH; i++, at->next++) {
		uint8_t byte = *at->next;
		char what = one_byte[byte];
		if (what != 'p' && (what != 'x' || !at->is_64_bit))
			return;
		at->short_addresses |= byte == 0x67;
		at->long_operands = what == 'x' && (byte & 8) != 0;
		if (what == 'x')
			ins->rex = byte;
		else if (byte == 0x66)
			ins->short_operands = true;
		else if (byte == 0xf2 || byte == 0xf3)
			ins->repeat = byte;
		else
			ins->other_prefix = true;
	}
}

/* Passes a number with a sign, of SIZE bytes, 1 or 4. */
static int32_t pass_number(struct decoding *at, size_t size)
{
	const uint8_t *bytes = at->next;
	at->next += size;
	if (size == 1)
		return (int8_t)bytes[0];
	return (int32_t)((uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
			 (uint32_t)bytes[3] << 24);
}

/* Passes an operand of SIZE bytes, which is kept if that is 4. */
static void pass_immediate(struct decoding *at, size_t size)
{
	if (size == 4)
		at->ins->immediate = pass_number(at, 4);
	else
		at->next += size;
}

/* Passes a ModRM byte and its memory operand. */
static void pass_operand(struct decoding *at)
{
	struct gh_x86 *ins = at->ins;
	ins->modrm = *at->next++;
	unsigned mod = ins->modrm >> 6;
	unsigned rm = ins->modrm & 7;
	if (mod == 3)
		return;
	if (rm == 4) {
		ins->sib = *at->next++;
		rm = ins->sib & 7; /* the base */
	}
	if (mod == 1) {
		ins->displacement = pass_number(at, 1);
	} else if (mod == 2 || rm == 5) {
		ins->displacement_at = (size_t)(at->next - at->start);
		ins->displacement = pass_number(at, 4);
	}
}

/* What the opcode after a vector prefix with COUNT bytes is. */
static char pass_vector_prefix(struct decoding *at, unsigned count)
{
	uint8_t first = *at->next;
	at->next += count;
	/* In 32-bit mode the same byte is another instruction where an operand is in memory. */
	if (!at->is_64_bit && first >> 6 != 3)
		return '.';
	unsigned map = count == 1 ? 1 : first & (count == 2 ? 31 : 7);
	uint8_t opcode = *at->next++;
	if (map == 1)
		return two_byte[opcode];
	return map == 3 ? 'B' : map != 0 ? 'm' : '.';
}

/* Passes the opcode. Returns what it is. */
static char pass_opcode(struct decoding *at)
{
	struct gh_x86 *ins = at->ins;
	ins->opcode = *at->next++;
	char what = one_byte[ins->opcode];
	if (what >= '1' && what <= '3')
		return pass_vector_prefix(at, (unsigned)(what - '0'));
	if (what == 'x')
		return '-';
	if (what != '0')
		return what;
	ins->opcode = (uint16_t)(GH_X86_TWO_BYTE | *at->next);
	what = two_byte[*at->next++];
	if (what != 'h' && what != 'H')
		return what;
	at->next++;
	return what == 'h' ? 'm' : 'B';
}

/* Passes what follows an opcode that is WHAT. False if that is unknown. */
static bool pass_rest(struct decoding *at, char what)
{
	bool is_test = (*at->next & 0x30) == 0;
	size_t immediate = at->ins->short_operands && !at->long_operands ? 2 : 4;
	switch (what) {
	case '-':
		return true;
	case 'b':
		at->ins->immediate = pass_number(at, 1);
		return true;
	case 'w':
		at->next += 2;
		return true;
	case 'e':
		at->next += 3;
		return true;
	case 'j':
		at->ins->immediate = pass_number(at, 4);
		return true;
	case 'i':
		at->next += immediate;
		return true;
	case 'v':
		at->next += at->long_operands ? 8 : immediate;
		return true;
	case 'a':
		at->next += at->is_64_bit && !at->short_addresses ? 8 : 4;
		return true;
	case 'm':
		pass_operand(at);
		return true;
	case 'B':
	case 't':
		pass_operand(at);
		if (what == 'B' || is_test)
			at->ins->immediate = pass_number(at, 1);
		return true;
	case 'I':
	case 'T':
		pass_operand(at);
		if (what == 'I' || is_test)
			pass_immediate(at, immediate);
		return true;
	default:
		return false;
	}
}

bool gh_x86_decode(struct gh_x86 *ins, const uint8_t *code, size_t size, bool is_64_bit)
{
	/* Nothing looks further ahead. */
	uint8_t last[2 * MAX_LENGTH];
	if (size < sizeof(last)) {
		memset(last + size, 0, sizeof(last) - size);
		code = memcpy(last, code, size);
	}
	*ins = (struct gh_x86){0};
	struct decoding at = {.start = code, .next = code, .is_64_bit = is_64_bit, .ins = ins};
	pass_prefixes(&at);
	ins->opcode_at = (size_t)(at.next - code);
	bool known = pass_rest(&at, pass_opcode(&at));
	ins->length = (size_t)(at.next - code);
	/* 16-bit operands in memory have another form. */
	return known && ins->length <= size && ins->length <= MAX_LENGTH &&
	       (!at.short_addresses || is_64_bit);
}

bool gh_x86_is_at_sp(const struct gh_x86 *ins)
{
	enum { MOD_REGISTER = 3, RM_SIB = 4, SIB_SP = 0x24 };
	return ins->modrm >> 6 != MOD_REGISTER && (ins->modrm & 7) == RM_SIB && ins->sib == SIB_SP;
}

/* An opcode after 0F that loads or stores a whole vector register, or loads with extension. */
static bool is_long_move(uint16_t opcode)
{
	switch (opcode) {
	case GH_X86_TWO_BYTE | 0x10: /* MOVUPS and its like */
	case GH_X86_TWO_BYTE | 0x11:
	case GH_X86_TWO_BYTE | 0x28: /* MOVAPS */
	case GH_X86_TWO_BYTE | 0x29:
	case GH_X86_TWO_BYTE | 0x6f: /* MOVDQA, MOVDQU */
	case GH_X86_TWO_BYTE | 0x7f:
	case GH_X86_TWO_BYTE | 0xb6: /* MOVZX */
	case GH_X86_TWO_BYTE | 0xb7:
	case GH_X86_TWO_BYTE | 0xbe: /* MOVSX */
	case GH_X86_TWO_BYTE | 0xbf:
		return true;
	default:
		return false;
	}
}

/* Go's assembler aligns jumps with these. */
#define LONG_NOP (GH_X86_TWO_BYTE | 0x1f)

bool gh_x86_is_move(const struct gh_x86 *ins)
{
	if (ins->other_prefix)
		return false;
	if (ins->opcode == GH_X86_JMP_8 || ins->opcode == GH_X86_JMP || ins->opcode == LONG_NOP)
		return true;
	bool is_mov = ins->opcode >= GH_X86_MOV_FIRST && ins->opcode <= GH_X86_MOV_LAST;
	return (is_mov || is_long_move(ins->opcode)) &&
	       (ins->modrm >> 6 == 3 || gh_x86_is_at_sp(ins));
}
