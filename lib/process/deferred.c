#include "lib/process/internal.h"

/* Where the arguments of a deferred call are, and how large: after the record, which grew in
 * Go 1.14 (fd, varp, framepc). */
static bool read_arguments(struct gh_process *process, uint64_t address, struct gh_defer *defer)
{
	unsigned word = process->tab->pointer_size;
	defer->arguments = address + 8 + (process->minor < 14 ? 5 : 8) * word;
	return gh_process_uint(&process->memory, address, 4, &defer->size);
}

/* It begins with flags, up to Go 1.17 with a size before them, then SP, pc and the closure; up to
 * Go 1.21 the panic that runs it comes before the link. */
bool gh_defer_record_read(struct gh_process *process, uint64_t address, struct gh_defer *defer)
{
	struct gh_process_memory *memory = &process->memory;
	unsigned word = process->tab->pointer_size;
	int minor = process->minor;
	uint64_t start = address + (word == 4 && minor < 18 ? 2 : 1) * word;
	*defer = (struct gh_defer){0};
	if (minor < 18 && !read_arguments(process, address, defer))
		return false;
	return gh_process_uint(memory, start, word, &defer->sp) &&
	       gh_process_uint(memory, start + word, word, &defer->pc) &&
	       gh_process_uint(memory, start + 2 * word, word, &defer->closure) &&
	       gh_process_uint(memory, start + (minor < 22 ? 4 : 3) * word, word, &defer->next);
}
