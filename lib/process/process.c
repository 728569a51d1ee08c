#include "lib/process/internal.h"

#include <string.h>

uint64_t gh_process_word(struct gh_process *process, uint64_t address)
{
	uint64_t value;
	unsigned word = process->tab->pointer_size;
	return gh_process_uint(&process->memory, address, word, &value) ? value : 0;
}

/* Core files leave out pages of files; those with relocations are not among them. */
bool gh_process_read_constant(struct gh_process *process, uint64_t address, void *to, size_t size)
{
	struct gh_cursor cur;
	if (gh_process_read(&process->memory, address, to, size))
		return true;
	if (!gh_image_at(process->tab->image, address - process->bias, &cur) ||
	    gh_cursor_left(&cur) < size)
		return false;
	memcpy(to, gh_cursor_bytes(&cur, size), size);
	return true;
}

bool gh_process_constant_uint(struct gh_process *process, uint64_t address, unsigned size,
			      uint64_t *value)
{
	uint8_t bytes[8];
	*value = 0;
	if (!gh_process_read_constant(process, address, bytes, size))
		return false;
	struct gh_cursor cur =
	    gh_cursor_make(bytes, size, "memory", address, process->memory.big_endian);
	*value = gh_cursor_uint(&cur, size);
	return true;
}

uint64_t gh_process_constant_pointer(struct gh_process *process, uint64_t address)
{
	uint64_t value;
	unsigned word = process->tab->pointer_size;
	if (gh_process_uint(&process->memory, address, word, &value))
		return value;
	gh_process_constant_uint(process, address, word, &value);
	return value != 0 ? value + process->bias : 0;
}

struct gh_process_module gh_process_module_at(const struct gh_process *process, uint64_t pc,
					      size_t *index)
{
	struct gh_process_module program = {process->tab, process->bias};
	*index = gh_pclntab_find(program.tab, pc - program.bias);
	for (size_t i = 0; i < process->nothers && *index == SIZE_MAX; i++) {
		const struct gh_process_module *other = &process->others[i];
		*index = gh_pclntab_find(other->tab, pc - other->bias);
		if (*index != SIZE_MAX)
			return *other;
	}
	return program;
}

const char *gh_process_function(const struct gh_process *process, uint64_t entry)
{
	struct gh_func func;
	size_t index;
	struct gh_process_module module = gh_process_module_at(process, entry, &index);
	if (index == SIZE_MAX || !gh_pclntab_record(module.tab, index, &func, NULL))
		return "";
	return gh_pclntab_name(module.tab, func.name);
}

bool gh_process_is_closure(struct gh_process *process, uint64_t address)
{
	uint64_t entry =
	    address >= GH_LEAST_PAGE ? gh_process_constant_pointer(process, address) : 0;
	size_t index = SIZE_MAX;
	if (entry != 0)
		gh_process_module_at(process, entry, &index);
	return index != SIZE_MAX;
}

double gh_process_float(uint64_t bits, unsigned size)
{
	float narrow;
	double wide;
	uint32_t low = (uint32_t)bits;
	memcpy(&narrow, &low, sizeof(narrow));
	memcpy(&wide, &bits, sizeof(wide));
	return size == 4 ? (double)narrow : wide;
}
