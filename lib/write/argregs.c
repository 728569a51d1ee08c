#include "lib/write/argregs.h"

#include <elf.h>
#include <string.h>

#include "lib/write/prologue.h"
#include "lib/write/stackend.h"

/* DWARF number of XMM0. */
#define DWARF_XMM0 17

/* The most stores that are read; there are nine registers for integers, and fifteen for
 * floating-point numbers. */
#define MAX_STORES 24

/* A store of a register on the stack. */
struct store {
	uint32_t offset; /* from SP */
	uint8_t size;    /* in bytes */
	uint8_t number;  /* of the register, as DWARF numbers them */
	bool is_float;
};

/* Passes over BYTES if they are next. */
static bool take(struct gh_cursor *code, const char *bytes, size_t size)
{
	struct gh_cursor ahead = *code;
	const uint8_t *found = gh_cursor_bytes(&ahead, size);
	if (found == NULL || memcmp(found, bytes, size) != 0)
		return false;
	*code = ahead;
	return true;
}

/* Goes from the function's entry to where its stack check jumps if the stack is too small. The
 * check of a huge frame is another. False if it has none. */
static bool follow_check(struct gh_cursor *code)
{
	if (take(code, "\x4c\x8d\x64\x24", 4)) /* LEAQ disp8(SP), R12 */
		gh_cursor_bytes(code, 1);
	else if (take(code, "\x4c\x8d\xa4\x24", 4)) /* LEAQ disp32(SP), R12 */
		gh_cursor_bytes(code, 4);
	if (!take(code, "\x49\x3b\x66\x10", 4) && /* CMPQ SP, 16(R14) */
	    !take(code, "\x4d\x3b\x66\x10", 4))   /* CMPQ R12, 16(R14) */
		return false;
	int64_t distance;
	if (take(code, "\x76", 1)) /* JBE rel8 */
		distance = (int8_t)gh_cursor_u8(code);
	else if (take(code, "\x0f\x86", 2)) /* JBE rel32 */
		distance = (int32_t)gh_cursor_u32(code);
	else
		return false;
	int64_t here = code->pos - code->start;
	if (code->failed || distance < 0)
		return false;
	gh_cursor_seek(code, (uint64_t)(here + distance));
	return !code->failed;
}

/* Reads the opcode of a move from a register, after its prefixes. */
static bool read_opcode(struct gh_cursor *code, uint8_t prefix, uint8_t rex, struct store *store)
{
	uint8_t opcode = gh_cursor_u8(code);
	store->is_float = opcode == 0x0f && gh_cursor_u8(code) == 0x11;
	if (store->is_float)
		store->size = prefix == 0xf2 ? 8 : 4;
	else if (opcode == 0x88)
		store->size = 1;
	else if (opcode == 0x89 && prefix == 0)
		store->size = rex & 8 ? 8 : 4;
	else if (opcode == 0x89 && prefix == 0x66)
		store->size = 2;
	else
		return false;
	return store->is_float ? prefix == 0xf2 || prefix == 0xf3 : prefix == 0 || prefix == 0x66;
}

/* Reads an instruction that stores a register at disp(SP). False if the next one is another. */
static bool read_store(struct gh_cursor *code, struct store *store)
{
	static const uint8_t dwarf_numbers[] = {0, 2, 1, 3, 7, 6, 4, 5};
	struct gh_cursor ahead = *code;
	uint8_t prefix = 0;
	uint8_t rex = 0;
	if (take(&ahead, "\x66", 1))
		prefix = 0x66;
	else if (take(&ahead, "\xf2", 1))
		prefix = 0xf2;
	else if (take(&ahead, "\xf3", 1))
		prefix = 0xf3;
	if (gh_cursor_left(&ahead) > 0 && (*ahead.pos & 0xf0) == 0x40)
		rex = gh_cursor_u8(&ahead);
	if (!read_opcode(&ahead, prefix, rex, store))
		return false;
	uint8_t modrm = gh_cursor_u8(&ahead);
	uint8_t sib = gh_cursor_u8(&ahead);
	uint8_t number = (uint8_t)((modrm >> 3 & 7) | (rex & 4) << 1);
	if ((modrm & 0xc7) == 0x44)
		store->offset = gh_cursor_u8(&ahead);
	else if ((modrm & 0xc7) == 0x84)
		store->offset = gh_cursor_u32(&ahead);
	else
		return false;
	/* Without a prefix, byte registers 4 to 7 are the second bytes of others. */
	if (ahead.failed || sib != 0x24 || (rex & 3) != 0 ||
	    (!store->is_float && store->size == 1 && rex == 0 && number >= 4))
		return false;
	if (store->is_float)
		store->number = (uint8_t)(DWARF_XMM0 + number);
	else
		store->number = number < 8 ? dwarf_numbers[number] : number;
	*code = ahead;
	return true;
}

/* Whether the next instruction calls for a larger stack. CODE starts at FUNC's entry. */
static bool calls_morestack(struct gh_cursor *code, const struct gh_pclntab *tab,
			    const struct gh_func *func)
{
	if (!take(code, "\xe8", 1))
		return false;
	int32_t distance = (int32_t)gh_cursor_u32(code);
	uint64_t here = func->entry + (uint64_t)(code->pos - code->start);
	size_t number = gh_pclntab_find(tab, here + (uint64_t)(int64_t)distance);
	struct gh_func callee;
	struct gh_error err;
	if (code->failed || number == SIZE_MAX || !gh_pclntab_record(tab, number, &callee, &err))
		return false;
	const char *name = gh_pclntab_name(tab, callee.name);
	return gh_stack_is_named(name, "runtime.morestack_noctxt") ||
	       gh_stack_is_named(name, "runtime.morestack");
}

/* Adds the word of ARGS that STORE saves. At a function's entry SP is at the return address, and
 * the arguments' memory after it. */
static void add_store(struct gh_arg_registers *registers, const struct gh_args *args,
		      const struct store *store, uint8_t word)
{
	for (size_t i = 0; i < args->count && registers->count < GH_MAX_ARGS; i++) {
		const struct gh_arg *arg = &args->items[i];
		if (arg->offset + (uint32_t)word == store->offset && arg->size == store->size)
			registers->items[registers->count++] =
			    (struct gh_arg_register){*arg, store->number, store->is_float};
	}
}

bool gh_arg_registers_told(const struct gh_pclntab *tab)
{
	return tab->format >= GH_PCLNTAB_1_18 && tab->image->arch->machine == EM_X86_64;
}

void gh_arg_registers_find(struct gh_arg_registers *registers, const struct gh_pclntab *tab,
			   const struct gh_func *func)
{
	struct gh_args args;
	struct gh_cursor code;
	registers->count = 0;
	if (!gh_arg_registers_told(tab))
		return;
	gh_args_read(&args, tab, func);
	if (args.count == 0 || !gh_image_at(tab->image, func->entry, &code))
		return;
	code = gh_cursor_slice(&code, 0, func->end - func->entry);
	if (code.failed || !follow_check(&code))
		return;
	struct store store;
	for (unsigned i = 0; i < MAX_STORES && read_store(&code, &store); i++)
		add_store(registers, &args, &store, tab->pointer_size);
	if (!calls_morestack(&code, tab, func))
		registers->count = 0;
	registers->address = gh_prologue_end(tab, func);
}
