#include "plugin/gdb/internal.h"

#include "lib/code/code.h"

/* How many words the session's file has. */
#define NWORDS 4

/* Learns what is stepped through. False if nothing is. */
static bool refresh(struct gh_moved_stack *stack, struct gh_seen_program *program)
{
	unsigned char bytes[NWORDS * 8 + 1];
	size_t size = gh_session_read(GH_SESSION_STEP, bytes, sizeof(bytes));
	if ((size != NWORDS * 4 && size != NWORDS * 8) || !gh_seen_program_open(program))
		return false;
	struct gh_word_format words = gh_seen_program_words(program);
	if (size != NWORDS * (size_t)words.size)
		return false;
	stack->goroutine = gh_word(bytes, words);
	stack->stack_high = gh_word(bytes + words.size, words);
	stack->sp = gh_word(bytes + 2 * words.size, words);
	stack->bias = gh_word(bytes + 3 * words.size, words) - program->tab.module.text;
	return stack->goroutine != 0;
}

/* Reads where the goroutine's stack is now. True if it was moved and SP is on it. */
static bool is_moved(const struct gh_moved_stack *stack, struct gdb_unwind_callbacks *callbacks,
		     struct gh_word_format words, uint64_t sp, uint64_t *high)
{
	uint64_t low;
	return gh_word_read(callbacks, stack->goroutine, words, &low) &&
	       gh_word_read(callbacks, stack->goroutine + words.size, words, high) &&
	       *high != stack->stack_high && low <= sp && sp < *high;
}

/* The function that PC, as in the program's file, is in, and the stack delta there. False where the
 * frame is not as the table says. */
static bool find_function(const struct gh_seen_program *program, uint64_t pc, struct gh_func *func,
			  int32_t *delta)
{
	const struct gh_pclntab *tab = &program->tab;
	size_t index = gh_pclntab_find(tab, pc);
	if (index == SIZE_MAX || !gh_pclntab_record(tab, index, func, NULL))
		return false;
	*delta = gh_pcvalue_at(tab, func, func->pcsp, pc);
	return *delta >= 0 && gh_stack_end(func, gh_pclntab_name(tab, func->name),
					   program->has_flags) == GH_STACK_GOES_ON;
}

bool gh_moved_frame(struct gh_moved_stack *stack, struct gh_seen_program *program,
		    struct gdb_unwind_callbacks *callbacks, struct gh_moved_frame *frame)
{
	uint64_t sp, pc, high;
	struct gh_func func;
	int32_t delta;
	if (!refresh(stack, program))
		return false;
	struct gh_word_format words = gh_seen_program_words(program);
	const struct gh_arch *arch = program->image.arch;
	if (!arch->gdb_has_dwarf_pc || !gh_register_get(callbacks, arch->dwarf_sp, words, &sp) ||
	    !is_moved(stack, callbacks, words, sp, &high) ||
	    !gh_register_get(callbacks, arch->dwarf_pc, words, &pc) ||
	    !find_function(program, pc - stack->bias, &func, &delta))
		return false;
	uint64_t cfa = sp + (uint64_t)delta + (arch->link_register ? 0 : words.size);
	*frame = (struct gh_moved_frame){
	    .entry = func.entry + stack->bias,
	    .old_cfa = stack->stack_high - (high - cfa),
	    .caller_sp = cfa,
	};
	if (frame->old_cfa <= stack->sp)
		return false;
	if (!arch->link_register)
		return gh_word_read(callbacks, cfa - words.size, words, &frame->caller_pc);
	if (delta > 0)
		return gh_word_read(callbacks, sp, words, &frame->caller_pc);
	return gh_register_get(callbacks, arch->dwarf_ra, words, &frame->caller_pc);
}
