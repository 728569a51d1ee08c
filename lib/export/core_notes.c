#include "lib/export/internal.h"

#include <elf.h>
#include <string.h>

#include "lib/util/escape.h"

/* Begins a note called CORE and returns where its contents begin. */
static size_t begin_note(struct gh_buffer *out, uint32_t type)
{
	gh_buffer_u32(out, 5); /* size of the name, with its NUL */
	gh_buffer_u32(out, 0); /* size of the contents */
	gh_buffer_u32(out, type);
	gh_buffer_string(out, "CORE");
	gh_buffer_align(out, 4);
	return out->size;
}

static void end_note(struct gh_buffer *out, size_t start)
{
	gh_buffer_patch(out, start - 16, out->size - start, 4);
	gh_buffer_align(out, 4);
}

static void add_zeros(struct gh_buffer *out, size_t size)
{
	void *zeros = gh_buffer_extend(out, size);
	if (zeros != NULL)
		memset(zeros, 0, size);
}

void gh_prstatus_append(struct gh_buffer *out, const struct gh_arch *arch,
			const struct gh_thread *thread)
{
	unsigned word = arch->pointer_size;
	const struct gh_gregset *regs = &arch->gregs;
	size_t start = begin_note(out, NT_PRSTATUS);
	add_zeros(out, GH_PRSTATUS_PID(word));
	gh_buffer_u32(out, (uint32_t)thread->id);
	add_zeros(out, GH_PRSTATUS_REG(word) - GH_PRSTATUS_PID(word) - 4);
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
		gh_buffer_uint(out, value, word);
	}
	gh_buffer_u32(out, 0); /* pr_fpvalid */
	add_zeros(out, word - 4);
	end_note(out, start);
}

void gh_prpsinfo_append(struct gh_buffer *out, const struct gh_arch *arch, const char *program,
			int32_t id)
{
	enum { NAME = 16, ARGUMENTS = 80 };
	unsigned word = arch->pointer_size;
	size_t start = begin_note(out, NT_PRPSINFO);
	add_zeros(out, word);               /* state, its letter, zombie, nice; padding */
	add_zeros(out, word);               /* flags */
	add_zeros(out, 2 * arch->uid_size); /* user, group */
	gh_buffer_u32(out, (uint32_t)id);
	add_zeros(out, 3 * 4); /* parent, process group, session */
	char *text = gh_buffer_extend(out, NAME + ARGUMENTS);
	if (text != NULL) {
		memset(text, 0, NAME + ARGUMENTS);
		memcpy(text, program, strnlen(program, NAME - 1));
		memcpy(text + NAME, program, strnlen(program, ARGUMENTS - 1));
		/* GDB prints them as they are. */
		gh_escape_overwrite(text, strlen(text));
		gh_escape_overwrite(text + NAME, strlen(text + NAME));
	}
	end_note(out, start);
}

void gh_auxv_append(struct gh_buffer *out, const struct gh_arch *arch, uint64_t entry)
{
	unsigned word = arch->pointer_size;
	size_t start = begin_note(out, NT_AUXV);
	gh_buffer_uint(out, AT_ENTRY, word);
	gh_buffer_uint(out, entry, word);
	gh_buffer_uint(out, AT_NULL, word);
	gh_buffer_uint(out, 0, word);
	end_note(out, start);
}
