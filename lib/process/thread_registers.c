#include "lib/process/internal.h"

#include <elf.h>

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

void gh_core_threads(struct gh_thread_registers *threads, const struct gh_image *core)
{
	struct gh_cursor note;
	uint32_t type;
	/* Those of a thread follow one another, its NT_PRSTATUS first. */
	for (uint64_t at = 0; gh_core_note(core, &at, &type, &note);) {
		if (type == NT_PRSTATUS) {
			struct gh_registers registers;
			gh_cursor_bytes(&note, GH_PRSTATUS_REG(core->arch->pointer_size));
			if (gh_registers_read(&registers, core->arch, note))
				gh_vector_push(threads, registers);
		} else if (type == core->arch->vectors_note && threads->count > 0) {
			struct gh_registers *last = &threads->items[threads->count - 1];
			last->vectors_size = gh_cursor_left(&note);
			last->vectors = gh_cursor_bytes(&note, last->vectors_size);
		}
	}
}
