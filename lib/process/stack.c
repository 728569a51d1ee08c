#include "lib/process/stack.h"

#include <stdlib.h>
#include <string.h>

#include "lib/dump/record.h"
#include "lib/pclntab/arginfo.h"
#include "lib/pclntab/pcvalue.h"
#include "lib/write/injected.h"
#include "lib/write/stackend.h"

/* Looked-up pcs that are kept: goroutines of one program wait in few places. */
#define SITES 512

/* What is known of a pc. */
struct gh_stack_site {
	uint64_t pc;   /* 0 if nothing is kept here */
	bool found;    /* it is in a function */
	bool ends;     /* nothing called that function, or its caller cannot be found */
	bool switches; /* that function moves SP freely: its caller cannot be found in its code */
	bool injected; /* that function is called by signal handlers, at any instruction */
	uint64_t entry;
	const char *name;
	uint64_t above; /* bytes above the frame up to the end of the arguments */
	uint64_t size;  /* of the frame, without the return address of a call on the stack; bytes */
};

static void look_up(const struct gh_stack *stack, uint64_t pc, struct gh_stack_site *site)
{
	const struct gh_process *process = stack->process;
	const struct gh_pclntab *tab = process->tab;
	struct gh_func func;
	*site = (struct gh_stack_site){.pc = pc};
	size_t index = gh_pclntab_find(tab, pc - process->bias);
	if (index == SIZE_MAX || !gh_pclntab_func(tab, index, &func, NULL))
		return;
	int32_t size = gh_pcvalue_at(tab, &func, func.pcsp, pc - process->bias);
	site->found = true;
	site->name = gh_pclntab_name(tab, func.name);
	site->entry = func.entry + process->bias;
	site->injected = gh_is_injected(site->name);
	site->above = gh_args_extent(tab, &func);
	if (site->above > 0)
		site->above += gh_arch_above_frame(tab->image->arch);
	site->size = size > 0 ? (uint64_t)size : 0;
	enum gh_stack_end end = gh_stack_end(&func, site->name, stack->has_flags);
	site->switches = end == GH_STACK_SWITCHES;
	site->ends = size < 0 || (end != GH_STACK_GOES_ON && !site->switches);
}

static const struct gh_stack_site *find_site(const struct gh_stack *stack, uint64_t pc)
{
	struct gh_stack_site *site = &stack->sites[(pc ^ pc >> 9) % SITES];
	if (site->pc != pc)
		look_up(stack, pc, site);
	return site->found ? site : NULL;
}

static int compare_sp(const void *left, const void *right)
{
	const struct gh_registers *a = left, *b = right;
	return a->sp < b->sp ? -1 : a->sp > b->sp;
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
		stack->threads[i] = process->threads[i];
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
	size_t low = 0;
	size_t high = g->status == GH_DUMP_RUNNING ? stack->process->nthreads : 0;
	size_t count = high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (stack->threads[middle].sp < g->stack_low)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && stack->threads[low].sp < g->stack_high ? &stack->threads[low] : NULL;
}

void gh_stack_start(struct gh_stack *stack, const struct gh_goroutine *g)
{
	const struct gh_registers *thread = find_thread(stack, g);
	stack->first = true;
	stack->ended = false;
	stack->injected = false;
	stack->low = g->stack_low;
	stack->high = g->stack_high;
	stack->lr = 0;
	stack->entering = g->syscall_sp != 0;
	stack->interrupted = false;
	if (stack->entering) {
		stack->pc = g->syscall_pc;
		stack->sp = g->syscall_sp;
	} else if (thread != NULL) {
		stack->pc = thread->pc;
		stack->sp = thread->sp;
		stack->interrupted = true;
	} else {
		stack->pc = g->pc;
		stack->sp = g->sp;
		stack->lr = g->lr;
	}
}

/* What a signal handler puts on the stack, besides the return address in the link register, when it
 * makes the interrupted function call another (runtime.sigctxt.preparePanic), in bytes. */
static uint64_t injected_size(const struct gh_arch *arch)
{
	switch (arch->machine) {
	case EM_AARCH64:
		return 16;
	case EM_PPC64:
		return 32;
	default:
		return arch->pointer_size;
	}
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
		next_sp += injected_size(arch);
		if (next_sp < stack->sp)
			return false;
	}
	stack->pc = pc;
	stack->sp = next_sp;
	stack->first = false;
	stack->entering = false;
	stack->interrupted = false;
	return true;
}

/* A system call's function moves SP after it has said that it enters one. */
static bool is_last(const struct gh_stack *stack, const struct gh_stack_site *site)
{
	return site->ends || (site->switches && !stack->entering);
}

bool gh_stack_next(struct gh_stack *stack, struct gh_stack_frame *frame)
{
	if (stack->ended || stack->sp < stack->low || stack->sp >= stack->high)
		return false;
	const struct gh_stack_site *site = find_site(stack, stack->pc);
	if (site == NULL)
		return false;
	/* It will be looked up as a return address, which is past its call. */
	uint64_t pc = stack->pc + (stack->interrupted ? 1 : 0);
	*frame = (struct gh_stack_frame){.sp = stack->sp,
					 .pc = pc,
					 .entry = site->entry,
					 .name = site->name,
					 .above = site->above};
	stack->ended = is_last(stack, site) || !go_up(stack, site);
	return true;
}
