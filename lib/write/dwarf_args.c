#include "lib/write/dwarf_args.h"

#include <stdio.h>

#include "lib/write/dwarf.h"
#include "lib/write/dwarf_unit.h"
#include "lib/write/dwarf_variable.h"

/* The most bytes that a function's arguments take. */
#define MAX_BLOCK_SIZE 256

static uint32_t add_type(struct gh_buffer *info, const char *kind, uint8_t encoding, uint8_t size)
{
	char name[16];
	snprintf(name, sizeof(name), "%s%u", kind, size * 8U);
	return gh_variable_base(info, name, encoding, size);
}

static void add_types(struct gh_arg_writer *writer)
{
	struct gh_buffer *info = writer->info;
	size_t start =
	    gh_variable_unit_begin(info, "types of arguments", writer->tab->pointer_size);
	for (uint8_t size = 1; size <= 8; size = (uint8_t)(size * 2))
		writer->types[size] = add_type(info, "uint", DW_ATE_unsigned, size);
	for (uint8_t size = 4; size <= 8; size = (uint8_t)(size * 2))
		writer->floats[size] = add_type(info, "float", DW_ATE_float, size);
	gh_unit_end(info, start);
}

void gh_args_init(struct gh_arg_writer *writer, const struct gh_pclntab *tab,
		  struct gh_buffer *info)
{
	*writer = (struct gh_arg_writer){
	    .tab = tab,
	    .info = info,
	    /* The arguments of real programs take a small part of that. The functions of a crafted
	       one could have a list of them in common. */
	    .left = tab->image->size,
	};
	if (gh_arg_registers_told(tab))
		add_types(writer);
}

bool gh_args_begin(struct gh_arg_writer *writer, const struct gh_func *func, uint64_t inlined)
{
	gh_arg_registers_find(&writer->registers, writer->tab, func);
	uint64_t address = writer->registers.address;
	if (writer->registers.count == 0 || address >= inlined || address >= func->end ||
	    writer->left < MAX_BLOCK_SIZE)
		return false;
	writer->left -= MAX_BLOCK_SIZE;
	return true;
}

static void write_arg(const struct gh_arg_writer *writer, const struct gh_arg_register *place)
{
	struct gh_buffer *info = writer->info;
	const struct gh_arg *arg = &place->arg;
	char name[16];
	if (arg->part == GH_ARG_WHOLE)
		snprintf(name, sizeof(name), "arg%u", arg->number);
	else
		snprintf(name, sizeof(name), "arg%u_%u", arg->number, arg->part);
	uint32_t type = place->is_float ? writer->floats[arg->size] : writer->types[arg->size];
	size_t start = gh_variable_begin(info, name, type);
	gh_buffer_u8(info, (uint8_t)(DW_OP_reg0 + place->number));
	gh_variable_end(info, start);
}

void gh_args_write(const struct gh_arg_writer *writer)
{
	struct gh_buffer *info = writer->info;
	/* Of an outer frame the byte before its pc counts: so a frame that a nil pointer stopped at
	   that instruction is not in the block. Its registers have changed. */
	gh_variable_block_begin(info, writer->registers.address, 1, writer->tab->pointer_size);
	for (size_t i = 0; i < writer->registers.count; i++)
		write_arg(writer, &writer->registers.items[i]);
	gh_buffer_u8(info, 0); /* no more of them */
}
