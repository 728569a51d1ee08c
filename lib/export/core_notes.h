/* The notes of a Linux core file that say what its threads are.
 *
 * Formats: struct elf_prstatus and elf_prpsinfo of the kernel's include/linux/elfcore.h, and each
 * machine's elf_gregset_t (arch/.../include/uapi/asm/ptrace.h, elf.h). */
#ifndef GH_EXPORT_CORE_NOTES_H
#define GH_EXPORT_CORE_NOTES_H

#include "lib/elf/arch.h"
#include "lib/util/buffer.h"
#include "lib/util/cursor.h"

/* What is known of a thread. */
struct gh_thread {
	int32_t id; /* positive */
	uint64_t pc;
	uint64_t sp;
	uint64_t fp; /* the frame pointer; 0 if it is unknown, or the machine has none */
	uint64_t lr; /* the link register; likewise */
};

/* Appends an NT_PRSTATUS note for THREAD. */
void gh_prstatus_append(struct gh_buffer *out, const struct gh_arch *arch,
			const struct gh_thread *thread);

/* Reads the pc, sp and lr of THREAD from the contents NOTE of an NT_PRSTATUS note. False if they
 * are not there. */
bool gh_prstatus_read(struct gh_cursor note, const struct gh_arch *arch, struct gh_thread *thread);

/* Reads all registers that are there, at most COUNT, into VALUES. Returns how many. */
unsigned gh_prstatus_registers(struct gh_cursor note, const struct gh_arch *arch, uint64_t *values,
			       unsigned count);

/* Appends an NT_PRPSINFO note. PROGRAM, the name of the program, is cut to fit. */
void gh_prpsinfo_append(struct gh_buffer *out, const struct gh_arch *arch, const char *program,
			int32_t id);

/* Appends an NT_AUXV note with the address of the program's entry point. */
void gh_auxv_append(struct gh_buffer *out, const struct gh_arch *arch, uint64_t entry);

#endif
