#include "lib/debugfile/internal.h"

#include <dwarf.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/debugfile/dwarf_entries.h"
#include "lib/pclntab/pclntab.h"

/* The section as it is written. */
struct frames {
	struct gh_buffer *out;
	const struct gh_pclntab *tab;
	const struct gh_arch *arch;
	const struct gh_switches *switches;
	size_t nswitches;             /* of those, how many have been passed */
	uint64_t address;             /* of the rule that is being written */
	int32_t delta;                /* the stack delta there */
	const struct gh_switch *code; /* that the rule is for; NULL if it is other code */
	bool elsewhere;               /* the CFA does not follow from SP */
	bool has_return;              /* the function's caller can be found */
	uint8_t column;               /* DWARF number of the return address */
	uint8_t call_size; /* how far the CFA is above SP for a stack delta of 0, in bytes */
	uint64_t fp_saved; /* from where on the frame pointer is saved; 0 if it never is */
	uint64_t fp_place; /* how far below the CFA it is, in bytes; 0 in the register */
	struct gh_saved_registers saved; /* those that are yet to be described */
	uint32_t injected;               /* offset of the common entry of injected calls */
	uint64_t goexit; /* entry of runtime.goexit if all return addresses are to be past it;
			    else 0 */
	uint64_t signal; /* entry of the function that signal handlers return to if it is
			    described; else 0 */
	bool is_for_any; /* the file is GH_FRAME_FOR_ANY */
};

/* A rule with a register, COLUMN, among its opcode's low bits, if it is small enough. */
static void add_register_rule(struct frames *frames, uint8_t opcode, uint8_t extended,
			      uint8_t column)
{
	if (column < 0x40) {
		gh_buffer_u8(frames->out, (uint8_t)(opcode | column));
	} else {
		gh_buffer_u8(frames->out, extended);
		gh_buffer_uleb128(frames->out, column);
	}
}

/* The register COLUMN is saved DISTANCE bytes below the CFA. */
static void register_saved(struct frames *frames, uint8_t column, uint64_t distance)
{
	add_register_rule(frames, DW_CFA_offset, DW_CFA_offset_extended, column);
	gh_buffer_uleb128(frames->out, distance / frames->arch->pointer_size);
}

/* It is where it was at the function's entry. */
static void register_as_at_entry(struct frames *frames, uint8_t column)
{
	add_register_rule(frames, DW_CFA_restore, DW_CFA_restore_extended, column);
}

static void return_address_undefined(struct frames *frames)
{
	gh_buffer_u8(frames->out, DW_CFA_undefined);
	gh_buffer_uleb128(frames->out, frames->column);
	frames->has_return = false;
}

static void same_value(struct frames *frames, uint8_t column)
{
	gh_buffer_u8(frames->out, DW_CFA_same_value);
	gh_buffer_uleb128(frames->out, column);
}

/* Where the return address is at the entry of a function, which a signal handler calls if it is
 * INJECTED. */
static void add_return_address(struct frames *frames, bool injected)
{
	const struct gh_arch *arch = frames->arch;
	if (injected) {
		gh_buffer_u8(frames->out, DW_CFA_register);
		gh_buffer_uleb128(frames->out, arch->dwarf_pc);
		gh_buffer_uleb128(frames->out, arch->dwarf_ra);
		register_saved(frames, arch->dwarf_ra, arch->injected_gap);
	} else if (arch->link_register) {
		same_value(frames, arch->dwarf_ra);
	} else {
		register_saved(frames, arch->dwarf_ra, arch->pointer_size);
	}
}

/* Turns to functions that are called so. */
static void set_call(struct frames *frames, bool injected)
{
	const struct gh_arch *arch = frames->arch;
	if (injected) {
		frames->column = arch->dwarf_pc;
		frames->call_size = arch->injected_gap;
	} else {
		frames->column = arch->dwarf_ra;
		frames->call_size = arch->link_register ? 0 : arch->pointer_size;
	}
}

/* A debugger takes registers without a rule to be the caller's. What is said to be in one at the
 * end of a function's prologue would be shown where a nil pointer stopped it there, when the
 * runtime has long used that register. */
static void arguments_undefined(struct frames *frames)
{
	const struct gh_register_run *runs = frames->arch->arg_registers;
	for (size_t i = 0; i < GH_MAX_REGISTER_RUNS; i++) {
		for (uint8_t j = 0; j < runs[i].count; j++) {
			gh_buffer_u8(frames->out, DW_CFA_undefined);
			gh_buffer_uleb128(frames->out, (uint8_t)(runs[i].first + j));
		}
	}
}

/* An expression, after its length. */
static void add_expression(struct frames *frames, struct gh_buffer *expression)
{
	gh_buffer_uleb128(frames->out, expression->size);
	gh_buffer_bytes(frames->out, expression->data, expression->size);
	frames->out->failed |= expression->failed;
	gh_buffer_free(expression);
}

/* Begins the rule that an expression gives the return address. */
static void return_address_given(struct frames *frames)
{
	gh_buffer_u8(frames->out, DW_CFA_val_expression);
	gh_buffer_uleb128(frames->out, frames->column);
}

static void advance(struct frames *frames, uint64_t address)
{
	if (address <= frames->address)
		return;
	struct gh_buffer *out = frames->out;
	uint64_t steps = (address - frames->address) / frames->tab->quantum;
	frames->address = address;
	if (steps < 0x40) {
		gh_buffer_u8(out, (uint8_t)(DW_CFA_advance_loc | steps));
	} else if (steps <= UINT8_MAX) {
		gh_buffer_u8(out, DW_CFA_advance_loc1);
		gh_buffer_u8(out, (uint8_t)steps);
	} else if (steps <= UINT16_MAX) {
		gh_buffer_u8(out, DW_CFA_advance_loc2);
		gh_buffer_u16(out, (uint16_t)steps);
	} else {
		gh_buffer_u8(out, DW_CFA_advance_loc4);
		gh_buffer_u32(out, (uint32_t)steps);
	}
}

/* Goroutines return to the second instruction of runtime.goexit, which is at ENTRY. Delve looks for
 * the rules there, and takes an address that is undefined for an error; GDB and LLDB look for those
 * of the instruction before it. */
static void return_address_zero(struct frames *frames, uint64_t entry)
{
	advance(frames, entry + frames->tab->quantum);
	return_address_given(frames);
	gh_buffer_uleb128(frames->out, 1);
	gh_buffer_u8(frames->out, DW_OP_lit0);
	advance(frames, entry + 2UL * frames->tab->quantum);
	return_address_undefined(frames);
}

/* The function may return to the entry of another, at ENTRY. */
static void returns_past_entry(struct frames *frames, uint64_t entry)
{
	struct gh_buffer expression = {.big_endian = frames->out->big_endian};
	if (frames->arch->link_register)
		return;
	return_address_given(frames);
	gh_return_past_entry(&expression, frames->arch, entry);
	add_expression(frames, &expression);
}

void gh_frame_entry_end(struct gh_buffer *out, size_t start, uint8_t word)
{
	gh_buffer_align(out, word);
	gh_buffer_patch(out, start, out->size - start - 4, 4);
}

size_t gh_common_entry_begin(struct gh_buffer *out, const char *augmentation, uint8_t quantum,
			     uint8_t word)
{
	size_t start = out->size;
	gh_buffer_u32(out, 0); /* length, from here */
	gh_buffer_u32(out, UINT32_MAX);
	gh_buffer_u8(out, 3); /* version: Delve reads those of DWARF 4 amiss */
	gh_buffer_string(out, augmentation);
	gh_buffer_uleb128(out, quantum);
	gh_buffer_sleb128(out, -word); /* unit of offsets from the CFA */
	return start;
}

/* The rules that hold at the entry of every function that is called so. The caller of one that is
 * INTERRUPTING was stopped anywhere in its code: as with a signal's frame, debuggers are to look
 * that place up, not the call before it. */
static void add_common_entry(struct frames *frames, bool interrupting)
{
	struct gh_buffer *out = frames->out;
	const struct gh_arch *arch = frames->arch;
	bool injected = interrupting && arch->link_register;
	set_call(frames, injected);
	size_t start = gh_common_entry_begin(out, interrupting ? "S" : "", frames->tab->quantum,
					     arch->pointer_size);
	gh_buffer_uleb128(out, frames->column);
	gh_buffer_u8(out, DW_CFA_def_cfa);
	gh_buffer_uleb128(out, arch->dwarf_sp);
	gh_buffer_uleb128(out, frames->call_size);
	add_return_address(frames, injected);
	if (arch->link_register) {
		/* Some ABIs have it that SP is restored like any other register. */
		gh_buffer_u8(out, DW_CFA_val_offset);
		gh_buffer_uleb128(out, arch->dwarf_sp);
		gh_buffer_uleb128(out, 0);
	}
	if (frames->goexit != 0)
		returns_past_entry(frames, frames->goexit);
	if (arch->dwarf_fp != 0)
		same_value(frames, arch->dwarf_fp);
	arguments_undefined(frames);
	gh_frame_entry_end(out, start, arch->pointer_size);
}

/* A stack delta that can be described. */
static bool is_usable(const struct gh_arch *arch, int32_t delta)
{
	if (arch->link_register)
		return delta >= 0 && delta % arch->pointer_size == 0;
	return delta >= -arch->pointer_size;
}

/* The rules where the stack delta is DELTA. */
static void add_rules(struct frames *frames, uint64_t address, int32_t delta)
{
	advance(frames, address);
	struct gh_buffer *out = frames->out;
	uint64_t offset = (uint64_t)((int64_t)delta + frames->call_size);
	if (frames->elsewhere) {
		gh_buffer_u8(out, DW_CFA_def_cfa);
		gh_buffer_uleb128(out, frames->arch->dwarf_sp);
	} else {
		gh_buffer_u8(out, DW_CFA_def_cfa_offset);
	}
	gh_buffer_uleb128(out, offset);
	frames->elsewhere = false;
	if (!frames->arch->link_register || !frames->has_return)
		return;
	/* A function that has a frame has saved the link register at its bottom. */
	if (delta > 0)
		register_saved(frames, frames->column, (uint64_t)delta + frames->call_size);
	else
		register_as_at_entry(frames, frames->column);
}

/* Where the frame pointer is at ADDRESS, where the stack delta is DELTA. */
static void add_frame_pointer(struct frames *frames, uint64_t address, int32_t delta)
{
	bool saved = frames->fp_saved != 0 && address >= frames->fp_saved && delta > 0;
	uint64_t place = saved ? gh_arch_frame_pointer_place(frames->arch, (uint64_t)delta) : 0;
	if (saved && frames->arch->link_register)
		place += frames->call_size;
	if (place == frames->fp_place)
		return;
	advance(frames, address);
	if (saved)
		register_saved(frames, frames->arch->dwarf_fp, place);
	else
		register_as_at_entry(frames, frames->arch->dwarf_fp);
	frames->fp_place = place;
}

/* Where the registers are that the function has saved by ADDRESS. */
static void add_saved_registers(struct frames *frames, uint64_t address)
{
	struct gh_saved_registers *saved = &frames->saved;
	if (saved->count == 0 || address < saved->from)
		return;
	advance(frames, address);
	for (size_t i = 0; i < saved->count; i++)
		/* On amd64 the frame pointer is where functions have it. */
		if (saved->items[i].reg != frames->arch->dwarf_fp || frames->arch->link_register)
			register_saved(frames, saved->items[i].reg, saved->items[i].place);
	saved->count = 0;
}

/* The rules where another stack is in use. */
static void add_switch(struct frames *frames, uint64_t address, const struct gh_switch *code)
{
	struct gh_buffer *out = frames->out;
	struct gh_buffer expression = {.big_endian = out->big_endian};
	advance(frames, address);
	frames->elsewhere = true;
	if (code->kind == GH_SWITCH_REGISTER) {
		gh_buffer_u8(out, DW_CFA_def_cfa);
		gh_buffer_uleb128(out, code->reg);
		gh_buffer_uleb128(out, (uint64_t)code->frame);
	} else {
		gh_buffer_u8(out, DW_CFA_def_cfa_expression);
		gh_switch_cfa(&expression, code, frames->arch, &frames->switches->runtime);
		add_expression(frames, &expression);
	}
	if (code->kind >= GH_SWITCH_RUNNING) {
		return_address_given(frames);
		gh_switch_return(&expression, code, frames->arch, &frames->switches->runtime);
		add_expression(frames, &expression);
	} else if (!frames->has_return && frames->arch->link_register && code->frame > 0) {
		register_saved(frames, frames->column, (uint64_t)code->frame + frames->call_size);
	} else if (!frames->has_return) {
		register_as_at_entry(frames, frames->column);
	}
	frames->has_return = true;
}

/* The code with a switch that ADDRESS is in; NULL if there is none. NEXT, which is an end, becomes
 * where that changes, if it is before. Addresses do not decrease from call to call. */
static const struct gh_switch *switch_at(struct frames *frames, uint64_t address, uint64_t *next)
{
	const struct gh_switches *switches = frames->switches;
	while (frames->nswitches < switches->list.count &&
	       switches->list.items[frames->nswitches].end <= address)
		frames->nswitches++;
	if (frames->nswitches == switches->list.count)
		return NULL;
	const struct gh_switch *code = &switches->list.items[frames->nswitches];
	bool inside = code->start <= address;
	uint64_t change = inside ? code->end : code->start;
	if (change < *next)
		*next = change;
	return inside ? code : NULL;
}

/* Writes the rules from ADDRESS to END, where the stack delta is DELTA. */
static void add_run(struct frames *frames, uint64_t address, uint64_t end, int32_t delta)
{
	while (address < end) {
		uint64_t next = end;
		const struct gh_switch *code = switch_at(frames, address, &next);
		if (address < frames->fp_saved && frames->fp_saved < next)
			next = frames->fp_saved;
		if (address < frames->saved.from && frames->saved.from < next)
			next = frames->saved.from;
		if (code != NULL && code->kind != GH_SWITCH_LOST) {
			if (code != frames->code)
				add_switch(frames, address, code);
		} else {
			if (delta != frames->delta || frames->elsewhere)
				add_rules(frames, address, delta);
			if (code != NULL && frames->has_return) {
				advance(frames, address);
				return_address_undefined(frames);
			}
		}
		add_frame_pointer(frames, address, delta);
		add_saved_registers(frames, address);
		frames->code = code;
		frames->delta = delta;
		address = next;
	}
}

/* Writes the description of function INDEX, which is FUNC, called NAME and of the kind END. */
static void add_function(struct frames *frames, size_t index, const struct gh_func *func,
			 const char *name, enum gh_stack_end end)
{
	struct gh_buffer *out = frames->out;
	uint8_t word = frames->arch->pointer_size;
	size_t start = out->size;
	bool injected = frames->arch->link_register && gh_is_injected(name);
	set_call(frames, injected);
	gh_buffer_u32(out, 0); /* length, from here */
	gh_buffer_u32(out, gh_is_injected(name) ? frames->injected : 0);
	gh_buffer_uint(out, func->entry, word);
	uint64_t goexit = frames->goexit != 0 ? 0 : gh_goexit_after(frames->tab, index);
	uint64_t end_address = goexit != 0 ? goexit : func->end;
	if (end_address == frames->signal)
		end_address -= frames->tab->quantum;
	gh_buffer_uint(out, end_address - func->entry, word);
	frames->address = func->entry;
	frames->has_return = true;
	frames->elsewhere = false;
	frames->delta = 0;
	frames->fp_saved = 0;
	frames->fp_place = 0;
	gh_saved_registers(&frames->saved, frames->tab, func);
	if (end == GH_STACK_ENDS) {
		return_address_undefined(frames);
		if (frames->is_for_any && gh_stack_is_named(name, "runtime.goexit"))
			return_address_zero(frames, func->entry);
	} else if (frames->switches->runtime.systemstack_switch != 0 &&
		   gh_stack_is_named(name, "runtime.cgocallback")) {
		/* Up to Go 1.20 it can return to that. */
		returns_past_entry(frames, frames->switches->runtime.systemstack_switch);
	}

	struct gh_pcvalue walk;
	gh_pcvalue_start(&walk, frames->tab, func, func->pcsp);
	int32_t delta = 0;
	bool has_frame = false;
	uint64_t done = func->entry;
	while (done < func->end && gh_pcvalue_next(&walk)) {
		if (is_usable(frames->arch, walk.value)) {
			if (!has_frame && walk.value > 0) {
				frames->fp_saved = gh_frame_pointer_saved(frames->tab, func,
									  walk.start, walk.value);
				has_frame = true;
			}
			delta = walk.value;
		}
		done = walk.end < func->end ? walk.end : func->end;
		add_run(frames, walk.start, done, delta);
	}
	add_run(frames, done, func->end, delta);
	if (goexit != 0) {
		advance(frames, goexit - frames->tab->quantum);
		return_address_undefined(frames);
	}
	gh_frame_entry_end(out, start, word);
}

static uint64_t find_goexit(const struct gh_pclntab *tab)
{
	uint64_t found = 0;
	for (size_t i = 0; tab->format <= GH_PCLNTAB_1_2 && i < tab->nfunc && found == 0; i++)
		found = gh_goexit_after(tab, i);
	return found;
}

static uint64_t find_signal_frame(const struct gh_pclntab *tab, bool has_flags)
{
	struct gh_func func;
	if (tab->image->arch->signal_frame.dwarf == NULL)
		return 0;
	for (size_t i = 0; i < tab->nfunc && gh_pclntab_record(tab, i, &func, NULL); i++)
		if (gh_stack_end(&func, gh_pclntab_name(tab, func.name), has_flags) ==
		    GH_STACK_SIGNAL_FRAME)
			return func.entry;
	return 0;
}

bool gh_frame_make(struct gh_buffer *out, const struct gh_pclntab *tab,
		   const struct gh_switches *switches, enum gh_frame_reader reader,
		   struct gh_error *err)
{
	struct frames frames = {.out = out,
				.tab = tab,
				.arch = tab->image->arch,
				.switches = switches,
				.is_for_any = reader == GH_FRAME_FOR_ANY};
	*out = (struct gh_buffer){.big_endian = frames.arch->big_endian};
	bool has_flags = gh_stack_has_flags(tab);
	if (reader == GH_FRAME_FOR_GDB_NAMES) {
		frames.goexit = find_goexit(tab);
		frames.signal = find_signal_frame(tab, has_flags);
	}
	add_common_entry(&frames, false);
	frames.injected = (uint32_t)out->size;
	add_common_entry(&frames, true);
	for (size_t i = 0; i < tab->nfunc; i++) {
		struct gh_func func;
		if (!gh_pclntab_func(tab, i, &func, err))
			return false;
		const char *name = gh_pclntab_name(tab, func.name);
		enum gh_stack_end end = gh_stack_end(&func, name, has_flags);
		if (end != GH_STACK_SIGNAL_FRAME)
			add_function(&frames, i, &func, name, end);
		else if (func.entry == frames.signal)
			gh_signal_frame_add(out, frames.arch, &func);
	}
	return !out->failed || gh_fail_memory(err, tab->image->path);
}
