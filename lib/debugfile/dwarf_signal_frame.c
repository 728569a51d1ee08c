#include "lib/debugfile/dwarf_entries.h"

#include <dwarf.h>

/* Adds the expression, after its length, of where what is at OFFSET in the frame is; or, with
 * DEREF, of its value. */
static void add_place(struct gh_buffer *out, const struct gh_arch *arch, uint64_t offset,
		      bool deref)
{
	const struct gh_signal_frame *frame = &arch->signal_frame;
	struct gh_buffer ops = {.big_endian = out->big_endian};
	gh_buffer_u8(&ops, (uint8_t)(DW_OP_breg0 + arch->dwarf_sp));
	if (frame->context_at != 0) {
		gh_buffer_sleb128(&ops, frame->context_at);
		gh_buffer_u8(&ops, DW_OP_deref);
		gh_buffer_u8(&ops, DW_OP_plus_uconst);
		gh_buffer_uleb128(&ops, offset - frame->context);
	} else {
		gh_buffer_sleb128(&ops, (int64_t)offset);
	}
	if (deref)
		gh_buffer_u8(&ops, DW_OP_deref);
	gh_buffer_uleb128(out, ops.size);
	gh_buffer_bytes(out, ops.data, ops.size);
	out->failed |= ops.failed;
	gh_buffer_free(&ops);
}

/* Adds where the kernel has saved the register of that DWARF number. */
static void add_rule(struct gh_buffer *out, const struct gh_arch *arch, uint8_t number,
		     uint64_t offset)
{
	gh_buffer_u8(out, DW_CFA_expression);
	gh_buffer_uleb128(out, number);
	add_place(out, arch, offset, false);
}

void gh_signal_frame_add(struct gh_buffer *out, const struct gh_arch *arch,
			 const struct gh_func *func)
{
	const struct gh_signal_frame *frame = &arch->signal_frame;
	uint8_t word = arch->pointer_size;
	size_t common = gh_common_entry_begin(out, "S", arch->quantum, word);
	gh_buffer_uleb128(out, arch->dwarf_pc);
	gh_buffer_u8(out, DW_CFA_def_cfa_expression);
	add_place(out, arch, frame->sp, true);
	for (unsigned i = 0; i < frame->count; i++)
		add_rule(out, arch, frame->dwarf[i], frame->registers + i * word);
	add_rule(out, arch, arch->dwarf_pc, frame->pc);
	gh_frame_entry_end(out, common, word);

	/* Debuggers look for the call before a return address. */
	size_t start = out->size;
	gh_buffer_u32(out, 0);
	gh_buffer_u32(out, (uint32_t)common);
	gh_buffer_uint(out, func->entry - arch->quantum, word);
	gh_buffer_uint(out, func->end - func->entry + arch->quantum, word);
	gh_frame_entry_end(out, start, word);
}
