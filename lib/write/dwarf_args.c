#include "lib/write/dwarf_args.h"

#include <stdio.h>

#include "lib/write/dwarf.h"
#include "lib/write/dwarf_abbrev.h"

/* The most bytes that a function's arguments take. */
#define MAX_BLOCK_SIZE 256

static uint32_t add_base(struct gh_buffer *info, const char *kind, uint8_t encoding, uint8_t size)
{
	char name[16];
	uint32_t offset = (uint32_t)info->size;
	snprintf(name, sizeof(name), "%s%u", kind, size * 8U);
	gh_buffer_u8(info, GH_ABBREV_BASE);
	gh_buffer_u8(info, encoding);
	gh_buffer_u8(info, size);
	gh_buffer_string(info, name);
	return offset;
}

static void add_types(struct gh_arg_writer *writer)
{
	struct gh_buffer *info = writer->info;
	size_t start = info->size;
	gh_buffer_u32(info, 0); /* length, from here */
	gh_buffer_u16(info, 4); /* version */
	gh_buffer_u32(info, 0); /* offset in .debug_abbrev */
	gh_buffer_u8(info, writer->tab->pointer_size);
	gh_buffer_u8(info, GH_ABBREV_TYPES);
	gh_buffer_u8(info, DW_LANG_Go);
	gh_buffer_string(info, "types of arguments");
	for (uint8_t size = 1; size <= 8; size = (uint8_t)(size * 2))
		writer->types[size] = add_base(info, "uint", DW_ATE_unsigned, size);
	for (uint8_t size = 4; size <= 8; size = (uint8_t)(size * 2))
		writer->floats[size] = add_base(info, "float", DW_ATE_float, size);
	gh_buffer_u8(info, 0);
	if (!info->failed)
		gh_buffer_patch(info, start, info->size - start - 4, 4);
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
	gh_buffer_u8(info, GH_ABBREV_VARIABLE);
	gh_buffer_string(info, name);
	gh_buffer_u32(info, place->is_float ? writer->floats[arg->size] : writer->types[arg->size]);
	gh_buffer_u8(info, 1); /* length of the expression */
	gh_buffer_u8(info, (uint8_t)(DW_OP_reg0 + place->number));
}

void gh_args_write(const struct gh_arg_writer *writer)
{
	struct gh_buffer *info = writer->info;
	gh_buffer_u8(info, GH_ABBREV_BLOCK);
	gh_buffer_uint(info, writer->registers.address, writer->tab->pointer_size);
	/* Of an outer frame the byte before its pc counts: so a frame that a nil pointer stopped at
	   that instruction is not in the block. Its registers have changed. */
	gh_buffer_uleb128(info, 1);
	for (size_t i = 0; i < writer->registers.count; i++)
		write_arg(writer, &writer->registers.items[i]);
	gh_buffer_u8(info, 0); /* no more of them */
}
