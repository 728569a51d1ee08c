#include "lib/debugfile/internal.h"

#include <dwarf.h>

static void add_op(struct gh_buffer *out, uint8_t op)
{
	gh_buffer_u8(out, op);
}

static void add_address(struct gh_buffer *out, const struct gh_arch *arch, uint64_t address)
{
	add_op(out, DW_OP_addr);
	gh_buffer_uint(out, address, arch->pointer_size);
}

/* SP, and OFFSET bytes. */
static void add_sp(struct gh_buffer *out, const struct gh_arch *arch, uint8_t offset)
{
	add_op(out, (uint8_t)(DW_OP_breg0 + arch->dwarf_sp));
	gh_buffer_sleb128(out, offset);
}

static void add_plus(struct gh_buffer *out, uint64_t offset)
{
	add_op(out, DW_OP_plus_uconst);
	gh_buffer_uleb128(out, offset);
}

/* The pointer OFFSET bytes from the one on the stack. */
static void add_field(struct gh_buffer *out, uint64_t offset)
{
	add_plus(out, offset);
	add_op(out, DW_OP_deref);
}

/* A jump, to be given its target. Returns its place. */
static size_t add_jump(struct gh_buffer *out, uint8_t op)
{
	add_op(out, op);
	gh_buffer_u16(out, 0);
	return out->size;
}

/* The jump at PLACE goes to TARGET. */
static void set_target(struct gh_buffer *out, size_t place, size_t target)
{
	gh_buffer_patch(out, place - 2, (uint16_t)(target - place), 2);
}

/* Jumps if the pointer on the stack, which stays, is nil. */
static size_t add_jump_if_nil(struct gh_buffer *out)
{
	add_op(out, DW_OP_dup);
	add_op(out, DW_OP_lit0);
	add_op(out, DW_OP_eq);
	return add_jump(out, DW_OP_bra);
}

/* Whether SP is on the stack of the g on the stack. */
static void add_is_on_stack(struct gh_buffer *out, const struct gh_arch *arch)
{
	add_op(out, DW_OP_dup);
	add_op(out, DW_OP_deref);
	add_sp(out, arch, 0);
	add_op(out, DW_OP_le);
	add_op(out, DW_OP_swap);
	add_field(out, GH_G_STACK_HI);
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
	add_address(out, arch, runtime->allm);
	add_op(out, DW_OP_deref);
	size_t again = out->size;
	size_t none = add_jump_if_nil(out);
	add_op(out, DW_OP_dup);
	add_field(out, offset);
	size_t idle = add_jump_if_nil(out);
	add_is_on_stack(out, arch);
	size_t found = add_jump(out, DW_OP_bra);
	size_t next = add_jump(out, DW_OP_skip);
	set_target(out, idle, out->size);
	add_op(out, DW_OP_drop);
	set_target(out, next, out->size);
	add_field(out, runtime->m_alllink);
	set_target(out, add_jump(out, DW_OP_skip), again);
	set_target(out, found, out->size);
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
	add_field(out, GH_M_G0);
	add_op(out, (uint8_t)(DW_OP_breg0 + arch->dwarf_g));
	gh_buffer_sleb128(out, 0);
	add_op(out, DW_OP_ne);
	return add_jump(out, DW_OP_bra);
}

/* Jumps if the goroutine on the stack, which stays, has not called this code. */
static size_t add_jump_if_not_caller(struct gh_buffer *out, const struct gh_switch *code,
				     const struct gh_arch *arch)
{
	if (code->kind != GH_SWITCH_CALLED || arch->link_register)
		return add_jump_if_nil(out);
	add_op(out, DW_OP_dup);
	add_sp(out, arch, 0);
	add_op(out, DW_OP_deref);
	add_op(out, DW_OP_ne);
	return add_jump(out, DW_OP_bra);
}

static void add_running(struct gh_buffer *out, const struct gh_switch *code,
			const struct gh_arch *arch, const struct gh_runtime *runtime)
{
	size_t no_thread = runtime->g_m != 0 ? add_own_thread(out, arch, runtime)
					     : add_listed_thread(out, arch, runtime, GH_M_G0);
	add_field(out, runtime->m_curg);
	size_t none = add_jump_if_not_caller(out, code, arch);
	add_field(out, runtime->g_sched_sp);
	add_plus(out, (uint64_t)code->frame);
	size_t end = add_jump(out, DW_OP_skip);
	set_target(out, no_thread, out->size);
	set_target(out, none, out->size);
	add_sp(out, arch, 0);
	set_target(out, end, out->size);
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
	add_field(out, GH_M_G0);
	add_field(out, runtime->g_sched_sp);
	size_t again = out->size;
	add_op(out, DW_OP_dup);
	add_field(out, (uint64_t)code->frame + argument);
	add_sp(out, arch, argument);
	add_op(out, DW_OP_deref);
	add_op(out, DW_OP_eq);
	size_t found = add_jump(out, DW_OP_bra);
	/* Callers are higher up. */
	add_op(out, DW_OP_dup);
	add_field(out, code->sp_slot);
	add_op(out, DW_OP_swap);
	add_op(out, DW_OP_over);
	add_op(out, DW_OP_lt);
	set_target(out, add_jump(out, DW_OP_bra), again);
	if (no_thread != 0)
		set_target(out, no_thread, out->size);
	add_sp(out, arch, 0);
	set_target(out, found, out->size);
	add_plus(out, (uint64_t)code->frame);
}

void gh_switch_cfa(struct gh_buffer *out, const struct gh_switch *code, const struct gh_arch *arch,
		   const struct gh_runtime *runtime)
{
	switch (code->kind) {
	case GH_SWITCH_SAVED:
		add_sp(out, arch, code->sp_slot);
		add_op(out, DW_OP_deref);
		add_plus(out, (uint64_t)code->frame);
		break;
	case GH_SWITCH_DEPTH:
		add_sp(out, arch, code->g_slot);
		add_op(out, DW_OP_deref);
		add_field(out, GH_G_STACK_HI);
		add_sp(out, arch, code->sp_slot);
		add_op(out, DW_OP_deref);
		add_op(out, DW_OP_minus);
		add_plus(out, (uint64_t)code->frame);
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
	add_field(out, runtime->m_curg);
	add_field(out, runtime->g_sched_sp + 8);
}

void gh_switch_return(struct gh_buffer *out, const struct gh_switch *code,
		      const struct gh_arch *arch, const struct gh_runtime *runtime)
{
	add_op(out, DW_OP_dup);
	add_sp(out, arch, 0);
	add_op(out, DW_OP_ne);
	size_t found = add_jump(out, DW_OP_bra);
	/* As after a call there. */
	add_address(out, arch, runtime->mstart + arch->quantum);
	size_t end = add_jump(out, DW_OP_skip);
	set_target(out, found, out->size);
	if (!arch->link_register)
		add_saved(out, arch->pointer_size);
	else if (code->kind == GH_SWITCH_RUNNING)
		add_saved(out, (uint8_t)code->frame);
	else
		add_running_pc(out, arch, runtime);
	set_target(out, end, out->size);
}

void gh_return_past_entry(struct gh_buffer *out, const struct gh_arch *arch, uint64_t entry)
{
	add_saved(out, arch->pointer_size);
	add_op(out, DW_OP_dup);
	add_address(out, arch, entry);
	add_op(out, DW_OP_eq);
	add_op(out, DW_OP_plus);
}
