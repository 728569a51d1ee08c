#include "lib/process/dump_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/code/code.h"
#include "lib/dump/record.h"
#include "lib/unwind/unwind.h"
#include "lib/util/bsearch.h"

/* Calls of C on one goroutine's stack that have called back to Go; more are left out. */
#define MAX_PARTS 15

/* Frames of C code, of all goroutines. */
#define MAX_ALL_FRAMES (1U << 20)

/* Frames of Go code between C code and runtime.cgocallback. */
#define MAX_GO_FRAMES 16

/* Bytes of a name; longer ones are cut. */
#define MAX_TEXT 1000

/* The largest distance, in bytes, between SP and the start of the C stack at which the thread is
 * taken for the goroutine's own, where the frames do not lead to Go. */
#define NEAR (256 << 10)

/* The bytes from SP on in which runtime.asmcgocall saves its goroutine's address. */
#define SAVED_GOROUTINE 64

/* A walk over the C frames of one part. */
struct part {
	struct gh_c_stacks *stacks;
	bool ended;  /* it came to the Go function that called C */
	uint64_t sp; /* of that function's frame */
};

/* PC is in Go code. C code that Go's linker has linked is in its table, too, but without the sizes
 * of its frames. */
static bool is_go(const struct gh_process *process, uint64_t pc)
{
	struct gh_func func;
	size_t index;
	struct gh_module module = gh_process_module_at(process, pc, &index);
	return index != SIZE_MAX && gh_pclntab_func(module.tab, index, &func, NULL) &&
	       gh_pcvalue_at(module.tab, &func, func.pcsp, pc - module.bias) >= 0;
}

static bool take_frame(void *context, const struct gh_c_frame *frame)
{
	struct part *part = context;
	struct gh_c_stacks *stacks = part->stacks;
	if (is_go(stacks->process, frame->pc)) {
		part->ended = true;
		part->sp = frame->sp;
		return false;
	}
	return gh_vector_push(&stacks->frames, *frame);
}

/* The file that the process has mapped at PC, whose code could not be read; NULL for none. */
static const struct gh_mapped_file *find_file(const struct gh_process *process, uint64_t pc)
{
	const struct gh_mapped_file *files = process->files->items;
	size_t after = gh_lower_bound(process->files->count, i, files[i].start <= pc);
	return after > 0 && pc < files[after - 1].end ? &files[after - 1] : NULL;
}

/* Completes PLACE, the only one at PC, by the table of functions of Go's linker, and by what is
 * mapped. */
static void complete(const struct gh_process *process, uint64_t pc, struct gh_c_place *place)
{
	struct gh_func func;
	size_t index;
	struct gh_module module = gh_process_module_at(process, pc, &index);
	const struct gh_mapped_file *file = place->object == NULL ? find_file(process, pc) : NULL;
	if (file != NULL) {
		const char *slash = strrchr(file->path, '/');
		place->object = slash != NULL ? slash + 1 : file->path;
		place->offset = pc - file->start;
	}
	if (place->function == NULL && index != SIZE_MAX &&
	    gh_pclntab_func(module.tab, index, &func, NULL)) {
		place->function = gh_pclntab_name(module.tab, func.name);
		place->offset = pc - module.bias - func.entry;
	}
}

/* Adds TEXT, or what it begins with. */
static void add_text(struct gh_buffer *out, const char *text)
{
	size_t size = text != NULL ? strnlen(text, MAX_TEXT) : 0;
	gh_buffer_bytes(out, text, size);
	gh_buffer_u8(out, 0);
}

/* Adds the name of the function at PLACE; of one without a name where it is: libc.so.6+0x12ab. */
static void add_function(struct gh_buffer *out, const struct gh_c_place *place)
{
	char text[MAX_TEXT];
	if (place->function != NULL) {
		add_text(out, place->function);
		return;
	}
	snprintf(text, sizeof(text), "%.*s%s0x%" PRIx64, MAX_TEXT / 2,
		 place->object != NULL ? place->object : "", place->object != NULL ? "+" : "",
		 place->offset);
	add_text(out, text);
}

/* Where what is at FRAME is in the part of places; it is added if it is not there yet. */
static uint32_t find_place(struct gh_c_stacks *stacks, const struct gh_c_frame *frame)
{
	struct gh_c_place places[GH_C_PLACES];
	struct gh_buffer *out = &stacks->places;
	uint64_t key = frame->pc << 1 | frame->interrupted;
	uint32_t place = gh_numbermap_get(&stacks->known, key);
	if (place != GH_NOT_MAPPED)
		return place;
	place = (uint32_t)out->size;
	size_t count = gh_c_code_places(stacks->files.code, frame, places);
	complete(stacks->process, frame->pc, &places[0]);
	gh_buffer_uleb128(out, count);
	for (size_t i = 0; i < count; i++) {
		gh_buffer_uleb128(out, places[i].inlined);
		gh_buffer_uleb128(out, places[i].offset);
		gh_buffer_uleb128(out, places[i].line > 0 ? (uint64_t)places[i].line : 0);
		add_function(out, &places[i]);
		add_text(out, places[i].object);
		add_text(out, places[i].file);
	}
	if (!gh_numbermap_put(&stacks->known, key, place))
		out->failed = true;
	return place;
}

/* Adds the part's frames, which have called CALLEES of the goroutine's own, to TEXT. */
static void add_part(struct gh_c_stacks *stacks, struct gh_buffer *text, size_t callees,
		     size_t *count)
{
	for (size_t i = 0; i < stacks->frames.count && stacks->left > 0; i++, stacks->left--) {
		const struct gh_c_frame *frame = &stacks->frames.items[i];
		gh_buffer_uleb128(text, callees);
		gh_buffer_uleb128(text, frame->pc);
		gh_buffer_uleb128(text, find_place(stacks, frame));
		++*count;
	}
}

static void set_register(struct gh_c_registers *registers, unsigned number, uint64_t value)
{
	if (number >= GH_C_REGISTERS)
		return;
	registers->values[number] = value;
	registers->known |= UINT64_C(1) << number;
}

/* The registers of THREAD, by their DWARF numbers. */
static struct gh_c_registers registers_of(const struct gh_arch *arch,
					  const struct gh_stack_thread *thread)
{
	struct gh_c_registers registers = {.pc = thread->at.pc, .interrupted = true};
	bool handled = thread->signal.number != 0 && arch->signal_frame.dwarf != NULL;
	const uint8_t *numbers = handled ? arch->signal_frame.dwarf : arch->gregs.dwarf;
	for (unsigned i = 0; i < thread->at.count; i++)
		set_register(&registers, numbers[i], thread->at.values[i]);
	set_register(&registers, arch->dwarf_sp, thread->at.sp);
	return registers;
}

/* The thread whose stack reaches nearest below TOP, in C code; NULL for none. */
static const struct gh_stack_thread *find_thread(const struct gh_c_stacks *stacks, uint64_t top)
{
	const struct gh_stack_thread *threads = stacks->stack->threads;
	size_t after = gh_lower_bound(stacks->process->nthreads, i, threads[i].at.sp <= top);
	if (after == 0 || is_go(stacks->process, threads[after - 1].at.pc))
		return NULL;
	return &threads[after - 1];
}

bool gh_c_stacks_walk(struct gh_c_stacks *stacks, const struct gh_stack_thread *thread)
{
	struct part part = {.stacks = stacks};
	stacks->frames.count = 0;
	if (!gh_c_files_open(&stacks->files, stacks->process))
		return false;
	struct gh_c_registers from = registers_of(stacks->process->tab->image->arch, thread);
	gh_c_code_walk(stacks->files.code, &from, take_frame, &part);
	return stacks->frames.count > 0;
}

/* A word at SP, or little above, is the address of G. */
static bool has_goroutine(struct gh_process *process, uint64_t sp, const struct gh_goroutine *g)
{
	for (uint64_t at = sp; at < sp + SAVED_GOROUTINE; at += process->tab->pointer_size)
		if (gh_process_word(process, at) == g->address)
			return true;
	return false;
}

/* Finds the frames of the C code that G is in. What is called is on the stack of its thread, below
 * TOP. */
static void find_called(struct gh_c_stacks *stacks, const struct gh_goroutine *g, size_t number,
			uint64_t top)
{
	struct part part = {.stacks = stacks};
	const struct gh_stack_thread *thread = find_thread(stacks, top);
	stacks->frames.count = 0;
	if (thread == NULL || !gh_c_files_open(&stacks->files, stacks->process))
		return;
	struct gh_c_registers from = registers_of(stacks->process->tab->image->arch, thread);
	gh_c_code_walk(stacks->files.code, &from, take_frame, &part);
	/* The nearest thread is another goroutine's if this one's is on a stack of its own. */
	if (part.ended ? !has_goroutine(stacks->process, part.sp, g) : top - thread->at.sp > NEAR)
		stacks->frames.count = 0;
	else
		gh_c_wait_add(stacks, thread, number);
}

/* Fills in the registers that the caller of FRAME, runtime/cgo's crosscall2, has. False if they are
 * not known. */
static bool leave_go(struct gh_c_stacks *stacks, const struct gh_stack_frame *frame,
		     struct gh_c_registers *registers)
{
	struct gh_process *process = stacks->process;
	const struct gh_arch *arch = process->tab->image->arch;
	struct gh_saved_registers saved;
	struct gh_func func;
	size_t index;
	struct gh_module module = gh_process_module_at(process, frame->entry, &index);
	*registers = (struct gh_c_registers){0};
	if (index == SIZE_MAX || !gh_pclntab_func(module.tab, index, &func, NULL))
		return false;
	gh_saved_registers(&saved, module.tab, &func);
	for (unsigned i = 0; i < saved.count; i++)
		set_register(registers, saved.items[i].reg,
			     gh_process_word(process, frame->end - saved.items[i].place));
	set_register(registers, arch->dwarf_sp, frame->end);
	registers->pc = arch->link_register
			    ? registers->values[arch->dwarf_ra]
			    : gh_process_word(process, frame->end - arch->pointer_size);
	return saved.count > 0;
}

/* Finds the frames of the C code that called CALLBACK, the frame of runtime.cgocallback, which has
 * one as large on the thread's own stack, at SP. */
static void find_callers(struct gh_c_stacks *stacks, const struct gh_stack_frame *callback,
			 uint64_t sp)
{
	struct gh_stack walk = *stacks->stack;
	const struct gh_stack_thread from = {.at = {.pc = callback->pc, .sp = sp}};
	struct part part = {.stacks = stacks};
	struct gh_stack_frame frame;
	struct gh_c_registers registers;
	stacks->frames.count = 0;
	gh_stack_start_thread(&walk, &from);
	for (unsigned i = 0; i < MAX_GO_FRAMES && gh_stack_next(&walk, &frame); i++) {
		if (!leave_go(stacks, &frame, &registers))
			continue;
		if (gh_c_files_open(&stacks->files, stacks->process) &&
		    !is_go(stacks->process, registers.pc))
			gh_c_code_walk(stacks->files.code, &registers, take_frame, &part);
		break;
	}
}

/* FRAME is runtime.cgocallback's: *SLOT is where that keeps what sched.sp was before. */
static bool is_callback(const struct gh_process *process, const struct gh_stack_frame *frame,
			uint8_t *slot)
{
	struct gh_func func;
	size_t index;
	if (strncmp(frame->name, "runtime.cgocallback", strlen("runtime.cgocallback")) != 0)
		return false;
	struct gh_module module = gh_process_module_at(process, frame->entry, &index);
	return index != SIZE_MAX && gh_pclntab_func(module.tab, index, &func, NULL) &&
	       gh_callback_slot(module.tab, &func, slot);
}

/* The runtime.m of the thread that G is on, also where it waits and C has called it; 0 for none. */
static uint64_t thread_of(const struct gh_goroutine *g)
{
	return g->thread != 0 ? g->thread : g->locked_to;
}

/* Adds the frames of C code of G to TEXT, and gives how many. */
static size_t add_parts(struct gh_c_stacks *stacks, struct gh_buffer *text,
			const struct gh_goroutine *g, size_t number,
			const struct gh_stack_frame *frames, size_t nframes)
{
	struct gh_process *process = stacks->process;
	uint64_t thread = thread_of(g);
	uint64_t system = thread != 0 ? gh_process_word(process, thread) : 0;
	/* sched.sp of the thread's own g is where its stack was left. */
	uint64_t sp = system != 0 ? gh_process_word(process, system + stacks->sched) : 0;
	size_t count = 0;
	unsigned parts = 0;
	uint8_t slot;
	if (sp != 0 && g->syscall_sp != 0) {
		find_called(stacks, g, number, sp);
		add_part(stacks, text, 0, &count);
	}
	for (size_t i = 0; i < nframes && sp != 0 && parts < MAX_PARTS; i++) {
		if (!is_callback(process, &frames[i], &slot))
			continue;
		find_callers(stacks, &frames[i], sp);
		add_part(stacks, text, i + 1, &count);
		sp = gh_process_word(process, sp + slot);
		parts++;
	}
	return count;
}

static bool is_in_c(const struct gh_goroutine *g, const struct gh_stack_frame *frame)
{
	return g->syscall_sp != 0 && gh_stack_is_named(frame->name, "runtime.cgocall");
}

void gh_c_stacks_add(struct gh_c_stacks *stacks, const struct gh_goroutine *g, size_t number,
		     const struct gh_stack_frame *frames, size_t nframes)
{
	struct gh_buffer text = {0};
	uint8_t slot;
	bool has = nframes > 0 && is_in_c(g, &frames[0]);
	if (stacks->process->files == NULL)
		return;
	if (thread_of(g) != 0 &&
	    gh_numbermap_get(&stacks->goroutines, thread_of(g)) == GH_NOT_MAPPED &&
	    !gh_numbermap_put(&stacks->goroutines, thread_of(g), (uint32_t)number))
		stacks->list.failed = true;
	for (size_t i = 0; i < nframes && !has; i++)
		has = is_callback(stacks->process, &frames[i], &slot);
	size_t count = has ? add_parts(stacks, &text, g, number, frames, nframes) : 0;
	if (count > 0) {
		gh_buffer_uleb128(&stacks->list, number);
		gh_buffer_uleb128(&stacks->list, count);
		gh_buffer_bytes(&stacks->list, text.data, text.size);
	}
	stacks->list.failed |= text.failed;
	gh_buffer_free(&text);
}

void gh_c_stacks_open(struct gh_c_stacks *stacks, struct gh_process *process,
		      const struct gh_stack *stack, uint32_t sched)
{
	*stacks = (struct gh_c_stacks){
	    .process = process, .stack = stack, .sched = sched, .left = MAX_ALL_FRAMES};
}

void gh_c_stacks_close(struct gh_c_stacks *stacks)
{
	gh_c_files_close(&stacks->files);
	gh_vector_free(&stacks->frames);
	gh_vector_free(&stacks->list_of_waits);
	gh_numbermap_free(&stacks->goroutines);
	gh_numbermap_free(&stacks->known);
}
