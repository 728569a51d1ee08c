#include "lib/write/calls.h"

#include <endian.h>
#include <string.h>

/* CALL rel32: its first byte, and its length. */
#define X86_CALL        0xe8
#define X86_CALL_LENGTH 5

/* BL imm26. */
#define ARM64_LENGTH  4
#define ARM64_BL      0x94000000
#define ARM64_BL_MASK 0xfc000000

void gh_calls_start(struct gh_calls *walk, const struct gh_image *image, uint64_t start,
		    uint64_t end)
{
	struct gh_cursor cur;
	*walk = (struct gh_calls){.address = start, .machine = image->arch->machine};
	if (end <= start || !gh_image_at(image, start, &cur))
		return;
	walk->code = cur.pos;
	walk->size =
	    gh_cursor_left(&cur) < end - start ? gh_cursor_left(&cur) : (size_t)(end - start);
}

static uint32_t read_word(const uint8_t *code)
{
	uint32_t word;
	memcpy(&word, code, sizeof(word));
	return le32toh(word);
}

static bool next_x86(struct gh_calls *walk, uint64_t *target, uint64_t *return_address)
{
	if (walk->size - walk->next < X86_CALL_LENGTH)
		return false;
	size_t places = walk->size - walk->next - (X86_CALL_LENGTH - 1);
	const uint8_t *call = memchr(walk->code + walk->next, X86_CALL, places);
	if (call == NULL)
		return false;
	walk->next = (size_t)(call - walk->code) + 1;
	*return_address = walk->address + walk->next - 1 + X86_CALL_LENGTH;
	*target = *return_address + (uint64_t)(int64_t)(int32_t)read_word(call + 1);
	if (walk->machine == EM_386)
		*target = (uint32_t)*target;
	return true;
}

static bool next_arm64(struct gh_calls *walk, uint64_t *target, uint64_t *return_address)
{
	for (; walk->size - walk->next >= ARM64_LENGTH; walk->next += ARM64_LENGTH) {
		uint32_t word = read_word(walk->code + walk->next);
		if ((word & ARM64_BL_MASK) != ARM64_BL)
			continue;
		uint64_t address = walk->address + walk->next;
		/* The distance, in instructions, is the signed lower 26 bits. */
		int64_t distance = (int64_t)((uint64_t)word << 38) >> 38;
		*target = address + (uint64_t)(distance * ARM64_LENGTH);
		*return_address = address + ARM64_LENGTH;
		walk->next += ARM64_LENGTH;
		return true;
	}
	return false;
}

bool gh_calls_next(struct gh_calls *walk, uint64_t *target, uint64_t *return_address)
{
	switch (walk->machine) {
	case EM_386:
	case EM_X86_64:
		return next_x86(walk, target, return_address);
	case EM_AARCH64:
		return next_arm64(walk, target, return_address);
	default:
		return false;
	}
}
