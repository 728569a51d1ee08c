#include "lib/debugfile/internal.h"

#include <dwarf.h>

static void add_op(struct gh_buffer *out, uint8_t op)
{
	gh_buffer_u8(out, op);
}

/* SP, and OFFSET bytes. */
static void add_sp(struct gh_buffer *out, const struct gh_arch *arch, uint8_t offset)
{
	add_op(out, (uint8_t)(DW_OP_breg0 + arch->dwarf_sp));
	gh_buffer_sleb128(out, offset);
}

/* Whether SP is on the stack of the g on the stack. */
static void add_is_on_stack(struct gh_buffer *out, const struct gh_arch *arch)
{
	add_op(out, DW_OP_dup);
	add_op(out, DW_OP_deref);
	add_sp(out, arch, 0);
	add_op(out, DW_OP_le);
	add_op(out, DW_OP_swap);
	gh_op_field(out, GH_G_STACK_HI);
	add_sp(out, arch, 0);
	add_op(out, DW_OP_gt);
	add_op(out, DW_OP_and);
}

/* The m whose g at OFFSET in it has SP on its stack. A register or the thread's storage would tell
 * it as well, but on amd64 neither can be had in an expression after C code, or before Go 1.17.
 * Returns the jump that is taken if there is none. */
static size_t add_listed_thread(struct gh_buffer *out, const struct gh_arch *arch,
				const struct gh_runtime *runtime, uint32_t offset)
{
	gh_op_address(out, arch, runtime->allm);
	add_op(out, DW_OP_deref);
	size_t again = out->size;
	size_t none = gh_op_jump_if_nil(out);
	add_op(out, DW_OP_dup);
	gh_op_field(out, offset);
	size_t idle = gh_op_jump_if_nil(out);
	add_is_on_stack(out, arch);
	size_t found = gh_op_jump(out, DW_OP_bra);
	size_t next = gh_op_jump(out, DW_OP_skip);
	gh_op_set_target(out, idle, out->size);
	add_op(out, DW_OP_drop);
	gh_op_set_target(out, next, out->size);
	gh_op_field(out, runtime->m_alllink);
	gh_op_set_target(out, gh_op_jump(out, DW_OP_skip), again);
	gh_op_set_target(out, found, out->size);
	return none;
}

/* The pointer at OFFSET in the g that is in a register. */
static void add_g_field(struct gh_buffer *out, const struct gh_arch *arch, uint64_t offset)
{
	add_op(out, (uint8_t)(DW_OP_breg0 + arch->dwarf_g));
	gh_buffer_sleb128(out, (int64_t)offset);
	add_op(out, DW_OP_deref);
}

/* The m of the g that is in a register. Returns the jump that is taken if that g is not the
 * thread's own. */
static size_t add_own_thread(struct gh_buffer *out, const struct gh_arch *arch,
			     const struct gh_runtime *runtime)
{
	add_g_field(out, arch, runtime->g_m);
	add_op(out, DW_OP_dup);
	gh_op_field(out, GH_M_G0);
	add_op(out, (uint8_t)(DW_OP_breg0 + arch->dwarf_g));
	gh_buffer_sleb128(out, 0);
	add_op(out, DW_OP_ne);
	return gh_op_jump(out, DW_OP_bra);
}

/* Jumps if the goroutine on the stack, which stays, has not called this code. */
static size_t add_jump_if_not_caller(struct gh_buffer *out, const struct gh_switch *code,
				     const struct gh_arch *arch)
{
	if (code->kind != GH_SWITCH_CALLED || arch->link_register)
		return gh_op_jump_if_nil(out);
	add_op(out, DW_OP_dup);
	add_sp(out, arch, 0);
	add_op(out, DW_OP_deref);
	add_op(out, DW_OP_ne);
	return gh_op_jump(out, DW_OP_bra);
}

static void add_running(struct gh_buffer *out, const struct gh_switch *code,
			const struct gh_arch *arch, const struct gh_runtime *runtime)
{
	size_t no_thread = runtime->g_m != 0 ? add_own_thread(out, arch, runtime)
					     : add_listed_thread(out, arch, runtime, GH_M_G0);
	gh_op_field(out, runtime->m_curg);
	size_t none = add_jump_if_not_caller(out, code, arch);
	gh_op_field(out, runtime->g_sched_sp);
	gh_op_plus(out, (uint64_t)code->frame);
	size_t end = gh_op_jump(out, DW_OP_skip);
	gh_op_set_target(out, no_thread, out->size);
	gh_op_set_target(out, none, out->size);
	add_sp(out, arch, 0);
	gh_op_set_target(out, end, out->size);
}

/* What SP was when C called Go. Of calls in calls each has saved there what that was for the one
 * before; the right one was called with the argument that was copied to the goroutine's stack. */
static void add_callback(struct gh_buffer *out, const struct gh_switch *code,
			 const struct gh_arch *arch, const struct gh_runtime *runtime)
{
	uint8_t argument = arch->min_frame + arch->pointer_size;
	size_t no_thread = 0;
	if (runtime->g_m != 0)
		add_g_field(out, arch, runtime->g_m);
	else
		no_thread = add_listed_thread(out, arch, runtime, runtime->m_curg);
	gh_op_field(out, GH_M_G0);
	gh_op_field(out, runtime->g_sched_sp);
	size_t again = out->size;
	add_op(out, DW_OP_dup);
	gh_op_field(out, (uint64_t)code->frame + argument);
	add_sp(out, arch, argument);
	add_op(out, DW_OP_deref);
	add_op(out, DW_OP_eq);
	size_t found = gh_op_jump(out, DW_OP_bra);
	/* Callers are higher up. */
	add_op(out, DW_OP_dup);
	gh_op_field(out, code->sp_slot);
	add_op(out, DW_OP_swap);
	add_op(out, DW_OP_over);
	add_op(out, DW_OP_lt);
	gh_op_set_target(out, gh_op_jump(out, DW_OP_bra), again);
	if (no_thread != 0)
		gh_op_set_target(out, no_thread, out->size);
	add_sp(out, arch, 0);
	gh_op_set_target(out, found, out->size);
	gh_op_plus(out, (uint64_t)code->frame);
}

void gh_switch_cfa(struct gh_buffer *out, const struct gh_switch *code, const struct gh_arch *arch,
		   const struct gh_runtime *runtime)
{
	switch (code->kind) {
	case GH_SWITCH_SAVED:
		add_sp(out, arch, code->sp_slot);
		add_op(out, DW_OP_deref);
		gh_op_plus(out, (uint64_t)code->frame);
		break;
	case GH_SWITCH_DEPTH:
		add_sp(out, arch, code->g_slot);
		add_op(out, DW_OP_deref);
		gh_op_field(out, GH_G_STACK_HI);
		add_sp(out, arch, code->sp_slot);
		add_op(out, DW_OP_deref);
		add_op(out, DW_OP_minus);
		gh_op_plus(out, (uint64_t)code->frame);
		break;
	case GH_SWITCH_CALLBACK:
		add_callback(out, code, arch, runtime);
		break;
	case GH_SWITCH_RUNNING:
	case GH_SWITCH_CALLED:
		add_running(out, code, arch, runtime);
		break;
	case GH_SWITCH_LOST:
	case GH_SWITCH_REGISTER:
		break;
	}
}

/* What is at OFFSET bytes below the CFA, which is on the stack. */
static void add_saved(struct gh_buffer *out, uint8_t offset)
{
	add_op(out, DW_OP_const1u);
	gh_buffer_u8(out, offset);
	add_op(out, DW_OP_minus);
	add_op(out, DW_OP_deref);
}

/* Where the goroutine that the thread runs goes on. */
static void add_running_pc(struct gh_buffer *out, const struct gh_arch *arch,
			   const struct gh_runtime *runtime)
{
	add_g_field(out, arch, runtime->g_m);
	gh_op_field(out, runtime->m_curg);
	gh_op_field(out, runtime->g_sched_sp + 8);
}

void gh_switch_return(struct gh_buffer *out, const struct gh_switch *code,
		      const struct gh_arch *arch, const struct gh_runtime *runtime)
{
	add_op(out, DW_OP_dup);
	add_sp(out, arch, 0);
	add_op(out, DW_OP_ne);
	size_t found = gh_op_jump(out, DW_OP_bra);
	/* As after a call there. */
	gh_op_address(out, arch, runtime->mstart + arch->quantum);
	size_t end = gh_op_jump(out, DW_OP_skip);
	gh_op_set_target(out, found, out->size);
	if (!arch->link_register)
		add_saved(out, arch->pointer_size);
	else if (code->kind == GH_SWITCH_RUNNING)
		add_saved(out, (uint8_t)code->frame);
	else
		add_running_pc(out, arch, runtime);
	gh_op_set_target(out, end, out->size);
}

void gh_return_past_entry(struct gh_buffer *out, const struct gh_arch *arch, uint64_t entry)
{
	add_saved(out, arch->pointer_size);
	add_op(out, DW_OP_dup);
	gh_op_address(out, arch, entry);
	add_op(out, DW_OP_eq);
	add_op(out, DW_OP_plus);
}
