#include "lib/code/internal.h"

#include "lib/pclntab/pclntab.h"

/* In instructions; see stack_switch_amd64.c. */
#define MAX_CODE 1024

enum {
	REGISTER_FIRST_PRESERVED = 19, /* to g: those that C functions preserve */
	REGISTER_G = 28,
	REGISTER_SP = 31,
};

/* The code of a function. */
struct code {
	struct gh_cursor cur;
	size_t count; /* of instructions */
	const struct gh_pclntab *tab;
	const struct gh_func *func;
};

static struct code code_of(const struct gh_pclntab *tab, const struct gh_func *func)
{
	struct code code = {.tab = tab, .func = func};
	struct gh_cursor cur;
	if (tab->image->arch->isa != GH_ISA_ARM64 || !gh_image_at(tab->image, func->entry, &cur))
		return code;
	uint64_t count = (func->end - func->entry) / 4;
	if (count > gh_cursor_left(&cur) / 4)
		count = gh_cursor_left(&cur) / 4;
	code.count = count > MAX_CODE ? MAX_CODE : (size_t)count;
	code.cur = gh_cursor_slice(&cur, (uint64_t)(cur.pos - cur.start), code.count * 4);
	return code;
}

/* Instruction number I; past the end 0, which is none of those looked for here. */
static uint32_t instruction(const struct code *code, size_t i)
{
	struct gh_cursor cur = gh_cursor_slice(&code->cur, i * 4, 4);
	return gh_cursor_u32(&cur);
}

/* MOVD offset(BASE), REG. */
static bool is_load(uint32_t word, uint8_t *base, uint8_t *reg, uint32_t *offset)
{
	*base = word >> 5 & 31;
	*reg = word & 31;
	*offset = (word >> 10 & 0xfff) * 8;
	return (word & 0xffc00000) == 0xf9400000;
}

/* MOVD REG, RSP. */
static bool is_sp_load(uint32_t word, uint8_t *reg)
{
	*reg = word >> 5 & 31;
	return (word & 0xfffffc1f) == 0x9100001f && *reg != REGISTER_SP;
}

static bool is_call(uint32_t word)
{
	return (word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000;
}

void gh_switch_arm64_offsets(struct gh_runtime *runtime, const struct gh_pclntab *tab,
			     const struct gh_func *func)
{
	struct code code = code_of(tab, func);
	for (size_t i = 0; i < code.count; i++) {
		uint8_t base, reg, next_base, next_reg;
		uint32_t offset, next_offset;
		uint32_t next = instruction(&code, i + 1);
		if (!is_load(instruction(&code, i), &base, &reg, &offset) || base != REGISTER_G)
			continue;
		/* MOVD g_m(g), R3; MOVD m_curg(R3), g */
		if (is_load(next, &next_base, &next_reg, &next_offset) && next_base == reg &&
		    next_reg == REGISTER_G) {
			runtime->g_m = offset;
			runtime->m_curg = next_offset;
		}
		/* MOVD (g_sched+gobuf_sp)(g), R0; MOVD R0, RSP */
		if (is_sp_load(next, &next_reg) && next_reg == reg)
			runtime->g_sched_sp = offset;
	}
}

/* The stack delta at instruction I. */
static int32_t delta_at(const struct code *code, size_t i)
{
	return gh_pcvalue_at(code->tab, code->func, code->func->pcsp, code->func->entry + i * 4);
}

static size_t find_sp_load(const struct code *code, size_t i)
{
	uint8_t reg;
	while (i < code->count && !is_sp_load(instruction(code, i), &reg))
		i++;
	return i;
}

/* Where the caller's pc and SP are lost: SP is loaded, or a function that has not saved the link
 * register makes a call. */
static size_t find_loss(const struct code *code)
{
	size_t load = find_sp_load(code, 0);
	for (size_t i = 0; i < load; i++)
		if (is_call(instruction(code, i)) && delta_at(code, i) <= 0)
			return i;
	return load;
}

/* MOVD RSP, REG, which C functions preserve. */
static bool is_sp_save(uint32_t word, uint8_t *reg)
{
	*reg = word & 31;
	return (word & 0xffffffe0) == 0x910003e0 && *reg >= REGISTER_FIRST_PRESERVED &&
	       *reg < REGISTER_G;
}

/* Adds the code between where SP is moved to such a register and where it is moved back: it calls C
 * functions, those of the vDSO. */
static bool add_register(struct gh_switches *switches, const struct code *code)
{
	struct gh_switch found = {.kind = GH_SWITCH_REGISTER};
	uint8_t reg = 0;
	size_t start = 0;
	while (start < code->count && !is_sp_save(instruction(code, start), &found.reg))
		start++;
	size_t end = start++;
	while (end < code->count && (!is_sp_load(instruction(code, end), &reg) || reg != found.reg))
		end++;
	if (end >= code->count || delta_at(code, start) <= 0)
		return false;
	found.start = code->func->entry + start * 4;
	found.end = code->func->entry + (end + 1) * 4;
	found.frame = delta_at(code, start);
	gh_switches_add(switches, &found);
	return true;
}

static bool is_call_register(uint32_t word)
{
	return (word & 0xfffffc1f) == 0xd63f0000;
}

/* Adds the code of runtime.asmcgocall from where it calls a C function on the thread's own stack,
 * up to where SP is that of the goroutine again. It has saved there which goroutine that was, and
 * how far SP was below the top of its stack. Gives where that ends: the end of the code if there is
 * none. */
static size_t add_depth(struct gh_switches *switches, const struct code *code, uint64_t done)
{
	struct gh_switch found = {.kind = GH_SWITCH_DEPTH};
	uint8_t base = 0, reg = 0;
	uint32_t g_slot = 0, sp_slot = 0;
	size_t load = 2;
	/* BL (R1); MOVD R0, R9; MOVD slot(RSP), g */
	while (load < code->count && (!is_call_register(instruction(code, load - 2)) ||
				      !is_load(instruction(code, load), &base, &reg, &g_slot) ||
				      base != REGISTER_SP || reg != REGISTER_G))
		load++;
	size_t end = find_sp_load(code, load);
	size_t slot = load + 1;
	while (slot < end &&
	       (!is_load(instruction(code, slot), &base, &reg, &sp_slot) || base != REGISTER_SP))
		slot++;
	if (slot >= end || end >= code->count || g_slot > UINT8_MAX || sp_slot > UINT8_MAX)
		return code->count;
	size_t start = load - 2;
	found.start = code->func->entry + start * 4;
	found.end = code->func->entry + end * 4;
	found.frame = delta_at(code, start);
	found.g_slot = (uint8_t)g_slot;
	found.sp_slot = (uint8_t)sp_slot;
	gh_switches_add(switches, &(struct gh_switch){
				      .start = done, .end = found.start, .kind = GH_SWITCH_LOST});
	gh_switches_add(switches, &found);
	return end;
}

void gh_switch_arm64_callback(struct gh_switches *switches, const struct gh_pclntab *tab,
			      const struct gh_func *func)
{
	/* Where the frame on the thread's own stack has what sched.sp was before (unwindm in
	 * src/runtime/cgocall.go). */
	enum { SAVED_SP = 16 };
	struct code code = code_of(tab, func);
	size_t start = find_sp_load(&code, 0) + 1;
	size_t end = find_sp_load(&code, start) + 1;
	if (start < end && end < code.count && delta_at(&code, start) > 0)
		gh_switches_add(switches, &(struct gh_switch){.start = func->entry + start * 4,
							      .end = func->entry + end * 4,
							      .kind = GH_SWITCH_CALLBACK,
							      .frame = delta_at(&code, start),
							      .sp_slot = SAVED_SP});
}

/* Notes that REG is saved at PLACE bytes above SP by instruction I. */
static void add_saved(struct gh_saved_registers *saved, const struct code *code, size_t i,
		      uint8_t reg, uint32_t place)
{
	size_t most = sizeof(saved->items) / sizeof(saved->items[0]);
	int32_t delta = delta_at(code, i);
	if (reg < REGISTER_FIRST_PRESERVED || reg == REGISTER_SP || saved->count == most ||
	    delta <= 0 || place >= (uint32_t)delta)
		return;
	saved->items[saved->count].reg = reg;
	saved->items[saved->count++].place = (uint32_t)delta - place;
	saved->from = code->func->entry + (i + 1) * 4;
}

void gh_saved_registers_arm64(struct gh_saved_registers *saved, const struct gh_pclntab *tab,
			      const struct gh_func *func)
{
	struct code code = code_of(tab, func);
	for (size_t i = 0; i < code.count && !is_call(instruction(&code, i)); i++) {
		uint32_t word = instruction(&code, i);
		uint8_t first = word & 31;
		if ((word >> 5 & 31) != REGISTER_SP)
			continue;
		if ((word & 0xffc00000) == 0xf9000000) { /* MOVD REG, slot(RSP) */
			add_saved(saved, &code, i, first, (word >> 10 & 0xfff) * 8);
		} else if ((word & 0xffe00000) == 0xa9000000) { /* STP (REG, REG), slot(RSP) */
			uint32_t slot = (word >> 15 & 63) * 8;
			add_saved(saved, &code, i, first, slot);
			add_saved(saved, &code, i, word >> 10 & 31, slot + 8);
		}
	}
}

/* What calls morestack has not saved the link register, which morestack is called with: DWARF has
 * but one column for that and where morestack returns to. There backtraces end. */
void gh_switch_arm64_add(struct gh_switches *switches, const struct gh_pclntab *tab,
			 const struct gh_func *func)
{
	const char *name = gh_pclntab_name(tab, func->name);
	struct code code = code_of(tab, func);
	if (add_register(switches, &code))
		return;
	size_t loss = find_loss(&code);
	size_t start = find_sp_load(&code, 0) + 1;
	uint64_t done = func->entry + (loss == 0 || loss == code.count ? 1 : loss) * 4;
	struct gh_switch found = {.kind = GH_SWITCH_LOST};
	if (gh_stack_is_named(name, "runtime.systemstack") && delta_at(&code, start) > 0) {
		found.kind = GH_SWITCH_RUNNING;
		found.frame = delta_at(&code, start);
	} else if (gh_stack_is_named(name, "runtime.mcall")) {
		found.kind = GH_SWITCH_CALLED;
	}
	if (gh_stack_is_named(name, "runtime.asmcgocall")) {
		size_t end = add_depth(switches, &code, done);
		if (end < code.count)
			done = func->entry + end * 4;
	}
	if (found.kind != GH_SWITCH_LOST && start < code.count) {
		found.start = func->entry + start * 4;
		found.end = func->entry + find_sp_load(&code, start) * 4;
		gh_switches_add(
		    switches,
		    &(struct gh_switch){.start = done, .end = found.start, .kind = GH_SWITCH_LOST});
		gh_switches_add(switches, &found);
		done = found.end;
	}
	gh_switches_add(
	    switches, &(struct gh_switch){.start = done, .end = func->end, .kind = GH_SWITCH_LOST});
}
