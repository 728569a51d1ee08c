#include "lib/export/core_parts.h"

#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>

#ifndef NT_SIGINFO
#define NT_SIGINFO 0x53494749
#endif

/* No machine has more of one kind of registers, in bytes: AMX has 8 KiB, SVE 8 KiB and more. */
#define REGISTERS_SIZE (1 << 16)

/* The kinds of registers beside the general ones, of all machines: the kernel gives those that the
 * thread's has. What it takes to set a thread going is left out: hardware breakpoints, system
 * calls. Source: NT_* in include/uapi/linux/elf.h of the kernel. */
static const unsigned kinds[] = {
    NT_PRFPREG, 0x100, /* NT_PPC_VMX */
    0x102,             /* NT_PPC_VSX */
    0x103,             /* NT_PPC_TAR */
    0x200,             /* NT_386_TLS */
    0x202,             /* NT_X86_XSTATE */
    0x204,             /* NT_X86_SHSTK */
    0x300,             /* NT_S390_HIGH_GPRS */
    0x306,             /* NT_S390_LAST_BREAK */
    0x309,             /* NT_S390_VXRS_LOW */
    0x30a,             /* NT_S390_VXRS_HIGH */
    0x400,             /* NT_ARM_VFP */
    0x401,             /* NT_ARM_TLS */
    0x405,             /* NT_ARM_SVE */
    0x406,             /* NT_ARM_PAC_MASK */
    0x409,             /* NT_ARM_TAGGED_ADDR_CTRL */
    0x901,             /* NT_RISCV_VECTOR */
    0xa02,             /* NT_LOONGARCH_LSX */
    0xa03,             /* NT_LOONGARCH_LASX */
};

/* Reads the text of the file NAME of process PID, its NULs as spaces. */
static void read_text(int pid, const char *name, char *text, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	FILE *file = fopen(path, "re");
	size_t length = file != NULL ? fread(text, 1, size - 1, file) : 0;
	if (file != NULL)
		fclose(file);
	while (length > 0 && (text[length - 1] == '\0' || text[length - 1] == '\n'))
		length--;
	text[length] = '\0';
	for (size_t i = 0; i < length; i++)
		if (text[i] == '\0')
			text[i] = ' ';
}

void gh_live_process_read(struct gh_live_process *process, int pid)
{
	char stat_text[1024];
	char path[64];
	struct stat owner;
	int nice = 0;
	*process = (struct gh_live_process){0};
	struct gh_core_process *core = &process->core;
	read_text(pid, "comm", process->name, sizeof(process->name));
	read_text(pid, "cmdline", process->arguments, sizeof(process->arguments));
	read_text(pid, "stat", stat_text, sizeof(stat_text));
	core->name = process->name;
	core->arguments = process->arguments;
	core->id = pid;
	const char *after_name = strrchr(stat_text, ')');
	if (after_name != NULL &&
	    sscanf(after_name,
		   ") %c %" SCNd32 " %" SCNd32 " %" SCNd32 " %*s %*s %*s %*s %*s %*s "
		   "%*s %*s %*s %*s %*s %*s %d",
		   &core->state, &core->parent, &core->group, &core->session, &nice) == 5)
		core->nice = (int8_t)nice;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &owner) == 0) {
		core->user = owner.st_uid;
		core->user_group = owner.st_gid;
	}
}

/* Appends a note of those registers of the thread ID that are of KIND, if it has any. */
static void append_kind(struct gh_buffer *out, int id, unsigned kind)
{
	const char *name = kind == NT_PRFPREG ? "CORE" : "LINUX";
	size_t before = out->size;
	size_t start = gh_note_begin(out, name, kind);
	uint8_t *bytes = gh_buffer_extend(out, REGISTERS_SIZE);
	struct iovec to = {bytes, REGISTERS_SIZE};
	bool has = bytes != NULL &&
		   ptrace(PTRACE_GETREGSET, id, (void *)(uintptr_t)kind, &to) == 0 &&
		   to.iov_len > 0;
	out->size = has ? start + to.iov_len : before;
	if (has)
		gh_note_end(out, start);
}

static void append_signal(struct gh_buffer *out, const struct gh_traced *traced)
{
	siginfo_t info;
	memset(&info, 0, sizeof(info));
	if (traced->signal != 0)
		ptrace(PTRACE_GETSIGINFO, traced->id, NULL, &info);
	size_t start = gh_note_begin(out, "CORE", NT_SIGINFO);
	gh_buffer_bytes(out, &info, sizeof(info));
	gh_note_end(out, start);
}

/* Where a thread that cannot be stopped is in the kernel: what called that. */
static void read_stuck(int pid, struct gh_thread *thread)
{
	char path[64];
	char text[256] = "";
	snprintf(path, sizeof(path), "task/%d/syscall", thread->id);
	read_text(pid, path, text, sizeof(text));
	const char *pc = strrchr(text, ' ');
	const char *sp = pc != NULL ? memrchr(text, ' ', (size_t)(pc - text)) : NULL;
	if (sp == NULL || sscanf(sp, " %" SCNx64 " %" SCNx64, &thread->sp, &thread->pc) != 2)
		thread->sp = thread->pc = 0;
}

static void take_registers(const struct gh_arch *arch, const void *words, struct gh_thread *thread)
{
	unsigned word = arch->pointer_size;
	struct gh_cursor cur = gh_cursor_make(words, (size_t)arch->gregs.count * word, "registers",
					      0, arch->big_endian);
	thread->registers = words;
	gh_cursor_seek(&cur, (uint64_t)arch->gregs.sp * word);
	thread->sp = gh_cursor_uint(&cur, word);
}

static void append_thread(struct gh_buffer *out, const struct gh_arch *arch, int pid,
			  const struct gh_traced *traced, struct gh_thread *thread)
{
	uint64_t words[GH_MAX_REGISTERS + 1];
	struct iovec to = {words, sizeof(words)};
	thread->id = traced->id;
	thread->signal = (uint16_t)traced->signal;
	/* It may have ended since, by a signal that nothing holds up. */
	if (!traced->stuck && ptrace(PTRACE_GETREGSET, traced->id, (void *)NT_PRSTATUS, &to) != 0)
		return;
	if (traced->stuck)
		read_stuck(pid, thread);
	else if (to.iov_len >= (size_t)arch->gregs.count * arch->pointer_size)
		take_registers(arch, words, thread);
	ptrace(PTRACE_GETSIGMASK, traced->id, (void *)sizeof(thread->blocked), &thread->blocked);
	gh_prstatus_append(out, arch, thread);
	append_signal(out, traced);
	for (size_t i = 0; !traced->stuck && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		append_kind(out, traced->id, kinds[i]);
}

void gh_live_threads_append(struct gh_buffer *out, const struct gh_arch *arch,
			    const struct gh_stopped *stopped, const struct gh_core_process *process,
			    struct gh_memory_parts *stacks)
{
	for (size_t i = 0; i < stopped->threads.count; i++) {
		const struct gh_traced *traced = &stopped->threads.items[i];
		struct gh_thread thread = {.process = process};
		if (traced->id != 0)
			append_thread(out, arch, stopped->pid, traced, &thread);
		struct gh_memory_part stack = {thread.sp, thread.sp + 1};
		if (thread.sp != 0 && stacks != NULL)
			gh_vector_push(stacks, stack);
	}
}
