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

/* Adds the registers that the address of the operand in memory is made of. */
static void add_address(struct registers *seen, const struct gh_x86 *ins)
{
	struct gh_x86_memory memory = gh_x86_memory(ins);
	if (gh_x86_in_register(ins))
		return;
	if (memory.index != GH_X86_NO_REGISTER)
		add_read(seen, memory.index);
	if (memory.base != GH_X86_NO_REGISTER)
		add_read(seen, memory.base);
}

unsigned gh_entry_amd64_reads(struct gh_cursor *code)
{
	struct registers seen = {0};
	struct gh_x86 ins;
	while (gh_x86_decode(&ins, code->pos, gh_cursor_left(code), true) && !ins.other_prefix &&
	       ins.repeat == 0) {
		unsigned does = gh_x86_effects(&ins);
		/* Without a prefix, byte registers 4 to 7 are the second bytes of others. */
		bool bytes = ins.rex == 0 && (ins.opcode & 1) == 0 && ins.opcode < GH_X86_NOP;
		if (does == 0 || (bytes && (does & (GH_X86_READS_REG | GH_X86_READS_RM)) != 0))
			break;
		if ((does & (GH_X86_PASSES | GH_X86_WRITES_OPCODE)) == 0)
			add_address(&seen, &ins);
		if (does & GH_X86_WRITES_OPCODE)
			add_write(&seen, (ins.opcode & 7U) | (ins.rex & 1U) << 3);
		if (does & GH_X86_READS_REG)
			add_read(&seen, gh_x86_reg(&ins));
		if (does & GH_X86_READS_RM && gh_x86_in_register(&ins))
			add_read(&seen, gh_x86_rm(&ins));
		if (does & GH_X86_WRITES_REG)
			add_write(&seen, gh_x86_reg(&ins));
		if (does & GH_X86_WRITES_RM && gh_x86_in_register(&ins))
			add_write(&seen, gh_x86_rm(&ins));
		gh_cursor_bytes(code, ins.length);
	}
	return seen.read;
}
