#include "lib/export/core_parts.h"

#include <elf.h>
#include <string.h>

#include "lib/util/escape.h"

size_t gh_note_begin(struct gh_buffer *out, const char *name, uint32_t type)
{
	gh_buffer_u32(out, (uint32_t)strlen(name) + 1);
	gh_buffer_u32(out, 0); /* size of the contents */
	gh_buffer_u32(out, type);
	gh_buffer_string(out, name);
	gh_buffer_align(out, 4);
	return out->size;
}

void gh_note_end(struct gh_buffer *out, size_t start)
{
	/* CORE and LINUX take as many bytes. */
	gh_buffer_patch(out, start - 16, out->size - start, 4);
	gh_buffer_align(out, 4);
}

static void add_zeros(struct gh_buffer *out, size_t size)
{
	void *zeros = gh_buffer_extend(out, size);
	if (zeros != NULL)
		memset(zeros, 0, size);
}

/* The registers of THREAD that are known, one by one. */
static void add_registers(struct gh_buffer *out, const struct gh_arch *arch,
			  const struct gh_thread *thread)
{
	const struct gh_gregset *regs = &arch->gregs;
	for (unsigned i = 0; i < regs->count; i++) {
		uint64_t value = 0;
		if (i == regs->pc)
			value = thread->pc;
		else if (i == regs->sp)
			value = thread->sp;
		else if (gh_arch_has_frame_pointer(arch) && i == regs->fp)
			value = thread->fp;
		else if (arch->link_register && i == regs->lr)
			value = thread->lr;
		gh_buffer_uint(out, value, arch->pointer_size);
	}
}

void gh_prstatus_append(struct gh_buffer *out, const struct gh_arch *arch,
			const struct gh_thread *thread)
{
	static const struct gh_core_process unknown;
	const struct gh_core_process *process =
	    thread->process != NULL ? thread->process : &unknown;
	unsigned word = arch->pointer_size;
	size_t start = gh_note_begin(out, "CORE", NT_PRSTATUS);
	gh_buffer_u32(out, thread->signal);
	add_zeros(out, 2 * 4); /* si_code, si_errno */
	gh_buffer_u16(out, thread->signal);
	gh_buffer_u16(out, 0);
	gh_buffer_uint(out, 0, word); /* pending signals */
	gh_buffer_uint(out, thread->blocked, word);
	gh_buffer_u32(out, (uint32_t)thread->id);
	gh_buffer_u32(out, (uint32_t)process->parent);
	gh_buffer_u32(out, (uint32_t)process->group);
	gh_buffer_u32(out, (uint32_t)process->session);
	add_zeros(out, 8 * word); /* times */
	if (thread->registers != NULL)
		gh_buffer_bytes(out, thread->registers, (size_t)arch->gregs.count * word);
	else
		add_registers(out, arch, thread);
	gh_buffer_u32(out, thread->registers != NULL); /* there is an NT_PRFPREG */
	add_zeros(out, word - 4);
	gh_note_end(out, start);
}

void gh_prpsinfo_append(struct gh_buffer *out, const struct gh_arch *arch,
			const struct gh_core_process *process)
{
	enum { NAME = 16, ARGUMENTS = 80 };
	static const char states[] = "RSDTZW";
	unsigned word = arch->pointer_size;
	size_t start = gh_note_begin(out, "CORE", NT_PRPSINFO);
	const char *state = process->state != 0 ? strchr(states, process->state) : NULL;
	gh_buffer_u8(out, state != NULL ? (uint8_t)(state - states) : 0);
	gh_buffer_u8(out, (uint8_t)process->state);
	gh_buffer_u8(out, process->state == 'Z');
	gh_buffer_u8(out, (uint8_t)process->nice);
	add_zeros(out, word - 4);
	add_zeros(out, word); /* flags */
	gh_buffer_uint(out, process->user, arch->uid_size);
	gh_buffer_uint(out, process->user_group, arch->uid_size);
	gh_buffer_u32(out, (uint32_t)process->id);
	gh_buffer_u32(out, (uint32_t)process->parent);
	gh_buffer_u32(out, (uint32_t)process->group);
	gh_buffer_u32(out, (uint32_t)process->session);
	char *text = gh_buffer_extend(out, NAME + ARGUMENTS);
	if (text != NULL) {
		memset(text, 0, NAME + ARGUMENTS);
		memcpy(text, process->name, strnlen(process->name, NAME - 1));
		memcpy(text + NAME, process->arguments, strnlen(process->arguments, ARGUMENTS - 1));
		/* GDB prints them as they are. */
		gh_escape_overwrite(text, strlen(text));
		gh_escape_overwrite(text + NAME, strlen(text + NAME));
	}
	gh_note_end(out, start);
}

void gh_auxv_append(struct gh_buffer *out, const struct gh_arch *arch, uint64_t entry)
{
	unsigned word = arch->pointer_size;
	size_t start = gh_note_begin(out, "CORE", NT_AUXV);
	gh_buffer_uint(out, AT_ENTRY, word);
	gh_buffer_uint(out, entry, word);
	gh_buffer_uint(out, AT_NULL, word);
	gh_buffer_uint(out, 0, word);
	gh_note_end(out, start);
}
