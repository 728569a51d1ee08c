#include "lib/write/x86_length.h"

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
struct instruction {
	const uint8_t *next;  /* what is not passed yet */
	bool is_64_bit;       /* mode */
	bool short_operands;  /* of 2 bytes */
	bool long_operands;   /* of 8 bytes */
	bool short_addresses; /* half as long as the mode's */
};

/* Passes the prefixes. */
static void pass_prefixes(struct instruction *ins)
{
	for (unsigned i = 0; i < MAX_LENGTH; i++, ins->next++) {
		uint8_t byte = *ins->next;
		char what = one_byte[byte];
		if (what != 'p' && (what != 'x' || !ins->is_64_bit))
			return;
		ins->short_operands |= byte == 0x66;
		ins->short_addresses |= byte == 0x67;
		ins->long_operands = what == 'x' && (byte & 8) != 0;
	}
}

/* Passes a ModRM byte and its memory operand. */
static void pass_operand(struct instruction *ins)
{
	uint8_t modrm = *ins->next++;
	unsigned mod = modrm >> 6;
	unsigned rm = modrm & 7;
	if (mod == 3)
		return;
	if (rm == 4)
		rm = *ins->next++ & 7; /* the SIB byte's base */
	if (mod == 1)
		ins->next++;
	else if (mod == 2 || rm == 5)
		ins->next += 4;
}

/* What the opcode after a vector prefix with COUNT bytes is. */
static char pass_vector_prefix(struct instruction *ins, unsigned count)
{
	uint8_t first = *ins->next;
	ins->next += count;
	/* In 32-bit mode the same byte is another instruction where an operand is in memory. */
	if (!ins->is_64_bit && first >> 6 != 3)
		return '.';
	unsigned map = count == 1 ? 1 : first & (count == 2 ? 31 : 7);
	uint8_t opcode = *ins->next++;
	if (map == 1)
		return two_byte[opcode];
	return map == 3 ? 'B' : map != 0 ? 'm' : '.';
}

/* Passes the opcode. Returns what it is. */
static char pass_opcode(struct instruction *ins)
{
	char what = one_byte[*ins->next++];
	if (what >= '1' && what <= '3')
		return pass_vector_prefix(ins, (unsigned)(what - '0'));
	if (what == 'x')
		return '-';
	if (what != '0')
		return what;
	what = two_byte[*ins->next++];
	if (what != 'h' && what != 'H')
		return what;
	ins->next++;
	return what == 'h' ? 'm' : 'B';
}

/* Passes what follows an opcode that is WHAT. False if that is unknown. */
static bool pass_rest(struct instruction *ins, char what)
{
	bool is_test = (*ins->next & 0x30) == 0;
	size_t immediate = ins->short_operands && !ins->long_operands ? 2 : 4;
	switch (what) {
	case '-':
		return true;
	case 'b':
		ins->next += 1;
		return true;
	case 'w':
		ins->next += 2;
		return true;
	case 'e':
		ins->next += 3;
		return true;
	case 'j':
		ins->next += 4;
		return true;
	case 'i':
		ins->next += immediate;
		return true;
	case 'v':
		ins->next += ins->long_operands ? 8 : immediate;
		return true;
	case 'a':
		ins->next += ins->is_64_bit && !ins->short_addresses ? 8 : 4;
		return true;
	case 'm':
		pass_operand(ins);
		return true;
	case 'B':
	case 't':
		pass_operand(ins);
		ins->next += what == 'B' || is_test ? 1 : 0;
		return true;
	case 'I':
	case 'T':
		pass_operand(ins);
		ins->next += what == 'I' || is_test ? immediate : 0;
		return true;
	default:
		return false;
	}
}

size_t gh_x86_length(const uint8_t *code, size_t size, bool is_64_bit, size_t *opcode)
{
	/* Nothing looks further ahead. */
	uint8_t last[2 * MAX_LENGTH];
	if (size < sizeof(last)) {
		memset(last + size, 0, sizeof(last) - size);
		code = memcpy(last, code, size);
	}
	struct instruction ins = {.next = code, .is_64_bit = is_64_bit};
	pass_prefixes(&ins);
	*opcode = (size_t)(ins.next - code);
	bool known = pass_rest(&ins, pass_opcode(&ins));
	size_t length = (size_t)(ins.next - code);
	/* 16-bit operands in memory have another form. */
	if (!known || length > size || length > MAX_LENGTH || (ins.short_addresses && !is_64_bit))
		return 0;
	return length;
}
