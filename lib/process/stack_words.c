#include "lib/process/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/pclntab/pclntab.h"
#include "lib/util/bsearch.h"

static unsigned word_size(const struct gh_stack_words *words)
{
	return words->process->tab->pointer_size;
}

static bool read_word(struct gh_stack_words *words, uint64_t address, uint64_t *value)
{
	return gh_process_uint(&words->process->memory, address, word_size(words), value);
}

/* Adds the word at ADDRESS to LIST, if it is in memory. */
static void add_word(struct gh_stack_words *words, struct gh_stack_addresses *list,
		     uint64_t address)
{
	uint64_t value;
	if (read_word(words, address, &value))
		gh_vector_push(list, address);
}

uint64_t gh_stack_variables_end(const struct gh_process *process,
				const struct gh_stack_frame *frame)
{
	uint64_t saved =
	    (uint64_t)gh_arch_words_saved(process->tab->image->arch) * process->tab->pointer_size;
	uint64_t size = frame->end - frame->sp;
	return size > saved ? size - saved : 0;
}

void gh_stack_words_walk(struct gh_stack_words *words, struct gh_stack *stack,
			 const struct gh_goroutine *g, uint64_t *left)
{
	struct gh_stack_frame frame;
	words->process = stack->process;
	words->frames.count = 0;
	gh_stack_start(stack, g);
	unsigned word = word_size(words);
	while (*left > 0 && gh_stack_next(stack, &frame)) {
		uint64_t size = (frame.end - frame.sp) / word;
		size = size > 0 ? size : 1;
		bool fits = size <= *left;
		*left = fits ? *left - size : 0;
		if (fits)
			gh_vector_push(&words->frames, frame);
	}
}

/* A function and where it is. */
struct function {
	struct gh_module module;
	struct gh_func func;
};

static bool find_function(const struct gh_process *process, const struct gh_stack_frame *frame,
			  struct function *found)
{
	size_t index;
	found->module = gh_process_module_at(process, frame->pc, &index);
	return index != SIZE_MAX && gh_pclntab_func(found->module.tab, index, &found->func, NULL);
}

/* Adds the variables of FRAME, which is of FUNCTION. */
static void add_variables(struct gh_stack_words *words, const struct gh_stack_frame *frame,
			  const struct function *function)
{
	const struct gh_image *image = function->module.tab->image;
	const struct gh_arch *arch = image->arch;
	uint64_t end = frame->sp + gh_stack_variables_end(words->process, frame);
	uint64_t arguments = frame->end + (arch->link_register ? arch->min_frame : 0);
	struct gh_stack_objects walk;
	struct gh_stack_object object;
	uint64_t last = frame->sp;
	gh_stack_objects_start(&walk, function->module.tab, words->process->minor, &function->func);
	/* They are in order, none overlapping another. */
	while (gh_stack_objects_next(&walk, &object)) {
		uint64_t start = (object.offset < 0 ? end : arguments) + (uint64_t)object.offset;
		if (start < last || start + object.size < start ||
		    (object.offset < 0 && start + object.size > end))
			break;
		last = start + object.size;
		gh_vector_push(&words->variables, (struct gh_stack_variable){
						      .address = start,
						      .size = object.size,
						      .pointers = object.pointers,
						      .mask = object.mask,
						      .image = image,
						  });
	}
}

/* Adds each word of SIZE bytes at ADDRESS, as perhaps a pointer. */
static void add_range(struct gh_stack_words *words, uint64_t address, uint64_t size)
{
	unsigned word = word_size(words);
	for (uint64_t at = 0; size - at >= word && size >= at; at += word)
		add_word(words, &words->perhaps, address + at);
}

/* The functions that call what reflection made: their frames hold the arguments, in a form that
 * only the runtime knows. */
static bool is_reflection(const struct gh_stack_frame *frame)
{
	return strcmp(frame->name, "reflect.makeFuncStub") == 0 ||
	       strcmp(frame->name, "reflect.methodValueCall") == 0;
}

/* Adds the words of FRAME, of FUNCTION, and of its arguments, by the function's maps. */
static void add_mapped(struct gh_stack_words *words, const struct gh_stack_frame *frame,
		       const struct function *function)
{
	const struct gh_pclntab *tab = function->module.tab;
	const struct gh_func *func = &function->func;
	const struct gh_arch *arch = tab->image->arch;
	uint64_t pc = frame->pc - function->module.bias;
	uint64_t size = frame->end - frame->sp;
	uint64_t delta = size - (arch->link_register || size == 0 ? 0 : arch->pointer_size);
	uint32_t table = gh_stackmaps_table(tab, func);
	int32_t number = -1;
	uint32_t offset;
	struct gh_stackmaps maps;
	struct gh_live_words walk;
	gh_stackmaps_find(&maps, tab, func);
	if (pc != func->entry && table != 0)
		number = gh_pcvalue_at(tab, func, table, pc - 1);
	gh_live_words_start(&walk, &maps, number, delta > INT32_MAX ? -1 : (int32_t)delta);
	while (size > 0 && gh_live_words_next(&walk, &offset))
		add_word(words, &words->certain, frame->sp + offset);
}

/* Adds the words of FRAME and its arguments. */
static void add_frame(struct gh_stack_words *words, const struct gh_stack_frame *frame)
{
	const struct gh_arch *arch = words->process->tab->image->arch;
	uint64_t arguments = frame->end + (arch->link_register ? arch->min_frame : 0);
	uint64_t end = gh_stack_variables_end(words->process, frame);
	struct function function;
	if (!find_function(words->process, frame, &function))
		return;
	const struct gh_pclntab *tab = function.module.tab;
	const struct gh_func *func = &function.func;
	add_variables(words, frame, &function);
	uint64_t args = func->args > 0 ? (uint64_t)func->args : 0;
	if (frame->interrupted) {
		add_range(words, arguments, args);
		return;
	}
	if (gh_pclntab_funcdata(tab, func, GH_FUNCDATA_ARGS_POINTER_MAPS) == 0)
		add_range(words, arguments, args);
	if (gh_pclntab_funcdata(tab, func, GH_FUNCDATA_LOCALS_POINTER_MAPS) == 0 ||
	    is_reflection(frame))
		add_range(words, frame->sp, end);
	add_mapped(words, frame, &function);
}

static int compare_variables(const void *left, const void *right)
{
	const struct gh_stack_variable *a = left, *b = right;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* Queues the variable that the pointer VALUE leads to, if it is the first. */
static void reach(struct gh_stack_words *words, uint64_t value)
{
	struct gh_stack_variable *items = words->variables.items;
	size_t count = words->variables.count;
	size_t after = gh_lower_bound(count, i, items[i].address <= value);
	if (after == 0)
		return;
	struct gh_stack_variable *variable = &items[after - 1];
	if (variable->reached || value - variable->address >= variable->size)
		return;
	variable->reached = true;
	gh_vector_push(&words->queue, (uint32_t)(after - 1));
}

/* Adds the words of VARIABLE, which a pointer was met to: CERTAIN, or perhaps one. */
static void add_variable(struct gh_stack_words *words, const struct gh_stack_variable *variable,
			 bool certain)
{
	unsigned word = word_size(words);
	struct gh_cursor mask;
	if (variable->mask == 0 || !gh_image_at(variable->image, variable->mask, &mask)) {
		add_range(words, variable->address, variable->pointers);
		return;
	}
	uint8_t bits = 0;
	for (uint64_t i = 0; i < variable->pointers / word && !mask.failed; i++) {
		if (i % 8 == 0)
			bits = gh_cursor_u8(&mask);
		if ((bits >> i % 8 & 1) == 0)
			continue;
		add_word(words, certain ? &words->certain : &words->perhaps,
			 variable->address + i * word);
	}
}

/* Follows the pointers in LIST, which are CERTAIN or may be some, and those in what they lead to.
 */
static void follow(struct gh_stack_words *words, const struct gh_stack_addresses *list,
		   bool certain)
{
	size_t done = 0;
	if (words->variables.count == 0)
		return;
	do {
		uint64_t value;
		while (done < list->count)
			if (read_word(words, list->items[done++], &value))
				reach(words, value);
		while (words->followed < words->queue.count) {
			uint32_t number = words->queue.items[words->followed++];
			add_variable(words, &words->variables.items[number], certain);
		}
	} while (done < list->count);
}

/* What is in frames that were interrupted may be a pointer. */
static void reach_from_interrupted(struct gh_stack_words *words)
{
	unsigned word = word_size(words);
	for (size_t i = 0; i < words->frames.count && words->variables.count > 0; i++) {
		const struct gh_stack_frame *frame = &words->frames.items[i];
		uint64_t end = gh_stack_variables_end(words->process, frame);
		uint64_t value;
		for (uint64_t at = 0; frame->interrupted && at < end; at += word)
			if (read_word(words, frame->sp + at, &value))
				reach(words, value);
	}
}

static int compare_addresses(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return *a < *b ? -1 : *a > *b;
}

/* Sorts LIST, and leaves each but once. */
static void sort(struct gh_stack_addresses *list)
{
	size_t kept = 0;
	if (list->count > 0)
		qsort(list->items, list->count, sizeof(*list->items), compare_addresses);
	for (size_t i = 0; i < list->count; i++)
		if (kept == 0 || list->items[kept - 1] != list->items[i])
			list->items[kept++] = list->items[i];
	list->count = kept;
}

void gh_stack_words_find(struct gh_stack_words *words, const struct gh_stack_pointers *pointers)
{
	words->certain.count = words->perhaps.count = 0;
	words->variables.count = words->queue.count = words->followed = 0;
	for (size_t i = 0; i < words->frames.count; i++)
		add_frame(words, &words->frames.items[i]);
	if (words->variables.count > 0)
		qsort(words->variables.items, words->variables.count,
		      sizeof(*words->variables.items), compare_variables);
	for (size_t i = 0; i < pointers->ncertain; i++)
		reach(words, pointers->certain[i]);
	follow(words, &words->certain, true);
	for (size_t i = 0; i < pointers->nperhaps; i++)
		reach(words, pointers->perhaps[i]);
	reach_from_interrupted(words);
	follow(words, &words->perhaps, false);
	sort(&words->certain);
	sort(&words->perhaps);
}

bool gh_stack_words_failed(const struct gh_stack_words *words)
{
	return words->frames.failed || words->certain.failed || words->perhaps.failed ||
	       words->variables.failed || words->queue.failed;
}

void gh_stack_words_free(struct gh_stack_words *words)
{
	gh_vector_free(&words->frames);
	gh_vector_free(&words->certain);
	gh_vector_free(&words->perhaps);
	gh_vector_free(&words->variables);
	gh_vector_free(&words->queue);
}
