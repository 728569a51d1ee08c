#include "lib/write/framepointer.h"

#include <elf.h>
#include <string.h>

uint8_t gh_frame_pointer(const struct gh_arch *arch)
{
	switch (arch->machine) {
	case EM_X86_64:
		return 6;
	case EM_AARCH64:
		return 29;
	default:
		return 0;
	}
}

uint64_t gh_frame_pointer_place(const struct gh_arch *arch, int32_t delta)
{
	/* arm64 saves it below the frame, where the frames of callees leave a word free. */
	return arch->link_register ? (uint64_t)delta + 8 : 16;
}

/* CODE, of SIZE bytes, begins with the COUNT bytes of INSTRUCTION. */
static bool is_at(const uint8_t *code, size_t size, const char *instruction, size_t count)
{
	return size >= count && memcmp(code, instruction, count) == 0;
}

/* The length of the instruction that saves RBP in the frame's last word; 0 if it is another. */
static uint64_t amd64_save(const uint8_t *code, size_t size, int32_t delta)
{
	uint32_t slot = (uint32_t)delta - 8;
	if (delta == 8 && is_at(code, size, "\x48\x89\x2c\x24", 4)) /* MOVQ BP, (SP) */
		return 4;
	if (is_at(code, size, "\x48\x89\x6c\x24", 4) && size >= 5 && code[4] == slot)
		return 5; /* MOVQ BP, slot(SP) */
	const char bytes[4] = {(char)slot, (char)(slot >> 8), (char)(slot >> 16),
			       (char)(slot >> 24)};
	if (is_at(code, size, "\x48\x89\xac\x24", 4) && is_at(code + 4, size - 4, bytes, 4))
		return 8;
	return 0;
}

uint64_t gh_frame_pointer_saved(const struct gh_pclntab *tab, const struct gh_func *func,
				uint64_t start, int32_t delta)
{
	enum { BEFORE = 8 }; /* the most bytes before START that tell */
	uint64_t before = start - func->entry < BEFORE ? start - func->entry : BEFORE;
	struct gh_cursor cur;
	if (start < func->entry || start > func->end ||
	    !gh_image_at(tab->image, start - before, &cur) || gh_cursor_left(&cur) < before)
		return 0;
	size_t size = gh_cursor_left(&cur) - (size_t)before;
	if (size > func->end - start)
		size = (size_t)(func->end - start);
	const uint8_t *code = gh_cursor_bytes(&cur, (size_t)before + size) + before;

	switch (tab->image->arch->machine) {
	case EM_X86_64:
		/* PUSHQ BP; MOVQ SP, BP */
		if (delta == 8 && before >= 1 && is_at(code - 1, size + 1, "\x55\x48\x89\xe5", 4))
			return start;
		uint64_t length = amd64_save(code, size, delta);
		return length == 0 ? 0 : start + length;
	case EM_AARCH64:
		/* MOVD R29, -8(RSP) */
		if (is_at(code, size, "\xfd\x83\x1f\xf8", 4))
			return start + 4;
		/* STP (R29, R30), -8(R20), before R20 is moved to RSP */
		return before == 8 && memcmp(code - 8, "\x9d\xfa\x3f\xa9", 4) == 0 ? start : 0;
	default:
		return 0;
	}
}
