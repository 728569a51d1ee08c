#include "lib/code/internal.h"

#include <string.h>

#include "lib/pclntab/pclntab.h"

/* The functions that matter are shorter; the bound keeps crafted ones from costing much. */
#define MAX_CODE 4096

/* The code of a function. */
struct code {
	const uint8_t *bytes;
	size_t size;
	const struct gh_pclntab *tab;
	const struct gh_func *func;
};

/* Registers as instructions number them. */
enum {
	RBX = 3,
	RSP = 4,
	RBP = 5,
	R12 = 12,
};

static struct code code_of(const struct gh_pclntab *tab, const struct gh_func *func)
{
	struct code code = {.tab = tab, .func = func};
	struct gh_cursor cur;
	if (tab->image->arch->isa != GH_ISA_AMD64 || !gh_image_at(tab->image, func->entry, &cur))
		return code;
	size_t size = gh_cursor_left(&cur);
	if (size > func->end - func->entry)
		size = (size_t)(func->end - func->entry);
	if (size > MAX_CODE)
		size = MAX_CODE;
	code.bytes = gh_cursor_bytes(&cur, size);
	code.size = size;
	return code;
}

/* The byte at AT; one that starts no instruction looked for here if that is past the end. */
static uint8_t byte_at(const struct code *code, size_t at)
{
	return at < code->size ? code->bytes[at] : 0;
}

static uint32_t u32_at(const struct code *code, size_t at)
{
	uint32_t value = 0;
	for (size_t i = 0; i < 4; i++)
		value |= (uint32_t)byte_at(code, at + i) << 8 * i;
	return value;
}

/* There is, at AT, the instruction (or its beginning) of 64-bit operands with this opcode and
 * ModRM byte. */
static bool is_wide(const struct code *code, size_t at, uint8_t opcode, uint8_t modrm)
{
	return byte_at(code, at) == 0x48 && byte_at(code, at + 1) == opcode &&
	       byte_at(code, at + 2) == modrm;
}

/* At AT an instruction refers to a variable by its distance: MOV from it, or LEA (OPCODE) of its
 * address, to any register. ADDRESS is the variable's. */
static bool is_relative(const struct code *code, size_t at, uint8_t opcode, uint64_t *address)
{
	if ((byte_at(code, at) & 0xfb) != 0x48 || byte_at(code, at + 1) != opcode ||
	    (byte_at(code, at + 2) & 0xc7) != 0x05)
		return false;
	*address = code->func->entry + at + 7 + (uint64_t)(int64_t)(int32_t)u32_at(code, at + 3);
	return true;
}

/* From AT on, the address of ADDRESS is taken. */
static bool takes_address(const struct code *code, size_t at, uint64_t address)
{
	uint64_t found;
	for (; at < code->size; at++)
		if (is_relative(code, at, 0x8d, &found) && found == address)
			return true;
	return false;
}

/* The offset at which the register that the MOV at AT loads is stored next. 0 if it is not. */
static uint32_t stored_at(const struct code *code, size_t at)
{
	uint8_t loaded = byte_at(code, at + 2) & 0x38;
	for (at += 7; at < code->size; at++)
		if (byte_at(code, at) == 0x48 && byte_at(code, at + 1) == 0x89 &&
		    (byte_at(code, at + 2) & 0xf8) == (0x80 | loaded))
			return u32_at(code, at + 3);
	return 0;
}

void gh_switch_amd64_allm(struct gh_runtime *runtime, const struct gh_pclntab *tab,
			  const struct gh_func *func)
{
	struct code code = code_of(tab, func);
	for (size_t at = 0; at < code.size; at++) {
		uint64_t address;
		/* mp.alllink = allm; atomicstorep(&allm, mp) */
		if (!is_relative(&code, at, 0x8b, &address) || !takes_address(&code, at, address))
			continue;
		runtime->allm = address;
		runtime->m_alllink = stored_at(&code, at);
		return;
	}
}

/* Some instruction loads the variable at ADDRESS. */
static bool loads(const struct code *code, uint64_t address)
{
	uint64_t found;
	for (size_t at = 0; at < code->size; at++)
		if (is_relative(code, at, 0x8b, &found) && found == address)
			return true;
	return false;
}

/* At AT a variable is stored to: by MOV, or by LEA of its address and XCHG with what is there. */
static bool is_store(const struct code *code, size_t at, uint64_t *address)
{
	return is_relative(code, at, 0x89, address) ||
	       (is_relative(code, at, 0x8d, address) && byte_at(code, at + 8) == 0x87);
}

void gh_switch_amd64_allgs(struct gh_runtime *runtime, const struct gh_pclntab *tab,
			   const struct gh_func *func)
{
	enum { WORD = 8, SLICE = 3 * WORD };
	struct code code = code_of(tab, func);
	uint64_t address;
	/* append loads the three words of the slice */
	for (size_t at = 0; at < code.size && runtime->allgs == 0; at++)
		if (is_relative(&code, at, 0x8b, &address) && loads(&code, address + WORD) &&
		    loads(&code, address + 2UL * WORD))
			runtime->allgs = address;
	/* atomic.Storeuintptr(&allglen, uintptr(len(allgs))) is the last that it stores */
	for (size_t at = 0; at < code.size && runtime->allgs != 0; at++)
		if (is_store(&code, at, &address) && address - runtime->allgs >= SLICE)
			runtime->allglen = address;
}

void gh_switch_amd64_offsets(struct gh_runtime *runtime, const struct gh_pclntab *tab,
			     const struct gh_func *func)
{
	struct code code = code_of(tab, func);
	for (size_t at = 0; at < code.size; at++) {
		/* CMPQ AX, m_curg(BX); MOVQ (g_sched+gobuf_sp)(AX), SP */
		if (is_wide(&code, at, 0x3b, 0x83))
			runtime->m_curg = u32_at(&code, at + 3);
		else if (is_wide(&code, at, 0x8b, 0x60))
			runtime->g_sched_sp = byte_at(&code, at + 3);
	}
}

/* The length of the instruction at AT if it loads SP: from a register, or from near where a
 * register points to. Else 0. */
static size_t sp_load(const struct code *code, size_t at)
{
	uint8_t prefix = byte_at(code, at);
	uint8_t opcode = byte_at(code, at + 1);
	uint8_t modrm = byte_at(code, at + 2);
	if ((prefix & 0xfb) == 0x48 && opcode == 0x89 && (modrm & 0xc7) == (0xc0 | RSP))
		return 3;
	if ((prefix & 0xfe) == 0x48 && opcode == 0x8b && (modrm & 0xf8) == (0x40 | RSP << 3))
		return 4;
	return 0;
}

/* At AT, SP is moved: loaded, or aligned. */
static bool moves_sp(const struct code *code, size_t at)
{
	return sp_load(code, at) != 0 || is_wide(code, at, 0x83, 0xe4) ||
	       /* SUBQ $n, SP; ANDQ $n, SP */
	       (is_wide(code, at, 0x83, 0xec) && is_wide(code, at + 4, 0x83, 0xe4));
}

/* The first such place from AT on; the end if there is none. */
static size_t find_move(const struct code *code, size_t at)
{
	while (at < code->size && !moves_sp(code, at))
		at++;
	return at;
}

static size_t find_load(const struct code *code, size_t at)
{
	while (at < code->size && sp_load(code, at) == 0)
		at++;
	return at;
}

/* How far the CFA is above what SP is at AT, were there no switch. */
static int32_t frame_at(const struct code *code, size_t at)
{
	int32_t delta =
	    gh_pcvalue_at(code->tab, code->func, code->func->pcsp, code->func->entry + at);
	return (delta < 0 ? 0 : delta) + 8;
}

/* Puts FOUND, from START to END in the code, and what lies between the last one and it. */
static void add(struct gh_switches *switches, const struct code *code, size_t *done,
		struct gh_switch found, size_t start, size_t end)
{
	uint64_t entry = code->func->entry;
	if (start < *done)
		start = *done;
	if (end <= start)
		return;
	gh_switches_add(switches, &(struct gh_switch){.start = entry + *done,
						      .end = entry + start,
						      .kind = GH_SWITCH_LOST});
	found.start = entry + start;
	found.end = entry + end;
	gh_switches_add(switches, &found);
	*done = end;
}

/* The DWARF number of a register that C functions preserve; 0 if REG is another. */
static uint8_t preserved(uint8_t reg)
{
	if (reg == RBP)
		return 6;
	return reg == RBX || reg >= R12 ? reg : 0;
}

/* At AT, CALL AX. */
static bool is_call_ax(const struct code *code, size_t at)
{
	return byte_at(code, at) == 0xff && byte_at(code, at + 1) == 0xd0;
}

/* Where the instruction before AT, which has to be a call, starts; AT if it is none. */
static size_t call_before(const struct code *code, size_t at)
{
	if (at >= 2 && is_call_ax(code, at - 2))
		return at - 2;
	return at >= 5 && byte_at(code, at - 5) == 0xe8 ? at - 5 : at;
}

/* The length of the instruction at AT if it is "OPCODE slot(SP), REG". Else 0. */
static size_t from_slot(const struct code *code, size_t at, uint8_t opcode, uint8_t reg,
			uint8_t *slot)
{
	uint8_t modrm = (uint8_t)(reg << 3 | 4);
	if (is_wide(code, at, opcode, modrm) && byte_at(code, at + 3) == 0x24) {
		*slot = 0;
		return 4;
	}
	if (is_wide(code, at, opcode, modrm | 0x40) && byte_at(code, at + 3) == 0x24) {
		*slot = byte_at(code, at + 4);
		return 5;
	}
	return 0;
}

/* The length of the instruction at AT if it loads the offset of g in the thread's storage, which
 * position-independent programs do. Else 0. */
static size_t g_offset_load(const struct code *code, size_t at)
{
	return is_wide(code, at, 0xc7, 0xc1) || is_wide(code, at, 0x8b, 0x0d) ? 7 : 0;
}

/* At AT, code that asmcgocall called has returned, and SP is restored from what was saved. Fills in
 * FOUND and the END of that. */
static bool is_restored(const struct code *code, size_t at, struct gh_switch *found, size_t *end)
{
	enum { RDX = 2, RSI = 6, RDI = 7 };
	static const uint8_t registers[] = {RDX, RSI};
	for (size_t i = 0; i < sizeof(registers); i++) {
		uint8_t reg = registers[i];
		size_t length = from_slot(code, at, 0x8b, reg, &found->sp_slot);
		if (length > 0 &&
		    is_wide(code, at + length, 0x89, (uint8_t)(0xc0 | reg << 3 | RSP))) {
			found->kind = GH_SWITCH_SAVED;
			*end = at + length;
			return true;
		}
	}
	/* MOVQ slot(SP), DI; MOVQ g_stack_hi(DI), SI; SUBQ slot(SP), SI */
	at += g_offset_load(code, at);
	size_t length = from_slot(code, at, 0x8b, RDI, &found->g_slot);
	if (length == 0 || !is_wide(code, at + length, 0x8b, 0x77) ||
	    byte_at(code, at + length + 3) != GH_G_STACK_HI ||
	    from_slot(code, at + length + 4, 0x2b, RSI, &found->sp_slot) == 0)
		return false;
	found->kind = GH_SWITCH_DEPTH;
	*end = find_load(code, at);
	return true;
}

/* Finds what calls C functions: those that keep SP in a register or save it. */
static void add_calls(struct gh_switches *switches, const struct code *code, size_t *done)
{
	size_t saved[16] = {0}; /* where SP was last moved to the register; 0 if it was not */
	size_t call = 0;        /* the last call of a C function */
	for (size_t at = 0; at < code->size; at++) {
		uint8_t prefix = byte_at(code, at);
		uint8_t modrm = byte_at(code, at + 2);
		struct gh_switch found = {0};
		size_t end;
		if (is_call_ax(code, at))
			call = at;
		if (call_before(code, at) < at && is_restored(code, at, &found, &end)) {
			found.frame = frame_at(code, at);
			add(switches, code, done, found, call_before(code, at), end);
		}
		if (byte_at(code, at + 1) != 0x89)
			continue;
		if ((prefix & 0xfe) == 0x48 && (modrm & 0xf8) == (0xc0 | RSP << 3)) {
			saved[(prefix & 1) << 3 | (modrm & 7)] = at;
		} else if ((prefix & 0xfb) == 0x48 && (modrm & 0xc7) == (0xc0 | RSP)) {
			uint8_t reg = (uint8_t)((prefix & 4) << 1 | (modrm >> 3 & 7));
			found.kind = GH_SWITCH_REGISTER;
			found.reg = preserved(reg);
			if (found.reg == 0 || saved[reg] == 0 || call < saved[reg])
				continue;
			found.frame = frame_at(code, saved[reg]);
			add(switches, code, done, found, saved[reg] + 3, at);
		}
	}
}

/* Finds what calls a Go function on the thread's own stack, from where that is loaded into SP to
 * where SP is loaded again. */
static bool add_running(struct gh_switches *switches, const struct code *code, size_t *done)
{
	const char *name = gh_pclntab_name(code->tab, code->func->name);
	size_t start = find_load(code, 0);
	struct gh_switch found = {.kind = GH_SWITCH_RUNNING};
	if (gh_stack_is_named(name, "runtime.systemstack")) {
		found.frame = frame_at(code, start);
	} else if (gh_stack_is_named(name, "runtime.mcall")) {
		found.kind = GH_SWITCH_CALLED;
		while (start < code->size && byte_at(code, start) != 0x50)
			start++; /* PUSHQ AX, the g that called */
		start++;
	} else if (!gh_stack_is_named(name, "runtime.morestack")) {
		return false;
	}
	start += sp_load(code, start);
	add(switches, code, done, found, start, find_load(code, start));
	return true;
}

void gh_switch_amd64_add(struct gh_switches *switches, const struct gh_pclntab *tab,
			 const struct gh_func *func)
{
	struct code code = code_of(tab, func);
	size_t done = find_move(&code, 0);
	if (done == 0 || done == code.size)
		done = 1;
	if (!add_running(switches, &code, &done))
		add_calls(switches, &code, &done);
	gh_switches_add(switches, &(struct gh_switch){.start = func->entry + done,
						      .end = func->end,
						      .kind = GH_SWITCH_LOST});
}

void gh_switch_amd64_callback(struct gh_switches *switches, const struct gh_pclntab *tab,
			      const struct gh_func *func)
{
	struct code code = code_of(tab, func);
	size_t start = find_load(&code, 0);
	start += sp_load(&code, start);
	size_t end = find_load(&code, start);
	end += sp_load(&code, end);
	if (start < end && end < code.size)
		gh_switches_add(switches, &(struct gh_switch){.start = func->entry + start,
							      .end = func->entry + end,
							      .kind = GH_SWITCH_CALLBACK,
							      .frame = frame_at(&code, start)});
}

void gh_saved_registers_amd64(struct gh_saved_registers *saved, const struct gh_pclntab *tab,
			      const struct gh_func *func)
{
	struct code code = code_of(tab, func);
	for (size_t at = 0; at < code.size && byte_at(&code, at) != 0xe8; at++) {
		/* MOVQ REG, slot(SP) */
		uint8_t prefix = byte_at(&code, at);
		uint8_t modrm = byte_at(&code, at + 2);
		bool has_slot = (modrm & 0xc7) == 0x44;
		if ((prefix & 0xfb) != 0x48 || byte_at(&code, at + 1) != 0x89 ||
		    (!has_slot && (modrm & 0xc7) != 0x04) || byte_at(&code, at + 3) != 0x24)
			continue;
		uint8_t reg = preserved((uint8_t)((prefix & 4) << 1 | (modrm >> 3 & 7)));
		uint8_t slot = has_slot ? byte_at(&code, at + 4) : 0;
		int32_t place = frame_at(&code, at) - slot;
		size_t most = sizeof(saved->items) / sizeof(saved->items[0]);
		if (reg == 0 || place <= 0 || saved->count == most)
			continue;
		saved->items[saved->count].reg = reg;
		saved->items[saved->count++].place = (uint64_t)place;
		saved->from = func->entry + at + (has_slot ? 5 : 4);
	}
}
