#include "lib/process/internal.h"

#include <string.h>

uint64_t gh_process_word(struct gh_process *process, uint64_t address)
{
	uint64_t value;
	unsigned word = process->tab->pointer_size;
	return gh_process_uint(&process->memory, address, word, &value) ? value : 0;
}

/* The program's module. */
static struct gh_module own_module(const struct gh_process *process)
{
	return (struct gh_module){.tab = process->tab, .bias = process->bias};
}

/* Reads the same of the file of MODULE. */
static bool read_file(const struct gh_module *module, uint64_t address, void *to, size_t size)
{
	struct gh_cursor cur;
	if (!gh_image_at(module->tab->image, address - module->bias, &cur) ||
	    gh_cursor_left(&cur) < size)
		return false;
	memcpy(to, gh_cursor_bytes(&cur, size), size);
	return true;
}

/* The same of the module's file that has ADDRESS. Core files leave out pages of files; those with
 * relocations are not among them. */
static bool read_files(const struct gh_process *process, uint64_t address, void *to, size_t size,
		       uint64_t *bias)
{
	const struct gh_module program = own_module(process);
	bool read = read_file(&program, address, to, size);
	*bias = program.bias;
	for (size_t i = 0; i < process->nothers && !read; i++) {
		*bias = process->others[i].bias;
		read = read_file(&process->others[i], address, to, size);
	}
	return read;
}

bool gh_process_read_constant(struct gh_process *process, uint64_t address, void *to, size_t size)
{
	uint64_t bias;
	return gh_process_read(&process->memory, address, to, size) ||
	       read_files(process, address, to, size, &bias);
}

static uint64_t read_integer(const struct gh_process *process, const uint8_t *bytes, unsigned size)
{
	struct gh_cursor cur = gh_cursor_make(bytes, size, "memory", 0, process->memory.big_endian);
	return gh_cursor_uint(&cur, size);
}

bool gh_process_constant_uint(struct gh_process *process, uint64_t address, unsigned size,
			      uint64_t *value)
{
	uint8_t bytes[8];
	bool read = gh_process_read_constant(process, address, bytes, size);
	*value = read ? read_integer(process, bytes, size) : 0;
	return read;
}

uint64_t gh_process_constant_pointer(struct gh_process *process, uint64_t address)
{
	uint8_t bytes[8];
	uint64_t value;
	uint64_t bias;
	unsigned word = process->tab->pointer_size;
	if (gh_process_uint(&process->memory, address, word, &value))
		return value;
	value = read_files(process, address, bytes, word, &bias)
		    ? read_integer(process, bytes, word)
		    : 0;
	return value != 0 ? value + bias : 0;
}

struct gh_module gh_process_module_at(const struct gh_process *process, uint64_t pc, size_t *index)
{
	struct gh_module program = own_module(process);
	*index = gh_pclntab_find(program.tab, pc - program.bias);
	for (size_t i = 0; i < process->nothers && *index == SIZE_MAX; i++) {
		const struct gh_module *other = &process->others[i];
		*index = gh_pclntab_find(other->tab, pc - other->bias);
		if (*index != SIZE_MAX)
			return *other;
	}
	return program;
}

bool gh_process_types(struct gh_rtypes *types, const struct gh_process *process,
		      struct gh_error *err)
{
	const struct gh_module program = own_module(process);
	return gh_rtypes_find_all(types, &program, process->others, process->nothers, err);
}

const char *gh_process_function(const struct gh_process *process, uint64_t entry)
{
	struct gh_func func;
	size_t index;
	struct gh_module module = gh_process_module_at(process, entry, &index);
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
