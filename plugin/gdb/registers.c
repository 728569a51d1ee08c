#include "plugin/gdb/internal.h"

#include <gdb/jit-reader.h>
#include <stdlib.h>

uint64_t gh_word(const unsigned char *bytes, struct gh_word_format words)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < words.size; i++)
		value |= (uint64_t)bytes[i] << 8 * (words.big_endian ? words.size - 1U - i : i);
	return value;
}

bool gh_register_get(struct gdb_unwind_callbacks *callbacks, int dwarf_number,
		     struct gh_word_format words, uint64_t *value)
{
	struct gdb_reg_value *reg = callbacks->reg_get(callbacks, dwarf_number);
	bool known = reg->defined && reg->size == words.size;
	if (known)
		*value = gh_word(reg->value, words);
	reg->free(reg);
	return known;
}

static void free_register(struct gdb_reg_value *reg)
{
	free(reg);
}

void gh_register_set(struct gdb_unwind_callbacks *callbacks, int dwarf_number,
		     struct gh_word_format words, uint64_t value)
{
	struct gdb_reg_value *reg = malloc(sizeof(*reg) + words.size);
	if (reg == NULL)
		return;
	reg->size = words.size;
	reg->defined = 1;
	reg->free = free_register;
	for (unsigned i = 0; i < words.size; i++)
		reg->value[words.big_endian ? words.size - 1U - i : i] =
		    (unsigned char)(value >> 8 * i);
	callbacks->reg_set(callbacks, dwarf_number, reg);
}

bool gh_word_read(struct gdb_unwind_callbacks *callbacks, uint64_t address,
		  struct gh_word_format words, uint64_t *value)
{
	unsigned char bytes[8];
	if (callbacks->target_read(address, bytes, words.size) != GDB_SUCCESS)
		return false;
	*value = gh_word(bytes, words);
	return true;
}
