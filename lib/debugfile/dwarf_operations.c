#include <dwarf.h>

#include "lib/debugfile/internal.h"

void gh_op_address(struct gh_buffer *out, const struct gh_arch *arch, uint64_t address)
{
	gh_buffer_u8(out, DW_OP_addr);
	gh_buffer_uint(out, address, arch->pointer_size);
}

void gh_op_plus(struct gh_buffer *out, uint64_t offset)
{
	gh_buffer_u8(out, DW_OP_plus_uconst);
	gh_buffer_uleb128(out, offset);
}

void gh_op_field(struct gh_buffer *out, uint64_t offset)
{
	gh_op_plus(out, offset);
	gh_buffer_u8(out, DW_OP_deref);
}

size_t gh_op_jump(struct gh_buffer *out, uint8_t op)
{
	gh_buffer_u8(out, op);
	gh_buffer_u16(out, 0);
	return out->size;
}

size_t gh_op_jump_if_nil(struct gh_buffer *out)
{
	gh_buffer_u8(out, DW_OP_dup);
	gh_buffer_u8(out, DW_OP_lit0);
	gh_buffer_u8(out, DW_OP_eq);
	return gh_op_jump(out, DW_OP_bra);
}

void gh_op_set_target(struct gh_buffer *out, size_t place, size_t target)
{
	gh_buffer_patch(out, place - 2, (uint16_t)(target - place), 2);
}
