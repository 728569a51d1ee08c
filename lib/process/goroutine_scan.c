/* Goroutines without runtime.allgs: a core file that was cut short may lack it, and have them. */
#include "lib/process/internal.h"

#include <stdlib.h>

static int compare_ids(const void *a, const void *b)
{
	const struct gh_found_goroutine *first = a;
	const struct gh_found_goroutine *second = b;
	if (first->id != second->id)
		return first->id < second->id ? -1 : 1;
	return (first->address > second->address) - (first->address < second->address);
}

/* Looks in a part of memory for words that point to where they would be in as many bytes before
 * them: sched.g of a runtime.g points to the struct that it is in. */
static void look_at(struct gh_goroutines *all, struct gh_process *process, struct gh_cursor *part)
{
	unsigned word = process->tab->pointer_size;
	uint64_t before = all->layout.sched + 2 * (uint64_t)word;
	while (gh_cursor_left(part) >= word) {
		uint64_t at = gh_cursor_offset(part);
		uint64_t address = gh_cursor_uint(part, word);
		struct gh_goroutine g;
		if (address != at - before || !gh_goroutine_probe(all, process, address, &g))
			continue;
		gh_vector_push(&all->found, (struct gh_found_goroutine){g.id, address});
	}
}

void gh_goroutines_scan(struct gh_goroutines *all, struct gh_process *process)
{
	const struct gh_memory *memory = process->memory.source;
	uint64_t address = 0;
	uint64_t size;
	uint8_t *block = malloc(GH_PROCESS_BLOCK);
	bool more = block != NULL;
	while (more && memory->next(memory, &address, &size)) {
		if (size > GH_PROCESS_BLOCK)
			size = GH_PROCESS_BLOCK;
		if (memory->read(memory, address, block, (size_t)size)) {
			struct gh_cursor part = gh_cursor_make(block, (size_t)size, "memory",
							       address, process->memory.big_endian);
			look_at(all, process, &part);
		}
		more = !__builtin_add_overflow(address, size, &address);
	}
	free(block);
	if (all->found.count > 0)
		qsort(all->found.items, all->found.count, sizeof(*all->found.items), compare_ids);
	all->count = all->found.count;
}
