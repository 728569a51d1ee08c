#include "lib/pclntab/internal.h"

/* The most bytes that lead up to the instruction that makes the frame: the stack check. */
#define MAX_CHECK 128

/* Size of a call, in bytes, and the most bytes of other instructions between one and the pops of
 * what was pushed for it: variables that are loaded. */
#define CALL_SIZE 5
#define MAX_LOADS 32

/* Code of a function that is looked through. */
struct code {
	const uint8_t *bytes;       /* in the image */
	size_t size;                /* in bytes */
	const struct gh_arch *arch; /* the machine */
	uint32_t delta;             /* size of the frame without what the call pushed, in bytes */
};

/* The integer of SIZE bytes, 1 or 4, at POS, which must be in the code. */
static uint32_t number_at(const struct code *code, size_t pos, size_t size)
{
	struct gh_cursor cur = gh_cursor_make(code->bytes + pos, size, "", 0, false);
	return (uint32_t)gh_cursor_uint(&cur, (unsigned)size);
}

static bool is_byte(const struct code *code, size_t pos, uint8_t byte)
{
	return pos < code->size && code->bytes[pos] == byte;
}

/* Length of the x86 instruction at POS by which the frame is made or given up: the one whose ModRM
 * byte is MODRM, with the frame's size. 0 if it is another. */
static size_t x86_adjustment(const struct code *code, size_t pos, uint8_t modrm)
{
	size_t start = pos;
	if (code->arch->pointer_size == 8 && !is_byte(code, pos++, 0x48))
		return 0;
	size_t size = is_byte(code, pos, 0x83) ? 1 : is_byte(code, pos, 0x81) ? 4 : 0;
	pos += 2;
	if (size == 0 || !is_byte(code, pos - 1, modrm) || code->size < pos + size ||
	    number_at(code, pos, size) != code->delta)
		return 0;
	return pos + size - start;
}

/* Where the frame has been made. */
static size_t frame_start(const struct code *code)
{
	size_t quantum = code->arch->quantum;
	for (size_t pos = 0; pos < MAX_CHECK && pos + 4 <= code->size; pos += quantum) {
		if (gh_arch_is_x86(code->arch)) {
			size_t length = x86_adjustment(code, pos, 0xec); /* SUBQ $delta, SP */
			if (length != 0)
				return pos + length;
		} else if (code->arch->isa == GH_ISA_ARM && code->delta < 0x1000 &&
			   number_at(code, pos, 4) == (0xe52de000 | code->delta)) {
			return pos + 4; /* MOVW.W R14, -delta(R13) */
		}
	}
	return quantum;
}

/* Length of the instruction at POS that pushes a number before a call; 0 if it is another. */
static size_t x86_push(const struct code *code, size_t pos)
{
	size_t length = is_byte(code, pos, 0x6a) ? 2 : is_byte(code, pos, 0x68) ? 5 : 0;
	return length != 0 && is_byte(code, pos + length, 0xe8) ? length : 0;
}

/* Where what was pushed for the call before POS is popped, two words one right after the other; 0
 * if that is nowhere near. */
static size_t x86_pops(const struct code *code, size_t pos)
{
	for (size_t end = pos + MAX_LOADS; pos <= end; pos++)
		if (is_byte(code, pos, 0x59) && is_byte(code, pos + 1, 0x59))
			return pos;
	return 0;
}

/* The deltas of x86 code from START on. Where the function returns SP is moved back; and for calls
 * of runtime.newproc and deferproc two words are pushed, of which the second is a number. */
static void write_x86(struct gh_pcvalue_writer *writer, uint64_t entry, const struct code *code,
		      size_t start)
{
	int32_t delta = (int32_t)code->delta;
	int32_t word = code->arch->pointer_size;
	for (size_t pos = start; pos < code->size; pos++) {
		size_t length = x86_adjustment(code, pos, 0xc4); /* ADDQ $delta, SP */
		size_t pops;
		if (length != 0 && is_byte(code, pos + length, 0xc3)) {
			pos += length;
			gh_pcvalue_write_run(writer, entry + pos, delta);
			gh_pcvalue_write_run(writer, entry + pos + 1, 0);
		} else if ((length = x86_push(code, pos)) != 0 &&
			   (pops = x86_pops(code, pos + length + CALL_SIZE)) != 0) {
			gh_pcvalue_write_run(writer, entry + pos, delta);
			gh_pcvalue_write_run(writer, entry + pos + length, delta + word);
			gh_pcvalue_write_run(writer, entry + pops + 1, delta + 2 * word);
			gh_pcvalue_write_run(writer, entry + pops + 2, delta + word);
			pos = pops + 1;
		}
	}
}

void gh_plan9_frame_write(struct gh_pcvalue_writer *writer, const struct gh_image *image,
			  uint64_t entry, uint64_t end, uint64_t size)
{
	const struct gh_arch *arch = image->arch;
	if (!arch->link_register && size >= arch->pointer_size)
		size -= arch->pointer_size;
	if (size > INT32_MAX / 2 || size % arch->pointer_size != 0)
		size = 0;
	struct code code = {.arch = arch, .delta = (uint32_t)size};
	struct gh_cursor cur;
	if (gh_image_at(image, entry, &cur) && end > entry && end - entry <= gh_cursor_left(&cur)) {
		code.bytes = cur.pos;
		code.size = (size_t)(end - entry);
	}
	size_t start = 0;
	if (size != 0) {
		start = frame_start(&code);
		gh_pcvalue_write_run(writer, entry + start < end ? entry + start : end, 0);
	}
	if (gh_arch_is_x86(arch))
		write_x86(writer, entry, &code, start);
	gh_pcvalue_write_run(writer, end, (int32_t)size);
}
