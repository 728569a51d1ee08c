#include "lib/debugfile/dwarf_entries.h"

#include <dwarf.h>

/* A field that the type does not have. */
#define NO_FIELD UINT64_MAX

/* Jumps out of an expression. */
#define MAX_JUMPS 8

/* What the expressions are made from: offsets in bytes. */
struct layout {
	const struct gh_arch *arch;
	uint64_t allm; /* address of runtime.allm; 0 if it is not known */
	uint64_t text; /* of runtime.text */
	uint64_t g_stack;
	uint64_t g_m;
	uint64_t g_id;
	uint64_t g_lockedm;
	uint64_t m_g0;
	uint64_t m_gsignal;
	uint64_t m_curg;
	uint64_t m_alllink;
	uint64_t m_lockedg;
	uint64_t m_locked_ext; /* NO_FIELD before Go 1.10, as the next */
	uint64_t m_locked_int;
	uint64_t m_signal_pending; /* NO_FIELD before Go 1.14 */
};

/* An expression that is being made. */
struct expression {
	struct gh_buffer ops;
	size_t ends[MAX_JUMPS]; /* places of jumps to its end */
	size_t nends;
};

static uint64_t find_field(const struct gh_rtypes *types, uint32_t number, const char *name)
{
	const struct gh_rtype *type = &types->items[number];
	for (uint32_t i = 0; i < type->nparts; i++) {
		struct gh_rtype_part part;
		if (gh_rtype_part(types, type, i, &part) && gh_rtype_text_is(part.name, name))
			return part.offset;
	}
	return NO_FIELD;
}

/* False if the types do not tell all that is needed. */
static bool find_layout(struct layout *layout, const struct gh_rtypes *types, int release,
			const struct gh_runtime *runtime)
{
	uint32_t g = gh_rtypes_struct(types, "runtime.g", 0);
	uint32_t m = gh_rtypes_struct(types, "runtime.m", 0);
	if (g == GH_NO_RTYPE || m == GH_NO_RTYPE)
		return false;
	*layout = (struct layout){
	    .arch = types->tab->image->arch,
	    .allm = runtime->allm,
	    .text = types->tab->module.text,
	    .g_stack = find_field(types, g, "stack"),
	    .g_m = find_field(types, g, "m"),
	    .g_id = find_field(types, g, "goid"),
	    .g_lockedm = find_field(types, g, "lockedm"),
	    .m_g0 = find_field(types, m, "g0"),
	    .m_gsignal = find_field(types, m, "gsignal"),
	    .m_curg = find_field(types, m, "curg"),
	    .m_alllink = find_field(types, m, "alllink"),
	    .m_lockedg = find_field(types, m, "lockedg"),
	    .m_locked_ext = find_field(types, m, "lockedExt"),
	    .m_locked_int = find_field(types, m, "lockedInt"),
	    .m_signal_pending = find_field(types, m, "signalPending"),
	};
	const uint64_t needed[] = {layout->g_stack,   layout->g_m,       layout->g_id,
				   layout->g_lockedm, layout->m_g0,      layout->m_gsignal,
				   layout->m_curg,    layout->m_alllink, layout->m_lockedg};
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (needed[i] == NO_FIELD)
			return false;
	return layout->allm != 0 || (layout->arch->dwarf_g != 0 && release >= 17);
}

static void add_op(struct expression *e, uint8_t op)
{
	gh_buffer_u8(&e->ops, op);
}

/* Ends the expression, with a 0, if the pointer on the stack is nil. */
static void end_if_nil(struct expression *e)
{
	e->ends[e->nends++] = gh_op_jump_if_nil(&e->ops);
}

static void add_register(struct expression *e, uint8_t number)
{
	add_op(e, (uint8_t)(DW_OP_breg0 + number));
	gh_buffer_sleb128(&e->ops, 0);
}

/* Whether SP is on the stack of the g on the stack. */
static void add_is_on_stack(struct expression *e, const struct layout *layout)
{
	gh_op_plus(&e->ops, layout->g_stack);
	add_op(e, DW_OP_dup);
	add_op(e, DW_OP_deref);
	add_register(e, layout->arch->dwarf_sp);
	add_op(e, DW_OP_le);
	add_op(e, DW_OP_swap);
	gh_op_field(&e->ops, layout->arch->pointer_size);
	add_register(e, layout->arch->dwarf_sp);
	add_op(e, DW_OP_gt);
	add_op(e, DW_OP_and);
}

/* The m on one of whose stacks SP is. */
static void add_listed_thread(struct expression *e, const struct layout *layout)
{
	const uint64_t stacks[] = {layout->m_curg, layout->m_g0, layout->m_gsignal};
	enum { NSTACKS = sizeof(stacks) / sizeof(stacks[0]) };
	size_t found[NSTACKS];
	gh_op_address(&e->ops, layout->arch, layout->allm);
	add_op(e, DW_OP_deref);
	size_t again = e->ops.size;
	end_if_nil(e);
	for (size_t i = 0; i < NSTACKS; i++) {
		add_op(e, DW_OP_dup);
		gh_op_field(&e->ops, stacks[i]);
		size_t none = gh_op_jump_if_nil(&e->ops);
		add_is_on_stack(e, layout);
		found[i] = gh_op_jump(&e->ops, DW_OP_bra);
		size_t next = gh_op_jump(&e->ops, DW_OP_skip);
		gh_op_set_target(&e->ops, none, e->ops.size);
		add_op(e, DW_OP_drop);
		gh_op_set_target(&e->ops, next, e->ops.size);
	}
	gh_op_field(&e->ops, layout->m_alllink);
	gh_op_set_target(&e->ops, gh_op_jump(&e->ops, DW_OP_skip), again);
	for (size_t i = 0; i < NSTACKS; i++)
		gh_op_set_target(&e->ops, found[i], e->ops.size);
}

static void add_thread(struct expression *e, const struct layout *layout)
{
	if (layout->allm != 0) {
		add_listed_thread(e, layout);
		return;
	}
	add_register(e, layout->arch->dwarf_g);
	end_if_nil(e);
	gh_op_field(&e->ops, layout->g_m);
	end_if_nil(e);
}

/* The goroutine that the thread runs. */
static void add_goroutine(struct expression *e, const struct layout *layout)
{
	add_thread(e, layout);
	gh_op_field(&e->ops, layout->m_curg);
	end_if_nil(e);
}

/* The goroutine's id: 8 bytes, of which a machine of 32 bits has the lower half. */
static void add_id(struct expression *e, const struct layout *layout)
{
	bool upper_half = layout->arch->big_endian && layout->arch->pointer_size == 4;
	add_goroutine(e, layout);
	gh_op_field(&e->ops, layout->g_id + (upper_half ? 4 : 0));
}

/* Has the pointer on the stack become the value there, of 4 bytes. */
static void add_u32(struct expression *e, uint64_t offset)
{
	gh_op_plus(&e->ops, offset);
	add_op(e, DW_OP_deref_size);
	gh_buffer_u8(&e->ops, 4);
}

/* Ends the expression with VALUE if the flag on the stack is set. */
static void end_if_set(struct expression *e, uint8_t value)
{
	size_t unset = 0;
	add_op(e, DW_OP_lit0);
	add_op(e, DW_OP_eq);
	unset = gh_op_jump(&e->ops, DW_OP_bra);
	add_op(e, (uint8_t)(DW_OP_lit0 + value));
	e->ends[e->nends++] = gh_op_jump(&e->ops, DW_OP_skip);
	gh_op_set_target(&e->ops, unset, e->ops.size);
}

/* See _goheap_hold in the header. */
static void add_hold(struct expression *e, const struct layout *layout)
{
	add_thread(e, layout);
	if (layout->m_locked_ext != NO_FIELD && layout->m_locked_int != NO_FIELD) {
		add_op(e, DW_OP_dup);
		add_u32(e, layout->m_locked_ext);
		add_op(e, DW_OP_over);
		add_u32(e, layout->m_locked_int);
		add_op(e, DW_OP_or);
		end_if_set(e, 0);
	}
	add_op(e, DW_OP_dup);
	gh_op_field(&e->ops, layout->m_curg);
	end_if_nil(e);
	/* m, g: is neither locked to another? */
	add_op(e, DW_OP_over);
	gh_op_field(&e->ops, layout->m_lockedg);
	add_op(e, DW_OP_over);
	gh_op_field(&e->ops, layout->g_lockedm);
	add_op(e, DW_OP_or);
	add_op(e, DW_OP_lit0);
	add_op(e, DW_OP_eq);
	end_if_set(e, 1);
	/* Or are they locked to each other? */
	add_op(e, DW_OP_over);
	gh_op_field(&e->ops, layout->m_lockedg);
	add_op(e, DW_OP_over);
	add_op(e, DW_OP_eq);
	add_op(e, DW_OP_rot);
	gh_op_field(&e->ops, layout->g_lockedm);
	add_op(e, DW_OP_eq);
	add_op(e, DW_OP_and);
	end_if_set(e, 2);
	add_op(e, DW_OP_lit0);
}

/* Adds the variable NAME of TYPE. E, which becomes empty, is where it is or, if IS_VALUE, what. */
static void add_variable(const struct gh_goroutine_writer *writer, const char *name,
			 enum gh_goroutine_type type, struct expression *e, bool is_value)
{
	for (size_t i = 0; i < e->nends; i++)
		gh_op_set_target(&e->ops, e->ends[i], e->ops.size);
	if (is_value)
		add_op(e, DW_OP_stack_value);
	writer->add(writer->context, name, type, &e->ops);
	bool big_endian = e->ops.big_endian;
	gh_buffer_free(&e->ops);
	*e = (struct expression){.ops = {.big_endian = big_endian}};
}

/* What keeps a goroutine on its thread. */
static void add_lock(const struct gh_goroutine_writer *writer, const struct layout *layout)
{
	struct expression e = {.ops = {.big_endian = layout->arch->big_endian}};
	add_thread(&e, layout);
	add_variable(writer, "_goheap_m", GH_GOROUTINE_UINTPTR, &e, true);
	add_goroutine(&e, layout);
	add_variable(writer, "_goheap_g", GH_GOROUTINE_UINTPTR, &e, true);
	add_id(&e, layout);
	add_variable(writer, "_goheap_goid", GH_GOROUTINE_UINT64, &e, true);
	add_hold(&e, layout);
	add_variable(writer, "_goheap_hold", GH_GOROUTINE_INT, &e, true);
	add_goroutine(&e, layout);
	gh_op_plus(&e.ops, layout->g_lockedm);
	add_variable(writer, "_goheap_lockedm", GH_GOROUTINE_UINTPTR, &e, false);
	add_thread(&e, layout);
	gh_op_plus(&e.ops, layout->m_lockedg);
	add_variable(writer, "_goheap_lockedg", GH_GOROUTINE_UINTPTR, &e, false);
	add_goroutine(&e, layout);
	gh_op_field(&e.ops, layout->g_stack + layout->arch->pointer_size);
	add_variable(writer, "_goheap_stack", GH_GOROUTINE_UINTPTR, &e, true);
	/* GDB 13 takes the unit of a variable for that of the code at its address, unless the
	   expression is more than it looks into. */
	gh_op_address(&e.ops, layout->arch, layout->text);
	add_op(&e, DW_OP_lit0);
	add_op(&e, DW_OP_or);
	add_variable(writer, "_goheap_text", GH_GOROUTINE_UINTPTR, &e, true);
	if (layout->m_signal_pending == NO_FIELD)
		return;
	add_thread(&e, layout);
	gh_op_plus(&e.ops, layout->m_signal_pending);
	add_variable(writer, "_goheap_preempted", GH_GOROUTINE_UINT32, &e, false);
}

void gh_dwarf_goroutine_add(const struct gh_goroutine_writer *writer, const struct gh_rtypes *types,
			    int release, const struct gh_runtime *runtime)
{
	struct layout layout;
	if (!find_layout(&layout, types, release, runtime))
		return;
	struct expression e = {.ops = {.big_endian = layout.arch->big_endian}};
	add_id(&e, &layout);
	add_variable(writer, "goid", GH_GOROUTINE_UINT64, &e, true);
	add_goroutine(&e, &layout);
	add_variable(writer, "g", GH_GOROUTINE_G, &e, true);
	add_lock(writer, &layout);
}
