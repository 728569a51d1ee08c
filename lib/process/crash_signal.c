#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/process/dump_parts.h"

enum { ILL = 4, BUS = 7, FPE = 8, SEGV = 11 };

/* Bytes of code that are printed for some signals. */
#define CODE 16

const char *gh_crash_signal_name(uint32_t number)
{
	static const struct {
		uint32_t number;
		const char *name;
	} names[] = {
	    {3, "SIGQUIT: quit"},
	    {ILL, "SIGILL: illegal instruction"},
	    {5, "SIGTRAP: trace trap"},
	    {6, "SIGABRT: abort"},
	    {BUS, "SIGBUS: bus error"},
	    {FPE, "SIGFPE: floating-point exception"},
	    {SEGV, "SIGSEGV: segmentation violation"},
	    {16, "SIGSTKFLT: stack fault"},
	    {31, "SIGSYS: bad system call"},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].number == number)
			return names[i].name;
	return NULL;
}

__attribute__((format(printf, 2, 3))) static void add(struct gh_buffer *out, const char *format,
						      ...)
{
	char text[128];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	gh_buffer_bytes(out, text, strlen(text));
}

/* Finds the runtime.m of THREAD: the one whose signal stack its handler runs on. 0 if none is. */
static uint64_t find_m(struct gh_process *process, const struct gh_goroutines *all,
		       const struct gh_m_list *list, const struct gh_stack_thread *thread)
{
	const struct gh_g_layout *g = &all->layout;
	uint64_t m = list->first;
	for (unsigned i = 0; i < list->count; i++, m = gh_process_word(process, m + list->next)) {
		uint64_t handler = gh_process_word(process, m + list->signal_g);
		if (gh_process_may_point(process, handler) &&
		    gh_process_word(process, handler + g->stack_low) <= thread->handler_sp &&
		    thread->handler_sp < gh_process_word(process, handler + g->stack_high))
			return m;
	}
	return 0;
}

/* The SP is on the stack of the runtime.g at ADDRESS. */
static bool is_on(struct gh_process *process, const struct gh_goroutines *all, uint64_t address,
		  uint64_t sp)
{
	return gh_process_may_point(process, address) &&
	       gh_process_word(process, address + all->layout.stack_low) <= sp &&
	       sp < gh_process_word(process, address + all->layout.stack_high);
}

/* The thread of the runtime.m at M runs C code for a goroutine. Up to Go 1.17 it is said only of
 * one that is locked to its thread. */
static bool is_in_c(struct gh_process *process, const struct gh_goroutines *all,
		    const struct gh_m_list *list, uint64_t m, uint64_t sp)
{
	uint64_t current = gh_process_word(process, m + list->current_g);
	uint64_t flag;
	if (current == 0 || is_on(process, all, current, sp) ||
	    !gh_process_uint(&process->memory, m + list->in_c, 1, &flag) || flag == 0)
		return false;
	return process->minor >= 18 || gh_process_word(process, m + list->locked_g) != 0;
}

/* Appends the instruction at PC, as the bytes up to the end of the page at most. */
static void add_code(struct gh_buffer *out, struct gh_process *process, uint64_t pc)
{
	uint8_t code[CODE];
	uint64_t left = gh_page_end(pc) - pc;
	size_t size = left < CODE ? (size_t)left : CODE;
	if (!gh_process_read_constant(process, pc, code, size))
		return;
	add(out, "instruction bytes:");
	for (size_t i = 0; i < size; i++)
		add(out, " 0x%x", code[i]);
	add(out, "\n");
}

bool gh_crash_is_dying(struct gh_process *process, const struct gh_goroutines *all,
		       const struct gh_m_list *list, const struct gh_stack_thread *thread)
{
	uint64_t m = find_m(process, all, list, thread);
	uint64_t dying;
	return m != 0 && gh_process_uint(&process->memory, m + list->dying, 4, &dying) &&
	       dying != 0;
}

void gh_crash_add_signal(struct gh_buffer *out, struct gh_process *process,
			 const struct gh_goroutines *all, const struct gh_m_list *list,
			 const struct gh_stack_thread *thread)
{
	const struct gh_signal *signal = &thread->signal;
	uint64_t m = find_m(process, all, list, thread);
	uint64_t id;
	add(out, "%s\nPC=0x%" PRIx64, gh_crash_signal_name(signal->number), thread->at.pc);
	if (m != 0 && gh_process_uint(&process->memory, m + list->id, 8, &id))
		add(out, " m=%" PRId64, (int64_t)id);
	uint64_t code = (uint64_t)(int32_t)signal->code;
	if (process->tab->pointer_size == 4)
		code &= UINT32_MAX;
	add(out, " sigcode=%" PRIu64, code);
	if (process->minor >= 22 && (signal->number == SEGV || signal->number == BUS))
		add(out, " addr=0x%" PRIx64, signal->address);
	add(out, "\n");
	if (m != 0 && is_in_c(process, all, list, m, thread->at.sp))
		add(out, "signal arrived during cgo execution\n");
	if (signal->number == ILL || (signal->number == FPE && process->minor >= 18))
		add_code(out, process, thread->at.pc);
}
