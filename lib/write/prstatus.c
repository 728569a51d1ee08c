#include "lib/write/prstatus.h"

#include <elf.h>
#include <string.h>

/* A machine's registers, numbered as in its elf_gregset_t. */
struct registers {
	const char *goarch;
	uint8_t count;
	uint8_t pc;
	uint8_t sp;
	uint8_t fp; /* NONE if Go keeps no frame pointer there */
	uint8_t lr; /* the link register; NONE if calls push the return address */
};

#define NONE UINT8_MAX

static const struct registers registers[] = {
    {"386", 17, 12, 15, NONE, NONE},    {"amd64", 27, 16, 19, 4, NONE},
    {"arm", 18, 15, 13, NONE, 14},      {"arm64", 34, 32, 31, 29, 30},
    {"loong64", 45, 33, 3, NONE, 1},    {"mips", 45, 40, 35, NONE, 37},
    {"mipsle", 45, 40, 35, NONE, 37},   {"mips64", 45, 34, 29, NONE, 31},
    {"mips64le", 45, 34, 29, NONE, 31}, {"ppc64", 48, 32, 1, NONE, 36},
    {"ppc64le", 48, 32, 1, NONE, 36},   {"riscv64", 32, 0, 2, NONE, 1},
    {"s390x", 27, 1, 17, NONE, 16},
};

static const struct registers *find_registers(const struct gh_arch *arch)
{
	const struct registers *regs = registers;
	while (strcmp(regs->goarch, arch->goarch) != 0)
		regs++;
	return regs;
}

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
	const struct registers *regs = find_registers(arch);
	size_t start = begin_note(out, NT_PRSTATUS);
	add_zeros(out, 12 + 4);   /* pr_info: signal, code, errno; pr_cursig and padding */
	add_zeros(out, 2 * word); /* pr_sigpend, pr_sighold */
	gh_buffer_u32(out, (uint32_t)thread->id);
	add_zeros(out, 3 * 4);        /* pr_ppid, pr_pgrp, pr_sid */
	add_zeros(out, 4 * 2 * word); /* four times: seconds and microseconds */
	for (unsigned i = 0; i < regs->count; i++) {
		uint64_t value = i == regs->pc   ? thread->pc
				 : i == regs->sp ? thread->sp
				 : i == regs->fp ? thread->fp
				 : i == regs->lr ? thread->lr
						 : 0;
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
	add_zeros(out, word); /* state, its letter, zombie, nice; padding */
	add_zeros(out, word); /* flags */
	add_zeros(out, arch->machine == EM_386 || arch->machine == EM_ARM
			   ? 2 * 2
			   : 2 * 4); /* user, group */
	gh_buffer_u32(out, (uint32_t)id);
	add_zeros(out, 3 * 4); /* parent, process group, session */
	char *text = gh_buffer_extend(out, NAME + ARGUMENTS);
	if (text != NULL) {
		memset(text, 0, NAME + ARGUMENTS);
		memcpy(text, program, strnlen(program, NAME - 1));
		memcpy(text + NAME, program, strnlen(program, ARGUMENTS - 1));
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
