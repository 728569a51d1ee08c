#include "lib/write/dwarf_frame.h"

#include "lib/pclntab/pcvalue.h"
#include "lib/write/dwarf.h"
#include "lib/write/stackend.h"

/* The section as it is written. */
struct frames {
	struct gh_buffer *out;
	const struct gh_pclntab *tab;
	const struct gh_arch *arch;
	uint64_t address; /* of the rule that is being written */
	bool has_return;  /* the function's caller can be found */
};

/* A rule with a register among its opcode's low bits, if it is small enough. */
static void add_register_rule(struct frames *frames, uint8_t opcode, uint8_t extended)
{
	uint8_t column = frames->arch->dwarf_ra;
	if (column < 0x40) {
		gh_buffer_u8(frames->out, (uint8_t)(opcode | column));
	} else {
		gh_buffer_u8(frames->out, extended);
		gh_buffer_uleb128(frames->out, column);
	}
}

/* The return address is DISTANCE bytes below the CFA. */
static void return_address_saved(struct frames *frames, uint64_t distance)
{
	add_register_rule(frames, DW_CFA_offset, DW_CFA_offset_extended);
	gh_buffer_uleb128(frames->out, distance / frames->arch->pointer_size);
}

/* The return address is where it was at the function's entry. */
static void return_address_as_at_entry(struct frames *frames)
{
	add_register_rule(frames, DW_CFA_restore, DW_CFA_restore_extended);
}

static void return_address_undefined(struct frames *frames)
{
	gh_buffer_u8(frames->out, DW_CFA_undefined);
	gh_buffer_uleb128(frames->out, frames->arch->dwarf_ra);
	frames->has_return = false;
}

/* How far the CFA, the value of SP before the call, is above SP, for a stack delta of 0. */
static uint8_t call_size(const struct gh_arch *arch)
{
	return arch->link_register ? 0 : arch->pointer_size;
}

/* The rules that hold at the entry of every function. */
static void add_common_entry(struct frames *frames)
{
	struct gh_buffer *out = frames->out;
	const struct gh_arch *arch = frames->arch;
	size_t start = out->size;
	gh_buffer_u32(out, 0); /* length, from here */
	gh_buffer_u32(out, UINT32_MAX);
	gh_buffer_u8(out, 4); /* version */
	gh_buffer_u8(out, 0); /* no augmentation */
	gh_buffer_u8(out, arch->pointer_size);
	gh_buffer_u8(out, 0); /* size of a segment selector: none */
	gh_buffer_uleb128(out, frames->tab->quantum);
	gh_buffer_sleb128(out, -arch->pointer_size); /* unit of offsets from the CFA */
	gh_buffer_uleb128(out, arch->dwarf_ra);
	gh_buffer_u8(out, DW_CFA_def_cfa);
	gh_buffer_uleb128(out, arch->dwarf_sp);
	gh_buffer_uleb128(out, call_size(arch));
	if (arch->link_register) {
		gh_buffer_u8(out, DW_CFA_same_value);
		gh_buffer_uleb128(out, arch->dwarf_ra);
		/* Some ABIs have it that SP is restored like any other register. */
		gh_buffer_u8(out, DW_CFA_val_offset);
		gh_buffer_uleb128(out, arch->dwarf_sp);
		gh_buffer_uleb128(out, 0);
	} else {
		return_address_saved(frames, arch->pointer_size);
	}
	gh_buffer_align(out, arch->pointer_size);
	gh_buffer_patch(out, start, out->size - start - 4, 4);
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
	gh_buffer_u8(frames->out, DW_CFA_def_cfa_offset);
	gh_buffer_uleb128(frames->out, (uint64_t)((int64_t)delta + call_size(frames->arch)));
	if (!frames->arch->link_register || !frames->has_return)
		return;
	/* A function that has a frame has saved the link register at its bottom. */
	if (delta > 0)
		return_address_saved(frames, (uint64_t)delta);
	else
		return_address_as_at_entry(frames);
}

/* Writes the description of FUNC, which is of the kind END. */
static void add_function(struct frames *frames, const struct gh_func *func, enum gh_stack_end end)
{
	struct gh_buffer *out = frames->out;
	uint8_t word = frames->arch->pointer_size;
	size_t start = out->size;
	gh_buffer_u32(out, 0); /* length, from here */
	gh_buffer_u32(out, 0); /* offset of the common entry */
	gh_buffer_uint(out, func->entry, word);
	gh_buffer_uint(out, func->end - func->entry, word);
	frames->address = func->entry;
	frames->has_return = true;
	if (end == GH_STACK_SWITCHES)
		advance(frames, func->entry + frames->tab->quantum);
	if (end != GH_STACK_GOES_ON)
		return_address_undefined(frames);

	struct gh_pcvalue walk;
	gh_pcvalue_start(&walk, frames->tab, func, func->pcsp);
	int32_t delta = 0;
	while (gh_pcvalue_next(&walk) && walk.start < func->end) {
		if (walk.value == delta || !is_usable(frames->arch, walk.value))
			continue;
		delta = walk.value;
		add_rules(frames, walk.start, delta);
	}
	gh_buffer_align(out, word);
	gh_buffer_patch(out, start, out->size - start - 4, 4);
}

bool gh_frame_make(struct gh_buffer *out, const struct gh_pclntab *tab, struct gh_error *err)
{
	struct frames frames = {.out = out, .tab = tab, .arch = tab->image->arch};
	*out = (struct gh_buffer){.big_endian = frames.arch->big_endian};
	add_common_entry(&frames);
	bool has_flags = gh_stack_has_flags(tab);
	for (size_t i = 0; i < tab->nfunc; i++) {
		struct gh_func func;
		if (!gh_pclntab_func(tab, i, &func, err))
			return false;
		enum gh_stack_end end =
		    gh_stack_end(&func, gh_pclntab_name(tab, func.name), has_flags);
		if (end != GH_STACK_SIGNAL_FRAME)
			add_function(&frames, &func, end);
	}
	return !out->failed || gh_fail_errno(err, tab->image->path, "make DWARF");
}
