#include "plugin/gdb/internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/code/code.h"
#include "lib/pclntab/pclntab.h"
#include "plugin/gdb/gdb.h"

/* How many words the session's file has. */
#define NWORDS 4

/* Reads what the session's file NAME has, up to SIZE bytes. Returns how many. */
static size_t read_file(const char *name, void *data, size_t size)
{
	int fd = openat(GH_SESSION_FD, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t count = read(fd, data, size);
	close(fd);
	return count > 0 ? (size_t)count : 0;
}

static void close_program(struct gh_moved_stack *stack)
{
	gh_pclntab_close(&stack->tab);
	gh_image_close(&stack->image);
	free(stack->identity);
	*stack = (struct gh_moved_stack){0};
}

/* Opens the program that the session has seen, unless it is open. Its path is behind what tells it
 * from others. */
static bool open_program(struct gh_moved_stack *stack)
{
	char state[PATH_MAX + 256];
	struct gh_error err;
	size_t size = read_file(GH_SESSION_STATE, state, sizeof(state) - 1);
	state[size] = '\0';
	const char *path = strchr(state, ' ');
	if (path == NULL)
		return false;
	if (stack->identity != NULL && strcmp(stack->identity, state) == 0)
		return stack->opened;
	close_program(stack);
	stack->identity = strdup(state);
	stack->opened = gh_image_open(&stack->image, path + 1, &err) &&
			gh_pclntab_open(&stack->tab, &stack->image, &err);
	if (stack->opened)
		stack->has_flags = gh_stack_has_flags(&stack->tab);
	return stack->opened;
}

static struct gh_word_format words_of(const struct gh_moved_stack *stack)
{
	return (struct gh_word_format){.size = stack->image.arch->pointer_size,
				       .big_endian = stack->image.arch->big_endian};
}

/* Learns what is stepped through. False if nothing is. */
static bool refresh(struct gh_moved_stack *stack)
{
	unsigned char bytes[NWORDS * 8 + 1];
	size_t size = read_file(GH_SESSION_STEP, bytes, sizeof(bytes));
	if ((size != NWORDS * 4 && size != NWORDS * 8) || !open_program(stack))
		return false;
	struct gh_word_format words = words_of(stack);
	if (size != NWORDS * (size_t)words.size)
		return false;
	stack->goroutine = gh_word(bytes, words);
	stack->stack_high = gh_word(bytes + words.size, words);
	stack->sp = gh_word(bytes + 2 * words.size, words);
	stack->bias = gh_word(bytes + 3 * words.size, words) - stack->tab.module.text;
	return stack->goroutine != 0;
}

/* Reads where the goroutine's stack is now. True if it was moved and SP is on it. */
static bool is_moved(const struct gh_moved_stack *stack, struct gdb_unwind_callbacks *callbacks,
		     uint64_t sp, uint64_t *high)
{
	struct gh_word_format words = words_of(stack);
	uint64_t low;
	return gh_word_read(callbacks, stack->goroutine, words, &low) &&
	       gh_word_read(callbacks, stack->goroutine + words.size, words, high) &&
	       *high != stack->stack_high && low <= sp && sp < *high;
}

/* The function that PC is in, and the stack delta there. False where the frame is not as the table
 * says. */
static bool find_function(const struct gh_moved_stack *stack, uint64_t pc, struct gh_func *func,
			  int32_t *delta)
{
	const struct gh_pclntab *tab = &stack->tab;
	size_t index = gh_pclntab_find(tab, pc - stack->bias);
	if (index == SIZE_MAX || !gh_pclntab_record(tab, index, func, NULL))
		return false;
	*delta = gh_pcvalue_at(tab, func, func->pcsp, pc - stack->bias);
	return *delta >= 0 && gh_stack_end(func, gh_pclntab_name(tab, func->name),
					   stack->has_flags) == GH_STACK_GOES_ON;
}

bool gh_moved_frame(struct gh_moved_stack *stack, struct gdb_unwind_callbacks *callbacks,
		    struct gh_moved_frame *frame)
{
	uint64_t sp, pc, high;
	struct gh_func func;
	int32_t delta;
	if (!refresh(stack))
		return false;
	struct gh_word_format words = words_of(stack);
	const struct gh_arch *arch = stack->image.arch;
	if (!arch->gdb_has_dwarf_pc || !gh_register_get(callbacks, arch->dwarf_sp, words, &sp) ||
	    !is_moved(stack, callbacks, sp, &high) ||
	    !gh_register_get(callbacks, arch->dwarf_pc, words, &pc) ||
	    !find_function(stack, pc, &func, &delta))
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

void gh_moved_stack_free(struct gh_moved_stack *stack)
{
	close_program(stack);
}
