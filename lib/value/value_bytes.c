#include "lib/value/internal.h"

#include <inttypes.h>
#include <string.h>

/* The memory of a process, and bytes that are in none of it. */
struct bytes_memory {
	const struct gh_memory *process;
	uint64_t address; /* of the bytes */
	const uint8_t *bytes;
	size_t size;
};

static bool read_bytes(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	const struct bytes_memory *from = memory->from;
	uint64_t offset = address - from->address;
	if (address < from->address)
		return from->process->read(from->process, address, to, size);
	if (offset > from->size || size > from->size - offset)
		return false;
	memcpy(to, from->bytes + offset, size);
	return true;
}

/* Appends the value that the SIZE bytes are, of the type called NAME or, if that is NULL, of TYPE.
 * False (ERR filled) if it has no such part as is asked for. */
static bool add_bytes(struct gh_values *values, const char *name, uint32_t type,
		      const uint8_t *bytes, size_t size, struct gh_error *err)
{
	bool found = true;
	struct gh_process_memory *memory = &values->process->memory;
	const struct gh_memory *process = memory->source;
	/* At the end of the address space, which is the kernel's. */
	uint64_t end = UINT64_MAX >> (64 - 8 * values->process->tab->pointer_size);
	struct bytes_memory from = {process, end - size, bytes, size};
	struct gh_memory both = {.read = read_bytes, .from = &from, .size = process->size};
	memory->source = &both;
	values->followed = 0;
	if (name != NULL && values->part != NULL)
		found = gh_value_add_part(values, name, from.address, false, err);
	else if (name != NULL)
		gh_value_add_named(values, name, from.address, false);
	else
		gh_value_add_any(values, type, from.address, true);
	memory->source = process;
	return found;
}

bool gh_value_print_bytes(struct gh_values *values, const char *name, const uint8_t *bytes,
			  size_t size, struct gh_error *err)
{
	uint64_t expected;
	if (!gh_value_named_size(values, name, &expected, err))
		return false;
	if (expected != size)
		return gh_fail(err, name, GH_NO_OFFSET, "a value of its size",
			       "%zu bytes, not %" PRIu64, size, expected);
	return add_bytes(values, name, GH_NO_RTYPE, bytes, size, err);
}

void gh_value_print_own(struct gh_values *values, uint32_t type, const uint8_t *bytes)
{
	add_bytes(values, NULL, type, bytes, values->types->items[type].size, NULL);
}

void gh_value_take_passed(const struct gh_arch *arch, const struct gh_result *passed,
			  const uint64_t registers[GH_VALUE_REGISTERS], uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < passed->nparts; i++) {
		const struct gh_result_part *part = &passed->parts[i];
		uint64_t word = registers[gh_result_register(arch, part)];
		for (unsigned j = 0; j < part->size && part->offset + j < size; j++)
			bytes[part->offset + j] = (uint8_t)(word >> 8 * j);
	}
}

void gh_value_print_passed(struct gh_values *values, const struct gh_result *passed,
			   const uint64_t registers[GH_VALUE_REGISTERS], uint64_t stack)
{
	/* No more than all of the registers hold. */
	uint8_t bytes[GH_RESULT_PARTS * 8] = {0};
	if (passed->in_memory) {
		gh_value_print(values, passed->type, stack + passed->offset);
		return;
	}
	gh_value_take_passed(values->process->tab->image->arch, passed, registers, bytes,
			     sizeof(bytes));
	if (values->types->items[passed->type].size <= sizeof(bytes))
		gh_value_print_own(values, passed->type, bytes);
	else
		gh_value_add(values, "?");
}
