#include "lib/process/frame_pointers.h"

#include "lib/dump/fields.h"
#include "lib/pclntab/stackmap.h"

/* FUNCDATA_ArgsPointerMaps and FUNCDATA_LocalsPointerMaps. */
#define ARGS_MAPS   0
#define LOCALS_MAPS 1

/* A frame's function and its maps. */
struct maps {
	struct gh_func func;
	struct gh_stackmaps stackmaps;
	struct gh_live_words walk;
	bool has_args;   /* the function has maps of its arguments, if only empty ones */
	bool has_locals; /* the same of its variables */
};

static void add_field(struct gh_buffer *out, uint64_t offset)
{
	gh_buffer_uleb128(out, GH_FIELD_POINTER + 1);
	gh_buffer_uleb128(out, offset);
}

/* Adds each word from START to END. */
static void add_every_word(struct gh_buffer *out, uint64_t start, uint64_t end, unsigned word)
{
	for (uint64_t at = start; at < end && end - at >= word; at += word)
		add_field(out, at);
}

/* Finds the maps of FRAME and starts a walk. False if its function is not known. */
static bool find_maps(struct maps *maps, const struct gh_process *process,
		      const struct gh_stack_frame *frame)
{
	const struct gh_pclntab *tab = process->tab;
	const struct gh_arch *arch = tab->image->arch;
	uint64_t pc = frame->pc - process->bias;
	size_t index = gh_pclntab_find(tab, pc);
	if (index == SIZE_MAX || !gh_pclntab_func(tab, index, &maps->func, NULL))
		return false;
	gh_stackmaps_find(&maps->stackmaps, tab, &maps->func);
	maps->has_args = gh_pclntab_funcdata(tab, &maps->func, ARGS_MAPS) != 0;
	maps->has_locals = gh_pclntab_funcdata(tab, &maps->func, LOCALS_MAPS) != 0;
	int32_t number = -1;
	uint32_t table = gh_stackmaps_table(tab, &maps->func);
	if (pc != maps->func.entry && table != 0)
		number = gh_pcvalue_at(tab, &maps->func, table, pc - 1);
	uint64_t delta = frame->end - frame->sp;
	delta -= arch->link_register || delta == 0 ? 0 : arch->pointer_size;
	gh_live_words_start(&maps->walk, &maps->stackmaps, number,
			    delta > INT32_MAX ? -1 : (int32_t)delta);
	return true;
}

/* Adds the words of CHILD's arguments, which are in its caller's frame. */
static void add_arguments(struct gh_buffer *out, const struct gh_process *process,
			  const struct gh_stack_frame *child)
{
	struct maps maps;
	uint32_t offset;
	uint64_t size = child->end - child->sp;
	const struct gh_arch *arch = process->tab->image->arch;
	uint64_t first = arch->link_register ? arch->min_frame : 0;
	if (child->sp == 0 || size == 0 || !find_maps(&maps, process, child))
		return;
	if (!maps.has_args && maps.func.args > 0)
		add_every_word(out, first, first + (uint64_t)maps.func.args, arch->pointer_size);
	while (gh_live_words_next(&maps.walk, &offset))
		if (offset >= size)
			add_field(out, offset - size);
}

/* Where FRAME's variables end, from its sp: before the return address and the caller's frame
 * pointer. */
static uint64_t variables_end(const struct gh_process *process, const struct gh_stack_frame *frame)
{
	const struct gh_arch *arch = process->tab->image->arch;
	unsigned word = arch->pointer_size;
	uint64_t size = frame->end - frame->sp;
	if (!arch->link_register && size >= word)
		size -= word;
	if (arch->dwarf_fp != 0 && size >= word)
		size -= word;
	return size;
}

void gh_frame_pointers_add(struct gh_buffer *out, const struct gh_process *process,
			   const struct gh_stack_frame *frame, const struct gh_stack_frame *child)
{
	struct maps maps;
	uint32_t offset;
	uint64_t size = frame->end - frame->sp;
	unsigned word = process->tab->pointer_size;
	if (frame->interrupted) {
		add_every_word(out, 0, size, word);
		return;
	}
	add_arguments(out, process, child);
	if (!find_maps(&maps, process, frame))
		return;
	if (!maps.has_locals)
		add_every_word(out, 0, variables_end(process, frame), word);
	while (gh_live_words_next(&maps.walk, &offset) && offset < size)
		add_field(out, offset);
}
