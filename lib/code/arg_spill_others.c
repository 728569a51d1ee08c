#include "lib/code/internal.h"

/* DWARF numbers of the first register for floating-point numbers. */
enum {
	ARM64_F0 = 64,
	LOONG64_F0 = 32,
	PPC64_F0 = 32,
	RISCV64_F0 = 32,
	S390X_F0 = 16,
};

/* An instruction. */
struct instruction {
	uint64_t
	    bits; /* as many as it has bytes, the first the highest if the machine is big-endian */
	uint8_t size; /* in bytes */
};

/* The instructions of a machine. */
struct machine {
	enum gh_isa isa;
	/* Passes over the next one. */
	struct instruction (*next)(struct gh_cursor *code);
	/* Adds what it saves, if it is a store of registers at an offset from SP. */
	bool (*store)(struct instruction instruction, struct gh_spills *spills);
	/* The move of the link register that stands between the last store and the call of
	   runtime.morestack; 0 if the call saves it. */
	uint32_t move;
	/* Whether it is a call, and the distance of what is called, in bytes. */
	bool (*call)(uint64_t bits, int64_t *distance);
};

/* The BITS lowest bits of VALUE as a signed number. */
static int64_t extend(uint64_t value, unsigned bits)
{
	return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

/* The COUNT bits of VALUE from number FIRST on. */
static uint32_t bits_of(uint64_t value, unsigned first, unsigned count)
{
	return (uint32_t)(value >> first & ((UINT64_C(1) << count) - 1));
}

static struct instruction next_word(struct gh_cursor *code)
{
	return (struct instruction){gh_cursor_u32(code), 4};
}

/* A store as the table of a machine has it. */
struct form {
	uint32_t bits; /* its opcode */
	uint8_t size;  /* of what is stored, in bytes */
	uint8_t first; /* DWARF number of its register 0 */
};

/* The form of the instruction WORD, by the bits in MASK; NULL if there is none. */
static const struct form *find_form(const struct form *forms, size_t count, uint64_t word,
				    uint32_t mask)
{
	for (size_t i = 0; i < count; i++)
		if ((word & mask) == forms[i].bits)
			return &forms[i];
	return NULL;
}

#define FIND_FORM(forms, word, mask)                                                               \
	find_form(forms, sizeof(forms) / sizeof((forms)[0]), word, mask)

static void add(struct gh_spills *spills, const struct form *form, uint32_t number, uint64_t offset)
{
	gh_spill_add(spills, (struct gh_spill){.offset = (uint32_t)offset,
					       .size = form->size,
					       .number = (uint8_t)(form->first + number),
					       .is_float = form->first != 0});
}

/* STR Rt, [SP, #offset], and STP Rt, Rt2, [SP, #offset]. */
static bool arm64_store(struct instruction instruction, struct gh_spills *spills)
{
	static const struct form singles[] = {
	    {0xf90003e0, 8, 0}, {0xb90003e0, 4, 0},        {0x790003e0, 2, 0},
	    {0x390003e0, 1, 0}, {0xfd0003e0, 8, ARM64_F0}, {0xbd0003e0, 4, ARM64_F0},
	};
	static const struct form pairs[] = {
	    {0xa90003e0, 8, 0},
	    {0x290003e0, 4, 0},
	    {0x6d0003e0, 8, ARM64_F0},
	    {0x2d0003e0, 4, ARM64_F0},
	};
	uint64_t word = instruction.bits;
	const struct form *form = FIND_FORM(singles, word, 0xffc003e0);
	if (form != NULL) {
		add(spills, form, bits_of(word, 0, 5), bits_of(word, 10, 12) * form->size);
		return true;
	}
	form = FIND_FORM(pairs, word, 0xffc003e0);
	if (form == NULL)
		return false;
	uint64_t offset = (uint64_t)(extend(word >> 15, 7) * form->size);
	add(spills, form, bits_of(word, 0, 5), offset);
	add(spills, form, bits_of(word, 10, 5), offset + form->size);
	return true;
}

static bool arm64_call(uint64_t word, int64_t *distance)
{
	*distance = extend(word, 26) * 4; /* BL */
	return (word & 0xfc000000) == 0x94000000;
}

static bool loong64_store(struct instruction instruction, struct gh_spills *spills)
{
	static const struct form forms[] = {
	    {0x29c00060, 8, 0}, {0x29800060, 4, 0},          {0x29400060, 2, 0},
	    {0x29000060, 1, 0}, {0x2bc00060, 8, LOONG64_F0}, {0x2b400060, 4, LOONG64_F0},
	};
	uint64_t word = instruction.bits;
	const struct form *form = FIND_FORM(forms, word, 0xffc003e0);
	if (form != NULL)
		add(spills, form, bits_of(word, 0, 5), (uint64_t)extend(word >> 10, 12));
	return form != NULL;
}

static bool loong64_call(uint64_t word, int64_t *distance)
{
	*distance = extend(bits_of(word, 0, 10) << 16 | bits_of(word, 10, 16), 26) * 4; /* BL */
	return (word & 0xfc000000) == 0x54000000;
}

static bool ppc64_store(struct instruction instruction, struct gh_spills *spills)
{
	static const struct form forms[] = {
	    {0xf8010000, 8, 0}, {0x90010000, 4, 0},        {0xb0010000, 2, 0},
	    {0x98010000, 1, 0}, {0xd8010000, 8, PPC64_F0}, {0xd0010000, 4, PPC64_F0},
	};
	uint64_t word = instruction.bits;
	const struct form *form = FIND_FORM(forms, word, 0xfc1f0000);
	if (form == NULL || (form->bits == 0xf8010000 && (word & 3) != 0))
		return false;
	add(spills, form, bits_of(word, 21, 5), (uint64_t)extend(word, 16));
	return true;
}

static bool ppc64_call(uint64_t word, int64_t *distance)
{
	*distance = extend(word & 0x03fffffc, 26); /* BL */
	return (word & 0xfc000003) == 0x48000001;
}

/* Instructions of two bytes have other lowest bits than 3. */
static struct instruction riscv64_next(struct gh_cursor *code)
{
	uint64_t low = gh_cursor_u16(code);
	if ((low & 3) != 3)
		return (struct instruction){low, 2};
	return (struct instruction){low | (uint64_t)gh_cursor_u16(code) << 16, 4};
}

/* C.SDSP and C.FSDSP, C.SWSP. */
static bool riscv64_short_store(uint64_t bits, struct gh_spills *spills)
{
	static const struct form forms[] = {
	    {0xe002, 8, 0}, {0xa002, 8, RISCV64_F0}, {0xc002, 4, 0}};
	const struct form *form = FIND_FORM(forms, bits, 0xe003);
	if (form == NULL)
		return false;
	uint64_t offset = form->size == 8 ? bits_of(bits, 10, 3) << 3 | bits_of(bits, 7, 3) << 6
					  : bits_of(bits, 9, 4) << 2 | bits_of(bits, 7, 2) << 6;
	add(spills, form, bits_of(bits, 2, 5), offset);
	return true;
}

static bool riscv64_store(struct instruction instruction, struct gh_spills *spills)
{
	static const struct form forms[] = {
	    {0x00013023, 8, 0}, {0x00012023, 4, 0},          {0x00011023, 2, 0},
	    {0x00010023, 1, 0}, {0x00013027, 8, RISCV64_F0}, {0x00012027, 4, RISCV64_F0},
	};
	uint64_t word = instruction.bits;
	if (instruction.size == 2)
		return riscv64_short_store(word, spills);
	const struct form *form = FIND_FORM(forms, word, 0x000ff07f);
	if (form == NULL)
		return false;
	uint64_t offset = bits_of(word, 7, 5) | bits_of(word, 25, 7) << 5;
	add(spills, form, bits_of(word, 20, 5), (uint64_t)extend(offset, 12));
	return true;
}

static bool riscv64_call(uint64_t word, int64_t *distance)
{
	uint32_t offset = bits_of(word, 31, 1) << 20 | bits_of(word, 12, 8) << 12 |
			  bits_of(word, 20, 1) << 11 | bits_of(word, 21, 10) << 1;
	*distance = extend(offset, 21); /* JAL X5 */
	return (word & 0xfff) == 0x2ef;
}

/* The first two bits tell how long an instruction is. */
static struct instruction s390x_next(struct gh_cursor *code)
{
	uint64_t bits = gh_cursor_u16(code);
	uint8_t size = bits >> 14 == 0 ? 2 : bits >> 14 == 3 ? 6 : 4;
	for (uint8_t i = 2; i < size; i = (uint8_t)(i + 2))
		bits = bits << 16 | gh_cursor_u16(code);
	return (struct instruction){bits, size};
}

/* STG, with an offset of 20 bits in two parts, and stores with one of 12. */
static bool s390x_store(struct instruction instruction, struct gh_spills *spills)
{
	static const struct form forms[] = {
	    {0x5000f000, 4, 0},        {0x4000f000, 2, 0},        {0x4200f000, 1, 0},
	    {0x6000f000, 8, S390X_F0}, {0x7000f000, 4, S390X_F0},
	};
	uint64_t bits = instruction.bits;
	if (instruction.size == 6 && (bits & 0xff0ff00000ff) == 0xe300f0000024) {
		uint32_t offset = bits_of(bits, 16, 12) | bits_of(bits, 8, 8) << 12;
		static const struct form whole = {0, 8, 0};
		add(spills, &whole, bits_of(bits, 36, 4), (uint64_t)extend(offset, 20));
		return true;
	}
	if (instruction.size != 4)
		return false;
	const struct form *form = FIND_FORM(forms, bits, 0xff0ff000);
	if (form == NULL)
		return false;
	/* The ABI numbers the others in this order. */
	static const uint8_t floats[] = {0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15};
	uint32_t number = bits_of(bits, 20, 4);
	add(spills, form, form->first != 0 ? floats[number] : number, bits_of(bits, 0, 12));
	return true;
}

static bool s390x_call(uint64_t bits, int64_t *distance)
{
	*distance = extend(bits, 32) * 2; /* BRASL R14 */
	return bits >> 32 == 0xc0e5;
}

static const struct machine machines[] = {
    {GH_ISA_ARM64, next_word, arm64_store, 0xaa1e03e3, arm64_call},
    {GH_ISA_LOONG64, next_word, loong64_store, 0x0015003f, loong64_call},
    {GH_ISA_PPC64, next_word, ppc64_store, 0x7ca802a6, ppc64_call},
    {GH_ISA_RISCV64, riscv64_next, riscv64_store, 0, riscv64_call},
    {GH_ISA_S390X, s390x_next, s390x_store, 0xb904005e, s390x_call},
};

static const struct machine *find_machine(enum gh_isa isa)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].isa == isa)
			return &machines[i];
	return NULL;
}

bool gh_spill_others(struct gh_spills *spills, struct gh_cursor *code, const struct gh_pclntab *tab,
		     uint64_t entry)
{
	const struct machine *machine = find_machine(tab->image->arch->isa);
	bool moved = false; /* the last instruction moved the link register */
	while (machine != NULL && gh_cursor_left(code) > 0) {
		uint64_t here = entry + (uint64_t)(code->pos - code->start);
		struct instruction instruction = machine->next(code);
		int64_t distance;
		if (code->failed)
			return false;
		if (machine->store(instruction, spills))
			continue;
		if ((moved || machine->move == 0) && machine->call(instruction.bits, &distance) &&
		    gh_spill_is_morestack(tab, here + (uint64_t)distance))
			return true;
		moved = machine->move != 0 && instruction.bits == machine->move;
		if (!moved)
			spills->count = 0;
	}
	return false;
}
