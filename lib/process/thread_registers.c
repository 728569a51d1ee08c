#include "lib/process/internal.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

/* The vector registers of a thread take no more bytes, up to AVX-512's. */
#define VECTORS_SIZE 4096

bool gh_registers_read(struct gh_registers *registers, const struct gh_arch *arch,
		       struct gh_cursor gregs)
{
	const struct gh_gregset *set = &arch->gregs;
	*registers = (struct gh_registers){.count = set->count};
	for (unsigned i = 0; i < set->count; i++)
		registers->values[i] = gh_cursor_uint(&gregs, arch->pointer_size);
	registers->pc = registers->values[set->pc];
	registers->sp = registers->values[set->sp];
	if (arch->link_register)
		registers->lr = registers->values[set->lr];
	return !gregs.failed;
}

bool gh_stopped_registers(const struct gh_stopped *stopped, const struct gh_arch *arch,
			  struct gh_thread_registers *registers, uint8_t **vectors,
			  struct gh_error *err)
{
	/* Only what is written of it takes memory. */
	*vectors = calloc(stopped->threads.count, VECTORS_SIZE);
	for (size_t i = 0; *vectors != NULL && i < stopped->threads.count; i++) {
		uint8_t bytes[GH_MAX_REGISTERS * sizeof(uint64_t)];
		struct iovec to = {bytes, sizeof(bytes)};
		struct iovec vectors_to = {*vectors + i * VECTORS_SIZE, VECTORS_SIZE};
		struct gh_registers thread;
		pid_t id = stopped->threads.items[i].id;
		if (id == 0 || ptrace(PTRACE_GETREGSET, id, (void *)NT_PRSTATUS, &to) != 0 ||
		    !gh_registers_read(
			&thread, arch,
			gh_cursor_make(bytes, to.iov_len, "registers", 0, arch->big_endian)))
			continue;
		thread.id = id;
		if (arch->vectors_note != 0 &&
		    ptrace(PTRACE_GETREGSET, id, (void *)(uintptr_t)arch->vectors_note,
			   &vectors_to) == 0) {
			thread.vectors = vectors_to.iov_base;
			thread.vectors_size = vectors_to.iov_len;
		}
		gh_vector_push(registers, thread);
	}
	return (*vectors != NULL && !registers->failed) || gh_fail_memory(err, "the registers");
}

void gh_core_threads(struct gh_thread_registers *threads, const struct gh_image *core)
{
	struct gh_cursor note;
	uint32_t type;
	/* Those of a thread follow one another, its NT_PRSTATUS first. */
	for (uint64_t at = 0; gh_core_note(core, &at, &type, &note);) {
		if (type == NT_PRSTATUS) {
			unsigned word = core->arch->pointer_size;
			struct gh_registers registers;
			gh_cursor_bytes(&note, GH_PRSTATUS_PID(word));
			int id = (int)gh_cursor_u32(&note);
			gh_cursor_bytes(&note, GH_PRSTATUS_REG(word) - GH_PRSTATUS_PID(word) -
						   sizeof(uint32_t));
			bool read = gh_registers_read(&registers, core->arch, note);
			registers.id = id;
			if (read)
				gh_vector_push(threads, registers);
		} else if (type == core->arch->vectors_note && threads->count > 0) {
			struct gh_registers *last = &threads->items[threads->count - 1];
			last->vectors_size = gh_cursor_left(&note);
			last->vectors = gh_cursor_bytes(&note, last->vectors_size);
		}
	}
}
