#include "lib/process/dump_parts.h"

#include <string.h>

/* Bytes of a text in a dump; longer ones are cut. */
#define MAX_TEXT 1000

/* Adds TEXT, which may be NULL, with a 0 behind it. */
static void add_text(struct gh_buffer *out, const char *text)
{
	gh_buffer_bytes(out, text, text != NULL ? strnlen(text, MAX_TEXT) : 0);
	gh_buffer_u8(out, 0);
}

static void add_call(struct gh_buffer *out, const struct gh_system_call *call)
{
	gh_buffer_uleb128(out, (uint64_t)call->thread);
	gh_buffer_uleb128(out, call->descriptor >= 0 ? (uint64_t)call->descriptor + 1 : 0);
	gh_buffer_uleb128(out, call->asleep);
	add_text(out, call->name);
	add_text(out, call->arguments);
}

/* Adds those of CALLS whose threads have since come no further: by their stack pointers, or they
 * are in the kernel, where nothing stops them, and have no registers. */
static void add_read(struct gh_buffer *out, const struct gh_process *process,
		     const struct gh_system_calls *calls)
{
	struct gh_numbermap threads = {0};
	for (size_t i = 0; i < process->nthreads; i++)
		out->failed |=
		    !gh_numbermap_put(&threads, (uint64_t)process->threads[i].id, (uint32_t)i);
	for (size_t i = 0; i < calls->count; i++) {
		const struct gh_system_call *call = &calls->items[i];
		uint32_t thread = gh_numbermap_get(&threads, (uint64_t)call->thread);
		if (thread == GH_NOT_MAPPED || process->threads[thread].sp == call->sp)
			add_call(out, call);
	}
	gh_numbermap_free(&threads);
}

/* Adds those that the registers of threads tell. */
static void add_by_registers(struct gh_buffer *out, const struct gh_process *process)
{
	const struct gh_arch *arch = process->tab->image->arch;
	const struct gh_memory memory = gh_process_memory_of(process);
	struct gh_sockets sockets = {0};
	const struct gh_calling of = {&memory, &sockets, process->pid};
	struct gh_system_calls calls = {0};
	if (process->pid != 0)
		gh_sockets_read(&sockets, process->pid);
	for (size_t i = 0; i < process->nthreads; i++)
		if (process->threads[i].id != 0 && process->threads[i].count == arch->gregs.count)
			gh_system_calls_add(&calls, &of, arch, process->threads[i].id,
					    process->threads[i].values);
	for (size_t i = 0; i < calls.count; i++)
		add_call(out, &calls.items[i]);
	gh_system_calls_free(&calls);
	gh_vector_free(&sockets);
}

void gh_thread_calls_add(struct gh_buffer *out, const struct gh_process *process)
{
	if (process->calls.count > 0)
		add_read(out, process, &process->calls);
	else
		add_by_registers(out, process);
}
