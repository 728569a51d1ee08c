#include "lib/process/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/dump/record.h"
#include "lib/pclntab/pclntab.h"
#include "lib/util/bsearch.h"

/* Looked-up pcs that are kept: goroutines of one program wait in few places. */
#define SITES 512

/* A stack has no more segments, unless to make work: they are of 4 KiB, and larger. */
#define MAX_SEGMENTS (1U << 18)

/* Frames that a thread may have from where it stands in a signal handler to the kernel's. */
#define HANDLER_FRAMES 128

/* Signal handlers that may have interrupted each other. */
#define HANDLERS 8

/* What is known of a pc. */
struct gh_stack_site {
	uint64_t pc;   /* 0 if nothing is kept here */
	bool found;    /* it is in a function */
	bool ends;     /* nothing called that function, or its caller cannot be found */
	bool begins;   /* nothing called it */
	bool switches; /* that function moves SP freely: its caller cannot be found in its code */
	bool injected; /* that function is called by signal handlers, at any instruction */
	bool segment;  /* it is runtime.lessstack, which goes back to another segment (to Go 1.3) */
	bool handler;  /* that function is a signal handler, which the kernel calls */
	uint64_t entry;
	const char *name;
	uint64_t above; /* bytes above the frame up to the end of the arguments */
	uint64_t size;  /* of the frame, without the return address of a call on the stack; bytes */
};

static void look_up(const struct gh_stack *stack, uint64_t pc, struct gh_stack_site *site)
{
	struct gh_func func;
	size_t index;
	struct gh_module module = gh_process_module_at(stack->process, pc, &index);
	const struct gh_pclntab *tab = module.tab;
	*site = (struct gh_stack_site){.pc = pc};
	if (index == SIZE_MAX || !gh_pclntab_func(tab, index, &func, NULL))
		return;
	int32_t size = gh_pcvalue_at(tab, &func, func.pcsp, pc - module.bias);
	site->found = true;
	site->name = gh_pclntab_name(tab, func.name);
	site->entry = func.entry + module.bias;
	site->injected = gh_is_injected(site->name);
	site->segment = strcmp(site->name, "runtime.lessstack") == 0;
	site->handler = gh_stack_is_named(site->name, "runtime.sigtramp") ||
			gh_stack_is_named(site->name, "runtime.cgoSigtramp");
	site->above = gh_args_extent(tab, &func);
	if (site->above > 0)
		site->above += tab->image->arch->min_frame;
	site->size = size > 0 ? (uint64_t)size : 0;
	enum gh_stack_end end = gh_stack_end(&func, site->name, stack->has_flags);
	site->switches = end == GH_STACK_SWITCHES;
	site->begins = size >= 0 && end == GH_STACK_ENDS;
	site->ends = size < 0 || (end != GH_STACK_GOES_ON && !site->switches);
}

static const struct gh_stack_site *find_site(const struct gh_stack *stack, uint64_t pc)
{
	struct gh_stack_site *site = &stack->sites[(pc ^ pc >> 9) % SITES];
	if (site->pc != pc)
		look_up(stack, pc, site);
	return site->found ? site : NULL;
}

/* Has the walk begin where a thread stands. */
static void start_at(struct gh_stack *stack, const struct gh_registers *thread)
{
	stack->first = true;
	stack->ended = false;
	stack->whole = false;
	stack->segments = 0;
	stack->injected = false;
	stack->entering = false;
	stack->interrupted = true;
	stack->pc = thread->pc;
	stack->sp = thread->sp;
	stack->lr = thread->lr;
}

/* Goes on to the caller of the frame at SITE. */
static bool go_up(struct gh_stack *stack, const struct gh_stack_site *site)
{
	const struct gh_arch *arch = stack->process->tab->image->arch;
	unsigned word = arch->pointer_size;
	uint64_t next_sp = stack->sp + site->size + (arch->link_register ? 0 : word);
	uint64_t slot = arch->link_register ? stack->sp : next_sp - word;
	uint64_t pc = stack->lr;
	bool in_register = arch->link_register && pc != 0 && site->size == 0;
	if (next_sp < stack->sp || next_sp > stack->high ||
	    (!in_register && !gh_process_uint(&stack->process->memory, slot, word, &pc)))
		return false;
	/* A frame of no size has its return address in the register, and only the top one can. */
	if (next_sp == stack->sp && !stack->first && !stack->injected)
		return false;
	stack->lr = 0;
	stack->injected = site->injected;
	if (arch->link_register && site->injected) {
		if (!gh_process_uint(&stack->process->memory, next_sp, word, &stack->lr))
			return false;
		next_sp += arch->injected_gap;
		if (next_sp < stack->sp)
			return false;
	}
	stack->pc = pc;
	stack->sp = next_sp;
	stack->first = false;
	stack->entering = false;
	stack->interrupted = site->injected;
	return true;
}

/* A system call's function moves SP after it has said that it enters one. */
static bool is_last(const struct gh_stack *stack, const struct gh_stack_site *site)
{
	return site->ends || (site->switches && !stack->entering);
}

/* Goes on in the segment of the stack below, which the Stktop of this one leads to: stackguard,
 * stackbase, gobuf.sp, gobuf.pc (src/pkg/runtime/runtime.h of Go 1.3). */
static bool leave_segment(struct gh_stack *stack)
{
	struct gh_process_memory *memory = &stack->process->memory;
	unsigned word = stack->process->tab->pointer_size;
	uint64_t stktop = stack->stktop;
	uint64_t guard;
	if (stktop == 0 || stack->segments++ == MAX_SEGMENTS ||
	    !gh_process_uint(memory, stktop, word, &guard) ||
	    !gh_process_uint(memory, stktop + word, word, &stack->stktop) ||
	    !gh_process_uint(memory, stktop + 2 * word, word, &stack->sp) ||
	    !gh_process_uint(memory, stktop + 3 * word, word, &stack->pc))
		return false;
	stack->low = guard - GH_STACK_GUARD;
	stack->high = stack->stktop + word;
	return true;
}

/* Reads the registers of what was interrupted by the signal handler at SITE, which is the next
 * frame of STACK. */
static bool read_interrupted(struct gh_stack *stack, const struct gh_stack_site *site,
			     struct gh_stack_thread *thread)
{
	const struct gh_arch *arch = stack->process->tab->image->arch;
	const struct gh_signal_frame *layout = &arch->signal_frame;
	struct gh_process_memory *memory = &stack->process->memory;
	unsigned word = arch->pointer_size;
	uint64_t frame = stack->sp + site->size + (arch->link_register ? 0 : word);
	*thread = (struct gh_stack_thread){0};
	if (layout->pc == 0 || frame < stack->sp || frame > UINT64_MAX - UINT16_MAX)
		return false;
	uint64_t info = frame + layout->info;
	uint64_t number;
	uint64_t code;
	uint64_t address;
	struct gh_registers *at = &thread->at;
	if (!gh_process_uint(memory, frame + layout->pc, word, &at->pc) ||
	    !gh_process_uint(memory, frame + layout->sp, word, &at->sp) ||
	    (layout->lr != 0 && !gh_process_uint(memory, frame + layout->lr, word, &at->lr)) ||
	    !gh_process_uint(memory, info, 4, &number) ||
	    !gh_process_uint(memory, info + 8, 4, &code) ||
	    !gh_process_uint(memory, info + (word == 8 ? 16 : 12), word, &address))
		return false;
	for (; at->count < layout->count; at->count++)
		if (!gh_process_uint(memory, frame + layout->registers + at->count * word, word,
				     &at->values[at->count]))
			break;
	thread->signal = (struct gh_signal){
	    .number = (uint32_t)number, .code = (uint32_t)code, .address = address};
	return true;
}

void gh_stack_start_thread(struct gh_stack *stack, const struct gh_stack_thread *thread)
{
	start_at(stack, &thread->at);
	stack->low = 0;
	stack->high = UINT64_MAX;
}

/* THREAD is in a signal handler: gives what that interrupted. False if it is in none. */
static bool leave_handler(const struct gh_stack *stack, struct gh_stack_thread *thread)
{
	struct gh_stack walk = *stack;
	gh_stack_start_thread(&walk, thread);
	for (unsigned i = 0; i < HANDLER_FRAMES; i++) {
		struct gh_stack_thread interrupted;
		const struct gh_stack_site *site = find_site(&walk, walk.pc);
		if (site == NULL)
			return false;
		if (site->handler) {
			bool is = read_interrupted(&walk, site, &interrupted);
			if (is)
				*thread = interrupted;
			return is;
		}
		if (is_last(&walk, site) || !go_up(&walk, site))
			return false;
	}
	return false;
}

/* Where a thread with these REGISTERS is on a stack of no signal's. */
static struct gh_stack_thread leave_handlers(const struct gh_stack *stack,
					     const struct gh_registers *registers)
{
	struct gh_stack_thread thread = {.at = *registers};
	for (unsigned i = 0; i < HANDLERS && leave_handler(stack, &thread); i++)
		;
	thread.handler_sp = registers->sp;
	return thread;
}

static int compare_sp(const void *left, const void *right)
{
	const struct gh_stack_thread *a = left, *b = right;
	return a->at.sp < b->at.sp ? -1 : a->at.sp > b->at.sp;
}

bool gh_stack_open(struct gh_stack *stack, struct gh_process *process)
{
	size_t nthreads = process->nthreads;
	*stack = (struct gh_stack){
	    .process = process,
	    .sites = calloc(SITES, sizeof(*stack->sites)),
	    .threads = malloc((nthreads + 1) * sizeof(*stack->threads)),
	    .has_flags = gh_stack_has_flags(process->tab),
	};
	if (stack->sites == NULL || stack->threads == NULL)
		return false;
	for (size_t i = 0; i < nthreads; i++)
		stack->threads[i] = leave_handlers(stack, &process->threads[i]);
	if (nthreads > 0)
		stack->selected = stack->threads[0].at;
	qsort(stack->threads, nthreads, sizeof(*stack->threads), compare_sp);
	return true;
}

void gh_stack_free(struct gh_stack *stack)
{
	free(stack->sites);
	free(stack->threads);
}

/* The thread that runs on the stack of G; NULL if none does. */
static const struct gh_registers *find_thread(const struct gh_stack *stack,
					      const struct gh_goroutine *g)
{
	const struct gh_stack_thread *threads = stack->threads;
	size_t count = g->status == GH_DUMP_RUNNING ? stack->process->nthreads : 0;
	size_t found = gh_lower_bound(count, i, threads[i].at.sp < g->stack_low);
	return found < count && threads[found].at.sp < g->stack_high ? &threads[found].at : NULL;
}

const struct gh_registers *gh_stack_registers(const struct gh_stack *stack,
					      const struct gh_goroutine *g)
{
	return g->syscall_sp == 0 ? find_thread(stack, g) : NULL;
}

void gh_stack_start(struct gh_stack *stack, const struct gh_goroutine *g)
{
	const struct gh_registers *thread = find_thread(stack, g);
	struct gh_registers parked = {.pc = g->pc, .sp = g->sp, .lr = g->lr};
	struct gh_registers entering = {.pc = g->syscall_pc, .sp = g->syscall_sp};
	stack->low = g->stack_low;
	stack->high = g->stack_high;
	stack->stktop = g->stktop;
	if (g->syscall_sp != 0) {
		start_at(stack, &entering);
		stack->entering = true;
		stack->interrupted = false;
	} else if (thread != NULL) {
		start_at(stack, thread);
	} else {
		start_at(stack, &parked);
		stack->interrupted = false;
	}
}

bool gh_stack_next(struct gh_stack *stack, struct gh_stack_frame *frame)
{
	if (stack->ended || stack->sp < stack->low || stack->sp >= stack->high)
		return false;
	const struct gh_stack_site *site = find_site(stack, stack->pc);
	while (site != NULL && site->segment)
		site = leave_segment(stack) ? find_site(stack, stack->pc) : NULL;
	if (site == NULL)
		return false;
	*frame = (struct gh_stack_frame){.sp = stack->sp,
					 .pc = stack->pc,
					 .entry = site->entry,
					 .name = site->name,
					 .above = site->above,
					 .interrupted = stack->interrupted};
	const struct gh_arch *arch = stack->process->tab->image->arch;
	frame->end = stack->sp + site->size + (arch->link_register ? 0 : arch->pointer_size);
	if (frame->end < frame->sp || frame->end > stack->high)
		frame->end = frame->sp;
	stack->whole = site->begins;
	stack->ended = is_last(stack, site) || !go_up(stack, site);
	return true;
}
