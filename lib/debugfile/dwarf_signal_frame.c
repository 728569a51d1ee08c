#include "lib/debugfile/dwarf_entries.h"

#include <dwarf.h>

/* struct ucontext and struct sigcontext of Linux, arch/x86/include/uapi/asm. */

/* Where the registers are that the kernel has saved, by DWARF number. */
struct layout {
	uint8_t registers;   /* how many there are, the pc, which is the last, included */
	uint8_t sp;          /* the stack pointer's number */
	uint8_t pointer;     /* where SP points to a pointer to them; 0: SP points to them itself */
	uint8_t offsets[17]; /* in bytes */
};

static const struct layout amd64 = {
    .registers = 17,
    .sp = 7,
    .offsets = {144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96, 168}};

static const struct layout x86 = {
    .registers = 9, .sp = 4, .pointer = 8, .offsets = {64, 60, 56, 52, 48, 44, 40, 36, 76}};

static const struct layout *find_layout(const struct gh_arch *arch)
{
	switch (arch->isa) {
	case GH_ISA_AMD64:
		return &amd64;
	case GH_ISA_386:
		return &x86;
	default:
		return NULL;
	}
}

bool gh_signal_frame_known(const struct gh_arch *arch)
{
	return find_layout(arch) != NULL;
}

/* Adds the expression, after its length, of where a register is; or, with DEREF, of its value. */
static void add_place(struct gh_buffer *out, const struct layout *layout, uint8_t number,
		      bool deref)
{
	struct gh_buffer ops = {.big_endian = out->big_endian};
	gh_buffer_u8(&ops, (uint8_t)(DW_OP_breg0 + layout->sp));
	if (layout->pointer != 0) {
		gh_buffer_sleb128(&ops, layout->pointer);
		gh_buffer_u8(&ops, DW_OP_deref);
		gh_buffer_u8(&ops, DW_OP_plus_uconst);
		gh_buffer_uleb128(&ops, layout->offsets[number]);
	} else {
		gh_buffer_sleb128(&ops, layout->offsets[number]);
	}
	if (deref)
		gh_buffer_u8(&ops, DW_OP_deref);
	gh_buffer_uleb128(out, ops.size);
	gh_buffer_bytes(out, ops.data, ops.size);
	out->failed |= ops.failed;
	gh_buffer_free(&ops);
}

static void end_entry(struct gh_buffer *out, size_t start, uint8_t word)
{
	gh_buffer_align(out, word);
	if (!out->failed)
		gh_buffer_patch(out, start, out->size - start - 4, 4);
}

void gh_signal_frame_add(struct gh_buffer *out, const struct gh_arch *arch,
			 const struct gh_func *func)
{
	const struct layout *layout = find_layout(arch);
	uint8_t word = arch->pointer_size;
	size_t common = gh_common_entry_begin(out, "S", arch->quantum, word);
	gh_buffer_uleb128(out, layout->registers - 1U);
	gh_buffer_u8(out, DW_CFA_def_cfa_expression);
	add_place(out, layout, layout->sp, true);
	for (uint8_t i = 0; i < layout->registers; i++) {
		gh_buffer_u8(out, DW_CFA_expression);
		gh_buffer_uleb128(out, i);
		add_place(out, layout, i, false);
	}
	end_entry(out, common, word);

	/* Debuggers look for the call before a return address. */
	size_t start = out->size;
	gh_buffer_u32(out, 0);
	gh_buffer_u32(out, (uint32_t)common);
	gh_buffer_uint(out, func->entry - arch->quantum, word);
	gh_buffer_uint(out, func->end - func->entry + arch->quantum, word);
	end_entry(out, start, word);
}
